//! Parameters of CKKS with bootstrapping: a set by its name.

use sunzi_rlwe::Security;
use sunzi_rlwe::wire::Kind;

use super::Set;
use super::named::{SetParameters, SetUse};

/// Use of a set for messages of CKKS that are bootstrapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ForMessages;

impl SetUse for ForMessages {
    const KIND: Kind = Kind::BootstrapParameters;
    const WHAT: &'static str = "the name of a bootstrapping set";
    const EXAMPLE: &'static str = "n16-128-fast";
    const INSECURE: &'static str = "insecure-fast-";

    fn secure(name: &str) -> Option<Set> {
        Set::named(name).filter(|set| set.tables.is_none() && set.slots.is_none())
    }

    fn insecure(log2_degree: u32) -> Set {
        Set::insecure_fast(log2_degree)
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
/// ```
pub type BootstrapParameters = SetParameters<ForMessages>;

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
