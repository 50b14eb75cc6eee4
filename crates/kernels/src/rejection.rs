//! Uniform residues out of random bytes: words that are too large are left out.

use crate::isa::{Isa, active_isa};
#[cfg(target_arch = "x86_64")]
use crate::x86_64::rejection as vectors;

/// Writes the little-endian words of `bytes`, cut to the bits of q − 1, that are below q (all of them for q = 0, which stands for 2^64), in
/// their order, until there are no more or `out` is full; how many were written. Words of `out` behind them are unspecified.
///
/// ```
/// let bytes: Vec<u8> = [9_u64, 6, 7, 14, 3].into_iter().flat_map(u64::to_le_bytes).collect();
/// let mut out = [0; 3];
/// assert_eq!(sunzi_kernels::keep_below(&mut out, &bytes, 7), 3);
/// assert_eq!(out, [1, 6, 6]);
/// ```
pub fn keep_below(out: &mut [u64], bytes: &[u8], q: u64) -> usize {
    keep_below_on(active_isa().unwrap_or(Isa::Portable), out, bytes, q)
}

fn keep_below_on(isa: Isa, out: &mut [u64], bytes: &[u8], q: u64) -> usize {
    let mask = u64::MAX >> q.wrapping_sub(1).leading_zeros().min(63);
    let most = q.wrapping_sub(1);
    let (read, mut kept) = vectors::keep_at_most(isa, out, bytes, mask, most);
    let (words, _) = bytes.get(read..).unwrap_or_default().as_chunks();
    for word in words {
        // Written first, kept if it is not too large: no branch to mispredict.
        let Some(slot) = out.get_mut(kept) else { break };
        *slot = u64::from_le_bytes(*word) & mask;
        kept += usize::from(*slot <= most);
    }
    kept
}

/// Nothing is done by vectors here.
#[cfg(not(target_arch = "x86_64"))]
mod vectors {
    use crate::isa::Isa;

    pub(super) fn keep_at_most(_: Isa, _: &mut [u64], _: &[u8], _: u64, _: u64) -> (usize, usize) {
        (0, 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_what_is_below() {
        let mut state = 1_u64;
        let mut next = || {
            state = state.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(0x1405_7B7E_F767_814F);
            state ^ state >> 29
        };
        let ends = [1, 2, 3, 7, 8, 9, (1 << 48) - 59, (1 << 47) + 1, 1 << 48, (1 << 62) - 57, u64::MAX, 0];
        for q in ends {
            let most = u128::from(q.wrapping_sub(1));
            let mask = (most + 1).max(2).next_power_of_two() - 1;
            for count in (0..=40).chain([512, 513]) {
                let edges = [most, most + 1, 0, mask, u128::from(u64::MAX)];
                let random = |i: usize| match edges.get(i % 7) {
                    Some(&edge) => edge as u64,
                    None => next(),
                };
                let words: Vec<u64> = (0..count).map(random).collect();
                let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
                let cut = words.iter().map(|&word| u128::from(word) & mask);
                let all: Vec<u64> = cut.filter(|&word| word <= most).map(|word| word as u64).collect();
                for room in [0, 1, 7, 8, 9, 16, 17, count] {
                    let expected = all.get(..room).unwrap_or(&all);
                    for isa in Isa::ALL.into_iter().filter(|isa| isa.is_available()) {
                        let mut out = vec![7; room];
                        let kept = keep_below_on(isa, &mut out, &bytes, q);
                        assert_eq!(out.get(..kept), Some(expected), "{q} {count} {room} {isa}");
                    }
                }
            }
        }
    }
}
