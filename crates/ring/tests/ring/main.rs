//! All tests of the ring crate: the laws of rings and of their scale-invariant operations, and its parts by
//! themselves.

#[cfg(test)]
mod basis;
#[cfg(test)]
mod combination;
#[cfg(test)]
mod common;
#[cfg(test)]
mod digits;
#[cfg(test)]
mod expansion;
#[cfg(test)]
mod faults;
#[cfg(test)]
mod gadgets;
#[cfg(test)]
mod grouping;
#[cfg(test)]
mod hostile;
#[cfg(test)]
mod integers;
#[cfg(test)]
mod ladders;
#[cfg(test)]
mod laws;
#[cfg(test)]
mod levels;
#[cfg(test)]
mod masking;
#[cfg(test)]
mod merged;
#[cfg(test)]
mod multiplier;
#[cfg(test)]
mod packing;
#[cfg(test)]
mod parallel;
#[cfg(test)]
mod poly_matrix;
#[cfg(test)]
mod products;
#[cfg(test)]
mod real_subring;
#[cfg(test)]
mod rns;
#[cfg(test)]
mod root_order;
#[cfg(test)]
mod sampling;
#[cfg(test)]
mod scaling;
#[cfg(test)]
mod scratch;
#[cfg(test)]
mod seam;
#[cfg(test)]
mod tensor;
#[cfg(test)]
mod threads;
#[cfg(test)]
mod variants;
#[cfg(test)]
mod wide;
