//! Tests of real slots: what they refuse, how they are stored, and what they cost in precision.

use num_complex::Complex64;
use sunzi_ckks::encoder::Embedding;
use sunzi_ckks::rotation::rotation_keys;
use sunzi_ckks::{CkksError, Context, Encoder, EncoderError, Evaluator, Parameters};
use sunzi_math::RingIndex;
use sunzi_ring::RingError;
use sunzi_rlwe::wire::{self, Accept, StoredParameters};
use sunzi_rlwe::{RingShape, RlweError, Security};

use crate::common::{Party, parameters, real};

fn is_real_ring<T>(result: Result<T, CkksError>) -> bool {
    matches!(result.err(), Some(CkksError::Rlwe(RlweError::RealRing { .. })))
}

#[test]
fn what_is_not_real_is_refused_by_name() {
    let mut party = Party::new(&parameters(real(7), 40, 2, 2), 128);
    let values = party.numbers();
    let a = party.encrypt(&values);
    let e: &Evaluator = &party.evaluator;
    assert!(is_real_ring(e.multiply_by_i(&a)) && is_real_ring(e.conjugate(&a, &party.rotations)));
    assert!(is_real_ring(e.hoist(&a).unwrap().conjugate(&party.rotations)));
    for result in [
        e.add_constant(&a, Complex64::I),
        e.multiply_constant(&a, Complex64::new(1.0, 1e-300)),
        e.multiply_constant_unscaled(&a, -Complex64::I, 256.0),
    ] {
        assert!(is_real_ring(result));
    }
    assert!(e.add_constant(&a, Complex64::new(2.0, -0.0)).is_ok());
    let keys = rotation_keys(&party.context, &party.secret, [1], true, 2, &mut party.rng);
    assert!(is_real_ring(keys));
    let mut mixed = vec![Complex64::ONE; 128];
    mixed[77].im = 1e-9;
    let refused = party.encoder.encode(&mixed).err().unwrap();
    assert!(matches!(refused, CkksError::Encoder(EncoderError::NotReal { slot: 77 })), "{refused}");
    assert!(Encoder::new(&party.context, 256).is_err());
    // The exponents of conjugations are no automorphisms here.
    let refused = party.context.ring().automorphism(&a.parts()[0], 511).err();
    assert_eq!(refused, Some(RingError::NotAnAutomorphism { exponent: 511, index: 512 }));
}

/// Checks that encoding agrees with the definition, and that sparse messages are those of small real rings.
#[test]
fn slots_are_values_at_the_powers_of_five() {
    for (n, slots) in [(64_usize, 64), (64, 8), (256, 256), (64, 1)] {
        let index = RingIndex::real(n).unwrap();
        let embedding = Embedding::new(slots).unwrap();
        let values: Vec<Complex64> = (0..slots).map(|i| ((i * i) as f64 * 0.37).sin().into()).collect();
        let scale = 40_f64.exp2();
        let a = embedding.encode_in(&index, &values, scale).unwrap();
        assert_eq!(a.len(), n);
        let mut exponent = 1;
        for (slot, value) in values.iter().cycle().take(n).enumerate() {
            let angle = |j: usize| (exponent * j % (4 * n)) as f64 * std::f64::consts::TAU / (4 * n) as f64;
            let sum = (1..n).map(|j| 2.0 * a[j] as f64 * angle(j).cos()).sum::<f64>();
            assert!(((a[0] as f64 + sum) / scale - value.re).abs() < 1e-9, "{n} {slots} {slot}");
            exponent = 5 * exponent % (4 * n);
        }
        let floats: Vec<f64> = a.iter().map(|&a| a as f64).collect();
        let decoded = embedding.decode_in(&index, &floats, scale).unwrap();
        for (got, value) in decoded.iter().zip(&values) {
            assert!((got - value).norm() < 1e-9 && got.im == 0.0);
        }
        assert!(embedding.decode_in(&index, &floats[..n / 2], scale).is_err());
    }
}

#[test]
fn parameters_with_real_slots_come_back() {
    let security = Security::Bits128;
    for depth in [1, 3] {
        let request = Parameters::builder().depth(depth).precision(20).security(security);
        let (whole, real) = (request.clone().build().unwrap(), request.real_slots(true).build().unwrap());
        assert!(real.has_real_slots() && !whole.has_real_slots());
        assert_eq!(real.max_slots(), real.degree());
        assert!(real.predicted_precision().unwrap() >= 20.0);
        assert!(real.moduli().iter().all(|q| q % (4 * real.degree() as u64) == 1));
        let bytes = wire::to_bytes(&wire::NoContext, &real).unwrap();
        let back: Parameters = wire::from_bytes(&Accept::Secure, &bytes).unwrap();
        assert_eq!(back, real);
        let json = serde_json::to_string(&real).unwrap();
        assert!(json.contains("\"real_slots\":true"));
        assert_eq!(serde_json::from_str::<Parameters>(&json).unwrap(), real);
        assert!(!serde_json::to_string(&whole).unwrap().contains("real_slots"));
        // Other rings have other fingerprints, so that no key of one opens in the other.
        let lie = json.replace("\"real_slots\":true", "\"real_slots\":false");
        let other: Parameters = serde_json::from_str(&lie).unwrap();
        assert_ne!(other.fingerprint(), real.fingerprint());
        let context = Context::new(&real).unwrap();
        assert_eq!(context.rlwe().fingerprint().ring, real.fingerprint().ring);
        assert_eq!(context.max_slots(), real.degree());
    }
    let odd = Parameters::builder().depth(1).log2_degree(13).build().unwrap().with_real_slots();
    let fits = odd.moduli().iter().chain(&odd.key_switching().special_moduli).all(|q| q % (1 << 15) == 1);
    assert_eq!(odd.validate().is_ok(), fits);
    let ranges = [];
    for ring in [RingShape::RealLog2Degree(5), RingShape::RealLog2Degree(18), RingShape::RingIndex(21_845)] {
        assert!(Parameters::from_ranges(ring, 50, &ranges, Security::InsecureForResearchOnly).is_err());
    }
}

/// Checks the precision that real slots cost at one degree and scale: errors of the ring of twice the degree.
#[test]
fn real_slots_cost_one_bit_of_precision() {
    let bits = |ring: RingShape| parameters(ring, 40, 3, 2).predicted_precision().unwrap();
    let (whole, double, real) = (bits(10.into()), bits(11.into()), bits(real(10)));
    assert!((whole - real - 1.0).abs() < 0.1, "{whole} {real}");
    assert!((double - real).abs() < 0.1, "{double} {real}");
}
