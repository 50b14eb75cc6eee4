//! Tables 1, 2 and 3 of `[BEHMSZ17]`.

use sunzi_math::{SparseMultiple, cyclotomic_polynomial, multiplicative_order, primes_with_bits};
use sunzi_ring::{Backend, Ring};
use sunzi_rlwe::{Security, security};
use sunzi_univariate::{Reduction, UnivariateRing};

use super::formulas::{Lengths, Sizes};
use super::printed::{self, Depths, Reductions};
use super::reductions::Measured;
use super::subject::Subject;
use super::{MODULUS_BITS, Options};
use crate::repro::{Progress, Result, Row, Rule, Table, Value};

/// Rule for speed-ups with two decimals, which the paper cuts or rounds: 2.627 is printed as 2.62 for one m.
const CUT: Rule = Rule::Near(0.01);

fn decimal(value: f64) -> Value {
    Value::Decimal((value * 100.0).round() / 100.0, 2)
}

/// Number of slots of GF(2^d) in the ring of index m: n/d for the order d of 2 modulo m.
pub(super) fn slots(m: u64, n: u64) -> Result<u64> {
    Ok(n / multiplicative_order(2, m).unwrap_or(n).max(1))
}

/// Table 1 of `[BEHMSZ17]`: Q_sp, and the speed-up by it, by the paper's count, by Sunzi's, and measured.
pub(super) fn table1(measured: &[Measured]) -> Result<Table> {
    let rows = pairs(measured).map(|(printed, measured)| row1(&printed, measured)).collect::<Result<_>>()?;
    let title = "sparse multiples Φ_d(X^(m/d)) of Φ_m found by search, and the speed-up of Alg. 2 over Alg. 1; \
                 the paper measures at most 1.95";
    Ok(Table::new("Table 1", title, rows))
}

fn row1(printed: &Reductions, measured: &Measured) -> Result<Row> {
    let sparse = SparseMultiple::best(printed.m)?;
    let lengths = Lengths::new(printed.n as usize);
    let speed_up = |count| speed_up(&lengths, &sparse, count, Reduction::SparseBarrett);
    let alpha = sparse.alpha().unwrap_or(0);
    let [of_slots, degree, weight, log2_a, log2_n] = printed.sizes;
    Ok(Row::default()
        .key("m", printed.m)
        .key("n", printed.n)
        .judged("slots", of_slots, Some(slots(printed.m, printed.n)?), Rule::Equal)
        .ours("of_phi", sparse.index())
        .judged("degree", degree, Some(sparse.degree()), Rule::Equal)
        .printed("alpha", printed.alpha, Some(alpha))
        .judged("HW", weight, Some(sparse.weight()), Rule::Equal)
        .judged("log2_A", log2_a, Some(Lengths::quotient(alpha).ilog2()), Rule::Equal)
        .judged("log2_N", log2_n, Some(lengths.whole.ilog2()), Rule::Equal)
        .judged("speed_up", printed.sparse.map(decimal), Some((speed_up(Lengths::counted), 3)), CUT)
        .ours("by_our_count", decimal(speed_up(Lengths::done)))
        .ours("measured", decimal(measured.speed_up(1)))
        .because(reason(printed)))
}

/// Speed-up of a reduction over plain Barrett by a count of operations.
fn speed_up(
    lengths: &Lengths,
    sparse: &SparseMultiple,
    count: fn(&Lengths, &SparseMultiple, Reduction) -> f64,
    reduction: Reduction,
) -> f64 {
    count(lengths, sparse, Reduction::Barrett) / count(lengths, sparse, reduction)
}

fn pairs(measured: &[Measured]) -> impl Iterator<Item = (Reductions, &Measured)> {
    measured.iter().filter_map(|one| Some((printed::reductions().find(|row| row.m == one.m)?, one)))
}

fn reason(printed: &Reductions) -> Option<&'static str> {
    match printed.m {
        21845 => {
            Some("the formula gives 1.85 here and 1.86 for m = 13107: rows of the text may be out of step")
        }
        _ if printed.sparse.is_none() => Some("digits of the archived text are lost"),
        _ => None,
    }
}

/// Table 2 of `[BEHMSZ17]`: the speed-up of Montgomery's reduction.
pub(super) fn table2(measured: &[Measured]) -> Result<Table> {
    let mut rows = Vec::new();
    for (printed, measured) in pairs(measured) {
        let (lengths, sparse) = (Lengths::new(printed.n as usize), SparseMultiple::best(printed.m)?);
        let speed_up = |count| speed_up(&lengths, &sparse, count, Reduction::Montgomery);
        let found = speed_up(Lengths::counted);
        let [direct, native] = measured.direct();
        let row = Row::default()
            .key("m", printed.m)
            .key("n", printed.n)
            .judged("speed_up", Some(decimal(printed.montgomery)), Some((found, 3)), CUT)
            .ours("by_our_count", decimal(speed_up(Lengths::done)))
            .ours("measured", decimal(measured.speed_up(2)))
            .ours("direct_product", decimal(direct));
        rows.push(row.ours("direct_product_48_bits", decimal(native)));
    }
    let title = "the speed-up of Alg. 3 over Alg. 1; the paper measures at most 2.55; and that of a ring product by the direct transform \
                 over the best reduction, with the paper's moduli and shorter ones";
    Ok(Table::new("Table 2", title, rows))
}

/// Table 3 of `[BEHMSZ17]`: depths by the bounds of section 4.3, and depths that decrypt.
pub(super) fn table3(options: &Options, progress: &mut Progress<'_>) -> Result<Table> {
    let mut rows = Vec::new();
    for printed in depths(options) {
        rows.push(depth_row(options, &printed, printed.moduli, progress)?);
        let n = cyclotomic_polynomial(printed.m)?.len() - 1;
        let limit = security::max_log2_modulus(n.ilog2(), Security::Bits128).unwrap_or(0);
        let moduli = limit as usize / MODULUS_BITS as usize;
        if moduli > 1 {
            rows.push(depth_row(options, &printed, moduli, progress)?);
        } else {
            progress.begin("Table 3");
        }
    }
    let title = "depths for t = 2 and k moduli of 62 bits, by the bounds of 4.3 with σ = 2√n, and what decrypts with σ = 3.2; rows \
                 without the paper's values are for 128 bits of security";
    Ok(Table::new("Table 3", title, rows))
}

/// The rows of Table 3 of `[BEHMSZ17]` that are asked for.
fn depths(options: &Options) -> impl Iterator<Item = Depths> {
    let most = options.depth_index;
    printed::DEPTHS.into_iter().filter(move |row| row.m <= most)
}

fn depth_row(options: &Options, printed: &Depths, moduli: usize, progress: &mut Progress<'_>) -> Result<Row> {
    let m = printed.m;
    progress.begin(format!("Table 3: m = {m}, {moduli} moduli"));
    let order = UnivariateRing::root_order(m)?;
    let primes = primes_with_bits(MODULUS_BITS, order, moduli)?;
    let rings = [Reduction::SparseBarrett, Reduction::Montgomery]
        .map(|reduction| UnivariateRing::new(m, &primes, reduction));
    let [barrett, montgomery] = rings;
    let (barrett, montgomery) = (barrett?, montgomery?);
    let (n, factor) = (barrett.degree(), montgomery.montgomery_factor()?.clone());
    let largest = |a: &[i64]| a.iter().map(|c| c.unsigned_abs()).max().unwrap_or(0);
    let norm = barrett.reduction_norm();
    let expansion = norm * n as f64;
    let plain = Sizes { n, moduli, expansion, factor: 1.0, inverse: 1.0 };
    let with_factor = Sizes {
        factor: expansion * largest(&factor.factor) as f64,
        inverse: expansion * largest(&factor.inverse) as f64,
        ..plain
    };
    let theory = [plain.bgv_depth(), with_factor.bgv_depth(), plain.fv_depth(), with_factor.fv_depth()];
    let (first, second) =
        (Subject::new("Barrett", Ring::of(barrett))?, Subject::new("Montgomery", Ring::of(montgomery))?);
    let most = options.most_depth;
    let observed = [first.bgv_depth()?, second.bgv_depth()?, first.fv_depth(most)?, second.fv_depth(most)?];
    let same = moduli == printed.moduli;
    let [norm_m, norm_inverse, expansion] = printed.norms;
    let mut row = Row::default()
        .key("m", m)
        .key("n", n)
        .key("k", moduli)
        .printed("norm_M", norm_m, Some(largest(&factor.factor)))
        .printed("norm_M_inverse", norm_inverse, Some(largest(&factor.inverse)))
        .printed("delta/n", expansion, Some(norm as u64));
    let names = ["L_BGV", "L_BGV_M", "L_FV", "L_FV_M", "seen_BGV", "seen_BGV_M", "seen_FV", "seen_FV_M"];
    let paper = printed.theory.into_iter().chain(printed.observed);
    for ((name, paper), ours) in names.into_iter().zip(paper).zip(theory.into_iter().chain(observed)) {
        row = row.judged(name, same.then_some(paper), Some(ours), Rule::Larger(1.0));
    }
    Ok(row.because(observed.contains(&most).then(|| format!("not tried beyond {most}"))))
}

/// Number of steps that progress counts for Table 3 of `[BEHMSZ17]`.
pub(super) fn depth_steps(options: &Options) -> usize {
    2 * depths(options).count()
}
