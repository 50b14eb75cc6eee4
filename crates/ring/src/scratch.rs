//! Memory for temporaries that is kept between operations.

use std::ops::{Deref, DerefMut, RangeInclusive};
use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;
use sunzi_kernels::Buffer;
use zeroize::Zeroize;

/// Largest number of words that are kept (1 GiB): the temporaries of a linear transform at n = 2^16. Never
/// more are kept than were in use at once.
const MOST_WORDS: usize = 1 << 27;
/// Least length, in words, of a buffer that is kept: shorter ones (below 64 KiB) go back to the allocator, which
/// keeps them mapped itself.
pub const SHORTEST: usize = 1 << 13;

/// Number of words of a copy from which several threads share it (1 MiB).
const COPY_WORDS: usize = 1 << 17;
/// Number of words that one thread copies at once.
const COPY_PART: usize = 1 << 14;

static STORE: Mutex<Store> = Mutex::new(Store::new(MOST_WORDS));

/// A store of unused buffers for temporaries.
pub struct Store {
    /// The unused buffers of the store, the oldest first.
    pub buffers: Vec<Buffer>,
    /// The total words of all buffers in the store.
    pub words: usize,
    most: usize,
}

impl Store {
    /// An empty store of buffers that keeps at most `most` words.
    pub const fn new(most: usize) -> Self {
        Self { buffers: Vec::new(), words: 0, most }
    }

    /// Takes the shortest buffer whose number of words lies in this range.
    pub fn take(&mut self, lengths: RangeInclusive<usize>) -> Option<Buffer> {
        // Of buffers of equal length, the one that came last is most likely still in the caches.
        let fits = |(_, buffer): &(usize, &Buffer)| lengths.contains(&buffer.len());
        let fitting = self.buffers.iter().enumerate().rev().filter(fits);
        let (at, _) = fitting.min_by_key(|(_, buffer)| buffer.len())?;
        let buffer = self.buffers.remove(at);
        self.words -= buffer.len();
        Some(buffer)
    }

    /// Keeps a buffer in the store; returns the buffers that must be freed to make room for it.
    pub fn keep(&mut self, buffer: Buffer) -> Vec<Buffer> {
        self.words += buffer.len();
        self.buffers.push(buffer);
        let mut surplus = 0;
        for buffer in &self.buffers {
            if self.words <= self.most {
                break;
            }
            self.words -= buffer.len();
            surplus += 1;
        }
        self.buffers.drain(..surplus).collect()
    }
}

/// Returns the lengths of buffers that serve a temporary of `len` words, which are up to twice as many: computations go
/// down the levels, and buffers that higher levels left would otherwise have to go for fresh memory.
pub fn up_to_twice(len: usize) -> RangeInclusive<usize> {
    len..=2 * len
}

/// A buffer that returns to the process's store when dropped: a fresh one of its size would cost more in
/// page faults than the arithmetic done in it. Whoever puts a secret in erases it.
pub struct Scratch {
    buffer: Buffer,
    /// Number of words of the buffer that are in use, from the first on.
    len: usize,
}

impl Scratch {
    /// A buffer of `len` words of arbitrary content.
    pub fn new(len: usize) -> Self {
        Self { buffer: Self::stored(up_to_twice(len)).unwrap_or_else(|| Buffer::zeroed(len)), len }
    }

    /// A buffer of `len` words of zero.
    pub fn zeroed(len: usize) -> Self {
        match Self::stored(up_to_twice(len)) {
            Some(buffer) => {
                let mut scratch = Self { buffer, len };
                scratch.fill(0);
                scratch
            }
            None => Self { buffer: Buffer::zeroed(len), len },
        }
    }

    /// A buffer of `len` words of arbitrary content that stays for long: it has no words beside these.
    pub(crate) fn lasting(len: usize) -> Self {
        Self { buffer: Self::stored(len..=len).unwrap_or_else(|| Buffer::zeroed(len)), len }
    }

    /// A buffer with a copy of `words`.
    pub fn from_slice(words: &[u64]) -> Self {
        let mut copy = Self::new(words.len());
        copy_words(&mut copy, words);
        copy
    }

    /// Cuts the buffer to its first `len` words; the others are no longer in use.
    pub(crate) fn truncate(&mut self, len: usize) {
        self.len = self.len.min(len);
    }

    /// Takes a buffer of the process's store whose number of words lies in this range.
    fn stored(lengths: RangeInclusive<usize>) -> Option<Buffer> {
        if *lengths.start() < SHORTEST {
            return None;
        }
        STORE.lock().unwrap_or_else(PoisonError::into_inner).take(lengths)
    }
}

impl Clone for Scratch {
    fn clone(&self) -> Self {
        Self::from_slice(self)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let buffer = std::mem::take(&mut self.buffer);
        if buffer.len() >= SHORTEST {
            let surplus = STORE.lock().unwrap_or_else(PoisonError::into_inner).keep(buffer);
            // Surplus memory is unmapped only here, where nobody waits for the store.
            drop(surplus);
        }
    }
}

impl Deref for Scratch {
    type Target = [u64];

    fn deref(&self) -> &[u64] {
        self.buffer.get(..self.len).unwrap_or_default()
    }
}

impl DerefMut for Scratch {
    fn deref_mut(&mut self) -> &mut [u64] {
        self.buffer.get_mut(..self.len).unwrap_or_default()
    }
}

impl Zeroize for Scratch {
    fn zeroize(&mut self) {
        // The rest of the buffer holds words of an earlier owner, who erased them if they were secret.
        self.fill(0);
        zeroize::optimization_barrier(&**self);
    }
}

/// Copies words, by several threads if they are many.
fn copy_words(to: &mut [u64], from: &[u64]) {
    if to.len() >= COPY_WORDS && rayon::current_thread_index().is_some() && rayon::current_num_threads() > 1 {
        let parts = to.par_chunks_mut(COPY_PART).zip(from.par_chunks(COPY_PART));
        parts.for_each(|(to, from)| to.copy_from_slice(from));
    } else {
        to.copy_from_slice(from);
    }
}
