//! Operations on BGV ciphertexts: what BGV adds to the operations that all schemes share, its levels and its
//! products.

mod level;
mod multiply;

use std::borrow::Cow;
use std::ops::Deref;

use sunzi_encoding::Plaintext;
use sunzi_rlwe::evaluator::Pair;
use sunzi_rlwe::{Exact, Homomorphic, NoiseBound, NoiseTerm, RlweContext, SecretKey, Sign, Trace};

pub use sunzi_rlwe::evaluator::{
    GiantStep, PlainMatrix, PreparedMatrix, PreparedMultiplier, PreparedPlaintext,
};

use crate::budget::MOST_PLAIN_PRODUCTS;
use crate::{Bgv, BgvError, Ciphertext, Context, Metadata, Usage};

/// The digits of a BGV ciphertext, cut once for any number of its rotations.
pub type Hoisted<'a> = sunzi_rlwe::evaluator::Hoisted<'a, Bgv>;

/// Evaluator: computes on BGV ciphertexts without any secret.
///
/// Operands of BGV operations may stand at different levels: whatever modulus switch or constant factor aligns them is
/// applied, and counted.
///
/// ```
/// use sunzi_bgv::{Context, Evaluator, Parameters};
/// use sunzi_encoding::{BatchEncoder, Encoder};
/// use sunzi_rlwe::{PublicKey, RelinearizationKey, SecretKey, randomness};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let parameters = Parameters::builder().depth(2).plain_bits(17).build()?;
/// let context = Context::new(&parameters)?;
/// let mut rng = randomness::from_os()?;
/// let secret = SecretKey::generate(context.rlwe(), &mut rng)?;
/// let public = PublicKey::generate(context.rlwe(), &secret, &mut rng)?;
/// let relinearization = RelinearizationKey::generate(context.rlwe(), &secret, &mut rng)?;
///
/// let encoder = BatchEncoder::new(context.degree(), context.plain_modulus())?;
/// let x = context.encrypt(&encoder.encode(&[1, 2, 3])?, &public, &mut rng)?;
/// let y = context.encrypt(&encoder.encode(&[4, 5, 6])?, &public, &mut rng)?;
///
/// let evaluator = Evaluator::new(&context);
/// let product = evaluator.multiply(&x, &y, &relinearization)?;
/// let cube = evaluator.multiply(&product, &x, &relinearization)?;
/// let slots = encoder.decode(&context.decrypt(&cube, &secret)?)?;
/// assert_eq!(slots[..3], [4, 20, 54]);
/// // A third multiplication in a row was not declared.
/// assert!(evaluator.square(&cube, &relinearization).is_err());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Evaluator(sunzi_rlwe::Evaluator<Bgv>);

impl Evaluator {
    /// Makes an evaluator over a BGV context.
    #[must_use]
    pub fn new(context: &Context) -> Self {
        Self(sunzi_rlwe::Evaluator::new(context))
    }
}

/// Gives access to the operations that all schemes share.
impl Deref for Evaluator {
    type Target = sunzi_rlwe::Evaluator<Bgv>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl Homomorphic for Bgv {
    type Context = Context;
    type Plaintext = Plaintext;
    type Error = BgvError;

    fn rlwe(context: &Context) -> &RlweContext {
        context.rlwe()
    }

    fn check(context: &Context, a: &Ciphertext) -> Result<(), BgvError> {
        context.check(a).map(drop)
    }

    fn align<'a, 'b>(
        context: &Context,
        a: Cow<'a, Ciphertext>,
        b: &'b Ciphertext,
        _: &'static str,
    ) -> Result<Pair<'a, 'b, Self>, BgvError> {
        context.aligned(a, b)
    }

    /// The metadata of a sum of two BGV ciphertexts of one level and modulus: the sum has used what its operands did.
    fn join(context: &Context, a: &Metadata, b: &Metadata, _: &'static str) -> Result<Metadata, BgvError> {
        context.metadata(b.level, b.place, a.usage.sum(&b.usage))
    }

    /// Adds ±⌊(Q/t)·(f·m mod t)⌉ to the part c_0 of a ciphertext, for a plaintext m.
    fn shift(
        context: &Context,
        a: &mut Ciphertext,
        plaintext: &Plaintext,
        sign: Sign,
        _: &'static str,
    ) -> Result<(), BgvError> {
        let scaled = context.scaled(plaintext, a.metadata().place, a.metadata().factor)?;
        a.shift(&context.ring_of(a)?, &scaled, sign)?;
        a.set_noise(a.noise().plus(NoiseTerm::rounding()));
        Ok(())
    }

    fn rotated(_: &Context, metadata: &Metadata) -> Result<Metadata, BgvError> {
        let mut rotated = metadata.clone();
        rotated.usage.rotations = rotated.usage.rotations.saturating_add(1);
        Ok(rotated)
    }

    fn admit(context: &Context, a: &Ciphertext, operation: &'static str) -> Result<f64, BgvError> {
        context.admit(a, operation)
    }

    fn empty(what: &'static str) -> BgvError {
        BgvError::Empty { what }
    }
}

impl Exact for Bgv {
    fn plain_modulus(context: &Context) -> u64 {
        context.plain_modulus()
    }

    fn with_plain_modulus(context: &Context, plain_modulus: u64) -> Result<Context, BgvError> {
        context.with_plain_modulus(plain_modulus)
    }

    /// The metadata of a fresh BGV ciphertext: the highest level, with factor 1.
    fn fresh(context: &Context) -> Result<Metadata, BgvError> {
        context.metadata(context.depth(), context.top(), Usage::ONE)
    }

    fn decrypt(context: &Context, a: &Ciphertext, key: &SecretKey) -> Result<Plaintext, BgvError> {
        context.decrypt(a, key)
    }

    fn other_modulus(expected: u64, got: u64) -> BgvError {
        BgvError::PlainModulusMismatch { expected, got }
    }

    fn at_one_level(a: &Metadata, b: &Metadata) -> bool {
        (a.level, a.place) == (b.level, b.place)
    }

    fn multiplied(metadata: &Metadata) -> Metadata {
        let mut multiplied = metadata.clone();
        let products = &mut multiplied.usage.plain_products;
        *products = products.saturating_add(1).min(MOST_PLAIN_PRODUCTS);
        multiplied
    }

    fn scaled(metadata: &Metadata, factor: u64) -> Metadata {
        Metadata { usage: metadata.usage.times(factor), ..metadata.clone() }
    }

    /// Notes in the result of a sum which operation made it, from what the first of its terms carries, then from what
    /// all of them do.
    fn finish_sum(
        context: &Context,
        mut sum: Ciphertext,
        operation: &'static str,
        operands: &[&Trace],
        terms: &[(Metadata, NoiseBound)],
    ) -> Result<Ciphertext, BgvError> {
        let Some(((metadata, noise), others)) = terms.split_first() else { return Ok(sum) };
        sum.set_noise(*noise);
        sum.set_metadata(metadata.clone());
        let mut sum = context.finish(sum, operation, operands)?;
        if others.is_empty() {
            return Ok(sum);
        }
        let (mut all, mut noise) = (metadata.clone(), *noise);
        for (other, own) in others {
            all.usage = all.usage.sum(&other.usage);
            noise = noise.sum(own);
        }
        sum.set_noise(noise);
        sum.set_metadata(all);
        context.finish(sum, "add", &[])
    }
}
