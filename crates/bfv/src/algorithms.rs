//! Algorithms that a BFV parameter set uses for products, decryption and key switching.

use std::fmt;

use serde::{Deserialize, Serialize};
use sunzi_ring::{
    Auxiliary, Decryption, GadgetOptions, MTilde, ModulusSwitching, Multiplication, Precision, RnsDigits,
    ScalerOptions, ScalingBounds,
};

use crate::BfvError;

/// Choice among the algorithms of `[BEHZ16]` and `[KPZ21]` for a BFV parameter set; the defaults are the fastest.
///
/// ```
/// use sunzi_bfv::{Algorithms, Parameters};
/// use sunzi_ring::GadgetOptions;
///
/// // Relinearisation keys with one limb in two, digits in radix 2^24 [BEHZ16, appendix B].
/// let key_switching =
///     GadgetOptions { radix_bits: Some(24), dropped_limbs: 2, ..GadgetOptions::default() };
/// let algorithms = Algorithms { key_switching, ..Algorithms::default() };
/// let parameters = Parameters::builder().depth(1).log2_degree(13).algorithms(algorithms).build()?;
/// assert_eq!(parameters.algorithms().key_switching.dropped_limbs, 2);
/// # Ok::<(), sunzi_bfv::BfvError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Algorithms {
    /// Algorithms of BFV products and decryption.
    pub scaling: ScalerOptions,
    /// Cushion of leveled products in bits `[KPZ21, app. D]`, for [`Multiplication::HpsOverQLeveled`]: the choice of a
    /// lower level may add at most 2^-cushion times the noise that the product has anyway, by the bounds. Fewer bits
    /// are faster; bounds hold in any case.
    pub cushion_bits: u32,
    /// Digits and special moduli of relinearisation and rotation.
    pub key_switching: GadgetOptions,
}

impl Default for Algorithms {
    fn default() -> Self {
        Self { scaling: ScalerOptions::default(), cushion_bits: 30, key_switching: GadgetOptions::default() }
    }
}

impl Algorithms {
    /// Fails unless the ciphertext moduli and the plaintext moduli of a BFV parameter set allow every algorithm
    /// chosen.
    pub(crate) fn check(&self, moduli: &[u64], plain_moduli: &[u64]) -> Result<(), BfvError> {
        RnsDigits::new(&self.key_switching, moduli).map_err(BfvError::Algorithms)?;
        ScalingBounds::check_all(&self.scaling, moduli, plain_moduli).map_err(BfvError::Algorithms)
    }
}

/// Writes the algorithms that differ from the default ones, or "default".
impl fmt::Display for Algorithms {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ScalerOptions { decryption, multiplication, modulus_switching, m_tilde, auxiliary } =
            self.scaling;
        let mut chosen = Vec::new();
        match decryption {
            Decryption::Gamma { gamma: None } => {}
            Decryption::Gamma { gamma: Some(gamma) } => chosen.push(format!("decryption with gamma {gamma}")),
            Decryption::PowerOfTwo { log2_gamma: None } => {
                chosen.push("decryption with a power of two".to_owned());
            }
            Decryption::PowerOfTwo { log2_gamma: Some(log2) } => {
                chosen.push(format!("decryption with gamma 2^{log2}"));
            }
            Decryption::DigitDecomposition => chosen.push("decryption by quotients of digits".to_owned()),
            Decryption::FloatingPoint { precision } => chosen.push(match precision {
                Precision::Automatic => "decryption by quotients".to_owned(),
                Precision::Double => "decryption by quotients of 53 bits".to_owned(),
                Precision::Fixed128 => "decryption by quotients of 128 bits".to_owned(),
            }),
        }
        match multiplication {
            Multiplication::Behz => chosen.push("products of BEHZ".to_owned()),
            Multiplication::Hps => chosen.push("products of HPS".to_owned()),
            Multiplication::HpsOverQ => chosen.push("products over Q without levels".to_owned()),
            Multiplication::HpsOverQLeveled => {}
        }
        match modulus_switching {
            ModulusSwitching::Exact => {}
            ModulusSwitching::Approximate => chosen.push("approximate modulus switches".to_owned()),
        }
        if self.cushion_bits != Self::default().cushion_bits {
            chosen.push(format!("a cushion of {} bits", self.cushion_bits));
        }
        match m_tilde {
            MTilde::Bits16 => {}
            MTilde::Bits8 => chosen.push("m~ 2^8".to_owned()),
            MTilde::None => chosen.push("no reduction by m~".to_owned()),
        }
        match auxiliary {
            Auxiliary::Standard => {}
            Auxiliary::LikeModulus => chosen.push("auxiliary moduli as long as those of q".to_owned()),
        }
        if self.key_switching != GadgetOptions::default() {
            chosen.push(format!("key switching by {}", self.key_switching));
        }
        f.write_str(if chosen.is_empty() { "default" } else { "" })?;
        f.write_str(&chosen.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_is_said() {
        assert_eq!(Algorithms::default().to_string(), "default");
        let scaling = ScalerOptions {
            decryption: Decryption::PowerOfTwo { log2_gamma: Some(20) },
            m_tilde: MTilde::None,
            auxiliary: Auxiliary::LikeModulus,
            ..ScalerOptions::default()
        };
        let key_switching =
            GadgetOptions { radix_bits: Some(24), dropped_limbs: 2, ..GadgetOptions::default() };
        let text = Algorithms { scaling, key_switching, ..Algorithms::default() }.to_string();
        for part in ["gamma 2^20", "no reduction", "auxiliary", "radix 2^24", "2 limbs"] {
            assert!(text.contains(part), "{part} is missing: {text}");
        }
    }
}
