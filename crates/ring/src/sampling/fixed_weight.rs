//! Sparse ternary secrets of fixed Hamming weight.

use rand_core::CryptoRng;
use subtle::{Choice, ConditionallySelectable};
use zeroize::Zeroizing;

use super::check_count;
use crate::RingError;

/// Draws n coefficients of which exactly `weight` are ±1 with uniform signs, at uniformly random positions.
///
/// Signed ones are shuffled by sorting under random 61-bit keys with a network of comparators fixed by n:
/// constant time in positions and signs. A draw with two equal keys (probability below n²/2^62) is
/// repeated, which tells nothing about the positions.
///
/// # Errors
/// [`RingError::OutOfRange`] for weight > n or n above 2^24.
pub fn fixed_weight_ternary<G: CryptoRng + ?Sized>(
    n: usize,
    weight: usize,
    rng: &mut G,
) -> Result<Zeroizing<Vec<i64>>, RingError> {
    check_count(n)?;
    if weight > n {
        return Err(RingError::out_of_range("Hamming weight", format_args!("at most {n}"), weight));
    }
    // Layout of a word: key in bits 2..63, value + 1 in bits 0..2; bit 63 stays clear for the comparators.
    let mut cards = Zeroizing::new(vec![0_u64; n]);
    loop {
        for (i, card) in cards.iter_mut().enumerate() {
            let word = rng.next_u64();
            let value = if i < weight { word >> 63 << 1 } else { 1 };
            *card = (word << 2 & (u64::MAX >> 1)) | value;
        }
        sort(&mut cards);
        let ties: u64 = cards.windows(2).map(|w| u64::from(matches!(w, [a, b] if a >> 2 == b >> 2))).sum();
        if ties == 0 {
            break;
        }
    }
    let mut out = Zeroizing::new(Vec::with_capacity(n));
    out.extend(cards.iter().map(|card| (card & 3) as i64 - 1));
    Ok(out)
}

/// Sorts words by Batcher's merge exchange for any length [Knuth, TAOCP 3, 5.2.2, Algorithm M].
pub fn sort(cards: &mut [u64]) {
    let n = cards.len();
    let top = n.next_power_of_two() / 2;
    let mut p = top;
    while p > 0 {
        let (mut q, mut r, mut d) = (top, 0, p);
        loop {
            for i in (0..n.saturating_sub(d)).filter(|i| i & p == r) {
                compare_exchange(cards, i, i + d);
            }
            if q == p {
                break;
            }
            (d, q, r) = (q - p, q / 2, p);
        }
        p /= 2;
    }
}

/// Puts the smaller of two words below 2^63 first.
fn compare_exchange(cards: &mut [u64], low: usize, high: usize) {
    if let Ok([a, b]) = cards.get_disjoint_mut([low, high]) {
        let swap = b.wrapping_sub(*a) >> 63;
        u64::conditional_swap(a, b, Choice::from(swap as u8));
    }
}
