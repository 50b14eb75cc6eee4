//! What most programs need: `use sunzi::prelude::*`, or the prelude of one scheme, such as `use sunzi::prelude::ckks::*`.
//!
//! The names here are those of BFV; [`bgv`] and [`ckks`] have the same names for their schemes. No type of a prelude that
//! is stored takes a parameter, so that a struct of keys and ciphertexts has none either: a program over several schemes
//! writes `bgv::Context` and `ckks::Context`.
//!
//! ```
//! use sunzi::prelude::*;
//!
//! /// What a server keeps of one client of BFV and one of CKKS.
//! struct Server {
//!     exact: Context,
//!     real: ckks::Context,
//!     keys: EvaluationKeys,
//!     total: Ciphertext,
//!     mean: Option<ckks::Ciphertext>,
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mut rng = randomness::from_os()?;
//! let exact = Context::new(&Parameters::builder().depth(0).plain_bits(17).build()?)?;
//! let real = ckks::Context::new(&ckks::Parameters::builder().depth(1).build()?)?;
//! let secret = SecretKey::generate(exact.rlwe(), &mut rng)?;
//! let encoder = BatchEncoder::new(exact.degree(), exact.plain_modulus())?;
//! let total = exact.encrypt_secret(&encoder.encode(&[1, 2])?, &secret, &mut rng)?;
//! let keys = exact.evaluation_keys(&secret, [], &mut rng)?;
//! let server = Server { exact, real, keys, total, mean: None };
//!
//! let evaluator = Evaluator::new(&server.exact);
//! let doubled = (2 * evaluator.with(&server.keys).bind(&server.total)).get()?;
//! assert_eq!(encoder.decode(&server.exact.decrypt(&doubled, &secret)?)?[..2], [2, 4]);
//! // A depth is one type, whether it is asked for or told.
//! assert_eq!(ckks::Parameters::builder().depth(server.real.depth()).build()?.depth(), 1);
//! assert!(server.mean.is_none());
//! # Ok(())
//! # }
//! ```

pub use sunzi_bfv::{
    BfvError, Ciphertext, Context, CrtContext, CrtParameters, Evaluator, OperatorError, Parameters, Value,
    WithKeys,
};
pub use sunzi_ckks::{CkksError, Complex64};
pub use sunzi_encoding::{
    BatchEncoder, CoefficientEncoder, CrtEncoder, Encoder, EncodingError, Plaintext, slot_sum_exponents,
};
pub use sunzi_kernels::{Isa, active_isa};
pub use sunzi_ring::Ring;
pub use sunzi_rlwe::{
    EvaluationKeys, GaloisKeys, NoiseBound, PublicKey, RelinearizationKey, RlweError, Rotation, SecretKey,
    Security, randomness,
};

/// What all schemes share.
mod shared {
    pub use sunzi_ring::Ring;
    pub use sunzi_rlwe::{
        EvaluationKeys, GaloisKeys, NoiseBound, PublicKey, RelinearizationKey, RlweError, Rotation,
        SecretKey, Security, randomness,
    };
}

/// What a program of BFV needs: exact integers modulo t, errors far away from the message.
///
/// ```
/// use sunzi::prelude::bfv::*;
///
/// /// No field has a type parameter.
/// struct Client {
///     context: Context,
///     secret: SecretKey,
///     public: PublicKey,
///     keys: EvaluationKeys,
///     encoder: BatchEncoder,
/// }
///
/// impl Client {
///     fn new(parameters: &Parameters) -> Result<Self, Box<dyn std::error::Error>> {
///         let context = Context::new(parameters)?;
///         let mut rng = randomness::from_os()?;
///         let secret = SecretKey::generate(context.rlwe(), &mut rng)?;
///         let public = PublicKey::generate(context.rlwe(), &secret, &mut rng)?;
///         let keys = context.evaluation_keys(&secret, [1], &mut rng)?;
///         let encoder = BatchEncoder::new(context.degree(), context.plain_modulus())?;
///         Ok(Self { context, secret, public, keys, encoder })
///     }
///
///     fn encrypt(&self, values: &[u64]) -> Result<Ciphertext, Box<dyn std::error::Error>> {
///         let plaintext: Plaintext = self.encoder.encode(values)?;
///         Ok(self.context.encrypt(&plaintext, &self.public, &mut randomness::from_os()?)?)
///     }
/// }
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let client = Client::new(&Parameters::builder().depth(1).plain_bits(17).build()?)?;
/// let (x, y) = (client.encrypt(&[2, 3])?, client.encrypt(&[4, 5])?);
/// let evaluator = Evaluator::new(&client.context);
/// let e = evaluator.with(&client.keys);
/// let product: Ciphertext = (e.bind(&x) * e.bind(&y)).get()?;
/// let opened = client.encoder.decode(&client.context.decrypt(&product, &client.secret)?)?;
/// assert_eq!(opened[..2], [8, 15]);
/// # Ok(())
/// # }
/// ```
pub mod bfv {
    pub use sunzi_bfv::{
        BatchEncoder, BfvError, Ciphertext, CoefficientEncoder, Context, CrtContext, CrtEncoder,
        CrtParameters, Encoder, EncodingError, Evaluator, OperatorError, Parameters, Plaintext, Value,
        WithKeys, slot_sum_exponents,
    };

    pub use super::shared::*;
}

/// What a program of BGV needs: exact integers modulo t, with the operations of every level declared.
///
/// ```
/// use sunzi::prelude::bgv::*;
///
/// /// No field has a type parameter.
/// struct Server {
///     evaluator: Evaluator,
///     keys: EvaluationKeys,
///     stored: Vec<Ciphertext>,
/// }
///
/// impl Server {
///     fn sum(&self) -> Option<Result<Ciphertext, OperatorError>> {
///         let e = self.evaluator.with(&self.keys);
///         let bound = self.stored.iter().map(|a| -> Value<'_> { e.bind(a) });
///         Some(bound.reduce(|sum, next| sum + next)?.get())
///     }
/// }
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let parameters = Parameters::builder().depth(0).plain_bits(17).fresh_additions(1).build()?;
/// let context = Context::new(&parameters)?;
/// let mut rng = randomness::from_os()?;
/// let secret = SecretKey::generate(context.rlwe(), &mut rng)?;
/// let keys = context.evaluation_keys(&secret, [], &mut rng)?;
/// let encoder = BatchEncoder::new(context.degree(), context.plain_modulus())?;
/// let mut encrypt = |x: u64| context.encrypt_secret(&encoder.encode(&[x])?, &secret, &mut rng);
/// let stored = vec![encrypt(20)?, encrypt(22)?];
/// let sum = Server { evaluator: Evaluator::new(&context), keys, stored }.sum().ok_or("nothing is stored")??;
/// assert_eq!(encoder.decode(&context.decrypt(&sum, &secret)?)?[0], 42);
/// # Ok(())
/// # }
/// ```
pub mod bgv {
    pub use sunzi_bgv::{
        BatchEncoder, BgvError, Ciphertext, CoefficientEncoder, Context, CrtContext, CrtEncoder, Encoder,
        EncodingError, Evaluator, Operations, OperatorError, Parameters, Plaintext, Value, WithKeys,
        slot_sum_exponents,
    };

    pub use super::shared::*;
}

/// What a program of CKKS needs: approximate real and complex numbers.
///
/// ```
/// use sunzi::prelude::ckks::*;
///
/// /// No field has a type parameter.
/// struct Server {
///     context: Context,
///     keys: EvaluationKeys,
///     weights: Plaintext,
/// }
///
/// impl Server {
///     fn score(&self, x: &Ciphertext) -> Result<Ciphertext, OperatorError> {
///         let evaluator = Evaluator::new(&self.context);
///         let weighted = evaluator.with(&self.keys).bind(x) * &self.weights;
///         (&weighted + (&weighted << 1)).get()
///     }
/// }
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let context = Context::new(&Parameters::builder().depth(1).precision(15).build()?)?;
/// let mut rng = randomness::from_os()?;
/// let secret = SecretKey::generate(context.rlwe(), &mut rng)?;
/// let keys = context.evaluation_keys(&secret, [1], &mut rng)?;
/// let encoder = Encoder::new(&context, 2)?;
/// let weights = encoder.encode_real(&[0.5, 0.25])?;
/// let x = context.encrypt_secret(&encoder.encode_real(&[1.0, -1.0])?, &secret, &mut rng)?;
/// let score = Server { context: context.clone(), keys, weights }.score(&x)?;
/// let opened = encoder.decode_real(&context.decrypt(&score, &secret)?)?;
/// assert!((opened[0] - 0.25).abs() < 1e-3);
/// # Ok(())
/// # }
/// ```
pub mod ckks {
    pub use sunzi_ckks::rotation::rotation_keys;
    pub use sunzi_ckks::{
        Ciphertext, CkksError, Complex64, Context, Encoder, EncoderError, Evaluator, OperatorError,
        Parameters, Plaintext, Precision, Value, WithKeys,
    };

    pub use super::shared::*;
}
