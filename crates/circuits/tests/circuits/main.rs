//! Circuits over every scheme against clear arithmetic.
#![forbid(unsafe_code)]

#[cfg(test)]
mod intersection;
#[cfg(test)]
mod nearest;
#[cfg(test)]
mod reciprocal;
#[cfg(test)]
mod regression;
#[cfg(test)]
mod retrieval;
#[cfg(test)]
mod sign;
#[cfg(test)]
mod statistics;
#[cfg(test)]
mod unified;
