//! The rival transform of tfhe-ntt, behind the feature `peers`.

use crate::bench::{LabError, Result};

/// Name and version line of the rival transform.
pub(crate) const NAME: &str = "tfhe-ntt 0.7";
/// Bits of the primes at which the rival transform is fastest, with 52-bit multiplications.
pub(crate) const BITS: u32 = 50;

#[cfg(feature = "peers")]
pub(crate) struct Peer(tfhe_ntt::prime64::Plan);

#[cfg(feature = "peers")]
impl Peer {
    pub(crate) fn new(n: usize, modulus: u64) -> Result<Self> {
        tfhe_ntt::prime64::Plan::try_new(n, modulus).map(Self).ok_or_else(|| {
            LabError::Failed(format!("{NAME} has no transform of degree {n} modulo {modulus}"))
        })
    }

    pub(crate) fn forward(&self, words: &mut [u64]) {
        self.0.fwd(words);
    }

    /// The rival's inverse transform without the factor 1/n.
    pub(crate) fn inverse(&self, words: &mut [u64]) {
        self.0.inv(words);
    }

    /// Multiplies a polynomial by 1/n in the rival's library.
    pub(crate) fn normalize(&self, words: &mut [u64]) {
        self.0.normalize(words);
    }
}

/// The rival transform of a build without the feature `peers`: a type without values.
#[cfg(not(feature = "peers"))]
pub(crate) enum Peer {}

#[cfg(not(feature = "peers"))]
impl Peer {
    pub(crate) fn new(_n: usize, _modulus: u64) -> Result<Self> {
        Err(LabError::Usage("--peers needs the rivals built in: cargo run --release -p lab --features peers -- bench ntt --peers".to_owned()))
    }

    pub(crate) fn forward(&self, _words: &mut [u64]) {
        match *self {}
    }

    pub(crate) fn inverse(&self, _words: &mut [u64]) {
        match *self {}
    }

    pub(crate) fn normalize(&self, _words: &mut [u64]) {
        match *self {}
    }
}
