//! Parameters that are stored as the name of a set.

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::StrDeserializer;
use serde::de::{Error as _, IntoDeserializer};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sunzi_ckks::Parameters;
use sunzi_rlwe::Security;
use sunzi_rlwe::wire::{FieldReader, Fields, Kind, SecurityClaim, StoredParameters, WireError, claimed};

use super::{BootstrapError, Set};

/// Largest number of bytes of a name in a file.
const LONGEST_NAME: usize = 64;
/// End of the names of parameters of a real ring.
const REAL: &str = "-real";
/// Degrees of small sets, as log2 n.
const INSECURE_DEGREES: std::ops::RangeInclusive<u32> = 9..=13;

/// Use of parameters that are stored as the name of a set.
pub trait SetUse: Clone + fmt::Debug + PartialEq {
    /// Kind of the parameters in files.
    const KIND: Kind;
    /// Words for a name, as errors say them.
    const WHAT: &'static str;
    /// Name of a set of this use.
    const EXAMPLE: &'static str;
    /// Beginning of the names of small and INSECURE sets, before log2 n.
    const INSECURE: &'static str;
    /// Whether a set also serves messages of the real ring in its ring, under a name that ends in `-real`.
    const HAS_REAL: bool = false;

    /// Returns the secure set of a name; `None` for an unknown one.
    fn secure(name: &str) -> Option<Set>;

    /// Returns the small and INSECURE set of n = 2^`log2_degree`.
    fn insecure(log2_degree: u32) -> Set;

    /// Returns the small and INSECURE set of the numbers behind [`INSECURE`](Self::INSECURE) in a name: of log2 n alone, unless a use has more.
    fn small(numbers: &str) -> Option<Set> {
        small_of_degree::<Self>(numbers)
    }
}

/// Returns the small and INSECURE set of log2 n in words.
pub(crate) fn small_of_degree<U: SetUse>(log2_degree: &str) -> Option<Set> {
    log2_degree.parse().ok().filter(|degree| INSECURE_DEGREES.contains(degree)).map(U::insecure)
}

/// Parameters of the CKKS context of a set, stored as the name of the set.
#[derive(Clone, Debug, PartialEq)]
pub struct SetParameters<U> {
    name: String,
    set: Set,
    ckks: Parameters,
    /// Parameters of the set's ring, where those of messages are of the real ring in it.
    whole: Option<Parameters>,
    used: PhantomData<U>,
}

impl<U: SetUse> SetParameters<U> {
    /// Makes the parameters of a set with its name.
    pub(crate) fn of(name: String, set: Set) -> Result<Self, BootstrapError> {
        let ckks = set.parameters()?;
        Ok(Self { name, set, ckks, whole: None, used: PhantomData })
    }

    /// Returns the parameters of this name; `None` for an unknown one.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let (of_set, is_real) = match name.strip_suffix(REAL) {
            Some(of_set) if U::HAS_REAL => (of_set, true),
            _ => (name, false),
        };
        let set = match of_set.strip_prefix(U::INSECURE) {
            Some(numbers) => U::small(numbers)?,
            None => U::secure(of_set)?,
        };
        let whole = Self::of(of_set.to_owned(), set).ok()?;
        if is_real { whole.in_real_ring().ok() } else { Some(whole) }
    }

    /// Returns the parameters for messages of the real ring in the set's ring, under the name with `-real` behind it.
    pub(crate) fn in_real_ring(self) -> Result<Self, BootstrapError> {
        if self.whole.is_some() {
            return Ok(self);
        }
        let ckks = self.ckks.real_subring(self.set.residual.levels)?;
        Ok(Self { name: format!("{}{REAL}", self.name), ckks, whole: Some(self.ckks), ..self })
    }

    /// Returns the small and INSECURE parameters of n = 2^`log2_degree`, for tests.
    ///
    /// # Errors
    /// [`BootstrapError::Ckks`] for a degree that has none.
    pub fn insecure(log2_degree: u32) -> Result<Self, BootstrapError> {
        Self::of(format!("{}{log2_degree}", U::INSECURE), U::insecure(log2_degree))
    }
}

impl<U> SetParameters<U> {
    /// Name of the set.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Set that the parameters are for.
    #[must_use]
    pub fn set(&self) -> &Set {
        &self.set
    }

    /// Parameters of the CKKS context of messages: of the set's ring, or of the real ring in it.
    #[must_use]
    pub fn ckks(&self) -> &Parameters {
        &self.ckks
    }

    /// Parameters of the set's ring, in which messages are bootstrapped.
    #[must_use]
    pub fn whole(&self) -> &Parameters {
        self.whole.as_ref().unwrap_or(&self.ckks)
    }

    /// Whether messages are of the real ring in the set's ring.
    #[must_use]
    pub fn is_real(&self) -> bool {
        self.whole.is_some()
    }

    /// Returns [`Set::counted_transforms`] without making the parameters again.
    ///
    /// # Errors
    /// Every error of [`Set::levels`].
    pub fn counted_transforms(&self) -> Result<f64, BootstrapError> {
        self.set.counted_transforms_in(self.whole())
    }
}

impl<U: SetUse> StoredParameters for SetParameters<U> {
    const KIND: Kind = U::KIND;

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
        // Ciphertexts of a real ring are bootstrapped in another one.
        self.ckks.table_bytes() + self.whole.as_ref().map_or(0, StoredParameters::table_bytes)
    }

    fn digits(&self) -> usize {
        StoredParameters::digits(&self.ckks)
    }

    fn put(&self, fields: &mut Fields) {
        fields.text(&self.name);
    }

    fn get(fields: &mut FieldReader<'_>) -> Result<Self, WireError> {
        let name = fields.text(U::WHAT, LONGEST_NAME)?;
        Self::named(name).ok_or_else(|| WireError::value(U::WHAT, U::EXAMPLE, format!("{name:?}")))
    }
}

impl<U> Serialize for SetParameters<U> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.name)
    }
}

impl<'de, U: SetUse> Deserialize<'de> for SetParameters<U> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        let unknown = || {
            let (what, example) = (U::WHAT, U::EXAMPLE);
            D::Error::custom(format!("{name:?} is not {what}: take {example}"))
        };
        let parameters: Self = claimed(Self::named(&name).ok_or_else(unknown)?)?;
        if parameters.set.security == Security::InsecureForResearchOnly {
            // A name says nothing of security, and is refused where its word would be.
            let word: StrDeserializer<'_, D::Error> = "InsecureForResearchOnly".into_deserializer();
            Security::deserialize(word)?;
        }
        Ok(parameters)
    }
}
