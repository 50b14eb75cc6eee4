//! Packs words of a fixed length in bits, one after the other: how residues are stored and sent.
//!
//! Word i takes the bits i·b to (i + 1)·b − 1 of a little-endian number. Eight words take b bytes, which is why lengths are
//! constants of the portable loops: every offset and every shift is known when they are compiled. Vectors take both from tables.

use crate::constants::MAX_BITS;
use crate::error::KernelError;
use crate::isa::Isa;
use crate::select::active_isa;
#[cfg(target_arch = "x86_64")]
use crate::x86_64::packing as vectors;

/// Calls the packing loop that is compiled for a word length.
macro_rules! with_length {
    ($bits:expr, $function:ident, $arguments:tt, $($length:literal)*) => {
        match $bits {
            $($length => with_length!(@ $function, $length, $arguments),)*
            _ => Default::default(),
        }
    };
    (@ $function:ident, $length:literal, ($($argument:expr),*)) => {
        $function::<$length>($($argument),*)
    };
    ($bits:expr, $function:ident, $arguments:tt) => {
        with_length!(
            $bits, $function, $arguments,
            1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39 40
            41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62
        )
    };
}

/// Number of bytes that `count` words of `bits` bits take; `None` if it exceeds `usize`.
#[must_use]
pub fn packed_len(count: usize, bits: u32) -> Option<usize> {
    let whole = (count / 8).checked_mul(bits as usize)?;
    whole.checked_add((count % 8 * bits as usize).div_ceil(8))
}

/// Writes words below 2^`bits` into exactly [`packed_len`] bytes; the bits after the last word are 0.
///
/// ```
/// let words = [1, 2, 3, 4, 5, 6, 7, 0];
/// let mut bytes = [0; 3];
/// sunzi_kernels::pack(&mut bytes, &words, 3)?;
/// let mut again = [0; 8];
/// assert_eq!(sunzi_kernels::unpack(&mut again, &bytes, 3)?, 7);
/// assert_eq!(again, words);
/// # Ok::<(), sunzi_kernels::KernelError>(())
/// ```
///
/// # Errors
/// [`KernelError::PackedLength`]; [`KernelError::WordLength`] outside of 1 ≤ `bits` ≤ 62. Longer words give unspecified
/// bytes.
pub fn pack(out: &mut [u8], words: &[u64], bits: u32) -> Result<(), KernelError> {
    pack_on(active_isa().unwrap_or(Isa::Portable), out, words, bits)
}

pub(crate) fn pack_on(isa: Isa, out: &mut [u8], words: &[u64], bits: u32) -> Result<(), KernelError> {
    check(words.len(), out.len(), bits)?;
    let done = vectors::pack(isa, out, words, bits as usize);
    let (words, out) = (words.get(done..), out.get_mut(done / 8 * bits as usize..));
    if let (Some(words), Some(out)) = (words, out) {
        with_length!(bits, pack_all, (out, words));
    }
    Ok(())
}

/// Stand-in for packing without vectors: packs and unpacks no word.
#[cfg(not(target_arch = "x86_64"))]
mod vectors {
    use crate::isa::Isa;

    pub(super) fn pack(_: Isa, _: &mut [u8], _: &[u64], _: usize) -> usize {
        0
    }

    pub(super) fn unpack(_: Isa, _: &mut [u64], _: &[u8], _: usize) -> (usize, u64) {
        (0, 0)
    }
}

/// Reads words of `bits` bits from exactly [`packed_len`] bytes, and returns the largest of them, for the caller to compare with
/// the modulus.
///
/// # Errors
/// Every error of [`pack`]; [`KernelError::Padding`] if bits after the last word are not 0. The words are then unspecified.
pub fn unpack(out: &mut [u64], bytes: &[u8], bits: u32) -> Result<u64, KernelError> {
    unpack_on(active_isa().unwrap_or(Isa::Portable), out, bytes, bits)
}

pub(crate) fn unpack_on(isa: Isa, out: &mut [u64], bytes: &[u8], bits: u32) -> Result<u64, KernelError> {
    check(out.len(), bytes.len(), bits)?;
    let used = out.len() % 8 * bits as usize % 8;
    if used > 0 && bytes.last().is_some_and(|last| last >> used != 0) {
        return Err(KernelError::Padding);
    }
    let (done, largest) = vectors::unpack(isa, out, bytes, bits as usize);
    let (Some(out), Some(bytes)) = (out.get_mut(done..), bytes.get(done / 8 * bits as usize..)) else {
        return Ok(largest);
    };
    let rest: u64 = with_length!(bits, unpack_all, (out, bytes));
    Ok(rest.max(largest))
}

fn check(words: usize, bytes: usize, bits: u32) -> Result<(), KernelError> {
    if !(1..=MAX_BITS).contains(&bits) {
        return Err(KernelError::WordLength { bits });
    }
    let expected = packed_len(words, bits).unwrap_or(usize::MAX);
    if bytes == expected { Ok(()) } else { Err(KernelError::PackedLength { expected, got: bytes }) }
}

fn pack_all<const BITS: usize>(out: &mut [u8], words: &[u64]) {
    let (groups, rest) = words.as_chunks::<8>();
    // The remainder may take as many bytes as eight words.
    let (whole, last) = out.split_at_mut_checked(groups.len() * BITS).unwrap_or_default();
    let (chunks, _) = whole.as_chunks_mut::<BITS>();
    for (chunk, group) in chunks.iter_mut().zip(groups) {
        pack_eight(chunk, group);
    }
    let (mut group, mut chunk) = ([0; 8], [0; BITS]);
    group.iter_mut().zip(rest).for_each(|(to, &word)| *to = word);
    pack_eight(&mut chunk, &group);
    last.iter_mut().zip(chunk).for_each(|(to, byte)| *to = byte);
}

fn unpack_all<const BITS: usize>(out: &mut [u64], bytes: &[u8]) -> u64 {
    let (groups, rest) = out.as_chunks_mut::<8>();
    let (whole, last) = bytes.split_at_checked(groups.len() * BITS).unwrap_or_default();
    let (chunks, _) = whole.as_chunks::<BITS>();
    let mut largest = 0;
    for (group, chunk) in groups.iter_mut().zip(chunks) {
        *group = unpack_eight(chunk);
        largest = group.iter().fold(largest, |largest, &word| word.max(largest));
    }
    let mut chunk = [0; BITS];
    chunk.iter_mut().zip(last).for_each(|(to, &byte)| *to = byte);
    rest.iter_mut().zip(unpack_eight(&chunk)).for_each(|(to, word)| *to = word);
    rest.iter().fold(largest, |largest, &word| word.max(largest))
}

#[inline(always)]
fn pack_eight<const BITS: usize>(chunk: &mut [u8; BITS], group: &[u64; 8]) {
    for (i, piece) in chunk.chunks_mut(8).enumerate() {
        // Every piece is made from the words that it overlaps: none waits for the piece before.
        let (first, skipped) = (64 * i / BITS, 64 * i % BITS);
        let mut words = group.iter().skip(first);
        let mut bits = words.next().map_or(0, |word| word >> skipped);
        for (word, shift) in words.zip((BITS - skipped..64).step_by(BITS)) {
            bits |= word << shift;
        }
        piece.iter_mut().zip(bits.to_le_bytes()).for_each(|(to, byte)| *to = byte);
    }
}

/// Unpacks eight words, each from the 8 bytes around it, or 16 where it may touch nine: shifts that do not
/// wait for each other.
#[inline(always)]
fn unpack_eight<const BITS: usize>(chunk: &[u8; BITS]) -> [u64; 8] {
    let width = if BITS > 57 { 16 } else { 8 };
    std::array::from_fn(|i| {
        let start = (i * BITS / 8).min(BITS.saturating_sub(width));
        let end = BITS.min(start + width);
        let mut window = [0; 16];
        window.iter_mut().zip(chunk.get(start..end).unwrap_or_default()).for_each(|(to, &byte)| *to = byte);
        let word = (u128::from_le_bytes(window) >> (i * BITS - 8 * start)) as u64;
        word & ((1 << BITS) - 1)
    })
}
