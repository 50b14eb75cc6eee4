//! Text objects in a file of results: the description, and values that the server knew.

use std::io::BufRead;

use num_bigint::BigInt;
use num_rational::Ratio;
use serde::{Deserialize, Serialize};
use sunzi_rlwe::KeyId;
use sunzi_rlwe::wire::{Fingerprint, Format, Header, Kind, SchemeFormat, Scope, Sink, Source, WireError};

use super::Description;
use crate::Number;
use crate::contexts::{Contexts, Parts};
use crate::run::{Answer, Clear};

/// Largest number of bytes of the description in a file of results.
pub(super) const LONGEST_DESCRIPTION: usize = 1 << 24;
/// Largest number of bytes of a total in a file of results: no sum of exact numbers has as many digits.
pub(super) const LONGEST_TOTAL: usize = 1 << 10;
/// Largest number of bytes of a cell in a chunk of a column, with its quotation marks and comma.
const LONGEST_CELL: usize = 44;

/// Returns the largest number of bytes of a chunk of a column of `span` slots.
pub(super) fn longest_chunk(span: usize) -> usize {
    LONGEST_TOTAL + LONGEST_CELL * span
}

/// Object of a file of results that is no ciphertext.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum Text {
    Description(Box<Description>),
    /// Total that the server knew: an exact fraction, or a double.
    Fraction(String),
    Real(f64),
    /// Chunk of a column that the server knew.
    #[serde(with = "integers")]
    Units(Vec<i128>),
    Reals(Vec<f64>),
}

impl Text {
    pub(super) fn of(answer: &Answer) -> Option<Self> {
        match answer {
            Answer::Encrypted(_) => None,
            Answer::Clear(Number::Exact(ratio)) => Some(Self::Fraction(ratio.to_string())),
            Answer::Clear(Number::Real(value)) => Some(Self::Real(*value)),
            Answer::ClearColumn(Clear::Units(units)) => Some(Self::Units(units.clone())),
            Answer::ClearColumn(Clear::Reals(reals)) => Some(Self::Reals(reals.clone())),
        }
    }

    pub(super) fn answer(self) -> Result<Answer, WireError> {
        match self {
            Self::Description(_) => Err(WireError::value("a result", "a number", "a description")),
            Self::Fraction(text) => {
                let shown = || text.chars().take(40).collect::<String>();
                let ratio: Ratio<BigInt> =
                    text.parse().map_err(|_| WireError::value("a number", "digits", shown()))?;
                Ok(Answer::Clear(Number::Exact(ratio)))
            }
            Self::Real(value) => Ok(Answer::Clear(Number::Real(value))),
            Self::Units(units) => Ok(Answer::ClearColumn(Clear::Units(units))),
            Self::Reals(reals) => Ok(Answer::ClearColumn(Clear::Reals(reals))),
        }
    }
}

/// Serialises integers as texts, one after the other: JSON has none of 128 bits.
mod integers {
    use std::borrow::Cow;
    use std::fmt;

    use serde::de::{Deserializer, Error, SeqAccess, Visitor};
    use serde::{Deserialize, Serializer};

    pub(super) fn serialize<S: Serializer>(units: &[i128], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(units.iter().map(ToString::to_string))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<i128>, D::Error> {
        deserializer.deserialize_seq(Integers)
    }

    /// Digits of an integer in JSON, borrowed where the text has no escapes.
    #[derive(Deserialize)]
    struct Digits<'a>(#[serde(borrow)] Cow<'a, str>);

    struct Integers;

    impl<'de> Visitor<'de> for Integers {
        type Value = Vec<i128>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("integers of 128 bits as texts")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut texts: A) -> Result<Vec<i128>, A::Error> {
            let mut units = Vec::new();
            while let Some(Digits(text)) = texts.next_element()? {
                units.push(text.parse().map_err(A::Error::custom)?);
            }
            Ok(units)
        }
    }
}

/// Context of a text object: the parameters and the key of the ciphertexts beside it.
pub(super) struct Described<'a> {
    /// Contexts whose parameters it must have; `None` to look at a file without them.
    pub(super) contexts: Option<&'a Contexts>,
    pub(super) key: Option<KeyId>,
    /// Largest number of bytes of the text object.
    pub(super) longest: usize,
}

impl Scope for Described<'_> {
    fn expected(&self) -> Option<Fingerprint> {
        self.contexts.map(fingerprint)
    }
}

impl Format<Text> for Described<'_> {
    const KIND: Kind = Kind::Results;

    fn key(&self, _: &Text) -> Option<KeyId> {
        self.key
    }

    fn put(&self, text: &Text, sink: &mut impl Sink) -> Result<(), WireError> {
        let bytes = serde_json::to_vec(text).map_err(WireError::scheme)?;
        if bytes.len() > self.longest {
            return Err(WireError::Length { expected: self.longest as u64, got: bytes.len() as u64 });
        }
        sink.sealed(&bytes)
    }

    fn get(&self, _: &Header, source: &mut Source<impl BufRead>) -> Result<Text, WireError> {
        serde_json::from_slice(&source.rest("results", self.longest)?).map_err(WireError::scheme)
    }
}

/// Returns the fingerprint of the parameters of text objects: that of the first plaintext modulus.
fn fingerprint(contexts: &Contexts) -> Fingerprint {
    let first = match contexts.parts() {
        Parts::Bfv(contexts) => contexts.first().map(SchemeFormat::message_fingerprint),
        Parts::Bgv(contexts) => contexts.first().map(SchemeFormat::message_fingerprint),
        Parts::Ckks(context) => Some(context.message_fingerprint()),
        Parts::Integers(own) => Some(own.context().message_fingerprint()),
    };
    first.unwrap_or_default()
}
