//! Cyclic transforms, to values at all N-th roots of unity, from the negacyclic transforms of lengths N/2, N/4, …: X^N − 1 = (X^(N/2) + 1)(X^(N/2) − 1),
//! and so on for the second factor `[BEHMSZ17, eq. (2) and (7)]`.

use sunzi_kernels::{Buffer, InverseScale, Modulus, NttPlan};

use sunzi_ring::RingError;
use sunzi_ring::storage::{check_length, check_table};

/// Length of the shortest cyclic transform.
pub const SHORTEST: usize = 64;

/// Transforms of every power-of-two length from 64 to N modulo one prime q ≡ 1 (mod N).
///
/// The upper half of L values of a cyclic transform are those modulo X^(L/2) + 1, in the order of
/// [`NttPlan`]; the lower half those modulo X^(L/2) − 1.
pub struct CyclicPlan {
    modulus: Modulus,
    /// Negacyclic transforms of lengths N/2, N/4, …, 64.
    parts: Vec<NttPlan>,
    /// Powers ψ^-i and ψ^i for ψ of order 128, which turn the last transform into that of X^64 − 1.
    twist: Buffer,
    untwist: Buffer,
}

/// A constant that an inverse cyclic transform of one length multiplies by at no cost.
pub struct CyclicScale {
    length: usize,
    parts: Vec<InverseScale>,
    last: InverseScale,
}

impl CyclicPlan {
    /// Makes the cyclic transforms for `length` = N, a power of two from 128.
    pub fn new(modulus: Modulus, length: usize) -> Result<Self, RingError> {
        let lengths = std::iter::successors(Some(length / 2), |l| Some(l / 2)).take_while(|&l| l >= SHORTEST);
        let parts = lengths.map(|l| Ok(NttPlan::new(modulus, l)?)).collect::<Result<Vec<_>, RingError>>()?;
        let Some(last) = parts.last() else {
            return Err(RingError::out_of_range("length of a transform", "at least 128", length));
        };
        let powers = |root: u64| {
            let powers: Vec<u64> =
                std::iter::successors(Some(1), |&x| Some(modulus.mul(x, root))).take(SHORTEST).collect();
            Buffer::from_slice(&powers)
        };
        let inverse = modulus.pow(last.psi(), 2 * SHORTEST as u64 - 1);
        let (twist, untwist) = (powers(inverse), powers(last.psi()));
        Ok(Self { modulus, parts, twist, untwist })
    }

    pub(crate) fn modulus(&self) -> Modulus {
        self.modulus
    }

    /// Yields the negacyclic transforms that a cyclic transform of this length consists of.
    fn parts(&self, length: usize) -> impl DoubleEndedIterator<Item = &NttPlan> {
        self.parts.iter().filter(move |part| part.n() < length)
    }

    /// Returns the shortest negacyclic transform, which ends every cyclic one.
    fn last(&self) -> Result<&NttPlan, RingError> {
        self.parts.last().ok_or(RingError::MissingTable { table: "cyclic transform", limb: 0 })
    }

    /// Returns the negacyclic transform modulo X^(L/2) + 1 for L the length of the values.
    pub fn upper(&self, length: usize) -> Result<&NttPlan, RingError> {
        let missing = || RingError::out_of_range("length of a transform", "a power of two up to N", length);
        self.parts.iter().find(|part| 2 * part.n() == length).ok_or_else(missing)
    }

    /// Transforms coefficients to values; with `half` the upper half of the coefficients is taken as zero.
    pub fn forward(&self, words: &mut [u64], half: bool) -> Result<(), RingError> {
        let modulus = self.modulus();
        let (mut rest, mut half) = (words, half);
        for part in self.parts(rest.len()) {
            let (low, high) = rest.split_at_mut_checked(part.n()).unwrap_or_default();
            if std::mem::take(&mut half) {
                high.copy_from_slice(low);
            } else {
                modulus.sum_difference_assign(low, high)?;
            }
            part.forward(high)?;
            rest = low;
        }
        modulus.mul_assign(rest, &self.twist)?;
        Ok(self.last()?.forward(rest)?)
    }

    /// Prepares inverse cyclic transforms of a length that also multiply by c.
    pub fn scale(&self, length: usize, c: u64) -> Result<CyclicScale, RingError> {
        let modulus = self.modulus();
        let half = modulus.value().div_ceil(2);
        let mut factor = c;
        let mut parts = Vec::new();
        for part in self.parts(length) {
            factor = modulus.mul(factor, half);
            parts.push(part.scale(factor)?);
        }
        let last = self.last()?.scale(factor)?;
        Ok(CyclicScale { length, parts, last })
    }

    /// Transforms values to coefficients, times the constant of `scale`.
    pub fn inverse(&self, words: &mut [u64], scale: &CyclicScale) -> Result<(), RingError> {
        let modulus = self.modulus();
        check_length("values", scale.length, words.len())?;
        check_table("factor of an inverse transform", self.parts(scale.length).count(), scale.parts.len())?;
        let mut rest = &mut *words;
        for (part, scale) in self.parts(scale.length).zip(&scale.parts) {
            let (low, high) = rest.split_at_mut_checked(part.n()).unwrap_or_default();
            part.inverse_scaled(high, scale)?;
            rest = low;
        }
        self.last()?.inverse_scaled(rest, &scale.last)?;
        modulus.mul_assign(rest, &self.untwist)?;
        for part in self.parts(scale.length).rev() {
            let (low, rest) = words.split_at_mut_checked(part.n()).unwrap_or_default();
            let high = rest.get_mut(..part.n()).unwrap_or_default();
            modulus.sum_difference_assign(low, high)?;
        }
        Ok(())
    }
}
