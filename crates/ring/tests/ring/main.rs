//! The laws of rings and of their scale-invariant operations.

#[cfg(test)]
mod common;
#[cfg(test)]
mod gadgets;
mod hostile;
#[cfg(test)]
mod ladders;
#[cfg(test)]
mod laws;
#[cfg(test)]
mod levels;
#[cfg(test)]
mod multi_precision;
#[cfg(test)]
mod products;
#[cfg(test)]
mod scaling;
#[cfg(test)]
mod threads;
#[cfg(test)]
mod univariate;
#[cfg(test)]
mod variants;
#[cfg(test)]
mod wide;
