use std::sync::atomic::{AtomicUsize, Ordering};

use sunzi_ckks::{Context, Settings};
use sunzi_ring::Ring;
use sunzi_rlwe::SecretKey;

use super::*;
use crate::bootstrap::functional::FunctionalBootstrapper;
use crate::bootstrap::{Blueprint, BootstrapKeys};

/// Returns the noise of some results and the number of look-ups in a context.
fn played(context: &Context, set: &Set) -> (Vec<f64>, usize) {
    let mut rng = Bench::for_integers().rng;
    let secret = SecretKey::generate(context.rlwe(), &mut rng).unwrap();
    let blueprint = Blueprint::new(context, set, context.max_slots()).unwrap();
    let keys = BootstrapKeys::generate(&blueprint, &secret, &mut rng, |_, _| {}).unwrap();
    let bootstrapper = FunctionalBootstrapper::new(&blueprint, |_, _| {}).unwrap();
    let count = AtomicUsize::new(0);
    let progress = || {
        count.fetch_add(1, Ordering::Relaxed);
    };
    let e = IntegerEvaluator::new(&bootstrapper, &keys).unwrap().with_progress(&progress);
    let kind = IntegerKind::U8;
    let encrypt = |plaintext: &_| context.encrypt_secret(plaintext, &secret, &mut rng);
    let a = e.encrypt(kind, kind.range(), &[1; 100], encrypt).unwrap();
    let rows = RowEvaluator::new(e);
    let results = [e.multiply(&a, &a), e.table(&a, kind, |x| x / 3), rows.median(&a), rows.sum(&a)];
    let noise = results.into_iter().map(|result| e.largest_noise(&result.unwrap())).collect();
    (noise, count.into_inner())
}

#[test]
fn dry_runs_find_the_noise_and_the_look_ups_of_runs() {
    let set = Set::insecure_for_integers(9);
    let own = set.parameters().unwrap();
    let ring = Ring::dry(own.shape(), own.moduli(), own.rungs()).unwrap();
    let dry = Context::with_ring(ring, &Settings::from(&own)).unwrap();
    assert_eq!(played(&dry, &set), played(&Context::new(&own).unwrap(), &set));
}
