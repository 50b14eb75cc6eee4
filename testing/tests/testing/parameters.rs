//! Keys of every shipped parameter set against the 2024 guidelines, and the failure probability of sets.

use sunzi_circuits::bootstrap::Set;
use sunzi_ring::Ring;
use sunzi_rlwe::{RlweContext, SecretDistribution, Security};
use sunzi_testing::Figure;

/// Limits of table 5.2 of ePrint 2024/463 once more, from n = 2^10 to 2^17, less where an attack is estimated below what is claimed (128 bits at
/// 2^16 and 2^17, 192 at 2^15, 256 at 2^17: `docs/notes/security/`): not those that the library checks by.
const GUIDELINES: [(Security, [u32; 8]); 3] = [
    (Security::Bits128, [26, 53, 106, 214, 430, 868, 1746, 3517]),
    (Security::Bits192, [0, 36, 73, 147, 297, 596, 1199, 2411]),
    (Security::Bits256, [0, 27, 56, 114, 230, 462, 929, 1865]),
];

/// Tally of keys, and of those whose modulus is above the table.
#[derive(Default)]
struct Tally {
    keys: usize,
    over: Vec<String>,
}

impl Tally {
    /// Checks the modulus of every kind of key of a context: secret-key and public encryption, relinearisation and rotation.
    fn check(&mut self, name: &str, rlwe: &RlweContext) {
        assert_eq!(rlwe.secrets(), SecretDistribution::Ternary, "{name}");
        let degree = rlwe.ring().degree();
        let encryption = rlwe.log2_modulus() + rlwe.log2_encryption_excess();
        // The bits are computed from the moduli, not taken from the library's own figure.
        let keys: f64 =
            rlwe.key_ring().words().unwrap().basis().values().iter().map(|&q| (q as f64).log2()).sum();
        for (kind, log2) in [("ciphertext", rlwe.log2_modulus()), ("public", encryption), ("switching", keys)]
        {
            self.count(&format!("{name}, {kind}"), rlwe.security(), degree, log2);
        }
    }

    fn count(&mut self, name: &str, security: Security, degree: usize, log2: f64) {
        let (_, row) = GUIDELINES.iter().find(|(of, _)| *of == security).expect("a shipped set has a level");
        let limit = row[degree.ilog2() as usize - 10];
        self.keys += 1;
        if log2 > f64::from(limit) {
            self.over.push(format!("{name}: {log2} bits at n = {degree}, {limit} allowed"));
        }
    }
}

const LEVELS: [Security; 3] = [Security::Bits128, Security::Bits192, Security::Bits256];

fn exact_sets(tally: &mut Tally, depths: &[usize]) {
    for security in LEVELS {
        for &depth in depths {
            for bits in [17, 20, 32] {
                let name = format!("depth {depth}, {bits} bits, {security}");
                let bfv = sunzi_bfv::Parameters::builder().depth(depth).plain_bits(bits).security(security);
                if let Ok(parameters) = bfv.build() {
                    tally
                        .check(&format!("BFV, {name}"), sunzi_bfv::Context::new(&parameters).unwrap().rlwe());
                }
                let bgv = sunzi_bgv::Parameters::builder().depth(depth).plain_bits(bits).security(security);
                if let Ok(parameters) = bgv.build() {
                    tally
                        .check(&format!("BGV, {name}"), sunzi_bgv::Context::new(&parameters).unwrap().rlwe());
                }
            }
        }
    }
}

fn approximate_sets(tally: &mut Tally, depths: &[usize]) {
    for security in LEVELS {
        for &depth in depths {
            for precision in [12, 20, 30] {
                let builder =
                    sunzi_ckks::Parameters::builder().depth(depth).precision(precision).security(security);
                if let Ok(parameters) = builder.build() {
                    let context = sunzi_ckks::Context::new(&parameters).unwrap();
                    tally
                        .check(&format!("CKKS, depth {depth}, {precision} bits, {security}"), context.rlwe());
                }
            }
        }
    }
}

fn everything(depths: &[usize]) {
    let mut tally = Tally::default();
    exact_sets(&mut tally, depths);
    approximate_sets(&mut tally, depths);
    for set in Set::shipped().iter().filter(|set| set.security != Security::InsecureForResearchOnly) {
        let context = sunzi_ckks::Context::new(&set.parameters().unwrap()).unwrap();
        tally.check(set.name, context.rlwe());
        if let Some(capsule) = &set.encapsulation {
            // Weight 32 at dimension 2^16: at most 121 bits. A vector of polynomials counts as one of their lengths together.
            assert_eq!((capsule.weight, set.log2_degree + capsule.rank.ilog2()), (32, 16), "{}", set.name);
            let log2 = set.first_bits + capsule.special_bits;
            tally.keys += 1;
            tally.over.extend((log2 > 121).then(|| format!("{}, encapsulation: {log2} bits", set.name)));
        }
    }
    assert!(tally.over.is_empty(), "{:?}", tally.over);
    assert!(tally.keys >= 100, "{} keys", tally.keys);
    Figure::new(1, "keys above the 2024 table").cases(tally.keys, tally.keys).none_wrong(tally.over.len());
}

#[test]
fn no_key_of_a_shipped_set_is_above_the_table() {
    everything(&[0, 1, 3, 6]);
}

#[test]
#[ignore = "long: contexts of every depth up to n = 2^16"]
fn no_key_of_any_depth_is_above_the_table() {
    everything(&(0..=16).collect::<Vec<_>>());
}

/// Checks that the context refuses a modulus that is one bit too long, for every level of security and every n there is.
#[test]
fn one_bit_more_is_refused() {
    let mut refused = 0;
    for (security, row) in GUIDELINES {
        for (log2_degree, limit) in (10..=14).zip(row).filter(|&(_, limit)| limit > 0) {
            let make = |bits: u32| {
                let index = 2 << log2_degree;
                let count = bits.div_ceil(50).max(1);
                let (each, more) = (bits / count, bits % count);
                let mut moduli = sunzi_math::primes_with_bits(each, index, (count - more) as usize).unwrap();
                if more > 0 {
                    moduli.extend(sunzi_math::primes_with_bits(each + 1, index, more as usize).unwrap());
                }
                RlweContext::new(Ring::new(index, &moduli).unwrap(), security)
            };
            assert!(make(limit).is_ok(), "{limit} bits at 2^{log2_degree}, {security}");
            assert!(make(limit + 1).is_err(), "{} bits at 2^{log2_degree}, {security}", limit + 1);
            refused += 1;
        }
    }
    Figure::new(1, "limits of the table where one bit more is accepted")
        .cases(refused, refused)
        .none_wrong(0);
}

#[test]
fn sets_for_bootstrapping_fail_too_rarely_to_matter() {
    for set in Set::shipped() {
        let slots = 1 << (set.log2_degree - 1);
        let name = format!("log2 of the probability that a bootstrapping with {} overflows", set.name);
        Figure::new(7, name).at_most(set.log2_failure(slots), -128.0);
    }
}
