//! Entries of a matrix before they are cut into digits.

/// The entries of a matrix: signed integers, or residues nearest to 0.
pub(super) enum Entries<'a> {
    /// Integers, row after row.
    Integers { columns: usize, entries: &'a [i64] },
    /// Residues modulo q, column by column, all columns of one length.
    Residues { q: u64, columns: &'a [&'a [u64]] },
}

impl Entries<'_> {
    /// Number of rows of the matrix.
    pub(super) fn rows(&self) -> usize {
        match self {
            Self::Integers { columns, entries } => entries.len() / (*columns).max(1),
            Self::Residues { columns, .. } => columns.first().map_or(0, |column| column.len()),
        }
    }

    /// Number of columns of the matrix.
    pub(super) fn columns(&self) -> usize {
        match self {
            Self::Integers { columns, .. } => *columns,
            Self::Residues { columns, .. } => columns.len(),
        }
    }

    /// Number of bits beside the sign that every entry has room in.
    pub(super) fn bits(&self) -> u32 {
        match self {
            Self::Integers { entries, .. } => {
                let bits = |&entry: &i64| 64 - (entry ^ (entry >> 63)).leading_zeros();
                entries.iter().map(bits).max().unwrap_or(0)
            }
            // Residues nearest to 0 are at most q/2 in size.
            Self::Residues { q, .. } => 64 - (q / 2).leading_zeros(),
        }
    }

    /// Gives (row, first column, entries) for runs of at most `length` columns, at most 64, of every row.
    pub(super) fn for_each_run(&self, length: usize, mut with: impl FnMut(usize, usize, &[i64])) {
        match self {
            Self::Integers { columns, entries } => {
                for (i, row) in entries.chunks_exact((*columns).max(1)).enumerate() {
                    row.chunks(length).enumerate().for_each(|(j, run)| with(i, j * length, run));
                }
            }
            Self::Residues { q, columns } => {
                for (j, columns) in columns.chunks(length).enumerate() {
                    let mut run = [0; 64];
                    for i in 0..self.rows() {
                        for (entry, column) in run.iter_mut().zip(columns) {
                            let word = column.get(i).copied().unwrap_or_default();
                            *entry = word.wrapping_sub(if word > q / 2 { *q } else { 0 }) as i64;
                        }
                        with(i, j * length, run.get(..columns.len()).unwrap_or_default());
                    }
                }
            }
        }
    }
}
