//! Working memory that is kept between operations.

use std::ops::{Deref, DerefMut};
use std::sync::Mutex;

use sunzi_kernels::Buffer;

/// Words kept at most (64 MiB).
const KEPT_WORDS: usize = 1 << 23;

static KEPT: Mutex<Vec<Buffer>> = Mutex::new(Vec::new());

/// A buffer of arbitrary content that returns to the process's store when dropped: a fresh one of this size
/// would cost as much in page faults as the transforms that use it. Whoever puts a secret in erases it.
pub(crate) struct Scratch(Buffer);

impl Scratch {
    /// `len` words of arbitrary content.
    pub(crate) fn new(len: usize) -> Self {
        let kept = KEPT.lock().ok().and_then(|mut kept| {
            let fitting = kept.iter().rposition(|buffer| buffer.len() == len)?;
            Some(kept.remove(fitting))
        });
        Self(kept.unwrap_or_else(|| Buffer::zeroed(len)))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let buffer = std::mem::take(&mut self.0);
        if let Ok(mut kept) = KEPT.lock() {
            // The oldest go first.
            while kept.iter().map(|buffer| buffer.len()).sum::<usize>() + buffer.len() > KEPT_WORDS {
                if kept.is_empty() {
                    return;
                }
                kept.remove(0);
            }
            kept.push(buffer);
        }
    }
}

impl Deref for Scratch {
    type Target = [u64];

    fn deref(&self) -> &[u64] {
        &self.0
    }
}

impl DerefMut for Scratch {
    fn deref_mut(&mut self) -> &mut [u64] {
        &mut self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_come_back_and_the_store_is_bounded() {
        let len = 12_345;
        let mut scratch = Scratch::new(len);
        scratch.fill(7);
        drop(scratch);
        assert_eq!(Scratch::new(len).len(), len);
        drop((0..20).map(|i| Scratch::new(KEPT_WORDS / 16 + i)).collect::<Vec<_>>());
        drop(Scratch::new(KEPT_WORDS + 1));
        let kept: usize = KEPT.lock().unwrap().iter().map(|buffer| buffer.len()).sum();
        assert!(kept <= KEPT_WORDS);
    }
}
