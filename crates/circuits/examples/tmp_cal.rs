#![allow(missing_docs, clippy::all)]
use std::time::Instant;
use sunzi_circuits::bootstrap::functional::*;
use sunzi_circuits::bootstrap::*;
use sunzi_circuits::integers::*;
use sunzi_ckks::*;
use sunzi_rlwe::*;
fn main() {
    let set = Set::for_integers();
    let t = Instant::now();
    let context = Context::new(&set.parameters().unwrap()).unwrap();
    println!("context {:?}", t.elapsed());
    let mut rng = randomness::from_os().unwrap();
    let secret = SecretKey::generate(context.rlwe(), &mut rng).unwrap();
    let relin = RelinearizationKey::generate(context.rlwe(), &secret, &mut rng).unwrap();
    let blueprint = Blueprint::new(&context, &set, context.max_slots()).unwrap();
    let t = Instant::now();
    let keys = BootstrapKeys::generate(&blueprint, &secret, &mut rng, |_, _| {}).unwrap();
    println!("keys {:?} {} MB, told {}", t.elapsed(), keys.byte_len() >> 20, blueprint.key_bytes().unwrap() >> 20);
    let t = Instant::now();
    let b = FunctionalBootstrapper::new(&blueprint, |_, _| {}).unwrap();
    println!("matrices {:?} {} MB", t.elapsed(), b.byte_len() >> 20);
    let e = IntegerEvaluator::new(&b, &keys).unwrap();
    let kind = IntegerKind::new(4, false).unwrap();
    let a = e.encrypt(kind, kind.range(), &[1; 100], |p| context.encrypt_secret(p, &secret, &mut rng)).unwrap();
    let a16 = e.linear_combination(&[(1, &a)], 0, IntegerKind::U64, [0, 15]).unwrap();
    let encoder = Encoder::new(&context, context.max_slots()).unwrap();
    let x = context.encrypt_secret(&encoder.encode_real(&[0.5]).unwrap(), &secret, &mut rng).unwrap();
    let evaluator = Evaluator::new(&context);
    for _ in 0..4 {
        let t = Instant::now();
        let _ = evaluator.multiply(&x, &x, &relin).unwrap();
        let product = t.elapsed().as_secs_f64();
        let t = Instant::now();
        let _ = e.carried(&a).unwrap();
        let one = t.elapsed().as_secs_f64();
        let t = Instant::now();
        let _ = e.table(&a, IntegerKind::U64, |x| x * 0x0fed_cba9_8765_4321 % (1 << 63)).unwrap();
        let sixteen = t.elapsed().as_secs_f64();
        let rows = RowEvaluator::new(e);
        let w = IntegerWork::default();
        let t = Instant::now();
        let _ = RowEvaluator::new(e.with_work(&w)).sum(&a).unwrap();
        let sum = t.elapsed().as_secs_f64();
        println!("product {product:.3}, look-up {one:.3} = {:.1}, 16 tables {sixteen:.3}: each {:.2}; sum {sum:.3}: {} look-ups {} switches: each {:.3}", one / product, (sixteen - one) / 15.0 / product, w.look_ups(), w.key_switches(), (sum - w.look_ups() as f64 * one) / w.key_switches() as f64 / product);
        let _ = (rows, &a16);
    }
}
