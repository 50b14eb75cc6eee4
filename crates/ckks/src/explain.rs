//! Why the parameter builder chose what it chose.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{Parameters, Request};

/// A request, every candidate considered, and the choice.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Explanation {
    /// What was asked.
    pub request: Request,
    /// Every candidate, smallest ring first, up to the chosen one.
    pub candidates: Vec<Candidate>,
    /// The parameters at the smallest ring degree that fits, if one does.
    pub chosen: Option<Parameters>,
}

/// The best moduli at one ring degree.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Candidate {
    /// log2 n.
    pub log2_degree: u32,
    /// Largest log2 of a key's modulus that is secure, 0 if none is; none if security was given up.
    pub limit: Option<f64>,
    /// log2 of the scale; 0 before it is known.
    pub scale_bits: u32,
    /// −log2 of the deviation of a result's error; 0 before it is known.
    pub precision: f64,
    /// log2 Q of the last look; 0 if there was none.
    pub log2_modulus: f64,
    /// log2 QP; 0 if nothing fits.
    pub log2_key_modulus: f64,
    /// Moduli of a fresh ciphertext; 0 if nothing fits.
    pub limbs: usize,
    /// The fewest of the longest fast ones, of 47.8 bits, that hold as many bits.
    pub least_limbs: usize,
    /// What became of it.
    pub verdict: Verdict,
}

impl Candidate {
    /// A candidate about which only the ring is known.
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

/// What became of a candidate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It fits, and no smaller ring does.
    Chosen,
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
    /// No scale leaves the precision.
    TooPrecise {
        /// log2 of the largest scale.
        most: u32,
    },
    /// No scale leaves the precision beside the noise that hides another.
    NotShareable {
        /// log2 of the largest scale.
        most: u32,
    },
    /// There are not enough primes for the moduli.
    NoPrimes {
        /// log2 of the scale.
        scale_bits: u32,
    },
    /// The moduli are larger than security allows.
    TooLarge {
        /// log2 of the smallest modulus of keys.
        log2_modulus: f64,
        /// The limit.
        limit: f64,
    },
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooFewSlots { slots, wanted } => {
                write!(f, "there are {slots} slots where {wanted} are wanted")
            }
            Self::NotSecure => f.write_str("no modulus is secure enough"),
            Self::TooPrecise { most } => write!(f, "no scale up to 2^{most} leaves the precision"),
            Self::NotShareable { most } => write!(
                f,
                "no scale up to 2^{most} leaves the precision to results that are shared: ask for fewer statistical bits, fewer shared \
                 results or less precision"
            ),
            Self::NoPrimes { scale_bits } => {
                write!(f, "there are too few primes for the scale 2^{scale_bits}")
            }
            Self::TooLarge { log2_modulus, limit } => {
                write!(f, "the moduli of keys take {log2_modulus:.0} bits of {limit:.0}")
            }
        }
    }
}

/// No parameter set meets a request.
#[derive(Clone, Debug, PartialEq, thiserror::Error, Serialize, Deserialize)]
#[error("no parameter set fits: {}; {}", reason(self), remedy(*depth))]
pub struct NothingFits {
    /// log2 n of the largest ring considered.
    pub log2_degree: u32,
    /// Why it was refused.
    pub refusal: Option<Refusal>,
    /// The largest depth that fits, with all else as asked.
    pub depth: Option<u32>,
}

fn reason(error: &NothingFits) -> String {
    error.refusal.as_ref().map_or_else(
        || "there is no candidate".to_owned(),
        |refusal| format!("at ring degree 2^{} {refusal}", error.log2_degree),
    )
}

fn remedy(depth: Option<u32>) -> String {
    depth.map_or_else(
        || {
            "less depth alone does not help: ask for less precision, smaller numbers or another ring"
                .to_owned()
        },
        |depth| format!("what would fit: depth {depth}, and bootstrapping in between"),
    )
}

impl fmt::Display for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "depth {}, {} bits of precision", self.depth, self.precision)?;
        write!(f, ", numbers up to 2^{}", self.message_bits)?;
        if let Some(bits) = self.result_bits {
            write!(f, ", results up to 2^{bits}")?;
        }
        if self.slots > 1 {
            write!(f, ", at least {} slots", self.slots)?;
        }
        if let Some(bits) = self.scale_bits {
            write!(f, ", scale 2^{bits}")?;
        }
        if let Some(log2_degree) = self.log2_degree {
            write!(f, ", ring degree 2^{log2_degree}")?;
        }
        if let Some(digits) = self.digits {
            write!(f, ", {digits} digits")?;
        }
        if let Some(policy) = self.sharing {
            write!(f, " beside the noise of {policy}")?;
        }
        write!(f, ", {}, {} security", self.secrets, self.security)
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
        match &self.verdict {
            Verdict::Chosen => f.write_str("  chosen: the smallest ring that fits"),
            Verdict::Refused(refusal) => write!(f, "  refused: {refusal}"),
        }
    }
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "asked: {}", self.request)?;
        match &self.chosen {
            Some(parameters) => {
                writeln!(f, "chosen:")?;
                let scale = parameters.scale_ranges().first().map_or(0, |range| range.bits);
                let top = parameters.scales().first().map_or(0.0, |scale| scale.log2());
                let first = sunzi_math::log2(&parameters.modulus(0));
                writeln!(f, "  ring degree n         {}", parameters.degree())?;
                writeln!(f, "  slots, up to          {}", parameters.max_slots())?;
                writeln!(f, "  multiplications       {}", parameters.depth())?;
                writeln!(f, "  scale                 2^{scale}")?;
                writeln!(f, "  results, up to        2^{:.1}", first - 1.0 - top)?;
                writeln!(f, "  ciphertext moduli     {}", parameters.moduli().len())?;
                let (q, qp) = (parameters.log2_modulus(), parameters.log2_key_modulus());
                writeln!(f, "  log2 Q, log2 QP       {q:.1}, {qp:.1}")?;
                writeln!(f, "  key switching         {}", parameters.key_switching())?;
                writeln!(f, "  security              {}", parameters.security())?;
                if let Some(policy) = self.request.sharing {
                    let bits = self.candidates.last().map_or(f64::NAN, |candidate| candidate.precision);
                    writeln!(
                        f,
                        "  room for sharing      {policy} keep {bits:.1} bits behind the binary point"
                    )?;
                }
            }
            None => writeln!(f, "chosen: nothing fits")?,
        }
        f.write_str("considered:")?;
        self.candidates.iter().try_for_each(|candidate| write!(f, "\n  {candidate}"))
    }
}
