//! Arrays of words that start on a cache line, so that no vector load straddles two lines.
#![expect(unsafe_code, reason = "views lines of eight words as words")]

use std::ops::{Deref, DerefMut};

use zeroize::Zeroize;

/// Eight words in one cache line.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Line([u64; 8]);

/// A fixed-length array of words aligned to 64 bytes.
///
/// Buffers have no `Debug`: they may hold secrets.
///
/// ```
/// let mut words = sunzi_kernels::Buffer::from_slice(&[1, 2, 3]);
/// words[0] = 7;
/// assert_eq!(&words[..], &[7, 2, 3]);
/// ```
#[derive(Clone, Default)]
pub struct Buffer {
    lines: Vec<Line>,
    len: usize,
}

impl Buffer {
    /// Makes a buffer of `len` words that are zero.
    #[must_use]
    pub fn zeroed(len: usize) -> Self {
        Self { lines: vec![Line([0; 8]); len.div_ceil(8)], len }
    }

    /// Makes a buffer of `len` words that are zero; `None` where there is no memory for it.
    #[must_use]
    pub fn try_zeroed(len: usize) -> Option<Self> {
        let (count, mut lines) = (len.div_ceil(8), Vec::new());
        lines.try_reserve_exact(count).ok()?;
        lines.resize(count, Line([0; 8]));
        Some(Self { lines, len })
    }

    /// Makes a buffer that is a copy of `words`.
    #[must_use]
    pub fn from_slice(words: &[u64]) -> Self {
        let mut buffer = Self::zeroed(words.len());
        buffer.copy_from_slice(words);
        buffer
    }
}

impl Deref for Buffer {
    type Target = [u64];

    #[inline]
    fn deref(&self) -> &[u64] {
        // SAFETY: `lines` holds at least `len` initialised words laid out without gaps (`Line` is
        // `repr(C)` and exactly 64 bytes), borrowed for as long as the result.
        unsafe { std::slice::from_raw_parts(self.lines.as_ptr().cast(), self.len) }
    }
}

impl DerefMut for Buffer {
    #[inline]
    fn deref_mut(&mut self) -> &mut [u64] {
        // SAFETY: as in `deref`, and the borrow is exclusive.
        unsafe { std::slice::from_raw_parts_mut(self.lines.as_mut_ptr().cast(), self.len) }
    }
}

impl Zeroize for Buffer {
    // Line by line: volatile writes go word by word.
    fn zeroize(&mut self) {
        self.lines.fill(Line([0; 8]));
        zeroize::optimization_barrier(self.lines.as_slice());
    }
}
