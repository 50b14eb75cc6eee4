//! The discipline that keeps words small: what every loop needs of a modulus.

use super::lanes::Lanes;

/// Vectors.
pub(crate) type V<A> = <<A as Arithmetic>::Lanes as Lanes>::V;

/// Lazy modular arithmetic on vectors of words.
///
/// "Word" means as many low bits as the multiplier reads; implementations may leave anything above them,
/// except where a result is said to be canonical, which is the plain number in `[0, q)`.
pub(crate) trait Arithmetic: Copy {
    type Lanes: Lanes;

    /// The largest modulus for which no bound below overflows a word.
    const WIDEST: u64;
    /// Forward levels that one renormalisation pays for.
    const PERIOD: usize;
    /// Inverse levels take pairs of words below this multiple of q, so that the biased difference
    /// still fits a word.
    const INVERSE_LIMIT: u32;
    /// Between the passes of an inverse transform all words are below this multiple of q.
    const INVERSE_EXIT: u32;
    /// Products that a [`sum`](Self::sum_add) holds.
    const MAX_TERMS: usize;

    /// The word that goes with a constant factor w < q and makes w·y mod q products without a division:
    /// Shoup's ⌊w·2^52 / q⌋, ⌊w·2^64 / q⌋, or whatever else approximates w / q.
    fn quotient(w: u64, q: u64) -> u64;
    fn lanes(self) -> Self::Lanes;

    /// Canonical from a word below 2q.
    fn canonical(self, x: V<Self>) -> V<Self>;
    /// w·y in `[0, 2q)`, for any word y, w < q and its quotient.
    fn multiply_lazy(self, y: V<Self>, w: (V<Self>, V<Self>)) -> V<Self>;

    /// Prepares an input below 2q for the first `PERIOD` levels.
    fn enter(self, x: V<Self>) -> V<Self>;
    /// Prepares the output of `PERIOD` levels for as many more.
    fn renormalise(self, x: V<Self>) -> V<Self>;
    /// (x + w·y, x − w·y), lazily [Harvey14, Cooley–Tukey].
    fn butterfly(self, x: V<Self>, y: V<Self>, w: (V<Self>, V<Self>)) -> (V<Self>, V<Self>);
    /// The same at the last level, from the output of at most `PERIOD` levels to canonical words.
    fn last_butterfly(self, x: V<Self>, y: V<Self>, w: (V<Self>, V<Self>)) -> (V<Self>, V<Self>);

    /// Below 2q from a word below 2·INVERSE_LIMIT·q.
    fn reduce_lazy(self, x: V<Self>) -> V<Self>;
    /// Below bound/2·q from a word below bound·q.
    fn halve(self, x: V<Self>, bound: u32) -> V<Self>;
    /// (x + y, w·(x − y)) for words below bound·q; the second result is below 2q [Gentleman–Sande].
    fn inverse_butterfly(
        self,
        x: V<Self>,
        y: V<Self>,
        w: (V<Self>, V<Self>),
        bound: u32,
    ) -> (V<Self>, V<Self>);
    /// (c·(x + y), w·(x − y)), both canonical, for words below bound·q.
    fn inverse_last_butterfly(
        self,
        x: V<Self>,
        y: V<Self>,
        c: (V<Self>, V<Self>),
        w: (V<Self>, V<Self>),
        bound: u32,
    ) -> (V<Self>, V<Self>);

    /// The modulus in every lane.
    fn modulus(self) -> V<Self>;
    /// a·b, canonical from canonical.
    fn multiply(self, a: V<Self>, b: V<Self>) -> V<Self>;
    /// Canonical from any 64-bit words.
    fn reduce(self, words: V<Self>) -> V<Self>;
    /// The canonical value of a sum of at most `MAX_TERMS` products, as (high, low).
    fn sum_reduce(self, sum: (V<Self>, V<Self>)) -> V<Self>;
    /// Adds a·b to a sum that starts as zeros.
    fn sum_add(self, sum: (V<Self>, V<Self>), a: V<Self>, b: V<Self>) -> (V<Self>, V<Self>);

    /// x, or x − q where that is not negative.
    #[inline(always)]
    fn subtract_once(self, x: V<Self>, q: V<Self>) -> V<Self> {
        let lanes = self.lanes();
        lanes.unless_negative(lanes.sub(x, q), x)
    }
}
