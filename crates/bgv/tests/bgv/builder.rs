//! Tests of the moduli that the BGV builder chooses.

use sunzi_bgv::Parameters;
use sunzi_math::{DEFAULT_PRIME_BOUND, WIDE_PRIME_BOUND};

/// Tests that levels of 48 bits are wide words, where two narrow ones would hold each: 3 + 1 moduli for 5 + 2.
#[test]
fn wide_moduli_save_one_a_level() {
    let of = |depth, bits| {
        let chosen = Parameters::builder().depth(depth).plain_bits(bits).build().unwrap();
        let special = &chosen.key_switching().special_moduli;
        assert!(chosen.moduli().iter().chain(special).all(|&q| q < WIDE_PRIME_BOUND));
        let wide = chosen.moduli().iter().any(|&q| q >= DEFAULT_PRIME_BOUND);
        (chosen.log2_degree(), chosen.moduli().len(), special.len(), wide)
    };
    assert_eq!(of(2, 34), (13, 3, 1, true));
    assert!(!of(2, 17).3);
}
