//! Parameters of CKKS with bootstrapping: a set by its name.

use sunzi_rlwe::Security;
use sunzi_rlwe::wire::Kind;

use super::named::{SetParameters, SetUse, small_of_degree};
use super::{BootstrapError, Set};

/// Use of a set for messages of CKKS that are bootstrapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ForMessages;

impl SetUse for ForMessages {
    const KIND: Kind = Kind::BootstrapParameters;
    const WHAT: &'static str = "the name of a bootstrapping set";
    const EXAMPLE: &'static str = "n16-128-fast";
    const INSECURE: &'static str = "insecure-fast-";
    const HAS_REAL: bool = true;

    fn secure(name: &str) -> Option<Set> {
        Set::named(name).filter(|set| set.tables.is_none() && set.slots.is_none())
    }

    fn insecure(log2_degree: u32) -> Set {
        Set::insecure_fast(log2_degree)
    }

    fn small(numbers: &str) -> Option<Set> {
        let Some((degree, levels)) = numbers.split_once('-') else { return small_of_degree::<Self>(numbers) };
        let whole = small_of_degree::<Self>(degree)?;
        // No security limit ends what a name may ask for here.
        let levels = levels.parse().ok().filter(|levels| *levels < whole.levels_left())?;
        Some(whole.with_levels_left(levels))
    }
}

/// Parameters of CKKS with bootstrapping: those of the CKKS context of a set, stored as the name of the set.
///
/// ```
/// use sunzi_circuits::bootstrap::{BootstrapParameters, Set};
///
/// let parameters = BootstrapParameters::named("n16-128-fast").expect("it is a set for all slots");
/// assert_eq!(parameters.set(), &Set::fast_128());
/// assert_eq!(parameters.ckks().degree(), 1 << 16);
/// // Messages of the real ring of half of the degree, which has as many slots.
/// let real = parameters.with_real_slots()?;
/// assert_eq!((real.name(), real.ckks().degree(), real.ckks().max_slots()), ("n16-128-fast-real", 1 << 15, 1 << 15));
/// # Ok::<(), sunzi_circuits::bootstrap::BootstrapError>(())
/// ```
pub type BootstrapParameters = SetParameters<ForMessages>;

impl BootstrapParameters {
    /// Returns the parameters of the [set with this many levels left](Set::with_levels_left), under the name of that set.
    ///
    /// ```
    /// use sunzi_circuits::bootstrap::BootstrapParameters;
    ///
    /// let parameters = BootstrapParameters::named("n16-128-fast").expect("it is a set for all slots");
    /// let lower = parameters.with_levels_left(8)?;
    /// assert_eq!((lower.name(), lower.set().levels_left()), ("n16-128-fast-8", 8));
    /// # Ok::<(), sunzi_circuits::bootstrap::BootstrapError>(())
    /// ```
    ///
    /// # Errors
    /// Every error of [`Set::parameters`].
    pub fn with_levels_left(&self, levels: usize) -> Result<Self, BootstrapError> {
        let set = self.set().clone().with_levels_left(levels);
        let small = Set::insecure_fast(set.log2_degree);
        let name = match (set.name == small.name, levels == small.levels_left()) {
            (false, _) => set.to_string(),
            (true, true) => format!("{}{}", ForMessages::INSECURE, set.log2_degree),
            (true, false) => format!("{}{}-{levels}", ForMessages::INSECURE, set.log2_degree),
        };
        let whole = Self::of(name, set)?;
        if self.is_real() { whole.in_real_ring() } else { Ok(whole) }
    }

    /// Returns the parameters for messages of the real ring in the set's ring: as many real slots in half of the degree.
    ///
    /// # Errors
    /// [`BootstrapError::Ckks`] where security allows the levels no special moduli in half of the degree.
    pub fn with_real_slots(&self) -> Result<Self, BootstrapError> {
        self.clone().in_real_ring()
    }
}

impl Set {
    /// Returns a small and INSECURE set for tests: the fast one with n = 2^`log2_degree`.
    #[must_use]
    pub fn insecure_fast(log2_degree: u32) -> Self {
        Self {
            name: "insecure-fast",
            log2_degree,
            security: Security::InsecureForResearchOnly,
            ..Self::fast_128()
        }
    }
}
