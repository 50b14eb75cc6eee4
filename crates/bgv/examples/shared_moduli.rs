//! Small level moduli in words of their own and several to a word, for t = 2 [KPZ21, Remark 5.1]: times, sizes, keys.
//! `RAYON_NUM_THREADS=1 cargo run --release -p sunzi-bgv --example shared_moduli`

#![expect(clippy::print_stdout, reason = "it reports figures")]

use std::time::Instant;

use sunzi_bgv::{BgvError, Ciphertext, Context, Evaluator, Parameters};
use sunzi_encoding::Plaintext;
use sunzi_rlwe::{PublicKey, RelinearizationKey, SecretKey, randomness};

const FACTORS: usize = 32;
const ROUNDS: usize = 11;

struct Party {
    evaluator: Evaluator,
    secret: SecretKey,
    relinearization: RelinearizationKey,
    factors: Vec<Ciphertext>,
}

impl Party {
    fn new(depth: usize, shared: bool) -> Result<Self, Box<dyn std::error::Error>> {
        let parameters = Parameters::builder()
            .depth(depth)
            .plain_modulus(2)
            .batching(false)
            .shared_moduli(shared)
            .build()?;
        let context = Context::new(&parameters)?;
        let mut rng = randomness::from_os()?;
        let secret = SecretKey::generate(context.rlwe(), &mut rng)?;
        let public = PublicKey::generate(context.rlwe(), &secret, &mut rng)?;
        let relinearization = RelinearizationKey::generate(context.rlwe(), &secret, &mut rng)?;
        let mut message = vec![0; context.degree()];
        message.iter_mut().take(1).for_each(|m| *m = 1);
        let one = Plaintext::new(message, 2)?;
        let factors: Result<Vec<_>, _> =
            (0..FACTORS).map(|_| context.encrypt(&one, &public, &mut rng)).collect();
        let special = &parameters.key_switching().special_moduli;
        println!(
            "depth {depth}, {}: n = 2^{}, log2 Q {:.1}, log2 QP {:.1}, {} + {} limbs, moduli of levels {:?}, \
             {} digits, key {} KiB",
            if shared { "shared" } else { "apart" },
            parameters.log2_degree(),
            parameters.log2_modulus(),
            parameters.log2_key_modulus(),
            parameters.moduli().len(),
            special.len(),
            parameters.levels(),
            relinearization.key().digit_count(),
            relinearization.byte_len() / 1024,
        );
        Ok(Self { evaluator: Evaluator::new(&context), secret, relinearization, factors: factors? })
    }

    fn product(&self) -> Result<Ciphertext, BgvError> {
        let [a, b, ..] = self.factors.as_slice() else { return Err(BgvError::Empty { what: "a product" }) };
        self.evaluator.multiply(a, b, &self.relinearization)
    }

    fn tree(&self) -> Result<Ciphertext, BgvError> {
        let mut layer = self.factors.clone();
        while layer.len() > 1 {
            let products = layer.chunks_exact(2).map(|pair| match pair {
                [a, b] => self.evaluator.multiply_switched(a, b, &self.relinearization),
                _ => Err(BgvError::Empty { what: "a product" }),
            });
            layer = products.collect::<Result<_, _>>()?;
        }
        layer.pop().ok_or(BgvError::Empty { what: "a product" })
    }

    fn squares(&self, depth: usize) -> Result<Ciphertext, BgvError> {
        let mut x = self.factors.first().cloned().ok_or(BgvError::Empty { what: "a product" })?;
        for _ in 0..depth {
            x = self.evaluator.multiply_switched(&x, &x, &self.relinearization)?;
        }
        Ok(x)
    }
}

/// Measures the median time of each of two calls, in milliseconds, and of the ratio of their times within a round.
fn alternate<F: Fn() -> Result<Ciphertext, BgvError>>(calls: [F; 2]) -> Result<([f64; 2], f64), BgvError> {
    let (mut times, mut ratios) = ([Vec::new(), Vec::new()], Vec::new());
    for _ in 0..ROUNDS {
        let mut round = [0.0; 2];
        for (call, time) in calls.iter().zip(&mut round) {
            let start = Instant::now();
            call()?;
            *time = start.elapsed().as_secs_f64() * 1e3;
        }
        ratios.push(round[0] / round[1]);
        times.iter_mut().zip(round).for_each(|(all, time)| all.push(time));
    }
    let median = |mut all: Vec<f64>| {
        all.sort_by(f64::total_cmp);
        all.get(all.len() / 2).copied().unwrap_or(f64::NAN)
    };
    Ok((times.map(median), median(ratios)))
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for depth in [5, 10] {
        let [apart, shared] = [Party::new(depth, false)?, Party::new(depth, true)?];
        for party in [&apart, &shared] {
            let opened = party.evaluator.context().decrypt(&party.tree()?, &party.secret)?;
            assert_eq!(opened.coefficients().iter().sum::<u64>(), 1);
        }
        let show = |what: &str, ([apart, shared], ratio): ([f64; 2], f64)| {
            println!("  {what}: apart {apart:.3} ms, shared {shared:.3} ms, apart/shared {ratio:.2}");
        };
        show("multiply, relinearise", alternate([&apart, &shared].map(|party| || party.product()))?);
        show("tree of 32", alternate([&apart, &shared].map(|party| || party.tree()))?);
        show(
            "squarings down all levels",
            alternate([&apart, &shared].map(|party| move || party.squares(depth)))?,
        );
    }
    Ok(())
}
