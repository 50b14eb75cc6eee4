//! Tables 3 and 4: the same for a given m̃, 30-bit and 62-bit moduli.

use super::{ERROR_BOUND, Rational, Setting, Width};
use crate::LabError;
use crate::repro::report::{Quantity, Row, Table, Value};

/// log2 n, k, t, log2 m̃, L_RNS, L_std where printed, ⌈log2 m_sk⌉ and γ unless the depth is 0: as printed.
type Line = (u32, usize, u64, u32, u32, Option<u32>, Option<[u64; 2]>);

const PRINTED_3: [Line; 10] = [
    (11, 3, 2, 8, 2, None, Some([13, 7])),
    (11, 3, 1 << 10, 8, 1, None, Some([22, 7])),
    (12, 6, 2, 8, 5, None, Some([14, 13])),
    (12, 6, 1 << 10, 8, 4, None, Some([23, 13])),
    (13, 13, 2, 8, 13, None, Some([15, 27])),
    (13, 13, 1 << 10, 8, 9, None, Some([24, 27])),
    (14, 26, 2, 8, 25, None, Some([17, 53])),
    (14, 26, 1 << 10, 8, 19, None, Some([26, 53])),
    (15, 53, 2, 16, 50, None, Some([20, 112])),
    (15, 53, 1 << 10, 16, 38, None, Some([29, 107])),
];

const PRINTED_4: [Line; 10] = [
    (11, 1, 2, 8, 0, Some(0), None),
    (11, 1, 1 << 10, 8, 0, Some(0), None),
    (12, 3, 2, 8, 4, Some(5), Some([14, 7])),
    (12, 3, 1 << 10, 8, 3, Some(3), Some([23, 7])),
    (13, 6, 2, 8, 11, Some(11), Some([15, 13])),
    (13, 6, 1 << 10, 8, 8, Some(8), Some([24, 13])),
    (14, 12, 2, 8, 23, Some(23), Some([16, 25])),
    (14, 12, 1 << 10, 8, 17, Some(17), Some([25, 25])),
    (15, 25, 2, 16, 47, Some(47), Some([17, 51])),
    (15, 25, 1 << 10, 16, 37, Some(37), Some([26, 52])),
];

/// Computes Table 3 (30-bit moduli) or Table 4 (62-bit moduli).
pub(super) fn compute(width: Width) -> Result<Table, LabError> {
    let (name, printed) = match width {
        Width::Bits30 => ("Table 3", &PRINTED_3),
        Width::Bits62 => ("Table 4", &PRINTED_4),
    };
    Ok(Table {
        name,
        title: format!("greatest depth for a given m̃, {}-bit moduli of NFLlib", width.bits()),
        rows: printed.iter().map(|line| row(width, line)).collect::<Result<_, _>>()?,
    })
}

fn row(width: Width, line: &Line) -> Result<Row, LabError> {
    let &(log2_degree, count, plain_modulus, log2_m_tilde, depth, standard_depth, sizes) = line;
    let setting = Setting::new(log2_degree, width, count, plain_modulus, ERROR_BOUND)?;
    let m_tilde = 1_u64 << log2_m_tilde;
    // What m̃ reduces to [BEHZ16, eq. (8)], with τ = k.
    let rho = Rational::new((2 * count + 1).into(), m_tilde.into());
    let reached = setting.depth(&rho);
    let mut quantities = vec![Quantity::printed("L_RNS", depth, reached)];
    if let Some(standard_depth) = standard_depth {
        quantities.push(Quantity::printed("L_std", standard_depth, setting.standard_depth()));
    }
    let ours = match reached {
        Some(0) | None => None,
        Some(reached) => Some(setting.sufficient(reached, &rho)?),
    };
    let [log2_m_sk, gamma] = match sizes {
        Some(sizes) => sizes.map(|size| Some(Value::Integer(size))),
        None => [None, None],
    };
    let with = |name, paper, ours: Option<u64>| Quantity { name, paper, ours: ours.map(Value::Integer) };
    quantities.push(with("log2_m_sk", log2_m_sk, ours.map(|ours| ours.log2_m_sk)));
    quantities.push(with("gamma", gamma, ours.map(|ours| ours.gamma)));
    let mut keys = super::keys(log2_degree, count, plain_modulus);
    keys.push(("m_tilde", m_tilde.into()));
    Ok(Row { measured: false, keys, quantities, reason: None })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_comes_out_as_printed() {
        for width in [Width::Bits30, Width::Bits62] {
            for row in compute(width).unwrap().rows {
                assert!(row.equal(), "{width:?} {row:#?}");
            }
        }
    }

    #[test]
    fn nothing_is_multiplied_at_depth_0() {
        let table = compute(Width::Bits62).unwrap();
        let ours: Vec<_> = table.rows[0].quantities.iter().map(|one| one.ours.clone()).collect();
        assert_eq!(ours, [Some(Value::Integer(0)), Some(Value::Integer(0)), None, None]);
    }
}
