//! Tests of slots against arithmetic of polynomials in the power basis modulo Φ_m and p^r.

use sunzi_math::{Residues, cyclotomic_polynomial, mul_mod};

use super::*;

/// Cases (m, p, r): p = 2, 3, 7, 17, 127 and others, r from 1 to 8; prime, prime power and composite m, odd and even; good and bad dimensions.
const TRIPLES: [(u64, u64, u32); 31] = [
    (3, 2, 1),
    (4, 3, 1),
    (5, 11, 3),
    (7, 2, 4),
    (9, 2, 1),
    (15, 2, 1),
    (16, 7, 2),
    (17, 2, 8),
    (21, 2, 2),
    (27, 7, 1),
    (31, 2, 4),
    (32, 17, 4),
    (36, 7, 2),
    (45, 2, 1),
    (49, 3, 1),
    (63, 127, 1),
    (64, 127, 2),
    (85, 2, 4),
    (91, 3, 1),
    (91, 3, 4),
    (100, 7, 1),
    (105, 2, 2),
    (127, 2, 1),
    (144, 17, 2),
    (255, 2, 1),
    (65, (1 << 29) - 3, 2),
    // Large primes, by convolutions: one to three word-size primes, with axes behind and powers of the prime above.
    (73, 2, 4),
    (67, (1 << 29) - 3, 2),
    (219, 2, 8),
    (268, 17, 4),
    (127, 2, 30),
];

struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 4
    }

    /// Returns random elements of all slots; now and then all extreme.
    fn elements(&mut self, encoder: &GaloisEncoder) -> Vec<Vec<u64>> {
        let (t, d) = (encoder.ring().modulus(), encoder.ring().degree());
        let extreme = self.next().is_multiple_of(8);
        let mut element =
            || (0..d).map(|_| if extreme { t - 1 } else { self.next() % t }).collect::<Vec<u64>>();
        (0..encoder.slots()).map(|_| element()).collect()
    }
}

/// Oracle of plaintexts as polynomials in X: schoolbook products, division by Φ_m.
struct Oracle {
    index: RingIndex,
    t: u64,
    phi: Vec<i64>,
}

impl Oracle {
    fn new(encoder: &GaloisEncoder) -> Self {
        let index = encoder.index().clone();
        let phi = cyclotomic_polynomial(index.value()).unwrap();
        Self { index, t: encoder.ring().modulus(), phi }
    }

    /// Returns the remainder of the polynomial Σ f_j·X^j by Φ_m.
    fn reduced(&self, mut f: Vec<u64>) -> Vec<u64> {
        let n = self.phi.len() - 1;
        while f.len() > n {
            let leading = f.pop().unwrap();
            let shift = f.len() - n;
            for (i, &c) in self.phi[..n].iter().enumerate().filter(|(_, c)| leading != 0 && **c != 0) {
                let c = i128::from(-c).rem_euclid(i128::from(self.t)) as u64;
                f[shift + i] = (f[shift + i] + mul_mod(leading, c, self.t)) % self.t;
            }
        }
        f.resize(n, 0);
        f
    }

    fn opened(&self, plaintext: &Plaintext) -> Vec<u64> {
        let powers = self.index.power_from_powerful(&Residues(self.t), plaintext.coefficients());
        powers.unwrap()
    }

    fn closed(&self, power_basis: Vec<u64>) -> Plaintext {
        let powerful = self.index.powerful_from_power(&Residues(self.t), &power_basis);
        Plaintext::new(powerful, self.t).unwrap()
    }

    fn product(&self, a: &Plaintext, b: &Plaintext) -> Plaintext {
        let (a, b) = (self.opened(a), self.opened(b));
        let mut product = vec![0; 2 * a.len() - 1];
        for (i, &x) in a.iter().enumerate().filter(|(_, x)| **x != 0) {
            for (j, &y) in b.iter().enumerate().filter(|(_, y)| **y != 0) {
                product[i + j] = (product[i + j] + mul_mod(x, y, self.t)) % self.t;
            }
        }
        self.closed(self.reduced(product))
    }

    fn sum(&self, a: &Plaintext, b: &Plaintext) -> Plaintext {
        let sum = a.coefficients().iter().zip(b.coefficients()).map(|(x, y)| (x + y) % self.t);
        Plaintext::new(sum.collect(), self.t).unwrap()
    }

    /// Returns the image a(X^k) of a plaintext under an automorphism.
    fn automorphism(&self, a: &Plaintext, k: u64) -> Plaintext {
        let mut image = vec![0; self.index.value() as usize];
        for (j, &x) in self.opened(a).iter().enumerate() {
            let place = mul_mod(j as u64, k, self.index.value()) as usize;
            image[place] = (image[place] + x) % self.t;
        }
        self.closed(self.reduced(image))
    }

    fn rotated(&self, a: &Plaintext, rotation: &DimensionRotation) -> Plaintext {
        let straight = self.automorphism(a, rotation.exponent);
        let Some(wrapped) = &rotation.wrapped else { return straight };
        let other = self.automorphism(a, wrapped.exponent);
        let minus = other.coefficients().iter().map(|x| (self.t - x) % self.t).collect();
        let difference = self.sum(&straight, &Plaintext::new(minus, self.t).unwrap());
        self.sum(&other, &self.product(&difference, &wrapped.mask))
    }
}

fn encoders() -> impl Iterator<Item = (GaloisEncoder, usize)> {
    // A thousand random cases in fifteen of the triples.
    TRIPLES.into_iter().map(|(m, p, r)| {
        let cases = if m < 70 { 1000 } else { 8 };
        (GaloisEncoder::new(m, p, r).unwrap(), cases)
    })
}

#[test]
fn slots_are_values_at_powers_of_y() {
    for (encoder, _) in encoders() {
        let (ring, oracle) = (encoder.ring(), Oracle::new(&encoder));
        let elements = Numbers(1).elements(&encoder);
        let plaintext = encoder.encode_elements(&elements).unwrap();
        assert_eq!(encoder.decode_elements(&plaintext).unwrap(), elements, "m = {}", ring.index());
        let polynomial = oracle.opened(&plaintext);
        let powers = ring.powers_of_y();
        let power = |k: u64| &powers[(k % ring.index()) as usize * ring.degree()..][..ring.degree()];
        for (element, u) in elements.iter().zip(encoder.group().representatives()) {
            let mut value = ring.constant(0);
            for (j, &x) in polynomial.iter().enumerate() {
                let term = ring.mul(&ring.constant(x), power(j as u64 * u)).unwrap();
                value = ring.add(&value, &term).unwrap();
            }
            assert_eq!(value, *element, "m = {}, u = {u}", ring.index());
        }
    }
}

#[test]
fn sums_and_products_act_slot_by_slot() {
    for (encoder, cases) in encoders() {
        let (ring, oracle, mut numbers) = (encoder.ring(), Oracle::new(&encoder), Numbers(2));
        for _ in 0..cases {
            let (a, b) = (numbers.elements(&encoder), numbers.elements(&encoder));
            let [x, y] = [&a, &b].map(|elements| encoder.encode_elements(elements).unwrap());
            let opened = |plaintext: &Plaintext| encoder.decode_elements(plaintext).unwrap();
            let pairs = || a.iter().zip(&b);
            let sums: Vec<Vec<u64>> = pairs().map(|(a, b)| ring.add(a, b).unwrap()).collect();
            let products: Vec<Vec<u64>> = pairs().map(|(a, b)| ring.mul(a, b).unwrap()).collect();
            assert_eq!(opened(&oracle.sum(&x, &y)), sums);
            assert_eq!(opened(&oracle.product(&x, &y)), products);
        }
    }
}

#[test]
fn rotations_move_slots_along_every_dimension() {
    let (mut good, mut bad) = (0, 0);
    for (encoder, cases) in encoders() {
        let (oracle, group, mut numbers) = (Oracle::new(&encoder), encoder.group(), Numbers(3));
        for _ in 0..cases.div_ceil(6) {
            let elements = numbers.elements(&encoder);
            let plaintext = encoder.encode_elements(&elements).unwrap();
            for (dimension, along) in group.dimensions().iter().enumerate() {
                let any = (numbers.next() % along.length as u64) as i64;
                for steps in [any, 1, -1, 0, along.length as i64, i64::MIN] {
                    let rotation = encoder.rotation(dimension, steps).unwrap();
                    let rotated = encoder.decode_elements(&oracle.rotated(&plaintext, &rotation)).unwrap();
                    for (slot, element) in rotated.iter().enumerate() {
                        let (e, stride) =
                            (group.coordinate(slot, dimension).unwrap(), group.stride(dimension).unwrap());
                        let from = (e as i128 + i128::from(steps)).rem_euclid(along.length as i128) as usize;
                        assert_eq!(*element, elements[slot + from * stride - e * stride], "{along:?}");
                    }
                    *(if along.good { &mut good } else { &mut bad }) += 1;
                }
            }
        }
        let dimensions = group.dimensions().len();
        assert!(matches!(encoder.rotation(dimensions, 1), Err(EncodingError::NoDimension { .. })));
    }
    assert!(good > 10_000 && bad > 3000, "{good} {bad}");
}

#[test]
fn frobenius_acts_in_every_slot() {
    for (encoder, cases) in encoders() {
        let (ring, oracle, mut numbers) = (encoder.ring(), Oracle::new(&encoder), Numbers(4));
        for _ in 0..cases.div_ceil(6) {
            let elements = numbers.elements(&encoder);
            let plaintext = encoder.encode_elements(&elements).unwrap();
            for times in [0, 1, 2, -1, ring.degree() as i64 - 1, ring.degree() as i64] {
                let k = encoder.frobenius_exponent(times);
                let image = encoder.decode_elements(&oracle.automorphism(&plaintext, k)).unwrap();
                for (image, element) in image.iter().zip(&elements) {
                    assert_eq!(*image, ring.substitute(element, k).unwrap());
                }
            }
        }
    }
}

#[test]
fn the_sixteen_bit_field_has_1024_slots() {
    let encoder = GaloisEncoder::new(21845, 2, 1).unwrap();
    assert_eq!((encoder.slots(), encoder.ring().degree(), encoder.degree()), (1024, 16, 16384));
    let (ring, oracle, mut numbers) = (encoder.ring(), Oracle::new(&encoder), Numbers(5));
    let (a, b) = (numbers.elements(&encoder), numbers.elements(&encoder));
    let x = encoder.encode_elements(&a).unwrap();
    assert_eq!(encoder.decode_elements(&x).unwrap(), a);
    let y = encoder.encode_elements(&b).unwrap();
    let product = encoder.decode_elements(&oracle.product(&x, &y)).unwrap();
    let expected: Vec<Vec<u64>> = a.iter().zip(&b).map(|(a, b)| ring.mul(a, b).unwrap()).collect();
    assert_eq!(product, expected);
    let moved = encoder.decode_elements(&oracle.rotated(&x, &encoder.rotation(2, 5).unwrap())).unwrap();
    assert!((0..1024).all(|slot| moved[slot] == a[slot / 16 * 16 + (slot + 5) % 16]));
}

/// Checks indices with primes up to 2^16 + 1, by convolutions; values at some slots by the definition.
#[test]
fn large_primes_have_slots() {
    for (m, p, r) in [(8191, 2, 1), (3 * 337, 2, 2), (65_537, 2, 1)] {
        let (encoder, mut numbers) = (GaloisEncoder::new(m, p, r).unwrap(), Numbers(6));
        let elements = numbers.elements(&encoder);
        let plaintext = encoder.encode_elements(&elements).unwrap();
        assert!(encoder.decode_elements(&plaintext).unwrap() == elements, "{m}");
        let (ring, index, powers) = (encoder.ring(), encoder.index(), encoder.ring().powers_of_y());
        for slot in [0, 1, encoder.slots() - 1] {
            let unit = encoder.group().representatives()[slot];
            let mut value = ring.constant(0);
            for (position, &x) in plaintext.coefficients().iter().enumerate().filter(|(_, x)| **x != 0) {
                let power = mul_mod(index.exponent(position), unit, m) as usize * ring.degree();
                for (sum, &y) in value.iter_mut().zip(&powers[power..]) {
                    *sum = (*sum + x * y) % ring.modulus();
                }
            }
            assert_eq!(value, elements[slot], "{m}, slot {slot}");
        }
    }
}

#[test]
fn numbers_are_constants() {
    for (encoder, _) in encoders() {
        let (t, slots) = (encoder.plain_modulus(), encoder.slots());
        let numbers: Vec<u64> = (0..slots as u64).map(|i| (t - 1).wrapping_sub(i * i) % t).collect();
        let plaintext = encoder.encode(&numbers).unwrap();
        assert_eq!(encoder.decode(&plaintext).unwrap(), numbers);
        let same = encoder.encode(&vec![t - 1; slots]).unwrap();
        assert_eq!(same, Plaintext::constant(t - 1, encoder.degree(), t).unwrap());
        assert!(encoder.encode(&[]).unwrap().is_zero());
        if encoder.ring().degree() > 1 {
            let other = encoder.encode_elements(&[[0, 1]]).unwrap();
            assert!(matches!(encoder.decode(&other), Err(EncodingError::NotANumber { slot: 0 })));
        }
    }
}

#[test]
fn refusals_say_what_would_work() {
    let refused = |m, p, r| GaloisEncoder::new(m, p, r).unwrap_err().to_string();
    assert!(refused(15, 9, 1).contains("7 and 11"), "{}", refused(15, 9, 1));
    assert!(refused(105, 3, 1).contains("m = 35"), "{}", refused(105, 3, 1));
    assert!(refused(64, 2, 1).contains("m = 65"), "{}", refused(64, 2, 1));
    assert!(refused(15, 2, 60).contains("1 to 59"), "{}", refused(15, 2, 60));
    assert!(refused(15, 7, 0).contains("1 to 21"), "{}", refused(15, 7, 0));
    assert!(refused(30, 7, 1).contains("15"), "{}", refused(30, 7, 1));
    let error = refused(1 << 13, 3, 1);
    assert!(error.contains("2048") && error.contains("40961"), "{error}");
    assert!(GaloisEncoder::new(1 << 6, 40961, 1).is_ok());
    assert!(matches!(GaloisEncoder::new(524_287, 2, 1), Err(EncodingError::IndexTooLarge { .. })));
    let encoder = GaloisEncoder::new(15, 2, 1).unwrap();
    let error = encoder.encode(&[0; 3]).unwrap_err();
    // Φ_17 has two factors of degree 8 modulo 2, Φ_21 two of degree 6, Φ_31 six of degree 5.
    assert!(
        matches!(error, EncodingError::TooManyElements { got: 3, slots: 2, works: Some(31), .. }),
        "{error}"
    );
    let error = encoder.encode_elements(&[[0; 4].as_slice(), &[0; 5]]).unwrap_err();
    assert!(matches!(error, EncodingError::ElementDegree { slot: 1, got: 5, degree: 4, .. }), "{error}");
    let error = encoder.encode_elements(&[[0], [2]]).unwrap_err();
    assert!(matches!(error, EncodingError::ValueOutOfRange { index: 1, .. }), "{error}");
    let foreign = Plaintext::constant(1, 8, 4).unwrap();
    assert!(matches!(encoder.decode_elements(&foreign), Err(EncodingError::PlaintextMismatch { .. })));
}

#[test]
fn a_modulus_that_is_no_power_of_a_prime_is_refused() {
    let found = |t| GaloisEncoder::for_modulus(91, t).map(|e| (e.ring().prime(), e.ring().exponent()));
    for (t, prime, exponent) in [(2, 2, 1), (1024, 2, 10), (331, 331, 1), (14641, 11, 4)] {
        assert_eq!(found(t).unwrap(), (prime, exponent));
    }
    for t in [0, 1, 6, 1023] {
        assert!(matches!(found(t), Err(EncodingError::PlainPrime { got, .. }) if got == t));
    }
    assert!(matches!(found(49), Err(EncodingError::PrimeDividesIndex { prime: 7, .. })));
}
