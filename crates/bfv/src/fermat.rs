//! BFV parameters for Fermat moduli 2^g − 1 `[TSKJ20]`.

use sunzi_encoding::{check_degree, check_plain_modulus};
use sunzi_ring::GadgetOptions;
use sunzi_rlwe::{Security, memory, security};

use crate::{Algorithms, BfvError, Context, tables};

/// Bits of the digits of relinearisation: whole components would cost half of the modulus.
const RADIX_BITS: u32 = 60;

/// BFV parameters with a modulus 2^g − 1: degree and g for a depth, as [`Parameters`](crate::Parameters) are for
/// word-size primes.
///
/// The file `docs/fermat.md` says when to choose moduli 2^g − 1. They need the feature `fermat`: without it, whatever
/// makes or reads them is [`BfvError::MissingFeature`].
///
/// ```
/// # #[cfg(feature = "fermat")] {
/// use sunzi_bfv::FermatParameters;
/// use sunzi_fermat::FermatModulus;
/// use sunzi_rlwe::Security;
///
/// let parameters = FermatParameters::for_depth(3, FermatModulus::BATCHING, Security::Bits128)?;
/// assert_eq!((parameters.degree(), parameters.bits()), (1 << 14, 256));
/// let context = parameters.context()?;
/// assert_eq!(context.degree(), 1 << 14);
/// # }
/// # Ok::<(), sunzi_bfv::BfvError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FermatParameters {
    degree: usize,
    bits: usize,
    plain_modulus: u64,
    security: Security,
}

impl FermatParameters {
    /// The least prime that is coprime to every modulus 2^g − 1 and 1 modulo 2n for all degrees up to 2^17: a plaintext modulus with slots.
    pub const BATCHING: u64 = 786_433;

    /// Chooses the smallest degree from 2^10 to 2^17 that is secure with the g that `depth` products one after the
    /// other take, by the worst case of the papers: see `FermatModulus::for_depth` of `sunzi-fermat`.
    ///
    /// # Errors
    /// [`BfvError::Ring`] for a t that is out of range or shares a factor with q; [`BfvError::Request`] for a depth that no degree allows.
    pub fn for_depth(depth: usize, plain_modulus: u64, security: Security) -> Result<Self, BfvError> {
        for log2_degree in security::LOG2_DEGREES {
            let degree = 1 << log2_degree;
            let bits = modulus::bits_for_depth(degree, plain_modulus, depth)?;
            if security::check(degree, bits as f64, security).is_ok() {
                return Ok(Self { degree, bits, plain_modulus, security });
            }
        }
        Err(BfvError::Request {
            what: "depth",
            got: depth.to_string(),
            expected: format!("less, at {security:?} with t = {plain_modulus} modulo 2^g - 1"),
        })
    }

    /// Makes parameters modulo 2^g − 1 of a given degree and g.
    ///
    /// # Errors
    /// [`BfvError::Encoding`] for a degree or t out of range; [`BfvError::Ring`] for g, and for a t that shares a factor with q; [`BfvError::Rlwe`] above
    /// the security limit.
    pub fn new(degree: usize, bits: usize, plain_modulus: u64, security: Security) -> Result<Self, BfvError> {
        check_degree(degree)?;
        check_plain_modulus(plain_modulus)?;
        modulus::check(bits, plain_modulus)?;
        security::check(degree, bits as f64, security)?;
        Ok(Self { degree, bits, plain_modulus, security })
    }

    /// The ring degree n of parameters modulo 2^g − 1.
    #[must_use]
    pub fn degree(&self) -> usize {
        self.degree
    }

    /// The exponent g of the modulus 2^g − 1.
    #[must_use]
    pub fn bits(&self) -> usize {
        self.bits
    }

    /// The plaintext modulus t of parameters modulo 2^g − 1.
    #[must_use]
    pub fn plain_modulus(&self) -> u64 {
        self.plain_modulus
    }

    /// The security that the ring degree was chosen for.
    #[must_use]
    pub fn security(&self) -> Security {
        self.security
    }

    /// The options of relinearisation modulo 2^g − 1: digits of 60 bits.
    pub(crate) fn key_switching() -> GadgetOptions {
        GadgetOptions { radix_bits: Some(RADIX_BITS), ..GadgetOptions::default() }
    }

    /// Builds the BFV context of parameters modulo 2^g − 1, which relinearises by digits of 60 bits.
    ///
    /// # Errors
    /// [`RlweError::Memory`](sunzi_rlwe::RlweError::Memory) in a [`BfvError::Rlwe`], before any work, where the machine cannot hold the tables.
    pub fn context(&self) -> Result<Context, BfvError> {
        memory::require(tables::fermat_bytes(self.degree, self.bits))?;
        let ring = modulus::ring(self.degree, self.bits)?;
        let algorithms = Algorithms { key_switching: Self::key_switching(), ..Algorithms::default() };
        Context::with_algorithms(ring, self.plain_modulus, self.security, &algorithms)
    }
}

/// Functions that need the storage of residues modulo 2^g − 1.
#[cfg(feature = "fermat")]
mod modulus {
    use sunzi_fermat::{FermatModulus, FermatRing};
    use sunzi_ring::Ring;

    use super::RADIX_BITS;
    use crate::BfvError;

    pub(super) fn bits_for_depth(degree: usize, plain_modulus: u64, depth: usize) -> Result<usize, BfvError> {
        Ok(FermatModulus::for_depth(degree, plain_modulus, depth, Some(RADIX_BITS))?.bits())
    }

    pub(super) fn check(bits: usize, plain_modulus: u64) -> Result<(), BfvError> {
        Ok(FermatModulus::new(bits)?.check_coprime(plain_modulus)?)
    }

    pub(super) fn ring(degree: usize, bits: usize) -> Result<Ring, BfvError> {
        Ok(Ring::of(FermatRing::new(2 * degree as u64, bits)?))
    }
}

/// Functions on moduli 2^g − 1 for a build without their storage: they answer that a feature is missing.
#[cfg(not(feature = "fermat"))]
mod modulus {
    use sunzi_ring::Ring;

    use crate::BfvError;

    const MISSING: BfvError =
        BfvError::MissingFeature { what: "parameters modulo 2^g - 1", feature: "fermat" };

    pub(super) fn bits_for_depth(_: usize, _: u64, _: usize) -> Result<usize, BfvError> {
        Err(MISSING)
    }

    pub(super) fn check(_: usize, _: u64) -> Result<(), BfvError> {
        Err(MISSING)
    }

    pub(super) fn ring(_: usize, _: usize) -> Result<Ring, BfvError> {
        Err(MISSING)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(not(feature = "fermat"))]
    #[test]
    fn are_refused_without_the_feature() {
        use sunzi_rlwe::wire::{self, Accept};

        for refused in [
            FermatParameters::for_depth(3, 786_433, Security::Bits128),
            FermatParameters::new(1 << 14, 256, 786_433, Security::Bits128),
        ] {
            let error = refused.unwrap_err();
            assert!(matches!(error, BfvError::MissingFeature { feature: "fermat", .. }), "{error}");
            assert!(error.to_string().contains("--features fermat"), "{error}");
        }
        let file = include_bytes!("../../../testing/golden/v1/fermat-parameters.sz");
        let read = wire::from_bytes::<FermatParameters, _>(&Accept::InsecureForResearchOnly, file);
        let error = read.err().unwrap().to_string();
        assert!(error.contains("--features fermat"), "{error}");
    }

    #[cfg(feature = "fermat")]
    #[test]
    fn degrees_are_the_smallest_that_are_secure() {
        use sunzi_fermat::FermatModulus;

        assert_eq!(FermatParameters::BATCHING, FermatModulus::BATCHING);
        let of = |depth| FermatParameters::for_depth(depth, FermatModulus::BATCHING, Security::Bits128);
        for depth in [0, 1, 3, 6, 12] {
            let parameters = of(depth).unwrap();
            let (log2_degree, bits) = (parameters.degree().ilog2(), parameters.bits());
            let fits = |log2: u32, bits: usize| {
                security::max_log2_modulus(log2, Security::Bits128)
                    .is_some_and(|limit| bits <= limit as usize)
            };
            assert!(fits(log2_degree, bits), "{parameters:?}");
            let smaller = FermatModulus::for_depth(
                parameters.degree() / 2,
                parameters.plain_modulus(),
                depth,
                Some(RADIX_BITS),
            );
            assert!(!fits(log2_degree - 1, smaller.unwrap().bits()), "{parameters:?}");
        }
        assert!(matches!(of(1000), Err(BfvError::Ring(_) | BfvError::Request { .. })));
        assert!(FermatParameters::for_depth(2, 65_537, Security::Bits128).is_err());
        let research = FermatParameters::for_depth(6, 769, Security::InsecureForResearchOnly).unwrap();
        assert_eq!((research.degree(), research.security()), (1024, Security::InsecureForResearchOnly));
        research.context().unwrap();
    }
}
