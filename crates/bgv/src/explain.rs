//! Explains why the BGV parameter builder chose what it chose.

use std::fmt;

use serde::{Deserialize, Serialize};
use sunzi_rlwe::RingShape;
use sunzi_rlwe::explain::Describe;

use crate::parameters::Parameters;
use crate::refusal::{Refusal, Verdict};
use crate::request::Request;

/// A BGV request, every candidate considered up to the first that fits, and its parameters.
///
/// ```
/// use sunzi_bgv::Parameters;
///
/// let explanation = Parameters::builder().depth(3).plain_bits(17).explain()?;
/// assert!(explanation.chosen.is_some());
/// println!("{explanation}");
/// # Ok::<(), sunzi_bgv::BgvError>(())
/// ```
pub type Explanation = sunzi_rlwe::explain::Explanation<Request, Candidate, Parameters>;

/// A candidate of the BGV builder: the best moduli at one ring degree.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Candidate {
    /// Ring of the candidate.
    #[serde(flatten)]
    pub ring: RingShape,
    /// Largest log2 of a key's modulus that is secure; none if security was given up or cannot be reached.
    pub limit: Option<f64>,
    /// Plaintext modulus t of the candidate; 0 before it is known.
    pub plain_modulus: u64,
    /// Sizes log2 of the moduli q_0, q_1, …, q_L, q_(L+1).
    pub log2_moduli: Vec<f64>,
    /// Size log2 QP of the modulus of keys; 0 if nothing fits.
    pub log2_key_modulus: f64,
    /// Verdict on the candidate.
    pub verdict: Verdict,
}

impl Candidate {
    /// Makes a candidate of which only the ring is known.
    pub(crate) fn empty(ring: RingShape, limit: Option<f64>) -> Self {
        let verdict = Verdict::Refused(Refusal::no_moduli(ring));
        Self { ring, limit, plain_modulus: 0, log2_moduli: Vec::new(), log2_key_modulus: 0.0, verdict }
    }
}

impl fmt::Display for Candidate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "n = {:>6}", self.ring.degree())?;
        if let [first, levels @ .., last] = self.log2_moduli.as_slice() {
            let total: f64 = self.log2_moduli.iter().sum();
            write!(f, "  log2 Q = {total:.1}: q_0 {first:.1}")?;
            if let Some(level) = levels.first() {
                write!(f, ", {} levels of {level:.1}", levels.len())?;
            }
            if *last > 0.0 {
                write!(f, ", {last:.1} for fresh noise")?;
            }
        }
        if self.log2_key_modulus > 0.0 {
            write!(f, ", with special moduli {:.1}", self.log2_key_modulus)?;
        }
        if let Some(limit) = self.limit {
            write!(f, ", limit {limit}")?;
        }
        write!(f, "  {}", self.verdict)
    }
}

impl Describe<Request, Candidate> for Parameters {
    fn rows(&self, request: &Request, _: &[Candidate]) -> Vec<(&'static str, String)> {
        let (q, qp) = (self.log2_modulus(), self.log2_key_modulus());
        let mut rows = vec![
            ("ring degree n", self.degree().to_string()),
            ("plaintext modulus", self.plain_modulus().to_string()),
            ("multiplications", self.depth().to_string()),
            ("ciphertext moduli", self.moduli().len().to_string()),
            ("log2 Q, log2 QP", format!("{q:.1}, {qp:.1}")),
            ("key switching", self.key_switching().to_string()),
            ("security", self.security().to_string()),
        ];
        if let Some(policy) = request.sharing {
            let room = policy.room_of(self.degree(), self.secrets().parties());
            rows.push(("room for sharing", format!("{room:.1} bits at every level, for {policy}")));
        }
        rows
    }
}
