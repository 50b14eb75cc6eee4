//! Arithmetic on real slots that training needs.

/// Factor of a refresh: the real part of z is half of z and its conjugate, and the half can be taken later where
/// it costs no level.
pub const REFRESHED: f64 = 2.0;

/// Arithmetic on vectors of real numbers with levels, encrypted or not.
///
/// Products take one level, from the lower one of their factors; sums of vectors of different levels have the lower
/// one; the rest takes none.
pub trait RealArithmetic {
    /// Type of a vector of slots.
    type Vector: Clone;
    /// Type of the errors of operations.
    type Error: std::error::Error + 'static;

    /// Number of levels that a vector has left.
    fn level(&self, a: &Self::Vector) -> usize;
    /// Returns the sum a + b, slot by slot.
    ///
    /// # Errors
    /// Every refusal of the arithmetic, in all methods of this trait: no level left, a missing key.
    fn add(&self, a: &Self::Vector, b: &Self::Vector) -> Result<Self::Vector, Self::Error>;
    /// Returns the sum a + c with a constant c in every slot.
    ///
    /// # Errors
    /// Every error of [`add`](Self::add).
    fn add_constant(&self, a: &Self::Vector, c: f64) -> Result<Self::Vector, Self::Error>;
    /// Returns the product a·b, slot by slot.
    ///
    /// # Errors
    /// Every error of [`add`](Self::add).
    fn multiply(&self, a: &Self::Vector, b: &Self::Vector) -> Result<Self::Vector, Self::Error>;
    /// Returns the square a², slot by slot.
    ///
    /// # Errors
    /// Every error of [`add`](Self::add).
    fn square(&self, a: &Self::Vector) -> Result<Self::Vector, Self::Error>;
    /// Returns the multiple c·a by a constant c.
    ///
    /// # Errors
    /// Every error of [`add`](Self::add).
    fn multiply_constant(&self, a: &Self::Vector, c: f64) -> Result<Self::Vector, Self::Error>;
    /// Returns the product a·m with clear numbers m, one a slot.
    ///
    /// # Errors
    /// Every error of [`add`](Self::add).
    fn multiply_plain(&self, a: &Self::Vector, m: &[f64]) -> Result<Self::Vector, Self::Error>;
    /// Rotates the slots of a vector left, right if negative: slot i + steps moves to slot i.
    ///
    /// # Errors
    /// Every error of [`add`](Self::add).
    fn rotate(&self, a: &Self::Vector, steps: i64) -> Result<Self::Vector, Self::Error>;
    /// Declares that no slot of a vector exceeds this bound, noise apart.
    ///
    /// # Errors
    /// Every error of [`add`](Self::add); where slots are visible, also for a slot above the bound.
    fn bounded(&self, a: Self::Vector, bound: f64) -> Result<Self::Vector, Self::Error>;
    /// Returns [`REFRESHED`] times both vectors, with new levels, by one bootstrapping: slots are at most 1/√2.
    ///
    /// # Errors
    /// Every error of [`add`](Self::add).
    fn refresh(&self, pair: [&Self::Vector; 2]) -> Result<[Self::Vector; 2], Self::Error>;
}
