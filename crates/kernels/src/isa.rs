//! Which instruction set runs, chosen once for the whole process.

use std::fmt;
use std::sync::OnceLock;

use crate::error::KernelError;

/// An instruction set with its own kernel tables. Results never depend on it.
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
    /// The same with 52-bit multiply-add and permutations of bytes (IFMA and VBMI); at its best for odd moduli below 2^49.
    Avx512Ifma,
}

impl Isa {
    /// All of them, the fastest first.
    pub const ALL: [Isa; 5] = [Isa::Avx512Ifma, Isa::Avx512Dq, Isa::Avx2, Isa::Neon, Isa::Portable];

    /// Whether this processor can run it.
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

/// The instruction set every new [`Modulus`](crate::Modulus) uses: the best available one, unless
/// the environment variable `SUNZI_ISA` (`portable`, `neon`, `avx2`, `avx512dq` or `avx512ifma`) says otherwise.
///
/// The variable is read once, at the first call.
///
/// # Errors
/// [`KernelError::UnknownIsa`] or [`KernelError::UnavailableIsa`] for a value that cannot be obeyed.
pub fn active_isa() -> Result<Isa, KernelError> {
    static ACTIVE: OnceLock<Result<Isa, KernelError>> = OnceLock::new();
    ACTIVE.get_or_init(|| choose(std::env::var_os("SUNZI_ISA"))).clone()
}

/// The instruction set that a value of `SUNZI_ISA` asks for, or the best available one without a value.
///
/// # Errors
/// Those of [`active_isa`].
pub fn choose(value: Option<std::ffi::OsString>) -> Result<Isa, KernelError> {
    let isa = match value {
        None => Isa::ALL.into_iter().find(|isa| isa.is_available()).unwrap_or(Isa::Portable),
        Some(value) => {
            let named = Isa::ALL.into_iter().find(|isa| value.to_str() == Some(&isa.to_string()));
            named.ok_or_else(|| KernelError::UnknownIsa { value: value.to_string_lossy().into_owned() })?
        }
    };
    if isa.is_available() { Ok(isa) } else { Err(KernelError::UnavailableIsa { isa }) }
}
