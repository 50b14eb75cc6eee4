//! The values printed in the tables of `[KPZ21]`, digit for digit.

use crate::repro::{lines, number, numbers};

const TEXT: &str = include_str!("printed.txt");

/// Plaintext moduli t of the tables of `[KPZ21]`: 2, 2^16 + 1 and 2^30 − 2^18 + 1.
pub(super) const PLAIN_MODULI: [u64; 3] = [2, (1 << 16) + 1, (1 << 30) - (1 << 18) + 1];

/// Number of digits of a key switch in the tables of `[KPZ21]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Digits {
    /// Three digits, d_num = 3.
    Three,
    /// A digit for every modulus, d_num = L.
    Max,
}

/// Noise log e and seconds of a computation.
pub(super) type Found = (u32, f64);

/// Column of the tables of `[KPZ21]`: one of five ways to multiply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Column {
    /// Original BFV by BEHZ.
    Behz,
    /// Original BFV by HPS.
    Hps,
    /// BFV-NEW, the new BFV of `[KPZ21]`.
    New,
    /// BFV-NEW-LVL, the new leveled BFV of `[KPZ21]`.
    Leveled,
    /// BGV-NEW, the new BGV of `[KPZ21]`.
    Bgv,
}

impl Column {
    /// Heading of the column in `[KPZ21]`.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Behz => "BEHZ",
            Self::Hps => "HPS",
            Self::New => "BFV-NEW",
            Self::Leveled => "BFV-NEW-LVL",
            Self::Bgv => "BGV-NEW",
        }
    }
}

/// One cell of the tables of `[KPZ21]`: one column of one row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Cell {
    pub(super) column: Column,
    pub(super) plain_modulus: u64,
    pub(super) digits: Digits,
    pub(super) k: u32,
    pub(super) log2_degree: u32,
    pub(super) log2_limb: u32,
    pub(super) log2_modulus: u32,
    pub(super) log2_noise: u32,
    pub(super) seconds: f64,
}

impl Cell {
    /// A cell with log N, log q_i and log Q but without results.
    pub(super) fn new(column: Column, t: u64, digits: Digits, k: u32, size: [u32; 3]) -> Self {
        let [log2_degree, log2_limb, log2_modulus] = size;
        let (plain_modulus, log2_noise, seconds) = (t, 0, 0.0);
        Self { column, plain_modulus, digits, k, log2_degree, log2_limb, log2_modulus, log2_noise, seconds }
    }
}

/// Rows of Table 6 of `[KPZ21]`; Table 2 is its rows for t = 2^16 + 1 and three digits.
pub(super) fn trees() -> Vec<Cell> {
    lines(TEXT, "Table 6").into_iter().flat_map(cells).collect()
}

/// Rows of Table 7 of `[KPZ21]`; Table 3 is its rows for t = 2^16 + 1 and three digits.
pub(super) fn polynomials() -> Vec<Cell> {
    lines(TEXT, "Table 7").into_iter().flat_map(cells).collect()
}

/// The five cells of a printed line: the original BFV by BEHZ and by HPS; new and leveled BFV; BGV.
fn cells(line: [&str; 22]) -> [Cell; 5] {
    let [t, digits, k, n, q, m, behz, b, hps, h, rest @ ..] = line;
    let [new_n, new_q, new_m, one, o, leveled, l, bgv_n, bgv_q, bgv_m, bgv, g] = rest;
    let columns = [
        (Column::Behz, [n, q, m], [behz, b]),
        (Column::Hps, [n, q, m], [hps, h]),
        (Column::New, [new_n, new_q, new_m], [one, o]),
        (Column::Leveled, [new_n, new_q, new_m], [leveled, l]),
        (Column::Bgv, [bgv_n, bgv_q, bgv_m], [bgv, g]),
    ];
    columns.map(|(column, size, result)| {
        let (log2_noise, seconds) = found(result);
        Cell { log2_noise, seconds, ..cell(column, t, digits, k, size) }
    })
}

fn cell(column: Column, t: &str, digits: &str, k: &str, size: [&str; 3]) -> Cell {
    let digits = if digits == "L" { Digits::Max } else { Digits::Three };
    let ([t], [k]) = (numbers([t]), numbers([k]));
    Cell::new(column, t, digits, k, numbers(size))
}

fn found([log2_noise, seconds]: [&str; 2]) -> Found {
    (number(log2_noise).unwrap_or_default(), number(seconds).unwrap_or_default())
}

/// Rows of Table 8 of `[KPZ21]`: inner products of 128 terms, one by one, with lazy key switching, with lazy
/// scaling.
pub(super) fn inner_products() -> Vec<(Cell, [Found; 3])> {
    let lines = lines(TEXT, "Table 8").into_iter();
    let cell = |[t, digits, n, q, m, one, o, switching, k, scaling, s]: [&str; 11]| {
        let results = [[one, o], [switching, k], [scaling, s]];
        (cell(Column::New, t, digits, "128", [n, q, m]), results.map(found))
    };
    lines.map(cell).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Multiplicative depth of the circuits: of 2^k factors if `tree`, else of a polynomial of degree k.
    fn depth(tree: bool, k: u32) -> u32 {
        if tree { k } else { k.next_power_of_two().ilog2() }
    }

    /// Checks properties that correct digits have and wrong ones would hardly have.
    #[test]
    fn the_printed_numbers_are_plausible() {
        for (tree, cells) in [(true, trees()), (false, polynomials())] {
            assert_eq!(cells.len(), 42 * 5);
            for cell in &cells {
                let room = cell.log2_modulus - cell.log2_noise;
                assert!(cell.log2_noise < cell.log2_modulus && room < 60 || odd(tree, cell), "{cell:?}");
                assert!(cell.log2_limb <= 60 && (12..=15).contains(&cell.log2_degree), "{cell:?}");
                let levels = cell.log2_modulus.checked_sub(depth(tree, cell.k) * cell.log2_limb);
                match cell.column {
                    // q_0 is what is left: nearly as many bits in every row of a plaintext modulus.
                    Column::Bgv => assert!((11..50).contains(&levels.unwrap()), "{cell:?}"),
                    _ => assert_eq!(cell.log2_modulus % cell.log2_limb, 0, "{cell:?}"),
                }
            }
            for pair in cells.windows(6) {
                let (above, below) = (&pair[0], &pair[5]);
                if above.plain_modulus == below.plain_modulus && above.digits == below.digits {
                    assert!(above.k < below.k && above.log2_modulus <= below.log2_modulus, "{below:?}");
                    let grows = above.log2_noise <= below.log2_noise + 3 && above.seconds < below.seconds;
                    assert!(grows || odd(tree, above) || odd(tree, below), "{above:?} {below:?}");
                }
            }
        }
    }

    /// Whether a cell has an odd value: Table 7, t = 2^30 − 2^18 + 1, three digits, k = 4 has 53 where its
    /// neighbours are 98 and 95.
    fn odd(tree: bool, cell: &Cell) -> bool {
        !tree && cell.column == Column::Leveled && cell.log2_noise == 53 && cell.k == 4
    }

    #[test]
    fn inner_products_have_whole_limbs() {
        assert_eq!(inner_products().len(), 6);
        for (cell, found) in inner_products() {
            assert_eq!(cell.log2_modulus % cell.log2_limb, 0);
            assert!(found[0].1 > found[1].1 && found[1].1 > found[2].1);
        }
    }
}
