//! Claims of parameters about their security.

use std::fmt;

use serde::Serialize;

use crate::{SecretDistribution, Security};

/// A security claim: the facts on which the security of parameters rests, and the bits that they claim.
///
/// ```
/// use sunzi_rlwe::wire::SecurityClaim;
/// use sunzi_rlwe::{SecretDistribution, Security};
///
/// let claim = SecurityClaim {
///     scheme: "BFV",
///     degree: 4096,
///     log2_key_modulus: 105.5,
///     moduli: 3,
///     plain_moduli: vec![65537],
///     secrets: SecretDistribution::Ternary,
///     security: Security::Bits128,
/// };
/// assert_eq!(claim.to_string(), "BFV, n = 4096, log2 QP = 105.5, t = 65537, security 128 bits");
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SecurityClaim {
    /// Name of the scheme of the parameters.
    pub scheme: &'static str,
    /// Ring degree n of the parameters.
    pub degree: usize,
    /// Size log2 QP of the modulus of keys, the product of ciphertext and special moduli.
    pub log2_key_modulus: f64,
    /// Number of word-sized moduli of the ring of keys.
    pub moduli: usize,
    /// Plaintext moduli of the parameters; empty for CKKS.
    pub plain_moduli: Vec<u64>,
    /// Distribution of the coefficients of secrets.
    pub secrets: SecretDistribution,
    /// Security level that the parameters were made for.
    #[serde(rename = "bits", serialize_with = "in_bits")]
    pub security: Security,
}

fn in_bits<S: serde::Serializer>(security: &Security, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u32(security.bits())
}

impl fmt::Display for SecurityClaim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, n = {}, log2 QP = {:.1}", self.scheme, self.degree, self.log2_key_modulus)?;
        for (i, t) in self.plain_moduli.iter().enumerate() {
            if i == 0 { write!(f, ", t = {t}")? } else { write!(f, " * {t}")? }
        }
        if let SecretDistribution::FixedWeight(weight) = self.secrets {
            write!(f, ", secrets of weight {weight}")?;
        }
        if let SecretDistribution::Joint(_) = self.secrets {
            write!(f, ", {}", self.secrets)?;
        }
        match self.security.bits() {
            0 => f.write_str(", NO SECURITY (for research only)"),
            bits => write!(f, ", security {bits} bits"),
        }
    }
}
