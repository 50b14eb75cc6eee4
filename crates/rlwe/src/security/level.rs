//! Security levels of parameters, and the opt-out from all of them.

use std::cell::Cell;
use std::fmt;

use serde::{Deserialize, Deserializer, Serialize};

/// Security level that a parameter set must reach, in bits against a classical adversary.
///
/// The opt-out [`InsecureForResearchOnly`](Self::InsecureForResearchOnly) is written by `serde`, and read within
/// [`accepting_insecure`] only.
///
/// ```
/// use sunzi_rlwe::Security;
///
/// assert_eq!(Security::default(), Security::Bits128);
/// assert!(Security::Bits192 > Security::Bits128);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub enum Security {
    /// Security of at least 128 bits, the default.
    #[default]
    Bits128,
    /// Security of at least 192 bits.
    Bits192,
    /// Security of at least 256 bits.
    Bits256,
    /// No security: the modulus is not checked. For tests on small rings and for reproducing published parameter sets
    /// that today's estimates no longer cover. Never for data that matters.
    InsecureForResearchOnly,
}

impl Security {
    /// The security level in bits; 0 for [`InsecureForResearchOnly`](Self::InsecureForResearchOnly).
    #[must_use]
    pub const fn bits(self) -> u32 {
        match self {
            Self::InsecureForResearchOnly => 0,
            Self::Bits128 => 128,
            Self::Bits192 => 192,
            Self::Bits256 => 256,
        }
    }
}

thread_local! {
    /// Whether `serde` reads the opt-out from security, on this thread.
    static INSECURE_ACCEPTED: Cell<bool> = const { Cell::new(false) };
}

/// Runs `read`, in which `serde` reads [`Security::InsecureForResearchOnly`] on this thread: elsewhere text that
/// names it is refused, since it may have been written by anybody. For tests and for reproducing published parameter
/// sets, never for data that matters.
///
/// ```
/// use sunzi_rlwe::{Security, security};
///
/// let text = "\"InsecureForResearchOnly\"";
/// assert!(serde_json::from_str::<Security>(text).is_err());
/// let read = security::accepting_insecure(|| serde_json::from_str(text));
/// assert_eq!(read.ok(), Some(Security::InsecureForResearchOnly));
/// ```
pub fn accepting_insecure<T>(read: impl FnOnce() -> T) -> T {
    /// Guard that restores the former setting of the opt-out when dropped, also after a panic.
    struct Before(bool);
    impl Drop for Before {
        fn drop(&mut self) {
            INSECURE_ACCEPTED.set(self.0);
        }
    }
    let _before = Before(INSECURE_ACCEPTED.replace(true));
    read()
}

impl<'de> Deserialize<'de> for Security {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(rename = "Security")]
        enum Stored {
            Bits128,
            Bits192,
            Bits256,
            InsecureForResearchOnly,
        }
        match Stored::deserialize(deserializer)? {
            Stored::Bits128 => Ok(Self::Bits128),
            Stored::Bits192 => Ok(Self::Bits192),
            Stored::Bits256 => Ok(Self::Bits256),
            Stored::InsecureForResearchOnly if INSECURE_ACCEPTED.get() => Ok(Self::InsecureForResearchOnly),
            Stored::InsecureForResearchOnly => Err(serde::de::Error::custom(
                "InsecureForResearchOnly asks for no security: take Bits128, Bits192 or Bits256, or read it within \
                 security::accepting_insecure, never for data that matters",
            )),
        }
    }
}

impl fmt::Display for Security {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Bits128 => "128-bit",
            Self::Bits192 => "192-bit",
            Self::Bits256 => "256-bit",
            Self::InsecureForResearchOnly => "INSECURE (research only)",
        })
    }
}
