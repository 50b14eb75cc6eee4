//! Tables as papers print them, kept as text: `[Table 1]` begins one, `#` a comment, `-` stands where nothing
//! is printed.

use std::str::FromStr;

/// The lines of a printed table, each of N cells.
pub(crate) fn lines<const N: usize>(text: &'static str, table: &str) -> Vec<[&'static str; N]> {
    let heading = format!("[{table}]");
    let body = text.lines().skip_while(|line| *line != heading).skip(1);
    let body = body.take_while(|line| !line.starts_with('[')).filter(|line| !line.starts_with('#'));
    body.filter_map(|line| line.split_whitespace().collect::<Vec<_>>().try_into().ok()).collect()
}

/// The number in a cell of a printed table, if there is one.
pub(crate) fn number<T: FromStr>(cell: &str) -> Option<T> {
    cell.parse().ok()
}

/// The numbers in cells of a printed table; zero where nothing is printed.
pub(crate) fn numbers<T: FromStr + Default, const N: usize>(cells: [&str; N]) -> [T; N] {
    cells.map(|cell| number(cell).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_has_the_cells_of_its_table_and_every_cell_is_legible() {
        let texts = [include_str!("behz/printed.txt"), include_str!("kpz/printed.txt")];
        for line in texts.iter().flat_map(|text| text.lines()) {
            if line.starts_with(['#', '[']) {
                continue;
            }
            for cell in line.split_whitespace() {
                let quotient = cell.split('/').all(|part| part.parse::<f64>().is_ok());
                let word = ["-", "L", "MP", "RNS", "RNS-flp", "RNS-SIMD"].contains(&cell);
                assert!(quotient || word, "{cell} in {line}");
            }
        }
        let text = "[Table 1]\n1 2\n\n# no more\n[Table 2]\n3 -\n";
        assert_eq!(lines(text, "Table 1"), [["1", "2"]]);
        assert_eq!(lines(text, "Table 2").into_iter().map(numbers::<u64, 2>).collect::<Vec<_>>(), [[3, 0]]);
        assert_eq!((number::<u64>("-"), number("1.5")), (None, Some(1.5)));
    }
}
