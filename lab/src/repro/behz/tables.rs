//! Tables 1 to 4 of `[BEHZ16]`: parameters that reach the greatest depth, and how many moduli are timed.

use num_traits::ToPrimitive;
use sunzi_rlwe::Security;
use sunzi_rlwe::security::max_log2_modulus;

use super::{ERROR_BOUND, LOG2_DEGREES, PRINTED, Rational, Setting, Sufficient, Width, no_rows, timing};
use crate::repro::{Result, Row, Rule, Table, Value, lines, number, numbers};

/// A row of the parameter tables of `[BEHZ16]`.
fn row(log2_degree: u32, count: usize, plain_modulus: u64) -> Row {
    Row::default().key("n", 1_u64 << log2_degree).key("k", count).key("t", plain_modulus)
}

/// Table 1 of `[BEHZ16]`: how little reduction of q-overflows the greatest depth needs, 30-bit moduli.
pub(super) fn table1() -> Result<Table> {
    let rows = lines(PRINTED, "Table 1").into_iter().map(row1).collect::<Result<_>>()?;
    Ok(Table::new(
        "Table 1",
        "greatest depth and the largest ρ that reaches it, 30-bit moduli of NFLlib",
        rows,
    ))
}

fn row1([n, k, t, depth, standard_depth, rho, m_tilde, log2_m_sk, gamma]: [&str; 9]) -> Result<Row> {
    let [log2_degree, depth, standard_depth] = numbers([n, depth, standard_depth]);
    let ([count], [t, log2_m_sk, gamma]) = (numbers([k]), numbers([t, log2_m_sk, gamma]));
    let setting = Setting::new(log2_degree, Width::Bits30, count, t, ERROR_BOUND)?;
    let sufficient = Sufficient { m_tilde: number(m_tilde), log2_m_sk, gamma };
    let printed = (number::<Rational>(rho).unwrap_or_default(), sufficient);
    let found = found(&setting)?;
    let ours = found.as_ref().map(|(_, rho, sufficient)| (rho, sufficient));
    let reason = match ours {
        Some((rho, _)) if *rho != printed.0 => Some(at_printed_rho(&setting, depth, &printed)?),
        _ => None,
    };
    let m_tilde = |one: &Sufficient| one.m_tilde.map_or(Value::Text("no need"), Value::Integer);
    let of = |of: fn(&Sufficient) -> u64| ours.map(|(_, ours)| of(ours));
    Ok(row(log2_degree, count, t)
        .printed("L_RNS", depth, found.as_ref().map(|(depth, ..)| *depth))
        .printed("L_std", standard_depth, setting.standard_depth())
        .printed("rho", quotient(&printed.0), ours.map(|(rho, _)| quotient(rho)))
        .printed("m_tilde", m_tilde(&printed.1), ours.map(|(_, ours)| m_tilde(ours)))
        .printed("log2_m_sk", log2_m_sk, of(|one| one.log2_m_sk))
        .printed("gamma", gamma, of(|one| one.gamma))
        .because(reason))
}

/// The greatest depth of a setting, the largest ρ that reaches it, and the m̃, m_sk and γ that suffice then.
fn found(setting: &Setting) -> Result<Option<(u32, Rational, Sufficient)>> {
    let Some(depth) = setting.depth(&Rational::default()) else { return Ok(None) };
    let Some(rho) = setting.largest_rho(depth) else { return Ok(None) };
    let sufficient = setting.sufficient(depth, &rho)?;
    Ok(Some((depth, rho, sufficient)))
}

/// Over the rows of Table 1: in how many RNS reaches a smaller depth than multi-precision, and the most bits of
/// m_sk.
pub(super) fn extremes() -> Result<(usize, Option<u64>)> {
    let mut shallower = 0;
    let mut longest = None;
    for [n, k, t, ..] in lines::<9>(PRINTED, "Table 1") {
        let ([log2_degree], [count], [t]) = (numbers([n]), numbers([k]), numbers([t]));
        let setting = Setting::new(log2_degree, Width::Bits30, count, t, ERROR_BOUND)?;
        if let Some((depth, _, sufficient)) = found(&setting)? {
            shallower += usize::from(Some(depth) < setting.standard_depth());
            longest = longest.max(Some(sufficient.log2_m_sk));
        }
    }
    Ok((shallower, longest))
}

/// Reason why a row differs whose ρ is not the largest: what the printed ρ gives.
fn at_printed_rho(setting: &Setting, depth: u32, (rho, printed): &(Rational, Sufficient)) -> Result<String> {
    let ours = setting.sufficient(depth, rho)?;
    let m_tilde = ours.m_tilde.map_or("none".to_owned(), |value| value.to_string());
    Ok(format!(
        "ρ = {rho} is not the largest that reaches depth {depth}; with it the bounds give m̃ = {m_tilde}, {} bits \
         of m_sk and γ = {}, {} the paper's",
        ours.log2_m_sk,
        ours.gamma,
        if ours == *printed { "which are" } else { "which are not" },
    ))
}

fn quotient(rho: &Rational) -> Value {
    match (rho.numer().to_u64(), rho.denom().to_u64()) {
        (Some(numerator), Some(denominator)) => Value::Ratio(numerator, denominator),
        _ => Value::Text("too long to print"),
    }
}

impl Width {
    /// Number of moduli that Table 2 of `[BEHZ16]` takes at this degree.
    pub(super) fn count(self, log2_degree: u32) -> Result<usize> {
        let printed = lines::<5>(PRINTED, "Table 2").into_iter().nth(self as usize).map(numbers);
        let column = log2_degree.checked_sub(LOG2_DEGREES[0]);
        let count = printed.zip(column).and_then(|(counts, column)| counts.get(column as usize).copied());
        count.ok_or_else(|| no_rows(log2_degree))
    }

    /// Whether one multiplication decrypts with t = 2^10 at this degree: not with a single modulus.
    pub(super) fn multiplies(self, log2_degree: u32) -> bool {
        self.count(log2_degree).is_ok_and(|count| count > 1)
    }
}

/// Table 2 of `[BEHZ16]`: how many moduli are timed, and what that means for security today.
pub(super) fn table2() -> Result<Table> {
    let mut rows = Vec::new();
    for width in [Width::Bits30, Width::Bits62] {
        for log2_degree in LOG2_DEGREES[0]..=LOG2_DEGREES[1] {
            rows.push(row2(log2_degree, width)?);
        }
    }
    let title = "moduli timed; beside them log2 q, primes of 48 bits for as much, and the largest log2 q for 128 bits \
                 of security today [Guidelines24]: beyond it sets run by the insecure opt-in only";
    Ok(Table::new("Table 2", title, rows))
}

fn row2(log2_degree: u32, width: Width) -> Result<Row> {
    let count = width.count(log2_degree)?;
    let moduli = width.moduli(count)?;
    let log2_modulus: f64 = moduli.iter().map(|&modulus| (modulus as f64).log2()).sum();
    let limit = max_log2_modulus(log2_degree, Security::Bits128);
    Ok(Row::default()
        .key("n", 1_u64 << log2_degree)
        .key("nu", width.bits())
        .key("k", moduli.len())
        .ours("log2_q", (log2_modulus, 1))
        .ours("k_48", timing::default_moduli(log2_degree, log2_modulus)?.len())
        .ours("log2_q_128", limit.map_or(Value::Text("none"), Value::from))
        .because(Some("k is an input of the timings, and the paper prints nothing else")))
}

/// Table 3 (30-bit moduli) or Table 4 (62-bit moduli) of `[BEHZ16]`: the greatest depth for a given m̃.
pub(super) fn table3_4(width: Width) -> Result<Table> {
    let name = if width == Width::Bits30 { "Table 3" } else { "Table 4" };
    let rows = lines(PRINTED, name).into_iter().map(|line| row3_4(width, line)).collect::<Result<_>>()?;
    Ok(Table::new(name, format!("greatest depth for a given m̃, {}-bit moduli of NFLlib", width.bits()), rows))
}

fn row3_4(
    width: Width,
    [n, k, t, log2_m_tilde, depth, standard_depth, log2_m_sk, gamma]: [&str; 8],
) -> Result<Row> {
    let ([log2_degree, log2_m_tilde, depth], [count]) = (numbers([n, log2_m_tilde, depth]), numbers([k]));
    let (plain_modulus, m_tilde) = (number(t).unwrap_or_default(), 1_u64 << log2_m_tilde);
    let setting = Setting::new(log2_degree, width, count, plain_modulus, ERROR_BOUND)?;
    // What m̃ reduces to [BEHZ16, eq. (8)], with τ = k.
    let rho = Rational::new((2 * count + 1).into(), m_tilde.into());
    let reached = setting.depth(&rho);
    let ours = match reached {
        Some(0) | None => None,
        Some(reached) => Some(setting.sufficient(reached, &rho)?),
    };
    let mut row = row(log2_degree, count, plain_modulus).key("m_tilde", m_tilde);
    row = row.printed("L_RNS", depth, reached);
    if let Some(standard_depth) = number::<u32>(standard_depth) {
        row = row.printed("L_std", standard_depth, setting.standard_depth());
    }
    let (m_sk, gamma) = (number::<u64>(log2_m_sk), number::<u64>(gamma));
    Ok(row.judged("log2_m_sk", m_sk, ours.map(|ours| ours.log2_m_sk), Rule::Equal).judged(
        "gamma",
        gamma,
        ours.map(|ours| ours.gamma),
        Rule::Equal,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nine_rows_come_out_as_printed() {
        let table = table1().unwrap();
        let differing: Vec<&Row> = table.rows.iter().filter(|row| !row.holds()).collect();
        let [row] = differing[..] else { panic!("{differing:#?}") };
        assert_eq!(row.keys, super::row(15, 53, 2).keys);
        let ours: Vec<Value> = row.quantities.iter().map(|one| one.ours.clone().unwrap()).collect();
        let expected = [
            50_u32.into(),
            50_u32.into(),
            Value::Ratio(1, 16),
            1712_u64.into(),
            20_u64.into(),
            723_u64.into(),
        ];
        assert_eq!(ours, expected);
        assert!(
            row.reason
                .as_ref()
                .unwrap()
                .contains("m̃ = 2140, 20 bits of m_sk and γ = 203, which are the paper's")
        );
    }

    #[test]
    fn the_printed_rho_keeps_gamma_in_a_byte() {
        // 1/20 is below the largest ρ whose γ stays below 2^8, 1/19; the largest of all needs 723.
        let setting = Setting::new(15, Width::Bits30, 53, 2, ERROR_BOUND).unwrap();
        let gamma = |divisor: u64| setting.smallest_gamma(50, &Rational::new(1.into(), divisor.into())).ok();
        assert_eq!([15, 16, 18, 19, 20].map(gamma), [None, Some(723), Some(279), Some(231), Some(203)]);
    }

    #[test]
    fn every_set_exceeds_what_is_secure_today() {
        let table = table2().unwrap();
        assert_eq!(table.rows.len(), 10);
        for row in &table.rows {
            let ours =
                |name| row.quantities.iter().find(|one| one.name == name).unwrap().ours.clone().unwrap();
            let (Value::Decimal(log2_q, _), Value::Integer(limit)) = (ours("log2_q"), ours("log2_q_128"))
            else {
                panic!("{row:?}")
            };
            assert!(log2_q > limit as f64 && log2_q < 2.0 * limit as f64, "{row:?}");
        }
    }

    #[test]
    fn other_degrees_are_refused() {
        for got in [0, 10, 16] {
            let error = Width::Bits30.count(got).unwrap_err().to_string();
            assert!(error.contains("the paper has no other rows"), "{error}");
        }
        assert!(
            !Width::Bits62.multiplies(11) && Width::Bits62.multiplies(12) && Width::Bits30.multiplies(11)
        );
    }

    #[test]
    fn every_row_comes_out_as_printed() {
        for width in [Width::Bits30, Width::Bits62] {
            for row in table3_4(width).unwrap().rows {
                assert!(row.holds(), "{width:?} {row:#?}");
            }
        }
    }

    #[test]
    fn nothing_is_multiplied_at_depth_0() {
        let table = table3_4(Width::Bits62).unwrap();
        let ours: Vec<_> = table.rows[0].quantities.iter().map(|one| one.ours.clone()).collect();
        assert_eq!(ours, [Some(Value::Integer(0)), Some(Value::Integer(0)), None, None]);
    }
}
