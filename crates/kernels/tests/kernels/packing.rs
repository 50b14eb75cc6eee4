//! Packed words against bits one by one.

use sunzi_kernels::internals::{pack_on, unpack_on};
use sunzi_kernels::{Isa, KernelError, pack, packed_len, unpack};

/// Packs words bit by bit.
fn slow(words: &[u64], bits: u32) -> Vec<u8> {
    let mut bytes = vec![0; (words.len() * bits as usize).div_ceil(8)];
    for (i, word) in words.iter().enumerate() {
        for bit in (0..bits as usize).filter(|bit| word >> bit & 1 == 1) {
            let place = i * bits as usize + bit;
            bytes[place / 8] |= 1 << (place % 8);
        }
    }
    bytes
}

#[test]
fn packs_as_bit_by_bit_and_back() {
    for bits in 1..=62 {
        let top = u64::MAX >> (64 - bits);
        for count in (0..=33).chain([64, 100]) {
            let mixed = (0..count as u64).map(|i| (i + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) & top);
            // In each vector a single word is all ones, so that none reaches into another.
            let single = (0..count).map(|at| (0..count).map(|i| if i == at { top } else { 0 }).collect());
            for words in
                [mixed.collect(), vec![top; count], vec![0; count]].into_iter().chain(single.take(20))
            {
                let expected = slow(&words, bits);
                for isa in Isa::ALL.into_iter().filter(|isa| isa.is_available()) {
                    let mut bytes = vec![0xAA; packed_len(count, bits).unwrap()];
                    pack_on(isa, &mut bytes, &words, bits).unwrap();
                    assert_eq!(bytes, expected, "{count} words of {bits} bits on {isa}");
                    let mut again = vec![u64::MAX; count];
                    let largest = unpack_on(isa, &mut again, &bytes, bits).unwrap();
                    assert_eq!(again, words, "{count} words of {bits} bits on {isa}");
                    assert_eq!(largest, words.iter().copied().max().unwrap_or(0));
                }
            }
        }
    }
}

#[test]
fn refuses_what_does_not_fit() {
    let mut bytes = [0; 9];
    for bits in [0, 63, 64, u32::MAX] {
        assert_eq!(pack(&mut bytes, &[1], bits), Err(KernelError::WordLength { bits }));
        assert_eq!(unpack(&mut [0], &bytes, bits), Err(KernelError::WordLength { bits }));
    }
    let refused = Err(KernelError::PackedLength { expected: 8, got: 9 });
    assert_eq!(pack(&mut bytes, &[1; 2], 30), refused);
    assert_eq!(packed_len(usize::MAX, 62), None);
    // 15 of 16 bits are words: the last one has to be 0.
    assert_eq!(unpack(&mut [0; 3], &[0xFF, 0x7F], 5), Ok(31));
    assert_eq!(unpack(&mut [0; 3], &[0xFF, 0xFF], 5), Err(KernelError::Padding));
}
