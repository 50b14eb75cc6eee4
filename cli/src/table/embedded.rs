//! The table that the demonstration uses unless given another: see `cli/data/README.md`.

use super::{Table, csv};
use crate::error::CliError;

/// Name of the embedded table in messages and reports.
pub(crate) const NAME: &str = "Breast Cancer Wisconsin (Diagnostic)";
/// Name of the column that groups rows of the embedded table.
pub(crate) const GROUP_COLUMN: &str = "diagnosis";

const TEXT: &str = include_str!("../../data/breast_cancer.csv");

/// Reads the embedded table.
pub(crate) fn read() -> Result<Table, CliError> {
    csv::parse(TEXT.as_bytes(), NAME)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the FNV-1a checksum of 64 bits of some bytes.
    fn checksum(bytes: &[u8]) -> u64 {
        bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
            (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
        })
    }

    #[test]
    fn the_table_is_the_one_described() {
        assert_eq!(checksum(TEXT.as_bytes()), 0xa59b_4b87_c644_8b56);
        let table = read().unwrap();
        assert_eq!((table.rows.len(), table.names.len()), (569, 31));
        assert_eq!(
            (table.names[0].as_str(), table.names[29].as_str()),
            ("mean_radius", "worst_fractal_dimension")
        );
        assert_eq!(table.names[30], GROUP_COLUMN);
        let malignant = table.column(30).filter(|(_, cell)| *cell == "malignant").count();
        let benign = table.column(30).filter(|(_, cell)| *cell == "benign").count();
        assert_eq!((malignant, benign), (212, 357));
    }
}
