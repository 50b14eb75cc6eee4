//! Parameters of encrypted integers: a set by its name.

use sunzi_rlwe::wire::Kind;

use crate::bootstrap::{BootstrapError, Set, SetParameters, SetUse};

/// Use of a set for look-ups of integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ForIntegers;

impl SetUse for ForIntegers {
    const KIND: Kind = Kind::IntegerParameters;
    const WHAT: &'static str = "the name of a set for integers";
    const EXAMPLE: &'static str = "n16-integer";
    const INSECURE: &'static str = "insecure-integer-";

    fn secure(name: &str) -> Option<Set> {
        Some(Set::for_integers()).filter(|set| set.to_string() == name)
    }

    fn insecure(log2_degree: u32) -> Set {
        Set::insecure_for_integers(log2_degree)
    }
}

/// Parameters of encrypted integers: those of the CKKS context of a set, stored as the name of the set.
///
/// ```
/// use sunzi_circuits::integers::IntegerParameters;
///
/// let parameters = IntegerParameters::named("n16-integer").expect("it is a set for integers");
/// assert_eq!(parameters, IntegerParameters::new()?);
/// assert_eq!(parameters.ckks().degree(), 1 << 16);
/// # Ok::<(), sunzi_circuits::bootstrap::BootstrapError>(())
/// ```
pub type IntegerParameters = SetParameters<ForIntegers>;

impl IntegerParameters {
    /// Returns the parameters of [`Set::for_integers`], with 128 bits of security.
    ///
    /// # Errors
    /// [`BootstrapError::Ckks`], which does not occur.
    pub fn new() -> Result<Self, BootstrapError> {
        let set = Set::for_integers();
        Self::of(set.to_string(), set)
    }
}
