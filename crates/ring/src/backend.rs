//! The interface [`Backend`]: what rings need of a storage of residues.

mod defaults;

pub use defaults::{by_polynomials, check_subring};
pub(crate) use defaults::{check_blocks, check_columns, check_factors, multiply_by_values};

use std::any::Any;
use std::fmt::Debug;
use std::sync::Arc;

use num_bigint::{BigInt, BigUint};
use num_traits::ToPrimitive;
use rand_core::CryptoRng;
use sunzi_kernels::IntegerMatrix;
use sunzi_math::{CoefficientBasis, RingIndex};

use crate::poly::{Coefficient, Evaluation, Poly, Representation, Residues};
use crate::{Expansion, PackedPoly, PackingError, PolyMatrix, RingError, packing, sampling};

/// Factors of the terms of a sum of products of polynomials.
pub type Factors<'a> = Vec<[&'a Poly<Evaluation>; 2]>;

/// Ring R_q = Z_q\[X\]/Φ_m(X) over some storage of residues: the methods that [`Ring`](crate::Ring) hands on,
/// polynomial by polynomial. A new storage implements the methods that have no body, and others where it knows a
/// faster form.
///
/// Every method that takes a polynomial checks that it belongs to this ring and answers
/// [`RingError::ShapeMismatch`] or, for another ring of the same shape, [`RingError::OtherModulus`];
/// none panics. Methods on [`Residues`] are those of both domains: operands and results of one call have the same.
#[expect(
    clippy::wrong_self_convention,
    reason = "conversions into a ring need its tables: ring.from_signed(..) makes a polynomial"
)]
pub trait Backend: Any + Debug + Send + Sync {
    /// The ring index m of the ring with its prime powers, and the order of coefficients.
    fn ring_index(&self) -> &RingIndex;
    /// The basis of coefficients, by which encoders of general slots and polynomials in the clear are computed.
    fn coefficient_basis(&self) -> CoefficientBasis {
        CoefficientBasis::Powerful
    }
    /// The ring index m of the ring.
    fn index(&self) -> u64 {
        self.ring_index().value()
    }
    /// The degree n = φ(m), which is the number of coefficients of a polynomial.
    fn degree(&self) -> usize {
        self.ring_index().degree()
    }
    /// The modulus q of the ring.
    fn modulus(&self) -> &BigUint;
    /// Factors by which sizes of elements grow in this ring and in the basis of its coefficient form.
    fn expansion(&self) -> Expansion {
        Expansion::new(self.ring_index()).unwrap_or_else(|_| self.degree().into())
    }

    /// Whether polynomials take the memory of their residues: a ring that stores nothing makes keys that no machine could hold.
    fn stores_residues(&self) -> bool {
        true
    }

    /// Factor by which rounding errors of a stored polynomial grow in the polynomial itself, above 1 where it is stored times a unit `[BEHMSZ17, Lemma 3]`.
    fn rounding_growth(&self) -> f64 {
        1.0
    }

    /// The highest level k: q = Q_k. The ring at level l < k is R modulo Q_l. In most rings Q_l = q_1⋯q_l, the product of the first l moduli; levels may also be
    /// products of other sets of them, where Q_l need not divide Q_(l+1): see [`is_nested`](Self::is_nested).
    fn level(&self) -> usize;
    /// Whether level `lower` exists and its modulus divides that of level `higher`: then a polynomial of the higher level can be taken modulo the lower one.
    fn is_nested(&self, lower: usize, higher: usize) -> bool {
        (1..=higher).contains(&lower) && higher <= self.level()
    }
    /// The ring at a lower level, or this ring itself. Tables are shared and made at first use.
    ///
    /// # Errors
    /// [`RingError::NoSuchLevel`] for 0 and above [`level`](Self::level).
    fn at_level(&self, level: usize) -> Result<Arc<dyn Backend>, RingError>;
    /// Checks that a polynomial belongs to this ring, at its own level.
    ///
    /// # Errors
    /// [`RingError::ShapeMismatch`] for a polynomial of another shape; [`RingError::OtherModulus`] for one modulo another modulus.
    fn check(&self, a: &Residues) -> Result<(), RingError>;
    /// The level of a polynomial of this ring, which may be any level.
    ///
    /// # Errors
    /// [`RingError::ShapeMismatch`] or [`RingError::OtherModulus`] for a polynomial of no level.
    fn level_of(&self, a: &Residues) -> Result<usize, RingError>;
    /// Reduces a modulo Q_l, for a of any level from l.
    ///
    /// # Errors
    /// [`RingError::ShapeMismatch`]; [`RingError::NoSuchLevel`] above the level of a; [`RingError::NotNested`].
    fn restrict(&self, a: &Residues, level: usize) -> Result<Residues, RingError>;
    /// Multiplies a by a key b, modulo Q_l: a ← a·b for a of level l and b of any level from l.
    ///
    /// # Errors
    /// [`RingError::ShapeMismatch`]; [`RingError::NoSuchLevel`] for b below the level of a; [`RingError::NotNested`].
    fn mul_restricted_assign(&self, a: &mut Poly<Evaluation>, b: &Poly<Evaluation>) -> Result<(), RingError> {
        let level = self.level_of(a)?;
        self.at_level(level)?.mul_assign(a, &self.restrict(b, level)?.into())
    }
    /// Returns a·b + c modulo Q_l, for polynomials of any level from l: a step of Horner's rule in a secret.
    ///
    /// # Errors
    /// [`RingError::ShapeMismatch`]; [`RingError::NoSuchLevel`] for a level below l; [`RingError::NotNested`].
    fn mul_add_restricted(
        &self,
        a: &Poly<Evaluation>,
        b: &Poly<Evaluation>,
        c: &Poly<Evaluation>,
        level: usize,
    ) -> Result<Poly<Evaluation>, RingError> {
        defaults::mul_add_restricted(self, [a, b, c], level)
    }
    /// Modulus switching: a·Q_l/Q_j rounded to the nearest integers, for a of level j ≥ l, nested or not. Exact where one modulus is dropped; where several are,
    /// quotients within 2^-40 of a half may be rounded either way.
    ///
    /// # Errors
    /// [`RingError::ShapeMismatch`]; [`RingError::NoSuchLevel`] above the level of a.
    fn mod_switch(&self, a: &Poly<Evaluation>, level: usize) -> Result<Poly<Evaluation>, RingError>;
    /// Does [`mod_switch`](Self::mod_switch) for several polynomials at once: few moduli of one polynomial leave threads idle.
    ///
    /// # Errors
    /// Every error of [`mod_switch`](Self::mod_switch).
    fn mod_switch_all(
        &self,
        polys: &[&Poly<Evaluation>],
        level: usize,
    ) -> Result<Vec<Poly<Evaluation>>, RingError> {
        polys.iter().map(|a| self.mod_switch(a, level)).collect()
    }
    /// Does [`mod_switch`](Self::mod_switch) of a + b for b in coefficient form, which costs no transforms of its own.
    ///
    /// # Errors
    /// Every error of [`mod_switch`](Self::mod_switch), also where a and b have different levels.
    fn mod_switch_sum(
        &self,
        a: &Poly<Evaluation>,
        b: &Poly<Coefficient>,
        level: usize,
    ) -> Result<Poly<Evaluation>, RingError> {
        defaults::mod_switch_sum(self, a, b, level)
    }
    /// Encrypts m under a public key (p_0, p_1): returns (p_0·u + e_0 + m, p_1·u + e_1), switched to a level as
    /// [`mod_switch`](Self::mod_switch) does, for ternary u and errors that are drawn from `rng`.
    ///
    /// # Errors
    /// Every error of [`mod_switch`](Self::mod_switch) and [`error`](Self::error).
    fn masked(
        &self,
        parts: [&Poly<Evaluation>; 2],
        message: Option<&Poly<Coefficient>>,
        level: usize,
        rng: &mut dyn CryptoRng,
    ) -> Result<[Poly<Evaluation>; 2], RingError> {
        by_polynomials(self, parts, message, level, rng)
    }
    /// Switches the modulus within a word, for a last modulus that is a product of primes `[KPZ21, Remark 5.1]`: (a −
    /// \[a\]_d)/d for d a factor of the last modulus of a and \[a\]_d centred. The result is right modulo all other
    /// moduli and modulo the factor `rest` of the last; with `rest` = 1 it lacks the last modulus.
    ///
    /// # Errors
    /// [`RingError::ShapeMismatch`]; [`RingError::OutOfRange`] unless d·`rest` divides the last modulus, is coprime to the
    /// others, and `rest` above 1 or another modulus is left.
    fn divide_by_factor(
        &self,
        a: &Poly<Evaluation>,
        d: u64,
        rest: u64,
    ) -> Result<Poly<Evaluation>, RingError> {
        defaults::divide_integers(self, a, d, rest)
    }
    /// Returns (Q_k/Q_l)·a modulo Q_k for a of level l: the way back up of a message that scales with the modulus.
    ///
    /// # Errors
    /// [`RingError::ShapeMismatch`]; [`RingError::NotNested`] unless Q_l divides Q_k.
    fn scale_up(&self, a: &Poly<Evaluation>) -> Result<Poly<Evaluation>, RingError>;

    /// Raises the modulus, ModRaise [AS19, 3.2]: the centred coefficients of a, of any level l, modulo Q_k. c(s) = m modulo Q_l becomes m + Q_l·I for a small I.
    ///
    /// Result is exact, but for coefficients within 2^-40 of ±1/2 times Q_l, which may be lifted to the other end of the range: |x| ≤ (1/2 + 2^-40)·Q_l.
    ///
    /// # Errors
    /// [`RingError::ShapeMismatch`] for a polynomial of another shape.
    fn mod_raise(&self, a: &Poly<Evaluation>) -> Result<Poly<Evaluation>, RingError> {
        defaults::mod_raise(self, a)
    }

    /// The zero polynomial of the ring.
    fn zero(&self, representation: Representation) -> Residues;
    /// The polynomial with the given small signed coefficients.
    ///
    /// # Errors
    /// [`RingError::LengthMismatch`] unless exactly n coefficients are given.
    fn from_signed(&self, coefficients: &[i64]) -> Result<Poly<Coefficient>, RingError>;
    /// The polynomial with the given signed coefficients of up to 127 bits, reduced modulo q.
    ///
    /// # Errors
    /// [`RingError::LengthMismatch`] unless exactly n coefficients are given.
    fn from_signed_wide(&self, coefficients: &[i128]) -> Result<Poly<Coefficient>, RingError> {
        self.from_integers(&coefficients.iter().map(|&c| c.into()).collect::<Vec<_>>())
    }
    /// The polynomial with the given coefficients, reduced modulo q.
    ///
    /// # Errors
    /// [`RingError::LengthMismatch`] unless exactly n coefficients are given.
    fn from_integers(&self, coefficients: &[BigInt]) -> Result<Poly<Coefficient>, RingError>;
    /// The coefficients of a polynomial as integers in [-q/2, q/2). Slow: for oracles and measurements.
    ///
    /// # Errors
    /// [`RingError::ShapeMismatch`] for a polynomial of another shape.
    fn to_integers(&self, a: &Poly<Coefficient>) -> Result<Vec<BigInt>, RingError>;
    /// The coefficients of a polynomial in [-q/2, q/2) as the nearest floats; within 2^-40 of the middle between two
    /// floats as either, and beyond the range of f64 as ±∞.
    ///
    /// # Errors
    /// [`RingError::ShapeMismatch`] for a polynomial of another shape.
    fn to_floats(&self, a: &Poly<Coefficient>) -> Result<Vec<f64>, RingError> {
        let float = |x: &BigInt| x.to_f64().unwrap_or(f64::NAN);
        Ok(self.to_integers(a)?.iter().map(float).collect())
    }
    /// Draws an error polynomial: independent centred binomial coefficients above this ring (see [`Expansion`]), spherical in the canonical embedding. It is secret: erase it.
    ///
    /// # Errors
    /// [`RingError::OutOfRange`] for more coefficients than can be sampled.
    fn error(&self, rng: &mut dyn CryptoRng) -> Result<Poly<Coefficient>, RingError> {
        self.from_signed(&sampling::spherical_error(self.ring_index(), rng)?)
    }
    /// Returns Σ a_i·b_i + e, or its negative, for e the sum of so many [errors](Self::error). It may be secret: erase it.
    ///
    /// # Errors
    /// [`RingError::ShapeMismatch`] for a polynomial of another shape; every error of [`error`](Self::error).
    fn error_sample(
        &self,
        products: &[[&Poly<Evaluation>; 2]],
        errors: u32,
        negated: bool,
        rng: &mut dyn CryptoRng,
    ) -> Result<Poly<Evaluation>, RingError> {
        defaults::error_sample(self, products, errors, negated, rng)
    }
    /// Draws a polynomial with independent uniform coefficients.
    fn uniform(&self, rng: &mut dyn CryptoRng) -> Poly<Evaluation>;

    /// Changes a polynomial from coefficients to values at the roots of unity.
    ///
    /// # Errors
    /// [`RingError::ShapeMismatch`] for a polynomial of another shape.
    fn to_evaluation(&self, a: Poly<Coefficient>) -> Result<Poly<Evaluation>, RingError>;
    /// Changes a polynomial from values at the roots of unity back to coefficients.
    ///
    /// # Errors
    /// [`RingError::ShapeMismatch`] for a polynomial of another shape.
    fn to_coefficient(&self, a: Poly<Evaluation>) -> Result<Poly<Coefficient>, RingError>;

    /// Adds b to a: a ← a + b.
    ///
    /// # Errors
    /// [`RingError::ShapeMismatch`] for a polynomial of another shape.
    fn add_assign(&self, a: &mut Residues, b: &Residues) -> Result<(), RingError>;
    /// Returns the sum of polynomials in a representation; zero without any.
    ///
    /// # Errors
    /// [`RingError::ShapeMismatch`] for a polynomial of another shape.
    fn sum(&self, representation: Representation, polys: &[&Residues]) -> Result<Residues, RingError> {
        defaults::sum(self, representation, polys)
    }
    /// Subtracts b from a: a ← a − b.
    ///
    /// # Errors
    /// [`RingError::ShapeMismatch`] for a polynomial of another shape.
    fn sub_assign(&self, a: &mut Residues, b: &Residues) -> Result<(), RingError>;
    /// Negates a: a ← −a.
    ///
    /// # Errors
    /// [`RingError::ShapeMismatch`] for a polynomial of another shape.
    fn neg_assign(&self, a: &mut Residues) -> Result<(), RingError>;
    /// Multiplies a by b: a ← a·b.
    ///
    /// # Errors
    /// [`RingError::ShapeMismatch`] for a polynomial of another shape.
    fn mul_assign(&self, a: &mut Poly<Evaluation>, b: &Poly<Evaluation>) -> Result<(), RingError>;
    /// Adds a product to an accumulator: acc ← acc + a·b.
    ///
    /// # Errors
    /// [`RingError::ShapeMismatch`] for a polynomial of another shape.
    fn mul_add_assign(
        &self,
        acc: &mut Poly<Evaluation>,
        a: &Poly<Evaluation>,
        b: &Poly<Evaluation>,
    ) -> Result<(), RingError> {
        defaults::mul_add(self, acc, [a, b])
    }
    /// Returns t·(a_0 + a_1·Y)(b_0 + b_1·Y) as the coefficients of 1, Y and Y².
    ///
    /// # Errors
    /// [`RingError::ShapeMismatch`] for a polynomial of another shape.
    fn tensor(
        &self,
        a: [&Poly<Evaluation>; 2],
        b: [&Poly<Evaluation>; 2],
        t: u64,
    ) -> Result<[Poly<Evaluation>; 3], RingError> {
        defaults::tensor(self, a, b, t)
    }
    /// Does [`tensor`](Self::tensor) modulo Q_l for operands of any levels from l: their residues above level l are not read.
    ///
    /// # Errors
    /// Every error of [`tensor`](Self::tensor); [`RingError::NoSuchLevel`] for an operand below level l;
    /// [`RingError::NotNested`].
    fn tensor_at(
        &self,
        [a0, a1]: [&Poly<Evaluation>; 2],
        [b0, b1]: [&Poly<Evaluation>; 2],
        t: u64,
        level: usize,
    ) -> Result<[Poly<Evaluation>; 3], RingError> {
        let restrict = |a: &Poly<Evaluation>| self.restrict(a, level).map(Poly::from);
        let ([a0, a1], [b0, b1]) = ([restrict(a0)?, restrict(a1)?], [restrict(b0)?, restrict(b1)?]);
        self.at_level(level)?.tensor([&a0, &a1], [&b0, &b1], t)
    }
    /// Returns Σ a_i·b_i modulo Q_l for every list of pairs, for a_i and b_i of any levels from l: residues above
    /// level l are not read. Every sum is reduced once for many terms, and operands that several lists share are read once.
    ///
    /// # Errors
    /// [`RingError::ShapeMismatch`] or [`RingError::OtherModulus`]; [`RingError::NoSuchLevel`] for an operand below level l.
    fn inner_products(
        &self,
        lists: &[Factors<'_>],
        level: usize,
    ) -> Result<Vec<Poly<Evaluation>>, RingError> {
        defaults::inner_products(self, lists, level)
    }
    /// Returns t·Σ (a_0 + a_1·Y)(b_0 + b_1·Y) over pairs of polynomials in Y, modulo Q_l for operands of any levels from l.
    ///
    /// # Errors
    /// Every error of [`tensor_at`](Self::tensor_at).
    fn sum_of_tensors(
        &self,
        pairs: &[[[&Poly<Evaluation>; 2]; 2]],
        t: u64,
        level: usize,
    ) -> Result<[Poly<Evaluation>; 3], RingError> {
        defaults::sum_of_tensors(self, pairs, t, level)
    }
    /// Multiplies a by an integer c: a ← c·a.
    ///
    /// # Errors
    /// [`RingError::ShapeMismatch`] for a polynomial of another shape.
    fn mul_integer_assign(&self, a: &mut Residues, c: &BigInt) -> Result<(), RingError>;
    /// Returns Σ c_i·a_i modulo Q_l for a_i of any levels from l: residues above level l are not read.
    ///
    /// # Errors
    /// [`RingError::ShapeMismatch`] or [`RingError::OtherModulus`]; [`RingError::NoSuchLevel`] for a term below level l; [`RingError::NotNested`].
    fn linear_combination(
        &self,
        terms: &[(&BigInt, &Residues)],
        level: usize,
        representation: Representation,
    ) -> Result<Residues, RingError> {
        let mut sum = self.at_level(level)?.zero(representation);
        self.add_linear_combination_assign(&mut sum, terms)?;
        Ok(sum)
    }
    /// Adds a linear combination to a: a ← a + Σ c_i·a_i for a of level l and a_i of any levels from l. On an error a is not changed.
    ///
    /// # Errors
    /// Every error of [`linear_combination`](Self::linear_combination).
    fn add_linear_combination_assign(
        &self,
        a: &mut Residues,
        terms: &[(&BigInt, &Residues)],
    ) -> Result<(), RingError> {
        defaults::add_linear_combination(self, a, terms)
    }
    /// Returns Σ_k m_ik·a_k modulo Q_l for every row i of a matrix of integers, for a_k of any levels from l: residues above level l are not read.
    ///
    /// # Errors
    /// [`RingError::LengthMismatch`] unless there is a polynomial for each column of the matrix; every error of [`linear_combination`](Self::linear_combination).
    fn matrix_product(
        &self,
        matrix: &IntegerMatrix,
        polys: &[&Residues],
        level: usize,
        representation: Representation,
    ) -> Result<Vec<Residues>, RingError> {
        defaults::matrix_product(self, matrix, polys, level, representation)
    }
    /// Returns Σ_k l_(k,i)·r_k modulo Q_l for every i < d, for every left list l and every right list r in turn: l_(k,i)
    /// is the coefficient of X^i of l_k over the subring of X^d, for d of `size`. With d = n these are the integer coefficients of l_k.
    ///
    /// # Errors
    /// [`RingError::OutOfRange`] unless m and d are powers of two and d is from 64 to n; [`RingError::LengthMismatch`] for lists of different lengths; every error of
    /// [`linear_combination`](Self::linear_combination).
    fn block_products(
        &self,
        size: usize,
        left: &[Vec<&Poly<Evaluation>>],
        right: &[Vec<&Poly<Evaluation>>],
        level: usize,
    ) -> Result<Vec<Vec<Poly<Evaluation>>>, RingError> {
        defaults::block_products(self, size, [left, right], level)
    }
    /// Makes a matrix of zeros, whose products with vectors read it from memory once, from end to end.
    ///
    /// # Errors
    /// [`RingError::OutOfRange`] for a matrix without elements, of more than 4096 rows, or too large for the memory.
    fn poly_matrix(&self, rows: usize, columns: usize) -> Result<PolyMatrix, RingError> {
        defaults::poly_matrix(self, rows, columns)
    }
    /// Adds an integer c to a: a ← a + c, by one addition a value.
    ///
    /// # Errors
    /// [`RingError::ShapeMismatch`] for a polynomial of another shape.
    fn add_integer_assign(&self, a: &mut Poly<Evaluation>, c: &BigInt) -> Result<(), RingError> {
        defaults::add_integer(self, a, c)
    }
    /// Multiplies a by a monomial: a ← a·X^k for any k. Where m is a power of two and k a multiple of n/2 this costs one multiplication a value, X^(n/2) being i = √−1.
    ///
    /// # Errors
    /// [`RingError::ShapeMismatch`] for a polynomial of another shape.
    fn mul_monomial_assign(&self, a: &mut Poly<Evaluation>, exponent: u64) -> Result<(), RingError> {
        multiply_by_values(self, a, exponent)
    }
    /// Applies the automorphism X → X^k: returns a(X^k) for k coprime to m, 0 < k < m.
    ///
    /// # Errors
    /// [`RingError::ShapeMismatch`]; [`RingError::NotAnAutomorphism`] for another k.
    fn automorphism(
        &self,
        a: &Residues,
        representation: Representation,
        k: u64,
    ) -> Result<Residues, RingError>;

    /// Returns the polynomial ⌊q·m/t⌉ of a plaintext m with coefficients in [0, t), rounded per coefficient.
    ///
    /// # Errors
    /// [`RingError::LengthMismatch`]; [`RingError::OutOfRange`] for t < 2, t ≥ 2^62 or a coefficient of t or more.
    fn scale_plaintext(&self, message: &[u64], t: u64) -> Result<Poly<Coefficient>, RingError>;

    /// Packs a polynomial that is read once, as those of keys are.
    ///
    /// # Errors
    /// Every error of [`check`](Self::check).
    fn packed(&self, a: &Poly<Evaluation>) -> Result<PackedPoly, RingError> {
        self.check(a)?;
        Ok(PackedPoly::new(a.clone()))
    }
    /// Returns Σ c_i·a_i for polynomials of this ring, packed: it may be secret.
    ///
    /// # Errors
    /// Every error of [`check`](Self::check).
    fn packed_combination(&self, terms: &[(&BigInt, &Poly<Evaluation>)]) -> Result<PackedPoly, RingError> {
        defaults::packed_combination(self, terms)
    }
    /// Unpacks what [`packed`](Self::packed) made.
    ///
    /// # Errors
    /// [`RingError::OtherStorage`] for a packed polynomial of another storage; every error of [`check`](Self::check).
    fn unpacked(&self, a: &PackedPoly) -> Result<Poly<Evaluation>, RingError> {
        let a: &Poly<Evaluation> = a.0.get()?;
        self.check(a)?;
        Ok(a.clone())
    }
    /// Returns the sum of packed polynomials, each of which is read once, and of one that is not packed.
    ///
    /// # Errors
    /// Every error of [`unpacked`](Self::unpacked).
    fn sum_packed(
        &self,
        packed: &[&PackedPoly],
        plus: Option<&Poly<Evaluation>>,
    ) -> Result<Poly<Evaluation>, RingError> {
        defaults::sum_packed(self, packed, plus)
    }

    /// Length in bytes of a polynomial of this ring in files.
    fn packed_len(&self) -> usize;
    /// Writes a polynomial to a file.
    ///
    /// # Errors
    /// [`PackingError::Ring`] for a polynomial of another ring; [`PackingError::Io`] where writing fails.
    fn pack(
        &self,
        a: &Residues,
        representation: Representation,
        out: &mut dyn packing::Append,
    ) -> Result<(), PackingError>;
    /// Reads a polynomial. Memory is allocated for one polynomial of this ring, whatever the input holds.
    ///
    /// # Errors
    /// [`PackingError::Residue`] for a residue that is not reduced, and for bits behind the last residue that are not 0; [`PackingError::Io`] where reading fails.
    fn unpack(
        &self,
        representation: Representation,
        from: &mut dyn std::io::BufRead,
    ) -> Result<Residues, PackingError>;
}
