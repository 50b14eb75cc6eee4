//! Table 1: how little reduction of q-overflows the greatest depth needs, 30-bit moduli.

use num_traits::ToPrimitive;

use super::{ERROR_BOUND, Rational, Setting, Sufficient, Width};
use crate::LabError;
use crate::repro::report::{Quantity, Row, Table, Value};

/// log2 n, k, t, L_RNS, L_std, ρ as a quotient, m̃, ⌈log2 m_sk⌉, γ: as printed.
type Line = (u32, usize, u64, u32, u32, [u64; 2], Option<u64>, u64, u64);

const PRINTED: [Line; 10] = [
    (11, 3, 2, 2, 2, [5, 1], None, 18, 7),
    (11, 3, 1 << 10, 1, 1, [5, 1], None, 27, 7),
    (12, 6, 2, 5, 6, [11, 1], None, 21, 13),
    (12, 6, 1 << 10, 4, 4, [10, 1], Some(2), 29, 54),
    (13, 13, 2, 13, 13, [1, 3], Some(81), 15, 36),
    (13, 13, 1 << 10, 9, 9, [13, 1], Some(3), 31, 58),
    (14, 26, 2, 25, 25, [1, 2], Some(106), 17, 53),
    (14, 26, 1 << 10, 19, 19, [1, 1], Some(53), 27, 53),
    (15, 53, 2, 50, 50, [1, 20], Some(2140), 20, 203),
    (15, 53, 1 << 10, 38, 38, [1, 2], Some(214), 30, 107),
];

/// Computes the table.
pub(super) fn compute() -> Result<Table, LabError> {
    Ok(Table {
        name: "Table 1",
        title: "greatest depth and the largest ρ that reaches it, 30-bit moduli of NFLlib".to_owned(),
        rows: PRINTED.iter().map(row).collect::<Result<_, _>>()?,
    })
}

fn row(line: &Line) -> Result<Row, LabError> {
    let &(log2_degree, count, plain_modulus, depth, standard_depth, [top, bottom], ..) = line;
    let &(.., m_tilde, log2_m_sk, gamma) = line;
    let setting = Setting::new(log2_degree, Width::Bits30, count, plain_modulus, ERROR_BOUND)?;
    let printed = (Rational::new(top.into(), bottom.into()), Sufficient { m_tilde, log2_m_sk, gamma });
    let found = found(&setting)?;
    let ours = found.as_ref().map(|(_, rho, sufficient)| (rho, sufficient));
    let sufficient = |name, of: fn(&Sufficient) -> Value| {
        Quantity::printed(name, of(&printed.1), ours.map(|(_, ours)| of(ours)))
    };
    let quantities = vec![
        Quantity::printed("L_RNS", depth, found.as_ref().map(|(depth, ..)| *depth)),
        Quantity::printed("L_std", standard_depth, setting.standard_depth()),
        Quantity::printed("rho", quotient(&printed.0), ours.map(|(rho, _)| quotient(rho))),
        sufficient("m_tilde", |one| one.m_tilde.map_or(Value::Text("no need"), Value::Integer)),
        sufficient("log2_m_sk", |one| one.log2_m_sk.into()),
        sufficient("gamma", |one| one.gamma.into()),
    ];
    let reason = match ours {
        Some((rho, _)) if *rho != printed.0 => Some(at_printed_rho(&setting, depth, &printed)?),
        _ => None,
    };
    Ok(Row { measured: false, keys: super::keys(log2_degree, count, plain_modulus), quantities, reason })
}

/// The greatest depth, the largest ρ that reaches it, and what suffices then.
fn found(setting: &Setting) -> Result<Option<(u32, Rational, Sufficient)>, LabError> {
    let Some(depth) = setting.depth(&Rational::default()) else { return Ok(None) };
    let Some(rho) = setting.largest_rho(depth) else { return Ok(None) };
    let sufficient = setting.sufficient(depth, &rho)?;
    Ok(Some((depth, rho, sufficient)))
}

/// Why a row differs whose ρ is not the largest: what its own ρ gives.
fn at_printed_rho(
    setting: &Setting,
    depth: u32,
    (rho, printed): &(Rational, Sufficient),
) -> Result<String, LabError> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nine_rows_come_out_as_printed() {
        let table = compute().unwrap();
        let differing: Vec<&Row> = table.rows.iter().filter(|row| !row.equal()).collect();
        let [row] = differing[..] else { panic!("{differing:#?}") };
        assert_eq!(row.keys, crate::repro::behz::keys(15, 53, 2));
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
}
