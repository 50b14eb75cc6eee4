//! Tests of the groups of limbs that are computed together.

use std::ops::Range;

use sunzi_ring::internals::{GROUP, groups};

#[test]
fn groups_are_small_and_nearly_equal() {
    for start in [0, 7] {
        for len in 0..100 {
            let groups = groups(start..start + len);
            assert_eq!(
                groups.iter().cloned().flatten().collect::<Vec<_>>(),
                (start..start + len).collect::<Vec<_>>()
            );
            let sizes: Vec<usize> = groups.iter().map(Range::len).collect();
            assert!(sizes.iter().all(|&size| (1..=GROUP).contains(&size)), "{len}: {sizes:?}");
            assert!(len < 2 || groups.len().is_multiple_of(2) || groups.len() == len);
            assert!(sizes.iter().max().unwrap_or(&0) - sizes.iter().min().unwrap_or(&0) <= 1);
        }
    }
}
