//! Uniform halves of keys, which follow from 32-byte seeds and are drawn when they are first needed.

use std::borrow::Cow;
use std::sync::OnceLock;

/// A uniform half of a key, which follows from a seed.
#[derive(Clone)]
pub(crate) struct UniformHalf<T> {
    drawn: OnceLock<T>,
    is_kept: bool,
}

impl<T: Clone> UniformHalf<T> {
    /// Makes a uniform half that is not drawn yet, and is stored from its first use on.
    pub(crate) fn new() -> Self {
        Self { drawn: OnceLock::new(), is_kept: true }
    }

    /// Drops the uniform half, which from now on is drawn for each use.
    pub(crate) fn forget(&mut self) {
        *self = Self { drawn: OnceLock::new(), is_kept: false };
    }

    /// The uniform half, if it is in memory.
    pub(crate) fn drawn(&self) -> Option<&T> {
        self.drawn.get()
    }

    /// Returns the uniform half, drawn if needed. Threads may draw it at the same time: all draw equal values.
    pub(crate) fn get<E>(&self, draw: impl FnOnce() -> Result<T, E>) -> Result<Cow<'_, T>, E> {
        if let Some(half) = self.drawn.get() {
            return Ok(Cow::Borrowed(half));
        }
        let half = draw()?;
        Ok(if self.is_kept { Cow::Borrowed(self.drawn.get_or_init(|| half)) } else { Cow::Owned(half) })
    }
}

impl<T> From<T> for UniformHalf<T> {
    fn from(half: T) -> Self {
        Self { drawn: half.into(), is_kept: true }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::convert::Infallible;

    use super::*;

    #[test]
    fn is_drawn_once_or_every_time() {
        let draws = Cell::new(0);
        let draw = || {
            draws.set(draws.get() + 1);
            Ok::<_, Infallible>(7)
        };
        let mut half = UniformHalf::new();
        assert_eq!(half.drawn(), None);
        assert!((0..3).all(|_| half.get(draw).is_ok_and(|value| *value == 7)));
        assert_eq!((half.drawn(), draws.get()), (Some(&7), 1));
        half.forget();
        assert!((0..3).all(|_| half.get(draw).is_ok_and(|value| *value == 7)));
        assert_eq!((half.drawn(), draws.get()), (None, 4));
        assert!(UniformHalf::<u8>::new().get(|| Err("no")).is_err());
        assert_eq!(UniformHalf::from(3).drawn(), Some(&3));
    }
}
