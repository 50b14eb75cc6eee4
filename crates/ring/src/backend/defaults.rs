//! Operations of a storage computed by others: the default methods of [`Backend`], unless a storage knows a faster
//! form.

use std::sync::Arc;

use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::ToPrimitive;
use rand_core::CryptoRng;
use sunzi_kernels::IntegerMatrix;
use sunzi_math::{Integers, RingIndex};
use zeroize::{Zeroize, Zeroizing};

use super::{Backend, Factors};
use crate::error::check_monomial;
use crate::poly_matrix::{MatrixContent, check_sides};
use crate::sampling::ternary;
use crate::{Coefficient, Evaluation, PackedPoly, Poly, PolyMatrix, Representation, Residues, RingError};

/// Does [`Backend::masked`] polynomial by polynomial.
pub fn by_polynomials<R: Backend + ?Sized>(
    ring: &R,
    parts: [&Poly<Evaluation>; 2],
    message: Option<&Poly<Coefficient>>,
    level: usize,
    rng: &mut dyn CryptoRng,
) -> Result<[Poly<Evaluation>; 2], RingError> {
    let coefficients = ternary(ring.degree(), rng)?;
    let u = Zeroizing::new(ring.to_evaluation(ring.from_signed(&coefficients)?)?);
    let mut mask = |part: &Poly<Evaluation>, message: Option<&Poly<Coefficient>>| {
        // The part is secret: before its errors are added it would reveal u.
        let mut masked = Zeroizing::new(part.clone());
        ring.mul_assign(&mut masked, &u)?;
        let mut error = Zeroizing::new(ring.error(rng)?);
        message.map_or(Ok(()), |message| ring.add_assign(&mut error, message))?;
        ring.mod_switch_sum(&masked, &error, level)
    };
    let [first, second] = parts;
    Ok([mask(first, message)?, mask(second, None)?])
}

/// Checks the factors d and `rest` of a modulus switch: that d·rest divides the last modulus and that a
/// modulus is left; returns the level of the result.
pub(crate) fn check_factors(last: u64, level: usize, d: u64, rest: u64) -> Result<usize, RingError> {
    let divides = d.checked_mul(rest).is_some_and(|product| product > 0 && last.is_multiple_of(product));
    let left = if rest > 1 { level } else { level.saturating_sub(1) };
    if divides && d > 1 && left > 0 {
        return Ok(left);
    }
    let expected =
        format_args!("a factor of the last modulus, {last}, beside {rest}, with another modulus left");
    Err(RingError::out_of_range("factor", expected, d))
}

/// Does [`Backend::mul_add_restricted`] by a product and a sum.
pub(super) fn mul_add_restricted<R: Backend + ?Sized>(
    ring: &R,
    [a, b, c]: [&Poly<Evaluation>; 3],
    level: usize,
) -> Result<Poly<Evaluation>, RingError> {
    let mut product = Zeroizing::new(Poly::from(ring.restrict(a, level)?));
    ring.mul_restricted_assign(&mut product, b)?;
    let mut sum = Poly::from(ring.restrict(c, level)?);
    ring.at_level(level)?.add_assign(&mut sum, &product)?;
    Ok(sum)
}

/// Does [`Backend::mod_raise`] by integers.
pub(super) fn mod_raise<R: Backend + ?Sized>(
    ring: &R,
    a: &Poly<Evaluation>,
) -> Result<Poly<Evaluation>, RingError> {
    let own = ring.at_level(ring.level_of(a)?)?;
    let integers = own.to_integers(&own.to_coefficient(a.clone())?)?;
    ring.to_evaluation(ring.from_integers(&integers)?)
}

/// Does [`Backend::add_integer_assign`] by a transform of the constant polynomial.
pub(super) fn add_integer<R: Backend + ?Sized>(
    ring: &R,
    a: &mut Poly<Evaluation>,
    c: &BigInt,
) -> Result<(), RingError> {
    let mut coefficients = vec![BigInt::ZERO; ring.degree()];
    coefficients.iter_mut().take(1).for_each(|constant| constant.clone_from(c));
    let added = ring.to_evaluation(ring.from_integers(&coefficients)?)?;
    ring.add_assign(a, &added)
}

/// Does [`Backend::mul_add_assign`] by a product and a sum.
pub(super) fn mul_add<R: Backend + ?Sized>(
    ring: &R,
    acc: &mut Poly<Evaluation>,
    [a, b]: [&Poly<Evaluation>; 2],
) -> Result<(), RingError> {
    let mut product = a.clone();
    ring.mul_assign(&mut product, b)?;
    ring.add_assign(acc, &product)
}

/// Does [`Backend::sum`] by additions.
pub(super) fn sum<R: Backend + ?Sized>(
    ring: &R,
    representation: Representation,
    polys: &[&Residues],
) -> Result<Residues, RingError> {
    let mut sum = ring.zero(representation);
    polys.iter().try_for_each(|poly| ring.add_assign(&mut sum, poly))?;
    Ok(sum)
}

/// Does [`Backend::packed_combination`] by [`Backend::linear_combination`].
pub(super) fn packed_combination<R: Backend + ?Sized>(
    ring: &R,
    terms: &[(&BigInt, &Poly<Evaluation>)],
) -> Result<PackedPoly, RingError> {
    let terms: Vec<(&BigInt, &Residues)> = terms.iter().map(|&(c, a)| (c, &**a)).collect();
    let sum = ring.linear_combination(&terms, ring.level(), Representation::Values)?;
    ring.packed(&Zeroizing::new(sum.into()))
}

/// Does [`Backend::sum_packed`] polynomial by polynomial.
pub(super) fn sum_packed<R: Backend + ?Sized>(
    ring: &R,
    packed: &[&PackedPoly],
    plus: Option<&Poly<Evaluation>>,
) -> Result<Poly<Evaluation>, RingError> {
    let parts = packed.iter().map(|part| ring.unpacked(part)).collect::<Result<Vec<_>, _>>()?;
    let terms: Vec<&Residues> = parts.iter().chain(plus).map(|poly| &**poly).collect();
    Ok(ring.sum(Representation::Values, &terms)?.into())
}

/// Does [`Backend::add_linear_combination_assign`] term by term.
pub(super) fn add_linear_combination<R: Backend + ?Sized>(
    ring: &R,
    a: &mut Residues,
    terms: &[(&BigInt, &Residues)],
) -> Result<(), RingError> {
    let level = ring.level_of(a)?;
    let own = ring.at_level(level)?;
    let lowered: Result<Vec<_>, RingError> =
        terms.iter().map(|(_, term)| ring.restrict(term, level)).collect();
    for ((c, _), mut term) in terms.iter().zip(lowered?) {
        own.mul_integer_assign(&mut term, c)?;
        own.add_assign(a, &term)?;
    }
    Ok(())
}

/// Does [`Backend::divide_by_factor`] coefficient by coefficient.
pub(super) fn divide_integers<R: Backend + ?Sized>(
    ring: &R,
    a: &Poly<Evaluation>,
    d: u64,
    rest: u64,
) -> Result<Poly<Evaluation>, RingError> {
    let level = ring.level_of(a)?;
    let own = ring.at_level(level)?;
    let last = match level {
        1 => own.modulus().clone(),
        _ if !ring.is_nested(level - 1, level) => {
            return Err(RingError::NotNested { level: level - 1, within: level });
        }
        _ => own.modulus() / ring.at_level(level - 1)?.modulus(),
    };
    let left = check_factors(last.to_u64().unwrap_or(0), level, d, rest)?;
    let divisor = BigInt::from(d);
    let divide = |x: BigInt| {
        let remainder = x.mod_floor(&divisor);
        let centred = if &remainder * 2_u8 > divisor { remainder - &divisor } else { remainder };
        (x - centred) / &divisor
    };
    let coefficients = own.to_integers(&own.to_coefficient(a.clone())?)?;
    let quotients: Vec<BigInt> = coefficients.into_iter().map(divide).collect();
    let target = ring.at_level(left)?;
    target.to_evaluation(target.from_integers(&quotients)?)
}

/// Does [`Backend::matrix_product`] row by row.
pub(super) fn matrix_product<R: Backend + ?Sized>(
    ring: &R,
    matrix: &IntegerMatrix,
    polys: &[&Residues],
    level: usize,
    representation: Representation,
) -> Result<Vec<Residues>, RingError> {
    check_columns(matrix, polys.len())?;
    let row = |i| {
        let factors: Vec<BigInt> = matrix.row(i).unwrap_or_default().into_iter().map(BigInt::from).collect();
        let terms: Vec<(&BigInt, &Residues)> = factors.iter().zip(polys.iter().copied()).collect();
        ring.linear_combination(&terms, level, representation)
    };
    (0..matrix.rows()).map(row).collect()
}

/// Checks that there is a polynomial for each column of a matrix.
pub(crate) fn check_columns(matrix: &IntegerMatrix, got: usize) -> Result<(), RingError> {
    let expected = matrix.columns();
    if got == expected {
        return Ok(());
    }
    Err(RingError::LengthMismatch { what: "polynomials, one for each column of a matrix", expected, got })
}

/// Does [`Backend::block_products`] term by term.
pub(super) fn block_products<R: Backend + ?Sized>(
    ring: &R,
    size: usize,
    lists: [&[Vec<&Poly<Evaluation>>]; 2],
    level: usize,
) -> Result<Vec<Vec<Poly<Evaluation>>>, RingError> {
    check_blocks(ring.ring_index(), size, lists)?;
    let [left, right] = lists;
    let target = ring.at_level(level)?;
    let lower = |poly: &Poly<Evaluation>| ring.restrict(poly, level).map(Poly::<Evaluation>::from);
    let zeros = || (0..size).map(|_| target.zero(Representation::Values).into()).collect();
    let mut products: Vec<Vec<Poly<Evaluation>>> = (0..left.len() * right.len()).map(|_| zeros()).collect();
    for (left, products) in left.iter().zip(products.chunks_mut(right.len())) {
        for (k, left) in left.iter().enumerate() {
            let coefficients = target.to_integers(&target.to_coefficient(lower(left)?)?)?;
            for i in 0..size {
                let mut only = vec![BigInt::ZERO; ring.degree()];
                let ours = coefficients.iter().skip(i).step_by(size);
                only.iter_mut().step_by(size).zip(ours).for_each(|(to, from)| to.clone_from(from));
                let only = target.to_evaluation(target.from_integers(&only)?)?;
                for (right, products) in right.iter().zip(products.iter_mut()) {
                    let (Some(right), Some(sum)) = (right.get(k), products.get_mut(i)) else { continue };
                    target.mul_add_assign(sum, &only, &lower(right)?)?;
                }
            }
        }
    }
    Ok(products)
}

/// Checks that a ring has the subring of X^d, for d of `size`, over which polynomials are lists of d numbers.
///
/// # Errors
/// [`RingError::OutOfRange`] unless the ring is a whole one whose index is a power of two, and d is one from 64 to n.
pub fn check_subring(index: &RingIndex, size: usize) -> Result<(), RingError> {
    /// Values of fewer neighbours do not stand next to each other.
    const LEAST: usize = 64;
    let (n, whole) = (index.degree(), index.is_power_of_two() && !index.is_real());
    if whole && size.is_power_of_two() && (LEAST..=n).contains(&size) {
        return Ok(());
    }
    let expected = format_args!("a power of two from {LEAST} to n = {n}, in a whole ring whose index is one");
    Err(RingError::out_of_range("size of an encrypted matrix", expected, size))
}

/// Checks the lists of [`Backend::block_products`].
pub(crate) fn check_blocks(
    index: &RingIndex,
    size: usize,
    [left, right]: [&[Vec<&Poly<Evaluation>>]; 2],
) -> Result<(), RingError> {
    check_subring(index, size)?;
    let what = "polynomials of a product of matrices";
    if left.is_empty() || right.is_empty() {
        return Err(RingError::LengthMismatch { what: "lists of polynomials", expected: 1, got: 0 });
    }
    let expected = left.first().map_or(0, Vec::len).max(1);
    match left.iter().chain(right).map(Vec::len).find(|&got| got != expected) {
        Some(got) => Err(RingError::LengthMismatch { what, expected, got }),
        None => Ok(()),
    }
}

/// Multiplies a by a monomial, a ← a·X^k, by the values of X^k.
pub(crate) fn multiply_by_values<R: Backend + ?Sized>(
    ring: &R,
    a: &mut Poly<Evaluation>,
    exponent: u64,
) -> Result<(), RingError> {
    let index = ring.ring_index();
    check_monomial(exponent, index)?;
    let (position, negative) = index.redundant_position(exponent % index.value());
    let mut coefficients = vec![0; index.redundant_len()];
    if let Some(entry) = coefficients.get_mut(position) {
        *entry = if negative { -1 } else { 1 };
    }
    index.fold(&Integers::new(), &mut coefficients)?;
    ring.mul_assign(a, &ring.to_evaluation(ring.from_signed(&coefficients)?)?)
}

/// Does [`Backend::mod_switch_sum`] by a transform.
pub(super) fn mod_switch_sum<R: Backend + ?Sized>(
    ring: &R,
    a: &Poly<Evaluation>,
    b: &Poly<Coefficient>,
    level: usize,
) -> Result<Poly<Evaluation>, RingError> {
    let own = ring.at_level(ring.level_of(a)?)?;
    // The sum is secret: it holds the errors and the message of an encryption.
    let mut sum = Zeroizing::new(a.clone());
    own.add_assign(&mut sum, &Zeroizing::new(own.to_evaluation(b.clone())?))?;
    ring.mod_switch(&sum, level)
}

/// Does [`Backend::tensor`] product by product.
pub(super) fn tensor<R: Backend + ?Sized>(
    ring: &R,
    [a0, a1]: [&Poly<Evaluation>; 2],
    [b0, b1]: [&Poly<Evaluation>; 2],
    t: u64,
) -> Result<[Poly<Evaluation>; 3], RingError> {
    let (mut c0, mut c2) = (a0.clone(), a1.clone());
    ring.mul_integer_assign(&mut c0, &t.into())?;
    ring.mul_integer_assign(&mut c2, &t.into())?;
    let mut c1 = c0.clone();
    ring.mul_assign(&mut c1, b1)?;
    ring.mul_add_assign(&mut c1, &c2, b0)?;
    ring.mul_assign(&mut c0, b0)?;
    ring.mul_assign(&mut c2, b1)?;
    Ok([c0, c1, c2])
}

/// Does [`Backend::error_sample`] product by product.
pub(super) fn error_sample<R: Backend + ?Sized>(
    ring: &R,
    products: &[[&Poly<Evaluation>; 2]],
    errors: u32,
    negated: bool,
    rng: &mut dyn CryptoRng,
) -> Result<Poly<Evaluation>, RingError> {
    let mut error = ring.error(rng)?;
    for _ in 1..errors {
        let more = ring.error(rng).map(Zeroizing::new);
        if let Err(failed) = more.and_then(|more| ring.add_assign(&mut error, &more)) {
            error.zeroize();
            return Err(failed);
        }
    }
    let mut sample = ring.to_evaluation(error)?;
    let mut done = products.iter().try_for_each(|[a, b]| ring.mul_add_assign(&mut sample, a, b));
    if negated {
        done = done.and_then(|()| ring.neg_assign(&mut sample));
    }
    if let Err(failed) = done {
        sample.zeroize();
        return Err(failed);
    }
    Ok(sample)
}

/// Does [`Backend::inner_products`] product by product.
pub(super) fn inner_products<R: Backend + ?Sized>(
    ring: &R,
    lists: &[Factors<'_>],
    level: usize,
) -> Result<Vec<Poly<Evaluation>>, RingError> {
    let own = ring.at_level(level)?;
    let restrict = |a: &Poly<Evaluation>| ring.restrict(a, level).map(Poly::from);
    let sum = |list: &Factors<'_>| {
        list.iter().try_fold(own.zero(Representation::Values).into(), |mut sum, [a, b]| {
            own.mul_add_assign(&mut sum, &restrict(a)?, &restrict(b)?)?;
            Ok(sum)
        })
    };
    lists.iter().map(sum).collect()
}

/// Does [`Backend::sum_of_tensors`] by [`Backend::inner_products`].
pub(super) fn sum_of_tensors<R: Backend + ?Sized>(
    ring: &R,
    pairs: &[[[&Poly<Evaluation>; 2]; 2]],
    t: u64,
    level: usize,
) -> Result<[Poly<Evaluation>; 3], RingError> {
    if let [[a, b]] = pairs {
        return ring.tensor_at(*a, *b, t, level);
    }
    let first = pairs.iter().map(|[[a0, _], [b0, _]]| [*a0, *b0]).collect();
    let last = pairs.iter().map(|[[_, a1], [_, b1]]| [*a1, *b1]).collect();
    let crossed = pairs.iter().flat_map(|[[a0, a1], [b0, b1]]| [[*a0, *b1], [*a1, *b0]]).collect();
    let mut sums = ring.inner_products(&[first, crossed, last], level)?;
    if t != 1 {
        let ring = ring.at_level(level)?;
        sums.iter_mut().try_for_each(|sum| ring.mul_integer_assign(sum, &t.into()))?;
    }
    let (expected, got) = (3, sums.len());
    sums.try_into().map_err(|_| RingError::LengthMismatch { what: "sums", expected, got })
}

/// Does [`Backend::poly_matrix`] by polynomials as they are.
pub(super) fn poly_matrix<R: Backend + ?Sized>(
    ring: &R,
    rows: usize,
    columns: usize,
) -> Result<PolyMatrix, RingError> {
    let count = check_sides(rows, columns)?;
    let (ring, zero) = (ring.at_level(ring.level())?, ring.zero(Representation::Values).into());
    Ok(PolyMatrix::new(rows, columns, Polynomials { polys: vec![zero; count], ring, rows }))
}

/// Elements of a matrix as polynomials, column by column.
struct Polynomials {
    ring: Arc<dyn Backend>,
    rows: usize,
    polys: Vec<Poly<Evaluation>>,
}

impl MatrixContent for Polynomials {
    fn set(&mut self, row: usize, column: usize, a: &Poly<Evaluation>) -> Result<(), RingError> {
        self.ring.check(a)?;
        if let Some(element) = self.polys.get_mut(column * self.rows + row) {
            *element = a.clone();
        }
        Ok(())
    }

    fn products(
        &self,
        vectors: &[&[&Poly<Evaluation>]],
        level: usize,
    ) -> Result<Vec<Poly<Evaluation>>, RingError> {
        let columns = self.polys.chunks(self.rows.max(1));
        let mut lists: Vec<Factors<'_>> = Vec::new();
        for vector in vectors {
            for column in columns.clone() {
                lists.push(vector.iter().zip(column).map(|(a, m)| [*a, m]).collect());
            }
        }
        self.ring.inner_products(&lists, level)
    }

    fn byte_len(&self) -> usize {
        self.polys.iter().map(|poly| poly.byte_len()).sum()
    }

    fn erase(&mut self) {
        self.polys.iter_mut().for_each(Zeroize::zeroize);
    }
}
