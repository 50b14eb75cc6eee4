//! Groups of rows by the value of one column.

use std::collections::BTreeMap;

use super::Table;
use crate::error::{CliError, listed};

/// Largest number of groups that are taken: more are surely a mistake, a column of identifiers, say.
pub(crate) const MOST_GROUPS: usize = 64;
/// Name of the one group of a table that is not grouped.
const ALL: &str = "all";

/// A partition of the rows of a table into groups.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Groups {
    /// Names of the groups, ascending.
    pub(crate) names: Vec<String>,
    /// Indices of the rows of each group, in the table's order.
    pub(crate) rows: Vec<Vec<usize>>,
}

impl Groups {
    /// Puts all rows of a table in one group.
    pub(crate) fn whole(rows: usize) -> Self {
        Self { names: vec![ALL.to_owned()], rows: vec![(0..rows).collect()] }
    }

    /// Groups the rows of a table with equal cells in the column at `index`.
    pub(crate) fn by_column(table: &Table, index: usize, name: &str) -> Result<Self, CliError> {
        let mut groups: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (row, (_, cell)) in table.column(index).enumerate() {
            groups.entry(cell).or_default().push(row);
        }
        if groups.len() > MOST_GROUPS {
            let names: Vec<&str> = groups.keys().copied().collect();
            return Err(CliError::input(format!(
                "--group-by {name} gives {} groups ({}), at most {MOST_GROUPS} are possible: choose another column",
                names.len(),
                listed(&names, 3)
            )));
        }
        let names =
            groups.keys().map(|name| if name.is_empty() { "(empty)" } else { name }.to_owned()).collect();
        Ok(Self { names, rows: groups.into_values().collect() })
    }

    /// Number of rows of the largest group.
    pub(crate) fn longest(&self) -> usize {
        self.rows.iter().map(Vec::len).max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::csv::parse;

    #[test]
    fn groups_are_sorted_and_cover_the_rows() {
        let table = parse(&b"g,x\nb,1\na,2\nb,3\n\"\",4\n"[..], "t.csv").unwrap();
        let groups = Groups::by_column(&table, 0, "g").unwrap();
        assert_eq!(groups.names, ["(empty)", "a", "b"]);
        assert_eq!(groups.rows, [vec![3], vec![1], vec![0, 2]]);
        assert_eq!(groups.longest(), 2);
        assert_eq!(Groups::whole(3).rows, [vec![0, 1, 2]]);
    }

    #[test]
    fn a_column_of_identifiers_is_refused() {
        let text: String = (0..65).map(|i| format!("{i},1\n")).collect();
        let table = parse(format!("id,x\n{text}").as_bytes(), "t.csv").unwrap();
        let error = Groups::by_column(&table, 0, "id").unwrap_err().to_string();
        assert!(error.contains("65 groups") && error.contains("at most 64"), "{error}");
    }
}
