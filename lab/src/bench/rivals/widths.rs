//! How wide the moduli are that each library is fastest with.

use sunzi_math::{DEFAULT_PRIME_BOUND, WIDE_PRIME_BOUND, log2_product};

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

/// Bits of the widest moduli of Sunzi for keys of `bits` bits: wide ones where four stand for five, as its builders choose; for several parties where they are fewer, since shares
/// wait for memory.
pub(super) fn ours(scheme: Scheme, bits: f64) -> f64 {
    let [narrow, wide] = [DEFAULT_PRIME_BOUND, WIDE_PRIME_BOUND].map(|bound| (bound as f64).log2());
    let [more, fewer] = [narrow, wide].map(|width| (bits / width).ceil());
    let pays = if scheme == Scheme::Parties { fewer < more } else { 5.0 * fewer <= 4.0 * more };
    if pays { wide } else { narrow }
}

/// The same for builds with HEXL, on a processor with AVX-512 IFMA.
fn with_hexl(library: Library, scheme: Scheme, log_n: u32) -> f64 {
    match (library, scheme, log_n) {
        // More moduli, and digits of keys, cost more than IFMA gains.
        (Library::SealHexl, Scheme::Bfv | Scheme::Bgv, _) => WIDE,
        (_, Scheme::Bfv, 14..) | (_, Scheme::Bgv | Scheme::Parties, 15..) => WIDE,
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

/// Part of log2 QP that both sides of a comparison may differ by.
pub(super) const EQUAL: f64 = 0.03;

/// Reason why log2 QP of a rival differs from Sunzi's by more than [`EQUAL`], where there is one. Each side is given as
/// log2 Q and log2 QP.
///
/// # Errors
/// Moduli that differ without a reason, which are not compared.
pub(super) fn unequal(library: Library, ours: [f64; 2], theirs: [f64; 2]) -> Result<Option<String>, String> {
    let near =
        |at: usize| ours.get(at).zip(theirs.get(at)).is_some_and(|(a, b)| (b / a - 1.0).abs() <= EQUAL);
    if near(1) {
        return Ok(None);
    }
    let ([our_q, our_qp], [log_q, log_qp]) = (ours, theirs);
    let said = format!("log2 QP {log_qp:.0} beside {our_qp:.0}");
    match library {
        // Less work for it, at as many bits of ciphertexts.
        Library::Seal | Library::SealHexl if log_qp < our_qp && near(0) => {
            Ok(Some(format!("{said}: one special modulus")))
        }
        Library::HElib if log_qp < our_qp => Ok(Some(format!("{said}: it chooses its moduli"))),
        _ => Err(format!(
            "expected log2 QP within {:.0} % of ours, got {said} (log2 Q {log_q:.0} beside {our_q:.0}): change its moduli in \
             lab/src/bench/rivals/chains.rs, or --width",
            100.0 * EQUAL
        )),
    }
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
    fn unequal_moduli_are_named_or_refused() {
        let ours = [334.0, 430.0];
        for library in [Library::SealHexl, Library::Lattigo, Library::HElib] {
            for equal in [430.0, 418.0, 442.0] {
                assert_eq!(unequal(library, ours, [334.0, equal]), Ok(None), "{library:?} {equal}");
            }
            // More bits than ours would be more work.
            assert!(unequal(library, ours, [334.0, 444.0]).is_err(), "{library:?}");
        }
        assert!(unequal(Library::Lattigo, ours, [334.0, 416.0]).is_err());
        assert!(unequal(Library::OpenFheHexl, ours, [320.0, 390.0]).is_err());
        let told = unequal(Library::SealHexl, ours, [334.0, 390.0]).unwrap().unwrap();
        assert!(told.contains("390 beside 430") && told.contains("one special"), "{told}");
        assert!(unequal(Library::SealHexl, ours, [320.0, 390.0]).is_err(), "less of Q");
        assert!(unequal(Library::HElib, ours, [300.0, 390.0]).unwrap().is_some());
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
        let narrow = fastest(Library::Sunzi, Scheme::Bfv, 13);
        let bits = [196.0, 214.0, 392.0, 868.0];
        assert_eq!(bits.map(|bits| ours(Scheme::Bgv, bits)), [49.0, narrow, narrow, narrow]);
        assert_eq!(bits.map(|bits| ours(Scheme::Parties, bits)), [49.0, narrow, 49.0, 49.0]);
        let width = |scheme, log_n| with_hexl(Library::OpenFheHexl, scheme, log_n);
        assert_eq!([13, 14, 15].map(|log_n| width(Scheme::Bfv, log_n)), [NARROW, WIDE, WIDE]);
        assert_eq!([13, 14, 15].map(|log_n| width(Scheme::Bgv, log_n)), [NARROW, NARROW, WIDE]);
        assert_eq!([13, 16].map(|log_n| with_hexl(Library::SealHexl, Scheme::Bgv, log_n)), [WIDE; 2]);
    }
}
