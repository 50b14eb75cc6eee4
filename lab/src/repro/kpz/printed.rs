//! What the tables print, digit for digit.

mod polynomials;
mod trees;

/// t of the tables: 2, 2^16 + 1 and 2^30 − 2^18 + 1.
pub(super) const PLAIN_MODULI: [u64; 3] = [2, (1 << 16) + 1, (1 << 30) - (1 << 18) + 1];

/// How many digits a key switch has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Digits {
    /// d_num = 3.
    Three,
    /// d_num = L, one modulus each.
    Max,
}

/// log N, log q_i, log Q.
type Size = [u32; 3];
/// log e and seconds.
type Found = (u32, f64);
/// t, d_num, k; the original BFV by BEHZ and by HPS; new and leveled; BGV.
type Line = (u64, Digits, u32, Size, [Found; 2], Size, [Found; 2], Size, Found);
/// t, d_num; log N, log q_i, log Q; one by one, lazy key switching, lazy scaling.
type ProductLine = (u64, Digits, Size, [Found; 3]);

/// Which of the five products a column shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Column {
    /// Original BFV, BEHZ.
    Behz,
    /// Original BFV, HPS.
    Hps,
    /// BFV-NEW.
    New,
    /// BFV-NEW-LVL.
    Leveled,
    /// BGV-NEW.
    Bgv,
}

impl Column {
    /// As the paper heads it.
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

/// One column of one row.
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

/// Table 6; Table 2 is its rows for t = 2^16 + 1 and three digits.
pub(super) fn trees() -> Vec<Cell> {
    trees::LINES.iter().flat_map(cells).collect()
}

/// Table 7; Table 3 is its rows for t = 2^16 + 1 and three digits.
pub(super) fn polynomials() -> Vec<Cell> {
    polynomials::LINES.iter().flat_map(cells).collect()
}

fn cells(&(t, digits, k, old, [behz, hps], new, [one, leveled], levels, bgv): &Line) -> [Cell; 5] {
    let columns = [
        (Column::Behz, old, behz),
        (Column::Hps, old, hps),
        (Column::New, new, one),
        (Column::Leveled, new, leveled),
        (Column::Bgv, levels, bgv),
    ];
    columns.map(|(column, [log2_degree, log2_limb, log2_modulus], (log2_noise, seconds))| Cell {
        column,
        plain_modulus: t,
        digits,
        k,
        log2_degree,
        log2_limb,
        log2_modulus,
        log2_noise,
        seconds,
    })
}

/// Table 8: inner products of 128.
pub(super) const INNER_PRODUCTS: [ProductLine; 6] = {
    use Digits::{Max, Three};
    let [two, fermat, proth] = PLAIN_MODULI;
    [
        (two, Three, [13, 35, 35], [(23, 0.56), (23, 0.38), (24, 0.28)]),
        (two, Max, [13, 35, 35], [(23, 0.56), (23, 0.38), (23, 0.28)]),
        (fermat, Three, [13, 33, 66], [(38, 1.07), (38, 0.72), (38, 0.5)]),
        (fermat, Max, [13, 33, 66], [(38, 1.07), (39, 0.72), (39, 0.5)]),
        (proth, Three, [13, 47, 94], [(52, 1.09), (52, 0.73), (52, 0.51)]),
        (proth, Max, [13, 47, 94], [(53, 1.09), (53, 0.73), (53, 0.5)]),
    ]
};

#[cfg(test)]
mod tests {
    use super::*;

    /// Depth of the circuits: 2^k factors, or a polynomial of degree k.
    fn depth(tree: bool, k: u32) -> u32 {
        if tree { k } else { k.next_power_of_two().ilog2() }
    }

    /// What holds of correct digits and would hardly hold of wrong ones.
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

    /// Table 7, t = 2^30 − 2^18 + 1, three digits, k = 4: 53 where its neighbours are 98 and 95.
    fn odd(tree: bool, cell: &Cell) -> bool {
        !tree && cell.column == Column::Leveled && cell.log2_noise == 53 && cell.k == 4
    }

    #[test]
    fn inner_products_have_whole_limbs() {
        for (_, _, [_, limb, modulus], found) in INNER_PRODUCTS {
            assert_eq!(modulus % limb, 0);
            assert!(found[0].1 > found[1].1 && found[1].1 > found[2].1);
        }
    }
}
