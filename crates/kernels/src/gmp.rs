//! The low-level functions of GMP that the multi-precision baseline can be compared over (feature `gmp`).
//!
//! Integers are words of 64 bits, lowest first. GMP is under the LGPL, its binding compiles it with a C compiler and
//! `m4`: nothing of Sunzi needs it.
#![expect(unsafe_code, reason = "calls of a C library")]

use gmp_mpfr_sys::gmp::{limb_t, mpn_addmul_1, mpn_mod_1, mpn_mul, mpn_tdiv_qr, size_t};

/// Compile-time check that GMP's words are 64 bits long, as ours are.
const _: () = assert!(size_of::<limb_t>() == 8 && align_of::<limb_t>() == align_of::<u64>());

fn length(words: &[u64]) -> size_t {
    // A slice never has more bytes than isize::MAX.
    words.len() as size_t
}

/// Adds the product a·b to `acc`, carries into the words of `acc` above the length of `a`, and returns the
/// carry out of the last word.
#[must_use]
pub fn mul_add(acc: &mut [u64], a: &[u64], b: u64) -> u64 {
    let Some((low, high)) = acc.split_at_mut_checked(a.len()) else { return 0 };
    if low.is_empty() {
        return 0;
    }
    // SAFETY: both pointers are to as many initialised words as the length says, at least one, and do not overlap.
    let mut carry =
        unsafe { mpn_addmul_1(low.as_mut_ptr().cast(), a.as_ptr().cast(), length(a), b as limb_t) };
    for word in high {
        let (sum, overflow) = word.overflowing_add(carry);
        (*word, carry) = (sum, limb_t::from(overflow));
    }
    carry
}

/// Writes the product a·b to `out`, which has as many words as both operands together; does nothing for other
/// lengths, or if b is empty or longer than a.
pub fn mul(out: &mut [u64], a: &[u64], b: &[u64]) {
    if b.is_empty() || b.len() > a.len() || out.len() != a.len() + b.len() {
        return;
    }
    // SAFETY: `out` has the words of both operands together and overlaps neither; a is not shorter than b, and b not
    // empty.
    unsafe {
        mpn_mul(out.as_mut_ptr().cast(), a.as_ptr().cast(), length(a), b.as_ptr().cast(), length(b));
    }
}

/// Returns the remainder a mod m, or 0 for m = 0.
#[must_use]
pub fn remainder(a: &[u64], m: u64) -> u64 {
    if a.is_empty() || m == 0 {
        return 0;
    }
    // SAFETY: the pointer is to as many initialised words as the length says; the divisor is not zero.
    unsafe { mpn_mod_1(a.as_ptr().cast(), length(a), m as limb_t) }
}

/// Reduces x modulo d, whose last word is not 0, in place: the lowest words hold the remainder, the words above it are unspecified. Does nothing for
/// a d that is empty, longer than x or ends in 0.
pub fn remainder_assign(x: &mut [u64], d: &[u64]) {
    if d.last().is_none_or(|&top| top == 0) || d.len() > x.len() {
        return;
    }
    let dividend = x.to_vec();
    let mut quotient = vec![0_u64; x.len() - d.len() + 1];
    // SAFETY: the quotient has one word more than x has beyond d, the remainder has room for the words of d, nothing overlaps, the
    // divisor has a highest word that is not 0, and GMP asks for 0 as the second length.
    unsafe {
        mpn_tdiv_qr(
            quotient.as_mut_ptr().cast(),
            x.as_mut_ptr().cast(),
            0,
            dividend.as_ptr().cast(),
            length(&dividend),
            d.as_ptr().cast(),
            length(d),
        );
    }
}
