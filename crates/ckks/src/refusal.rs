//! Reasons why no CKKS parameters fit a request.

use serde::{Deserialize, Serialize};
use sunzi_rlwe::explain::Refuse;

/// Reason why a candidate of the CKKS builder does not fit.
///
/// ```
/// use sunzi_ckks::{Parameters, Refusal, Verdict};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let explanation = Parameters::builder().depth(30).log2_degree(12).explain()?;
/// let verdict = explanation.candidates.last().map(|candidate| &candidate.verdict);
/// assert!(matches!(verdict, Some(Verdict::Refused(Refusal::TooLarge { .. }))));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, thiserror::Error, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Refusal {
    /// Refusal: the ring has too few slots.
    #[error("there are {slots} slots where {wanted} are wanted")]
    TooFewSlots {
        /// Number of slots that the ring has.
        slots: usize,
        /// Number of slots that the request asks for.
        wanted: usize,
    },
    /// Refusal: the security table has no entry for this ring degree.
    #[error("no modulus is secure enough")]
    NotSecure,
    /// Refusal: no scale leaves the precision that the request asks for.
    #[error("no scale up to 2^{most} leaves the precision")]
    TooPrecise {
        /// log2 of the largest scale that was tried.
        most: u32,
    },
    /// Refusal: no scale leaves the requested precision beside the noise that hides the noise of shared results.
    #[error(
        "no scale up to 2^{most} leaves the precision to results that are shared: ask for fewer statistical bits, fewer shared \
         results or less precision"
    )]
    NotShareable {
        /// log2 of the largest scale that was tried.
        most: u32,
    },
    /// Refusal: there are not enough primes for the moduli.
    #[error("there are too few primes for the scale 2^{scale_bits}")]
    NoPrimes {
        /// log2 of the scale without enough primes.
        scale_bits: u32,
    },
    /// Refusal: the moduli are larger than security allows.
    #[error("the moduli of keys take {log2_modulus:.0} bits of {limit:.0}")]
    TooLarge {
        /// Size log2 of the smallest modulus of keys.
        log2_modulus: f64,
        /// Largest log2 of the modulus that is secure.
        limit: f64,
    },
}

impl Refuse for Refusal {
    const INSTEAD: &'static str = "less precision, smaller numbers or another ring";
    const BESIDE_DEPTH: &'static str = ", and bootstrapping in between";
}

/// Verdict on a candidate of the CKKS builder.
///
/// ```
/// use sunzi_ckks::{Parameters, Verdict};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let explanation = Parameters::builder().depth(1).log2_degree(13).explain()?;
/// let verdict = explanation.candidates.first().map(|candidate| &candidate.verdict);
/// assert_eq!(verdict, Some(&Verdict::Chosen));
/// # Ok(())
/// # }
/// ```
pub type Verdict = sunzi_rlwe::explain::Verdict<Refusal>;

/// Error: no CKKS parameter set meets a request.
///
/// ```
/// use sunzi_ckks::{CkksError, NothingFits, Parameters};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let Err(error) = Parameters::builder().depth(30).log2_degree(13).build() else { panic!("too deep") };
/// let CkksError::NothingFits(refused) = error else { panic!("{error}") };
/// let refused: NothingFits = *refused;
/// // The error says which depth would fit.
/// assert!(refused.depth.is_some_and(|depth| depth > 0 && depth < 30));
/// # Ok(())
/// # }
/// ```
pub type NothingFits = sunzi_rlwe::explain::NothingFits<Refusal>;
