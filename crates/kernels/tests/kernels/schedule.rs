//! Passes of a transform.

use sunzi_kernels::internals::{CHUNK, Schedule, TAIL};

#[test]
fn passes_cover_all_levels() {
    for log_n in 6..=17 {
        let schedule = Schedule::new(1 << log_n);
        let mut block = 1 << log_n;
        for pass in schedule.passes() {
            assert_eq!(pass.block, block);
            block >>= pass.levels;
        }
        assert_eq!(block, TAIL);
        assert!(schedule.chunk <= CHUNK);
    }
}
