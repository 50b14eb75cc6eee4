//! Products of two encrypted matrices, and transposition of an encrypted matrix.
//!
//! Let d divide n. A polynomial is a row of d entries in the subring of X^d, and multiplication by s is a matrix S over
//! that subring. Ciphertexts (b_k, a_k) of the columns of M make M = B + Sᵀ·A, those of the rows of M′ make M′ = B′ +
//! A′·S, and
//!
//! ```text
//! M·M′ = B·B′ + (B·A′)·S + Sᵀ·(A·B′) + Sᵀ·(A·A′)·S
//! ```
//!
//! for four products of matrices of integers `[Park25]`; with d < n the subring has n/d values modulo each modulus, each with
//! products of its own `[CKL25]`. Row j of Sᵀ·T is the trace 1/d·Σ_σ σ(X)^(−j)·σ(s)·Σ_i σ(X)^i·t_i over the
//! automorphisms that fix the subring, so that d key switches from σ(s) to s bring it under s; transposition of a
//! ciphertext is the same sum with σ of the whole.

use std::borrow::Cow;

use rayon::prelude::*;
use sunzi_math::ToRingIndex;
use sunzi_ring::{Addends, Evaluation, Poly, Ring, RingError, SwitchInput, check_subring};

use super::matrix::CommonRow;
use super::{Evaluator, Homomorphic};
use crate::monomial_sums::MonomialSums;
use crate::{
    Ciphertext, GaloisKeys, Log2, NoiseBound, NoiseTerm, RlweContext, RlweError, Trace, galois, memory,
};

const MULTIPLY: &str = "multiply encrypted matrices";
const TRANSPOSE: &str = "transpose a matrix";

/// Lists of polynomials, one for each part of ciphertexts.
type Lists = Vec<Vec<Poly<Evaluation>>>;

/// Automorphisms that transpose encrypted matrices of d rows of d entries: those that fix the subring of X^d.
///
/// ```
/// use sunzi_rlwe::evaluator::Transposition;
///
/// let transposition = Transposition::new(8192, 64)?;
/// assert_eq!(transposition.exponents().count(), 63);
/// // Fewer keys, and two key switches in place of one.
/// assert_eq!(transposition.few_exponents().count(), 14);
/// # Ok::<(), sunzi_rlwe::RlweError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Transposition {
    index: u64,
    size: usize,
}

impl Transposition {
    /// The automorphisms for matrices of `size` rows in a ring of an index m.
    ///
    /// # Errors
    /// [`RlweError::Ring`] unless the ring is a whole one whose index is a power of two, and the size is one from 64 to
    /// n = m/2.
    pub fn new(index: impl ToRingIndex, size: usize) -> Result<Self, RlweError> {
        let index = index.to_ring_index().map_err(RingError::from)?;
        check_subring(&index, size)?;
        Ok(Self { index: index.value(), size })
    }

    /// Number d of rows of a matrix.
    #[must_use]
    pub fn size(&self) -> usize {
        self.size
    }

    /// Exponents of all automorphisms: d − 1 Galois keys, and one key switch for each.
    pub fn exponents(&self) -> impl Iterator<Item = u64> + use<> {
        let this = *self;
        (1..self.size).map(move |e| this.exponent(e))
    }

    /// Exponents of automorphisms of which any is a product of two: about 2·√d Galois keys, and two key switches for most.
    pub fn few_exponents(&self) -> impl Iterator<Item = u64> + use<> {
        let (this, step) = (*self, self.step());
        (1..step).chain((step..self.size).step_by(step)).map(move |e| this.exponent(e))
    }

    /// X → X·ω^e has exponent 1 + e·m/d.
    fn exponent(&self, e: usize) -> u64 {
        1 + e as u64 * (self.index / self.size as u64)
    }

    /// Number e of an exponent.
    fn number(&self, exponent: u64) -> usize {
        (exponent / (self.index / self.size as u64)) as usize
    }

    /// Number of exponents of the first factor of a product of two.
    fn step(&self) -> usize {
        1 << (self.size.ilog2().div_ceil(2))
    }

    /// The exponent of the inverse automorphism.
    fn inverse(&self, exponent: u64) -> Result<u64, RlweError> {
        Ok(sunzi_math::mod_inv(exponent, self.index).map_err(RingError::from)?)
    }

    /// The exponents whose product is a given one: itself where it has a key, two otherwise.
    fn factors(&self, exponent: u64, keys: &GaloisKeys) -> Result<[u64; 2], RlweError> {
        if exponent == 1 || keys.get(exponent).is_ok() {
            return Ok([exponent, 1]);
        }
        let first = self.exponent(self.number(exponent) % self.step());
        let second = (u128::from(exponent) * u128::from(self.inverse(first)?)) % u128::from(self.index);
        let second = second as u64;
        if first == 1 || second == 1 {
            keys.get(exponent)?;
        }
        Ok([first, second])
    }
}

/// Metadata and noise of both factors of a product of encrypted matrices.
#[derive(Debug)]
pub struct MatrixFactors<S: Homomorphic> {
    /// Metadata and noise that all columns of the left matrix share.
    pub left: CommonRow<S>,
    /// Metadata and noise that all rows of the right matrix share.
    pub right: CommonRow<S>,
    /// Number of columns of the left matrix, terms of every sum.
    pub terms: usize,
    /// Noise that the key switches of the product add to each of its rows, which have three parts.
    pub switching: NoiseTerm,
}

/// The key switches of a transposition at one level.
struct Switches<'a> {
    context: &'a RlweContext,
    ring: Ring,
    transposition: Transposition,
    keys: &'a GaloisKeys,
    sums: MonomialSums,
}

impl<'a> Switches<'a> {
    fn new(
        context: &'a RlweContext,
        ring: Ring,
        size: usize,
        keys: &'a GaloisKeys,
    ) -> Result<Self, RlweError> {
        let transposition = Transposition::new(ring.ring_index(), size)?;
        let sums = MonomialSums::new(&ring, size)?;
        Ok(Self { context, ring, transposition, keys, sums })
    }

    /// Returns 1/d·Σ_i σ(X)^i·a_i for every σ: the division is exact modulo Q, as sums over all σ undo it.
    fn divided_sums(&self, mut a: Vec<Poly<Evaluation>>) -> Result<Vec<Poly<Evaluation>>, RingError> {
        let half = (self.ring.modulus() + 1_u32) >> 1_u32;
        let inverse = half.modpow(&self.transposition.size.ilog2().into(), self.ring.modulus()).into();
        a.par_iter_mut().try_for_each(|a| self.ring.mul_integer_assign(a, &inverse))?;
        self.sums.forward(a)
    }

    /// Applies an automorphism to a ciphertext (c_0, c_1), of which c_0 may be 0, by one key switch or two.
    fn automorphism(
        &self,
        [c0, c1]: [Option<&Poly<Evaluation>>; 2],
        exponent: u64,
    ) -> Result<[Poly<Evaluation>; 2], RlweError> {
        let level = self.ring.level();
        let zero = || self.ring.zero();
        let mut parts = [c0.cloned(), c1.cloned()];
        for factor in self.transposition.factors(exponent, self.keys)? {
            let [c0, Some(c1)] = &parts else { break };
            if factor != 1 {
                let (input, added) = (SwitchInput::Values(c1), Addends::Values([c0.as_ref(), None]));
                let key = self.keys.get(factor)?;
                parts = key.switch(self.context, [level, level], input, added, factor)?.map(Some);
            }
        }
        Ok(parts.map(|part| part.unwrap_or_else(zero)))
    }

    /// The noise that the key switches of one row add: those of all d automorphisms, whatever they depend on.
    fn noise(&self) -> Result<NoiseTerm, RlweError> {
        let switch = galois::added_noise_at(self.context, self.ring.level())?;
        let direct = self.transposition.exponents().all(|exponent| self.keys.get(exponent).is_ok());
        let switches = if direct { 1 } else { 2 } * self.transposition.size;
        Ok(switch.scaled(Log2::of(switches as f64)))
    }

    /// Brings Sᵀ·(T + T′·S) to rows under s, of three parts, for rows of T and T′.
    fn turned(&self, lists: [Vec<Poly<Evaluation>>; 2]) -> Result<Lists, RlweError> {
        let [first, second] = lists;
        let [first, second] = [self.divided_sums(first)?, self.divided_sums(second)?];
        let switch = |(e, (first, second)): (usize, (&Poly<Evaluation>, &Poly<Evaluation>))| {
            let exponent = self.transposition.exponent(e);
            let back = self.transposition.inverse(exponent)?;
            let image = |v: &Poly<Evaluation>| {
                let u = self.ring.automorphism(v, back)?;
                self.automorphism([None, Some(&u)], exponent)
            };
            let ([c0, mut c1], [d1, d2]) = (image(first)?, image(second)?);
            self.ring.add_assign(&mut c1, &d1)?;
            Ok::<_, RlweError>([c0, c1, d2])
        };
        let pairs = first.par_iter().zip(&second).enumerate();
        let switched: Vec<[Poly<Evaluation>; 3]> = pairs.map(switch).collect::<Result<_, _>>()?;
        drop((first, second));
        self.gathered(switched)
    }

    /// Sums images under all σ to rows, part by part.
    fn gathered<const PARTS: usize>(
        &self,
        images: Vec<[Poly<Evaluation>; PARTS]>,
    ) -> Result<Lists, RlweError> {
        let mut lists: Lists = (0..PARTS).map(|_| Vec::with_capacity(images.len())).collect();
        for image in images {
            lists.iter_mut().zip(image).for_each(|(list, part)| list.push(part));
        }
        lists.into_iter().map(|list| Ok(self.sums.backward(list)?)).collect()
    }
}

impl<S: Homomorphic> Evaluator<S> {
    /// Multiplies a matrix whose columns are encrypted by a matrix whose rows are: row i of the product is Σ_k m_ik·row_k,
    /// where m_ik is the coefficient of X^i of `left[k]` over the subring of X^d, for d of `size`. Rows have three
    /// parts, to be relinearised. `carry` returns what they carry; for schemes.
    ///
    /// # Errors
    /// The scheme's error `Empty` without rows; [`RlweError::Ring`] for a size that is no power of two from 64 to n,
    /// and for lists of different lengths; [`RlweError::WrongPartCount`] unless all have two parts; the scheme's error for a
    /// missing key of [`Transposition`]; [`RlweError::KeyMismatch`]; [`RlweError::Memory`]; every error of
    /// [`add`](Self::add) and of `carry`.
    pub fn multiply_encrypted(
        &self,
        size: usize,
        [left, right]: [&[&Ciphertext<S>]; 2],
        keys: &GaloisKeys,
        carry: impl Fn(&MatrixFactors<S>) -> Result<(S::Metadata, NoiseBound), S::Error>,
    ) -> Result<Vec<Ciphertext<S>>, S::Error> {
        let Some(first) = left.first() else { return Err(S::empty("a product of matrices")) };
        first.check_key(keys.id(), "the Galois key set")?;
        let all: Vec<&Ciphertext<S>> = left.iter().chain(right).copied().collect();
        self.require_rows(size, 12, first)?;
        let all = self.aligned_rows(first, &all, MULTIPLY)?;
        first.two_parts(MULTIPLY)?;
        let (left, right) = all.split_at(left.len());
        let ring = self.ring_of(all.first().ok_or_else(|| S::empty("a product of matrices"))?)?;
        let switches = Switches::new(S::rlwe(self.context()), ring, size, keys).map_err(S::missing_key)?;
        let noise = switches.noise()?;
        let secret = switches.context.noise_model().secret_norm();
        let factors = MatrixFactors {
            left: self.common_row(left, MULTIPLY)?,
            right: self.common_row(right, MULTIPLY)?,
            terms: left.len(),
            switching: noise.scaled(Log2::of(1.0 + secret)),
        };
        // What a row of the result carries is refused before any work.
        let (metadata, noise) = carry(&factors)?;
        let [ours, theirs] = [lists(left), lists(right)];
        let mut products =
            switches.ring.block_products(size, &ours, &theirs, switches.ring.level())?.into_iter();
        let mut next = || products.next().unwrap_or_default();
        let (sums, turned) = ([next(), next()], [next(), next()]);
        let mut parts = switches.turned(turned).map_err(S::missing_key)?;
        for (list, sums) in parts.iter_mut().zip(&sums) {
            list.iter_mut().zip(sums).try_for_each(|(a, b)| switches.ring.add_assign(a, b))?;
        }
        self.rows_of(parts, &metadata, noise, (MULTIPLY, &all))
    }

    /// Transposes a matrix of `size` rows: the coefficient of X^j over the subring of X^d of `rows[i]` is that of X^i of
    /// row j of the result. `carry` returns what rows carry, from what all rows share and the noise of the key
    /// switches; for schemes.
    ///
    /// # Errors
    /// [`RlweError::Ring`] unless there are `size` rows; every other error of
    /// [`multiply_encrypted`](Self::multiply_encrypted).
    pub fn transposed(
        &self,
        size: usize,
        rows: &[&Ciphertext<S>],
        keys: &GaloisKeys,
        carry: impl Fn(&CommonRow<S>, NoiseTerm) -> Result<(S::Metadata, NoiseBound), S::Error>,
    ) -> Result<Vec<Ciphertext<S>>, S::Error> {
        let Some(first) = rows.first() else { return Err(S::empty("a transposition")) };
        first.check_key(keys.id(), "the Galois key set")?;
        if rows.len() != size {
            let what = "rows of a matrix to be transposed";
            return Err(RingError::LengthMismatch { what, expected: size, got: rows.len() }.into());
        }
        self.require_rows(size, 6, first)?;
        let rows = self.aligned_rows(first, rows, TRANSPOSE)?;
        first.two_parts(TRANSPOSE)?;
        let ring = self.ring_of(rows.first().ok_or_else(|| S::empty("a transposition"))?)?;
        let switches = Switches::new(S::rlwe(self.context()), ring, size, keys).map_err(S::missing_key)?;
        let (metadata, noise) = carry(&self.common_row(&rows, TRANSPOSE)?, switches.noise()?)?;
        let part = |at| {
            let list = rows.iter().filter_map(|row| row.parts().get(at)).cloned().collect();
            switches.divided_sums(list)
        };
        let (first, second) = (part(0)?, part(1)?);
        // Image σ comes from the sum of 1/σ, to which σ is applied.
        let image = |e: usize| {
            let exponent = switches.transposition.exponent(e);
            let from = switches.transposition.number(switches.transposition.inverse(exponent)?);
            switches.automorphism([first.get(from), second.get(from)], exponent)
        };
        let images: Result<Vec<_>, RlweError> = (0..size).into_par_iter().map(image).collect();
        let parts = images.and_then(|images| switches.gathered(images)).map_err(S::missing_key)?;
        self.rows_of(parts, &metadata, noise, (TRANSPOSE, &rows))
    }

    /// Fails unless the machine has memory for a number of polynomials for each row.
    fn require_rows(&self, size: usize, polys: u64, first: &Ciphertext<S>) -> Result<(), S::Error> {
        let one = first.parts().iter().map(|part| part.byte_len() as u64).max().unwrap_or(0);
        Ok(memory::require(one.saturating_mul(size as u64).saturating_mul(polys))?)
    }

    /// Makes the rows of a result from lists of parts.
    fn rows_of(
        &self,
        parts: Lists,
        metadata: &S::Metadata,
        noise: NoiseBound,
        (operation, operands): (&'static str, &[Cow<'_, Ciphertext<S>>]),
    ) -> Result<Vec<Ciphertext<S>>, S::Error> {
        let Some(first) = operands.first() else { return Err(S::empty(operation)) };
        let trace = Trace::joined(operands.iter().map(|row| row.trace()));
        let count = parts.first().map_or(0, Vec::len);
        let mut rows: Vec<Vec<Poly<Evaluation>>> = (0..count).map(|_| Vec::with_capacity(3)).collect();
        for list in parts {
            rows.iter_mut().zip(list).for_each(|(row, part)| row.push(part));
        }
        let row = |parts| {
            let row = Ciphertext::from_parts(parts, metadata.clone(), noise, first.key())?;
            self.finish(row, operation, &[&trace])
        };
        rows.into_iter().map(row).collect()
    }
}

/// The first parts of rows, and the second parts.
fn lists<'a, S: Homomorphic>(rows: &'a [Cow<'_, Ciphertext<S>>]) -> Vec<Vec<&'a Poly<Evaluation>>> {
    let list = |part| rows.iter().filter_map(|row| row.parts().get(part)).collect();
    (0..2).map(list).collect()
}
