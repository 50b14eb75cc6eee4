//! Erasure of secrets: once they are dropped, all memory of a process is searched for them.

use std::env;
use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::Path;
use sunzi_testing::storage::stored;

use chacha20::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};
use sunzi_bfv::{Context, Parameters, Plaintext};
use sunzi_ckks::LevelRange;
use sunzi_ring::{Ring, Storage, sampling};
use sunzi_rlwe::sharing::Flooding;
use sunzi_rlwe::wire::HEADER_LEN;
use sunzi_rlwe::{
    DeclaredNoise, LedgerFile, PublicKey, RelinearizationKey, RlweContext, SecretKey, Security,
    SharingLedger, SharingPolicy, wire,
};
use sunzi_testing::Figure;
use sunzi_testing::process::again;
use sunzi_univariate::{Reduction, UnivariateRing};
use zeroize::Zeroize;

const SECURITY: Security = Security::InsecureForResearchOnly;
const LOG_N: u32 = 10;
const N: usize = 1 << LOG_N;
const T: u64 = 1_099_511_619_841;
/// Index of a ring of 512 coefficients with products over integers, in which values and coefficients differ.
const INDEX: u64 = 771;
/// Number of words of a pattern, and of bytes of a packed one: more than chance repeats.
const WORDS: usize = 24;
const PACKED: usize = 64;
/// Mask of stored patterns, so that the search does not find them.
const MASK: u8 = 0x5b;
const PATTERNS: &str = "SUNZI_PATTERNS";

/// Seeds of the drawn secrets.
const SECRET: u64 = 3;
const UNDER_SECRET: u64 = 4;
const UNDER_PUBLIC: u64 = 5;
const SHARED: u64 = 7;

fn rng(seed: u64) -> ChaCha20Rng {
    ChaCha20Rng::seed_from_u64(seed)
}

fn context() -> Context {
    let moduli = sunzi_math::primes_with_bits(45, 2 * N as u64, 3).unwrap();
    Context::new(&Parameters::new(LOG_N, moduli, T, SECURITY)).unwrap()
}

fn reals() -> sunzi_ckks::Parameters {
    let ranges = [LevelRange { levels: 2, scale_bits: 40 }];
    sunzi_ckks::Parameters::from_ranges(LOG_N, 50, &ranges, SECURITY).unwrap()
}

fn primes() -> Vec<u64> {
    sunzi_math::primes_with_bits(62, UnivariateRing::root_order(INDEX).unwrap(), 2).unwrap()
}

fn univariate() -> RlweContext {
    let ring = stored(
        Ring::of(UnivariateRing::new(INDEX, &primes(), Reduction::SparseBarrett).unwrap()),
        Storage::Univariate,
    );
    RlweContext::new(ring, SECURITY).unwrap()
}

fn message() -> Vec<u64> {
    (0..N as u64).map(|i| (i * i * 0x9e37_79b9 + 77) % T).collect()
}

fn slots() -> Vec<f64> {
    (0..N / 2).map(|i| ((i * i) as f64).sin()).collect()
}

fn policy() -> SharingPolicy {
    SharingPolicy::new(20, 4).unwrap()
}

/// Declared noise in bits, far above that of two encryptions and their sum.
const DECLARED: f64 = 20.0;

/// Bytes that must not remain, and whether an object that is not yet dropped has them before.
struct Pattern {
    name: &'static str,
    bytes: Vec<u8>,
    held: bool,
}

#[derive(Default)]
struct Patterns(Vec<Pattern>);

impl Patterns {
    fn bytes(&mut self, name: &'static str, bytes: &[u8]) {
        self.0.push(Pattern { name, bytes: bytes.to_vec(), held: false });
    }

    fn words(&mut self, name: &'static str, words: &[u64]) {
        let part = words[100..100 + WORDS].iter().flat_map(|word| word.to_ne_bytes());
        self.bytes(name, &part.collect::<Vec<_>>());
    }

    fn held(&mut self, name: &'static str, words: &[u64]) {
        self.words(name, words);
        self.0.last_mut().unwrap().held = true;
    }

    /// Adds the patterns of a list of small numbers, of their residues, and of the values of these.
    fn small(&mut self, ring: &Ring, names: [&'static str; 3], drawn: &[i64]) {
        let [list, coefficients, evaluated] = names;
        self.words(list, &drawn.iter().map(|c| c.cast_unsigned()).collect::<Vec<_>>());
        let residues = ring.from_signed(drawn).unwrap();
        self.words(coefficients, residues.words());
        self.words(evaluated, ring.to_evaluation(residues).unwrap().words());
    }
}

/// Returns all patterns, drawn again here from their seeds.
fn patterns() -> Vec<Pattern> {
    let mut patterns = Patterns::default();
    let context = context();
    let (rlwe, ring) = (context.rlwe(), context.rlwe().key_ring());
    of_secrets(&mut patterns, rlwe);

    let mut under_secret = rng(UNDER_SECRET);
    under_secret.fill_bytes(&mut [0; 32]);
    let error = sampling::spherical_error(ring.ring_index(), &mut under_secret).unwrap();
    patterns.small(ring, ["error", "error's residues", "error's values"], &error);

    let under_public = &mut rng(UNDER_PUBLIC);
    let mask = sampling::ternary(N, under_public).unwrap();
    patterns.small(ring, ["mask", "mask's residues", "mask's values"], &mask);
    let error = sampling::spherical_error(ring.ring_index(), under_public).unwrap();
    patterns.small(ring, ["first error", "its residues", "its values"], &error);
    let error = sampling::spherical_error(ring.ring_index(), under_public).unwrap();
    patterns.small(ring, ["second error", "its residues", "its values"], &error);

    let declared = DeclaredNoise::from_bits(DECLARED);
    let flooding = Flooding::new(policy(), declared, N).unwrap();
    let hiding = flooding.sample(context.ring(), &mut rng(SHARED)).unwrap();
    patterns.words("flooding", hiding.words());
    patterns.words("flooding's values", context.ring().to_evaluation((*hiding).clone()).unwrap().words());
    let values = u64::try_from(flooding.values()).unwrap();
    let drawn = sampling::uniform_sums(N, values, &mut rng(SHARED)).unwrap();
    patterns.words("flooding as drawn", &drawn.iter().map(|&x| x as u64).collect::<Vec<_>>());
    let mut terms = vec![0; 3 * N];
    sampling::uniform_residues(&mut terms, values, &mut rng(SHARED));
    patterns.words("flooding's uniform parts", &terms);

    patterns.held("message", &message());
    let reals = sunzi_ckks::Context::new(&reals()).unwrap();
    let plain = sunzi_ckks::Encoder::new(&reals, N / 2).unwrap().encode_real(&slots()).unwrap();
    patterns.held("real message", plain.poly().words());
    let stored = wire::to_bytes(&reals, &plain).unwrap();
    let (end, middle) = (stored.len() - 8, stored.len() / 2);
    patterns.bytes("packed real message", &stored[middle..middle + PACKED]);
    patterns.bytes("end of the packed real message", &stored[end - PACKED..end]);
    patterns.0
}

/// Adds the patterns of secrets: as drawn, as residues, as values, as stored.
fn of_secrets(patterns: &mut Patterns, rlwe: &RlweContext) {
    let ring = rlwe.key_ring();
    let drawn = sampling::ternary(N, &mut rng(SECRET)).unwrap();
    patterns.words("coefficients", &drawn.iter().map(|c| c.cast_unsigned()).collect::<Vec<_>>());
    patterns.words("floats", &drawn.iter().map(|&c| (c as f64).to_bits()).collect::<Vec<_>>());
    patterns.words("digits", &drawn.iter().map(|&c| (c + 1) as u64).collect::<Vec<_>>());
    let residues = ring.from_signed(&drawn).unwrap();
    patterns.words("residues", residues.words());
    patterns.held("values", ring.to_evaluation(residues).unwrap().words());
    let stored = wire::to_bytes(rlwe, &SecretKey::generate(rlwe, &mut rng(SECRET)).unwrap()).unwrap();
    let packed = &stored[HEADER_LEN..stored.len() - 8];
    patterns.bytes("packed form", &packed[PACKED..2 * PACKED]);
    patterns.bytes("end of the packed form", &packed[packed.len() - PACKED..]);

    let degree = univariate().key_ring().degree();
    let drawn = sampling::ternary(degree, &mut rng(SECRET)).unwrap();
    let q = primes()[0] as i64;
    let residues: Vec<u64> = drawn.iter().map(|c| c.rem_euclid(q) as u64).collect();
    patterns.words("residues in the power basis", &residues);
}

/// Counts how often each pattern, masked as it is, stands in writable memory, at whatever byte it begins.
fn count(patterns: &[Vec<u8>]) -> Vec<usize> {
    let mut by_first = vec![Vec::new(); 256];
    for (at, pattern) in patterns.iter().enumerate() {
        by_first[usize::from(pattern[0] ^ MASK)].push(at);
    }
    let longest = patterns.iter().map(Vec::len).max().unwrap();
    let mut found = vec![0; patterns.len()];
    let memory = File::open("/proc/self/mem").unwrap();
    let mut buffer = vec![0_u8; 1 << 20];
    let own = buffer.as_ptr() as usize..buffer.as_ptr() as usize + buffer.len();
    let maps = fs::read_to_string("/proc/self/maps").unwrap();
    let ranges = maps.lines().filter(|line| line.contains(" rw") && !line.contains("[v")).map(|line| {
        let (from, to) = line.split_once(' ').unwrap().0.split_once('-').unwrap();
        [from, to].map(|end| usize::from_str_radix(end, 16).unwrap())
    });
    for [from, to] in ranges {
        // Pieces overlap by a pattern.
        let step = buffer.len() - longest;
        for begin in (from..to).step_by(step) {
            let len = buffer.len().min(to - begin);
            if memory.read_exact_at(&mut buffer[..len], begin as u64).is_err() {
                continue;
            }
            for at in 0..len.min(step) {
                for &pattern in &by_first[usize::from(buffer[at])] {
                    let masked = &patterns[pattern];
                    let here = buffer[at..len].get(..masked.len());
                    let is = here.is_some_and(|here| here.iter().zip(masked).all(|(a, b)| a ^ MASK == *b));
                    found[pattern] += usize::from(is && !own.contains(&(begin + at)));
                }
            }
        }
    }
    buffer.fill(0);
    found
}

/// Makes keys and uses them, also from files, and calls `look` after every step; in the end nothing is held.
fn scene(folder: &Path, look: &mut impl FnMut()) {
    let context = context();
    let rlwe = context.rlwe();
    let secret = SecretKey::generate(rlwe, &mut rng(SECRET)).unwrap();
    look();
    let plain = Plaintext::new(message(), T).unwrap();
    let ciphertext = context.encrypt_secret(&plain, &secret, &mut rng(UNDER_SECRET)).unwrap();
    look();
    let opened = context.decrypt(&ciphertext, &secret).unwrap();
    assert_eq!(opened, plain);
    look();
    let public = PublicKey::generate(rlwe, &secret, &mut rng(6)).unwrap();
    let ciphertext = context.encrypt(&plain, &public, &mut rng(UNDER_PUBLIC)).unwrap();
    look();
    let declared = DeclaredNoise::from_bits(DECLARED);
    let ledger = SharingLedger::new(wire::Fingerprint::default(), secret.id(), policy());
    let ledger = &mut LedgerFile::in_memory(ledger);
    let shared =
        context.decrypt_for_sharing(&ciphertext, &secret, declared, ledger, &mut rng(SHARED)).unwrap();
    assert_eq!(shared, plain);
    look();
    RelinearizationKey::generate(rlwe, &secret, &mut rng(8)).unwrap();
    look();
    wire::store(rlwe, &secret, folder.join("secret")).unwrap();
    look();
    let again: SecretKey = wire::load(rlwe, folder.join("secret")).unwrap();
    look();
    drop(SecretKey::generate(&univariate(), &mut rng(SECRET)).unwrap());
    look();
    of_reals(folder, look);
    drop((secret, again, plain, opened, shared));
}

fn of_reals(folder: &Path, look: &mut impl FnMut()) {
    let reals = sunzi_ckks::Context::new(&reals()).unwrap();
    let encoder = sunzi_ckks::Encoder::new(&reals, N / 2).unwrap();
    let real = encoder.encode_real(&slots()).unwrap();
    wire::store(&reals, &real, folder.join("real")).unwrap();
    look();
    let same: sunzi_ckks::Plaintext = wire::load(&reals, folder.join("real")).unwrap();
    assert_eq!(same.poly().words(), real.poly().words());
    look();
    let key = SecretKey::generate(reals.rlwe(), &mut rng(SECRET)).unwrap();
    let ciphertext = reals.encrypt_secret(&real, &key, &mut rng(UNDER_SECRET)).unwrap();
    look();
    let ledger = SharingLedger::new(wire::Fingerprint::default(), key.id(), policy());
    let (ledger, declared) = (&mut LedgerFile::in_memory(ledger), DeclaredNoise::from_bits(DECLARED));
    reals.decrypt_for_sharing(&ciphertext, &key, declared, ledger, &mut rng(SHARED)).unwrap();
    look();
}

/// Runs only if started by another test: searches before and after all is dropped.
#[test]
fn holder_of_a_secret() {
    let Some(text) = env::var_os(PATTERNS) else { return };
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
    let patterns: Vec<Vec<u8>> =
        text.to_str().unwrap().split(';').map(|hex| hex.as_bytes().chunks(2).map(byte).collect()).collect();
    let folder = tempfile::tempdir().unwrap();
    let mut copies: Vec<Vec<u8>> =
        patterns.iter().map(|masked| masked.iter().map(|byte| byte ^ MASK).collect()).collect();
    assert!(count(&patterns).iter().all(|count| *count > 0), "the search misses what is there");
    copies.iter_mut().for_each(Zeroize::zeroize);
    assert!(count(&patterns).iter().all(|count| *count == 0), "the search finds what is not there");
    let mut before = vec![0; patterns.len()];
    scene(folder.path(), &mut || {
        before.iter_mut().zip(count(&patterns)).for_each(|(most, found)| *most = found.max(*most));
    });
    println!("before [{}]", before.iter().map(usize::to_string).collect::<Vec<_>>().join(","));
    let after = count(&patterns);
    println!("after [{}]", after.iter().map(usize::to_string).collect::<Vec<_>>().join(","));
}

#[test]
fn nothing_of_a_secret_is_left_in_memory() {
    let patterns = patterns();
    let hex = |pattern: &Pattern| {
        pattern.bytes.iter().map(|byte| format!("{:02x}", byte ^ MASK)).collect::<String>()
    };
    let output = again("erasure::holder_of_a_secret")
        .unwrap()
        .arg("--test-threads=1")
        // Freed memory stays mapped.
        .env("MALLOC_MMAP_THRESHOLD_", "1073741824")
        .env("MALLOC_TRIM_THRESHOLD_", "1073741824")
        .env(PATTERNS, patterns.iter().map(hex).collect::<Vec<_>>().join(";"))
        .output()
        .unwrap();
    let out = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{out}{}", String::from_utf8_lossy(&output.stderr));
    let counts = |name: &str| -> Vec<usize> {
        let list = out.split(&format!("{name} [")).nth(1).and_then(|rest| rest.split(']').next()).unwrap();
        list.split(',').map(|count| count.parse().unwrap()).collect()
    };
    let (before, after) = (counts("before"), counts("after"));
    assert_eq!((before.len(), after.len()), (patterns.len(), patterns.len()));
    let mut early = Vec::new();
    for (pattern, before) in patterns.iter().zip(before) {
        // The search finds what is held: a key and its copy, a message and its decryption. All else is gone already.
        let expected = if pattern.held { before >= 2 } else { before == 0 };
        if !expected {
            early.push((pattern.name, before));
        }
    }
    assert!(early.is_empty(), "{early:?}");
    let left: Vec<_> = patterns.iter().zip(&after).filter(|(_, count)| **count > 0).collect();
    let left: Vec<_> = left.iter().map(|(pattern, count)| (pattern.name, **count)).collect();
    assert!(left.is_empty(), "{left:?}");
    for (pattern, count) in patterns.iter().zip(after) {
        Figure::new(14, format!("copies of a secret's {} left in memory after it is dropped", pattern.name))
            .none_wrong(count);
    }
}
