//! Why the parameter builder chose what it chose.

use std::fmt;

use serde::{Deserialize, Serialize};
use sunzi_encoding::PlainRefusal;
use sunzi_ring::GadgetOptions;
use sunzi_rlwe::RingShape;

use crate::builder::{KeySwitching, Request, key_limbs};
use crate::{Algorithms, CrtParameters};

/// A request, every candidate considered, and the choice.
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Explanation {
    /// What was asked.
    pub request: Request,
    /// Every candidate, smallest ring first.
    pub candidates: Vec<Candidate>,
    /// The cheapest candidate that fits, if one does.
    pub chosen: Option<Choice>,
}

/// One ring degree with one set of plaintext moduli and the fewest ciphertext moduli that are enough.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Candidate {
    /// The ring.
    #[serde(flatten)]
    pub ring: RingShape,
    /// Largest log2 of q and special moduli that is secure; none if security was given up or cannot be reached.
    pub limit: Option<u32>,
    /// The plaintext moduli t_i.
    pub plain_moduli: Vec<u64>,
    /// Number of ciphertext moduli.
    pub limbs: usize,
    /// log2 q.
    pub log2_modulus: f64,
    /// Number of special moduli.
    #[serde(default)]
    pub special_limbs: usize,
    /// log2 of the special moduli together.
    #[serde(default)]
    pub log2_special: f64,
    /// Digits of key switching, d_num.
    #[serde(default)]
    pub digits: usize,
    /// Predicted bits left for fresh ciphertexts and after each level.
    pub bits_left: Vec<f64>,
    /// Butterflies of the circuit, for all plaintext moduli together: what candidates are ranked by.
    pub cost: f64,
    /// What became of it.
    pub verdict: Verdict,
}

impl Candidate {
    /// A candidate about which only the ring is known.
    pub(crate) fn empty(ring: RingShape, limit: Option<u32>) -> Self {
        Self {
            ring,
            limit,
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

/// What became of a candidate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It fits, and nothing has been compared yet.
    Fits,
    /// It fits and is the cheapest.
    Chosen,
    /// It fits, at this multiple of the chosen one's cost.
    Beaten {
        /// Its cost over the chosen one's.
        cost_ratio: f64,
    },
    /// It does not fit.
    Refused(Refusal),
}

/// Why a candidate does not fit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Refusal {
    /// The ring has too few slots.
    TooFewSlots {
        /// Slots there are.
        slots: usize,
        /// Slots asked for.
        wanted: usize,
    },
    /// The security table has no entry for this ring degree.
    NotSecure,
    /// There are not enough primes for the ciphertext modulus.
    NoModuli {
        /// What they must be 1 modulo.
        order: u64,
        /// The index of a ring as large that needs no other roots of unity.
        works: u64,
    },
    /// The algorithms asked for do not work with these moduli.
    Algorithms {
        /// Which option, and why.
        reason: String,
    },
    /// Even the largest secure modulus leaves fewer bits than the margin.
    TooNoisy {
        /// Bits missing.
        bits_short: f64,
    },
    /// No plaintext modulus meets the request here.
    #[serde(untagged)]
    Plain(PlainRefusal),
}

impl Refusal {
    /// Too few primes for a ring: one of a power of two has more.
    pub(crate) fn no_moduli(ring: RingShape) -> Self {
        let works = (2 * ring.degree() as u64).next_power_of_two();
        Self::NoModuli { order: ring.root_order(), works }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooFewSlots { slots, wanted } => {
                write!(f, "there are {slots} slots where {wanted} are wanted")
            }
            Self::NotSecure => f.write_str("no modulus is secure enough"),
            Self::Plain(refusal) => refusal.fmt(f),
            Self::NoModuli { order, works } => {
                write!(
                    f,
                    "there are too few primes q = 1 mod {order} for the modulus: m = {works} has enough"
                )
            }
            Self::Algorithms { reason } => write!(f, "the algorithms asked for do not fit: {reason}"),
            Self::TooNoisy { bits_short } => write!(f, "{bits_short:.1} bits short"),
        }
    }
}

/// The chosen parameters and what they mean.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Choice {
    /// The parameters.
    pub parameters: CrtParameters,
    /// Numbers in one ciphertext.
    pub slots: usize,
    /// log2 q.
    pub log2_modulus: f64,
    /// Largest log2 of q and special moduli together that is secure; none if security was given up.
    pub limit: Option<u32>,
    /// Predicted bits left for fresh ciphertexts and after each level.
    pub bits_left: Vec<f64>,
    /// Butterflies of the circuit, for all plaintext moduli together.
    pub cost: f64,
    /// Digits of key switching, d_num: one for each ciphertext modulus without special moduli.
    pub digits: usize,
    /// Sizes in memory.
    pub sizes: Sizes,
}

/// Bytes in memory, eight for each residue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sizes {
    /// One ciphertext; a number takes one for each plaintext modulus.
    pub ciphertext: u64,
    /// The public key.
    pub public_key: u64,
    /// The relinearisation key.
    pub relinearization_key: u64,
    /// One Galois key; each rotation by another amount needs its own.
    pub galois_key: u64,
}

impl Sizes {
    /// Two polynomials; the public key has one special modulus more where there are any, a switching key two
    /// polynomials for each digit, each with the limbs it keeps and the special ones.
    pub(crate) fn of(degree: usize, moduli: &[u64], key_switching: &GadgetOptions) -> Self {
        let limb = 8 * degree as u64;
        let limbs = moduli.len() as u64;
        let public = limbs + u64::from(!key_switching.special_moduli.is_empty());
        let switching_key = 2 * key_limbs(moduli, key_switching) as u64 * limb;
        Self {
            ciphertext: 2 * limbs * limb,
            public_key: 2 * public * limb,
            relinearization_key: switching_key,
            galois_key: switching_key,
        }
    }
}

impl fmt::Display for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "depth {}, {}", self.depth, self.plain)?;
        f.write_str(if self.batching { ", batching" } else { ", one number per coefficient" })?;
        if self.additions > 0 {
            write!(f, ", sums of 2^{} terms", self.additions)?;
        }
        if self.rotations > 0 {
            write!(f, ", {} rotate-and-add steps a level", self.rotations)?;
        }
        if self.plain_products > 0 {
            write!(f, ", {} plaintext products a level", self.plain_products)?;
        }
        if self.slots > 1 {
            write!(f, ", at least {} slots", self.slots)?;
        }
        let ring = self.ring_index.map(RingShape::RingIndex).or(self.log2_degree.map(RingShape::Log2Degree));
        if let Some(ring) = ring {
            write!(f, ", {ring}")?;
        }
        if self.algorithms != Algorithms::default() {
            write!(f, ", {}", self.algorithms)?;
        }
        match self.key_switching {
            KeySwitching::Automatic => {}
            KeySwitching::Bv => write!(f, ", BV key switching")?,
            KeySwitching::Ghs => write!(f, ", GHS key switching")?,
            KeySwitching::Hybrid(digits) => write!(f, ", hybrid key switching by {digits} digits")?,
        }
        if let Some(policy) = self.sharing {
            write!(f, ", room for {policy}")?;
        }
        write!(f, ", {} security, {} bits to spare", self.security, self.margin)
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

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parameters = &self.parameters;
        let limit = self.limit.map_or_else(|| "no limit".to_owned(), |bits| format!("limit {bits}"));
        writeln!(f, "  ring degree n         {}", parameters.degree())?;
        writeln!(f, "  log2 q                {:.1}", self.log2_modulus)?;
        writeln!(f, "  log2 qP               {:.1} ({limit})", parameters.log2_key_modulus())?;
        writeln!(f, "  ciphertext moduli     {}", count_of(parameters.moduli()))?;
        writeln!(f, "  special moduli        {}", count_of(parameters.special_moduli()))?;
        let digits = match (parameters.special_moduli().len(), self.digits) {
            (0, digits) if digits == parameters.moduli().len() => {
                format!("BV: {digits} digits, one for each ciphertext modulus")
            }
            (0, digits) => format!("BV: {digits} digits"),
            (_, 1) => "GHS: the whole polynomial is one digit".to_owned(),
            (_, digits) => format!("hybrid: d_num = {digits} digits"),
        };
        writeln!(f, "  key switching         {digits}")?;
        writeln!(f, "  plaintext moduli      {}", join(parameters.plain_moduli()))?;
        writeln!(f, "  numbers a ciphertext  {}", self.slots)?;
        let levels: Vec<String> = self.bits_left.iter().map(|bits| format!("{bits:.1}")).collect();
        writeln!(f, "  bits left             {} (fresh, then after each level)", levels.join(", "))?;
        writeln!(f, "  security              {}", parameters.security())?;
        // Digits and special moduli are said above.
        let mut others = parameters.algorithms().clone();
        (others.key_switching.digits, others.key_switching.special_moduli) = (None, Vec::new());
        if others != Algorithms::default() {
            writeln!(f, "  algorithms            {}", parameters.algorithms())?;
        }
        let sizes = &self.sizes;
        writeln!(f, "  ciphertext            {}", bytes(sizes.ciphertext))?;
        writeln!(f, "  public key            {}", bytes(sizes.public_key))?;
        writeln!(f, "  relinearisation key   {}", bytes(sizes.relinearization_key))?;
        writeln!(f, "  each Galois key       {}", bytes(sizes.galois_key))
    }
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "asked: {}", self.request)?;
        match &self.chosen {
            Some(choice) => {
                write!(f, "chosen:\n{choice}")?;
                if let Some(policy) = self.request.sharing {
                    let room = policy.room(choice.parameters.degree());
                    writeln!(f, "  room for sharing      {room:.1} of the bits left, for {policy}")?;
                }
            }
            None => writeln!(f, "chosen: nothing fits")?,
        }
        f.write_str("considered:")?;
        self.candidates.iter().try_for_each(|candidate| write!(f, "\n  {candidate}"))
    }
}

/// "48", or "47 to 48" where lengths differ.
fn bit_lengths(values: &[u64]) -> String {
    let lengths = values.iter().map(|value| 64 - value.leading_zeros());
    match (lengths.clone().min(), lengths.max()) {
        (Some(low), Some(high)) if low != high => format!("{low} to {high}"),
        (low, _) => low.unwrap_or(0).to_string(),
    }
}

/// "3 of 48 bits", "none".
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

/// A number of bytes with a binary unit, for people.
#[must_use]
pub fn bytes(count: u64) -> String {
    match count {
        0..1024 => format!("{count} B"),
        1024..0x10_0000 => format!("{:.1} KiB", count as f64 / 1024.0),
        _ => format!("{:.1} MiB", count as f64 / 1_048_576.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Parameters;

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
