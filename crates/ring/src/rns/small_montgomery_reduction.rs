//! FastBconv to B_sk ∪ {m̃} and the small Montgomery reduction after it [BEHZ16, 4.2 and Alg. 2].

use std::ops::Range;

use sunzi_kernels::{Buffer, Conversion, Modulus, WrappingSum};
use sunzi_math::{mod_inv, mul_mod};

use super::fast_base_conversion::{self, Overflow, half, shift_by_half};
use super::too_long_a_block;
use super::{matrix_product, row_of_ones};
use crate::parallel::{BLOCK, Parallelism, block_of};
use crate::{Basis, RingError};

/// Extension from y_i = |m̃·c·q_i/q|_{q_i} to c' ≡ c (mod q) in B_sk with ‖c'‖ ≤ (q/2)(1 + ρ) [BEHZ16, Lemma 4].
///
/// With c″ = Σ y_i·q/q_i − u·q the reduction is c' = (c″ + q·[−c″/q]_m̃)/m̃. Since −c″/q = u − Σ y_i/q_i modulo m̃,
/// its line 1 needs a sum of words; r + m̃/2 in [0, m̃) then is one more row of the conversion, and −q/2 − u·q/m̃
/// a constant row: each target modulus costs a single reduction.
///
/// The paper has u = 0. Here it is chosen so that c' has no mean, which would gather the noise of a product in the few
/// roots of unity close to 1; that halves ρ, too. Since [·]_m̃ has a mean of −1/2, c″/q must have one of 1/2: k
/// digits have k/2, so an even k takes its first digit centred. Where m̃ is large, a mean of −q/(2m̃) does
/// not matter and that is left out.
pub struct SmallMontgomeryReduction {
    m_tilde: u64,
    /// First modulus of the source basis, if its digit is centred.
    centered: Option<Modulus>,
    /// Sum r + m̃/2 of the quotients before it is reduced modulo m̃.
    quotients: WrappingSum,
    conversion: Conversion,
}

impl SmallMontgomeryReduction {
    pub(crate) fn new(basis: &Basis, m_tilde: u64, targets: &[Modulus]) -> Result<Self, RingError> {
        let k = basis.len();
        let centered = basis.moduli().first().filter(|_| centers_first_digit(k, m_tilde)).copied();
        let first_half = centered.as_ref().map_or(0, half);
        let u = (k - usize::from(centered.is_some())) as u64 / 2;
        let inverses = basis.values().iter().map(|&q| mod_inv(q % m_tilde, m_tilde));
        let inverses = inverses.collect::<Result<Vec<_>, _>>()?;
        let first = inverses.first().map_or(0, |inverse| first_half.wrapping_mul(*inverse));
        let start = (m_tilde / 2 + u).wrapping_add(first);
        let negated: Vec<u64> = inverses.iter().map(|inverse| inverse.wrapping_neg()).collect();
        let mut columns = Vec::with_capacity(targets.len());
        for target in targets {
            let p = target.value();
            let inverse = mod_inv(m_tilde % p, p)?;
            let q = basis.product_mod(p);
            // Entries of the column: c″/m̃, then r⁺·q/m̃ and −q/2 for r = r⁺ − m̃/2.
            let mut column = fast_base_conversion::column(basis, *target, inverse);
            let first = mul_mod(column.first().copied().unwrap_or(0), first_half % p, p);
            let shift = target.add(first, mul_mod(mul_mod(q, u % p, p), inverse, p));
            column.push(mul_mod(q, inverse, p));
            column.push(target.neg(target.add(shift, mul_mod(q, mod_inv(2, p)?, p))));
            columns.push(column);
        }
        let mut rows = basis.moduli().to_vec();
        rows.extend([basis.modulus(m_tilde)?, row_of_ones(basis)?]);
        let quotients = WrappingSum::new(basis.isa(), start, &negated)?;
        Ok(Self { m_tilde, centered, quotients, conversion: matrix_product(&rows, targets, &columns)? })
    }

    /// The overflow ρ = κ/m̃: c″/q lies in [−κ/2, κ/2 + 1) for κ = k − 1, or κ = k and 1 less if an even number of
    /// digits is not centred, and r in [−m̃/2, m̃/2 − 1]. Eq. (8) has 2τ + 1 with τ = k for κ.
    pub(crate) fn overflow(k: usize, m_tilde: u64) -> Overflow {
        let balanced = k % 2 == 1 || centers_first_digit(k, m_tilde);
        Overflow { numerator: (k - usize::from(balanced)) as u64, denominator: m_tilde }
    }

    pub(crate) fn apply(&self, digits: &mut [u64], output: &mut [u64], n: usize) -> Result<(), RingError> {
        if let Some(modulus) = &self.centered {
            let missing = RingError::MissingTable { table: "limb that is centred", limb: 0 };
            shift_by_half(modulus, digits.get_mut(..n).ok_or(missing)?)?;
        }
        let ones = Buffer::from_slice(&[1; BLOCK]);
        Parallelism::Collapsed.for_each_block(output, n, |range: Range<usize>, output| {
            let mut rows = block_of(digits.chunks_exact(n), &range);
            let mut quotients = [0_u64; BLOCK];
            let (Some(quotients), Some(ones)) = (quotients.get_mut(..range.len()), ones.get(..range.len()))
            else {
                return Err(too_long_a_block(range.len()));
            };
            self.quotients.apply(&rows, quotients)?;
            for r in quotients.iter_mut() {
                *r &= self.m_tilde - 1;
            }
            rows.extend([&*quotients, ones]);
            Ok(self.conversion.apply(&rows, output)?)
        })
    }
}

/// Least m̃ at which a mean of q/(2m̃) is negligible: at the root of unity where it gathers most it is below 1 % of a
/// standard deviation in every ring, √(12n)/(π·m̃) for n = 2^17.
const LARGE: u64 = 1 << 16;

fn centers_first_digit(k: usize, m_tilde: u64) -> bool {
    k.is_multiple_of(2) && m_tilde < LARGE
}
