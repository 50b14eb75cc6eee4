//! How much memory reading may take.

/// The most that reading `len` bytes may have allocated at once: twice what came where residues have 32 bits or more, times two for uniform halves
/// that the file has as seeds, and the constant: a polynomial, blocks, tables of a small context.
#[must_use]
pub fn ceiling(len: usize) -> usize {
    4 * len + (1 << 20)
}
