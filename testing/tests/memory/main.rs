//! Tests that measure the memory of their process, which takes an allocator that counts.
#![forbid(unsafe_code)]

use peak_alloc::PeakAlloc;

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

#[cfg(test)]
mod bootstraps;
#[cfg(test)]
mod hostile_parameters;
#[cfg(test)]
mod parquet_hostile;
#[cfg(test)]
mod parties;
#[cfg(test)]
mod predictions;
#[cfg(test)]
mod soak;
#[cfg(test)]
mod steady;
#[cfg(test)]
mod wire_hostile;
