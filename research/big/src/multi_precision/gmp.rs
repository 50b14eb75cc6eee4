//! Conversions of residues by the functions of GMP, over its own words of 64 bits.

use num_bigint::BigUint;
use num_integer::Integer;
use num_traits::{One, ToPrimitive};
use sunzi_kernels::{Modulus, gmp};
use sunzi_ring::{Basis, RingError};

use super::groups::{Group, group};
use super::lift::half;
use super::rounding::Ratio;

const BITS: u64 = 64;

/// Returns the lowest `length` words of x, of 64 bits.
fn words(x: &BigUint, length: usize) -> Vec<u64> {
    x.iter_u64_digits().chain(std::iter::repeat(0)).take(length).collect()
}

fn end(length: usize) -> BigUint {
    BigUint::one() << (length as u64 * BITS)
}

/// Tables of lift, rounding and remainders by GMP, as in the files of these names, where every formula is
/// explained.
#[derive(Clone, Debug)]
pub(super) struct Steps {
    /// Quotients q/P_g in words of GMP, group after group.
    quotients: Vec<u64>,
    half: Vec<u64>,
    modulus: Vec<u64>,
    negated: Vec<u64>,
    top: u64,
    reciprocal: u64,
    exponent: u32,
    rounding: Option<Rounding>,
    targets: Vec<Group>,
    offsets: Vec<u64>,
}

#[derive(Clone, Debug)]
struct Rounding {
    t: u64,
    q: BigUint,
    constant: BigUint,
    skip: usize,
    reciprocal: Vec<u64>,
    fraction: [u64; 2],
}

/// Buffers of one thread for conversions by GMP.
pub(super) struct Buffers {
    /// Words of the big integer, after one zero.
    integer: Vec<u64>,
    product: Vec<u64>,
}

impl Steps {
    pub(super) fn new(
        source: &Basis,
        groups: &[Group],
        ratio: Option<Ratio<'_>>,
        target: &[Modulus],
    ) -> Result<Self, RingError> {
        let q = source.product();
        let bound = q * (source.len() + 1);
        let length = bound.bits().div_ceil(BITS) as usize;
        let top = bound.bits().saturating_sub(60);
        let divisor = (q >> top) + 1_u32;
        let (rounding, offset) = match ratio {
            Some(ratio) => {
                let (rounding, shift) = Rounding::new(ratio, &half(q), length);
                (Some(rounding), shift)
            }
            None => (None, half(q)),
        };
        let targets = group(target)?;
        let offset = |group: &Group| (&offset % group.product.value()).to_u64().unwrap_or(0);
        Ok(Self {
            quotients: groups.iter().flat_map(|group| words(&(q / group.product.value()), length)).collect(),
            half: words(&half(q), length),
            modulus: words(q, length),
            negated: words(&(end(length) - q), length),
            top,
            reciprocal: ((BigUint::one() << (divisor.bits() + 60)) / &divisor).to_u64().unwrap_or(0),
            exponent: (divisor.bits() + 60) as u32,
            rounding,
            offsets: targets.iter().map(offset).collect(),
            targets,
        })
    }

    pub(super) fn buffers(&self) -> Buffers {
        let product = self.rounding.as_ref().map_or(0, |rounding| 2 * rounding.reciprocal.len() + 1);
        Buffers { integer: vec![0; self.modulus.len() + 1], product: vec![0; product] }
    }

    /// Converts the residues of coefficient `at`, and writes the result into that entry of every row.
    pub(super) fn apply(
        &self,
        residues: &[u64],
        buffers: &mut Buffers,
        output: &mut [&mut [u64]],
        at: usize,
    ) {
        let Buffers { integer, product } = buffers;
        if let Some(lifted) = integer.get_mut(1..) {
            self.lift(residues, lifted);
        }
        let result = match &self.rounding {
            Some(rounding) => rounding.apply(integer, product),
            None => integer.get(1..).unwrap_or_default(),
        };
        let mut rows = output.iter_mut();
        for (group, &offset) in self.targets.iter().zip(&self.offsets) {
            let residue = group.product.sub(gmp::remainder(result, group.product.value()), offset);
            for (member, row) in group.members.iter().zip(&mut rows) {
                if let Some(out) = row.get_mut(at) {
                    *out = if group.members.len() == 1 { residue } else { member.modulus.reduce(residue) };
                }
            }
        }
    }

    fn lift(&self, residues: &[u64], out: &mut [u64]) {
        out.copy_from_slice(&self.half);
        for (&y, quotient) in residues.iter().zip(self.quotients.chunks_exact(self.half.len())) {
            let _carry = gmp::mul_add(out, quotient, y);
        }
        let (first, offset) = ((self.top / BITS) as usize, self.top % BITS);
        let word = |i: usize| u128::from(out.get(i).copied().unwrap_or(0));
        let top = (word(first) | word(first + 1) << BITS) >> offset & ((1 << 60) - 1);
        let alpha = (top * u128::from(self.reciprocal)) >> self.exponent;
        let _carry = gmp::mul_add(out, &self.negated, alpha as u64);
        if out.iter().rev().ge(self.modulus.iter().rev()) {
            let _carry = gmp::mul_add(out, &self.negated, 1);
        }
    }
}

impl Rounding {
    /// Makes the tables of the steps by GMP, and returns K with them.
    fn new(ratio: Ratio<'_>, offset: &BigUint, length: usize) -> (Self, BigUint) {
        let Ratio { t, q } = ratio;
        let shift = (offset * t).div_ceil(q);
        let constant = &shift * q + half(q) - offset * t;
        let spare = q.bits() - u64::from(u64::BITS - t.leading_zeros()) - 1;
        let skip = ((spare / BITS) as usize).min(length);
        let fraction = ((&constant << BITS) / q).to_u128().unwrap_or(0);
        let reciprocal = words(&(end(length + 1) * t / q), length + 1 - skip);
        let fraction = [fraction as u64, (fraction >> BITS) as u64];
        (Self { t, q: q.clone(), constant, skip, reciprocal, fraction }, shift)
    }

    fn apply<'a>(&self, integer: &[u64], product: &'a mut [u64]) -> &'a [u64] {
        let terms = self.reciprocal.len();
        let Some((top, rest)) = product.split_last_mut() else { return &[] };
        *top = 0;
        gmp::mul(rest, integer.get(self.skip..).unwrap_or_default(), &self.reciprocal);
        let above = product.get_mut(terms..).unwrap_or_default();
        let _carry = gmp::mul_add(above, &self.fraction, 1);
        let doubt = above.first().is_some_and(|&fraction| fraction >= u64::MAX - 8);
        let result = product.get_mut(terms + 1..).unwrap_or_default();
        if doubt {
            let u = integer.iter().skip(1).rev().fold(BigUint::ZERO, |sum, &word| (sum << BITS) + word);
            let quotient = (u * self.t + &self.constant) / &self.q;
            result.copy_from_slice(&words(&quotient, result.len()));
        }
        result
    }
}
