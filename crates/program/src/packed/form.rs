//! Form of a packed table, as its file states it: columns, products, and the layout of rows.

use std::collections::BTreeSet;

use sunzi_circuits::statistics::{Layout, Shape};

use super::{Packing, within};
use crate::analysis::Parameters;
use crate::schema::{Column, Kind, Schema};
use crate::{NodeId, Plan, Program, ProgramError};

/// Largest number of columns of a packed table.
const MOST_COLUMNS: usize = 4096;

/// Form of a packed table: its columns, its products, and the layout of rows. Only programs that sum these columns
/// and products run on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackedForm {
    /// Ring degree n of the ciphertexts of a packed table.
    pub degree: usize,
    /// Number of slots of a segment, which holds rows of one group in one chunk.
    pub segment: usize,
    /// Upper bound on the number of rows of the largest group.
    pub longest_group: u64,
    /// Largest magnitude of any count, sum and sum of products in units of the last decimal, where the owner promised
    /// one.
    pub largest: Option<u128>,
    /// Index of the category whose labels are the groups.
    pub group: Option<usize>,
    /// Packed columns, each as an index in the schema and, for a category, the label whose indicator is packed.
    pub columns: Vec<(usize, Option<usize>)>,
    /// Pairs x ≤ y of indices into `columns` whose products are summed.
    pub pairs: BTreeSet<(usize, usize)>,
}

impl PackedForm {
    /// Makes the layout of a packed table of this form, after a check that the schema allows the form.
    ///
    /// # Errors
    /// [`ProgramError::Mismatch`] for columns, labels or groups that the encrypted table lacks, and for rows that do
    /// not fit the ring.
    pub fn layout(&self, schema: &Schema) -> Result<Layout, ProgramError> {
        let mismatch = |what, expected: &str| ProgramError::mismatch(what, expected, "another");
        let column = |at: usize| schema.columns.get(at).filter(|column| column.encrypted);
        let groups = match self.group.map(|at| column(at).filter(|column| !column.missing)) {
            None => 1,
            Some(Some(Column { kind: Kind::Category { labels }, .. })) => labels.len(),
            Some(_) => {
                return Err(mismatch("the column of groups", "an encrypted category without missing cells"));
            }
        };
        let right = |&(at, label): &(usize, Option<usize>)| {
            let exact = |column: &&Column| !matches!(column.kind, Kind::Real { .. });
            column(at).filter(exact).is_some_and(|column| column.parts().contains(&label))
        };
        if self.columns.len() > MOST_COLUMNS || !self.columns.iter().all(right) {
            return Err(mismatch("a packed column", "an encrypted column of numbers, or a label"));
        }
        if self.pairs.iter().any(|(x, y)| x > y || *y >= self.columns.len()) {
            return Err(mismatch("a packed product", "one of two packed columns"));
        }
        if self.longest_group > schema.rows {
            return Err(mismatch("rows of a group", "at most those of the table"));
        }
        let longest_group = usize::try_from(self.longest_group).unwrap_or(usize::MAX);
        let shape = Shape { columns: self.columns.len(), groups, longest_group };
        Layout::for_pairs(shape, self.degree, self.segment, &self.pairs).map_err(ProgramError::scheme)
    }
}

impl Plan {
    /// Returns the form of a table that is packed for the plan.
    ///
    /// # Errors
    /// [`ProgramError::Mismatch`] for a plan that packs nothing.
    pub fn form(&self) -> Result<PackedForm, ProgramError> {
        let packed = self.require_packed()?;
        let (layout, moments) = (&packed.layout, &packed.moments);
        let column = |id: &NodeId| {
            let node = self.program.graph().node(*id)?;
            Some((node.column()?, node.label()))
        };
        Ok(PackedForm {
            degree: layout.degree(),
            segment: layout.segment(),
            longest_group: layout.shape().longest_group as u64,
            largest: packed.packing.largest,
            group: moments.group,
            columns: moments.columns.iter().filter_map(column).collect(),
            pairs: moments.pairs(),
        })
    }

    /// Analyses a program for given parameters and a packed table, whose segment is the cheapest unless `packing`
    /// states it.
    ///
    /// # Errors
    /// [`ProgramError::Refused`] for a program that cannot be packed or whose sums these parameters do not hold.
    pub fn within_packed(
        program: &Program,
        parameters: &Parameters,
        packing: &Packing,
    ) -> Result<Self, ProgramError> {
        Ok(within(program, parameters, packing)?)
    }

    /// Makes the plan of a packed table anew for another number of rows: program, parameters, groups and segment stay.
    ///
    /// # Errors
    /// [`ProgramError::Mismatch`] for a plan that packs nothing; [`ProgramError::Refused`] for rows whose sums the parameters do not hold;
    /// [`ProgramError::Schema`] for no or too many rows.
    pub fn with_rows(&self, rows: u64) -> Result<Self, ProgramError> {
        let packing = self.require_packed()?.packing();
        Self::within_packed(&self.program.with_rows(rows)?, &self.parameters, &packing)
    }

    /// Analyses a program for given parameters and a packed table of a given form.
    ///
    /// # Errors
    /// Every error of [`within_packed`](Self::within_packed); [`ProgramError::Mismatch`] for a table that was packed for another program.
    pub fn for_packed(
        program: &Program,
        parameters: &Parameters,
        form: &PackedForm,
    ) -> Result<Self, ProgramError> {
        let packing = Packing {
            longest_group: Some(form.longest_group),
            largest: form.largest,
            segment: Some(form.segment),
            ..Packing::default()
        };
        let plan = Self::within_packed(program, parameters, &packing)?;
        if plan.form()? == *form {
            return Ok(plan);
        }
        Err(ProgramError::mismatch(
            "the packed table",
            "one for the sums and products of this program",
            "one for another program",
        ))
    }
}
