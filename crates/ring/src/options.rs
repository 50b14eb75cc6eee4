//! Options that select among the algorithms of [BEHZ16] and [KPZ21]: plain data that travels with parameters.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Options of the scale-invariant operations of BFV: results differ in noise and speed only.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ScalerOptions {
    /// Algorithm for the decryption ⌊t·a/q⌉ mod t.
    pub decryption: Decryption,
    /// Algorithm for products of ciphertexts.
    pub multiplication: Multiplication,
    /// Rounding with which [`Multiplication::HpsOverQ`] and [`Multiplication::HpsOverQLeveled`] switch the moduli of
    /// operands.
    pub modulus_switching: ModulusSwitching,
    /// The modulus of the reduction after an extension, for [`Multiplication::Behz`].
    pub m_tilde: MTilde,
    /// The auxiliary moduli of products, beside those of q.
    pub auxiliary: Auxiliary,
}

/// The four multiplications of BFV, which give equal products with different noise and speed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Multiplication {
    /// Behz: lifts by m̃, scaling with an error of k, conversion back with a redundant modulus [BEHZ16, Alg. 3].
    Behz,
    /// Hps: exact lifts, scaling and conversion back [HPS19; KPZ21, Alg. 1].
    Hps,
    /// HpsOverQ: the left operand is switched to P ≈ q before the product, so that t/P remains to be scaled by
    /// [KPZ21, Alg. 2].
    HpsOverQ,
    /// HpsOverQLeveled: as HpsOverQ, modulo q_1⋯q_ℓ for an ℓ that a caller chooses by the noise [KPZ21, Alg. 3].
    #[default]
    HpsOverQLeveled,
}

impl Multiplication {
    /// Whether operands are switched to other moduli before their product, which then is scaled by t/P, not t/q.
    #[must_use]
    pub fn switches_operands(self) -> bool {
        matches!(self, Self::HpsOverQ | Self::HpsOverQLeveled)
    }
}

/// Rounding of (P/q)·a in ⌊(P/q)·a⌉ modulo P [KPZ21, app. E].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ModulusSwitching {
    /// Rounding to the nearest integer, with the exact quotient.
    #[default]
    Exact,
    /// Rounding with an error below k/2, without the quotient that makes it exact.
    Approximate,
}

/// Algorithms by which decryption divides by q and rounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decryption {
    /// γ-correction [BEHZ16, Alg. 1] by any γ coprime to t and q, above 2k and below 2^62.
    Gamma {
        /// The correction factor γ; without it the largest default-size prime that fits is taken.
        gamma: Option<u64>,
    },
    /// Correction by γ, a power of two above 2k, coprime to t or not [BEHZ16, Lemma 3]; 2^`log2_gamma`·t must stay
    /// below 2^62.
    PowerOfTwo {
        /// The exponent log2 γ; without it the largest that fits is taken.
        log2_gamma: Option<u32>,
    },
    /// Floating-point sums of x_i·(t/q_i) [BEHZ16, 3.5]; refused where their proven error reaches 1/2.
    FloatingPoint {
        /// Precision to which the quotients t/q_i are stored.
        precision: Precision,
    },
    /// Sums of x_i·(t/q_i) with integers and fractions apart, in doubles for moduli and t of any length: their
    /// residues, or halves of them where they are long [KPZ21, 3.3].
    DigitDecomposition,
}

impl Default for Decryption {
    fn default() -> Self {
        Self::Gamma { gamma: None }
    }
}

/// The precision of the quotients t/q_i.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Precision {
    /// Double precision as long as its error is at most 2^-10, else 128-bit fixed point.
    #[default]
    Automatic,
    /// Double precision: an error of about t·k·(k + 7)·2^-54, or (k + 15) for (k + 7) with moduli from 2^52.
    Double,
    /// Fixed point of 128 bits: an error below t·Σ q_i·2^-129.
    Fixed128,
}

/// The modulus m̃ of the small Montgomery reduction [BEHZ16, Alg. 2].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MTilde {
    /// No m̃, thus no reduction: ρ = k − 1.
    None,
    /// Modulus m̃ = 2^8: ρ = (k − 1)/2^8.
    Bits8,
    /// Modulus m̃ = 2^16: ρ = k/2^16 or, for odd k, (k − 1)/2^16.
    #[default]
    Bits16,
}

impl MTilde {
    /// The modulus m̃ of the reduction, if there is one.
    #[must_use]
    pub fn value(self) -> Option<u64> {
        match self {
            Self::None => None,
            Self::Bits8 => Some(1 << 8),
            Self::Bits16 => Some(1 << 16),
        }
    }
}

/// The moduli of the auxiliary basis, B_sk [BEHZ16, 4.2] or P [KPZ21, 3.2].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Auxiliary {
    /// The largest primes of default size (48 bits, or 49 beside a modulus between these), with room for sums of at least 256 products where that is limited.
    #[default]
    Standard,
    /// Primes no longer than those of q, as many as one product needs: what the paper measures.
    LikeModulus,
}

/// Options by which a polynomial is cut into digits for key switching, that is relinearisation and rotation.
///
/// | method | options | keys (limbs) | noise |
/// |---|---|---|---|
/// | BV | no special moduli | 2kℓ(k − d) | δB_err·kℓ·2^(νd)·ω/2, ω = 2^ν where ℓ = 1 |
/// | GHS [KPZ21, B.2.2] | special moduli, 1 digit, P ≥ Q | 2(k + s) | δB_err·Q/2P + (1 + δB_key)/2 |
/// | hybrid [KPZ21, B.2.3] | special moduli, d_num digits Q_j | 2·d_num·(k + s) | δB_err·Σ Q_j/2P + (1 + δB_key)/2 |
///
/// with k ciphertext moduli q_i of ν bits, ℓ digits of each, d dropped limbs, and s special moduli of product P. Keys live
/// modulo QP, which security is counted for. Keys and the context that uses them must agree on the options.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct GadgetOptions {
    /// log2 ω, 1 to 61, of the second-level radix that cuts each RNS digit into ℓ = ⌈ν/log2 ω⌉ [BEHZ16, B.1]: less
    /// noise, larger keys, more time. Multi-precision rings have this radix only, by default one of about a word.
    pub radix_bits: Option<u32>,
    /// Limbs of each key polynomial, fewer than k, that are zero and neither stored nor computed with
    /// [BEHZ16, B.2]: smaller keys, less time, 2^ν times the noise for each. A big-integer ring drops as many of the
    /// lowest digits.
    pub dropped_limbs: usize,
    /// The number d_num of digits, which are the remainders by products of ⌈k/d_num⌉ consecutive moduli. Without it,
    /// of as many as P has room for: short moduli in greater number than long ones.
    pub digits: Option<usize>,
    /// The moduli p_i of P: primes like those of the ring, and none of them.
    pub special_moduli: Vec<u64>,
}

/// Formats options as words: "digits that are whole residues", "digits in radix 2^12 with 1 limb dropped", "4 digits
/// over 3 special moduli".
impl fmt::Display for GadgetOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let special = match self.special_moduli.len() {
            0 => String::new(),
            1 => "1 special modulus".to_owned(),
            count => format!("{count} special moduli"),
        };
        match (self.radix_bits, self.digits) {
            (None, None) if special.is_empty() => f.write_str("digits that are whole residues")?,
            (None, None) => write!(f, "digits as large as {special}")?,
            (Some(bits), _) => write!(f, "digits in radix 2^{bits}")?,
            (None, Some(1)) => write!(f, "1 digit over {special}")?,
            (None, Some(digits)) => write!(f, "{digits} digits over {special}")?,
        }
        match self.dropped_limbs {
            0 => Ok(()),
            1 => f.write_str(" with 1 limb dropped"),
            limbs => write!(f, " with {limbs} limbs dropped"),
        }
    }
}
