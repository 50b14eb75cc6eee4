//! BFV and BGV are one: ciphertexts change schemes and come back, and products agree.

use chacha20::ChaCha20Rng;
use rand_core::SeedableRng;
use sunzi_bfv::Algorithms;
use sunzi_bgv::{BgvError, Parameters};
use sunzi_circuits::unified::{UnifiedError, multiply_through_bgv, to_bfv, to_bgv};
use sunzi_encoding::{BatchEncoder, Encoder};
use sunzi_ring::Ring;
use sunzi_rlwe::wire::{from_bytes, to_bytes};
use sunzi_rlwe::{GaloisKeys, PublicKey, RelinearizationKey, SecretKey, Security};

struct Both {
    bfv: sunzi_bfv::Evaluator,
    bgv: sunzi_bgv::Evaluator,
    encoder: BatchEncoder,
    secret: SecretKey,
    public: PublicKey,
    relinearization: RelinearizationKey,
    rng: ChaCha20Rng,
}

fn both(t: u64, depth: usize) -> Both {
    let security = Security::InsecureForResearchOnly;
    let parameters = Parameters::builder()
        .depth(depth)
        .plain_modulus(t)
        .log2_degree(7)
        .security(security)
        .build()
        .unwrap();
    let bgv = sunzi_bgv::Context::new(&parameters).unwrap();
    let algorithms =
        Algorithms { key_switching: parameters.key_switching().clone(), ..Algorithms::default() };
    // Levels of BGV may be sets of the moduli, those of BFV are the first of them.
    let ring = Ring::new(bgv.ring().index(), parameters.moduli()).unwrap();
    let bfv = sunzi_bfv::Context::with_algorithms(ring, t, security, &algorithms).unwrap();
    let mut rng = ChaCha20Rng::seed_from_u64(5);
    // One set of keys for both.
    let secret = SecretKey::generate(bgv.rlwe(), &mut rng).unwrap();
    Both {
        public: PublicKey::generate(bgv.rlwe(), &secret, &mut rng).unwrap(),
        relinearization: RelinearizationKey::generate(bfv.rlwe(), &secret, &mut rng).unwrap(),
        encoder: BatchEncoder::new(bgv.degree(), t).unwrap(),
        bfv: sunzi_bfv::Evaluator::new(&bfv),
        bgv: sunzi_bgv::Evaluator::new(&bgv),
        secret,
        rng,
    }
}

const X: [u64; 4] = [1, 2, 3, 256];
const Y: [u64; 4] = [5, 0, 256, 7];

impl Both {
    fn open_bfv(&self, a: &sunzi_bfv::Ciphertext) -> Vec<u64> {
        let slots = self.bfv.context().decrypt(a, &self.secret).unwrap();
        self.encoder.decode(&slots).unwrap()[..4].to_vec()
    }

    fn open_bgv(&self, a: &sunzi_bgv::Ciphertext) -> Vec<u64> {
        let slots = self.bgv.context().decrypt(a, &self.secret).unwrap();
        self.encoder.decode(&slots).unwrap()[..4].to_vec()
    }

    fn encrypt(&mut self, values: &[u64]) -> sunzi_bfv::Ciphertext {
        let plaintext = self.encoder.encode(values).unwrap();
        self.bfv.context().encrypt(&plaintext, &self.public, &mut self.rng).unwrap()
    }
}

fn products(a: &[u64], b: &[u64], t: u64) -> Vec<u64> {
    a.iter().zip(b).map(|(x, y)| x * y % t).collect()
}

#[test]
fn a_fresh_ciphertext_changes_schemes_without_loss() {
    let mut both = both(257, 3);
    let x = both.encrypt(&X);
    let there = to_bgv(&both.bgv, &x).unwrap();
    let back = to_bfv(&both.bgv, &there).unwrap();
    assert_eq!(both.open_bgv(&there), X);
    assert_eq!(both.open_bfv(&back), X);
    assert_eq!((there.noise(), back.noise()), (x.noise(), x.noise()));
    for (a, b) in x.parts().iter().zip(back.parts()) {
        assert!(a.words() == b.words());
    }
}

#[test]
fn every_level_comes_back_to_bfv_and_goes_on_there() {
    for t in [257, 7681, 65537] {
        let mut both = both(t, 3);
        let (x, y) = (both.encrypt(&X), both.encrypt(&Y));
        let (mut a, b) = (to_bgv(&both.bgv, &x).unwrap(), to_bgv(&both.bgv, &y).unwrap());
        let mut expected = X.to_vec();
        for level in (0..3).rev() {
            a = both.bgv.multiply(&a, &b, &both.relinearization).unwrap();
            expected = products(&expected, &Y, t);
            assert_eq!(a.metadata().level(), level);
            let Ok(back) = to_bfv(&both.bgv, &a) else {
                assert!(level < 1, "only the constant 1/f at the last level may have no room");
                continue;
            };
            assert_eq!(both.open_bfv(&back), expected);
            let sum = both.bfv.add(&back, &back).unwrap();
            let doubled: Vec<u64> = expected.iter().map(|v| 2 * v % t).collect();
            assert_eq!(both.open_bfv(&sum), doubled);
        }
    }
}

#[test]
fn the_three_products_agree() {
    for t in [257, 65537] {
        let mut both = both(t, 4);
        let (x, y) = (both.encrypt(&X), both.encrypt(&Y));
        let expected = products(&X, &Y, t);
        let most = both.bfv.multiply(&x, &y, &both.relinearization).unwrap();
        let mixed = multiply_through_bgv(&both.bgv, &x, &y, &both.relinearization).unwrap();
        assert_eq!(both.open_bfv(&most), expected);
        assert_eq!(both.open_bfv(&mixed), expected);
        let degree = both.bfv.context().degree();
        let (mixed_bits, most_bits) = (mixed.noise().bound(degree).bits(), most.noise().bound(degree).bits());
        assert!(mixed_bits > most_bits, "LSD × MSD has the larger noise: {mixed_bits} {most_bits}");
        // What BFV multiplied, BGV goes on with, and the other way round.
        let square = both.bgv.square(&to_bgv(&both.bgv, &most).unwrap(), &both.relinearization).unwrap();
        assert_eq!(both.open_bgv(&square), products(&expected, &expected, t));
        let square = both.bfv.square(&mixed, &both.relinearization).unwrap();
        assert_eq!(both.open_bfv(&square), products(&expected, &expected, t));
    }
}

#[test]
fn keys_of_levels_that_are_sets_serve_levels_that_are_prefixes() {
    const T: u64 = 1_099_511_619_841;
    let mut both = both(T, 5);
    assert_ne!(both.bfv.context().ring().level(), both.bgv.context().ring().level());
    let galois =
        GaloisKeys::for_rotations(both.bgv.context().rlwe(), &both.secret, [1], &mut both.rng).unwrap();
    let (x, y) = (both.encrypt(&X), both.encrypt(&Y));
    let product = both.bfv.multiply(&x, &y, &both.relinearization).unwrap();
    assert_eq!(both.open_bfv(&product), products(&X, &Y, T));
    let rotated = both.bfv.rotate_rows(&product, 1, &galois).unwrap();
    assert_eq!(both.open_bfv(&rotated)[..3], products(&X, &Y, T)[1..]);
    // Files name the level that the ring of their context has.
    let bytes = to_bytes(both.bfv.context().rlwe(), &both.relinearization).unwrap();
    let read: RelinearizationKey = from_bytes(both.bfv.context().rlwe(), &bytes).unwrap();
    let square = both.bgv.square(&to_bgv(&both.bgv, &x).unwrap(), &read).unwrap();
    assert_eq!(both.open_bgv(&square), products(&X, &X, T));
}

#[test]
fn what_does_not_belong_together_is_named() {
    let (mut one, other) = (both(257, 2), both(65537, 2));
    let x = one.encrypt(&X);
    assert!(matches!(to_bgv(&other.bgv, &x), Err(UnifiedError::PlainModuli { bfv: 257, bgv: 65537 })));
    let same_t = both(257, 1);
    assert!(matches!(to_bgv(&same_t.bgv, &x), Err(UnifiedError::Bgv(BgvError::Ring(_)))));
}
