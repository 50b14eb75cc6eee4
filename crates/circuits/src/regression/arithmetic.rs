//! What training asks of arithmetic on real slots.

/// What a refresh multiplies by: the real part of z is half of z and its conjugate, and the half can be taken later where
/// it costs no level.
pub const REFRESHED: f64 = 2.0;

/// Arithmetic on vectors of real numbers with levels, encrypted or not.
///
/// Products take one level, from the lower one of their factors; sums of vectors of different levels have the lower
/// one; the rest takes none.
pub trait RealArithmetic {
    /// A vector of slots.
    type Vector: Clone;
    /// What operations fail with.
    type Error: std::error::Error + 'static;

    /// Levels left.
    fn level(&self, a: &Self::Vector) -> usize;
    /// a + b.
    ///
    /// # Errors
    /// Here and below whatever the arithmetic refuses: no level left, a missing key.
    fn add(&self, a: &Self::Vector, b: &Self::Vector) -> Result<Self::Vector, Self::Error>;
    /// a + c in every slot.
    ///
    /// # Errors
    /// As [`add`](Self::add).
    fn add_constant(&self, a: &Self::Vector, c: f64) -> Result<Self::Vector, Self::Error>;
    /// a·b.
    ///
    /// # Errors
    /// As [`add`](Self::add).
    fn multiply(&self, a: &Self::Vector, b: &Self::Vector) -> Result<Self::Vector, Self::Error>;
    /// a².
    ///
    /// # Errors
    /// As [`add`](Self::add).
    fn square(&self, a: &Self::Vector) -> Result<Self::Vector, Self::Error>;
    /// c·a.
    ///
    /// # Errors
    /// As [`add`](Self::add).
    fn multiply_constant(&self, a: &Self::Vector, c: f64) -> Result<Self::Vector, Self::Error>;
    /// a·m for clear numbers m, one a slot.
    ///
    /// # Errors
    /// As [`add`](Self::add).
    fn multiply_plain(&self, a: &Self::Vector, m: &[f64]) -> Result<Self::Vector, Self::Error>;
    /// Turns the slots left, right if negative: slot i + steps moves to slot i.
    ///
    /// # Errors
    /// As [`add`](Self::add).
    fn rotate(&self, a: &Self::Vector, steps: i64) -> Result<Self::Vector, Self::Error>;
    /// The same vector, of which whoever computes knows that no slot is beyond this bound, noise apart.
    ///
    /// # Errors
    /// As [`add`](Self::add); where it can be seen, a slot that is.
    fn bounded(&self, a: Self::Vector, bound: f64) -> Result<Self::Vector, Self::Error>;
    /// [`REFRESHED`] times both vectors, with new levels, of one bootstrapping: slots are at most 1/√2.
    ///
    /// # Errors
    /// As [`add`](Self::add).
    fn refresh(&self, pair: [&Self::Vector; 2]) -> Result<[Self::Vector; 2], Self::Error>;
}
