//! Tests of every sampler, and of words of generators as samplers draw them.

mod error_sample;
mod fixed_weight;
mod seeded;
mod spherical;
mod statistics;
mod uniform;
mod uniform_sum;

use rand_core::Rng;
use sunzi_ring::internals::{DRAWN, map_words};
use sunzi_ring::sampling::SeededRng;

#[test]
fn words_are_those_of_next_u64_in_turn() {
    for n in [0, 1, DRAWN - 1, DRAWN, DRAWN + 1, 3 * DRAWN + 7] {
        for skipped in [0, 1, 15] {
            let mut rngs = [(); 2].map(|()| SeededRng::derive(&[4; 32], "words", 0));
            let [first, second] = &mut rngs;
            for _ in 0..skipped {
                assert_eq!(first.next_u32(), second.next_u32());
            }
            let together = map_words(n, first, u64::cast_signed);
            let one_by_one: Vec<i64> = (0..n).map(|_| second.next_u64().cast_signed()).collect();
            assert_eq!(*together, one_by_one);
            assert_eq!(first.next_u32(), second.next_u32());
        }
    }
}
