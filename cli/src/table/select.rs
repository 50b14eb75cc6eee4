//! Choice of the columns that the job works on, and their numbers.

use sunzi::table::{Decimal, NotDecimal};

use super::Table;
use crate::error::{CliError, listed, quoted};

/// Largest number of columns that are taken: sums of products grow with the square of their number.
pub(crate) const MOST_COLUMNS: usize = 128;

/// A column of exact decimal numbers.
#[derive(Debug)]
pub(crate) struct NumberColumn {
    /// Name of the column in the table.
    pub(crate) name: String,
    /// The numbers of the column, one a row.
    pub(crate) numbers: Vec<Decimal>,
    /// The numbers of the column, each as the nearest double-precision number.
    pub(crate) doubles: Vec<f64>,
}

/// Returns the position of the column `name` in the table.
pub(crate) fn position(table: &Table, name: &str, option: &str) -> Result<usize, CliError> {
    if let Some(index) = table.names.iter().position(|other| other == name) {
        return Ok(index);
    }
    let advice = match closest(&table.names, name) {
        Some(near) => format!("did you mean {}?", quoted(near)),
        None => format!("the columns are {}", listed(&table.names, 8)),
    };
    Err(CliError::input(format!("{option}: there is no column {}; {advice}", quoted(name))))
}

/// Returns the columns of the given names, in their order.
pub(crate) fn named(table: &Table, names: &[String]) -> Result<Vec<NumberColumn>, CliError> {
    check_count(names.len())?;
    for (index, name) in names.iter().enumerate() {
        if names.iter().take(index).any(|other| other == name) {
            return Err(CliError::input(format!("--columns names {} twice: name it once", quoted(name))));
        }
    }
    names.iter().map(|name| numbers(table, position(table, name, "--columns")?)).collect()
}

/// Returns every column with at least one number in it, except the one at `except`. A column of numbers with
/// a cell that is none is an error, not a column of text: dropping it would hide the slip.
pub(crate) fn numeric(table: &Table, except: Option<usize>) -> Result<Vec<NumberColumn>, CliError> {
    let has_number = |index: usize| table.column(index).any(|(_, cell)| is_number_like(cell));
    let chosen: Vec<usize> =
        (0..table.names.len()).filter(|index| Some(*index) != except && has_number(*index)).collect();
    if chosen.is_empty() {
        return Err(match first_cell(table, except) {
            Some((line, name, cell)) => CliError::input(format!(
                "no column holds numbers: line {line}, column {}, for example, holds {}; expected decimal numbers",
                quoted(name),
                quoted(cell)
            )),
            None => {
                CliError::input("no column is left beside the one to group by: expected a column of numbers")
            }
        });
    }
    check_count(chosen.len())?;
    chosen.into_iter().map(|index| numbers(table, index)).collect()
}

/// Whether a cell of a table is a number, or was surely meant as one.
fn is_number_like(cell: &str) -> bool {
    matches!(Decimal::parse(cell), Ok(_) | Err(NotDecimal::NotFinite | NotDecimal::TooLong))
}

fn first_cell(table: &Table, except: Option<usize>) -> Option<(u64, &str, &str)> {
    let index = (0..table.names.len()).find(|index| Some(*index) != except)?;
    let (line, cell) = table.column(index).next()?;
    Some((line, table.names.get(index)?, cell))
}

fn check_count(columns: usize) -> Result<(), CliError> {
    if columns <= MOST_COLUMNS {
        return Ok(());
    }
    Err(CliError::input(format!(
        "{columns} columns, at most {MOST_COLUMNS} are possible: choose some with --columns"
    )))
}

/// Returns the numbers of the column at `index`.
fn numbers(table: &Table, index: usize) -> Result<NumberColumn, CliError> {
    let name = table.names.get(index).cloned().unwrap_or_default();
    let mut numbers = Vec::with_capacity(table.rows.len());
    let mut doubles = Vec::with_capacity(table.rows.len());
    for (line, cell) in table.column(index) {
        numbers.push(Decimal::parse(cell).map_err(|why| refuse(why, line, &name, cell))?);
        doubles.push(cell.parse().unwrap_or(f64::NAN));
    }
    Ok(NumberColumn { name, numbers, doubles })
}

fn refuse(why: NotDecimal, line: u64, column: &str, cell: &str) -> CliError {
    let place = format!("line {line}, column {}", quoted(column));
    CliError::input(match why {
        NotDecimal::Empty => {
            format!(
                "{place}: the cell is empty, expected a decimal number; fill it in or leave the column out with --columns"
            )
        }
        NotDecimal::NotFinite => format!(
            "{place}: {} is not a finite number, expected a decimal number; remove the row or leave the column out with --columns",
            quoted(cell)
        ),
        NotDecimal::NotANumber | NotDecimal::NotACommaNumber => format!(
            "{place}: {} is not a number, expected a decimal number such as 17.99 or -2e-3; correct it or leave the column out with --columns",
            quoted(cell)
        ),
        NotDecimal::TooLong => format!(
            "{place}: {} is out of range, expected at most 37 significant digits and exponents within ±400; shorten it",
            quoted(cell)
        ),
    })
}

/// Returns the column name nearest to `wanted`, if one is near.
fn closest<'a>(names: &'a [String], wanted: &str) -> Option<&'a String> {
    let wanted = wanted.to_lowercase();
    let nearest =
        names.iter().map(|name| (distance(&name.to_lowercase(), &wanted), name)).min_by_key(|near| near.0)?;
    let allowed = (wanted.chars().count() / 3).clamp(1, 4);
    (nearest.0 <= allowed).then_some(nearest.1)
}

/// Returns the edit distance of two words: insertions, deletions and replacements of letters.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = i;
        let mut left = i + 1;
        let mut next = vec![left];
        for (above, y) in row.iter().skip(1).zip(&b) {
            left = (above + 1).min(left + 1).min(diagonal + usize::from(x != *y));
            diagonal = *above;
            next.push(left);
        }
        row = next;
    }
    row.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::csv::parse;

    fn table(text: &str) -> Table {
        parse(text.as_bytes(), "t.csv").unwrap()
    }

    #[test]
    fn the_distance_counts_edits() {
        for (a, b, edits) in [
            ("", "", 0),
            ("abc", "", 3),
            ("", "ab", 2),
            ("kitten", "sitting", 3),
            ("a", "a", 0),
            ("ab", "ba", 2),
        ] {
            assert_eq!(distance(a, b), edits, "{a} {b}");
            assert_eq!(distance(b, a), edits);
        }
    }

    #[test]
    fn a_missing_column_is_answered_with_the_closest() {
        let table = table("mean_radius,mean_area\n1,2\n");
        let error = named(&table, &["mean_raduis".to_owned()]).unwrap_err().to_string();
        assert!(error.contains("did you mean \"mean_radius\"?"), "{error}");
        let error = named(&table, &["age".to_owned()]).unwrap_err().to_string();
        assert!(error.contains("the columns are mean_radius, mean_area"), "{error}");
        let twice = ["mean_area".to_owned(), "mean_area".to_owned()];
        assert!(named(&table, &twice).unwrap_err().to_string().contains("twice"));
    }

    #[test]
    fn text_is_left_out_but_a_slip_in_a_column_of_numbers_is_named() {
        let ok = table("name,x,y\nann,1,2\nbob,3,4\n");
        let names = |columns: Vec<NumberColumn>| columns.into_iter().map(|c| c.name).collect::<Vec<_>>();
        assert_eq!(names(numeric(&ok, None).unwrap()), ["x", "y"]);
        assert_eq!(names(numeric(&ok, Some(1)).unwrap()), ["y"]);
        for (cell, word) in
            [("3o", "not a number"), ("", "empty"), ("NaN", "finite"), ("1e999", "out of range")]
        {
            let error = numeric(&table(&format!("x,y\n1,2\n3,{cell}\n")), None).unwrap_err().to_string();
            assert!(error.contains("line 3, column \"y\"") && error.contains(word), "{error}");
        }
        let error = numeric(&table("x\nabc\n"), None).unwrap_err().to_string();
        assert!(error.contains("line 2, column \"x\""), "{error}");
    }

    #[test]
    fn doubles_are_the_nearest() {
        let columns = numeric(&table("x\n0.1\n+2e3\n.5\n5.\n"), None).unwrap();
        assert_eq!(columns[0].doubles, [0.1, 2000.0, 0.5, 5.0]);
    }
}
