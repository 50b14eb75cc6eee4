//! BFV to time for `[TSKJ20]`: over 2^g − 1 in the paper's four versions, two of them also with products by
//! Kronecker substitution as the paper had them, and over word-size RNS with as many bits.

use std::time::{Duration, Instant};

use rand_core::CryptoRng;
use sunzi_bfv::{Algorithms, Ciphertext, Context, Evaluator};
use sunzi_encoding::{BatchEncoder, Encoder, Plaintext};
use sunzi_fermat::{FermatGadget, FermatRing, FermatScaler, Products, Shortcuts};
use sunzi_math::{DEFAULT_PRIME_BOUND, primes_below};
use sunzi_ring::{Coefficient, Evaluation, GadgetOptions, Poly, Ring, RingError};
use sunzi_rlwe::{RelinearizationKey, SecretKey, Security, randomness};

use super::words::{self, WordConversions};
use crate::repro::{LabError, Result, research, timed};

/// Plaintext modulus t: prime, coprime to every 2^g − 1, with slots up to n = 2^17.
pub(super) const PLAIN: u64 = 786_433;
/// Index of the version with both shortcuts.
pub(super) const BOTH: usize = 3;
/// Index of the version over word-size RNS, beside the four versions of `[TSKJ20]`.
pub(super) const WORDS: usize = 4;
/// Indices of the versions with products by Kronecker substitution: without shortcuts, and with both.
pub(super) const KRONECKER: [usize; 2] = [5, 6];
/// Names of all versions of BFV.
pub(super) const VERSIONS: [&str; 7] = [
    "no shortcuts",
    "shifts for multiplications",
    "shifts for reductions",
    "both",
    "word-size RNS",
    "no shortcuts, Kronecker",
    "both, Kronecker",
];

/// An operation of BFV, or a part of one, that the figures of `[TSKJ20]` show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operation {
    ToPlain,
    Decryption,
    ToAuxiliary,
    Decomposition,
    Multiplication,
}

/// BFV over one ring, with keys and operands.
pub(super) struct Party {
    context: Context,
    evaluator: Evaluator,
    secret: SecretKey,
    key: RelinearizationKey,
    operands: [Ciphertext; 2],
    expected: Plaintext,
}

impl Party {
    pub(super) fn new(context: Context, rng: &mut dyn CryptoRng) -> Result<Self> {
        let n = context.degree();
        let encoder = BatchEncoder::new(n, PLAIN)?;
        let slots = |a: u64, b: u64| -> Vec<u64> { (0..n as u64).map(|i| (i * a + b) % PLAIN).collect() };
        let (x, y) = (slots(7919, 1), slots(104_729, PLAIN - 5));
        let product: Vec<u64> = x.iter().zip(&y).map(|(x, y)| x * y % PLAIN).collect();
        let secret = SecretKey::generate(context.rlwe(), rng)?;
        let mut encrypt = |slots: &[u64]| -> Result<Ciphertext> {
            Ok(context.encrypt_secret(&encoder.encode(slots)?, &secret, rng)?)
        };
        let operands = [encrypt(&x)?, encrypt(&y)?];
        let key = RelinearizationKey::generate(context.rlwe(), &secret, rng)?;
        let evaluator = Evaluator::new(&context);
        Ok(Self { context, evaluator, secret, key, operands, expected: encoder.encode(&product)? })
    }

    fn multiply(&self, evaluator: &Evaluator) -> Result<Ciphertext> {
        let [a, b] = &self.operands;
        Ok(evaluator.multiply(a, b, &self.key)?)
    }

    /// Time of a product, whose result is checked.
    pub(super) fn timed_product(&self) -> Result<Duration> {
        let (time, product) = timed(|| self.multiply(&self.evaluator))?;
        self.check("multiplication", BOTH, &self.context.decrypt(&product, &self.secret)?)?;
        Ok(time)
    }

    /// Number of components of q.
    pub(super) fn level(&self) -> usize {
        self.context.rlwe().level()
    }

    /// Number of bytes of the relinearisation key.
    pub(super) fn key_bytes(&self) -> usize {
        self.key.byte_len()
    }

    /// A product by a version of BFV, whose result is checked.
    fn product(&self, evaluator: &Evaluator, version: usize) -> Result<Ciphertext> {
        let product = self.multiply(evaluator)?;
        self.check("multiplication", version, &evaluator.context().decrypt(&product, &self.secret)?)?;
        Ok(product)
    }

    fn check(&self, operation: &str, version: usize, plain: &Plaintext) -> Result<()> {
        let variant = VERSIONS.get(version).copied().unwrap_or("no version");
        LabError::unless(*plain == self.expected, operation, variant, self.context.degree())
    }
}

/// One version of BFV that is timed.
struct Version {
    /// Index of a BFV version among the names of versions.
    index: usize,
    evaluator: Evaluator,
}

/// All versions of BFV at one degree and size of q.
pub(super) struct Subject {
    fermat: Party,
    /// Versions over 2^g − 1, the ones with Kronecker products included where they are wanted.
    versions: Vec<Version>,
    words: Party,
    conversions: WordConversions,
    /// One uniform polynomial that all conversions take.
    coefficients: Poly<Coefficient>,
    values: Poly<Evaluation>,
    limbs: Poly<Coefficient>,
    /// Products over 2^g − 1 and over word-size RNS, which are decrypted for their time.
    products: [Ciphertext; 2],
}

impl Version {
    fn new(index: usize, ring: FermatRing) -> Result<Self> {
        let context = Context::with_ring(Ring::of(ring), PLAIN, Security::InsecureForResearchOnly)?;
        Ok(Self { index, evaluator: Evaluator::new(&context) })
    }

    /// The tables of the version that convert between bases.
    fn scaler(&self) -> Result<&FermatScaler, RingError> {
        self.evaluator.context().scaler().tables().ok_or(RingError::OtherStorage)
    }

    /// The tables of the version that cut polynomials into digits.
    fn gadget(&self) -> Result<&FermatGadget, RingError> {
        self.evaluator.context().rlwe().gadget().tables().ok_or(RingError::OtherStorage)
    }
}

/// Multiplies once by every version, checks that products decrypt to what they should, and returns the last.
fn last_product(party: &Party, versions: &[Version]) -> Result<Ciphertext> {
    let product = |version: &Version| party.product(&version.evaluator, version.index);
    let made = versions.iter().map(product).collect::<Result<Vec<_>>>()?.pop();
    made.ok_or_else(|| LabError::wrong("multiplication", "no version", party.context.degree()))
}

impl Subject {
    /// All versions at degree n modulo about 2^`bits`, with or without Kronecker products. Insecure for most
    /// sizes of `[TSKJ20]`.
    pub(super) fn new(degree: usize, bits: usize, kronecker: bool) -> Result<Self> {
        let more = if kronecker { &KRONECKER[..] } else { &[] };
        let chosen: Vec<usize> = (0..WORDS).chain(more.iter().copied()).collect();
        Self::with_versions(degree, bits, &chosen)
    }

    /// These versions over 2^g − 1, by their indices, and word-size RNS beside them.
    pub(super) fn with_versions(degree: usize, bits: usize, chosen: &[usize]) -> Result<Self> {
        let mut rng = randomness::from_os()?;
        let index = 2 * degree as u64;
        let storage = FermatRing::new(index, bits)?;
        let security = Security::InsecureForResearchOnly;
        let packed = storage.with_products(Products::Kronecker);
        let [none, .., both] = Shortcuts::ALL;
        let own = Shortcuts::ALL.into_iter().enumerate().map(|(i, shortcuts)| (i, &storage, shortcuts));
        let by_kronecker = KRONECKER.into_iter().zip([none, both]);
        let all = own.chain(by_kronecker.map(|(i, shortcuts)| (i, &packed, shortcuts)));
        let all = all.filter(|(i, ..)| chosen.contains(i));
        let versions = all.map(|(i, ring, shortcuts)| Version::new(i, ring.with_shortcuts(shortcuts)));
        let versions = versions.collect::<Result<Vec<_>>>()?;
        let ring = Ring::of(storage);
        let fermat = Party::new(Context::with_ring(ring.clone(), PLAIN, security)?, &mut rng)?;
        let (moduli, special) = words::moduli(bits, index)?;
        let key_switching = GadgetOptions {
            digits: Some(moduli.len().min(3)),
            special_moduli: special,
            ..GadgetOptions::default()
        };
        let algorithms = Algorithms { key_switching, ..Algorithms::default() };
        let base = Ring::new(index, &moduli)?;
        let words = Party::new(research(base.clone(), PLAIN, &algorithms)?, &mut rng)?;
        // γ and B_sk as BEHZ has them.
        let auxiliary = primes_below(DEFAULT_PRIME_BOUND, index, 2 * moduli.len() + 2)?;
        let auxiliary: Vec<u64> =
            auxiliary.into_iter().filter(|p| !moduli.contains(p)).take(moduli.len() + 1).collect();
        let gamma = auxiliary.first().copied().unwrap_or(3);
        let conversions = WordConversions::new(base.words()?.basis(), PLAIN, gamma, &auxiliary)?;
        let values = ring.uniform(&mut rng);
        let coefficients = ring.to_coefficient(values.clone())?;
        let limbs = base.to_coefficient(base.uniform(&mut rng))?;
        let products = [last_product(&fermat, &versions)?, words.product(&words.evaluator, WORDS)?];
        Ok(Self { fermat, versions, words, conversions, coefficients, values, limbs, products })
    }

    /// The ring modulo 2^g − 1, and the tables that convert between its bases.
    pub(super) fn parts(&self) -> Option<(&FermatRing, &FermatScaler)> {
        let version = self.versions.iter().rfind(|version| !KRONECKER.contains(&version.index))?;
        Some((version.evaluator.context().ring().storage()?, version.scaler().ok()?))
    }

    /// Whether an operation has this version, distinct from the others.
    pub(super) fn has(&self, operation: Operation, version: usize) -> bool {
        let multiplies = matches!(operation, Operation::Decryption | Operation::Multiplication);
        !KRONECKER.contains(&version)
            || multiplies && self.versions.iter().any(|other| other.index == version)
    }

    /// Does an operation by a version once and returns its time.
    pub(super) fn time(&self, operation: Operation, version: usize) -> Result<Duration> {
        let by = self.versions.iter().find(|other| other.index == version);
        let [product, word_product] = &self.products;
        let (party, evaluator, product) = match by {
            Some(by) => (&self.fermat, &by.evaluator, product),
            None => (&self.words, &self.words.evaluator, word_product),
        };
        let begin = Instant::now();
        match (operation, by) {
            (Operation::Multiplication, _) => drop(party.multiply(evaluator)?),
            (Operation::Decryption, _) => {
                let (time, plain) = timed(|| evaluator.context().decrypt(product, &party.secret))?;
                party.check("decryption", version, &plain)?;
                return Ok(time);
            }
            (Operation::ToPlain, None) => drop(self.conversions.to_plain(&self.limbs)?),
            (Operation::ToAuxiliary, None) => drop(self.conversions.to_auxiliary(&self.limbs)?),
            (Operation::Decomposition, None) => drop(self.conversions.decompose(&self.limbs)?),
            (Operation::ToPlain, Some(by)) => drop(by.scaler()?.convert_to_plain(&self.coefficients)?),
            (Operation::ToAuxiliary, Some(by)) => {
                drop(by.scaler()?.convert_to_auxiliary(&self.coefficients)?)
            }
            (Operation::Decomposition, Some(by)) => drop(by.gadget()?.whole_digits(&self.values)?),
        }
        Ok(begin.elapsed())
    }
}
