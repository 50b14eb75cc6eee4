//! BFV as a scheme of the RLWE layer.

/// The scheme BFV, as a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bfv;

impl sunzi_rlwe::Scheme for Bfv {
    /// The plaintext modulus t of a BFV ciphertext: contexts that differ in nothing else share keys, and their
    /// ciphertexts must not mix.
    type Metadata = u64;
    const NAME: &'static str = "BFV";
}

/// A BFV ciphertext: c(s) = (q/t)·m + v (mod q) for a message m and noise v.
///
/// ```
/// use sunzi_bfv::{BatchEncoder, Ciphertext, Context, Encoder, Parameters};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let parameters = Parameters::builder().depth(1).plain_modulus(257).log2_degree(7);
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
pub type Ciphertext = sunzi_rlwe::Ciphertext<Bfv>;
