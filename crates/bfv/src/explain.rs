//! Explains why the BFV parameter builder chose what it chose.

use std::fmt;

use serde::{Deserialize, Serialize};
use sunzi_ring::{GadgetOptions, RnsDigits};
use sunzi_rlwe::explain::{Describe, write_rows};
use sunzi_rlwe::words::bytes;
use sunzi_rlwe::{RingShape, SharingPolicy};

use crate::algorithms::Algorithms;
use crate::parameters::CrtParameters;
pub use crate::refusal::Refusal;
use crate::request::Request;

/// A BFV request, every candidate considered, and the choice.
///
/// ```
/// use sunzi_bfv::Parameters;
///
/// let explanation = Parameters::builder().depth(3).plain_bits(17).explain()?;
/// let choice = explanation.chosen.as_ref().expect("depth 3 fits");
/// assert_eq!(choice.slots, 8192);
/// println!("{explanation}");
/// # Ok::<(), sunzi_bfv::BfvError>(())
/// ```
pub type Explanation = sunzi_rlwe::explain::Explanation<Request, Candidate, Choice>;

/// A candidate of the BFV builder: one ring degree with one set of plaintext moduli and the fewest ciphertext moduli
/// that are enough.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Candidate {
    /// Ring of the candidate.
    #[serde(flatten)]
    pub ring: RingShape,
    /// Largest log2 of q and special moduli that is secure; none if security was given up or cannot be reached.
    pub limit: Option<u32>,
    /// Plaintext moduli t_i of the candidate.
    pub plain_moduli: Vec<u64>,
    /// Number of ciphertext moduli of the candidate.
    pub limbs: usize,
    /// Size log2 q of the ciphertext modulus of the candidate.
    pub log2_modulus: f64,
    /// Number of special moduli of the candidate.
    #[serde(default)]
    pub special_limbs: usize,
    /// Size log2 P of the product P of the candidate's special moduli.
    #[serde(default)]
    pub log2_special: f64,
    /// Number of digits of key switching, d_num.
    #[serde(default)]
    pub digits: usize,
    /// Predicted bits of noise left for fresh ciphertexts and after each level.
    pub bits_left: Vec<f64>,
    /// Cost of the candidate, by which candidates are ranked: butterflies of the circuit, for all plaintext moduli
    /// together.
    pub cost: f64,
    /// Verdict on the candidate.
    pub verdict: Verdict,
}

impl Candidate {
    /// Makes a candidate of which only the ring is known.
    pub(crate) fn empty(ring: RingShape, limit: f64) -> Self {
        Self {
            ring,
            limit: (limit > 0.0 && limit.is_finite()).then_some(limit as u32),
            plain_moduli: Vec::new(),
            limbs: 0,
            log2_modulus: 0.0,
            special_limbs: 0,
            log2_special: 0.0,
            digits: 0,
            bits_left: Vec::new(),
            cost: 0.0,
            verdict: Verdict::Refused(Refusal::no_moduli(ring)),
        }
    }
}

/// Verdict on a candidate of the BFV builder.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Verdict: the candidate fits, and costs have not been compared yet.
    Fits,
    /// Verdict: the candidate fits and is the cheapest.
    Chosen,
    /// Verdict: the candidate fits at a higher cost than the chosen one.
    Beaten {
        /// Cost of the candidate over the cost of the chosen one.
        cost_ratio: f64,
    },
    /// Verdict: the candidate does not fit.
    Refused(Refusal),
}

/// The BFV parameters that the builder chose, with their sizes and predicted noise.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Choice {
    /// Parameters that were chosen.
    pub parameters: CrtParameters,
    /// Numbers that one ciphertext holds.
    pub slots: usize,
    /// Size log2 q of the ciphertext modulus.
    pub log2_modulus: f64,
    /// Largest log2 of q and special moduli together that is secure; none if security was given up.
    pub limit: Option<u32>,
    /// Predicted bits of noise left for fresh ciphertexts and after each level.
    pub bits_left: Vec<f64>,
    /// Butterflies of the circuit, for all plaintext moduli together.
    pub cost: f64,
    /// Number of digits of key switching, d_num: one for each ciphertext modulus without special moduli.
    pub digits: usize,
    /// Sizes of ciphertexts and keys in memory.
    pub sizes: Sizes,
}

/// Sizes of BFV ciphertexts and keys in memory, in bytes, eight for each residue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sizes {
    /// Bytes of one ciphertext; a number takes one ciphertext for each plaintext modulus.
    pub ciphertext: u64,
    /// Bytes of the public key.
    pub public_key: u64,
    /// Bytes of the relinearisation key.
    pub relinearization_key: u64,
    /// Bytes of one Galois key; each rotation by another amount needs its own.
    pub galois_key: u64,
}

impl Sizes {
    /// Computes the sizes for a ring degree, moduli and key switching. A ciphertext has two polynomials; the public
    /// key has one special modulus more where there are any; a switching key has two polynomials for each digit, each
    /// with the limbs it keeps and the special ones.
    pub(crate) fn of(degree: usize, moduli: &[u64], key_switching: &GadgetOptions) -> Self {
        let limb = 8 * degree as u64;
        let limbs = moduli.len() as u64;
        let public = limbs + u64::from(!key_switching.special_moduli.is_empty());
        let digits = RnsDigits::new(key_switching, moduli);
        let key_limbs = digits.map_or(0, |digits| digits.count() * digits.key_limbs());
        let switching_key = 2 * key_limbs as u64 * limb;
        Self {
            ciphertext: 2 * limbs * limb,
            public_key: 2 * public * limb,
            relinearization_key: switching_key,
            galois_key: switching_key,
        }
    }
}

impl fmt::Display for Candidate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "n = {:>6}", self.ring.degree())?;
        if !self.plain_moduli.is_empty() {
            write!(f, "  {:>2} × {}-bit t", self.plain_moduli.len(), bit_lengths(&self.plain_moduli))?;
        }
        if self.limbs > 0 {
            write!(f, "  log2 qP = {:>6.1}", self.log2_modulus + self.log2_special)?;
            if let Some(limit) = self.limit {
                write!(f, " of {limit:>4}")?;
            }
            write!(f, "  {:>2} + {} moduli", self.limbs, self.special_limbs)?;
        }
        match &self.verdict {
            Verdict::Fits => write!(f, "  fits"),
            Verdict::Chosen => write!(f, "  chosen: the cheapest that fits"),
            Verdict::Beaten { cost_ratio } => write!(f, "  fits, at {cost_ratio:.2} times the cost"),
            Verdict::Refused(refusal) => write!(f, "  refused: {refusal}"),
        }
    }
}

impl Choice {
    fn key_switching(&self) -> String {
        match (self.parameters.special_moduli().len(), self.digits) {
            (0, digits) if digits == self.parameters.moduli().len() => {
                format!("BV: {digits} digits, one for each ciphertext modulus")
            }
            (0, digits) => format!("BV: {digits} digits"),
            (_, 1) => "GHS: the whole polynomial is one digit".to_owned(),
            (_, digits) => format!("hybrid: d_num = {digits} digits"),
        }
    }

    fn rows(&self) -> Vec<(&'static str, String)> {
        let parameters = &self.parameters;
        let limit = self.limit.map_or_else(|| "no limit".to_owned(), |bits| format!("limit {bits}"));
        let left: Vec<String> = self.bits_left.iter().map(|bits| format!("{bits:.1}")).collect();
        let mut rows = vec![
            ("ring degree n", parameters.degree().to_string()),
            ("log2 q", format!("{:.1}", self.log2_modulus)),
            ("log2 qP", format!("{:.1} ({limit})", parameters.log2_key_modulus())),
            ("ciphertext moduli", count_of(parameters.moduli())),
            ("special moduli", count_of(parameters.special_moduli())),
            ("key switching", self.key_switching()),
            ("plaintext moduli", join(parameters.plain_moduli())),
            ("numbers a ciphertext", self.slots.to_string()),
            ("bits left", format!("{} (fresh, then after each level)", left.join(", "))),
            ("security", parameters.security().to_string()),
        ];
        // Digits and special moduli are said above.
        let mut others = parameters.algorithms().clone();
        (others.key_switching.digits, others.key_switching.special_moduli) = (None, Vec::new());
        if others != Algorithms::default() {
            rows.push(("algorithms", parameters.algorithms().to_string()));
        }
        let in_memory = |size| format!("{} in memory", bytes(size));
        let Sizes { ciphertext, public_key, relinearization_key, galois_key } = self.sizes;
        rows.extend([
            ("ciphertext", in_memory(ciphertext)),
            ("public key", in_memory(public_key)),
            ("relinearisation key", in_memory(relinearization_key)),
            ("each Galois key", in_memory(galois_key)),
        ]);
        rows
    }
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_rows(f, &self.rows())
    }
}

impl Describe<Request, Candidate> for Choice {
    fn rows(&self, request: &Request, _: &[Candidate]) -> Vec<(&'static str, String)> {
        let room = |policy: SharingPolicy| {
            let room = policy.room_of(self.parameters.degree(), self.parameters.secrets().parties());
            ("room for sharing", format!("{room:.1} of the bits left, for {policy}"))
        };
        self.rows().into_iter().chain(request.sharing.map(room)).collect()
    }
}

/// Writes bit lengths of numbers as text: "48", or "47 to 48" where lengths differ.
fn bit_lengths(values: &[u64]) -> String {
    let lengths = values.iter().map(|value| 64 - value.leading_zeros());
    match (lengths.clone().min(), lengths.max()) {
        (Some(low), Some(high)) if low != high => format!("{low} to {high}"),
        (low, _) => low.unwrap_or(0).to_string(),
    }
}

/// Writes how many moduli of which lengths there are, as text: "3 of 48 bits", "none".
fn count_of(moduli: &[u64]) -> String {
    if moduli.is_empty() {
        "none".to_owned()
    } else {
        format!("{} of {} bits", moduli.len(), bit_lengths(moduli))
    }
}

fn join(values: &[u64]) -> String {
    values.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Parameters;
    use sunzi_encoding::PlainRefusal;

    #[test]
    fn an_explanation_reads_well_and_travels_as_json() {
        let explanation = Parameters::builder().depth(3).plain_bits(17).explain().unwrap();
        let text = explanation.to_string();
        for part in ["depth 3", "17 bits", "65537", "refused", "chosen", "times the cost", "MiB", "128-bit"] {
            assert!(text.contains(part), "{part} is missing:\n{text}");
        }
        let json = serde_json::to_string(&explanation).unwrap();
        let back: Explanation = serde_json::from_str(&json).unwrap();
        assert_eq!(back.chosen.unwrap().parameters, explanation.chosen.unwrap().parameters);
        assert_eq!(back.candidates.len(), explanation.candidates.len());
    }

    #[test]
    fn refusals_travel_without_a_layer_for_those_of_the_plaintext_modulus() {
        for (refusal, text) in [
            (Refusal::Plain(PlainRefusal::NoPlainModulus { step: 8 }), r#"{"no_plain_modulus":{"step":8}}"#),
            (Refusal::NotSecure, r#""not_secure""#),
        ] {
            assert_eq!(serde_json::to_string(&refusal).unwrap(), text);
            assert_eq!(serde_json::from_str::<Refusal>(text).unwrap(), refusal);
        }
    }

    #[test]
    fn sizes_count_eight_bytes_a_residue() {
        let q = sunzi_math::primes_below(1 << 47, 1 << 13, 2).unwrap();
        let sizes = Sizes::of(1 << 12, &q, &GadgetOptions::default());
        assert_eq!(sizes.ciphertext, 2 * 2 * 4096 * 8);
        assert_eq!(sizes.relinearization_key, 2 * sizes.ciphertext);
        assert_eq!(bytes(sizes.ciphertext), "128.0 KiB");
        let smaller = GadgetOptions { radix_bits: Some(16), dropped_limbs: 1, ..GadgetOptions::default() };
        assert_eq!(Sizes::of(1 << 12, &q, &smaller).galois_key, 2 * 2 * 3 * 4096 * 8);
    }
}
