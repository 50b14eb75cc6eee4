//! Rows of Tables 2, 3, 6, 7 and 8 of `[KPZ21]`: what was measured beside the printed values, and reasons.

use std::time::Duration;

use sunzi_rlwe::Security;

use super::circuits::{Circuit, Outcome};
use super::parameters::Parameters;
use super::printed::{Cell, Column, Digits};
use super::subject::{Encrypted, Subject};
use crate::repro::report::Quantity;
use crate::repro::slower::slower;
use crate::repro::{LabError, Result, Row, Rule, Series, Value};

/// Most bits between log e and the printed one: noise is random, and the printed one a whole number.
pub(super) const NEAR: f64 = 3.0;
/// Most bits by which log e may differ where it depends on a random coefficient or on |Q|_t.
const LOOSE: f64 = 4.0;
/// Most bits by which it may differ where it depends on a q_(L+1), which is not printed, and enters twice.
const UNKNOWN: f64 = 5.0;

/// Standard deviation of the errors in `[KPZ21]`.
const SIGMA: f64 = 3.2;

/// What the computations of a cell found.
pub(super) struct Measured {
    /// log e, the median.
    pub(super) log2_noise: f64,
    /// The times of the rounds.
    pub(super) seconds: Series,
    /// Noise of a ciphertext that is switched for its first product, for BGV at t = 2.
    pub(super) switched: Option<f64>,
    /// Share of the time in which the thread waited for a processor.
    pub(super) waited: f64,
}

/// Noise log e and time of a result that decrypts to what it should.
pub(super) fn judge<S: Subject>(
    subject: &S,
    outcome: &Outcome<Encrypted<S>>,
    variant: &'static str,
    degree: usize,
) -> Result<(f64, Duration)> {
    let Some(log2_noise) = subject.opened(&outcome.value, &outcome.expected)? else {
        return Err(LabError::wrong("computation", variant, degree));
    };
    Ok((log2_noise, outcome.time))
}

/// The row of a cell of a line; `leveled` has the times of leveled BFV in the same rounds.
pub(super) fn row(
    (cell, line): (&Cell, &[Cell]),
    circuit: Circuit,
    parameters: &Parameters,
    found: &Measured,
    leveled: Option<&Series>,
) -> Row {
    let row = with_sizes(named(cell), cell, parameters);
    let mut row = results(row, cell, found);
    let first = found
        .switched
        .map(|switched| fresh_first(found.log2_noise, circuit.depth(cell.k), parameters, switched));
    if let Some(first) = first {
        let printed = Some((printed_noise(cell), 0));
        row = row.judged("log_e_fresh_first", printed, Some((first, 1)), Rule::Near(UNKNOWN));
    }
    if let Some(leveled) = leveled {
        row = row.ours("over_leveled", (found.seconds.over(leveled).median, 2));
    }
    let noise = noise_reason(cell, circuit, parameters, found, first, twin(cell, line));
    explained(row, noise, found)
}

/// The row of an inner product of Table 8 of `[KPZ21]`.
pub(super) fn inner(cell: &Cell, laziness: &'static str, parameters: &Parameters, found: &Measured) -> Row {
    let row = Row::default().key("t", cell.plain_modulus).key("d_num", digits_name(cell.digits));
    let row = with_sizes(row.key("laziness", laziness), cell, parameters);
    explained(results(row, cell, found), None, found)
}

/// The row of a cell that is not computed.
pub(super) fn left_out(cell: &Cell, longest: f64) -> Row {
    let row = named(cell).judged("log_e", Some((printed_noise(cell), 0)), None::<u64>, Rule::Near(NEAR));
    row.judged("seconds", Some(as_printed(cell.seconds)), None::<u64>, Rule::Smaller(1.0)).because(Some(format!(
        "left out: a variant of this line took the paper more than {longest} s; the command without --quick has it"
    )))
}

fn named(cell: &Cell) -> Row {
    let row = Row::default().key("t", cell.plain_modulus).key("d_num", digits_name(cell.digits));
    row.key("k", cell.k).key("variant", cell.column.name())
}

fn digits_name(digits: Digits) -> &'static str {
    match digits {
        Digits::Three => "3",
        Digits::Max => "L",
    }
}

fn printed_noise(cell: &Cell) -> f64 {
    cell.log2_noise.into()
}

/// log2 of a modulus that is switched away, q_i; in BFV of any modulus.
fn limb(cell: &Cell, parameters: &Parameters) -> f64 {
    let at = usize::from(cell.column == Column::Bgv);
    parameters.moduli.get(at).map_or(0.0, |q| (*q as f64).log2())
}

/// log e of BGV had the first products been taken of fresh ciphertexts, as the paper's numbers suggest for t = 2:
/// every operand with more noise than a switched one adds its surplus, and the first switch, by q_(L+1), is not counted.
fn fresh_first(log2_noise: f64, depth: u32, parameters: &Parameters, switched: f64) -> f64 {
    let log2: Vec<f64> = parameters.moduli.iter().map(|q| (*q as f64).log2()).collect();
    // Here q_(L+1) is dropped before the first product, q_L before the second.
    let levels: Vec<f64> = log2.iter().rev().copied().take(depth as usize).collect();
    let counted: f64 = levels.iter().skip(1).sum();
    let product = log2_noise - counted;
    let grown = |operand: f64| product + 2.0 * (operand - switched);
    // An encryption has σ²(4n/3 + 1) for a variance, a switch (2n/3 + 1)/12.
    let mut noise = grown(switched + (SIGMA * 24.0_f64.sqrt()).log2());
    for dropped in levels.iter().take(depth.saturating_sub(1) as usize) {
        let left = (noise - dropped).exp2().hypot(switched.exp2()).log2();
        noise = grown(left);
    }
    noise + counted - levels.last().filter(|_| depth > 1).copied().unwrap_or(0.0)
}

/// Adds security, log N, log q_i and log Q: inputs, taken from the printed ones, so keys.
fn with_sizes(row: Row, cell: &Cell, parameters: &Parameters) -> Row {
    let below = parameters.security == Security::InsecureForResearchOnly;
    // Without q_(L+1), as the paper counts for BGV.
    let chain = usize::from(cell.column == Column::Bgv);
    let kept = parameters.moduli.len() - chain;
    let modulus: f64 = parameters.moduli.iter().take(kept).map(|q| (*q as f64).log2()).sum();
    row.key("security", if below { "below 128" } else { "128" })
        .key("log_N", parameters.log2_degree)
        .key("log_q_i", limb(cell, parameters).ceil() as u64)
        .key("log_Q", modulus.ceil() as u64)
}

/// Adds log e and seconds to a row.
fn results(row: Row, cell: &Cell, found: &Measured) -> Row {
    let seconds = found.seconds.median() * 1e-6;
    row.judged("log_e", Some((printed_noise(cell), 0)), Some((found.log2_noise, 1)), Rule::Near(NEAR)).judged(
        "seconds",
        Some(as_printed(cell.seconds)),
        Some((seconds, 4)),
        Rule::Smaller(1.0),
    )
}

/// A value of `[KPZ21]` with as many decimals as are printed.
fn as_printed(value: f64) -> (f64, usize) {
    let exact = |d: &i32| (value * 10_f64.powi(*d) - (value * 10_f64.powi(*d)).round()).abs() < 1e-9;
    (value, (0..3).find(exact).unwrap_or(3) as usize)
}

/// Gives a row the reasons for the quantities that do not hold; none where one of them has none.
fn explained(row: Row, noise: Option<String>, found: &Measured) -> Row {
    let fails = |name| {
        let mut all = row.quantities.iter().filter(|one| one.name == name);
        all.any(|one| one.verdict().is_some_and(|verdict| verdict.needs_reason()))
    };
    let mut reasons = Vec::new();
    if fails("log_e") {
        reasons.push(noise);
    }
    if fails("log_e_fresh_first") {
        reasons.push(None);
    }
    if fails("seconds") {
        reasons.push(time_reason(&row, found));
    }
    let known: Option<Vec<String>> = reasons.into_iter().collect();
    let known = known.filter(|known| !known.is_empty()).map(|known| known.join("; "));
    row.because(known)
}

/// Why log e is another one: one of the causes that are known, if it accounts for the difference.
fn noise_reason(
    cell: &Cell,
    circuit: Circuit,
    parameters: &Parameters,
    found: &Measured,
    first: Option<f64>,
    twin: Option<&Cell>,
) -> Option<String> {
    let off = |noise: f64| (noise - printed_noise(cell)).abs();
    let original = matches!(cell.column, Column::Behz | Column::Hps);
    if let Some(first) = first.filter(|first| off(*first) <= UNKNOWN) {
        return Some(format!(
            "at t = 2 the paper seems to multiply fresh ciphertexts before any switch, so that a level less is \
             switched away: that gives {first:.1}"
        ));
    }
    if let Some(twin) = twin.filter(|twin| (found.log2_noise - f64::from(twin.log2_noise)).abs() <= NEAR) {
        let (name, noise) = (twin.column.name(), twin.log2_noise);
        return Some(format!("for {name}, of the same parameters, the paper prints {noise}"));
    }
    if off(found.log2_noise) > LOOSE {
        return None;
    }
    if circuit == Circuit::Polynomial && cell.k <= 4 {
        return Some(
            "the leading coefficient, random in ±1 to ±15, decides: runs differ by up to 4 bits".to_owned(),
        );
    }
    if original {
        return Some("depends on |Q|_t of primes that the paper does not name: up to 4 bits".to_owned());
    }
    (parameters.log2_degree > cell.log2_degree)
        .then(|| "N is larger than printed, as the security table of 2024 asks for".to_owned())
}

/// The other column of a line that has the same parameters and the same noise growth.
fn twin<'a>(cell: &Cell, line: &'a [Cell]) -> Option<&'a Cell> {
    let other = match cell.column {
        Column::Behz => Column::Hps,
        Column::Hps => Column::Behz,
        Column::New => Column::Leveled,
        Column::Leveled => Column::New,
        Column::Bgv => return None,
    };
    line.iter().find(|one| one.column == other)
}

/// Why a computation took longer than the paper's: what was seen.
fn time_reason(row: &Row, found: &Measured) -> Option<String> {
    let printed = row.quantities.iter().find(|one| one.name == "seconds");
    slower(&found.seconds, number(printed?.paper.as_ref())?, found.waited)
}

fn number(value: Option<&Value>) -> Option<f64> {
    match value {
        Some(Value::Decimal(value, _)) => Some(*value),
        _ => None,
    }
}

/// Difference of a row's log e to the printed one, where there are both.
pub(super) fn noise_difference(row: &Row) -> Option<f64> {
    let Quantity { paper, ours, .. } = row.quantities.iter().find(|one| one.name == "log_e")?;
    Some((number(paper.as_ref())? - number(ours.as_ref())?).abs())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repro::report::Verdict;

    /// A cell of BGV at t = 2 and depth k, as Table 6 prints it, with a noise of so many bits.
    fn bgv(k: u32, size: [u32; 3], printed: u32, noise: f64) -> Row {
        let cell =
            Cell { log2_noise: printed, seconds: 0.058, ..Cell::new(Column::Bgv, 2, Digits::Three, k, size) };
        let parameters = Parameters::printed(&cell, k).unwrap();
        let seconds = Series::from_micros(vec![1e4]);
        let found = Measured { log2_noise: noise, seconds, switched: Some(5.5), waited: 0.0 };
        row((&cell, &[]), Circuit::Tree, &parameters, &found, None)
    }

    #[test]
    fn fresh_operands_are_a_reason_only_where_they_account_for_the_difference() {
        for (k, size, printed, ours) in
            [(1, [12, 19, 34], 25, 17.2), (2, [13, 20, 56], 25, 38.4), (3, [13, 20, 75], 39, 57.9)]
        {
            let row = bgv(k, size, printed, ours);
            assert_eq!(row.verdict(), Some(Verdict::Differs), "{row:?}");
            assert!(row.reason.as_ref().unwrap().contains("before any switch"), "{row:?}");
            for noise in [ours - 7.0, ours + 7.0] {
                assert!(bgv(k, size, printed, noise).is_unexplained(), "{noise}");
            }
        }
    }

    #[test]
    fn what_takes_longer_says_why_or_nothing() {
        let cell = Cell {
            log2_noise: 20,
            seconds: 0.01,
            ..Cell::new(Column::New, 65537, Digits::Three, 1, [12, 30, 30])
        };
        let parameters = Parameters::printed(&cell, 1).unwrap();
        let with = |micros: Vec<f64>| {
            let found = Measured {
                log2_noise: 20.0,
                seconds: Series::from_micros(micros),
                switched: None,
                waited: 0.0,
            };
            row((&cell, &[]), Circuit::Tree, &parameters, &found, None).reason
        };
        assert_eq!(with(vec![9e3]), None);
        assert!(with(vec![9e3, 22e3, 23e3]).unwrap().contains("fastest of 3 rounds took 0.00900 s"));
        assert_eq!(with(vec![22e3]).is_some(), cfg!(debug_assertions));
        assert_eq!(left_out(&cell, 0.6).verdict(), Some(Verdict::Missing));
    }

    #[test]
    fn a_twin_is_a_reason_only_where_ours_is_near_it() {
        let cell = |column, log2_noise| Cell {
            log2_noise,
            seconds: 0.1,
            ..Cell::new(column, 65537, Digits::Three, 8, [12, 30, 60])
        };
        let line = [cell(Column::New, 98), cell(Column::Leveled, 53)];
        let parameters = Parameters::printed(&line[1], 3).unwrap();
        let with = |noise: f64| {
            let seconds = Series::from_micros(vec![1e4]);
            let found = Measured { log2_noise: noise, seconds, switched: None, waited: 0.0 };
            row((&line[1], &line), Circuit::Polynomial, &parameters, &found, None)
        };
        assert!(
            with(97.0).reason.unwrap().contains("for BFV-NEW, of the same parameters, the paper prints 98")
        );
        assert!(with(80.0).is_unexplained() && with(54.0).holds());
    }
}
