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
    /// 512-bit vectors with 52-bit multiply-add; takes odd moduli below 2^49.
    Avx512Ifma,
}

impl Isa {
    /// Whether this processor can run it.
    #[must_use]
    pub fn is_available(self) -> bool {
        match self {
            Isa::Portable => true,
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512Ifma => {
                std::arch::is_x86_feature_detected!("avx512f")
                    && std::arch::is_x86_feature_detected!("avx512dq")
                    && std::arch::is_x86_feature_detected!("avx512vl")
                    && std::arch::is_x86_feature_detected!("avx512ifma")
            }
            #[cfg(not(target_arch = "x86_64"))]
            Isa::Avx512Ifma => false,
        }
    }
}

impl fmt::Display for Isa {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Isa::Portable => "portable",
            Isa::Avx512Ifma => "avx512ifma",
        })
    }
}

/// The instruction set every new [`Modulus`](crate::Modulus) uses: the best available one, unless
/// the environment variable `SUNZI_ISA` (`portable` or `avx512ifma`) says otherwise.
///
/// The variable is read once, at the first call.
///
/// # Errors
/// [`KernelError::UnknownIsa`] or [`KernelError::UnavailableIsa`] for a value that cannot be obeyed.
pub fn active_isa() -> Result<Isa, KernelError> {
    static ACTIVE: OnceLock<Result<Isa, KernelError>> = OnceLock::new();
    ACTIVE.get_or_init(|| choose(std::env::var_os("SUNZI_ISA"))).clone()
}

fn choose(value: Option<std::ffi::OsString>) -> Result<Isa, KernelError> {
    let isa = match value {
        None if Isa::Avx512Ifma.is_available() => Isa::Avx512Ifma,
        None => Isa::Portable,
        Some(value) => match value.to_str() {
            Some("portable") => Isa::Portable,
            Some("avx512ifma") => Isa::Avx512Ifma,
            _ => return Err(KernelError::UnknownIsa { value: value.to_string_lossy().into_owned() }),
        },
    };
    if isa.is_available() { Ok(isa) } else { Err(KernelError::UnavailableIsa { isa }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn override_is_obeyed_or_refused() {
        assert_eq!(choose(Some("portable".into())), Ok(Isa::Portable));
        assert_eq!(choose(Some("sse9".into())), Err(KernelError::UnknownIsa { value: "sse9".into() }));
        let ifma = choose(Some("avx512ifma".into()));
        if Isa::Avx512Ifma.is_available() {
            assert_eq!(ifma, Ok(Isa::Avx512Ifma));
            assert_eq!(choose(None), ifma);
        } else {
            assert_eq!(ifma, Err(KernelError::UnavailableIsa { isa: Isa::Avx512Ifma }));
            assert_eq!(choose(None), Ok(Isa::Portable));
        }
    }
}
