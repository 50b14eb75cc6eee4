//! Slots of GF(p^d) and GR(p^r, d) under encryption, against the same arithmetic on elements in the clear.

use chacha20::ChaCha20Rng;
use num_bigint::BigUint;
use rand_core::{Rng, SeedableRng};
use sunzi_big::BigRing;
use sunzi_circuits::lookup::LookupTable;
use sunzi_circuits::slots::{SlotMap, SlotRotation, SlotSum, is_zero, norm, norm_exponents, zero_depth};
use sunzi_circuits::{Arithmetic, Automorphisms, CircuitError, EvaluationKeys};
use sunzi_encoding::{Encoder, GaloisEncoder, Plaintext};
use sunzi_ring::{Ring, Storage};
use sunzi_rlwe::{SecretKey, Security};
use sunzi_testing::storage::stored;
use sunzi_testing::{Encrypted, Scheme};
use sunzi_univariate::{Reduction, UnivariateRing};

/// Triples (m, p, r) with m of degree 64 and more: primes, products of primes, even numbers, a power of two.
const TRIPLES: [(u64, u64, u32); 14] = [
    (85, 2, 1),
    (85, 2, 4),
    (127, 2, 1),
    (255, 2, 2),
    (91, 3, 1),
    (91, 3, 4),
    (171, 7, 1),
    (171, 7, 2),
    (420, 17, 1),
    (315, 17, 2),
    (128, 17, 4),
    (255, 127, 1),
    (128, 127, 2),
    (195, 127, 4),
];
const SECURITY: Security = Security::InsecureForResearchOnly;

fn bgv_parameters(encoder: &GaloisEncoder, depth: usize) -> sunzi_bgv::Parameters {
    let builder = sunzi_bgv::Parameters::builder()
        .ring_index(encoder.index().value())
        .plain_modulus(encoder.plain_modulus())
        .batching(false)
        .depth(depth)
        .fresh_additions(256)
        .fresh_rotations(256)
        .fresh_plain_products(4)
        .additions_per_level(20)
        .rotations_per_level(2)
        .plain_products_per_level(1);
    builder.security(SECURITY).build().unwrap()
}

fn bfv_parameters(encoder: &GaloisEncoder, depth: usize) -> sunzi_bfv::Parameters {
    let builder = sunzi_bfv::Parameters::builder()
        .ring_index(encoder.index().value())
        .plain_modulus(encoder.plain_modulus())
        .batching(false)
        .depth(depth + 2)
        .additions(6)
        .rotations(6);
    builder.security(SECURITY).build().unwrap()
}

fn bgv(encoder: &GaloisEncoder, depth: usize) -> sunzi_bgv::Context {
    sunzi_bgv::Context::new(&bgv_parameters(encoder, depth)).unwrap()
}

fn bfv(encoder: &GaloisEncoder, depth: usize) -> sunzi_bfv::Context {
    sunzi_bfv::Context::new(&bfv_parameters(encoder, depth)).unwrap()
}

fn big_ring(encoder: &GaloisEncoder, moduli: &[u64]) -> Ring {
    let moduli: Vec<BigUint> = moduli.iter().map(|&q| q.into()).collect();
    stored(BigRing::with_chain(encoder.index().value(), &moduli).unwrap(), Storage::Big)
}

fn bgv_over_integers(encoder: &GaloisEncoder, depth: usize) -> sunzi_bgv::Context {
    let parameters = bgv_parameters(encoder, depth);
    let ring = big_ring(encoder, parameters.moduli());
    sunzi_bgv::Context::with_ring(ring, &(&parameters).into()).unwrap()
}

fn bfv_over_integers(encoder: &GaloisEncoder, depth: usize) -> sunzi_bfv::Context {
    let ring = big_ring(encoder, bfv_parameters(encoder, depth).moduli());
    sunzi_bfv::Context::with_ring(ring, encoder.plain_modulus(), SECURITY).unwrap()
}

/// All keys of one owner.
struct Party<'a, S: Scheme> {
    context: S,
    evaluator: S::Evaluator,
    encoder: &'a GaloisEncoder,
    secret: SecretKey,
    rng: ChaCha20Rng,
}

type Elements = Vec<Vec<u64>>;

impl<'a, S: Scheme> Party<'a, S>
where
    S::Evaluator: Automorphisms,
{
    fn new(context: S, encoder: &'a GaloisEncoder) -> Self {
        let mut rng = ChaCha20Rng::seed_from_u64(7);
        let secret = SecretKey::generate(context.rlwe(), &mut rng).unwrap();
        Self { evaluator: context.evaluator(), context, encoder, secret, rng }
    }

    fn keys(&mut self, exponents: impl IntoIterator<Item = u64>) -> EvaluationKeys {
        EvaluationKeys::for_exponents(self.context.rlwe(), &self.secret, exponents, &mut self.rng).unwrap()
    }

    fn elements(&mut self) -> Elements {
        let (t, d) = (self.encoder.plain_modulus(), self.encoder.ring().degree());
        (0..self.encoder.slots()).map(|_| (0..d).map(|_| self.rng.next_u64() % t).collect()).collect()
    }

    fn encrypt(&mut self, elements: &Elements) -> Encrypted<S> {
        let plaintext = self.encoder.encode_elements(elements).unwrap();
        self.context.encrypt_secret(&plaintext, &self.secret, &mut self.rng).unwrap()
    }

    fn open(&self, a: &Encrypted<S>) -> Elements {
        let plaintext: Plaintext = self.context.decrypt(a, &self.secret).unwrap();
        self.encoder.decode_elements(&plaintext).unwrap()
    }
}

/// Returns the elements of a case: the first ones are the largest, and 0 and 1 in alternation.
fn case<S: Scheme>(party: &mut Party<'_, S>, case: usize) -> Elements
where
    S::Evaluator: Automorphisms,
{
    let (ring, slots) = (party.encoder.ring(), party.encoder.slots());
    match case {
        0 => vec![vec![ring.modulus() - 1; ring.degree()]; slots],
        1 => (0..slots as u64).map(|slot| ring.constant(slot % 2)).collect(),
        _ => party.elements(),
    }
}

/// Checks sums, products, rotations along every dimension, Frobenius.
fn slots_are_elements<S: Scheme>(context: S, encoder: &GaloisEncoder, cases: usize)
where
    S::Evaluator: Automorphisms<Plaintext = Plaintext>,
{
    let encoder = &encoder.in_basis(context.rlwe().ring().coefficient_basis());
    let (ring, group) = (encoder.ring(), encoder.group());
    let mut party = Party::new(context, encoder);
    // Rotations by one, and by about half of the slots of a line.
    let amounts = |dimension: usize| [1, group.dimensions()[dimension].length / 2 + 1];
    let rotations: Vec<(usize, usize, SlotRotation<S::Evaluator>)> = (0..group.dimensions().len())
        .flat_map(|dimension| amounts(dimension).map(|steps| (dimension, steps)))
        .map(|(dimension, steps)| {
            let rotation = SlotRotation::new(&party.evaluator, encoder, dimension, steps as i64);
            (dimension, steps, rotation.unwrap())
        })
        .collect();
    let frobenius = [1, -1].map(|times| encoder.frobenius_exponent(times));
    let exponents: Vec<u64> =
        rotations.iter().flat_map(|rotation| rotation.2.exponents()).chain(frobenius).collect();
    let keys = party.keys(exponents);
    for number in 0..cases {
        let (a, b) = (case(&mut party, number), case(&mut party, number / 2));
        let (x, y) = (party.encrypt(&a), party.encrypt(&b));
        let pairs = || a.iter().zip(&b);
        let sum = party.evaluator.add(&x, &y).unwrap();
        let expected: Elements = pairs().map(|(a, b)| ring.add(a, b).unwrap()).collect();
        assert_eq!(party.open(&sum), expected);
        let product = party.evaluator.multiply(&x, &y, &keys).unwrap();
        let expected: Elements = pairs().map(|(a, b)| ring.mul(a, b).unwrap()).collect();
        assert_eq!(party.open(&product), expected);
        for (dimension, steps, rotation) in &rotations {
            let rotated = party.open(&rotation.apply(&party.evaluator, &x, &keys).unwrap());
            let along = group.dimensions()[*dimension];
            let stride = group.stride(*dimension).unwrap();
            for (slot, element) in rotated.iter().enumerate() {
                let e = group.coordinate(slot, *dimension).unwrap();
                let from = slot - e * stride + (e + steps) % along.length * stride;
                assert_eq!(*element, a[from], "{along:?} by {steps}");
            }
        }
        for exponent in frobenius {
            let image = party.evaluator.automorphism(&x, exponent, &keys).unwrap();
            let expected: Elements = a.iter().map(|a| ring.substitute(a, exponent).unwrap()).collect();
            assert_eq!(party.open(&image), expected);
        }
    }
}

fn run(triples: &[(u64, u64, u32)], cases: usize) {
    for &(m, p, r) in triples {
        let encoder = GaloisEncoder::new(m, p, r).unwrap();
        slots_are_elements(bgv(&encoder, 1), &encoder, cases);
        slots_are_elements(bfv(&encoder, 1), &encoder, cases);
        let (d, dimensions) = (encoder.ring().degree(), encoder.group().dimensions());
        println!("m {m}, p {p}, r {r}: d {d}, {dimensions:?}, {cases} cases of BGV and of BFV");
    }
}

#[test]
fn schemes_compute_on_elements() {
    run(&TRIPLES, 4);
}

#[test]
fn schemes_over_integers_compute_on_elements() {
    for (m, p, r) in [(85, 2, 1), (91, 3, 4), (128, 127, 2)] {
        let encoder = GaloisEncoder::new(m, p, r).unwrap();
        slots_are_elements(bgv_over_integers(&encoder, 1), &encoder, 3);
        slots_are_elements(bfv_over_integers(&encoder, 1), &encoder, 3);
    }
}

/// Checks rings in the power basis, which the encoder takes from the ring.
#[test]
fn schemes_in_the_power_basis_compute_on_elements() {
    for (m, p, r) in [(85, 2, 1), (91, 3, 4), (420, 17, 1)] {
        let encoder = GaloisEncoder::new(m, p, r).unwrap();
        let order = UnivariateRing::root_order(m).unwrap();
        let primes = sunzi_math::primes_with_bits(62, order, 4).unwrap();
        for reduction in [Reduction::SparseBarrett, Reduction::Montgomery] {
            let ring =
                stored(Ring::of(UnivariateRing::new(m, &primes, reduction).unwrap()), Storage::Univariate);
            let context = sunzi_bfv::Context::with_ring(ring, encoder.plain_modulus(), SECURITY).unwrap();
            slots_are_elements(context, &encoder, 3);
        }
    }
}

#[test]
#[ignore = "long: a thousand cases for every triple"]
fn schemes_compute_on_a_thousand_elements() {
    run(&TRIPLES, 1000);
}

#[test]
#[ignore = "long: a hundred cases with 1024 slots of GF(2^16)"]
fn schemes_compute_on_a_thousand_slots() {
    run(&[(21_845, 2, 1)], 100);
}

/// Checks a map that takes out one coefficient, against the clear; sums of all slots; tests for zero.
fn circuits_on_elements<S: Scheme>(context: S, encoder: &GaloisEncoder)
where
    S::Evaluator: Automorphisms<Plaintext = Plaintext>,
{
    let (ring, t) = (encoder.ring(), encoder.plain_modulus());
    let d = ring.degree();
    let mut party = Party::new(context, encoder);
    // Y^j → j-th bit of the wanted place: the coefficient of Y in slot 0, that of Y^0 in all others.
    let taking = |place: usize| (0..d).map(|j| ring.constant(u64::from(j == place))).collect::<Elements>();
    let map = SlotMap::new(&party.evaluator, encoder, &[taking(1), taking(0)]).unwrap();
    // Random maps, one for the first slot and one for all others.
    let images = [0, 1].map(|_| party.elements().into_iter().cycle().take(d).collect::<Elements>());
    let any = SlotMap::new(&party.evaluator, encoder, &images).unwrap();
    assert!(any.exponents().count() < 2 * d.isqrt() + 1, "{d}");
    let sum = SlotSum::of_all(&party.evaluator, encoder).unwrap();
    let exponents: Vec<u64> = sum
        .exponents()
        .chain(norm_exponents(encoder))
        .chain(map.exponents())
        .chain(any.exponents())
        .collect();
    let keys = party.keys(exponents);
    let mut a = party.elements();
    // Zeros, and elements that are almost zero.
    a[0] = ring.constant(0);
    a[1] = ring.constant(1);
    a[2] = (0..d).map(|j| if j == d - 1 { t - 1 } else { 0 }).collect();
    a[4] = ring.constant(0);
    let x = party.encrypt(&a);
    let zeros = party.open(&is_zero(&party.evaluator, encoder, &x, &keys).unwrap());
    for (slot, (zero, element)) in zeros.iter().zip(&a).enumerate() {
        assert_eq!(*zero, ring.constant(u64::from(element.iter().all(|&x| x == 0))), "slot {slot}");
    }
    let norms = party.open(&norm(&party.evaluator, encoder, &x, &keys).unwrap());
    for (norm, element) in norms.iter().zip(&a) {
        let order = (BigUint::from(t).pow(d as u32) - 1_u32) / (t - 1);
        assert_eq!(*norm, ring.pow(element, &order).unwrap());
    }
    let taken = party.open(&map.apply(&party.evaluator, &x, &keys).unwrap());
    for (slot, (taken, element)) in taken.iter().zip(&a).enumerate() {
        assert_eq!(*taken, ring.constant(element[usize::from(slot == 0)]));
    }
    let mapped = party.open(&any.apply(&party.evaluator, &x, &keys).unwrap());
    for (slot, (mapped, element)) in mapped.iter().zip(&a).enumerate() {
        let terms = element.iter().zip(&images[usize::from(slot != 0)]);
        let expected = terms.fold(ring.constant(0), |sum, (&c, image)| {
            ring.add(&sum, &ring.mul(&ring.constant(c), image).unwrap()).unwrap()
        });
        assert_eq!(*mapped, expected);
    }
    let total = a.iter().fold(ring.constant(0), |sum, element| ring.add(&sum, element).unwrap());
    let sums = party.open(&sum.apply(&party.evaluator, &x, &keys).unwrap());
    assert!(sums.iter().all(|sum| *sum == total));
    // Without keys every circuit is refused.
    let none = party.keys([]);
    let refused = is_zero(&party.evaluator, encoder, &x, &none);
    assert!(matches!(refused, Err(CircuitError::MissingAutomorphism { .. })));
    assert!(matches!(sum.apply(&party.evaluator, &x, &none), Err(CircuitError::MissingAutomorphism { .. })));
    assert!(matches!(map.apply(&party.evaluator, &x, &none), Err(CircuitError::MissingAutomorphism { .. })));
}

#[test]
fn maps_sums_and_tests_for_zero() {
    for (m, p) in [(85, 2), (91, 3), (171, 7), (127, 2), (257, 2)] {
        let encoder = GaloisEncoder::new(m, p, 1).unwrap();
        circuits_on_elements(bgv(&encoder, zero_depth(&encoder)), &encoder);
        circuits_on_elements(bfv(&encoder, zero_depth(&encoder)), &encoder);
    }
}

#[test]
fn a_test_for_zero_needs_a_field() {
    let encoder = GaloisEncoder::new(85, 2, 2).unwrap();
    let mut party = Party::new(bgv(&encoder, 1), &encoder);
    let keys = party.keys(norm_exponents(&encoder));
    let elements = party.elements();
    let x = party.encrypt(&elements);
    let refused = is_zero(&party.evaluator, &encoder, &x, &keys);
    assert!(matches!(refused, Err(CircuitError::NoField { prime: 2, exponent: 2, .. })));
}

/// Checks words of two elements in several blocks and answers, repeated ones and absent ones.
#[test]
fn words_are_found_where_they_stand() {
    for (m, p) in [(85, 2), (91, 3)] {
        let encoder = GaloisEncoder::new(m, p, 1).unwrap();
        let (slots, d) = (encoder.slots(), encoder.ring().degree());
        let mut party = Party::new(bgv(&encoder, zero_depth(&encoder) + 1), &encoder);
        // The last block is not full, and one more block than an answer holds.
        let words: Vec<Elements> = (0..slots * d + 3)
            .map(|i| vec![vec![i as u64 % p], vec![0, i as u64 / 5 % p, u64::from(i % 11 == 7)]])
            .collect();
        let table = LookupTable::new::<sunzi_bgv::BgvError>(&encoder, &words).unwrap();
        assert_eq!((table.blocks(), table.answers()), (d + 1, 2));
        assert_eq!(table.depth(), zero_depth(&encoder) + 1);
        let keys = party.keys(table.exponents());
        let absent = vec![vec![1, 1], vec![0]];
        for word in [&words[0], &words[7], &words[words.len() - 1], &absent] {
            let query = table.query::<sunzi_bgv::BgvError>(word).unwrap();
            let query: Vec<_> = query
                .iter()
                .map(|plain| party.context.encrypt_secret(plain, &party.secret, &mut party.rng).unwrap())
                .collect();
            let mut done = 0;
            let answers = table.find(&party.evaluator, &query, &keys, &mut |blocks| done = blocks).unwrap();
            assert_eq!(done, d + 1);
            let answers: Vec<Plaintext> =
                answers.iter().map(|c| party.context.decrypt(c, &party.secret).unwrap()).collect();
            let found = table.matches::<sunzi_bgv::BgvError>(&answers).unwrap();
            // Elements are equal up to zeros at their ends.
            let same = |a: &Elements| {
                let padded = |e: &Vec<u64>| e.iter().copied().chain([0; 8]).take(8).collect::<Vec<_>>();
                a.iter().zip(word).all(|(a, b)| padded(a) == padded(b))
            };
            let expected: Vec<usize> = (0..words.len()).filter(|&i| same(&words[i])).collect();
            assert_eq!(found, expected, "{word:?}");
        }
        let short = table.query::<sunzi_bgv::BgvError>(&vec![vec![1]]);
        assert!(matches!(short, Err(CircuitError::LengthsDiffer { left: 2, right: 1 })));
    }
}
