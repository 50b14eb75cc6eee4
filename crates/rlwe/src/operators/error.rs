//! The error that an operator keeps.

use std::error::Error;
use std::fmt;
use std::panic::Location;
use std::sync::Arc;

/// A place in the source of a program: where an operand was bound or an operator stands.
pub type Place = &'static Location<'static>;

/// The first error of a chain of operators: which failed, where it stands, and where its operands come from. Each scheme
/// has a name for it with its own error.
#[derive(Debug)]
pub struct OperatorError<E>(Arc<Failure<E>>);

#[derive(Debug)]
struct Failure<E> {
    operation: &'static str,
    place: Place,
    operands: [Option<Place>; 2],
    error: E,
}

impl<E> OperatorError<E> {
    pub(super) fn new(operation: &'static str, place: Place, operands: [Option<Place>; 2], error: E) -> Self {
        Self(Arc::new(Failure { operation, place, operands, error }))
    }

    /// The error of the scheme.
    #[must_use]
    pub fn error(&self) -> &E {
        &self.0.error
    }

    /// The operator that failed, in words: "a product", "a rotation".
    #[must_use]
    pub fn operation(&self) -> &'static str {
        self.0.operation
    }

    /// The place of the operator in the source.
    #[must_use]
    pub fn place(&self) -> Place {
        self.0.place
    }

    /// The places where the ciphertexts that the operator was given were bound or computed, the left one first.
    pub fn operands(&self) -> impl Iterator<Item = Place> + '_ {
        self.0.operands.iter().flatten().copied()
    }

    /// Returns the scheme's error alone, where no other value holds it.
    ///
    /// # Errors
    /// The error itself, where clones of it exist.
    pub fn into_error(self) -> Result<E, Self> {
        Arc::try_unwrap(self.0).map(|failure| failure.error).map_err(Self)
    }
}

impl<E> Clone for OperatorError<E> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<E: fmt::Display> fmt::Display for OperatorError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Failure { operation, place, operands, error } = &*self.0;
        write!(f, "{operation} at {place}")?;
        match operands {
            [Some(left), Some(right)] => write!(f, ", of what was made at {left} and at {right}")?,
            [Some(only), None] => write!(f, ", of what was made at {only}")?,
            _ => {}
        }
        write!(f, ": {error}")
    }
}

impl<E: Error + 'static> Error for OperatorError<E> {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.0.error)
    }
}
