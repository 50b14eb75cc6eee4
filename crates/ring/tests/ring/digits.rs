//! Tests of the digits of an RNS gadget: their bounds, their recomposition and the limbs that keys for them drop.

use sunzi_ring::internals::digits_of;
use sunzi_ring::{GadgetOptions, RingError, RnsDigits};

fn options(radix_bits: Option<u32>, dropped_limbs: usize) -> GadgetOptions {
    GadgetOptions { radix_bits, dropped_limbs, ..GadgetOptions::default() }
}

/// Checks all residues of small moduli and the ends of large ones: digits recompose and stay within their bounds,
/// which are not far.
#[test]
fn digits_recompose_within_tight_bounds() {
    for q in [3, 5, 127, 129, 257, 4099, (1 << 48) - 59, (1 << 61) + 1, (1 << 62) - 1] {
        let half = (q - 1) / 2;
        for radix_bits in [None, Some(1), Some(2), Some(3), Some(7), Some(30), Some(31), Some(60), Some(61)] {
            let digits = RnsDigits::new(&options(radix_bits, 0), &[q]).unwrap();
            assert_eq!(digits.count(), digits_of(q, radix_bits) as usize);
            let offset = digits.offset(&digits.digits()[0]);
            assert!(offset < 1 << 62 && offset >= half);
            let mut largest = vec![0; digits.count()];
            let spread = (0..2000).map(|i: u64| i.wrapping_mul(0x9E37_79B9_7F4A_7C15) % q);
            let ends = (0..5000).chain((0..5000).map(|i| q - 1 - i % q)).chain(half - 1..=half + 1);
            for x in ends.chain(spread).filter(|&x| x < q) {
                let centred = x.cast_signed() - half.cast_signed();
                let y = (centred + offset.cast_signed()).cast_unsigned();
                let mut sum = 0_i128;
                for (digit, largest) in digits.digits().iter().zip(&mut largest) {
                    let d = ((y >> digit.shift) & digit.mask).cast_signed() - digit.bias.cast_signed();
                    assert!(d.unsigned_abs() <= digit.bias, "{q}, {radix_bits:?}: {d}");
                    *largest = d.unsigned_abs().max(*largest);
                    sum += i128::from(d) << digit.shift;
                }
                assert_eq!(sum, i128::from(centred), "{q}, {radix_bits:?}");
            }
            for (digit, largest) in digits.digits().iter().zip(&largest) {
                assert!(2 * largest + 1 >= digit.bias, "{q}, {radix_bits:?}: {largest} of {digit:?}");
            }
        }
    }
}

#[test]
fn every_limb_is_dropped_equally_often() {
    let moduli = [3, 5, 7, 11, 13];
    for dropped in 0..5 {
        let digits = RnsDigits::new(&options(None, dropped), &moduli).unwrap();
        assert_eq!(digits.key_limbs(), 5 - dropped);
        for target in 0..5 {
            let kept = (0..5).filter(|&source| digits.limb(source, target).is_some());
            assert_eq!(kept.count(), 5 - dropped);
            assert!(digits.limb(target, target).is_some(), "a key needs its own limb");
        }
        for source in 0..5 {
            let limbs: Vec<usize> = (0..5).filter_map(|target| digits.limb(source, target)).collect();
            assert_eq!(limbs, (0..5 - dropped).collect::<Vec<_>>());
            let zero = (0..5).filter(|&target| digits.limb(source, target).is_none());
            let product: u64 = zero.map(|target| moduli[target]).product();
            assert_eq!(product, digits.dropped(source).product());
        }
    }
}

#[test]
fn bounds_count_radix_and_dropped_moduli() {
    let moduli = [(1 << 48) - 59, (1 << 30) - 35];
    let bounds = |radix, dropped| RnsDigits::new(&options(radix, dropped), &moduli).unwrap().bounds();
    let close = |x: f64, y: f64| assert!((x - y).abs() < 1e-6, "{x} {y}");
    let plain = bounds(None, 0);
    close(plain[0].log2_bound, 47.0);
    close(plain[1].log2_bound, 29.0);
    assert_eq!(plain[0].log2_mean, f64::NEG_INFINITY);
    close(bounds(None, 1)[0].log2_bound, 77.0);
    let cut = bounds(Some(20), 1);
    let log2: Vec<f64> = cut.iter().map(|digit| digit.log2_bound).collect();
    for (x, y) in log2.iter().zip([49.0, 49.0, 37.0, 67.0, 57.0]) {
        close(*x, y);
    }
    close(cut[3].log2_mean, 47.0);
}

#[test]
fn refuses_what_cannot_be_followed() {
    let moduli = vec![(1 << 48) - 59; 100];
    for (radix_bits, dropped, what) in [
        (Some(0), 0, "radix_bits"),
        (Some(62), 0, "radix_bits"),
        (Some(u32::MAX), 0, "radix_bits"),
        (Some(1), 0, "radix_bits"),
        (None, 100, "dropped_limbs"),
        (None, usize::MAX, "dropped_limbs"),
    ] {
        let error = RnsDigits::new(&options(radix_bits, dropped), &moduli).unwrap_err();
        assert!(matches!(error, RingError::OutOfRange { what: named, .. } if named == what), "{error}");
    }
    assert!(RnsDigits::new(&options(None, 0), &[]).is_err());
    assert!(RnsDigits::new(&options(Some(2), 99), &moduli).is_ok());
}
