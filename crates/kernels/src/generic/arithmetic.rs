//! Arithmetic that keeps words small: what every loop needs of a modulus.

use super::lanes::Registers;
use super::lanes::{Integers, Lanes};

/// Vectors of eight words of an arithmetic.
pub(crate) type V<A> = <<A as Arithmetic>::Lanes as Integers>::V;

/// Modular arithmetic on vectors of canonical words, numbers in `[0, q)`.
pub trait Arithmetic: Copy {
    type Lanes: Lanes;

    /// Largest modulus for which no lazy word overflows.
    const WIDEST: u64;
    /// Number of products that a [`sum`](Self::sum_add) holds.
    const MAX_TERMS: usize;

    /// Returns the two words that multiply by a constant w < q: w itself and a word that makes w·y mod q
    /// products without a division, Shoup's ⌊w·2^52 / q⌋, ⌊w·2^64 / q⌋, or whatever else approximates w / q.
    fn factor(w: u64, q: u64) -> [u64; 2];
    fn lanes(self) -> Self::Lanes;
    /// Value of the modulus of the arithmetic.
    fn value(self) -> u64;
    /// The modulus in every lane of a vector.
    fn modulus(self) -> V<Self>;
    /// Returns the product a·b mod q, canonical.
    fn multiply(self, a: V<Self>, b: V<Self>) -> V<Self>;
    /// Returns the product w·y for the factor of w, canonical.
    fn multiply_constant(self, y: V<Self>, w: (V<Self>, V<Self>)) -> V<Self>;
    /// Reduces any 64-bit words of a vector modulo q.
    fn reduce(self, words: V<Self>) -> V<Self>;
    /// Returns an empty sum of products, in two parts that only these three functions understand.
    #[inline(always)]
    fn sum_start(self) -> (V<Self>, V<Self>) {
        (self.lanes().splat(0), self.lanes().splat(0))
    }
    /// Adds the products a·b to a sum.
    fn sum_add(self, sum: (V<Self>, V<Self>), a: V<Self>, b: V<Self>) -> (V<Self>, V<Self>);
    /// Reduces a sum of at most `MAX_TERMS` products.
    fn sum_reduce(self, sum: (V<Self>, V<Self>)) -> V<Self>;
}

/// Registers of the transforms of an arithmetic.
pub(crate) type Register<A> = <<A as Butterflies>::Registers as Registers>::R;
/// A constant w and its quotient, as [`Arithmetic::factor`] makes them, each in a register.
pub(crate) type Factor<A> = (Register<A>, Register<A>);

/// Lazy modular arithmetic on the registers of a transform.
///
/// "Word" means whatever represents a residue between the first level and the last; bounds are on its
/// magnitude.
pub trait Butterflies: Copy {
    type Registers: Registers;

    /// Number of forward levels between renormalisations.
    const PERIOD: usize;
    /// Multiple of q that bounds the results of [`reduce_lazy`](Self::reduce_lazy) and of multiplications of
    /// inverse levels.
    const FRESH: u32;
    /// Multiple of q that bounds pairs of words before an inverse level, so that their difference still fits.
    const INVERSE_LIMIT: u32;
    /// Multiple of q that bounds all words between the passes of an inverse transform.
    const INVERSE_EXIT: u32;
    /// Whether [`halve`](Self::halve) is ever cheaper than [`reduce_lazy`](Self::reduce_lazy).
    const HALVES: bool;

    fn registers(self) -> Self::Registers;

    /// Converts an input below 2q of a forward transform to a word.
    fn forward_input(self, x: Register<Self>) -> Register<Self>;
    /// Converts a canonical input of an inverse transform to a word.
    fn inverse_input(self, x: Register<Self>) -> Register<Self>;
    /// Prepares an input for the first `PERIOD` levels of a transform.
    fn enter(self, x: Register<Self>) -> Register<Self>;
    /// Prepares the output of `PERIOD` levels for as many more levels.
    fn renormalise(self, x: Register<Self>) -> Register<Self>;
    /// Computes the butterfly (x + w·y, x − w·y), lazily [Harvey14, Cooley–Tukey].
    fn butterfly(
        self,
        x: Register<Self>,
        y: Register<Self>,
        w: Factor<Self>,
    ) -> (Register<Self>, Register<Self>);
    /// Computes the butterfly for w = 1 and a y that is below FRESH·q or an input.
    fn sum_difference(self, x: Register<Self>, y: Register<Self>) -> (Register<Self>, Register<Self>);
    /// Computes the butterfly of the last level, from the output of at most `PERIOD` levels to canonical numbers.
    fn last_butterfly(
        self,
        x: Register<Self>,
        y: Register<Self>,
        w: Factor<Self>,
    ) -> (Register<Self>, Register<Self>);

    /// Reduces a word below 2·INVERSE_LIMIT·q to one below FRESH·q.
    fn reduce_lazy(self, x: Register<Self>) -> Register<Self>;
    /// Reduces a word below bound·q to one below bound/2·q.
    fn halve(self, x: Register<Self>, bound: u32) -> Register<Self>;
    /// Computes the inverse butterfly (x + y, w·(x − y)) for words below bound·q; the second result is below
    /// FRESH·q [Gentleman–Sande].
    fn inverse_butterfly(
        self,
        x: Register<Self>,
        y: Register<Self>,
        w: Factor<Self>,
        bound: u32,
    ) -> (Register<Self>, Register<Self>);
    /// Computes the last inverse butterfly (c·(x + y), w·(x − y)), both canonical numbers, for words below
    /// bound·q.
    fn inverse_last_butterfly(
        self,
        x: Register<Self>,
        y: Register<Self>,
        c: Factor<Self>,
        w: Factor<Self>,
        bound: u32,
    ) -> (Register<Self>, Register<Self>);

    /// A constant in all lanes with its quotient, which may take more words than a `Factor`.
    type Constant: Copy;
    /// Number of words that a constant takes in tables.
    const CONSTANT: usize;
    /// Returns the words of a constant w < q in tables; words past [`CONSTANT`](Self::CONSTANT) are unused.
    fn constant_words(w: u64, q: u64) -> [u64; 3];
    fn constant(self, words: [u64; 3]) -> Self::Constant;
    /// Returns the product w·y of a constant with any word y, below FRESH·q.
    fn product(self, y: Register<Self>, w: Self::Constant) -> Register<Self>;
    /// Computes [`butterfly`](Self::butterfly) by a constant.
    fn constant_butterfly(
        self,
        x: Register<Self>,
        y: Register<Self>,
        w: Self::Constant,
    ) -> (Register<Self>, Register<Self>);
    /// Returns the difference x − y for the output x of at most `PERIOD` levels and a y below FRESH·q: what
    /// [`renormalise`](Self::renormalise) takes.
    fn difference(self, x: Register<Self>, y: Register<Self>) -> Register<Self>;
    /// Converts the output of at most `PERIOD` levels to a canonical number.
    fn canonical_output(self, x: Register<Self>) -> Register<Self>;
}
