//! Tables 1 and 2 of `[BEHMSZ17]`.

use sunzi_math::{SparseMultiple, multiplicative_order};
use sunzi_univariate::Reduction;

use super::formulas::Lengths;
use super::printed::{self, Reductions};
use super::reductions::Measured;
use crate::repro::{Result, Row, Rule, Table, Value};

/// Rule for speed-ups with two decimals, which the paper cuts or rounds: 2.627 is printed as 2.62 for one m.
pub(super) const CUT: Rule = Rule::Near(0.01);

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
pub(super) fn speed_up(
    lengths: &Lengths,
    sparse: &SparseMultiple,
    count: fn(&Lengths, &SparseMultiple, Reduction) -> f64,
    reduction: Reduction,
) -> f64 {
    count(lengths, sparse, Reduction::Barrett) / count(lengths, sparse, reduction)
}

pub(super) fn pairs(measured: &[Measured]) -> impl Iterator<Item = (Reductions, &Measured)> {
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
