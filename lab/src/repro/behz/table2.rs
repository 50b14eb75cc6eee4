//! Table 2: how many moduli are timed, and what that means today.

use sunzi_rlwe::Security;
use sunzi_rlwe::security::max_log2_modulus;

use super::{LOG2_DEGREES, Width, timing};
use crate::LabError;
use crate::repro::report::{Quantity, Row, Table, Value};

/// k for log2 n = 11 to 15: as printed, for ν = 30 and ν = 62.
const PRINTED: [[usize; 5]; 2] = [[3, 6, 13, 26, 53], [1, 3, 6, 12, 25]];

impl Width {
    /// How many moduli Table 2 takes at this degree.
    pub(super) fn count(self, log2_degree: u32) -> Result<usize, LabError> {
        let [low, high] = LOG2_DEGREES;
        let [narrow, wide] = PRINTED;
        let counts = match self {
            Self::Bits30 => narrow,
            Self::Bits62 => wide,
        };
        let column = log2_degree.checked_sub(low).and_then(|column| counts.get(column as usize));
        column.copied().ok_or(LabError::PaperDegree { got: log2_degree, low, high })
    }

    /// Whether one multiplication decrypts with t = 2^10: not with a single modulus.
    pub(super) fn multiplies(self, log2_degree: u32) -> bool {
        self.count(log2_degree).is_ok_and(|count| count > 1)
    }
}

/// Computes the table.
pub(super) fn compute() -> Result<Table, LabError> {
    let mut rows = Vec::new();
    for width in [Width::Bits30, Width::Bits62] {
        for log2_degree in LOG2_DEGREES[0]..=LOG2_DEGREES[1] {
            rows.push(row(log2_degree, width)?);
        }
    }
    Ok(Table {
        name: "Table 2",
        title: "moduli timed; beside them log2 q, primes of 48 bits for as much, and the largest log2 q for 128 bits \
                of security today [Guidelines24]: beyond it sets run by the insecure opt-in only"
            .to_owned(),
        rows,
    })
}

fn row(log2_degree: u32, width: Width) -> Result<Row, LabError> {
    let count = width.count(log2_degree)?;
    let moduli = width.moduli(count)?;
    let log2_modulus: f64 = moduli.iter().map(|&modulus| (modulus as f64).log2()).sum();
    let default = timing::default_moduli(log2_degree, log2_modulus)?.len();
    let limit = max_log2_modulus(log2_degree, Security::Bits128);
    let ours = |name, value: Value| Quantity { name, paper: None, ours: Some(value) };
    Ok(Row {
        measured: false,
        keys: vec![("n", (1_u64 << log2_degree).into()), ("nu", width.bits().into())],
        quantities: vec![
            Quantity::printed("k", count as u64, Some(moduli.len() as u64)),
            ours("log2_q", Value::Decimal(log2_modulus, 1)),
            ours("k_48", (default as u64).into()),
            ours("log2_q_128", limit.map_or(Value::Text("none"), Value::from)),
        ],
        reason: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_set_exceeds_what_is_secure_today() {
        let table = compute().unwrap();
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
            assert!(matches!(Width::Bits30.count(got), Err(LabError::PaperDegree { .. })), "{got}");
        }
        assert!(
            !Width::Bits62.multiplies(11) && Width::Bits62.multiplies(12) && Width::Bits30.multiplies(11)
        );
    }
}
