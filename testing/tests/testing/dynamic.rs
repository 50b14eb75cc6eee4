//! BGV with dynamic switching: any circuit is computed as far as noise bounds allow, whatever was declared, with noise
//! within its bounds; what does not allow it is refused.

use chacha20::ChaCha20Rng;
use rand_core::{Rng as _, SeedableRng};
use sunzi_bgv::{BgvError, Budget, Ciphertext, Context, Evaluator, Parameters};
use sunzi_encoding::Plaintext;
use sunzi_math::CoefficientBasis;
use sunzi_rlwe::security::accepting_insecure;
use sunzi_rlwe::wire::{from_bytes, to_bytes};
use sunzi_rlwe::{PublicKey, RelinearizationKey, SecretKey};
use sunzi_testing::clear_ring::ClearRing;

use crate::switched::{N, builder};

type Value = (Ciphertext, Vec<u64>);

struct Party {
    evaluator: Evaluator,
    clear: ClearRing,
    secret: SecretKey,
    relinearization: RelinearizationKey,
    public: PublicKey,
    rng: ChaCha20Rng,
}

fn dynamic(t: u64, depth: usize) -> Parameters {
    builder(t, depth).dynamic_switching(true).build().unwrap()
}

impl Party {
    fn new(parameters: &Parameters, seed: u64) -> Self {
        let context = Context::new(parameters).unwrap();
        let mut rng = ChaCha20Rng::seed_from_u64(seed);
        let secret = SecretKey::generate(context.rlwe(), &mut rng).unwrap();
        Self {
            clear: ClearRing::new(2 * N as u64, context.plain_modulus(), CoefficientBasis::Power).unwrap(),
            relinearization: RelinearizationKey::generate(context.rlwe(), &secret, &mut rng).unwrap(),
            public: PublicKey::generate(context.rlwe(), &secret, &mut rng).unwrap(),
            evaluator: Evaluator::new(&context),
            secret,
            rng,
        }
    }

    fn context(&self) -> &Context {
        self.evaluator.context()
    }

    fn fresh(&mut self) -> Value {
        let t = self.context().plain_modulus();
        let message: Vec<u64> = (0..N).map(|_| self.rng.next_u64() % t).collect();
        let plaintext = Plaintext::new(message.clone(), t).unwrap();
        let context = self.evaluator.context().clone();
        (context.encrypt(&plaintext, &self.public, &mut self.rng).unwrap(), message)
    }

    /// Decrypts a ciphertext and compares the message, and the noise with both bounds.
    fn judge(&self, (ciphertext, message): &Value) {
        let message = Plaintext::new(message.clone(), self.context().plain_modulus()).unwrap();
        assert_eq!(self.context().decrypt(ciphertext, &self.secret).unwrap(), message);
        let noise = self.context().measure_noise(ciphertext, &message, &self.secret).unwrap();
        let (bound, worst) = (ciphertext.noise().bound(N).bits(), ciphertext.noise().worst.bits());
        assert!(noise <= bound && bound <= worst, "{noise}, {bound}, {worst}");
    }

    fn add(&self, a: &Value, b: &Value) -> Result<Value, BgvError> {
        Ok((self.evaluator.add(&a.0, &b.0)?, self.clear.sum(&a.1, &b.1)))
    }

    fn multiply(&self, a: &Value, b: &Value) -> Result<Value, BgvError> {
        let product = self.evaluator.multiply(&a.0, &b.0, &self.relinearization)?;
        Ok((product, self.clear.product(&a.1, &b.1).unwrap()))
    }

    fn switched_product(&self, a: &Value, b: &Value) -> Result<Value, BgvError> {
        let product = self.evaluator.multiply_switched(&a.0, &b.0, &self.relinearization)?;
        Ok((product, self.clear.product(&a.1, &b.1).unwrap()))
    }

    fn multiple(&self, a: &Value, c: i64) -> Result<Value, BgvError> {
        Ok((self.evaluator.multiply_scalar(&a.0, c)?, self.clear.multiple(&a.1, c)))
    }

    /// Multiplies by 128 so many times: seven bits of noise each.
    fn louder(&self, a: &Value, times: usize) -> Result<Value, BgvError> {
        (0..times).try_fold(a.clone(), |value, _| self.multiple(&value, 128))
    }

    fn sum_of_products(&self, terms: [(&Value, &Value); 3]) -> Result<Value, BgvError> {
        let pairs = terms.map(|(a, b)| (&a.0, &b.0));
        let sum = self.evaluator.sum_of_products(pairs, &self.relinearization)?;
        let message = terms.iter().fold(vec![0; N], |message, (a, b)| {
            self.clear.sum(&message, &self.clear.product(&a.1, &b.1).unwrap())
        });
        Ok((sum, message))
    }

    fn plain_product(&self, a: &Value, b: &Value) -> Result<Value, BgvError> {
        let plain = Plaintext::new(b.1.clone(), self.context().plain_modulus()).unwrap();
        let sum = self.evaluator.add_plain(&self.evaluator.multiply_plain(&a.0, &plain)?, &plain)?;
        Ok((sum, self.clear.sum(&self.clear.product(&a.1, &b.1).unwrap(), &b.1)))
    }

    /// Computes at random from what was computed before; returns how many results were right and how many refused.
    fn wander(&mut self, steps: usize) -> (usize, usize) {
        let mut values = vec![self.fresh(), self.fresh(), self.fresh()];
        let (mut right, mut refused) = (0, 0);
        for _ in 0..steps {
            let pick: Vec<usize> = (0..4).map(|_| self.rng.next_u64() as usize % values.len()).collect();
            let [a, b, c, d] = [pick[0], pick[1], pick[2], pick[3]].map(|i| &values[i]);
            let result = match self.rng.next_u64() % 6 {
                0 => self.add(a, b),
                1 => self.multiply(a, b),
                2 => self.louder(a, 1),
                3 => self.sum_of_products([(a, b), (c, d), (a, d)]),
                4 => self.plain_product(a, b),
                _ => self.switched_product(a, b),
            };
            match result {
                Ok(value) => {
                    self.judge(&value);
                    right += 1;
                    values.push(value);
                }
                Err(BgvError::DepthExceeded { .. } | BgvError::BudgetExceeded { .. }) => refused += 1,
                Err(error) => panic!("{error}"),
            }
            if values.len() > 8 {
                let at = self.rng.next_u64() as usize % values.len();
                values[at] = self.fresh();
                values.swap_remove(3);
            }
        }
        (right, refused)
    }
}

#[test]
fn undeclared_circuits_are_right_or_refused() {
    for (seed, t) in [2, 3, 257, 65_537, (1 << 30) + 3].into_iter().enumerate() {
        let mut party = Party::new(&dynamic(t, 5), seed as u64);
        let (right, refused) = party.wander(150);
        assert!(right >= 75, "t = {t}: {right} right, {refused} refused");
    }
}

/// A level with far more noise than was declared: refused where operations are declared, and computed by dynamic
/// switching, which drops more for it than a switch to the next level would.
#[test]
fn a_loud_level_takes_what_it_needs() {
    let (t, depth) = (65_537, 4);
    let loud = |party: &mut Party| -> Result<Value, BgvError> {
        let fresh = party.fresh();
        party.louder(&party.multiply(&fresh, &fresh)?, 3)
    };
    let mut declared = Party::new(&builder(t, depth).build().unwrap(), 1);
    assert!(matches!(loud(&mut declared).err().unwrap(), BgvError::Undeclared(_)));

    let parameters = dynamic(t, depth);
    let mut party = Party::new(&parameters, 1);
    let value = loud(&mut party).unwrap();
    let product = party.multiply(&value, &value).unwrap();
    party.judge(&product);
    party.judge(&party.multiply(&product, &product).unwrap());
    // The same ciphertext, switched to the next level and no further, as budgets without limits do it.
    let still = Context::new(&parameters.with_budget(Budget::UNLIMITED)).unwrap();
    let by_level = Evaluator::new(&still).multiply(&value.0, &value.0, &party.relinearization).unwrap();
    let (own, other) = (party.context().bits_left(&product.0).unwrap(), still.bits_left(&by_level).unwrap());
    assert!(own > other + 5.0, "{own} bits left, {other} by levels");
}

/// Ciphertexts at any modulus of the chain come back from bytes, and parameters too.
#[test]
fn files_keep_the_modulus_of_products() {
    let parameters = dynamic(257, 4);
    let mut party = Party::new(&parameters, 2);
    let fresh = party.fresh();
    let loud = party.louder(&fresh, 5).unwrap();
    let product = party.multiply(&loud, &loud).unwrap();
    let context = party.context();
    let bytes = to_bytes(context, &product.0).unwrap();
    let back: Ciphertext = from_bytes(context, &bytes).unwrap();
    assert_eq!(back.metadata(), product.0.metadata());
    party.judge(&(back, product.1));
    // The place of the product is below that of its level, which no chain without dynamic switching has.
    let level = product.0.metadata().level();
    let still = Context::new(&parameters.clone().with_budget(Budget::UNLIMITED)).unwrap();
    assert!(matches!(
        Evaluator::new(&still).mod_switch_to(&product.0, level),
        Err(BgvError::LevelMismatch { .. })
    ));
    let json = serde_json::to_string(&parameters).unwrap();
    let back: Parameters = accepting_insecure(|| serde_json::from_str(&json).unwrap());
    assert_eq!(back, parameters);
}

#[test]
fn other_moduli_are_refused() {
    let still = builder(65_537, 3).build().unwrap();
    let refused = |result: Result<(), BgvError>| {
        let error = result.err().unwrap();
        assert!(matches!(error, BgvError::NotDynamic { plain_modulus: 65_537 | 257, .. }), "{error}");
        assert!(error.to_string().contains("1 modulo t"), "{error}");
    };
    refused(still.clone().with_budget(Budget::DYNAMIC).validate());
    let parameters = dynamic(65_537, 3);
    refused(parameters.clone().with_plain_modulus(257).validate());
    refused(Context::new(&parameters).unwrap().with_plain_modulus(257).map(drop));
    let shared = builder(2, 6).build().unwrap();
    assert!(shared.shares().iter().any(|&share| share > 0));
    assert!(matches!(shared.with_budget(Budget::DYNAMIC).validate(), Err(BgvError::LevelsUnusable { .. })));
}
