//! Tests of memory that is kept between operations.

use sunzi_kernels::Buffer;
use sunzi_ring::internals::{SHORTEST, Scratch, Store, up_to_twice};

#[test]
fn buffers_come_back_and_copies_are_copies() {
    // The length is one that no other test asks for.
    let len = SHORTEST + 12_345;
    let mut scratch = Scratch::new(len);
    scratch.fill(7);
    let copy = scratch.clone();
    drop(scratch);
    let zeroed = Scratch::zeroed(len);
    assert!(zeroed.iter().all(|word| *word == 0));
    assert!(copy.iter().all(|word| *word == 7));
    drop((zeroed, copy));
    assert_eq!(Scratch::new(len).len(), len);
    assert!(Scratch::zeroed(0).is_empty());
}

#[test]
fn the_store_is_bounded_and_the_oldest_go_first() {
    let most = 1 << 20;
    let mut store = Store::new(most);
    let len = most / 4;
    for extra in 0..4 {
        assert!(store.keep(Buffer::zeroed(len - extra)).is_empty());
    }
    let gone = store.keep(Buffer::zeroed(len));
    assert_eq!(gone.iter().map(|buffer| buffer.len()).collect::<Vec<_>>(), [len]);
    assert_eq!(store.words, store.buffers.iter().map(|buffer| buffer.len()).sum::<usize>());
    assert!(store.words <= most);
    assert_eq!(store.take(up_to_twice(len - 1)).map(|buffer| buffer.len()), Some(len - 1));
    assert_eq!(store.take(up_to_twice(len - 1)).map(|buffer| buffer.len()), Some(len));
    // A buffer up to twice as long is taken, a longer one is not.
    assert!(store.take(up_to_twice(len / 2 - 2)).is_none() && store.take(up_to_twice(len + 1)).is_none());
    assert_eq!(store.take(up_to_twice(len / 2 - 1)).map(|buffer| buffer.len()), Some(len - 3));
    // A buffer larger than the store is not kept.
    assert!(!store.keep(Buffer::zeroed(most + 1)).is_empty());
    assert_eq!((store.words, store.buffers.len()), (0, 0));
}
