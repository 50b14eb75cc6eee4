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
pub type Ciphertext = sunzi_rlwe::Ciphertext<Bfv>;
