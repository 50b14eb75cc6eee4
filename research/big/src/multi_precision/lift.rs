//! Lift of a coefficient's residues to one big integer.

use num_bigint::BigUint;
use num_integer::Integer;
use num_traits::ToPrimitive;
use sunzi_ring::Basis;

use super::groups::Group;
use super::words::{self, BITS, MASK, bits, columns, interleave};

/// Tables of the lift x ↦ [x]_q + ⌊q/2⌋ from the residues y_i = |x·(q/q_i)^-1|_{q_i}.
#[derive(Clone, Debug)]
pub(super) struct Lift {
    /// Quotients: words w and w + 1 of q/P_g for the groups g, then the next two words.
    quotients: Vec<[u64; 2]>,
    half: Vec<u64>,
    modulus: Vec<u64>,
    /// Negated modulus 2^(60·length) − q of a lift.
    negated: Vec<u64>,
    /// First of the sixty bits of a sum from which its multiple of q is estimated.
    top: u64,
    /// Reciprocal ⌊2^exponent/(q/2^top)⌋; the next field is its exponent.
    reciprocal: u64,
    exponent: u32,
}

impl Lift {
    /// Makes the tables of the lift for the groups of the moduli of a basis.
    pub(super) fn new(basis: &Basis, groups: &[Group]) -> Self {
        let q = basis.product();
        // Σ y_i·(q/q_i) + ⌊q/2⌋ < (k + 1)·q.
        let bound = q * (basis.len() + 1);
        let length = words::length(&bound);
        let parts: Vec<Vec<u64>> =
            groups.iter().map(|group| words::words(&(q / group.product.value()), length)).collect();
        let word =
            |w: usize| -> Vec<u64> { parts.iter().map(|part| part.get(w).copied().unwrap_or(0)).collect() };
        let quotients = (0..length).step_by(2).flat_map(|w| interleave(&word(w), &word(w + 1))).collect();
        let top = bound.bits().saturating_sub(BITS);
        let divisor = (q >> top) + 1_u32;
        let exponent = divisor.bits() + BITS;
        let reciprocal = (words::end(1) << divisor.bits()) / &divisor;
        Self {
            quotients,
            half: words::words(&(q / 2_u32), length),
            modulus: words::words(q, length),
            negated: words::words(&(words::end(length) - q), length),
            top,
            reciprocal: reciprocal.to_u64().unwrap_or(0),
            exponent: exponent as u32,
        }
    }

    /// Number of words of a lifted integer.
    pub(super) fn length(&self) -> usize {
        self.modulus.len()
    }

    /// Computes [x]_q + ⌊q/2⌋ in [0, q) from the gathered residues of one coefficient.
    ///
    /// The lift's sum S = Σ Y_g·(q/P_g) + ⌊q/2⌋ differs by a multiple of q, which is α or α + 1 by its top bits.
    #[inline]
    pub(super) fn apply(&self, residues: &[u64], out: &mut [u64]) {
        let mut carry = 0;
        let pairs = out.chunks_mut(2).zip(self.half.chunks(2));
        for ((out, half), quotients) in pairs.zip(self.quotients.chunks_exact(residues.len())) {
            for ((out, half), column) in out.iter_mut().zip(half).zip(columns(residues, quotients)) {
                carry += u128::from(*half);
                *out = column.carry(&mut carry);
            }
        }
        // With d = ⌊q/2^top⌋ + 1 the quotient by d is too small, by less than one.
        let estimate = u128::from(bits(out, self.top, BITS as u32)) * u128::from(self.reciprocal);
        self.add_multiple((estimate >> self.exponent) as u64, out);
        if out.iter().rev().ge(self.modulus.iter().rev()) {
            self.add_multiple(1, out);
        }
    }

    /// Computes out − α·q, the sum of a lift without its multiple of q.
    fn add_multiple(&self, alpha: u64, out: &mut [u64]) {
        let mut carry = 0;
        for (out, negated) in out.iter_mut().zip(&self.negated) {
            let product = u128::from(*out) + u128::from(alpha) * u128::from(*negated);
            let sum = (product as u64 & MASK) + carry;
            *out = sum & MASK;
            carry = (product >> BITS) as u64 + (sum >> BITS);
        }
    }
}

/// Returns ⌊q/2⌋, which a lift adds to a centred integer.
pub(super) fn half(q: &BigUint) -> BigUint {
    q.div_floor(&BigUint::from(2_u32))
}
