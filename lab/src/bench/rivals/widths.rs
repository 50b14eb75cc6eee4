//! How wide the moduli are that each library is fastest with.

use sunzi_math::{DEFAULT_PRIME_BOUND, log2_product};

use super::{Library, Scheme};

/// Bits of the widest moduli that most libraries take.
pub(super) const WIDE: f64 = 60.0;
/// Bits below which HEXL multiplies by AVX-512 IFMA, four times as fast as above.
pub(super) const NARROW: f64 = 50.0;
/// Bits of the widest moduli of fhe.rs.
const WIDEST: f64 = 62.0;

/// Bits of the widest ciphertext moduli that a library multiplies and relinearises fastest with, on this
/// machine; the figures are in docs/notes/peers.md. CKKS has one scale in every library: only its Q_0 can be
/// narrower.
pub(super) fn fastest(library: Library, scheme: Scheme, log_n: u32) -> f64 {
    match library {
        Library::Sunzi | Library::TfheNtt | Library::Hexl => (DEFAULT_PRIME_BOUND as f64).log2(),
        Library::FheRs => WIDEST,
        Library::SealHexl | Library::OpenFheHexl if multiplies_52_bits() => with_hexl(library, scheme, log_n),
        _ => WIDE,
    }
}

/// The same for builds with HEXL, on a processor with AVX-512 IFMA.
fn with_hexl(library: Library, scheme: Scheme, log_n: u32) -> f64 {
    match (library, scheme, log_n) {
        // More moduli, and digits of keys, cost more than IFMA gains.
        (Library::SealHexl, Scheme::Bfv | Scheme::Bgv, _) => WIDE,
        (_, Scheme::Bfv, 14..) | (_, Scheme::Bgv, 15..) => WIDE,
        _ => NARROW,
    }
}

#[cfg(target_arch = "x86_64")]
fn multiplies_52_bits() -> bool {
    std::arch::is_x86_feature_detected!("avx512ifma")
}

#[cfg(not(target_arch = "x86_64"))]
fn multiplies_52_bits() -> bool {
    false
}

/// Number and bits of ciphertext moduli and special ones, as `1×55, 2×45 + 1×60`. Moduli in a row of about one size
/// are said together, by their mean.
pub(super) fn said(q: &[u64], p: &[u64]) -> String {
    let alike = |a: &u64, b: &u64| ((*a as f64).log2() - (*b as f64).log2()).abs() < 0.5;
    let run = |run: &[u64]| {
        let bits = format!("{:.1}", log2_product(run) / run.len() as f64);
        format!("{}×{}", run.len(), bits.trim_end_matches(".0"))
    };
    let runs = |moduli: &[u64]| moduli.chunk_by(alike).map(run).collect::<Vec<_>>().join(", ");
    if p.is_empty() { runs(q) } else { format!("{} + {}", runs(q), runs(p)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moduli_are_said_by_their_bits() {
        assert_eq!(said(&[97, 101, 65_537], &[1 << 50]), "2×6.6, 1×16 + 1×50");
        assert_eq!(said(&[(1 << 50) - 27, (1 << 50) + 1, 1 << 51], &[]), "2×50, 1×51");
    }

    #[test]
    fn only_builds_with_hexl_have_narrow_moduli() {
        for scheme in Scheme::ALL {
            for log_n in 13..=16 {
                for library in [Library::Seal, Library::OpenFhe, Library::Lattigo, Library::HElib] {
                    assert_eq!(fastest(library, scheme, log_n), WIDE, "{library:?}");
                }
                for library in [Library::SealHexl, Library::OpenFheHexl] {
                    let narrow = multiplies_52_bits() && with_hexl(library, scheme, log_n) == NARROW;
                    let expected = if narrow { NARROW } else { WIDE };
                    assert_eq!(fastest(library, scheme, log_n), expected, "{library:?} {scheme:?} {log_n}");
                }
            }
        }
        assert!(fastest(Library::Sunzi, Scheme::Bfv, 13) < NARROW);
        let width = |scheme, log_n| with_hexl(Library::OpenFheHexl, scheme, log_n);
        assert_eq!([13, 14, 15].map(|log_n| width(Scheme::Bfv, log_n)), [NARROW, WIDE, WIDE]);
        assert_eq!([13, 14, 15].map(|log_n| width(Scheme::Bgv, log_n)), [NARROW, NARROW, WIDE]);
        assert_eq!([13, 16].map(|log_n| with_hexl(Library::SealHexl, Scheme::Bgv, log_n)), [WIDE; 2]);
    }
}
