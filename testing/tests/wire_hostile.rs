//! Files as nobody should have written them: typed errors or objects that every operation survives, and no more memory than there are bytes.

use peak_alloc::PeakAlloc;

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};
    use std::sync::{Mutex, PoisonError};

    use chacha20::ChaCha20Rng;
    use rand_core::SeedableRng;
    use sunzi_testing::Figure;
    use sunzi_testing::wire::{Specimen, alloc, every_specimen, mutation};

    use super::MEMORY;

    /// Names a process its share of the specimens: memory is counted for a whole process, so that only processes go side by side.
    const SHARE: &str = "SUNZI_SHARE_OF_MUTANTS";
    const SHARES: usize = 2;
    /// What its counts stand behind.
    const COUNTS: &str = "refused, accepted, most bytes, for a file of: ";

    /// Memory is counted for one test at a time.
    static ALONE: Mutex<()> = Mutex::new(());

    /// What became of mutants.
    #[derive(Debug, Default)]
    struct Tally {
        refused: usize,
        accepted: usize,
        /// The most bytes allocated beyond those of a mutant's own ceiling, and what came.
        worst: Option<(usize, usize, String)>,
    }

    impl Tally {
        fn record(&self) {
            let mutants = self.refused + self.accepted;
            Figure::new(10, "mutated files with a panic or more memory than allowed")
                .cases(mutants, 10_000_000)
                .none_wrong(0);
            Figure::new(11, "accepted mutants with a panic in an operation")
                .cases(self.accepted, self.accepted)
                .none_wrong(0);
            if let Some((bytes, from, _)) = &self.worst {
                Figure::new(10, format!("most bytes allocated for a file, of {from} bytes"))
                    .stated(*bytes as f64);
            }
        }
    }

    /// Reads `count` mutants of every specimen, with every operation on every `operated`th that is accepted.
    fn run(specimens: &[Specimen], count: usize, operated: usize, seed: u64) -> Tally {
        let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        let mut rng = ChaCha20Rng::seed_from_u64(seed);
        let mut tally = Tally::default();
        for specimen in specimens {
            // Tables that are made at first use.
            specimen.run(&specimen.bytes).unwrap();
            for _ in 0..count {
                let bytes = mutation::mutant(specimen, &mut rng);
                let before = MEMORY.current_usage();
                MEMORY.reset_peak_usage();
                let read = specimen.rewritten(&bytes);
                let used = MEMORY.peak_usage().saturating_sub(before);
                let ceiling = alloc::ceiling(bytes.len());
                assert!(used <= ceiling, "{}: {used} bytes for {}", specimen.name, bytes.len());
                if tally.worst.as_ref().is_none_or(|&(worst, ..)| used > worst) {
                    tally.worst = Some((used, bytes.len(), specimen.name.clone()));
                }
                if read.is_err() {
                    tally.refused += 1;
                } else {
                    if tally.accepted % operated == 0 {
                        specimen.run(&bytes).unwrap();
                    }
                    tally.accepted += 1;
                }
            }
        }
        tally
    }

    #[test]
    fn mutants_are_refused_or_harmless() {
        let specimens = every_specimen().unwrap();
        let tally = run(&specimens, 30, 1, 1);
        tally.record();
        assert!(tally.refused > 0 && tally.accepted > 0, "{tally:?}");
    }

    /// The tallies of all shares, each in a process of its own.
    #[test]
    #[ignore = "long: a million mutants"]
    fn a_million_mutants_are_refused_or_harmless() {
        let start = |share: usize| {
            let mut test = Command::new(std::env::current_exe().unwrap());
            test.args(["--ignored", "--exact", "--nocapture", "tests::share_of_a_million_mutants"]);
            test.env(SHARE, share.to_string()).stdout(Stdio::piped()).spawn().unwrap()
        };
        let shares: Vec<_> = (0..SHARES).map(start).collect();
        let mut all = Tally::default();
        for share in shares {
            let output = share.wait_with_output().unwrap();
            let text = String::from_utf8_lossy(&output.stdout);
            assert!(output.status.success(), "{text}");
            let counts = text.lines().find_map(|line| line.strip_prefix(COUNTS)).unwrap();
            let counts: Vec<usize> = counts.split_whitespace().map(|count| count.parse().unwrap()).collect();
            let [refused, accepted, bytes, from] = counts[..] else { panic!("{text}") };
            all.refused += refused;
            all.accepted += accepted;
            all.worst = all.worst.max(Some((bytes, from, String::new())));
        }
        all.record();
        assert!(all.refused + all.accepted >= 1_000_000);
    }

    #[test]
    #[ignore = "long: a part of the test above, which starts it and names the part"]
    fn share_of_a_million_mutants() {
        let Some(share) = std::env::var(SHARE).ok().and_then(|share| share.parse().ok()) else { return };
        let specimens = every_specimen().unwrap();
        let count = 1_000_000_usize.div_ceil(specimens.len());
        let own: Vec<Specimen> = specimens.into_iter().skip(share).step_by(SHARES).collect();
        let tally = run(&own, count, 1, 2 + share as u64);
        println!("{tally:?}");
        let (bytes, from, _) = tally.worst.unwrap();
        println!("\n{COUNTS}{} {} {bytes} {from}", tally.refused, tally.accepted);
    }
}
