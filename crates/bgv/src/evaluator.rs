//! Operations on ciphertexts: each validates once, brings operands together, then travels straight down.

mod add;
mod level;
mod linear_map;
mod multiply;
mod plain;
mod rotate;

pub use linear_map::{GiantStep, PreparedMultiplier};
pub use plain::PreparedPlaintext;
pub use rotate::Hoisted;

use crate::Context;

/// Computes on ciphertexts without any secret.
///
/// Operands may stand at different levels: whatever modulus switch or constant factor brings them together is applied,
/// and counted.
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
pub struct Evaluator {
    context: Context,
}

impl Evaluator {
    /// An evaluator over `context`.
    #[must_use]
    pub fn new(context: &Context) -> Self {
        Self { context: context.clone() }
    }

    /// The context it computes in.
    #[must_use]
    pub fn context(&self) -> &Context {
        &self.context
    }
}
