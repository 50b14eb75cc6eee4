//! The schemes and libraries of comparisons, and the bars on their ratios.

use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::process::Command;
use std::str::FromStr;

/// A homomorphic encryption scheme that is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// BFV of Brakerski 2012, Fan and Vercauteren 2012.
    Bfv,
    /// BGV of Brakerski, Gentry and Vaikuntanathan 2012.
    Bgv,
    /// CKKS of Cheon, Kim, Kim and Song 2017.
    Ckks,
    /// BGV of several parties: what they do together, step by step.
    Parties,
}

impl Scheme {
    /// The schemes of one key holder, which are compared unless others are asked for.
    pub(super) const ALL: [Self; 3] = [Self::Bfv, Self::Bgv, Self::Ckks];
    const NAMED: [Self; 4] = [Self::Bfv, Self::Bgv, Self::Ckks, Self::Parties];

    /// The scheme's name on command lines and in the protocol.
    pub fn name(self) -> &'static str {
        match self {
            Self::Bfv => "bfv",
            Self::Bgv => "bgv",
            Self::Ckks => "ckks",
            Self::Parties => "parties",
        }
    }
}

impl FromStr for Scheme {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        named(&Self::NAMED, Self::name, text)
    }
}

/// The value among `all` with the name `text`.
fn named<T: Copy>(all: &[T], name: fn(T) -> &'static str, text: &str) -> Result<T, String> {
    let known: Vec<&str> = all.iter().map(|one| name(*one)).collect();
    let found = all.iter().copied().find(|one| name(*one) == text);
    found.ok_or_else(|| format!("expected one of {}, got {text}", known.join(", ")))
}

/// log2 of the degrees at which schemes and transforms are compared.
pub(super) const DEGREES: RangeInclusive<u32> = 13..=16;
pub(super) const TRANSFORM_DEGREES: RangeInclusive<u32> = 12..=16;

/// A library that Sunzi is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Library {
    /// fhe.rs, BFV in Rust.
    FheRs,
    /// Lattigo, all schemes and transforms in Go.
    Lattigo,
    /// tfhe-ntt, transforms in Rust, within this process.
    TfheNtt,
    /// SEAL, all schemes in C++, as the wheel tenseal has it.
    Seal,
    /// OpenFHE, all schemes in C++, as its wheel has it.
    OpenFhe,
    /// A build of SEAL with HEXL.
    SealHexl,
    /// A build of OpenFHE with HEXL.
    OpenFheHexl,
    /// HEXL, transforms in C++.
    Hexl,
    /// HElib, BGV and CKKS in C++.
    HElib,
    /// Sunzi itself, in another build.
    Sunzi,
}

impl Library {
    /// Every library, and its name on command lines.
    const NAMES: [(Self, &'static str); 10] = [
        (Self::FheRs, "fhe-rs"),
        (Self::Lattigo, "lattigo"),
        (Self::TfheNtt, "tfhe-ntt"),
        (Self::Seal, "seal"),
        (Self::OpenFhe, "openfhe"),
        (Self::SealHexl, "seal-hexl"),
        (Self::OpenFheHexl, "openfhe-hexl"),
        (Self::Hexl, "hexl"),
        (Self::HElib, "helib"),
        (Self::Sunzi, "sunzi"),
    ];

    /// The library's name on command lines.
    pub fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(library, _)| *library == self).map_or("", |(_, name)| *name)
    }

    /// The schemes of the library that are compared.
    pub(super) fn schemes(self) -> &'static [Scheme] {
        match self {
            Self::FheRs => &[Scheme::Bfv],
            Self::HElib => &[Scheme::Bgv, Scheme::Ckks],
            Self::TfheNtt | Self::Hexl => &[],
            Self::Lattigo | Self::OpenFhe | Self::Sunzi => &Scheme::NAMED,
            _ => &Scheme::ALL,
        }
    }

    /// Bits of the prime at which the library's transforms are compared, if they are.
    pub(super) fn transforms(self) -> Option<u32> {
        match self {
            Self::Lattigo => Some(60),
            // The widest that it takes for the fast multiplications.
            Self::Hexl => Some(50),
            _ => None,
        }
    }

    /// Allocator settings that the library is timed with: the allocators of the others keep what they free,
    /// or nothing is allocated.
    pub(super) fn memory(self) -> &'static [Memory] {
        match self {
            Self::FheRs | Self::OpenFhe | Self::OpenFheHexl | Self::HElib | Self::Lattigo => {
                &[Memory::Stock, Memory::Kept]
            }
            _ => &[Memory::Stock],
        }
    }

    /// Bar on Sunzi's time / the library's for the named operation.
    pub(super) fn bar(self, operation: &str) -> Option<f64> {
        match operation {
            _ if self == Self::Sunzi => None,
            // Sums of what all parties sent.
            _ if operation.starts_with("add_") => Some(1.1),
            "add" | "decrypt" => Some(0.5),
            "rotate" => Some(0.2),
            _ if operation.starts_with("multiply_relinearize") => Some(0.2),
            _ => Some(0.25),
        }
    }
}

/// How the allocator of a rival treats what is freed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Memory {
    /// The system's allocator: large pieces are given back at once, and cost page faults when they are needed
    /// again.
    Stock,
    /// An allocator that keeps freed memory for the next allocation; a garbage collector waits five times as long.
    Kept,
}

impl Memory {
    /// Name of the allocator setting on command lines and in rows.
    pub fn name(self) -> &'static str {
        match self {
            Self::Stock => "stock",
            Self::Kept => "kept",
        }
    }

    /// Sets the allocator environment of a rival that is to start.
    pub(super) fn apply(self, command: &mut Command) {
        if self == Self::Kept {
            // The largest that glibc accepts for pieces it takes from its heap.
            command.env("MALLOC_MMAP_THRESHOLD_", (32 << 20).to_string());
            command.env("MALLOC_TRIM_THRESHOLD_", (64_u64 << 30).to_string());
            command.env("MALLOC_TOP_PAD_", (64 << 20).to_string());
            command.env("GOGC", "500");
        }
    }
}

impl FromStr for Memory {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let found = [Self::Stock, Self::Kept].into_iter().find(|memory| memory.name() == text);
        found.ok_or_else(|| format!("expected stock or kept, got {text}"))
    }
}

/// A library and the program that serves it, written `name=program`, or `tfhe-ntt` alone.
#[derive(Clone, Debug)]
pub struct Selection {
    pub(super) library: Library,
    /// Path of the library's program, or the reason why there is none.
    pub(super) program: Result<PathBuf, String>,
}

impl FromStr for Selection {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (name, program) = text.split_once('=').unwrap_or((text, ""));
        let library = library(name)?;
        if program.is_empty() != (library == Library::TfheNtt) {
            return Err(format!("expected {name}=PROGRAM, and no program for tfhe-ntt alone"));
        }
        Ok(Self { library, program: Ok(program.into()) })
    }
}

/// A library without a program, and the reason, written `name=reason`: a row that says so.
#[derive(Clone, Debug)]
pub struct Absence(Selection);

impl FromStr for Absence {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (name, reason) = text.split_once('=').ok_or("expected NAME=REASON")?;
        Ok(Self(Selection { library: library(name)?, program: Err(reason.to_owned()) }))
    }
}

impl From<Absence> for Selection {
    fn from(Absence(selection): Absence) -> Self {
        selection
    }
}

fn library(name: &str) -> Result<Library, String> {
    named(&Library::NAMES.map(|(library, _)| library), Library::name, name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn selections_are_read() {
        let one: Selection = "fhe-rs=some/where".parse().unwrap();
        assert_eq!((one.library, one.program), (Library::FheRs, Ok(PathBuf::from("some/where"))));
        assert!("tfhe-ntt".parse::<Selection>().is_ok());
        for wrong in ["fhe-rs", "fhe-rs=", "tfhe-ntt=x", "nobody=x", ""] {
            assert!(wrong.parse::<Selection>().is_err(), "{wrong}");
        }
        let absent: Selection = "helib=no path".parse::<Absence>().unwrap().into();
        assert_eq!((absent.library, absent.program), (Library::HElib, Err("no path".to_owned())));
        assert!("helib".parse::<Absence>().is_err() && "nobody=x".parse::<Absence>().is_err());
    }
}
