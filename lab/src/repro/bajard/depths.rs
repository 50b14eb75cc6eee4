//! Table 3 of `[BEHMSZ17]`: depths by the bounds of section 4.3, and depths that decrypt.

use sunzi_math::primes_with_bits;
use sunzi_ring::{Backend, Ring};
use sunzi_rlwe::{Security, security};
use sunzi_univariate::{Reduction, UnivariateRing};

use super::formulas::{Sizes, deviation, error_bound};
use super::printed::{self, Depths};
use super::subject::Subject;
use super::{MODULUS_BITS, Options};
use crate::repro::{Progress, Result, Row, Rule, Table};

/// Names of the theoretical depths of Table 3 of `[BEHMSZ17]`, and of the observed ones.
const THEORY: [&str; 4] = ["L_BGV", "L_BGV_M", "L_FV", "L_FV_M"];
const OBSERVED: [&str; 4] = ["seen_BGV", "seen_BGV_M", "seen_FV", "seen_FV_M"];
/// Names of the theoretical depths of FV with σ in place of 6σ.
const BY_DEVIATION: [&str; 2] = ["L_FV_by_σ", "L_FV_M_by_σ"];

/// Table 3 of `[BEHMSZ17]`: depths by the bounds of section 4.3, and depths that decrypt.
pub(super) fn table3(options: &Options, progress: &mut Progress<'_>) -> Result<Table> {
    let mut rows = Vec::new();
    for printed in printed::DEPTHS {
        progress.begin(format!("Table 3: m = {}, bounds", printed.m));
        let ring = Norms::new(printed.m)?;
        let limit = security::max_log2_modulus(ring.n.ilog2(), Security::Bits128).unwrap_or(0);
        let secure = limit as usize / MODULUS_BITS as usize;
        rows.push(row(options, &printed, &ring, printed.moduli, progress)?);
        if secure > 1 {
            rows.push(row(options, &printed, &ring, secure, progress)?);
        }
    }
    let title = "depths for t = 2 and k moduli of 62 bits, by the bounds of 4.3 with σ = 2√n, B_err = 6σ and, for FV, B_err = σ; and \
                 what decrypts with σ = 3.2";
    Ok(Table::new("Table 3", title, rows))
}

/// Number of steps that progress counts for Table 3 of `[BEHMSZ17]`.
pub(super) const STEPS: usize = printed::DEPTHS.len();

/// The degree n of a ring of index m, and its norms ‖M‖, ‖M^-1‖ and δ/n.
struct Norms {
    n: usize,
    norms: [u64; 3],
}

impl Norms {
    fn new(m: u64) -> Result<Self> {
        // The norms are those of any modulus.
        let prime = primes_with_bits(MODULUS_BITS, UnivariateRing::root_order(m)?, 1)?;
        let ring = UnivariateRing::new(m, &prime, Reduction::Montgomery)?;
        let factor = ring.montgomery_factor()?;
        let largest = |a: &[i64]| a.iter().map(|c| c.unsigned_abs()).max().unwrap_or(0);
        let norms = [largest(&factor.factor), largest(&factor.inverse), ring.reduction_norm() as u64];
        Ok(Self { n: ring.degree(), norms })
    }
}

fn row(
    options: &Options,
    printed: &Depths,
    &Norms { n, norms }: &Norms,
    moduli: usize,
    progress: &mut Progress<'_>,
) -> Result<Row> {
    let m = printed.m;
    progress.say(format!("Table 3: m = {m}, {moduli} moduli"));
    let [six_sigma, sigma] = [error_bound, deviation].map(|error| theory(n, moduli, norms, error(n)));
    let seen = if m <= options.depth_index { Some(observed(options, m, moduli)?) } else { None };
    let same = moduli == printed.moduli;
    let mut row = Row::default().key("m", m).key("n", n).key("k", moduli);
    for ((name, paper), ours) in
        ["norm_M", "norm_M_inverse", "delta/n"].into_iter().zip(printed.norms).zip(norms)
    {
        row = row.printed(name, paper, Some(ours));
    }
    for ((name, paper), ours) in THEORY.into_iter().zip(printed.theory).zip(six_sigma) {
        row = row.judged(name, same.then_some(paper), Some(ours), Rule::Equal);
    }
    let of_fv = |depths: [u64; 4]| depths.into_iter().skip(2);
    for ((name, paper), ours) in BY_DEVIATION.into_iter().zip(of_fv(printed.theory)).zip(of_fv(sigma)) {
        row = row.judged(name, same.then_some(paper), Some(ours), Rule::Equal);
    }
    for (at, (name, paper)) in OBSERVED.into_iter().zip(printed.observed).enumerate() {
        let ours = seen.and_then(|seen| seen.get(at).copied());
        row = row.judged(name, same.then_some(paper), ours, Rule::Larger(1.0));
    }
    let reasons = [
        (!same).then(|| "not in the paper: as many moduli as 128 bits of security allow".to_owned()),
        (same && six_sigma != printed.theory).then(|| reason_for_theory(six_sigma, printed)),
        reason_for_observed(options, seen, same.then_some(printed.observed)),
    ];
    let reasons: Vec<String> = reasons.into_iter().flatten().collect();
    Ok(row.because((!reasons.is_empty()).then(|| reasons.join("; "))))
}

/// Depths of BGV, of BGV with M, of FV and of FV with M by the bounds of `[BEHMSZ17, 4.3]`, from ‖M‖, ‖M^-1‖ and δ/n.
fn theory(n: usize, moduli: usize, norms: [u64; 3], error: f64) -> [u64; 4] {
    let [factor, inverse, norm] = norms.map(|norm| norm as f64);
    let expansion = norm * n as f64;
    let plain = Sizes { moduli, expansion, factor: 1.0, inverse: 1.0, error };
    let with_factor = Sizes { factor: expansion * factor, inverse: expansion * inverse, ..plain };
    [plain.bgv_depth(), with_factor.bgv_depth(), plain.fv_depth(), with_factor.fv_depth()]
}

/// Products in a row that decrypt: of BGV, of BGV with M, of FV and of FV with M.
fn observed(options: &Options, m: u64, moduli: usize) -> Result<[u64; 4]> {
    let primes = primes_with_bits(MODULUS_BITS, UnivariateRing::root_order(m)?, moduli)?;
    let subject = |name, reduction| Subject::new(name, Ring::of(UnivariateRing::new(m, &primes, reduction)?));
    let most = options.most_depth;
    let barrett = subject("Barrett", Reduction::SparseBarrett)?;
    let (bgv, fv) = (barrett.bgv_depth()?, barrett.fv_depth(most)?);
    drop(barrett);
    let montgomery = subject("Montgomery", Reduction::Montgomery)?;
    Ok([bgv, montgomery.bgv_depth()?, fv, montgomery.fv_depth(most)?])
}

fn reason_for_theory(found: [u64; 4], printed: &Depths) -> String {
    let pairs = THEORY.into_iter().zip(found).zip(printed.theory).filter(|((_, ours), paper)| ours != paper);
    let names: Vec<&str> = pairs.map(|((name, _), _)| name).collect();
    format!("{} is the printed one with B_err = σ, while BGV needs 6σ, as the text says", names.join(" and "))
}

fn reason_for_observed(
    options: &Options,
    seen: Option<[u64; 4]>,
    printed: Option<[u64; 4]>,
) -> Option<String> {
    let Some(seen) = seen else {
        return Some(format!("products are tried up to m = {} only in this run", options.depth_index));
    };
    if seen.contains(&options.most_depth) {
        return Some(format!("not tried beyond {}", options.most_depth));
    }
    let lower = printed.is_some_and(|printed| seen.iter().zip(printed).any(|(ours, paper)| *ours < paper));
    lower.then(|| "depths that decrypt differ by one or two between keys".to_owned())
}
