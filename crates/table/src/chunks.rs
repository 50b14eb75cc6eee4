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
    partition: Option<usize>,
    /// Rows of the next chunk; with a partition, of the next chunk of each label.
    waiting: Vec<Waiting>,
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
        Self { rows, schema, sources, selected, fits, span, partition, waiting, done: 0, ended: false }
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
        if !self.selected {
            self.rows.select(&self.sources)?;
            self.selected = true;
        }
        while !self.ended {
            let (more, expected) = (self.rows.advance()?, self.schema.rows);
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
            None => Ok(None),
        }
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
        Ok((waiting.count == self.span).then_some(at))
    }

    /// Takes the waiting rows of a label by its index.
    fn give(&mut self, at: usize) -> Result<Table, TableError> {
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
