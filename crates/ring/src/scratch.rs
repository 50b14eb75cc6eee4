//! Memory that is kept between operations.

use std::ops::{Deref, DerefMut};
use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;
use sunzi_kernels::Buffer;
use zeroize::Zeroize;

/// Words kept at most (1 GiB): the temporaries of a linear transform at n = 2^16. Never more than were in use at once.
const MOST_WORDS: usize = 1 << 27;
/// Shorter buffers (below 64 KiB) go back to the allocator, which keeps them mapped itself.
pub const SHORTEST: usize = 1 << 13;

/// Words of a copy from which it pays (1 MiB).
const COPY_WORDS: usize = 1 << 17;
/// Words that one thread copies at once.
const COPY_PART: usize = 1 << 14;

static KEPT: Mutex<Store> = Mutex::new(Store::new(MOST_WORDS));

/// Buffers that nobody uses, the oldest first.
pub struct Store {
    /// The buffers, the oldest first.
    pub buffers: Vec<Buffer>,
    /// Words in all of them.
    pub words: usize,
    most: usize,
}

impl Store {
    /// At most so many words.
    pub const fn new(most: usize) -> Self {
        Self { buffers: Vec::new(), words: 0, most }
    }

    /// One of at least `len` words and at most twice as many, the shortest there is: computations go down the levels, and what higher ones
    /// left would otherwise have to go for fresh memory.
    pub fn take(&mut self, len: usize) -> Option<Buffer> {
        // Of equals the one that came last is most likely still in the caches.
        let fits = |(_, buffer): &(usize, &Buffer)| (len..=2 * len).contains(&buffer.len());
        let fitting = self.buffers.iter().enumerate().rev().filter(fits);
        let (at, _) = fitting.min_by_key(|(_, buffer)| buffer.len())?;
        let buffer = self.buffers.remove(at);
        self.words -= buffer.len();
        Some(buffer)
    }

    /// Keeps the buffer; returns those that have to go for it.
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

/// A buffer that returns to the process's store when dropped: a fresh one of its size would cost more in
/// page faults than the arithmetic done in it. Whoever puts a secret in erases it.
pub struct Scratch {
    buffer: Buffer,
    /// Words of it that are in use, from the first on.
    len: usize,
}

impl Scratch {
    /// `len` words of arbitrary content.
    pub fn new(len: usize) -> Self {
        Self { buffer: Self::kept(len).unwrap_or_else(|| Buffer::zeroed(len)), len }
    }

    /// `len` words of zero.
    pub fn zeroed(len: usize) -> Self {
        match Self::kept(len) {
            Some(buffer) => {
                let mut scratch = Self { buffer, len };
                scratch.fill(0);
                scratch
            }
            None => Self { buffer: Buffer::zeroed(len), len },
        }
    }

    /// A copy of `words`.
    pub fn from_slice(words: &[u64]) -> Self {
        let mut copy = Self::new(words.len());
        copy_words(&mut copy, words);
        copy
    }

    /// The first `len` words; the others are no more in use.
    pub(crate) fn truncate(&mut self, len: usize) {
        self.len = self.len.min(len);
    }

    fn kept(len: usize) -> Option<Buffer> {
        if len < SHORTEST {
            return None;
        }
        KEPT.lock().unwrap_or_else(PoisonError::into_inner).take(len)
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
            let surplus = KEPT.lock().unwrap_or_else(PoisonError::into_inner).keep(buffer);
            // Unmapped only here, where nobody waits for the store.
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
        // The rest is what an earlier owner left, erased if it was secret.
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
