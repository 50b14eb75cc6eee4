//! Variants of the shipped sets: names, statements, and what fewer levels change.

use sunzi_rlwe::wire::{self, Accept, NoContext};

use super::*;

fn shipped() -> impl Iterator<Item = Set> {
    Set::shipped().into_iter().flat_map(|set| [set.clone(), set.with_key_switch_back()])
}

#[test]
fn names_find_what_they_name() {
    for set in shipped() {
        for levels in (0..=set.levels_left() + 1).chain([256, usize::MAX - 1]) {
            let variant = set.clone().with_levels_left(levels);
            assert_eq!(variant.levels_left(), levels);
            assert_eq!(Set::named(&variant.to_string()), Some(variant));
        }
        assert_eq!(set.to_string(), set.name);
    }
    for name in ["", "-", "-8", "8", "n16-128-", "n16-128--8", "n16-128-x", "n16-128-8-8", "insecure-test-3"]
    {
        assert_eq!(Set::named(name), None, "{name}");
    }
}

/// Tests that parameters are stored as the name of a variant, small ones too, and that names of before are read as before.
#[test]
fn stored_parameters_have_the_levels_in_their_name() {
    let stored = |parameters: &BootstrapParameters| {
        let bytes = wire::to_bytes(&NoContext, parameters).unwrap();
        let read: Result<BootstrapParameters, _> = wire::from_bytes(&Accept::InsecureForResearchOnly, &bytes);
        assert_eq!(&read.unwrap(), parameters);
        bytes
    };
    for whole in [
        BootstrapParameters::named("n16-128-fast").unwrap(),
        BootstrapParameters::named("n16-128-precise").unwrap(),
        BootstrapParameters::insecure(9).unwrap(),
    ] {
        let (name, left) = (whole.name(), whole.set().levels_left());
        let lower = whole.with_levels_left(left - 2).unwrap();
        assert_eq!(lower.name(), format!("{name}-{}", left - 2));
        assert_eq!(lower.set(), &whole.set().clone().with_levels_left(left - 2));
        assert_ne!(stored(&lower), stored(&whole));
        assert_eq!(lower.with_levels_left(left).unwrap(), whole);
        assert_eq!(lower.counted_transforms().unwrap(), lower.set().counted_transforms().unwrap());
    }
    assert_eq!(BootstrapParameters::named("insecure-fast-9"), BootstrapParameters::insecure(9).ok());
    for name in [
        "insecure-fast-9-12",
        "insecure-fast-9-100",
        "insecure-fast-9-2",
        "insecure-fast-9-",
        "insecure-fast-9-x",
    ] {
        assert_eq!(BootstrapParameters::named(name), None, "{name}");
    }
}

#[test]
fn fewer_levels_keep_the_statement_and_more_do_not() {
    for set in shipped() {
        let (stated, levels) = (Statement::of(&set), set.levels_left());
        assert!(stated.is_some());
        assert_eq!(Statement::of(&set.clone().with_levels_left(levels - 1)), stated);
        assert_eq!(Statement::of(&set.clone().with_levels_left(levels + 1)), None);
        let other = Set { eval_mod_bits: 50, ..set.with_levels_left(levels - 1) };
        assert_eq!(Statement::of(&other), None);
    }
}

#[test]
fn numbers_of_levels_that_no_set_has_are_refused() {
    for levels in [0, 257, usize::MAX - 1, usize::MAX] {
        let error = Set::default_128().with_levels_left(levels).parameters().err().unwrap();
        assert!(error.to_string().contains("1 to 256"), "{levels}: {error}");
    }
    for (levels, expected) in [(2, "at least 3"), (20, "1746"), (200, "1746")] {
        let error = Set::fast_128().with_levels_left(levels).parameters().err().unwrap();
        assert!(error.to_string().contains(expected), "{levels}: {error}");
    }
}

/// Tests that fewer levels leave the failure and the statement as they are, and make keys smaller.
#[test]
fn fewer_levels_take_smaller_keys() {
    for set in [Set::default_128(), Set::fast_128()] {
        let whole = Summary::new(&set).unwrap();
        for levels in [set.levels_left() - 1, 8, 6, 5, 4] {
            let summary = Summary::new(&set.clone().with_levels_left(levels)).unwrap();
            assert_eq!((summary.levels_left, summary.set.lowest_level()), (levels, set.lowest_level()));
            assert_eq!((summary.statement, summary.log2_failure), (whole.statement, whole.log2_failure));
            assert!(summary.key_bytes < whole.key_bytes, "{summary}");
            let fewer = (whole.levels_left - levels) as f64;
            assert!((whole.bits_left - summary.bits_left - 40.0 * fewer).abs() < 1.0, "{summary}");
        }
    }
}

#[test]
fn fewer_levels_keep_the_precision() {
    for set in [Set::default_128(), Set::fast_128()] {
        let small = Set { log2_degree: 8, security: Security::InsecureForResearchOnly, ..set };
        let kept: Vec<f64> = [small.levels_left(), 7, 4]
            .map(|levels| {
                let mut bench = Bench::new(&small.clone().with_levels_left(levels), 128);
                let values = numbers(128);
                let a = bench.encrypt(&values, small.lowest_level());
                let out = bench.bootstrapper.bootstrap(&a, &bench.keys).unwrap();
                assert_eq!(out.metadata().level, levels);
                bits(&bench.open(&out, 128), &values).1
            })
            .into();
        let (least, most) =
            (kept.iter().copied().fold(f64::MAX, f64::min), kept.iter().copied().fold(0.0, f64::max));
        assert!(most - least < 0.5, "{}: {kept:?}", small.name);
    }
}
