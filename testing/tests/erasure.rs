//! Secrets leave no trace once they are dropped: all memory of a process is searched for them.
#![cfg(target_os = "linux")]

#[cfg(test)]
mod tests {
    use std::env;
    use std::fs::{self, File};
    use std::os::unix::fs::FileExt;
    use std::process::Command;

    use chacha20::ChaCha20Rng;
    use rand_core::SeedableRng;
    use sunzi_bfv::{Context, Parameters, Plaintext};
    use sunzi_ring::{PolyRing, sampling};
    use sunzi_rlwe::{RelinearizationKey, SecretKey, Security, wire};
    use sunzi_testing::Figure;

    const LOG_N: u32 = 10;
    const N: usize = 1 << LOG_N;
    const T: u64 = 1_099_511_619_841;
    const SEED: u64 = 3;
    /// Words of a pattern: more than chance repeats.
    const LEN: usize = 24;
    /// Patterns are kept and handed on under a mask, so that they are not found themselves.
    const MASK: u64 = 0x5bd1_e995_a076_1d64;
    const PATTERNS: &str = "SUNZI_PATTERNS";

    fn context() -> Context {
        let moduli = sunzi_math::primes_with_bits(45, 2 * N as u64, 3).unwrap();
        Context::new(&Parameters::new(LOG_N, moduli, T, Security::InsecureForResearchOnly)).unwrap()
    }

    fn message() -> Vec<u64> {
        (0..N as u64).map(|i| (i * i * 0x9e37_79b9 + 77) % T).collect()
    }

    /// The secret as it is drawn, as residues, as values, and a message: what must not be left.
    fn patterns() -> [(&'static str, Vec<u64>); 4] {
        let context = context();
        let ring = context.rlwe().key_ring();
        let coefficients = sampling::ternary(N, &mut ChaCha20Rng::seed_from_u64(SEED)).unwrap();
        let residues = ring.from_signed(&coefficients).unwrap();
        let values = ring.to_evaluation(residues.clone()).unwrap();
        let part = |words: &[u64]| words[100..100 + LEN].iter().map(|word| word ^ MASK).collect();
        let drawn: Vec<u64> = coefficients.iter().map(|c| c.cast_unsigned()).collect();
        [
            ("coefficients", part(&drawn)),
            ("residues", part(residues.words())),
            ("values", part(values.words())),
            ("message", part(&message())),
        ]
    }

    /// How often each pattern stands in memory that can be written.
    fn count(patterns: &[Vec<u64>]) -> Vec<usize> {
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
            for begin in (from..to).step_by(buffer.len() - 8 * LEN) {
                let len = buffer.len().min(to - begin);
                if memory.read_exact_at(&mut buffer[..len], begin as u64).is_err() {
                    continue;
                }
                let (all, _) = buffer[..len].as_chunks::<8>();
                for (pattern, found) in patterns.iter().zip(&mut found) {
                    let starts = all.windows(LEN).enumerate().filter(|(_, window)| {
                        window
                            .iter()
                            .zip(pattern)
                            .all(|(word, masked)| u64::from_ne_bytes(*word) ^ MASK == *masked)
                    });
                    *found += starts.filter(|(at, _)| !own.contains(&(begin + 8 * at))).count();
                }
            }
        }
        buffer.fill(0);
        found
    }

    /// Not a test unless started by one: makes a key and uses it, and searches before and after it is dropped.
    #[test]
    fn holder_of_a_secret() {
        let Some(text) = env::var_os(PATTERNS) else { return };
        let patterns: Vec<Vec<u64>> = text
            .to_str()
            .unwrap()
            .split(';')
            .map(|list| list.split(',').map(|word| word.parse().unwrap()).collect())
            .collect();
        let context = context();
        let rlwe = context.rlwe();
        let secret = SecretKey::generate(rlwe, &mut ChaCha20Rng::seed_from_u64(SEED)).unwrap();
        let plain = Plaintext::new(message(), T).unwrap();
        let mut rng = ChaCha20Rng::seed_from_u64(4);
        let ciphertext = context.encrypt_secret(&plain, &secret, &mut rng).unwrap();
        let opened = context.decrypt(&ciphertext, &secret).unwrap();
        assert_eq!(opened, plain);
        RelinearizationKey::generate(rlwe, &secret, &mut rng).unwrap();
        let folder = tempfile::tempdir().unwrap();
        wire::store(rlwe, &secret, folder.path().join("secret")).unwrap();
        let again: SecretKey<sunzi_ring::Ring> = wire::load(rlwe, folder.path().join("secret")).unwrap();
        let before = count(&patterns);
        // The last two stand in a key and in a message that are still there.
        assert!(before[2] >= 2 && before[3] >= 2, "{before:?}");
        drop((secret, again, plain, opened));
        println!("found {:?}", count(&patterns));
    }

    #[test]
    fn nothing_of_a_secret_is_left_in_memory() {
        let patterns = patterns();
        let text =
            |(_, words): &(&str, Vec<u64>)| words.iter().map(u64::to_string).collect::<Vec<_>>().join(",");
        let output = Command::new(env::current_exe().unwrap())
            .args(["--exact", "tests::holder_of_a_secret", "--nocapture", "--test-threads=1"])
            .env(PATTERNS, patterns.iter().map(text).collect::<Vec<_>>().join(";"))
            .output()
            .unwrap();
        let out = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{out}{}", String::from_utf8_lossy(&output.stderr));
        let found = out.split("found [").nth(1).and_then(|rest| rest.split(']').next()).unwrap();
        for ((name, _), count) in patterns.iter().zip(found.split(", ")) {
            Figure::new(14, format!("copies of a secret's {name} left in memory after it is dropped"))
                .none_wrong(count.parse().unwrap());
        }
    }
}
