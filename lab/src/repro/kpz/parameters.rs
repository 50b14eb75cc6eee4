//! The moduli of a printed row of `[KPZ21]`: as many, and as long, as the paper says.

use sunzi_math::{primes_below, primes_with_bits};
use sunzi_rlwe::{Security, security};

use super::printed::{Cell, Column, Digits};
use crate::Result;

/// Bits of the widest modulus of `[KPZ21]`; P is made of such moduli.
const WIDEST: u32 = 60;

/// A parameter set for one cell of the tables of `[KPZ21]`.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Parameters {
    pub(super) log2_degree: u32,
    /// Moduli of the parameter set: of BFV in the order of the ring; of BGV q_0, q_1, …, q_L, q_(L+1).
    pub(super) moduli: Vec<u64>,
    pub(super) special: Vec<u64>,
    /// Number of digits d_num of key switching.
    pub(super) digits: usize,
    pub(super) security: Security,
}

impl Parameters {
    /// The parameter sets of a cell: what it says; if the security table of 2024 asks for a larger degree,
    /// also with that degree. For BGV, q_0 is `slack` bits longer.
    pub(super) fn of(cell: &Cell, depth: u32, slack: u32) -> Result<Vec<Self>> {
        let longer = Cell { log2_modulus: cell.log2_modulus + slack, ..*cell };
        let cell = if cell.column == Column::Bgv { &longer } else { cell };
        let mut all = vec![Self::printed(cell, depth)?];
        for log2_degree in cell.log2_degree + 1..=17 {
            let Some(last) = all.last().filter(|last| !last.is_secure()) else { break };
            let larger = Self::at(cell, depth, log2_degree)?;
            if last.log2_degree > cell.log2_degree {
                all.pop();
            }
            all.push(larger);
        }
        for one in &mut all {
            one.security =
                if one.is_secure() { Security::Bits128 } else { Security::InsecureForResearchOnly };
        }
        Ok(all)
    }

    /// The parameter set that a cell of `[KPZ21]` says, secure or not.
    pub(super) fn printed(cell: &Cell, depth: u32) -> Result<Self> {
        Self::at(cell, depth, cell.log2_degree)
    }

    fn at(cell: &Cell, depth: u32, log2_degree: u32) -> Result<Self> {
        let moduli = match cell.column {
            Column::Bgv => chain(cell, depth, log2_degree)?,
            _ => {
                let count = (cell.log2_modulus / cell.log2_limb.max(1)) as usize;
                primes_below(1 << cell.log2_limb, 2 << log2_degree, count)?
            }
        };
        let digits = match cell.digits {
            Digits::Three => moduli.len().min(3),
            Digits::Max => moduli.len(),
        };
        let width = moduli.len().div_ceil(digits);
        // P is as long as the longest digit.
        let digit = |chunk: &[u64]| chunk.iter().map(|q| (*q as f64).log2()).sum::<f64>();
        let bits = moduli.chunks(width).map(digit).fold(0.0, f64::max).ceil() as u32;
        let count = bits.div_ceil(WIDEST) as usize;
        let candidates =
            primes_below(1 << bits.div_ceil(count as u32), 2 << log2_degree, count + moduli.len())?;
        let special = candidates.into_iter().filter(|p| !moduli.contains(p)).take(count).collect();
        let security = Security::InsecureForResearchOnly;
        Ok(Self { log2_degree, moduli, special, digits, security })
    }

    /// log2 of the key modulus QP.
    pub(super) fn log2_key_modulus(&self) -> f64 {
        self.moduli.iter().chain(&self.special).map(|q| (*q as f64).log2()).sum()
    }

    fn is_secure(&self) -> bool {
        security::check(1 << self.log2_degree, self.log2_key_modulus(), Security::Bits128).is_ok()
    }
}

/// The moduli of BGV: q_0 with what log Q_L leaves, then L moduli of log q_i bits, then the smallest prime
/// there is: that is enough to bring fresh noise down to the noise of a modulus switch `[KPZ21, section 4]`.
///
/// If no prime 1 modulo 2n is as short as a modulus of BGV should be, the next longer one is taken.
fn chain(cell: &Cell, depth: u32, log2_degree: u32) -> Result<Vec<u64>> {
    let order = 2_u64 << log2_degree;
    let count = depth as usize;
    let mut levels = Vec::new();
    for bits in cell.log2_limb..=WIDEST {
        levels = primes_below(1 << bits, order, count).unwrap_or_default();
        if levels.len() == count {
            break;
        }
    }
    let first = cell.log2_modulus.saturating_sub(depth * cell.log2_limb);
    // t itself may be such a prime.
    let mut used = levels.clone();
    used.push(cell.plain_modulus);
    let mut chain = vec![unused(first, order, &used)?];
    used.append(&mut chain.clone());
    chain.extend(levels);
    chain.push(unused(0, order, &used)?);
    Ok(chain)
}

/// The longest unused prime of at most `bits` bits, or the shortest longer one.
fn unused(bits: u32, order: u64, used: &[u64]) -> Result<u64> {
    let bits = bits.max(order.ilog2() + 1);
    for bits in bits..WIDEST {
        let found = primes_with_bits(bits, order, 1 + used.len());
        // Asking for more than there are is an error: then ask for one.
        let found = found.or_else(|_| primes_with_bits(bits, order, 1)).unwrap_or_default();
        if let Some(&prime) = found.iter().find(|prime| !used.contains(prime)) {
            return Ok(prime);
        }
    }
    Ok(primes_below(1 << WIDEST, order, 1)?.into_iter().next().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repro::kpz::printed;

    fn check(cells: &[Cell], depth: impl Fn(u32) -> u32) {
        for cell in cells {
            let all = Parameters::of(cell, depth(cell.k), 0).unwrap();
            assert!((1..=2).contains(&all.len()), "{cell:?}");
            assert_eq!(all[0].log2_degree, cell.log2_degree);
            assert_eq!(all.last().unwrap().security, Security::Bits128, "{cell:?}");
            for one in &all {
                let mut distinct = one.moduli.clone();
                distinct.extend(&one.special);
                distinct.sort_unstable();
                distinct.dedup();
                assert_eq!(distinct.len(), one.moduli.len() + one.special.len(), "{one:?}");
                let without_last = match cell.column {
                    Column::Bgv => &one.moduli[..one.moduli.len() - 1],
                    _ => &one.moduli[..],
                };
                let log2: f64 = without_last.iter().map(|q| (*q as f64).log2()).sum();
                let difference = log2 - f64::from(cell.log2_modulus);
                // Small BGV moduli are rare: t = 2 at the larger degree.
                let room = if cell.column == Column::Bgv && cell.plain_modulus == 2 { 9.0 } else { 1.0 };
                assert!(difference.abs() <= room, "{cell:?}: {log2}");
            }
        }
    }

    #[test]
    fn moduli_are_those_that_are_printed() {
        check(&printed::trees(), |k| k);
        check(&printed::polynomials(), |k| k.next_power_of_two().ilog2());
    }
}
