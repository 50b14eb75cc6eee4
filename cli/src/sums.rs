//! Counts, sums and sums of products: integers, or the nodes of a program that stand for them.

/// Sums over the columns for one set of rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sums<T> {
    /// Number of rows of the set.
    pub(crate) count: T,
    /// Sum Σx of each column over the rows.
    pub(crate) sums: Vec<T>,
    /// Sum of products Σxy for each pair x ≤ y of columns, at [`pair_index`].
    pub(crate) products: Vec<T>,
}

/// Sums over the columns for each group and for all rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TableSums<T> {
    /// Sums over the rows of each group.
    pub(crate) groups: Vec<Sums<T>>,
    /// Sums over all rows of the table.
    pub(crate) total: Sums<T>,
}

/// Returns the index of a pair of columns in [`Sums::products`].
pub(crate) fn pair_index(x: usize, y: usize) -> usize {
    let (low, high) = (x.min(y), x.max(y));
    high * (high + 1) / 2 + low
}

/// Yields all pairs x ≤ y of columns, in the order of [`pair_index`].
pub(crate) fn pairs(columns: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..columns).flat_map(|y| (0..=y).map(move |x| (x, y)))
}

impl<T> Sums<T> {
    /// Returns the sum of products Σxy, if there are such columns.
    pub(crate) fn product(&self, x: usize, y: usize) -> Option<&T> {
        self.products.get(pair_index(x, y))
    }
}

impl<T> Sums<T> {
    /// Yields every sum of the set, the count first.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        std::iter::once(&self.count).chain(&self.sums).chain(&self.products)
    }

    /// Applies `f` to every sum of the set.
    pub(crate) fn map<U, E>(&self, f: impl Fn(&T) -> Result<U, E>) -> Result<Sums<U>, E> {
        Ok(Sums {
            count: f(&self.count)?,
            sums: self.sums.iter().map(&f).collect::<Result<_, E>>()?,
            products: self.products.iter().map(&f).collect::<Result<_, E>>()?,
        })
    }
}

impl<T> TableSums<T> {
    /// Yields the sums over all rows, then over each group, with their names.
    pub(crate) fn named<'a>(&'a self, groups: &'a [String]) -> impl Iterator<Item = (&'a str, &'a Sums<T>)> {
        std::iter::once(("total", &self.total)).chain(groups.iter().map(String::as_str).zip(&self.groups))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_come_in_the_order_of_their_index() {
        for (index, (x, y)) in pairs(12).enumerate() {
            assert_eq!(pair_index(x, y), index);
            assert_eq!(pair_index(y, x), index);
        }
        assert_eq!(pairs(30).count(), 465);
    }
}
