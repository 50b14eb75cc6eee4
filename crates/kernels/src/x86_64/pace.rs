//! Loops of known length that only the multiplier limits: the measure of instruction bounds.
#![expect(unsafe_code, reason = "functions that need instructions, called where they were found")]

use std::arch::x86_64::*;
use std::hint::black_box;

use crate::isa::Isa;

/// Number of chains that do not wait for each other, more than any processor has in flight.
const CHAINS: usize = 12;

/// Runs `rounds` rounds of 52-bit multiply-adds on 512-bit vectors; returns how many instructions ran,
/// or `None` without such vectors.
#[must_use]
pub fn run_multiply_adds(rounds: u32) -> Option<u64> {
    // SAFETY: the instructions are there.
    Isa::Avx512Ifma.is_available().then(|| unsafe { multiply_adds(rounds) })
}

/// Runs `rounds` rounds of additions on 512-bit vectors, which every vector port takes; returns how many instructions ran, or `None` without such vectors.
#[must_use]
pub fn run_additions(rounds: u32) -> Option<u64> {
    // SAFETY: as above.
    Isa::Avx512Ifma.is_available().then(|| unsafe { additions(rounds) })
}

#[target_feature(enable = "avx512f,avx512ifma")]
fn multiply_adds(rounds: u32) -> u64 {
    let factor = _mm512_set1_epi64(black_box(3));
    let mut chains = [factor; CHAINS];
    for _ in 0..rounds {
        for x in &mut chains {
            *x = _mm512_madd52lo_epu64(*x, *x, factor);
        }
    }
    black_box(chains);
    u64::from(rounds) * CHAINS as u64
}

#[target_feature(enable = "avx512f,avx512ifma")]
fn additions(rounds: u32) -> u64 {
    let mut first = [_mm512_set1_epi64(black_box(3)); CHAINS];
    let mut second = [_mm512_set1_epi64(black_box(5)); CHAINS];
    for _ in 0..rounds {
        // Each sum feeds the other, so that no sum can be computed ahead.
        for (a, b) in first.iter_mut().zip(&mut second) {
            *a = _mm512_add_epi64(*a, *b);
            *b = _mm512_add_epi64(*b, *a);
        }
    }
    black_box((first, second));
    u64::from(rounds) * 2 * CHAINS as u64
}
