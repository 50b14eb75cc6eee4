//! Tables of the user's own, which are looked up row by row.

use std::collections::BTreeMap;
use std::ops::Range;

use super::compile::{Compiler, Value, wrong};
use super::error::Wrong;
use super::syntax::{Kind, Tree};
use crate::Decimal;
use crate::graph::MAX_ENTRIES;

impl Compiler<'_> {
    /// Returns the entries of a file's table for a column, row by row.
    pub(super) fn lookup(
        &mut self,
        x: &Tree,
        file: &Tree,
        default: Option<&Tree>,
        span: &Range<usize>,
    ) -> Result<Value, Wrong> {
        let own = self.argument(x)?;
        let of = self.filled(&own).map_err(|error| wrong(span, &error))?;
        let Kind::Text(path) = &file.kind else {
            return Err(Wrong::at(&file.span, "expected the name of a file between quotation marks"));
        };
        let default = default.map(|tree| self.constant(tree)).transpose()?;
        let Some(grid) = self.facts(of).and_then(|facts| facts.grid) else {
            let message =
                "a table is looked up by whole or decimal numbers: declare the decimals of real columns";
            return Err(Wrong::at(&x.span, message));
        };
        let (low, high) = (grid.low.min(grid.padding), grid.high.max(grid.padding));
        let first = i64::try_from(low).ok().filter(|_| high - low < MAX_ENTRIES as i128);
        let Some(first) = first else {
            let message = format!(
                "a table is looked up for at most {MAX_ENTRIES} different numbers, and here are {}",
                (high - low).saturating_add(1)
            );
            let help = "declare a narrower range or fewer decimals of the column";
            return Err(Wrong::at(&x.span, message).with_help(help));
        };
        let bad = |message: String| {
            let help = "a table has a line for each number, as in 18,0.5: the number, and what stands for it";
            Wrong::at(&file.span, format!("{path}: {message}")).with_help(help)
        };
        let text = (self.files)(path).map_err(|message| Wrong::at(&file.span, message))?;
        let entries = read(&text, grid.decimals).map_err(bad)?;
        let value = |units: i128| {
            entries.get(&units).copied().or(default).ok_or_else(|| {
                let number = Decimal::new(units, grid.decimals).map_or_else(String::new, |n| n.to_string());
                let help = format!("add a line for it, or a number for all others: lookup(…, {path:?}, 0)");
                let message = format!("{path} has no line for {number}, which is in the range of the column");
                Wrong::at(&file.span, message).with_help(help)
            })
        };
        let values = (low..=high).map(value).collect::<Result<Vec<Decimal>, Wrong>>()?;
        let node = self.graph.look_up(of, first, &values);
        node.map(|id| Value::Rows(own.at(id))).map_err(|error| wrong(span, &error))
    }
}

/// Reads the lines of a table: two numbers each, with a comma, semicolon or tab between them; the first line may have names instead. Numbers that are looked up
/// become units of so many decimals; those that are none are left out, since no row has them.
fn read(text: &str, decimals: u32) -> Result<BTreeMap<i128, Decimal>, String> {
    let mut entries = BTreeMap::new();
    let lines = text.trim_start_matches('\u{feff}').lines().map(str::trim);
    for (at, line) in (1_usize..).zip(lines).filter(|(_, line)| !line.is_empty()) {
        let fields: Vec<&str> =
            line.split([',', ';', '\t']).map(|field| field.trim().trim_matches('"')).collect();
        let [key, value] = fields.as_slice() else {
            return Err(format!("line {at} has {} fields, and should have two", fields.len()));
        };
        let (Ok(key), Ok(value)) = (key.parse::<Decimal>(), value.parse::<Decimal>()) else {
            if at == 1 {
                continue;
            }
            return Err(format!("line {at} is {line:?}, and should be two numbers"));
        };
        let Some(units) = key.scaled(decimals) else { continue };
        if entries.insert(units, value).is_some() {
            return Err(format!("line {at} is a second one for {key}"));
        }
    }
    if entries.is_empty() { Err("it has no lines with two numbers".to_owned()) } else { Ok(entries) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_read_line_by_line() {
        let d = |text: &str| text.parse::<Decimal>().unwrap();
        let read_one = |text: &str| read(text, 1);
        let found = read_one("age,rate\n18,0.5\r\n\n 19.5 ; -2\n\"20\"\t\"3\"\n0.25,9\n").unwrap();
        assert_eq!(found, BTreeMap::from([(180, d("0.5")), (195, d("-2")), (200, d("3"))]));
        for (text, said) in [
            ("", "no lines"),
            ("age,rate", "no lines"),
            ("1,2\n1.0,3", "line 2 is a second one"),
            ("1,2\nx,3", "line 2 is \"x,3\""),
            ("1,2,3", "line 1 has 3 fields"),
        ] {
            let told = read_one(text).unwrap_err();
            assert!(told.contains(said), "{told}");
        }
    }
}
