//! Layout of a table in slots: where its cells stand, and where their sums appear.
//!
//! The 2 × n/2 slots are cut into units, a unit into one segment for each group (their number
//! rounded up to a power of two), and a segment holds consecutive rows of its group, padded with
//! zeros. A *packed* input holds a different column in each unit; a *repeated* input holds one
//! column in every unit, so that packed × repeated multiplies it with as many columns as there
//! are units. A last packed column of ones, where there are rows, gives the counts. Groups longer
//! than a segment span several chunks.

use std::collections::BTreeSet;

use super::StatisticsError;

/// Size of a table for statistics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Number of columns of numbers.
    pub columns: usize,
    /// Number of groups of rows.
    pub groups: usize,
    /// Number of rows of the largest group.
    pub longest_group: usize,
}

/// Kind of one ciphertext of a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Input {
    /// Packed block `b`: columns b·u, b·u + 1, … for u units, each in its unit.
    Packed(usize),
    /// Repeated column: one column in every unit.
    Repeated(usize),
}

/// One product of ciphertexts: a packed block times a repeated column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Product {
    /// Index of the packed block.
    pub block: usize,
    /// Index of the repeated column.
    pub column: usize,
}

/// Layout of a table of known shape in a ring of known degree.
///
/// ```
/// use sunzi_circuits::statistics::{Input, Layout, Shape};
///
/// let shape = Shape { columns: 3, groups: 2, longest_group: 40 };
/// let layout = Layout::new(shape, 128, 16)?;
/// assert_eq!((layout.chunks(), layout.units()), (3, 4));
/// // Cell (column, group, row) is 100·column + 10·group + row.
/// let slots = layout.place(Input::Packed(0), 0, 1, |column, group, row| {
///     (row < 5).then_some(100 * column + 10 * group + row)
/// });
/// assert_eq!(slots[layout.slot(2, 1) + 3], 213);
/// assert_eq!(slots[layout.slot(3, 0) + 4], 1, "the column of ones");
/// # Ok::<(), sunzi_circuits::statistics::StatisticsError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    shape: Shape,
    degree: usize,
    segment: usize,
    group_segments: usize,
    chunks: usize,
    /// Products of the layout, ascending by column, then by block.
    products: Vec<Product>,
    /// Columns of the layout's products, ascending.
    repeated: Vec<usize>,
}

impl Layout {
    /// Makes the layout with segments of `segment` slots in a ring of degree `degree`, both powers of two.
    ///
    /// # Errors
    /// [`StatisticsError::EmptyTable`]; [`StatisticsError::LayoutTooLarge`] if the segments of all
    /// groups exceed a row of `degree`/2 slots.
    pub fn new(shape: Shape, degree: usize, segment: usize) -> Result<Self, StatisticsError> {
        let mut layout = Self::without_products(shape, degree, segment)?;
        let blocks = |column| (0..=layout.block(column)).map(move |block| Product { block, column });
        layout.products = (0..shape.columns).flat_map(blocks).collect();
        layout.repeated = (0..shape.columns).collect();
        Ok(layout)
    }

    fn without_products(shape: Shape, degree: usize, segment: usize) -> Result<Self, StatisticsError> {
        let Shape { columns, groups, longest_group } = shape;
        if columns == 0 || groups == 0 || longest_group == 0 {
            return Err(StatisticsError::EmptyTable { columns, groups, rows: longest_group });
        }
        let row = degree / 2;
        let group_segments = groups.checked_next_power_of_two().unwrap_or(usize::MAX);
        let unit = segment.checked_mul(group_segments).filter(|unit| *unit <= row);
        if unit.is_none() || !segment.is_power_of_two() || !degree.is_power_of_two() {
            return Err(StatisticsError::LayoutTooLarge { groups: group_segments, segment, row });
        }
        let chunks = longest_group.div_ceil(segment);
        let (products, repeated) = (Vec::new(), Vec::new());
        Ok(Self { shape, degree, segment, group_segments, chunks, products, repeated })
    }

    /// The layout with segments of `segment` slots that has no products but those that hold one of these pairs x ≤ y of columns.
    ///
    /// # Errors
    /// Every error of [`new`](Self::new).
    pub fn for_pairs(
        shape: Shape,
        degree: usize,
        segment: usize,
        pairs: &BTreeSet<(usize, usize)>,
    ) -> Result<Self, StatisticsError> {
        let mut layout = Self::without_products(shape, degree, segment)?;
        let in_shape = pairs.iter().filter(|(x, y)| x <= y && *y < shape.columns);
        let needed: BTreeSet<(usize, usize)> = in_shape.map(|&(x, y)| (y, layout.block(x))).collect();
        layout.products = needed.into_iter().map(|(column, block)| Product { block, column }).collect();
        layout.repeated = layout.products.iter().map(|product| product.column).collect();
        layout.repeated.dedup();
        Ok(layout)
    }

    /// Returns the cheapest layout in a ring of degree `degree` with `limbs` moduli.
    ///
    /// # Errors
    /// Every error of [`new`](Self::new), if not even segments of one slot fit.
    pub fn cheapest(shape: Shape, degree: usize, limbs: usize) -> Result<Self, StatisticsError> {
        let pairs = (0..shape.columns).flat_map(|y| (0..=y).map(move |x| (x, y))).collect();
        Self::cheapest_for(shape, degree, limbs, &pairs)
    }

    /// Returns the cheapest layout for these pairs x ≤ y of columns, as [`for_pairs`](Self::for_pairs)
    /// leaves them.
    ///
    /// # Errors
    /// Every error of [`cheapest`](Self::cheapest).
    pub fn cheapest_for(
        shape: Shape,
        degree: usize,
        limbs: usize,
        pairs: &BTreeSet<(usize, usize)>,
    ) -> Result<Self, StatisticsError> {
        let mut best = Self::for_pairs(shape, degree, 1, pairs)?;
        let mut segment = 1;
        while segment < shape.longest_group {
            segment *= 2;
            let Ok(next) = Self::for_pairs(shape, degree, segment, pairs) else { break };
            if next.cost(limbs) < best.cost(limbs) {
                best = next;
            }
        }
        Ok(best)
    }

    /// Shape of the table that is laid out.
    #[must_use]
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// Ring degree n of the layout.
    #[must_use]
    pub fn degree(&self) -> usize {
        self.degree
    }

    /// Number of slots of one segment: rows of one group in one chunk.
    #[must_use]
    pub fn segment(&self) -> usize {
        self.segment
    }

    /// Number of slots of one unit: a segment for each group.
    #[must_use]
    pub fn unit(&self) -> usize {
        self.segment * self.group_segments
    }

    /// Number of units of a ciphertext: the columns that one packed input holds.
    #[must_use]
    pub fn units(&self) -> usize {
        self.degree / self.unit()
    }

    /// Number of chunks that the rows are cut into.
    #[must_use]
    pub fn chunks(&self) -> usize {
        self.chunks
    }

    /// Number of packed inputs of a chunk; the column of ones follows the table's columns.
    #[must_use]
    pub fn packed(&self) -> usize {
        (self.shape.columns + 1).div_ceil(self.units())
    }

    /// Number of repeated inputs of a chunk: one for each of [`repeated_columns`](Self::repeated_columns).
    #[must_use]
    pub fn repeated(&self) -> usize {
        self.repeated.len()
    }

    /// Columns of the repeated inputs, ascending: all of them unless the layout is
    /// [`for_pairs`](Self::for_pairs).
    #[must_use]
    pub fn repeated_columns(&self) -> &[usize] {
        &self.repeated
    }

    /// All inputs of a chunk in their order: packed blocks, then repeated columns.
    pub fn inputs(&self) -> impl Iterator<Item = Input> {
        let repeated = self.repeated.iter().copied().map(Input::Repeated);
        (0..self.packed()).map(Input::Packed).chain(repeated)
    }

    /// All products, by repeated column: together they hold every pair x ≤ y of columns that is asked for.
    #[must_use]
    pub fn products(&self) -> &[Product] {
        &self.products
    }

    /// log2 of the unit in slots: how often a sum is rotated and added to itself.
    #[must_use]
    pub fn rotations(&self) -> u32 {
        self.unit().ilog2()
    }

    /// Returns the slots of one input of one chunk. `cell` gives the number at (column, group, row within the
    /// group), or none where the group has no such row; `one` is the number 1.
    #[must_use]
    pub fn place<V: Clone + Default>(
        &self,
        input: Input,
        chunk: usize,
        one: V,
        cell: impl Fn(usize, usize, usize) -> Option<V>,
    ) -> Vec<V> {
        let mut slots = vec![V::default(); self.degree];
        for (index, slot) in slots.iter_mut().enumerate() {
            let (unit, within) = (index / self.unit(), index % self.unit());
            let (group, row) = (within / self.segment, within % self.segment);
            let row = chunk * self.segment + row;
            if group >= self.shape.groups {
                continue;
            }
            let column = match input {
                Input::Packed(block) => block * self.units() + unit,
                Input::Repeated(column) => column,
            };
            let value = if column < self.shape.columns {
                cell(column, group, row)
            } else if column == self.shape.columns {
                cell(0, group, row).map(|_| one.clone())
            } else {
                None
            };
            if let Some(value) = value {
                *slot = value;
            }
        }
        slots
    }

    /// Returns the slot that holds a column's sum over a group; group 0 of the total holds the sum over all.
    #[must_use]
    pub fn slot(&self, column: usize, group: usize) -> usize {
        column % self.units() * self.unit() + group * self.segment
    }

    /// Returns the index of the column of ones, whose sums are the counts.
    #[must_use]
    pub fn ones(&self) -> usize {
        self.shape.columns
    }

    /// Returns the index of the packed block that holds a column.
    #[must_use]
    pub fn block(&self, column: usize) -> usize {
        column / self.units()
    }

    /// Returns the index in [`products`](Self::products) of the product that holds x·y, and the column whose
    /// [`slot`](Self::slot) to read. The index is behind the last product if none holds x·y.
    #[must_use]
    pub fn pair(&self, x: usize, y: usize) -> (usize, usize) {
        let (low, column) = (x.min(y), x.max(y));
        let wanted = (column, self.block(low));
        let index = self.products.binary_search_by_key(&wanted, |product| (product.column, product.block));
        (index.unwrap_or(self.products.len()), low)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layouts() -> impl Iterator<Item = Layout> {
        let shapes = [(1, 1, 1), (1, 1, 100), (2, 3, 7), (5, 2, 9), (30, 2, 357), (7, 5, 64), (9, 64, 3)];
        shapes.into_iter().flat_map(|(columns, groups, longest_group)| {
            let shape = Shape { columns, groups, longest_group };
            (0..9).filter_map(move |log| Layout::new(shape, 256, 1 << log).ok())
        })
    }

    #[test]
    fn every_pair_has_one_product_at_the_place_named() {
        let mut seen = 0;
        for layout in layouts() {
            let products = layout.products();
            for y in 0..layout.shape().columns {
                for x in 0..=y {
                    let (index, column) = layout.pair(y, x);
                    assert_eq!((index, column), layout.pair(x, y));
                    assert_eq!(products[index], Product { block: layout.block(x), column: y }, "{layout:?}");
                    assert_eq!(column, x);
                    seen += 1;
                }
            }
        }
        assert!(seen > 1000);
    }

    #[test]
    fn every_cell_stands_once_in_packed_inputs_and_once_a_unit_in_repeated_ones() {
        for layout in layouts() {
            let Shape { columns, groups, longest_group } = layout.shape();
            // Group g has g fewer rows than the longest.
            let rows = |group: usize| longest_group.saturating_sub(group);
            let cell =
                |c: usize, g: usize, r: usize| (r < rows(g)).then_some(1 + c * 1_000_000 + g * 10_000 + r);
            let mut packed = Vec::new();
            let mut ones = 0;
            for chunk in 0..layout.chunks() {
                for block in 0..layout.packed() {
                    let slots = layout.place(Input::Packed(block), chunk, usize::MAX, cell);
                    assert_eq!(slots.len(), layout.degree());
                    ones += slots.iter().filter(|&&v| v == usize::MAX).count();
                    packed.extend(slots.into_iter().filter(|&v| v != 0 && v != usize::MAX));
                }
            }
            let all: usize = (0..groups).map(rows).sum();
            assert_eq!(ones, all);
            packed.sort_unstable();
            packed.dedup();
            assert_eq!(packed.len(), all * columns, "{layout:?}");
            let first: usize = (0..layout.chunks())
                .map(|chunk| {
                    layout
                        .place(Input::Repeated(columns - 1), chunk, 0, cell)
                        .iter()
                        .filter(|v| **v != 0)
                        .count()
                })
                .sum();
            assert_eq!(first, all * layout.units());
        }
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let shape = |columns, groups, longest_group| Shape { columns, groups, longest_group };
        for empty in [shape(0, 1, 1), shape(1, 0, 1), shape(1, 1, 0)] {
            assert!(matches!(Layout::new(empty, 256, 1), Err(StatisticsError::EmptyTable { .. })));
        }
        for (groups, segment) in
            [(129, 1), (2, 128), (1, 256), (1, 3), (usize::MAX, 1), (1, 0), (3, usize::MAX)]
        {
            let error = Layout::new(shape(1, groups, 1), 256, segment).unwrap_err();
            assert!(matches!(error, StatisticsError::LayoutTooLarge { row: 128, .. }), "{groups} {segment}");
        }
        assert!(Layout::new(shape(1, 128, 1), 256, 1).is_ok());
        assert!(Layout::cheapest(shape(1, 129, 1), 256, 3).is_err());
    }
}
