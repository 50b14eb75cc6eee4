//! Random words below a bound.

use sunzi_kernels::Isa;
use sunzi_kernels::internals::keep_below_on;

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
