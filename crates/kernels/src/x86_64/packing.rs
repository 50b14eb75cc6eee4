//! Packing by vectors, eight words at a time: every 64-bit piece is made of the words that it overlaps, and every word of its pieces.
#![expect(
    unsafe_code,
    reason = "intrinsics called where their instructions were found, on windows of their length"
)]
#![expect(clippy::indexing_slicing, reason = "indices below eight into arrays of eight")]

use std::arch::x86_64::*;

use crate::constants::MAX_BITS;
use crate::isa::Isa;

/// Number of bytes read or written at once: eight words take no more, and a window that begins with them may
/// reach into the next.
const WINDOW: usize = 64;
/// Shortest word length in bits for which vectors pay: of shorter words a piece overlaps too many.
const LEAST_BITS: usize = 16;
/// Largest number of words of [`LEAST_BITS`] bits that a piece overlaps.
const TERMS: usize = 5;
/// Longest words, in bits, that lie in eight bytes, wherever they begin in the first byte.
const MOST_BITS_IN_BYTES: usize = 57;

/// Writes as many groups of eight words as vectors can; returns the number of words written.
pub(crate) fn pack(isa: Isa, out: &mut [u8], words: &[u64], bits: usize) -> usize {
    match isa {
        Isa::Avx512Ifma if bits >= LEAST_BITS && bits.is_multiple_of(8) => {
            // SAFETY: the processor has what the instruction set consists of, byte permutations among it.
            8 * unsafe { pack_bytes(out, words, bits) }
        }
        Isa::Avx512Ifma | Isa::Avx512Dq if bits >= LEAST_BITS => {
            let Some(pieces) = PIECES.get(bits) else { return 0 };
            let pack = match 64_usize.div_ceil(bits) {
                1 | 2 => pack_512::<3>,
                3 => pack_512::<4>,
                _ => pack_512::<TERMS>,
            };
            // SAFETY: the processor has what the instruction set consists of.
            8 * unsafe { pack(out, words, bits, pieces) }
        }
        _ => 0,
    }
}

/// Reads as many groups of eight words as vectors can; returns the number of words read, and the largest.
pub(crate) fn unpack(isa: Isa, out: &mut [u64], bytes: &[u8], bits: usize) -> (usize, u64) {
    let (groups, largest) = match (isa, WORDS.get(bits)) {
        (Isa::Avx512Ifma, Some(words)) if bits <= MOST_BITS_IN_BYTES => {
            // SAFETY: the processor has what the instruction set consists of, byte permutations among it.
            unsafe { unpack_bytes(out, bytes, bits, words) }
        }
        (Isa::Avx512Ifma | Isa::Avx512Dq, Some(words)) => {
            // SAFETY: the processor has what the instruction set consists of.
            unsafe { unpack_512(out, bytes, bits, words) }
        }
        (Isa::Avx2, Some(words)) if bits <= MOST_BITS_IN_BYTES => {
            // SAFETY: as above.
            unsafe { unpack_256(out, bytes, bits, words) }
        }
        _ => (0, 0),
    };
    (8 * groups, largest)
}

/// Positions of the eight words of a group among its 64-bit pieces.
struct Words {
    /// Index of the piece that each word begins in, and of the piece after it.
    piece: [[u64; 8]; 2],
    /// Shifts of both pieces, the first right, the second left.
    shift: [[u64; 8]; 2],
    /// Byte that each word begins in, and the right shift of the eight bytes from there.
    byte: [usize; 8],
    rest: [u64; 8],
}

/// Words that the eight 64-bit pieces of a group overlap.
struct Pieces {
    word: [[u64; 8]; TERMS],
    /// Shifts of the words: the first right, the others left; by 64, which leaves nothing, where there is no more.
    shift: [[u64; 8]; TERMS],
}

/// Positions of words, by their length in bits.
static WORDS: [Words; MAX_BITS as usize + 1] = {
    let mut all = [const { Words { piece: [[0; 8]; 2], shift: [[0; 8]; 2], byte: [0; 8], rest: [0; 8] } };
        MAX_BITS as usize + 1];
    let mut bits = 0;
    while bits < all.len() {
        let mut i = 0;
        while i < 8 {
            let (piece, skipped) = (i * bits / 64, i * bits % 64);
            let words = &mut all[bits];
            words.piece[0][i] = piece as u64;
            words.piece[1][i] = (piece + 1) as u64 % 8;
            words.shift[0][i] = skipped as u64;
            words.shift[1][i] = 64 - skipped as u64;
            words.byte[i] = i * bits / 8;
            words.rest[i] = (i * bits % 8) as u64;
            i += 1;
        }
        bits += 1;
    }
    all
};

/// Words of the pieces of a group, by word length in bits; unused below the least length.
static PIECES: [Pieces; MAX_BITS as usize + 1] = {
    let mut all =
        [const { Pieces { word: [[0; 8]; TERMS], shift: [[64; 8]; TERMS] } }; MAX_BITS as usize + 1];
    let mut bits = LEAST_BITS;
    while bits < all.len() {
        let mut piece = 0;
        while piece < 8 {
            let (first, skipped) = (64 * piece / bits, 64 * piece % bits);
            let mut term = 0;
            while term < TERMS && first + term < 8 {
                let shift = if term == 0 { skipped } else { term * bits - skipped };
                all[bits].word[term][piece] = (first + term) as u64;
                all[bits].shift[term][piece] = if shift < 64 { shift as u64 } else { 64 };
                term += 1;
            }
            piece += 1;
        }
        bits += 1;
    }
    all
};

#[inline(always)]
fn load(words: &[u64; 8]) -> __m512i {
    // SAFETY: called where there are the instructions; the reference is valid for eight words.
    unsafe { _mm512_loadu_si512(words.as_ptr().cast()) }
}

#[target_feature(enable = "avx512f")]
fn pack_512<const OVERLAPPED: usize>(out: &mut [u8], words: &[u64], bits: usize, pieces: &Pieces) -> usize {
    let (word, shift) = (pieces.word.each_ref().map(load), pieces.shift.each_ref().map(load));
    let (groups, _) = words.as_chunks::<8>();
    for (done, group) in groups.iter().enumerate() {
        // Bytes written after the group are overwritten by the next.
        let window = out.get_mut(done * bits..).and_then(|rest| rest.first_chunk_mut::<WINDOW>());
        let Some(window) = window else { return done };
        let v = load(group);
        let [first, others @ ..] = &word;
        let [right, left @ ..] = &shift;
        let mut piece = _mm512_srlv_epi64(_mm512_permutexvar_epi64(*first, v), *right);
        for (word, left) in others.iter().zip(left).take(OVERLAPPED - 1) {
            let next = _mm512_sllv_epi64(_mm512_permutexvar_epi64(*word, v), *left);
            piece = _mm512_or_si512(piece, next);
        }
        // SAFETY: the window has as many bytes.
        unsafe { _mm512_storeu_si512(window.as_mut_ptr().cast(), piece) };
    }
    groups.len()
}

/// Packs words of whole bytes: one permutation a group, where other lengths take three and as many shifts.
#[target_feature(enable = "avx512f,avx512vbmi")]
fn pack_bytes(out: &mut [u8], words: &[u64], bits: usize) -> usize {
    let len = bits / 8;
    let order: [u8; WINDOW] = std::array::from_fn(|at| (at / len * 8 + at % len) as u8);
    // SAFETY: the array has as many bytes.
    let order = unsafe { _mm512_loadu_si512(order.as_ptr().cast()) };
    let (groups, _) = words.as_chunks::<8>();
    for (done, group) in groups.iter().enumerate() {
        let window = out.get_mut(done * bits..).and_then(|rest| rest.first_chunk_mut::<WINDOW>());
        let Some(window) = window else { return done };
        // SAFETY: the window has as many bytes.
        unsafe {
            _mm512_storeu_si512(window.as_mut_ptr().cast(), _mm512_permutexvar_epi8(order, load(group)))
        };
    }
    groups.len()
}

/// Unpacks every word from the eight bytes that it lies in.
#[target_feature(enable = "avx512f,avx512vbmi")]
fn unpack_bytes(out: &mut [u64], bytes: &[u8], bits: usize, words: &Words) -> (usize, u64) {
    let order: [u8; WINDOW] = std::array::from_fn(|at| (words.byte[at / 8] + at % 8) as u8);
    // SAFETY: the array has as many bytes.
    let order = unsafe { _mm512_loadu_si512(order.as_ptr().cast()) };
    let (rest, mask) = (load(&words.rest), _mm512_set1_epi64((1 << bits) - 1));
    let (mut largest, mut done) = (_mm512_setzero_si512(), 0);
    for group in out.as_chunks_mut::<8>().0 {
        let Some(window) = bytes.get(done * bits..).and_then(|rest| rest.first_chunk::<WINDOW>()) else {
            break;
        };
        // SAFETY: the window has as many bytes.
        let v = unsafe { _mm512_loadu_si512(window.as_ptr().cast()) };
        let begin = _mm512_srlv_epi64(_mm512_permutexvar_epi8(order, v), rest);
        let word = _mm512_and_si512(begin, mask);
        largest = _mm512_max_epu64(largest, word);
        // SAFETY: the group has as many words.
        unsafe { _mm512_storeu_si512(group.as_mut_ptr().cast(), word) };
        done += 1;
    }
    (done, _mm512_reduce_max_epu64(largest))
}

#[target_feature(enable = "avx512f")]
fn unpack_512(out: &mut [u64], bytes: &[u8], bits: usize, words: &Words) -> (usize, u64) {
    /// Selector of the function (a or b) and c.
    const JOINED: i32 = 0xA8;
    let [[low, high], [right, left]] = [&words.piece, &words.shift].map(|pair| pair.each_ref().map(load));
    let mask = _mm512_set1_epi64((1 << bits) - 1);
    let (mut largest, mut done) = (_mm512_setzero_si512(), 0);
    for group in out.as_chunks_mut::<8>().0 {
        let Some(window) = bytes.get(done * bits..).and_then(|rest| rest.first_chunk::<WINDOW>()) else {
            break;
        };
        // SAFETY: the window has as many bytes.
        let v = unsafe { _mm512_loadu_si512(window.as_ptr().cast()) };
        let begin = _mm512_srlv_epi64(_mm512_permutexvar_epi64(low, v), right);
        let end = _mm512_sllv_epi64(_mm512_permutexvar_epi64(high, v), left);
        let word = _mm512_ternarylogic_epi64::<JOINED>(begin, end, mask);
        largest = _mm512_max_epu64(largest, word);
        // SAFETY: the group has as many words.
        unsafe { _mm512_storeu_si512(group.as_mut_ptr().cast(), word) };
        done += 1;
    }
    (done, _mm512_reduce_max_epu64(largest))
}

/// Unpacks four words at a time, each from the eight bytes that it begins in.
#[target_feature(enable = "avx2")]
fn unpack_256(out: &mut [u64], bytes: &[u8], bits: usize, words: &Words) -> (usize, u64) {
    let mask = _mm256_set1_epi64x((1 << bits) - 1);
    // Of the sixteen bytes around a pair, eight from where each word begins.
    let at = |i: usize, b: usize| (words.byte[i] - words.byte[i & !1] + b) as i8;
    let pick = [0, 4].map(|half| {
        let order: [i8; 32] = std::array::from_fn(|k| at(half + k / 8, k % 8));
        // SAFETY: the array has as many bytes.
        unsafe { _mm256_loadu_si256(order.as_ptr().cast()) }
    });
    let (rest, _) = words.rest.as_chunks::<4>();
    let (mut largest, mut done) = (_mm256_setzero_si256(), 0);
    for group in out.as_chunks_mut::<8>().0 {
        let Some(window) = bytes.get(done * bits..).and_then(|rest| rest.first_chunk::<WINDOW>()) else {
            break;
        };
        let halves = group.as_chunks_mut::<4>().0.iter_mut().zip(words.byte.as_chunks::<4>().0);
        for (((four, start), pick), rest) in halves.zip(pick).zip(rest) {
            let pair = |start: usize| {
                let sixteen =
                    window.get(start..).and_then(|rest| rest.first_chunk::<16>()).unwrap_or(&[0; 16]);
                // SAFETY: there are as many bytes.
                unsafe { _mm_loadu_si128(sixteen.as_ptr().cast()) }
            };
            let v = _mm256_set_m128i(pair(start[2]), pair(start[0]));
            // SAFETY: the array has as many words.
            let shift = unsafe { _mm256_loadu_si256(rest.as_ptr().cast()) };
            let word = _mm256_and_si256(_mm256_srlv_epi64(_mm256_shuffle_epi8(v, pick), shift), mask);
            // No word is negative.
            largest = _mm256_blendv_epi8(largest, word, _mm256_cmpgt_epi64(word, largest));
            // SAFETY: as above.
            unsafe { _mm256_storeu_si256(four.as_mut_ptr().cast(), word) };
        }
        done += 1;
    }
    let mut each = [0_u64; 4];
    // SAFETY: as above.
    unsafe { _mm256_storeu_si256(each.as_mut_ptr().cast(), largest) };
    (done, each.into_iter().max().unwrap_or(0))
}
