//! Tests of polynomials and names of rings as bytes.

use sunzi_math::primes_with_bits;
use sunzi_ring::sampling::SeededRng;
use sunzi_ring::{Evaluation, PackingError, Poly, Ring, Storage};

fn rings() -> Vec<Ring> {
    let of = |m: u64, lengths: &[u32]| {
        let order = Ring::root_order(m).unwrap();
        let moduli: Vec<u64> =
            lengths.iter().flat_map(|&bits| primes_with_bits(bits, order, 1).unwrap()).collect();
        Ring::new(m, &moduli).unwrap()
    };
    vec![of(128, &[20, 48, 62]), of(1 << 14, &[50, 30]), of(45, &[40]), of(101, &[33, 57])]
}

#[test]
fn polynomials_come_back() {
    for ring in rings() {
        let a = ring.uniform(&mut SeededRng::derive(&[1; 32], "packing", 0));
        let mut bytes = Vec::new();
        ring.pack(&a, &mut bytes).unwrap();
        assert_eq!(bytes.len(), ring.packed_len());
        let information: f64 = sunzi_math::log2(ring.modulus()) * ring.degree() as f64 / 8.0;
        assert!(bytes.len() as f64 <= 1.03 * information + 8.0);
        let again: Poly<Evaluation> = ring.unpack(&mut bytes.as_slice()).unwrap();
        assert_eq!(again.words(), a.words());
        assert_eq!(ring.level_of(&again).unwrap(), ring.level());
        let lower = ring.at_level(1).unwrap();
        assert_eq!(lower.pack(&a, &mut Vec::new()).is_ok(), ring.level() == 1);
    }
}

/// Checks that rings whose levels are prefixes keep the name that they always had; other sets of moduli are
/// told apart.
#[test]
fn levels_are_part_of_the_name() {
    let moduli = sunzi_math::primes_below(1 << 40, 128, 70).unwrap();
    let prefixes: Vec<Vec<usize>> = (1..=70).map(|level| (0..level).collect()).collect();
    let name = |rungs: &[Vec<usize>]| Ring::with_rungs(128, &moduli, rungs).unwrap().description();
    assert_eq!(name(&prefixes), Ring::new(128, &moduli).unwrap().description());
    let mut sets = prefixes.clone();
    sets.remove(0);
    let one = name(&sets);
    assert_eq!(one[0], Storage::Sets as u8);
    assert_eq!(one[1..=name(&prefixes).len()], name(&prefixes));
    assert_eq!(one.len(), 1 + name(&prefixes).len() + 8 + 69 * 16);
    // Bits of the first level: moduli 0 and 1; of the last: all 70.
    assert_eq!(one[one.len() - 69 * 16..][..8], 3_u64.to_le_bytes());
    assert_eq!(one[one.len() - 16..], ((1_u128 << 70) - 1).to_le_bytes());
    sets[0] = vec![0, 69];
    assert_ne!(name(&sets), one);
}

#[test]
fn residues_must_be_below_their_moduli() {
    for ring in rings() {
        let len = ring.packed_len();
        let last = ring.level() - 1;
        for (byte, limb) in [(0, 0), (len - 1, last)] {
            let mut bytes = vec![0; len];
            // The bytes are a residue, and padding where there is some, of ones alone.
            let ones = 8.min(len);
            let from = byte.min(len - ones);
            bytes[from..from + ones].fill(0xFF);
            let refused = ring.unpack::<Evaluation>(&mut bytes.as_slice());
            assert!(matches!(refused, Err(PackingError::Residue { limb: at }) if at == limb));
        }
        for cut in [0, 1, len / 2, len - 1] {
            let refused = ring.unpack::<Evaluation>(&mut vec![0; cut].as_slice());
            assert!(matches!(refused, Err(PackingError::Io(_))), "{cut} of {len}");
        }
    }
}
