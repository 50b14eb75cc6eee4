//! Parameters of encrypted integers: a set by its name.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sunzi_ckks::Parameters;
use sunzi_rlwe::wire::{FieldReader, Fields, Kind, SecurityClaim, StoredParameters, WireError, claimed};

use crate::bootstrap::{BootstrapError, Set};

/// Beginning of the names of small sets, before log2 n.
const INSECURE: &str = "insecure-integer-";
/// Degrees of small sets, as log2 n.
const INSECURE_DEGREES: std::ops::RangeInclusive<u32> = 9..=13;
/// Largest number of bytes of a name in a file.
const LONGEST_NAME: usize = 64;

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
#[derive(Clone, Debug, PartialEq)]
pub struct IntegerParameters {
    name: String,
    set: Set,
    ckks: Parameters,
}

impl IntegerParameters {
    /// Returns the parameters of [`Set::for_integers`], with 128 bits of security.
    ///
    /// # Errors
    /// [`BootstrapError::Ckks`], which does not occur.
    pub fn new() -> Result<Self, BootstrapError> {
        let set = Set::for_integers();
        Self::of(set.to_string(), set)
    }

    /// Returns the small and INSECURE parameters of [`Set::insecure_for_integers`], for tests.
    ///
    /// # Errors
    /// [`BootstrapError::Ckks`] for a degree that has none.
    pub fn insecure(log2_degree: u32) -> Result<Self, BootstrapError> {
        Self::of(format!("{INSECURE}{log2_degree}"), Set::insecure_for_integers(log2_degree))
    }

    fn of(name: String, set: Set) -> Result<Self, BootstrapError> {
        let ckks = set.parameters()?;
        Ok(Self { name, set, ckks })
    }

    /// Returns the parameters of this name; `None` for an unknown one.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        if let Some(degree) = name.strip_prefix(INSECURE) {
            let degree = degree.parse().ok().filter(|degree| INSECURE_DEGREES.contains(degree))?;
            return Self::insecure(degree).ok();
        }
        Self::new().ok().filter(|parameters| parameters.name == name)
    }

    /// Name of the set.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Set whose look-ups the parameters are for.
    #[must_use]
    pub fn set(&self) -> &Set {
        &self.set
    }

    /// Parameters of the CKKS context of the set.
    #[must_use]
    pub fn ckks(&self) -> &Parameters {
        &self.ckks
    }
}

impl StoredParameters for IntegerParameters {
    const KIND: Kind = Kind::IntegerParameters;

    fn key_bytes(&self) -> Vec<u8> {
        self.ckks.key_bytes()
    }

    fn describe(&self, fields: &mut Fields) {
        StoredParameters::describe(&self.ckks, fields);
    }

    fn claim(&self) -> SecurityClaim {
        self.ckks.claim()
    }

    fn table_bytes(&self) -> u64 {
        self.ckks.table_bytes()
    }

    fn digits(&self) -> usize {
        StoredParameters::digits(&self.ckks)
    }

    fn put(&self, fields: &mut Fields) {
        fields.text(&self.name);
    }

    fn get(fields: &mut FieldReader<'_>) -> Result<Self, WireError> {
        let name = fields.text("the name of a set for integers", LONGEST_NAME)?;
        Self::named(name).ok_or_else(|| {
            WireError::value("the name of a set for integers", "n16-integer", format!("{name:?}"))
        })
    }
}

impl Serialize for IntegerParameters {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.name)
    }
}

impl<'de> Deserialize<'de> for IntegerParameters {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        let unknown = || {
            serde::de::Error::custom(format!("there is no set for integers named {name:?}: take n16-integer"))
        };
        claimed(Self::named(&name).ok_or_else(unknown)?)
    }
}
