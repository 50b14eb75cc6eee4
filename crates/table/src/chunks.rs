//! Rows of a table as cells of its schema, a chunk at a time.

use std::sync::Arc;

use sunzi_program::Schema;
use sunzi_program::run::{Cells, Table};
use sunzi_program::schema::Kind;

use crate::fit::{Fit, Fitted};
use crate::{Rows, Surveyed, TableError};

/// Rows of a table as cells of its schema, a chunk at a time: only these are in memory.
pub struct Chunks {
    rows: Box<dyn Rows>,
    schema: Arc<Schema>,
    sources: Vec<usize>,
    /// Whether the columns to read were selected.
    selected: bool,
    fits: Vec<Fit>,
    span: usize,
    /// Number of rows of other parties that stand before those of the next chunk in it.
    before: usize,
    /// Number of chunks with rows of other parties alone that come first, and last.
    empty: [u64; 2],
    partition: Option<usize>,
    /// Rows of the next chunk; with a partition, of the next chunk of each label.
    waiting: Vec<Waiting>,
    /// Number of rows that the table has.
    own: u64,
    done: u64,
    ended: bool,
}

/// Rows of a table that wait until a chunk is full.
#[derive(Default)]
struct Waiting {
    cells: Vec<Cells>,
    count: usize,
}

impl Chunks {
    /// Reads a surveyed table, `span` rows at a time, at least one.
    #[must_use]
    pub fn new(rows: Box<dyn Rows>, surveyed: &Surveyed, span: usize) -> Self {
        let fits = surveyed.schema.columns.iter().map(|column| Fit::new(column, &surveyed.reading)).collect();
        let (schema, sources) = (Arc::new(surveyed.schema.clone()), surveyed.sources.clone());
        let waiting = vec![Waiting::default()];
        let (span, partition, selected) = (span.max(1), None, false);
        Self {
            rows,
            schema,
            sources,
            selected,
            fits,
            span,
            before: 0,
            empty: [0; 2],
            partition,
            waiting,
            own: surveyed.schema.rows,
            done: 0,
            ended: false,
        }
    }

    /// Takes the rows of the table for those from `first` on of a table of `all` rows, whose other rows other parties have: chunks are those of the
    /// whole table, each with its own rows alone, which may be none.
    ///
    /// # Errors
    /// [`TableError::Mismatch`] for more rows than are left.
    pub fn part_of(self, all: u64, first: u64) -> Result<Self, TableError> {
        let rows = self.schema.rows;
        if first.checked_add(rows).is_none_or(|end| end > all) {
            let expected = format!("at most {} from row {first} on", all.saturating_sub(first));
            return Err(TableError::mismatch("rows of a part", expected, rows));
        }
        let span = self.span as u64;
        let (before, schema) = ((first % span) as usize, Schema { rows: all, ..(*self.schema).clone() });
        let empty = [first / span, all.div_ceil(span) - (first + rows).div_ceil(span)];
        Ok(Self { own: rows, before, empty, schema: Arc::new(schema), ..self })
    }

    /// Partitions the chunks: all rows of a chunk have one label of a category. As many rows as labels times `span` may be in memory.
    ///
    /// # Errors
    /// [`TableError::Column`] for a column that does not exist, is encrypted, or is no category.
    pub fn partitioned(self, column: &str) -> Result<Self, TableError> {
        let at = self.schema.position(column);
        let kind = at.and_then(|at| self.schema.columns.get(at)).filter(|column| !column.encrypted);
        let Some(Kind::Category { labels }) = kind.map(|column| &column.kind) else {
            return Err(TableError::column(column, "rows are partitioned by a clear category only"));
        };
        if at.and_then(|at| self.schema.columns.get(at)).is_some_and(|column| column.missing) {
            let problem = "may have missing cells, and rows are partitioned by labels: fill them in with --missing LABEL";
            return Err(TableError::column(column, problem));
        }
        let waiting = labels.iter().map(|_| Waiting::default()).collect();
        Ok(Self { partition: at, waiting, ..self })
    }

    /// Returns the next rows of the table: `span` of them, fewer at the end, then `None`.
    ///
    /// # Errors
    /// [`TableError::Cell`]; [`TableError::Changed`] if the table no longer has the number of rows that it had; every error of [`Rows`].
    pub fn next_chunk(&mut self) -> Result<Option<Table>, TableError> {
        if self.take_empty(0) {
            return self.without_rows().map(Some);
        }
        if !self.selected {
            self.rows.select(&self.sources)?;
            self.selected = true;
        }
        while !self.ended {
            let (more, expected) = (self.rows.advance()?, self.own);
            self.done += u64::from(more);
            if self.done > expected || (!more && self.done < expected) {
                return Err(TableError::Changed { expected, got: self.done });
            }
            self.ended = !more;
            if more && let Some(at) = self.take_row()? {
                return self.give(at).map(Some);
            }
        }
        match self.waiting.iter().position(|waiting| waiting.count > 0) {
            Some(at) => self.give(at).map(Some),
            None if self.take_empty(1) => self.without_rows().map(Some),
            None => Ok(None),
        }
    }

    /// Takes one of the chunks without own rows that come first (0) or last (1), if one is left.
    fn take_empty(&mut self, end: usize) -> bool {
        let left = self.empty.get_mut(end).filter(|left| **left > 0);
        left.map(|left| *left -= 1).is_some()
    }

    fn without_rows(&self) -> Result<Table, TableError> {
        let cells = self.schema.columns.iter().map(|column| empty(&column.kind)).collect();
        Ok(Table::chunk_of(Arc::clone(&self.schema), 0, cells)?)
    }

    /// Adds a row to the waiting rows of its label; returns their index if they now fill a chunk.
    fn take_row(&mut self) -> Result<Option<usize>, TableError> {
        let cells = self.fits.iter().zip(&self.sources);
        let fit = |(fit, &source): (&Fit, &usize)| fit.fit(&self.rows.cell(source), || self.rows.place());
        let row: Vec<Fitted> = cells.map(fit).collect::<Result<_, _>>()?;
        let at = match self.partition.and_then(|column| row.get(column)) {
            Some(Fitted::Label(label)) => *label as usize,
            _ => 0,
        };
        let Some(waiting) = self.waiting.get_mut(at) else { return Ok(None) };
        if waiting.cells.is_empty() {
            waiting.cells = self.schema.columns.iter().map(|column| empty(&column.kind)).collect();
        }
        waiting.cells.iter_mut().zip(row).for_each(|(cells, fitted)| push(cells, fitted));
        waiting.count += 1;
        Ok((waiting.count + self.before == self.span).then_some(at))
    }

    /// Takes the waiting rows of a label by its index.
    fn give(&mut self, at: usize) -> Result<Table, TableError> {
        self.before = 0;
        let Waiting { cells, count } = self.waiting.get_mut(at).map(std::mem::take).unwrap_or_default();
        Ok(Table::chunk_of(Arc::clone(&self.schema), count as u64, cells)?)
    }
}

fn empty(kind: &Kind) -> Cells {
    match kind {
        Kind::Decimal { .. } => Cells::Units(Vec::new()),
        Kind::Real { .. } => Cells::Reals(Vec::new()),
        Kind::Category { .. } => Cells::Labels(Vec::new()),
    }
}

fn push(cells: &mut Cells, fitted: Fitted) {
    match (cells, fitted) {
        (Cells::Units(all), Fitted::Unit(v)) => all.push(v),
        (Cells::Reals(all), Fitted::Real(v)) => all.push(v),
        (Cells::Labels(all), Fitted::Label(v)) => all.push(v),
        // Other pairs do not occur: a column has one kind of cells.
        _ => {}
    }
}
