//! Packing by the owner of a table: cells to slots to ciphertexts.

use std::ops::Range;

use sunzi_circuits::statistics::{Input, Layout};
use sunzi_encoding::{BatchEncoder, Encoder as _, Plaintext};
use sunzi_rlwe::{Ciphertext, CrtContext, Exact, randomness};
use zeroize::Zeroizing;

use super::{Packed, not_ckks};
use crate::contexts::{Codec, Encrypted, EncryptionKey, Parts};
use crate::run::{Cells, MISSING_UNIT, Table};
use crate::{NodeId, Plan, ProgramError};

/// Packer of the cells of a table, which encrypts one input of one chunk after the other.
pub struct Packer<'a> {
    packed: &'a Packed,
    codec: &'a Codec,
    columns: Vec<(Option<usize>, &'a Cells)>,
    /// Rows of each group, by their indices in the table.
    groups: Vec<Vec<usize>>,
}

impl<'a> Packer<'a> {
    /// Sorts the rows of a table into groups.
    ///
    /// # Errors
    /// [`ProgramError::Mismatch`] for a plan that packs nothing, for a table of another program or without cells, and
    /// for groups longer than the plan allows.
    pub fn new(plan: &'a Plan, codec: &'a Codec, table: &'a Table) -> Result<Self, ProgramError> {
        let (packed, program, rows) = (plan.require_packed()?, &plan.program, plan.layout.rows);
        if table.schema() != program.schema() || table.row_count() != rows as u64 {
            return Err(ProgramError::mismatch("the table", "that of the program", "another"));
        }
        let missing = || ProgramError::mismatch("the table", "cells of every column that is read", "none");
        let cells = |id: &NodeId| {
            let node = program.graph().node(*id)?;
            let cells = table.cells(node.column()?)?;
            matches!((node.label(), cells), (_, Cells::Units(_)) | (Some(_), Cells::Labels(_)))
                .then_some((node.label(), cells))
        };
        let columns = packed.moments.columns.iter().map(|id| cells(id).ok_or_else(missing));
        let columns = columns.collect::<Result<_, _>>()?;
        let mut groups = vec![Vec::new(); packed.moments.groups];
        match packed.moments.group.map(|column| table.cells(column)) {
            None => groups = vec![(0..rows).collect()],
            Some(Some(Cells::Labels(labels))) => {
                for (row, &label) in labels.iter().enumerate() {
                    groups.get_mut(label as usize).ok_or_else(missing)?.push(row);
                }
            }
            Some(_) => return Err(missing()),
        }
        let most = packed.layout.shape().longest_group;
        match groups.iter().map(Vec::len).find(|&rows| rows > most) {
            Some(got) => Err(ProgramError::mismatch("rows of a group", format!("at most {most}"), got)),
            None => Ok(Self { packed, codec, columns, groups }),
        }
    }

    /// Returns the layout of the packed table.
    #[must_use]
    pub fn layout(&self) -> &'a Layout {
        &self.packed.layout
    }

    /// Encrypts one input of one chunk; [`Layout::inputs`](Layout::inputs) lists all inputs in order.
    ///
    /// # Errors
    /// [`ProgramError::Scheme`] for a key of other parameters.
    pub fn encrypt(
        &self,
        chunk: usize,
        input: Input,
        key: EncryptionKey<'_>,
    ) -> Result<Encrypted, ProgramError> {
        let moduli = self.codec.contexts().parameters().plain_moduli().len();
        self.encrypt_parts(0..moduli, (chunk, input), key)
    }

    /// Encrypts one input of one chunk for some of the plaintext moduli.
    pub(super) fn encrypt_parts(
        &self,
        parts: Range<usize>,
        (chunk, input): (usize, Input),
        key: EncryptionKey<'_>,
    ) -> Result<Encrypted, ProgramError> {
        let encoders = self.codec.integers().ok_or_else(not_ckks)?.parts();
        let plaintext = |encoder| self.plaintext(encoder, chunk, input);
        let plaintexts = encoders.get(parts.clone()).unwrap_or_default().iter().map(plaintext);
        let plaintexts = plaintexts.collect::<Result<Vec<_>, _>>()?;
        match self.codec.contexts().parts() {
            Parts::Bfv(contexts) => encrypted(contexts, parts, &plaintexts, key).map(Encrypted::Bfv),
            Parts::Bgv(contexts) => encrypted(contexts, parts, &plaintexts, key).map(Encrypted::Bgv),
            Parts::Ckks(_) | Parts::Integers(_) => Err(not_ckks()),
        }
    }

    fn plaintext(
        &self,
        encoder: &BatchEncoder,
        chunk: usize,
        input: Input,
    ) -> Result<Plaintext, ProgramError> {
        let t = encoder.plain_modulus() as i64;
        let cell = |column: usize, group: usize, row: usize| {
            let (row, (label, cells)) = (*self.groups.get(group)?.get(row)?, self.columns.get(column)?);
            match (label, cells) {
                (Some(label), Cells::Labels(labels)) => {
                    labels.get(row).map(|own| u64::from(*own as usize == *label))
                }
                (Some(_), Cells::Units(units)) => units.get(row).map(|v| u64::from(*v != MISSING_UNIT)),
                (None, Cells::Units(units)) => {
                    units.get(row).map(|v| if *v == MISSING_UNIT { 0 } else { v.rem_euclid(t) as u64 })
                }
                _ => None,
            }
        };
        let slots = Zeroizing::new(self.packed.layout.place(input, chunk, 1, cell));
        encoder.encode(&slots).map_err(ProgramError::scheme)
    }
}

/// Encrypts one plaintext in each of the contexts.
fn encrypted<S: Exact<Error: std::error::Error + Send + Sync + 'static>>(
    contexts: &CrtContext<S>,
    parts: Range<usize>,
    plaintexts: &[Plaintext],
    key: EncryptionKey<'_>,
) -> Result<Vec<Ciphertext<S>>, ProgramError> {
    let mut rng = randomness::from_os().map_err(ProgramError::scheme)?;
    let contexts = contexts.get(parts).unwrap_or_default().iter();
    let encrypt = |(context, plaintext)| S::encrypt(context, plaintext, key, &mut rng);
    contexts.zip(plaintexts).map(encrypt).collect::<Result<_, _>>().map_err(ProgramError::scheme)
}
