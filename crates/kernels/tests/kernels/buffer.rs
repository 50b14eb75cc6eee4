//! Aligned buffers.

use sunzi_kernels::Buffer;
use zeroize::Zeroize;

#[test]
fn aligned_at_every_length() {
    for len in [0, 1, 7, 8, 9, 64, 1000] {
        let mut buffer = Buffer::zeroed(len);
        assert_eq!(buffer.len(), len);
        assert_eq!(buffer.as_ptr().addr() % 64, 0);
        buffer.iter_mut().enumerate().for_each(|(i, w)| *w = i as u64);
        assert!(buffer.clone().iter().enumerate().all(|(i, w)| *w == i as u64));
        buffer.zeroize();
        assert!(buffer.iter().all(|w| *w == 0));
    }
}
