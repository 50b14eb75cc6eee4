//! Operations on BFV ciphertexts: what BFV adds to the operations that all schemes share, and its products.

mod extend;
mod multiply;
mod products;

use std::ops::Deref;

use sunzi_rlwe::{Exact, Homomorphic, RlweContext, SecretKey, Sign};

pub use extend::Extended;
pub use products::ProductSum;
pub use sunzi_rlwe::evaluator::{
    GiantStep, PlainMatrix, PreparedMatrix, PreparedMultiplier, PreparedPlaintext,
};

use crate::{Bfv, BfvError, Ciphertext, Context, Plaintext, noise};

/// The digits of a BFV ciphertext, cut once for any number of its rotations.
pub type Hoisted<'a> = sunzi_rlwe::evaluator::Hoisted<'a, Bfv>;

/// Evaluator: computes on BFV ciphertexts without any secret.
///
/// ```
/// use sunzi_bfv::{BatchEncoder, Context, Encoder, Evaluator, Parameters};
/// use sunzi_rlwe::{PublicKey, RelinearizationKey, SecretKey, randomness};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let parameters = Parameters::builder().depth(1).plain_bits(17).build()?;
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
/// let slots = encoder.decode(&context.decrypt(&product, &secret)?)?;
/// assert_eq!(slots[..3], [4, 10, 18]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Evaluator(sunzi_rlwe::Evaluator<Bfv>);

impl Evaluator {
    /// Makes an evaluator over a BFV context.
    #[must_use]
    pub fn new(context: &Context) -> Self {
        Self(sunzi_rlwe::Evaluator::new(context))
    }
}

/// Gives access to the operations that all schemes share.
impl Deref for Evaluator {
    type Target = sunzi_rlwe::Evaluator<Bfv>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl Homomorphic for Bfv {
    type Context = Context;
    type Plaintext = Plaintext;
    type Error = BfvError;
    const AUTOMORPHISM: &'static str = "apply an automorphism";

    fn rlwe(context: &Context) -> &RlweContext {
        context.rlwe()
    }

    fn check(context: &Context, a: &Ciphertext) -> Result<(), BfvError> {
        context.check(a)
    }

    /// Adds ±⌊(q/t)·m⌉ to the part c_0 of a ciphertext, for a plaintext m.
    fn shift(
        context: &Context,
        a: &mut Ciphertext,
        plaintext: &Plaintext,
        sign: Sign,
        _: &'static str,
    ) -> Result<(), BfvError> {
        context.check_plaintext(plaintext)?;
        let scaled = context.scaled_message(plaintext)?;
        a.shift(context.ring(), &scaled, sign)?;
        a.set_noise(noise::plain_sum(a.noise()));
        Ok(())
    }

    fn admit(context: &Context, a: &Ciphertext, _: &'static str) -> Result<f64, BfvError> {
        Ok(context.bits_left(a))
    }

    fn empty(what: &'static str) -> BfvError {
        BfvError::Empty { what }
    }
}

impl Exact for Bfv {
    fn plain_modulus(context: &Context) -> u64 {
        context.plain_modulus()
    }

    fn with_plain_modulus(context: &Context, plain_modulus: u64) -> Result<Context, BfvError> {
        context.with_plain_modulus(plain_modulus)
    }

    fn fresh(context: &Context) -> Result<u64, BfvError> {
        Ok(context.plain_modulus())
    }

    fn decrypt(context: &Context, a: &Ciphertext, key: &SecretKey) -> Result<Plaintext, BfvError> {
        context.decrypt(a, key)
    }

    fn other_modulus(expected: u64, got: u64) -> BfvError {
        BfvError::PlainModulusMismatch { expected, got }
    }
}
