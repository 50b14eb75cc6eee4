//! Explains why the CKKS parameter builder chose what it chose.

use std::fmt;

use serde::{Deserialize, Serialize};
use sunzi_rlwe::explain::Describe;

use crate::parameters::Parameters;
use crate::refusal::{Refusal, Verdict};
use crate::request::Request;

/// A CKKS request, every candidate considered up to the first that fits, and its parameters.
///
/// ```
/// use sunzi_ckks::{Explanation, Parameters};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let explanation: Explanation = Parameters::builder().depth(2).explain()?;
/// assert_eq!(explanation.request.depth, 2);
/// assert!(explanation.chosen.is_some());
/// assert!(explanation.to_string().contains("chosen"));
/// # Ok(())
/// # }
/// ```
pub type Explanation = sunzi_rlwe::explain::Explanation<Request, Candidate, Parameters>;

/// A candidate of the CKKS builder: the best moduli at one ring degree.
///
/// ```
/// use sunzi_ckks::{Candidate, Parameters, Verdict};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let explanation = Parameters::builder().depth(2).explain()?;
/// let last: Option<&Candidate> = explanation.candidates.last();
/// assert!(last.is_some_and(|candidate| candidate.verdict == Verdict::Chosen));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Candidate {
    /// log2 of the ring degree n of the candidate.
    pub log2_degree: u32,
    /// Largest log2 of a key's modulus that is secure, 0 if none is; none if security was given up.
    pub limit: Option<f64>,
    /// log2 of the scale of the candidate; 0 before it is known.
    pub scale_bits: u32,
    /// Precision −log2 of the deviation of a result's error; 0 before it is known.
    pub precision: f64,
    /// Size log2 Q of the chain tried last; 0 if there was none.
    pub log2_modulus: f64,
    /// Size log2 QP of the modulus of keys; 0 if nothing fits.
    pub log2_key_modulus: f64,
    /// Number of moduli of a fresh ciphertext; 0 if nothing fits.
    pub limbs: usize,
    /// The fewest moduli that hold as many bits, if all were of the longest fast length of 47.8 bits.
    pub least_limbs: usize,
    /// Verdict on the candidate.
    pub verdict: Verdict,
}

impl Candidate {
    /// Makes a candidate of which only the ring is known.
    pub(crate) fn empty(log2_degree: u32, limit: Option<f64>) -> Self {
        let verdict = Verdict::Refused(Refusal::NotSecure);
        Self {
            log2_degree,
            limit,
            scale_bits: 0,
            precision: 0.0,
            log2_modulus: 0.0,
            log2_key_modulus: 0.0,
            limbs: 0,
            least_limbs: 0,
            verdict,
        }
    }
}

impl fmt::Display for Candidate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "n = {:>6}", 1_u64 << self.log2_degree.min(63))?;
        if self.scale_bits > 0 {
            write!(f, "  scale 2^{}, log2 Q = {:.1}", self.scale_bits, self.log2_modulus)?;
        }
        if self.log2_key_modulus > 0.0 {
            write!(f, ", with special moduli {:.1}", self.log2_key_modulus)?;
        }
        if self.limbs > 0 {
            write!(f, ", {} limbs of at least {}", self.limbs, self.least_limbs)?;
        }
        if let Some(limit) = self.limit.filter(|&limit| limit > 0.0) {
            write!(f, ", limit {limit}")?;
        }
        if self.precision > 0.0 {
            write!(f, ", precision {:.1} bits", self.precision)?;
        }
        write!(f, "  {}", self.verdict)
    }
}

impl Describe<Request, Candidate> for Parameters {
    fn rows(&self, request: &Request, candidates: &[Candidate]) -> Vec<(&'static str, String)> {
        let scale = self.scale_ranges().first().map_or(0, |range| range.bits);
        let top = self.scales().first().map_or(0.0, |scale| scale.log2());
        let first = sunzi_math::log2(&self.modulus(0));
        let (q, qp) = (self.log2_modulus(), self.log2_key_modulus());
        let mut rows = vec![
            ("ring degree n", self.degree().to_string()),
            ("slots, up to", self.max_slots().to_string()),
            ("multiplications", self.depth().to_string()),
            ("scale", format!("2^{scale}")),
            ("results, up to", format!("2^{:.1}", first - 1.0 - top)),
            ("ciphertext moduli", self.moduli().len().to_string()),
            ("log2 Q, log2 QP", format!("{q:.1}, {qp:.1}")),
            ("key switching", self.key_switching().to_string()),
            ("security", self.security().to_string()),
        ];
        if let Some(policy) = request.sharing {
            let bits = candidates.last().map_or(f64::NAN, |candidate| candidate.precision);
            rows.push(("room for sharing", format!("{policy} keep {bits:.1} bits behind the binary point")));
        }
        rows
    }
}
