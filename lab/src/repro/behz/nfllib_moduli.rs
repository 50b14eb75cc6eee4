//! The moduli of NFLlib, which the parameters of `[BEHZ16]` are made of, found again by their rule.

use sunzi_math::{is_prime, primes_below};

use crate::repro::{LabError, Result};

/// A width of NFLlib's moduli, ν bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Width {
    /// Moduli of 30 bits in 32-bit words: the 291 primes p ≡ 1 (mod 2^16) with (1 + 2^-6)·2^32/5 < p < 2^30,
    /// the range in which NFLlib's reduction with two spare bits is right `[NFLlib16, Alg. 2]`.
    Bits30,
    /// Moduli of 62 bits in 64-bit words: the 1000 greatest primes p ≡ 1 (mod 2^21) below 2^62.
    Bits62,
}

impl Width {
    /// Bits ν of a modulus of this width.
    pub fn bits(self) -> u32 {
        match self {
            Self::Bits30 => 30,
            Self::Bits62 => 62,
        }
    }

    /// Number of moduli of this width that NFLlib has.
    pub fn available(self) -> usize {
        match self {
            Self::Bits30 => 291,
            Self::Bits62 => 1000,
        }
    }

    /// Step between moduli, which are all 1 modulo it: twice the largest degree.
    fn step(self) -> u64 {
        match self {
            Self::Bits30 => 1 << 16,
            Self::Bits62 => 1 << 21,
        }
    }

    /// The `count` greatest NFLlib moduli of this width, in descending order.
    ///
    /// # Errors
    /// [`LabError::Failed`] for more moduli than there are.
    pub fn moduli(self, count: usize) -> Result<Vec<u64>> {
        if count > self.available() {
            let (bits, most) = (self.bits(), self.available());
            return Err(LabError::Failed(format!(
                "expected at most {most} moduli of {bits} bits, got {count}: NFLlib has no more"
            )));
        }
        Ok(primes_below(1 << self.bits(), self.step(), count)?)
    }
}

/// Least 30-bit modulus that NFLlib reduces correctly, less one: (1 + 2^-6)·2^32/5.
const LIMIT_30: u64 = 65 * (1 << 26) / 5;

/// Number of primes of 30 bits that NFLlib's rule allows, counted.
pub(super) fn narrow() -> usize {
    let step = Width::Bits30.step();
    let candidates = (1..).map(|i| (1_u64 << 30) + 1 - i * step);
    candidates.take_while(|&p| p > LIMIT_30).filter(|&p| is_prime(p)).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rule_gives_the_moduli_of_nfllib() {
        let narrow = Width::Bits30.moduli(291).unwrap();
        assert_eq!(narrow[..3], [1_073_479_681, 1_072_496_641, 1_071_513_601]);
        assert_eq!(narrow[290], 873_005_057);
        let wide = Width::Bits62.moduli(1000).unwrap();
        assert_eq!(wide[..2], [4_611_686_018_326_724_609, 4_611_686_018_309_947_393]);
        assert_eq!(wide[999], 4_611_685_973_500_100_609);
    }

    #[test]
    fn all_30_bit_primes_that_reduce_are_used() {
        let more = primes_below(1 << 30, 1 << 16, 292).unwrap();
        assert!(more[290] > LIMIT_30 && more[291] <= LIMIT_30, "{more:?}");
    }

    #[test]
    fn there_are_no_more() {
        for width in [Width::Bits30, Width::Bits62] {
            let more = width.available() + 1;
            let error = width.moduli(more).unwrap_err().to_string();
            assert!(error.contains(&format!("got {more}: NFLlib has no more")), "{error}");
        }
    }
}
