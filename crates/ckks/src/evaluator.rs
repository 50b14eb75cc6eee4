//! Operations on ciphertexts: each validates once, brings operands together, then travels straight down.

mod add;
mod combination;
mod constant;
mod level;
mod multiply;
mod plain;
mod rotate;

pub use rotate::Hoisted;

use crate::{Ciphertext, CkksError, Context, Metadata};

/// Computes on ciphertexts without any secret.
///
/// Operands may stand at different levels: the higher one is brought to the level and scale of the other. Products take one
/// level and have the canonical scale of the next.
#[derive(Clone, Debug)]
pub struct Evaluator {
    context: Context,
}

impl Evaluator {
    /// An evaluator over `context`.
    #[must_use]
    pub fn new(context: &Context) -> Self {
        Self { context: context.clone() }
    }

    /// The context it computes in.
    #[must_use]
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// The same ciphertext with another bound on its slots, for whoever knows a tighter one than follows from the operations:
    /// estimates of errors and checks for overflow rely on it.
    ///
    /// # Errors
    /// [`CkksError::Value`] unless the bound is a positive number; [`CkksError::MessageTooLarge`].
    pub fn with_magnitude(&self, a: &Ciphertext, magnitude: f64) -> Result<Ciphertext, CkksError> {
        self.context.check(a)?;
        if !(magnitude.is_finite() && magnitude > 0.0) {
            let expected = "give a finite number above 0";
            return Err(CkksError::Value { what: "a magnitude of", got: magnitude, expected });
        }
        let precision = a.metadata().precision.with_magnitude(magnitude);
        let mut declared = a.clone();
        declared.set_metadata(Metadata { precision, ..a.metadata().clone() });
        self.context.finish(declared, "declare a magnitude", &[])
    }
}
