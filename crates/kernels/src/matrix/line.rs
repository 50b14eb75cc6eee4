//! Units in which products of matrices read their operands.

/// Number of columns of residues that are multiplied together; strips of a multiple of this width waste nothing.
pub const STRIP: usize = 64;

/// A cache line of bytes, aligned to it.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub(crate) struct Line(pub(crate) [u8; 64]);
