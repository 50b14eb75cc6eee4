//! Precision of CKKS on random and on hard messages, beside that which its builder promises.

use chacha20::ChaCha20Rng;
use rand::RngExt;
use rand_core::SeedableRng;
use sunzi_ckks::{Complex64, Context, Encoder, Evaluator, Parameters};
use sunzi_rlwe::{PublicKey, RelinearizationKey, SecretKey};
use sunzi_testing::Figure;

/// Returns slots of absolute value at most 1: everything at the end of the range, on few coefficients, or at random.
fn messages(slots: usize, rng: &mut ChaCha20Rng) -> [(&'static str, Vec<Complex64>); 5] {
    let random = |_| Complex64::from_polar(rng.random(), rng.random_range(0.0..std::f64::consts::TAU));
    let random = (0..slots).map(random).collect();
    let all = |f: &dyn Fn(usize) -> f64| (0..slots).map(|i| f(i).into()).collect();
    [
        ("random", random),
        ("all 1", all(&|_| 1.0)),
        ("alternating", all(&|i| if i % 2 == 0 { 1.0 } else { -1.0 })),
        ("a spike", all(&|i| f64::from(u8::from(i == slots / 3)))),
        ("tiny", all(&|i| (i as f64 * 1e-9).sin() * 1e-6)),
    ]
}

/// Returns the errors of squaring a message repeatedly, as deep as the parameters go.
fn errors(parameters: &Parameters, depth: usize) -> Vec<(&'static str, Vec<f64>)> {
    let context = Context::new(parameters).unwrap();
    let mut rng = ChaCha20Rng::seed_from_u64(8);
    let secret = SecretKey::generate(context.rlwe(), &mut rng).unwrap();
    let public = PublicKey::generate(context.rlwe(), &secret, &mut rng).unwrap();
    let key = RelinearizationKey::generate(context.rlwe(), &secret, &mut rng).unwrap();
    let slots = context.degree() / 2;
    let encoder = Encoder::new(&context, slots).unwrap();
    let evaluator = Evaluator::new(&context);
    let messages = messages(slots, &mut rng);
    let run = |(name, message): (&'static str, Vec<Complex64>)| {
        let mut value = context.encrypt(&encoder.encode(&message).unwrap(), &public, &mut rng).unwrap();
        let mut expected = message;
        for _ in 0..depth {
            value = evaluator.square(&value, &key).unwrap();
            expected.iter_mut().for_each(|x| *x *= *x);
        }
        let opened = encoder.decode(&context.decrypt(&value, &secret).unwrap()).unwrap();
        (name, opened.iter().zip(&expected).map(|(a, b)| (a - b).norm()).collect())
    };
    messages.map(run).into()
}

fn everything(sets: &[(usize, u32)]) {
    for &(depth, bits) in sets {
        let parameters = Parameters::builder().depth(depth).precision(bits).build().unwrap();
        for (name, errors) in errors(&parameters, depth) {
            let figure = |what: &str| {
                let what = format!("{what} bits of slots, {name}, depth {depth}, {bits} bits asked for");
                Figure::new(8, what).cases(errors.len(), errors.len())
            };
            let mean_square = errors.iter().map(|error| error * error).sum::<f64>() / errors.len() as f64;
            let mean = errors.iter().sum::<f64>() / errors.len() as f64;
            let worst = errors.iter().fold(0.0, |worst: f64, &error| worst.max(error));
            figure("worst").stated(-worst.log2());
            figure("mean").stated(-mean.log2());
            // The builder's figure is the deviation of the real and of the imaginary part.
            figure("deviation in").at_least(-(mean_square / 2.0).sqrt().log2(), f64::from(bits));
        }
    }
}

#[test]
fn results_keep_the_precision_asked_for() {
    everything(&[(1, 12), (3, 20), (2, 30)]);
}

#[test]
#[ignore = "long: depths to 16"]
fn deep_results_keep_the_precision_asked_for() {
    everything(&[(0, 40), (6, 20), (6, 30), (10, 20), (16, 24)]);
}
