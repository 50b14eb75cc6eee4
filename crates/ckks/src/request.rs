//! A request for CKKS parameters: what the user knows of a computation.

use std::fmt;
use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};
use sunzi_rlwe::explain::write_parts;
use sunzi_rlwe::{RingShape, SecretDistribution, Security, SharingPolicy};

use crate::error::CkksError;

/// Scales that the CKKS builder chooses from, in bits.
pub(crate) const SCALE_BITS: RangeInclusive<u32> = 25..=60;

/// A request to the CKKS builder; see [`ParametersBuilder`](crate::ParametersBuilder) for each setting.
///
/// ```
/// use sunzi_ckks::{Parameters, Request};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let explanation = Parameters::builder().depth(3).precision(25).explain()?;
/// let expected = Request { depth: 3, precision: 25, ..Request::default() };
/// assert_eq!(explanation.request, expected);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// Number of multiplications in a row.
    pub depth: usize,
    /// Bits of the results behind the binary point that are right.
    pub precision: u32,
    /// Number of slots that one ciphertext must have.
    pub slots: usize,
    /// log2 of the largest encrypted number.
    pub message_bits: u32,
    /// log2 of the largest result, if it was given.
    pub result_bits: Option<u32>,
    /// log2 of the scale, if it was given.
    pub scale_bits: Option<u32>,
    /// Ring degree that was asked for, as log2 n.
    pub log2_degree: Option<u32>,
    /// Whether slots are real numbers, n of them in the real ring of degree n.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub real_slots: bool,
    /// Number of digits d_num that was asked for.
    pub digits: Option<usize>,
    /// Distribution of secrets.
    pub secrets: SecretDistribution,
    /// Policy by which results are shared: the precision is the one that is left beside the noise that hides theirs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sharing: Option<SharingPolicy>,
    /// Security that parameters must reach.
    pub security: Security,
}

impl Default for Request {
    fn default() -> Self {
        Self {
            depth: 1,
            precision: 20,
            slots: 1,
            message_bits: 0,
            result_bits: None,
            scale_bits: None,
            log2_degree: None,
            real_slots: false,
            digits: None,
            secrets: SecretDistribution::default(),
            sharing: None,
            security: Security::Bits128,
        }
    }
}

impl Request {
    /// The shape of the ring of a degree for the slots that were asked for.
    pub(crate) fn shape(&self, log2_degree: u32) -> RingShape {
        if self.real_slots {
            RingShape::RealLog2Degree(log2_degree)
        } else {
            RingShape::Log2Degree(log2_degree)
        }
    }

    /// Checks each setting of a CKKS request by itself.
    pub(crate) fn check(&self) -> Result<(), CkksError> {
        within("depth", self.depth, 0..=100, "it must be at most 100")?;
        within("precision", self.precision, 1..=45, "it must be 1 to 45 bits")?;
        within("message_bits", self.message_bits, 0..=20, "it must be at most 20")?;
        if let Some(bits) = self.result_bits {
            within("result_bits", bits, self.message_bits..=60, "it must be message_bits to 60")?;
        }
        if let Some(bits) = self.scale_bits {
            within("scale_bits", bits, SCALE_BITS, "it must be 25 to 60")?;
        }
        if let Some(log2_degree) = self.log2_degree {
            within("log2_degree", log2_degree, 6..=17, "it must be 6 to 17")?;
        }
        if self.digits == Some(0) {
            within("digits", 0, 1..=1, "it must be at least 1")?;
        }
        Ok(())
    }
}

impl fmt::Display for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { depth, precision, message_bits, slots, secrets, security, .. } = self;
        let parts = [
            Some(format!("depth {depth}, {precision} bits of precision, numbers up to 2^{message_bits}")),
            self.result_bits.map(|bits| format!("results up to 2^{bits}")),
            (*slots > 1).then(|| format!("at least {slots} slots")),
            self.scale_bits.map(|bits| format!("scale 2^{bits}")),
            self.real_slots.then(|| "real slots".to_owned()),
            self.log2_degree.map(|log2_degree| self.shape(log2_degree).to_string()),
            self.digits.map(|digits| format!("{digits} digits")),
        ];
        write_parts(f, parts)?;
        if let Some(policy) = self.sharing {
            write!(f, " beside the noise of {policy}")?;
        }
        write!(f, ", {secrets}, {security} security")
    }
}

fn within<N: PartialOrd + fmt::Display>(
    what: &'static str,
    got: N,
    range: RangeInclusive<N>,
    expected: &'static str,
) -> Result<(), CkksError> {
    if range.contains(&got) {
        return Ok(());
    }
    Err(CkksError::Request { what, got: got.to_string(), expected })
}
