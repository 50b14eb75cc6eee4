//! How many times as fast Sunzi is as each rival, from rows of results.

use crate::bench::report::Row;

/// Schemes in the order of the page, with their headings; transforms have no scheme.
pub(super) const SCHEMES: [(&str, &str); 4] =
    [("bfv", "BFV"), ("bgv", "BGV"), ("ckks", "CKKS"), ("ntt", "Transforms")];

/// Factor of one operation at one degree beside one rival.
#[derive(Clone, Debug)]
pub(super) struct Factor<'a> {
    /// Scheme of the operation, as [`SCHEMES`] has it.
    pub(super) scheme: &'a str,
    /// Name of the operation without its scheme.
    pub(super) operation: &'a str,
    /// Ring degree of the operation.
    pub(super) n: usize,
    /// Name and version of the rival.
    pub(super) rival: &'a str,
    /// Number of times that Sunzi is as fast as the rival: below 1 it is slower.
    pub(super) factor: f64,
}

impl Factor<'_> {
    /// The factor in a sentence.
    pub(super) fn told(&self) -> String {
        format!(
            "{}, n = 2^{}: {} times as fast as {}",
            words(self.operation),
            self.n.max(1).ilog2(),
            short(self.factor),
            self.rival
        )
    }
}

/// Returns the factor of each operation, degree and rival; of several ways to give a rival memory, that in which the rival is fastest.
pub(super) fn factors(rows: &[Row]) -> Vec<Factor<'_>> {
    let mut all: Vec<Factor<'_>> = Vec::new();
    for row in rows.iter().filter(|row| row.correct) {
        let (Some(ratio), Some(rival)) = (row.ratio.filter(|&ratio| ratio > 0.0), row.peer.as_deref()) else {
            continue;
        };
        let (scheme, operation) = row.name.split_once(' ').unwrap_or(("ntt", &row.name));
        let factor = 1.0 / ratio;
        let same = |other: &&mut Factor<'_>| {
            (other.scheme, other.operation, other.n, other.rival) == (scheme, operation, row.n, rival)
        };
        match all.iter_mut().find(same) {
            Some(other) => other.factor = other.factor.min(factor),
            None => all.push(Factor { scheme, operation, n: row.n, rival, factor }),
        }
    }
    all
}

/// Returns the factors beside the fastest rival of each operation and degree.
pub(super) fn beside_fastest<'a>(factors: &[Factor<'a>]) -> Vec<Factor<'a>> {
    let mut fastest: Vec<Factor<'a>> = Vec::new();
    for factor in factors {
        let at = |other: &Factor<'_>| (other.scheme.to_owned(), other.operation.to_owned(), other.n);
        match fastest.iter_mut().find(|other| at(other) == at(factor)) {
            Some(other) if factor.factor < other.factor => *other = factor.clone(),
            Some(_) => {}
            None => fastest.push(factor.clone()),
        }
    }
    fastest
}

/// Returns the different texts that `of` finds, in the order of the factors.
pub(super) fn names<'a>(factors: &[Factor<'a>], of: impl Fn(&Factor<'a>) -> &'a str) -> Vec<&'a str> {
    let mut names = Vec::new();
    for name in factors.iter().map(of) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// Name of an operation in words.
pub(super) fn words(operation: &str) -> String {
    operation.replace('_', " ")
}

/// A factor with two significant digits.
pub(super) fn short(factor: f64) -> String {
    match factor {
        small if small < 0.995 => format!("{small:.2}"),
        small if small < 9.95 => format!("{small:.1}"),
        large => format!("{large:.0}"),
    }
}

/// The least and the largest of some factors; none of none.
pub(super) fn range(factors: impl Iterator<Item = f64>) -> Option<[f64; 2]> {
    factors.fold(None, |range, factor| match range {
        None => Some([factor; 2]),
        Some([least, most]) => Some([factor.min(least), factor.max(most)]),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rival_counts_where_it_is_fastest() {
        let row = |peer: &str, memory: &str, ratio: f64, correct| Row {
            name: "bfv add".into(),
            n: 4096,
            peer: Some(peer.into()),
            memory: Some(memory.into()),
            ratio: Some(ratio),
            correct,
            ..Row::default()
        };
        let rows = [
            row("A", "stock", 0.25, true),
            row("A", "kept", 0.5, true),
            row("B", "stock", 2.0, true),
            row("C", "stock", 9.0, false),
        ];
        let all = factors(&rows);
        assert_eq!(
            all.iter().map(|one| (one.rival, one.factor)).collect::<Vec<_>>(),
            [("A", 2.0), ("B", 0.5)]
        );
        let fastest = beside_fastest(&all);
        assert_eq!(fastest.iter().map(|one| one.rival).collect::<Vec<_>>(), ["B"]);
        assert_eq!(fastest[0].told(), "add, n = 2^12: 0.50 times as fast as B");
        assert_eq!(
            ["0.99", "1.0", "9.9", "10", "123"],
            [0.99, 0.996, 9.94, 9.96, 123.4].map(short).as_slice()
        );
        assert_eq!(range([2.0, 0.5, 1.0].into_iter()), Some([0.5, 2.0]));
    }
}
