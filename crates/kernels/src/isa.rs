//! Instruction sets, and which of them this processor has.

use std::fmt;

/// An instruction set with its own kernel tables. Results never depend on it.
///
/// ```
/// use sunzi_kernels::{Isa, active_isa};
///
/// assert!(Isa::Portable.is_available());
/// assert!(active_isa()?.is_available());
/// # Ok::<(), sunzi_kernels::KernelError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Isa {
    /// Plain Rust on 64-bit words; runs everywhere and takes every modulus.
    Portable,
    /// 128-bit vectors of 64-bit ARM with fused multiply-add on doubles; takes moduli up to 2^50.
    Neon,
    /// 256-bit vectors with fused multiply-add on doubles; takes moduli up to 2^50.
    Avx2,
    /// 512-bit vectors with products of whole words (AVX-512 F, DQ and VL) for moduli above 2^50, and what
    /// `Avx2` has for the others.
    Avx512Dq,
    /// `Avx512Dq` with 52-bit multiply-add and permutations of bytes (IFMA and VBMI); at its best for odd moduli below 2^49.
    Avx512Ifma,
}

impl Isa {
    /// All instruction sets, the fastest first.
    pub const ALL: [Isa; 5] = [Isa::Avx512Ifma, Isa::Avx512Dq, Isa::Avx2, Isa::Neon, Isa::Portable];

    /// Whether this processor has the instruction set.
    #[must_use]
    pub fn is_available(self) -> bool {
        match self {
            Isa::Portable => true,
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2 => {
                std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma")
            }
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512Dq => {
                Isa::Avx2.is_available()
                    && std::arch::is_x86_feature_detected!("avx512f")
                    && std::arch::is_x86_feature_detected!("avx512dq")
                    && std::arch::is_x86_feature_detected!("avx512vl")
            }
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512Ifma => {
                Isa::Avx512Dq.is_available()
                    && std::arch::is_x86_feature_detected!("avx512ifma")
                    && std::arch::is_x86_feature_detected!("avx512vbmi")
            }
            #[cfg(target_arch = "aarch64")]
            Isa::Neon => std::arch::is_aarch64_feature_detected!("neon"),
            _ => false,
        }
    }
}

impl fmt::Display for Isa {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Isa::Portable => "portable",
            Isa::Neon => "neon",
            Isa::Avx2 => "avx2",
            Isa::Avx512Dq => "avx512dq",
            Isa::Avx512Ifma => "avx512ifma",
        })
    }
}
