//! Files as nobody should have written them: typed errors or objects that every operation survives, and no more memory than there are bytes.

use peak_alloc::PeakAlloc;

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

#[cfg(test)]
mod tests {
    use std::sync::{Mutex, PoisonError};

    use chacha20::ChaCha20Rng;
    use rand_core::SeedableRng;
    use sunzi_testing::Figure;
    use sunzi_testing::wire::{Specimen, alloc, every_specimen, mutation};

    use super::MEMORY;

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
        tally.record();
        tally
    }

    #[test]
    fn mutants_are_refused_or_harmless() {
        let specimens = every_specimen().unwrap();
        let tally = run(&specimens, 30, 1, 1);
        assert!(tally.refused > 0 && tally.accepted > 0, "{tally:?}");
    }

    #[test]
    #[ignore = "long: a million mutants"]
    fn a_million_mutants_are_refused_or_harmless() {
        let specimens = every_specimen().unwrap();
        let tally = run(&specimens, 1_000_000_usize.div_ceil(specimens.len()), 1, 2);
        println!("{tally:?}");
        assert!(tally.refused + tally.accepted >= 1_000_000);
    }
}
