//! Tests of the generic loops that all tables are made of.

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod double_extremes;
mod word52_extremes;
mod word52_kernels;
