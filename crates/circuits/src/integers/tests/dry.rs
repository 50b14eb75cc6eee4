use sunzi_ckks::{Context, Settings};
use sunzi_ring::Ring;

use super::*;

/// Makes a context over polynomials without coefficients.
fn dry(set: &Set) -> Context {
    let own = set.parameters().unwrap();
    let ring = Ring::dry(own.shape(), own.moduli(), own.rungs()).unwrap();
    Context::with_ring(ring, &Settings::from(&own)).unwrap()
}

#[test]
fn dry_runs_find_the_noise_and_look_ups_of_runs() {
    for set in [Set::insecure_for_integers(9), Set::for_integers()] {
        let start = std::time::Instant::now();
        let context = dry(&set);
        let mut rng = ChaCha20Rng::seed_from_u64(1);
        let secret = SecretKey::generate(context.rlwe(), &mut rng).unwrap();
        let blueprint = Blueprint::new(&context, &set, context.max_slots()).unwrap();
        eprintln!("blueprint {:?}", start.elapsed());
        let keys = BootstrapKeys::generate(&blueprint, &secret, &mut rng, |_, _| {}).unwrap();
        eprintln!("keys {:?}", start.elapsed());
        let bootstrapper = FunctionalBootstrapper::new(&blueprint, |_, _| {}).unwrap();
        eprintln!("matrices {:?}", start.elapsed());
        let e = IntegerEvaluator::new(&bootstrapper, &keys).unwrap();
        let kind = IntegerKind::U8;
        let a = e.encrypt(kind, kind.range(), &[1; 100], |p| context.encrypt_secret(p, &secret, &mut rng)).unwrap();
        eprintln!("encrypted {:?}", start.elapsed());
        let product = e.multiply(&a, &a).unwrap();
        eprintln!("product {:?} noise {}", start.elapsed(), e.largest_noise(&product).log2());
        let sorted = RowEvaluator::new(e).median(&a).unwrap();
        eprintln!("median {:?} noise {}", start.elapsed(), e.largest_noise(&sorted).log2());
    }
}
