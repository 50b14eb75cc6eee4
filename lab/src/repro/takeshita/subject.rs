//! What is timed: BFV over 2^g − 1 in the paper's four versions, two of them also with products by Kronecker substitution as the paper had
//! them, and over word-size RNS with as many bits.

use std::time::{Duration, Instant};

use rand_core::CryptoRng;
use sunzi_bfv::{Algorithms, Ciphertext, Context, Evaluator};
use sunzi_encoding::{BatchEncoder, Encoder, Plaintext};
use sunzi_fermat::{FermatGadget, FermatRing, FermatScaler, Products, Shortcuts};
use sunzi_math::{DEFAULT_PRIME_BOUND, primes_below};
use sunzi_ring::{Coefficient, Evaluation, GadgetOptions, Poly, Ring, RingError};
use sunzi_rlwe::{RelinearizationKey, SecretKey, Security, randomness};

use super::words::{self, WordConversions};
use crate::LabError;
use crate::alternate::timed;

/// t: prime, coprime to every 2^g − 1, with slots up to n = 2^17.
const PLAIN: u64 = 786_433;
/// The version that words are beside the four.
pub(super) const WORDS: usize = 4;
/// No shortcuts and both, with products by Kronecker substitution.
pub(super) const KRONECKER: [usize; 2] = [5, 6];
/// All versions by name.
pub(super) const VERSIONS: [&str; 7] = [
    "no shortcuts",
    "shifts for multiplications",
    "shifts for reductions",
    "both",
    "word-size RNS",
    "no shortcuts, Kronecker",
    "both, Kronecker",
];

/// What the figures show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operation {
    ToPlain,
    Decryption,
    ToAuxiliary,
    Decomposition,
    Multiplication,
}

/// A scheme over one ring, with keys and operands.
struct Party {
    context: Context,
    evaluator: Evaluator,
    secret: SecretKey,
    key: RelinearizationKey,
    operands: [Ciphertext; 2],
    expected: Plaintext,
}

impl Party {
    fn new(context: Context, rng: &mut dyn CryptoRng) -> Result<Self, LabError> {
        let n = context.degree();
        let encoder = BatchEncoder::new(n, PLAIN)?;
        let slots = |a: u64, b: u64| -> Vec<u64> { (0..n as u64).map(|i| (i * a + b) % PLAIN).collect() };
        let (x, y) = (slots(7919, 1), slots(104_729, PLAIN - 5));
        let product: Vec<u64> = x.iter().zip(&y).map(|(x, y)| x * y % PLAIN).collect();
        let secret = SecretKey::generate(context.rlwe(), rng)?;
        let mut encrypt = |slots: &[u64]| -> Result<Ciphertext, LabError> {
            Ok(context.encrypt_secret(&encoder.encode(slots)?, &secret, rng)?)
        };
        let operands = [encrypt(&x)?, encrypt(&y)?];
        let key = RelinearizationKey::generate(context.rlwe(), &secret, rng)?;
        let evaluator = Evaluator::new(&context);
        Ok(Self { context, evaluator, secret, key, operands, expected: encoder.encode(&product)? })
    }

    fn decrypt(&self, a: &Ciphertext) -> Result<(Duration, Plaintext), LabError> {
        Ok(timed(|| self.context.decrypt(a, &self.secret))?)
    }

    fn multiply(&self, evaluator: &Evaluator) -> Result<(Duration, Ciphertext), LabError> {
        let [a, b] = &self.operands;
        Ok(timed(|| evaluator.multiply(a, b, &self.key))?)
    }
}

/// One of the four versions.
struct Version {
    context: Context,
    evaluator: Evaluator,
}

/// All of them.
pub(super) struct Subject {
    degree: usize,
    fermat: Party,
    versions: Vec<Version>,
    /// Versions with Kronecker products, where they are wanted.
    kronecker: Vec<Version>,
    words: Party,
    conversions: WordConversions,
    /// One uniform polynomial for all conversions.
    coefficients: Poly<Coefficient>,
    values: Poly<Evaluation>,
    limbs: Poly<Coefficient>,
    product: Option<Ciphertext>,
    word_product: Option<Ciphertext>,
}

impl Version {
    fn new(ring: FermatRing) -> Result<Self, LabError> {
        let context = Context::with_ring(Ring::of(ring), PLAIN, Security::InsecureForResearchOnly)?;
        Ok(Self { evaluator: Evaluator::new(&context), context })
    }

    /// The tables that convert between bases.
    fn scaler(&self) -> Result<&FermatScaler, RingError> {
        self.context.scaler().tables().ok_or(RingError::OtherStorage)
    }

    /// The tables that cut polynomials into digits.
    fn gadget(&self) -> Result<&FermatGadget, RingError> {
        self.context.rlwe().gadget().tables().ok_or(RingError::OtherStorage)
    }
}

impl Subject {
    /// At degree n modulo about 2^`bits`, with or without Kronecker products. Insecure for most of the paper's sizes.
    pub(super) fn new(degree: usize, bits: usize, kronecker: bool) -> Result<Self, LabError> {
        let mut rng = randomness::from_os()?;
        let index = 2 * degree as u64;
        let storage = FermatRing::new(index, bits)?;
        let security = Security::InsecureForResearchOnly;
        let mut versions = Vec::with_capacity(4);
        for shortcuts in Shortcuts::ALL {
            versions.push(Version::new(storage.with_shortcuts(shortcuts))?);
        }
        let [none, .., both] = Shortcuts::ALL;
        let packed = storage.with_products(Products::Kronecker);
        let by_kronecker = [none, both].into_iter().filter(|_| kronecker);
        let kronecker = by_kronecker
            .map(|shortcuts| Version::new(packed.with_shortcuts(shortcuts)))
            .collect::<Result<Vec<_>, _>>()?;
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
        let context = Context::with_algorithms(base.clone(), PLAIN, security, &algorithms)?;
        let words = Party::new(context, &mut rng)?;
        // γ and B_sk as BEHZ has them.
        let auxiliary = primes_below(DEFAULT_PRIME_BOUND, index, 2 * moduli.len() + 2)?;
        let auxiliary: Vec<u64> =
            auxiliary.into_iter().filter(|p| !moduli.contains(p)).take(moduli.len() + 1).collect();
        let gamma = auxiliary.first().copied().unwrap_or(3);
        let conversions = WordConversions::new(base.words()?.basis(), PLAIN, gamma, &auxiliary)?;
        let values = ring.uniform(&mut rng);
        let coefficients = ring.to_coefficient(values.clone())?;
        let limbs = base.to_coefficient(base.uniform(&mut rng))?;
        let mut subject = Self {
            degree,
            fermat,
            versions,
            kronecker,
            words,
            conversions,
            coefficients,
            values,
            limbs,
            product: None,
            word_product: None,
        };
        subject.check()?;
        Ok(subject)
    }

    /// Multiplies once by every version: products must be the same and decrypt to what they should.
    fn check(&mut self) -> Result<(), LabError> {
        let packed = KRONECKER.into_iter().zip(&self.kronecker);
        for (i, version) in self.versions.iter().enumerate().chain(packed) {
            let (_, product) = self.fermat.multiply(&version.evaluator)?;
            let plain = version.context.decrypt(&product, &self.fermat.secret)?;
            if plain != self.fermat.expected {
                return Err(self.wrong("multiplication", i));
            }
            self.product = Some(product);
        }
        let (_, product) = self.words.multiply(&self.words.evaluator)?;
        if self.words.decrypt(&product)?.1 != self.words.expected {
            return Err(self.wrong("multiplication", WORDS));
        }
        self.word_product = Some(product);
        Ok(())
    }

    fn wrong(&self, operation: &'static str, version: usize) -> LabError {
        let variant = VERSIONS.get(version).copied().unwrap_or("no version");
        LabError::Wrong { operation, variant, degree: self.degree }
    }

    /// The ring, and what converts.
    pub(super) fn parts(&self) -> Option<(&FermatRing, &FermatScaler)> {
        let version = self.versions.last()?;
        Some((version.context.ring().storage()?, version.scaler().ok()?))
    }

    /// Whether a version of an operation is there, and is not the same as another.
    pub(super) fn has(&self, operation: Operation, version: usize) -> bool {
        let multiplies = matches!(operation, Operation::Decryption | Operation::Multiplication);
        !KRONECKER.contains(&version) || multiplies && !self.kronecker.is_empty()
    }

    /// Does an operation by a version once.
    pub(super) fn time(&self, operation: Operation, version: usize) -> Result<Duration, LabError> {
        let packed = KRONECKER.into_iter().zip(&self.kronecker);
        match self.versions.iter().enumerate().chain(packed).find(|(i, _)| *i == version) {
            Some((_, by)) => self.time_fermat(operation, by, version),
            None => self.time_words(operation),
        }
    }

    fn time_fermat(&self, operation: Operation, by: &Version, version: usize) -> Result<Duration, LabError> {
        let (scaler, gadget) = (by.scaler()?, by.gadget()?);
        let begin = Instant::now();
        match operation {
            Operation::ToPlain => drop(scaler.convert_to_plain(&self.coefficients)?),
            Operation::ToAuxiliary => drop(scaler.convert_to_auxiliary(&self.coefficients)?),
            Operation::Decomposition => drop(gadget.whole_digits(&self.values)?),
            Operation::Multiplication => return Ok(self.fermat.multiply(&by.evaluator)?.0),
            Operation::Decryption => {
                let Some(product) = &self.product else { return Err(self.wrong("decryption", version)) };
                let (time, plain) = timed(|| by.context.decrypt(product, &self.fermat.secret))?;
                return if plain == self.fermat.expected {
                    Ok(time)
                } else {
                    Err(self.wrong("decryption", version))
                };
            }
        }
        Ok(begin.elapsed())
    }

    fn time_words(&self, operation: Operation) -> Result<Duration, LabError> {
        let begin = Instant::now();
        match operation {
            Operation::ToPlain => drop(self.conversions.to_plain(&self.limbs)?),
            Operation::ToAuxiliary => drop(self.conversions.to_auxiliary(&self.limbs)?),
            Operation::Decomposition => drop(self.conversions.decompose(&self.limbs)?),
            Operation::Multiplication => return Ok(self.words.multiply(&self.words.evaluator)?.0),
            Operation::Decryption => {
                let Some(product) = &self.word_product else { return Err(self.wrong("decryption", WORDS)) };
                let (time, plain) = self.words.decrypt(product)?;
                return if plain == self.words.expected {
                    Ok(time)
                } else {
                    Err(self.wrong("decryption", WORDS))
                };
            }
        }
        Ok(begin.elapsed())
    }
}
