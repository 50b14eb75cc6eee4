//! A packed table through a plan: its owner encrypts, the server sums, the key holder reads; one plaintext modulus after the other.

use std::collections::BTreeMap;

use num_bigint::BigInt;
use rayon::prelude::*;
use sunzi_circuits::statistics::{EncryptedChunk, EncryptedSum, EncryptedSums, Input, Layout, Server};
use sunzi_circuits::{Arithmetic, CircuitError, EvaluationKeys, ExactEvaluator};
use sunzi_encoding::{BatchEncoder, Encoder as _, Plaintext};
use sunzi_math::Crt;
use sunzi_rlwe::{CrtContext, Exact as _, Homomorphic, randomness};

use super::Packed;
use super::moments::{Moments, Of, Rows, Terms};
use crate::contexts::{Contexts, Parts, PublicKey, SecretKey};
use crate::run::{Cells, Table};
use crate::{NodeId, Number, Plan, ProgramError};

/// The keys of a run; they serve every plaintext modulus.
pub struct Keys {
    /// Stays with the owner.
    pub secret: SecretKey,
    /// Encrypts.
    pub public: PublicKey,
    /// What the server receives.
    pub evaluation: EvaluationKeys,
}

impl Keys {
    /// Draws all keys that a plan asks for.
    ///
    /// # Errors
    /// [`ProgramError::Scheme`] for contexts of other parameters than those of the plan.
    pub fn generate(plan: &Plan, contexts: &Contexts) -> Result<Self, ProgramError> {
        let (rlwe, scheme) = (contexts.rlwe(), |error: sunzi_rlwe::RlweError| ProgramError::scheme(error));
        let mut rng = randomness::from_os().map_err(ProgramError::scheme)?;
        let secret = SecretKey::generate(rlwe, &mut rng).map_err(scheme)?;
        let public = PublicKey::generate(rlwe, &secret, &mut rng).map_err(scheme)?;
        let (rotations, limbs) = (&plan.rotations, plan.rotation_limbs);
        let evaluation = contexts.evaluation_keys(&secret, rotations, limbs, &mut rng).map_err(scheme)?;
        Ok(Self { secret, public, evaluation })
    }
}

/// What a run does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// The owner packs and encrypts a chunk.
    Encrypting,
    /// The server multiplies columns.
    Products,
    /// The server sums over slots.
    Sums,
    /// The key holder decrypts.
    Decrypting,
}

/// What the key holder reads: every total of the program.
#[derive(Clone, Debug)]
pub struct Totals {
    /// Over all rows.
    pub all: BTreeMap<NodeId, Number>,
    /// Over the rows of each label of the category that groups them, in the order of its labels; over all rows where there is none.
    pub by_label: Vec<BTreeMap<NodeId, Number>>,
    /// Bits left in the worst result before decryption would be refused.
    pub bits_left: f64,
}

/// Runs a packed plan on a table in the clear, as all its parties one after the other. `begin` hears of every phase, `done` of each step.
///
/// # Errors
/// [`ProgramError::Mismatch`] for a plan that packs nothing, and for a table of another program or without cells; [`ProgramError::Scheme`].
pub fn run(
    plan: &Plan,
    contexts: &Contexts,
    keys: &Keys,
    table: &Table,
    begin: &mut dyn FnMut(Phase),
    done: &(dyn Fn() + Sync),
) -> Result<Totals, ProgramError> {
    let none = || ProgramError::mismatch("the plan", "one that packs its table", "another");
    let packed = plan.packed.as_ref().ok_or_else(none)?;
    begin(Phase::Encrypting);
    let cells = PackedCells::of(plan, packed, table)?;
    let opened = match contexts.parts() {
        Parts::Bfv(contexts) => {
            open_each(contexts, sunzi_bfv::Evaluator::new, packed, &cells, keys, begin, done)?
        }
        Parts::Bgv(contexts) => {
            open_each(contexts, sunzi_bgv::Evaluator::new, packed, &cells, keys, begin, done)?
        }
        Parts::Ckks(_) => return Err(ProgramError::mismatch("the scheme", "BFV or BGV", "CKKS")),
    };
    begin(Phase::Decrypting);
    let crt = Crt::new(plan.parameters.plain_moduli()).map_err(ProgramError::scheme)?;
    let reader = Reader { layout: &packed.layout, rows: plan.program.schema().rows, crt, opened: &opened };
    let bits_left = opened.iter().map(|opened| opened.bits_left).fold(f64::INFINITY, f64::min);
    let by_label = (0..packed.moments.groups).map(|label| reader.totals(&packed.moments, Some(label)));
    let all = reader.totals(&packed.moments, None)?;
    Ok(Totals { all, by_label: by_label.collect::<Result<_, _>>()?, bits_left })
}

/// Runs all parties modulo one t after the other.
fn open_each<E: ExactEvaluator>(
    contexts: &CrtContext<E::Scheme>,
    evaluator: impl Fn(&<E::Scheme as Homomorphic>::Context) -> E,
    packed: &Packed,
    cells: &PackedCells,
    keys: &Keys,
    begin: &mut dyn FnMut(Phase),
    done: &(dyn Fn() + Sync),
) -> Result<Vec<Opened>, ProgramError> {
    let mut opened = Vec::with_capacity(contexts.len());
    for context in contexts.iter() {
        let party = Party {
            packed,
            arithmetic: &evaluator(context),
            encoder: BatchEncoder::new(packed.layout.degree(), E::Scheme::plain_modulus(context))
                .map_err(ProgramError::scheme)?,
            encrypt: &|plaintext: &Plaintext| {
                let mut rng = randomness::from_os().map_err(ProgramError::scheme)?;
                let encrypted = E::Scheme::encrypt(context, plaintext, (&keys.public).into(), &mut rng);
                encrypted.map_err(ProgramError::scheme)
            },
            decrypt: &|ciphertext| {
                E::Scheme::decrypt(context, ciphertext, &keys.secret).map_err(ProgramError::scheme)
            },
        };
        let sums = party.server(cells, &keys.evaluation, begin, done)?;
        begin(Phase::Decrypting);
        opened.push(party.open(&sums)?);
        begin(Phase::Encrypting);
    }
    Ok(opened)
}

/// The cells of each packed column, and the rows of each group.
struct PackedCells {
    columns: Vec<Vec<i128>>,
    groups: Vec<Vec<usize>>,
}

impl PackedCells {
    fn of(plan: &Plan, packed: &Packed, table: &Table) -> Result<Self, ProgramError> {
        let (program, moments, rows) = (&plan.program, &packed.moments, plan.layout.rows);
        if table.schema() != program.schema() || table.row_count() != rows as u64 {
            return Err(ProgramError::mismatch("the table", "that of the program", "another"));
        }
        let missing = || ProgramError::mismatch("the table", "cells of every column that is read", "none");
        let whole = crate::analysis::Layout { rows, span: rows, chunks: 1 };
        let units = |id: &NodeId| table.units(program.graph().node(*id)?, &whole, 0);
        let columns = moments.columns.iter().map(|id| units(id).ok_or_else(missing));
        let columns = columns.collect::<Result<_, _>>()?;
        let mut groups = vec![Vec::new(); moments.groups];
        match moments.group.map(|column| table.cells(column)) {
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
            None => Ok(Self { columns, groups }),
        }
    }

    /// Each column modulo t.
    fn residues(&self, t: u64) -> Vec<Vec<u64>> {
        let reduce = |v: &i128| v.rem_euclid(i128::from(t)) as u64;
        self.columns.iter().map(|column| column.iter().map(reduce).collect()).collect()
    }
}

/// All parties for one plaintext modulus.
struct Party<'a, A: Arithmetic> {
    packed: &'a Packed,
    arithmetic: &'a A,
    encoder: BatchEncoder,
    encrypt: &'a (dyn Fn(&Plaintext) -> Result<A::Ciphertext, ProgramError> + Sync),
    decrypt: &'a (dyn Fn(&A::Ciphertext) -> Result<Plaintext, ProgramError> + Sync),
}

impl<A: Arithmetic> Party<'_, A> {
    /// Encrypts chunk by chunk and lets the server work on each.
    fn server(
        &self,
        cells: &PackedCells,
        keys: &A::Keys,
        begin: &mut dyn FnMut(Phase),
        done: &(dyn Fn() + Sync),
    ) -> Result<EncryptedSums<A::Ciphertext>, ProgramError> {
        let layout = &self.packed.layout;
        let residues = cells.residues(self.arithmetic.plain_modulus());
        let mut server = Server::new(self.arithmetic, keys, layout).map_err(scheme)?;
        for chunk in 0..layout.chunks() {
            begin(Phase::Encrypting);
            let encrypted = self.encrypt(&residues, &cells.groups, chunk)?;
            begin(Phase::Products);
            server.absorb(&encrypted, done).map_err(scheme)?;
        }
        begin(Phase::Sums);
        server.finish(done).map_err(scheme)
    }

    /// Encrypts all inputs of one chunk.
    fn encrypt(
        &self,
        residues: &[Vec<u64>],
        groups: &[Vec<usize>],
        chunk: usize,
    ) -> Result<EncryptedChunk<A::Ciphertext>, ProgramError> {
        let layout = &self.packed.layout;
        let cell = |column: usize, group: usize, row: usize| {
            residues.get(column)?.get(*groups.get(group)?.get(row)?).copied()
        };
        let encrypt = |input| {
            let slots = layout.place(input, chunk, 1, cell);
            (self.encrypt)(&self.encoder.encode(&slots).map_err(ProgramError::scheme)?)
        };
        let packed = (0..layout.packed()).into_par_iter().map(Input::Packed);
        let repeated = layout.repeated_columns().par_iter().copied().map(Input::Repeated);
        Ok(EncryptedChunk {
            packed: packed.map(encrypt).collect::<Result<_, _>>()?,
            repeated: repeated.map(encrypt).collect::<Result<_, _>>()?,
        })
    }

    /// Decrypts every result.
    fn open(&self, sums: &EncryptedSums<A::Ciphertext>) -> Result<Opened, ProgramError> {
        let heads = |ciphertext: &A::Ciphertext| -> Result<Vec<u64>, ProgramError> {
            let slots = self.encoder.decode(&(self.decrypt)(ciphertext)?).map_err(ProgramError::scheme)?;
            Ok(slots.into_iter().step_by(self.packed.layout.segment()).collect())
        };
        let open = |sum: &EncryptedSum<A::Ciphertext>| {
            Ok(Heads { groups: heads(&sum.groups)?, total: heads(&sum.total)? })
        };
        let all = |sums: &[EncryptedSum<A::Ciphertext>]| {
            sums.par_iter().map(open).collect::<Result<Vec<Heads>, ProgramError>>()
        };
        let results = sums.columns.iter().chain(&sums.products).flat_map(|sum| [&sum.groups, &sum.total]);
        let bits_left = results.map(|result| self.arithmetic.bits_left(result)).fold(f64::INFINITY, f64::min);
        Ok(Opened { columns: all(&sums.columns)?, products: all(&sums.products)?, bits_left })
    }
}

/// The first slot of each segment of one sum.
struct Heads {
    groups: Vec<u64>,
    total: Vec<u64>,
}

/// The first slots of all segments of every result, modulo one t.
struct Opened {
    columns: Vec<Heads>,
    products: Vec<Heads>,
    /// Bits left in the worst ciphertext.
    bits_left: f64,
}

/// Totals from residues.
struct Reader<'a> {
    layout: &'a Layout,
    rows: u64,
    crt: Crt,
    opened: &'a [Opened],
}

impl Reader<'_> {
    /// All totals, over the rows of a label if one is given.
    fn totals(
        &self,
        moments: &Moments,
        label: Option<usize>,
    ) -> Result<BTreeMap<NodeId, Number>, ProgramError> {
        let within = |rows: Rows| match (rows, label) {
            (rows, None) => Some(rows),
            (Rows::All, Some(label)) => Some(Rows::Group(label)),
            (Rows::Group(own), Some(label)) => (own == label).then_some(rows),
        };
        let total = |(&id, (decimals, terms)): (&NodeId, &(u32, Terms))| {
            let mut units = BigInt::ZERO;
            for (&(rows, of), &factor) in terms.iter().filter(|(_, factor)| **factor != 0) {
                if let Some(rows) = within(rows) {
                    units += self.moment(rows, of)? * factor;
                }
            }
            Ok((id, Number::scaled(units, *decimals)))
        };
        moments.totals.par_iter().map(total).collect()
    }

    fn moment(&self, rows: Rows, of: Of) -> Result<BigInt, ProgramError> {
        let layout = self.layout;
        let (products, index, column) = match of {
            Of::One if rows == Rows::All => return Ok(self.rows.into()),
            Of::One => (false, layout.block(layout.ones()), layout.ones()),
            Of::Column(x) => (false, layout.block(x), x),
            Of::Product(x, y) => {
                let (index, column) = layout.pair(x, y);
                (true, index, column)
            }
        };
        let residue = |opened: &Opened| {
            let heads = if products { &opened.products } else { &opened.columns }.get(index)?;
            let (slots, group) = match rows {
                Rows::All => (&heads.total, 0),
                Rows::Group(group) => (&heads.groups, group),
            };
            slots.get(layout.slot(column, group) / layout.segment()).copied()
        };
        let residues: Vec<u64> = self.opened.iter().filter_map(residue).collect();
        self.crt.reconstruct_centered(&residues).map_err(ProgramError::scheme)
    }
}

fn scheme<E: std::error::Error + Send + Sync + 'static>(error: CircuitError<E>) -> ProgramError {
    ProgramError::scheme(error)
}

#[cfg(test)]
mod tests {
    use sunzi_circuits::statistics::Shape;

    use super::*;

    #[test]
    fn residues_join_to_signed_integers() {
        let plain = [97, 101, 103];
        let crt = Crt::new(&plain).unwrap();
        // Two columns in units of one slot, and the column of ones.
        let shape = Shape { columns: 2, groups: 1, longest_group: 1 };
        let layout = Layout::new(shape, 8, 1).unwrap();
        for values in [[0_i128, 1, 7], [-1, 500_000, 7], [-504_545, -9, 7], [12, -12, 7]] {
            let opened = plain.map(|q| {
                let of = |values: &[i128]| values.iter().map(|v| v.rem_euclid(q.into()) as u64).collect();
                let heads = |values: &[i128]| Heads { groups: of(values), total: of(values) };
                // Products of the block with the first column, then with the second.
                let products = vec![heads(&[values[1], 0]), heads(&[values[0], values[1]])];
                Opened { columns: vec![heads(&values)], products, bits_left: 0.0 }
            });
            let reader = Reader { layout: &layout, rows: 3, crt: crt.clone(), opened: &opened };
            for rows in [Rows::All, Rows::Group(0)] {
                let moment = |of| reader.moment(rows, of).unwrap();
                assert_eq!(moment(Of::Column(0)), values[0].into());
                assert_eq!(moment(Of::Column(1)), values[1].into());
                assert_eq!(moment(Of::Product(0, 0)), values[1].into());
                assert_eq!(moment(Of::Product(0, 1)), values[0].into());
                assert_eq!(moment(Of::Product(1, 1)), values[1].into());
                assert_eq!(moment(Of::One), if rows == Rows::All { 3 } else { values[2] }.into());
            }
        }
    }
}
