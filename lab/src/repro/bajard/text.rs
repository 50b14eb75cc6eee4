//! The numbers in the text of `[BEHMSZ17]`: its abstract, introduction, section 5 and conclusion.

use sunzi_math::{SparseMultiple, cyclotomic_polynomial};
use sunzi_univariate::Reduction;

use super::figures::{NO_NTL, Products};
use super::formulas::Lengths;
use super::reductions::Measured;
use super::tables::{CUT, pairs, slots, speed_up};
use crate::repro::{Result, Row, Rule, Table};

/// Rule for measured speed-ups of a reduction: its counts bound them, so that a far larger one is as wrong as a smaller one.
const MEASURED: Rule = Rule::Factor(1.15);
/// Rule for measured speed-ups of products, in which reductions may have a larger share than in the paper.
const OF_PRODUCTS: Rule = Rule::Larger(1.15);
/// Index m of a power-of-two ring of `[BEHMSZ17]`, with as many coefficients as that of m = 13107.
const POWER_OF_TWO: u64 = 1 << 14;

/// All numbers in the text of `[BEHMSZ17]`, from the measurements of its tables and figures.
pub(super) fn table(measured: &[Measured], products: &[Products]) -> Result<Table> {
    let mut rows = vec![single_slot()?];
    rows.extend(of_reductions(measured)?);
    rows.extend(of_products(measured, products));
    rows.push(
        claim("4.3", "80 bits of security by the estimator of 2015")
            .judged("value", Some(80_u64), None::<u64>, Rule::Equal)
            .because(Some("that estimator is not here; Table 3 has rows for 128 bits by the table of 2024")),
    );
    Ok(Table::new("Text", "numbers that the text states; speed-ups are the largest over all m", rows))
}

fn claim(section: &'static str, claim: &'static str) -> Row {
    Row::default().key("section", section).key("claim", claim)
}

/// The slots of a power of two for t = 2: as many as X^n + 1 has different factors, those of Φ of the odd part of its index.
fn single_slot() -> Result<Row> {
    let odd = POWER_OF_TWO >> POWER_OF_TWO.trailing_zeros();
    let found = slots(odd, cyclotomic_polynomial(odd)?.len() as u64 - 1)?;
    Ok(claim("1, 2.4", "slots of a power of two for t = 2").judged(
        "value",
        Some(1_u64),
        Some(found),
        Rule::Equal,
    ))
}

fn of_reductions(measured: &[Measured]) -> Result<Vec<Row>> {
    let mut counted = [0.0_f64; 2];
    for (printed, _) in pairs(measured) {
        let (lengths, sparse) = (Lengths::new(printed.n as usize), SparseMultiple::best(printed.m)?);
        for (most, reduction) in counted.iter_mut().zip([Reduction::SparseBarrett, Reduction::Montgomery]) {
            *most = most.max(speed_up(&lengths, &sparse, Lengths::counted, reduction));
        }
    }
    let most = |method: usize| largest(measured.iter().map(|one| Some(one.speed_up(method))));
    let times = measured.iter().filter_map(|one| Some(one.reductions.first()?.median() / one.slots as f64));
    let spread = times.clone().fold(0.0, f64::max) / times.fold(f64::INFINITY, f64::min);
    let [sparse, montgomery] = counted;
    let rows = [
        ("1", "Alg. 2 over Alg. 1, by counts", 2.06, Some(sparse), CUT),
        ("1", "Alg. 3 over Alg. 1, by counts", 2.63, Some(montgomery), CUT),
        ("1, 5, 6", "Alg. 2 over Alg. 1, measured", 1.95, most(1), MEASURED),
        ("1, 5, 6", "Alg. 3 over Alg. 1, measured", 2.55, most(2), MEASURED),
        (
            "abstract",
            "the best over Alg. 1, measured",
            2.66,
            largest([most(1), most(2)].into_iter()),
            MEASURED,
        ),
    ];
    let up_to = measured.iter().map(|one| one.m).max().unwrap_or(0);
    let mut rows: Vec<Row> = rows
        .into_iter()
        .map(|(section, name, paper, ours, rule)| {
            let row =
                claim(section, name).judged("value", Some((paper, 2)), ours.map(|ours| (ours, 2)), rule);
            explained(
                row,
                format!("measured up to m = {up_to}; other work on the machine makes single rounds several times as long"),
            )
        })
        .collect();
    rows.push(
        claim("5", "Alg. 1, dearest over cheapest slot of all m")
            .ours("value", (spread, 2))
            .because(Some("the text says very little variation, without a number")),
    );
    let ntl =
        measured.iter().filter_map(|one| Some(one.reductions.first()?.speed_up_over(one.ntl.as_ref()?)));
    let row = claim("5, 6", "NTL's reduction takes longer than Alg. 1's, at least so many times");
    let row =
        row.judged("value", Some((1.0, 0)), ntl.reduce(f64::min).map(|one| (one, 2)), Rule::Larger(1.0));
    rows.push(if row.holds() { row } else { row.because(Some(NO_NTL)) });
    Ok(rows)
}

fn of_products(measured: &[Measured], products: &[Products]) -> Vec<Row> {
    let most = |bgv: bool, reduction| largest(products.iter().map(|one| one.speed_up(bgv, reduction)));
    let rows = [
        ("abstract, 1, 5, 6", "product of FV, Alg. 2 over Alg. 1", 1.37, false, Reduction::SparseBarrett),
        ("5", "product of BGV, Alg. 2 over Alg. 1", 1.24, true, Reduction::SparseBarrett),
        ("5", "product of BGV, Alg. 3 over Alg. 1", 1.32, true, Reduction::Montgomery),
    ];
    let mut rows: Vec<Row> = rows
        .into_iter()
        .map(|(section, name, paper, bgv, reduction)| {
            let ours = most(bgv, reduction).map(|ours| (ours, 2));
            let row = claim(section, name).judged("value", Some((paper, 2)), ours, OF_PRODUCTS);
            explained(row, gap(measured, products, bgv, reduction))
        })
        .collect();
    let mixed = most(false, Reduction::Mixed).map_or(f64::NAN, |mixed| mixed);
    rows.push(
        claim("5", "product of FV, mixed (4.4) over Alg. 1")
            .ours("value", (mixed, 2))
            .because(Some("the text says similar to that of Alg. 2, without a number")),
    );
    rows
}

/// Why the speed-up of a product is what it is: the speed-up of a reduction alone, and the share of a product that this implies.
fn gap(measured: &[Measured], products: &[Products], bgv: bool, reduction: Reduction) -> String {
    let method = if reduction == Reduction::SparseBarrett { 1 } else { 2 };
    let pairs = products.iter().filter_map(|product| {
        let alone = measured.iter().find(|one| one.m == product.m())?.speed_up(method);
        let whole = product.speed_up(bgv, reduction)?;
        Some((product.m(), alone, (1.0 - 1.0 / whole) / (1.0 - 1.0 / alone)))
    });
    let texts: Vec<String> =
        pairs.map(|(m, alone, share)| format!("m = {m}: {alone:.2} and {:.0} %", share * 100.0)).collect();
    format!(
        "speed-up of a reduction alone, and the share of reductions in a product that the two speed-ups mean: {}",
        texts.join(", ")
    )
}

/// The largest of the values that there are.
fn largest(values: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    values.flatten().filter(|value| value.is_finite()).reduce(f64::max)
}

/// Gives a row its reason if it needs one.
fn explained(row: Row, reason: String) -> Row {
    if row.holds() { row } else { row.because(Some(reason)) }
}
