//! BGV products that are switched with their relinearisation, and level moduli that share words: answers are equal to those
//! without either, and noise is within its bounds.

use chacha20::ChaCha20Rng;
use num_bigint::BigUint;
use rand_core::SeedableRng;
use sunzi_bgv::{BgvError, Ciphertext, Context, Evaluator, Parameters, ParametersBuilder, Settings};
use sunzi_big::BigRing;
use sunzi_encoding::Plaintext;
use sunzi_math::primes_with_bits;
use sunzi_ring::Storage;
use sunzi_rlwe::{PublicKey, RelinearizationKey, RlweError, SecretKey, Security};
use sunzi_testing::storage::stored;

const LOG2_DEGREE: u32 = 6;
pub(crate) const N: usize = 1 << LOG2_DEGREE;

struct Party {
    evaluator: Evaluator,
    secret: SecretKey,
    relinearization: RelinearizationKey,
    public: PublicKey,
    rng: ChaCha20Rng,
}

impl Party {
    fn new(context: &Context) -> Self {
        let mut rng = ChaCha20Rng::seed_from_u64(3);
        let secret = SecretKey::generate(context.rlwe(), &mut rng).unwrap();
        Self {
            evaluator: Evaluator::new(context),
            relinearization: RelinearizationKey::generate(context.rlwe(), &secret, &mut rng).unwrap(),
            public: PublicKey::generate(context.rlwe(), &secret, &mut rng).unwrap(),
            secret,
            rng,
        }
    }

    fn encrypt(&mut self, message: &Plaintext) -> Ciphertext {
        self.evaluator.context().encrypt(message, &self.public, &mut self.rng).unwrap()
    }

    /// Decrypts a ciphertext of `message` and compares its noise with both bounds.
    fn judge(&self, ciphertext: &Ciphertext, message: &Plaintext) {
        let context = self.evaluator.context();
        assert_eq!(context.decrypt(ciphertext, &self.secret).unwrap(), *message);
        let noise = context.measure_noise(ciphertext, message, &self.secret).unwrap();
        let (bound, worst) = (ciphertext.noise().bound(N).bits(), ciphertext.noise().worst.bits());
        assert!(noise <= bound && bound <= worst, "{noise}, {bound}, {worst}");
    }

    /// Checks squares down all levels, switched at once and in two steps, and across levels.
    fn law(&mut self) {
        let context = self.evaluator.context().clone();
        let (t, depth) = (context.plain_modulus(), context.depth());
        let coefficients: Vec<u64> = (0..N as u64).map(|i| (7 * i + i * i * i + 1) % t).collect();
        let mut message = Plaintext::new(coefficients, t).unwrap();
        let mut x = self.encrypt(&message);
        let fresh = (x.clone(), message.clone());
        let key = &self.relinearization;
        for level in (0..depth).rev() {
            let once = self.evaluator.multiply_switched(&x, &x, key).unwrap();
            let twice = self.evaluator.operand(&self.evaluator.multiply(&x, &x, key).unwrap()).unwrap();
            let mixed = self.evaluator.multiply_switched(&fresh.0, &x, key).unwrap();
            assert_eq!(once.metadata(), twice.metadata());
            assert_eq!(once.metadata().level(), level);
            assert_eq!(self.limbs(&once), self.limbs(&twice));
            self.judge(&mixed, &negacyclic(&fresh.1, &message));
            message = negacyclic(&message, &message);
            self.judge(&once, &message);
            self.judge(&twice, &message);
            let bounds = [&once, &twice].map(|x| x.noise().bound(N).bits());
            assert!(bounds[0] <= bounds[1] + 0.1, "{bounds:?}");
            // The product is at the level of an operand.
            assert_eq!(self.evaluator.operand(&once).unwrap().parts().len(), 2);
            x = once;
        }
        let error = self.evaluator.multiply_switched(&x, &x, key).err().unwrap();
        assert!(matches!(error, BgvError::DepthExceeded { .. }), "{error}");
        let other = SecretKey::generate(context.rlwe(), &mut self.rng).unwrap();
        let other = RelinearizationKey::generate(context.rlwe(), &other, &mut self.rng).unwrap();
        let error = self.evaluator.multiply_switched(&fresh.0, &fresh.0, &other).err().unwrap();
        assert!(matches!(error, BgvError::Rlwe(RlweError::KeyMismatch { .. })), "{error}");
    }

    fn limbs(&self, a: &Ciphertext) -> usize {
        self.evaluator.context().ring().level_of(&a.parts()[0]).unwrap()
    }
}

fn negacyclic(a: &Plaintext, b: &Plaintext) -> Plaintext {
    let t = a.modulus();
    let mut product = vec![0; N];
    for (i, &x) in a.coefficients().iter().enumerate() {
        for (j, &y) in b.coefficients().iter().enumerate() {
            let xy = sunzi_math::mul_mod(x, y, t);
            let term = if i + j < N { xy } else { (t - xy) % t };
            product[(i + j) % N] = sunzi_math::add_mod(product[(i + j) % N], term, t);
        }
    }
    Plaintext::new(product, t).unwrap()
}

/// Asks for BGV parameters of a small ring without security.
pub(crate) fn builder(t: u64, depth: usize) -> ParametersBuilder {
    Parameters::builder()
        .depth(depth)
        .plain_modulus(t)
        .batching(false)
        .log2_degree(LOG2_DEGREE)
        .security(Security::InsecureForResearchOnly)
}

fn big(parameters: &Parameters) -> Context {
    let moduli: Vec<BigUint> = parameters.moduli().iter().map(|&q| q.into()).collect();
    let ring = stored(BigRing::with_chain(2 << LOG2_DEGREE, &moduli).unwrap(), Storage::Big);
    Context::with_ring(ring, &Settings::from(parameters)).unwrap()
}

#[test]
fn switched_products_are_products_that_are_switched() {
    for (t, depth) in [(2, 5), (257, 4), (65_537, 3), (1_099_511_619_841, 2)] {
        for shared in [false, true] {
            let parameters = builder(t, depth).shared_moduli(shared).build().unwrap();
            Party::new(&Context::new(&parameters).unwrap()).law();
            Party::new(&big(&parameters)).law();
        }
    }
    // Two words to a level and digits without special moduli, whose noise takes most of a level.
    let moduli = primes_with_bits(47, 2 << LOG2_DEGREE, 8).unwrap();
    let parameters = Parameters::new(LOG2_DEGREE, moduli, 257, Security::InsecureForResearchOnly)
        .with_levels(vec![2, 4, 6]);
    Party::new(&Context::new(&parameters).unwrap()).law();
}

#[test]
fn small_level_moduli_share_words_on_request_and_agree() {
    let packed = builder(2, 9).shared_moduli(true).build().unwrap();
    let apart = builder(2, 9).shared_moduli(false).build().unwrap();
    assert!(apart.shares().is_empty());
    assert!(packed.shares().iter().filter(|&&share| share > 0).count() >= 5, "{packed:?}");
    assert!(packed.moduli().len() + 4 <= apart.moduli().len(), "{packed:?}, {apart:?}");
    // Both have equally long moduli, to within a bit.
    assert!((packed.log2_modulus() - apart.log2_modulus()).abs() < 1.0, "{packed:?}, {apart:?}");
    let mut parties = [&packed, &apart].map(|parameters| Party::new(&Context::new(parameters).unwrap()));
    for party in &mut parties {
        party.law();
    }
}

#[test]
fn levels_get_words_of_their_own_where_shared_ones_take_a_larger_ring() {
    let asked = || Parameters::builder().depth(4).plain_modulus(2).batching(false);
    let (found, apart) = (asked().build().unwrap(), asked().shared_moduli(false).build().unwrap());
    assert_eq!(found, apart, "a digit of one shared word is a special modulus too much at n = 2^12");
    assert_eq!(found.degree(), 4096);
    // Where shared words fit they are taken.
    let roomy = asked().log2_degree(13).build().unwrap();
    assert!(roomy.shares().iter().any(|&share| share > 0), "{roomy:?}");
}
