//! Products of BGV and BFV in rings of general index, beside the power-of-two ring of the same degree, or the next one, and the
//! same moduli in number and length.

use sunzi_bfv::{Algorithms, Plaintext};
use sunzi_encoding::EncodingError;
use sunzi_math::{DEFAULT_PRIME_BOUND, Residues, RingIndex, primes_below};
use sunzi_ring::sampling::SeededRng;
use sunzi_rlwe::{Ciphertext, PublicKey, RelinearizationKey, RingShape, RlweContext, SecretKey, Security};

use crate::bench::{Keys, LabError, Options, Result, Row, Series, key_switching, on_threads, side_by_side};

/// Bar on the time of BGV's product in a ring of general index / in the power-of-two ring, at the index that
/// has this bar.
const RATIO_BAR: f64 = 3.0;
const BAR_INDEX: u64 = 21845;
/// Bar on Sunzi's time / HElib's for a BGV product in a ring of general index.
const HELIB_BAR: f64 = 0.1;
/// Plaintext modulus t = p = 2.
const PLAIN_MODULUS: u64 = 2;
/// Exponents of the monomials whose sums are the two operands.
const OPERANDS: [[u64; 4]; 2] = [[0, 3, 1000, 4000], [1, 17, 2222, 4095]];

/// A cyclotomic index with the moduli at which its products are timed.
#[derive(Clone, Copy, Debug)]
struct Case {
    m: u64,
    /// log2 of the degree of the power-of-two ring that is compared with.
    log_n: u32,
    limbs: usize,
    special: usize,
    /// Microseconds that HElib 2.3 takes to multiply and relinearise under BGV at no larger moduli; from
    /// docs/notes/cyclotomic.md.
    helib_us: f64,
}

/// The timed cyclotomic indices; their log Q and log QP are at least those of HElib's sets.
const CASES: [Case; 5] = [
    Case { m: 4369, log_n: 12, limbs: 4, special: 1, helib_us: 39_500.0 },
    Case { m: 13107, log_n: 13, limbs: 4, special: 1, helib_us: 74_800.0 },
    Case { m: 21845, log_n: 14, limbs: 6, special: 2, helib_us: 236_000.0 },
    Case { m: 21845, log_n: 14, limbs: 11, special: 4, helib_us: 324_000.0 },
    Case { m: 32767, log_n: 15, limbs: 11, special: 4, helib_us: 520_000.0 },
];

/// Times products at every cyclotomic index whose power-of-two ring has a degree asked for, on one thread.
///
/// # Errors
/// A cyclotomic index without moduli; an operation that fails; threads that do not start.
pub fn run(options: &Options) -> Result<Vec<Row>> {
    options.validate()?;
    let asked = |case: &Case| options.log_n.is_empty() || options.log_n.contains(&case.log_n);
    on_threads(1, || {
        let mut rows = Vec::new();
        for case in CASES.into_iter().filter(asked) {
            rows.extend(compare(case, "BGV", bgv, options.rounds)?);
            rows.extend(compare(case, "BFV", bfv, options.rounds)?);
        }
        Ok(rows)
    })
}

/// A product that can be repeated, and whether its result is right.
struct Job {
    call: Box<dyn Fn() -> Result<()>>,
    correct: bool,
    n: usize,
    log_q: f64,
    log_key_modulus: f64,
}

fn compare(
    case: Case,
    scheme: &str,
    job: fn(Case, RingShape) -> Result<Job>,
    rounds: usize,
) -> Result<Vec<Row>> {
    let ours = job(case, RingShape::of_index(case.m))?;
    let theirs = job(case, RingShape::Log2Degree(case.log_n))?;
    let [own, other] = side_by_side(rounds, [&mut || (ours.call)(), &mut || (theirs.call)()])?;
    let row = Row {
        name: format!("{scheme} multiply + relinearize, m = {}", case.m),
        n: ours.n,
        log_q: ours.log_q,
        log_key_modulus: Some(ours.log_key_modulus),
        correct: ours.correct && theirs.correct,
        rounds,
        ..Row::default()
    };
    let bgv = scheme == "BGV";
    let bar = (bgv && case.m == BAR_INDEX).then_some(RATIO_BAR);
    let beside = format!("n = 2^{}", case.log_n);
    let mut rows = vec![Row { bar, ..row.clone() }.against(&own, beside, &other).judged()];
    if bgv {
        let recorded = Series::from_micros(vec![case.helib_us; rounds]);
        let row = Row { bar: Some(HELIB_BAR), ..row };
        rows.push(row.against(&own, "HElib 2.3, recorded".to_owned(), &recorded).judged());
    }
    Ok(rows)
}

/// Default primes of a ring: the ciphertext moduli, then as many special moduli.
fn moduli(case: Case, ring: RingShape) -> Result<(Vec<u64>, Vec<u64>)> {
    let mut special = primes_below(DEFAULT_PRIME_BOUND, ring.root_order(), case.limbs + case.special)?;
    let moduli = special.split_off(case.special);
    Ok((moduli, special))
}

/// The two plaintext operands and their product.
fn messages(ring: RingShape) -> Result<[Plaintext; 3]> {
    let index = RingIndex::new(ring.index())?;
    let plaintext = |exponents: &[u64]| -> Result<Plaintext, EncodingError> {
        let mut powers = vec![0; ring.index() as usize];
        for exponent in exponents {
            if let Some(at) = powers.get_mut((exponent % ring.index()) as usize) {
                *at = (*at + 1) % PLAIN_MODULUS;
            }
        }
        Plaintext::new(index.powerful_from_power(&Residues(PLAIN_MODULUS), &powers), PLAIN_MODULUS)
    };
    let [a, b] = OPERANDS;
    let sums: Vec<u64> = a.iter().flat_map(|i| b.iter().map(move |j| i + j)).collect();
    Ok([plaintext(&a)?, plaintext(&b)?, plaintext(&sums)?])
}

/// The generator of keys and ciphertexts, with a fixed seed: nothing in the benchmark is secret.
fn rng() -> SeededRng {
    SeededRng::derive(&[7; 32], "cyclotomic bench", 0)
}

fn bgv(case: Case, ring: RingShape) -> Result<Job> {
    let (moduli, special) = moduli(case, ring)?;
    let switching = key_switching(moduli.len(), special);
    let parameters =
        sunzi_bgv::Parameters::new(ring, moduli, PLAIN_MODULUS, Security::InsecureForResearchOnly)
            .with_key_switching(switching);
    let context = sunzi_bgv::Context::new(&parameters)?;
    let evaluator = sunzi_bgv::Evaluator::new(&context);
    let sizes = [parameters.log2_modulus(), parameters.log2_key_modulus()];
    product(
        (ring, sizes, context.rlwe()),
        |message, key, rng| context.encrypt(message, key, rng),
        |ciphertext, key| context.decrypt(ciphertext, key),
        move |a, b, key| evaluator.multiply(a, b, key),
    )
}

fn bfv(case: Case, ring: RingShape) -> Result<Job> {
    let (moduli, special) = moduli(case, ring)?;
    let algorithms =
        Algorithms { key_switching: key_switching(moduli.len(), special), ..Algorithms::default() };
    let parameters =
        sunzi_bfv::Parameters::new(ring, moduli, PLAIN_MODULUS, Security::InsecureForResearchOnly)
            .with_algorithms(algorithms);
    let context = sunzi_bfv::Context::new(&parameters)?;
    let evaluator = sunzi_bfv::Evaluator::new(&context);
    let sizes = [parameters.log2_modulus(), parameters.log2_key_modulus()];
    product(
        (ring, sizes, context.rlwe()),
        |message, key, rng| context.encrypt(message, key, rng),
        |ciphertext, key| context.decrypt(ciphertext, key),
        move |a, b, key| evaluator.multiply(a, b, key),
    )
}

/// The product of two ciphertexts of a scheme, done once and decrypted.
fn product<S: sunzi_rlwe::Scheme, E>(
    (ring, [log_q, log_key_modulus], rlwe): (RingShape, [f64; 2], &RlweContext),
    encrypt: impl Fn(&Plaintext, &PublicKey, &mut SeededRng) -> Result<Ciphertext<S>, E>,
    decrypt: impl Fn(&Ciphertext<S>, &SecretKey) -> Result<Plaintext, E>,
    multiply: impl Fn(&Ciphertext<S>, &Ciphertext<S>, &RelinearizationKey) -> Result<Ciphertext<S>, E> + 'static,
) -> Result<Job>
where
    LabError: From<E>,
{
    let (mut rng, [a, b, expected]) = (rng(), messages(ring)?);
    let Keys { secret, public, relinearization: key } = Keys::generate(rlwe, &mut rng)?;
    let a = encrypt(&a, &public, &mut rng)?;
    let b = encrypt(&b, &public, &mut rng)?;
    let result = multiply(&a, &b, &key)?;
    let correct = decrypt(&result, &secret)? == expected;
    let call = Box::new(move || multiply(&a, &b, &key).map(drop).map_err(LabError::from));
    Ok(Job { call, correct, n: ring.degree(), log_q, log_key_modulus })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_are_right_and_beside_both() {
        let rows = run(&Options { rounds: 1, log_n: vec![12], ..Options::default() }).unwrap();
        assert_eq!(rows.len(), 3);
        for row in &rows {
            assert!(row.correct && row.ratio.unwrap() > 0.0, "{row:?}");
            assert_eq!((row.n, row.log_q > 162.0), (4096, true));
        }
        assert!(
            rows[0].peer.as_deref() == Some("n = 2^12")
                && rows[1].peer.as_deref().unwrap().starts_with("HElib")
        );
    }
}
