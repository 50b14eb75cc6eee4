//! BGV as a scheme of the RLWE layer.

use crate::Usage;

/// The scheme BGV, as a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bgv;

impl sunzi_rlwe::Scheme for Bgv {
    type Metadata = Metadata;
    const NAME: &'static str = "BGV";
}

/// A BGV ciphertext: u(s) = (Q/t)·(f·m mod t) + v (mod Q) for a message m, noise v, the factor f of its level, and Q
/// the product of the moduli its parts have.
///
/// ```
/// use sunzi_bgv::{BatchEncoder, Ciphertext, Context, Encoder, Parameters};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let parameters = Parameters::builder().depth(1).fresh_additions(1).plain_modulus(257).log2_degree(7);
/// # let parameters = parameters.security(sunzi_rlwe::Security::InsecureForResearchOnly).build()?;
/// # let context = Context::new(&parameters)?;
/// # let mut rng = sunzi_rlwe::randomness::from_os()?;
/// # let secret = sunzi_rlwe::SecretKey::generate(context.rlwe(), &mut rng)?;
/// # let encoder = BatchEncoder::new(context.degree(), context.plain_modulus())?;
/// # let a = context.encrypt_secret(&encoder.encode(&[1, 2])?, &secret, &mut rng)?;
/// let fresh: Ciphertext = a;
/// assert_eq!(fresh.parts().len(), 2);
/// assert_eq!(encoder.decode(&context.decrypt(&fresh, &secret)?)?[..2], [1, 2]);
/// # Ok(())
/// # }
/// ```
pub type Ciphertext = sunzi_rlwe::Ciphertext<Bgv>;

/// Metadata of a BGV ciphertext: all that it carries besides polynomials and noise.
#[derive(Clone, Debug, PartialEq)]
pub struct Metadata {
    /// Plaintext modulus t of the ciphertext.
    pub(crate) plain_modulus: u64,
    /// Level of the ciphertext: multiplications that it still allows.
    pub(crate) level: usize,
    /// Index i of the modulus Q_i that the ciphertext has: i is its level or the next, or any with dynamic switching.
    pub(crate) place: usize,
    /// Correction factor f of the ciphertext's level.
    pub(crate) factor: u64,
    /// Operations that the ciphertext used at its level.
    pub(crate) usage: Usage,
}

impl Metadata {
    /// The plaintext modulus t of a BGV ciphertext.
    #[must_use]
    pub fn plain_modulus(&self) -> u64 {
        self.plain_modulus
    }

    /// The level of a BGV ciphertext: multiplications that it still allows.
    #[must_use]
    pub fn level(&self) -> usize {
        self.level
    }

    /// The correction factor f modulo t: the parts of the ciphertext, read as BFV, hold f·m.
    #[must_use]
    pub fn factor(&self) -> u64 {
        self.factor
    }

    /// The operations that a BGV ciphertext used at its level.
    #[must_use]
    pub fn usage(&self) -> &Usage {
        &self.usage
    }
}
