//! BFV as a scheme of the RLWE layer.

use sunzi_ring::Ring;

/// The scheme BFV, as a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bfv;

impl sunzi_rlwe::Scheme for Bfv {
    type Metadata = ();
    const NAME: &'static str = "BFV";
}

/// A BFV ciphertext: c(s) = (q/t)·m + v (mod q) for a message m and noise v.
pub type Ciphertext<R = Ring> = sunzi_rlwe::Ciphertext<Bfv, R>;
