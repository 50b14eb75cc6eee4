//! Values whose type only one storage of residues knows.

use std::any::Any;

use zeroize::Zeroize;

use crate::RingError;

/// Trait of the values that a storage may keep in an [`Opaque`].
pub trait Content: Any + Clone + Send + Sync + Zeroize {
    /// Length of the value in memory, in bytes.
    fn byte_len(&self) -> usize;
}

/// [`Content`] as a trait object.
trait Object: Any + Send + Sync {
    fn duplicate(&self) -> Box<dyn Object>;
    fn erase(&mut self);
    fn bytes(&self) -> usize;
}

impl<T: Content> Object for T {
    fn duplicate(&self) -> Box<dyn Object> {
        Box::new(self.clone())
    }

    fn erase(&mut self) {
        self.zeroize();
    }

    fn bytes(&self) -> usize {
        self.byte_len()
    }
}

/// A value of some storage: digits, parts of keys, residues that are no words. It does not print: it may hold a secret.
pub struct Opaque(Box<dyn Object>);

impl Opaque {
    /// Hides the type of a value that a storage keeps.
    #[must_use]
    pub fn new(content: impl Content) -> Self {
        Self(Box::new(content))
    }

    /// The hidden value, for the storage that made it.
    ///
    /// # Errors
    /// [`RingError::OtherStorage`] for a value of another storage.
    pub fn get<T: Content>(&self) -> Result<&T, RingError> {
        let object: &dyn Any = &*self.0;
        object.downcast_ref().ok_or(RingError::OtherStorage)
    }

    /// The hidden value, mutable, for the storage that made it.
    ///
    /// # Errors
    /// [`RingError::OtherStorage`] for a value of another storage.
    pub fn get_mut<T: Content>(&mut self) -> Result<&mut T, RingError> {
        let object: &mut dyn Any = &mut *self.0;
        object.downcast_mut().ok_or(RingError::OtherStorage)
    }

    /// Length of the hidden value in memory, in bytes.
    #[must_use]
    pub fn byte_len(&self) -> usize {
        self.0.bytes()
    }
}

impl Clone for Opaque {
    fn clone(&self) -> Self {
        Self(self.0.duplicate())
    }
}

impl Zeroize for Opaque {
    fn zeroize(&mut self) {
        self.0.erase();
    }
}
