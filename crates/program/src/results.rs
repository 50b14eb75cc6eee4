//! Files of results of a program, as `docs/format.md` describes them.
//!
//! A file of results is a sequence of objects: a description, then the outputs: chunk after chunk of every column, then every total, nodes in
//! ascending order. An encrypted output is a ciphertext for each plaintext modulus; one that the server knew anyway is a
//! text. The key holder sees the program in the description when decrypting: compare it with the one that was requested.

mod digest;
mod handed;
mod joint;
mod outputs;
mod text;

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, Write};

use serde::{Deserialize, Serialize};
use sunzi_rlwe::wire::{Kind, Reader, WireError, write};
use sunzi_rlwe::{DeclaredNoise, KeyId, SharingPolicy};

pub use self::digest::ResultsDigest;
use self::outputs::Outputs;
use self::text::{Described, LONGEST_DESCRIPTION, LONGEST_TOTAL, Text, longest_chunk};
use crate::analysis::Layout;
use crate::contexts::check_shareable;
use crate::contexts::{Codec, Contexts, Encrypted, SecretKey, Slots};
use crate::packed::{self, Packed, Packing};
use crate::run::{Answer, Clear, Estimate, Opening};
use crate::{Node, NodeId, Number, Plan, Program, ProgramError, Sharing};

/// Description of the computation in a file of results, and of how its results are read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Description {
    /// Program that the server ran.
    pub program: Program,
    /// Layout of rows in slots.
    pub layout: Layout,
    /// Opening of each output node, which says how its numbers are read.
    pub openings: BTreeMap<NodeId, Opening>,
    /// Number of rows of each chunk, where any chunk before the last is not full.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filled: Option<Vec<usize>>,
    /// Packing of the table, if it was packed: results are then its sums.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub packed: Option<Packing>,
}

impl Description {
    /// Makes the description of the results of a plan.
    ///
    /// # Errors
    /// [`ProgramError::Invalid`] for a plan with a node that its program lacks.
    pub fn of(plan: &Plan) -> Result<Self, ProgramError> {
        let openings = Opening::of(plan)?;
        let packed = plan.packed().map(Packed::packing);
        Ok(Self { program: plan.program.clone(), layout: plan.layout, openings, filled: None, packed })
    }

    /// Reads the description that a file of results begins with, without the parameters that it belongs to: to look at what the file says of itself.
    ///
    /// # Errors
    /// Any [`WireError`].
    pub fn peek(input: impl BufRead) -> Result<Self, WireError> {
        Self::get(Reader::new(input)?, None)
    }

    fn get(reader: Reader<impl BufRead>, contexts: Option<&Contexts>) -> Result<Self, WireError> {
        let described = Described { contexts, key: None, longest: LONGEST_DESCRIPTION };
        match reader.read(&described)? {
            Text::Description(description) => Ok(*description),
            _ => Err(WireError::value("the first text", "a description", "a number")),
        }
    }

    /// Sets the number of rows of each chunk of the table.
    ///
    /// # Errors
    /// [`ProgramError::Mismatch`] for numbers of rows that do not fit the layout, and for a program of order unless all chunks before the last are full.
    pub fn with_filled(self, filled: Vec<usize>) -> Result<Self, ProgramError> {
        if !self.layout.is_filled(&filled) {
            let (expected, got) = (format!("{:?}", self.layout), filled.len());
            return Err(ProgramError::mismatch(
                "rows of chunks",
                expected,
                format!("{got} chunks of others"),
            ));
        }
        let whole = (0..self.layout.chunks).map(|chunk| self.layout.rows_of(chunk));
        if filled.iter().copied().eq(whole) {
            return Ok(self);
        }
        let orders = |id: &NodeId| self.program.graph().node(*id).is_some_and(Node::crosses_rows);
        if self.program.used().iter().any(orders) {
            let expected = "full chunks before the last, whose rows have an order";
            return Err(ProgramError::mismatch("rows of chunks", expected, "those of several parts"));
        }
        Ok(Self { filled: Some(filled), ..self })
    }

    /// Checks that the description is that of a plan: program, packing and openings.
    ///
    /// Errors and padding of CKKS are doubles that another machine may round differently: close to those of the plan is enough.
    ///
    /// # Errors
    /// [`ProgramError::Mismatch`] for a plan of another program, or with other openings or another packing.
    pub fn check_plan(&self, plan: &Plan) -> Result<(), ProgramError> {
        if self.program != plan.program {
            return Err(ProgramError::mismatch("the program", "that of the plan", "another"));
        }
        if self.packed != plan.packed().map(Packed::packing) {
            return Err(ProgramError::mismatch("how the table is packed", "as the plan says", "another way"));
        }
        let own = Opening::of(plan)?;
        let agree = |(id, opening): (&NodeId, &Opening)| own.get(id).is_some_and(|own| own.is_near(opening));
        if self.openings.len() == own.len() && self.openings.iter().all(agree) {
            return Ok(());
        }
        Err(ProgramError::mismatch("how results are read", "as the plan says", "another way"))
    }

    /// Returns the number of rows of a chunk.
    #[must_use]
    pub fn rows_of(&self, chunk: usize) -> usize {
        match &self.filled {
            Some(filled) => filled.get(chunk).copied().unwrap_or(0),
            None => self.layout.rows_of(chunk),
        }
    }

    /// Checks the layout of a description, and returns the packing of the table if it was packed.
    fn check(&self, contexts: &Contexts) -> Result<Option<Packed>, WireError> {
        if let Some(packing) = &self.packed {
            let plan = Plan::within_packed(&self.program, contexts.parameters(), packing)?;
            let right = plan.layout == self.layout && self.filled.is_none();
            return if right { Ok(plan.packed) } else { Err(Self::other_layout()) };
        }
        let right = contexts.parameters().check_layout(&self.layout, self.program.schema().rows).is_ok()
            && match &self.filled {
                None => self.layout.chunks == self.layout.rows.div_ceil(self.layout.span),
                Some(filled) => self.layout.is_filled(filled),
            };
        if right { Ok(None) } else { Err(Self::other_layout()) }
    }

    fn other_layout() -> WireError {
        WireError::value("layout", "that of the parameters", "another")
    }

    /// Returns a chunk of a column, with errors that include the bands of comparisons, and without the numbers of rows
    /// that have none.
    fn shown(
        &self,
        id: NodeId,
        chunk: &BTreeMap<NodeId, Vec<Estimate>>,
    ) -> Result<Vec<Estimate>, ProgramError> {
        let missing = || ProgramError::mismatch("a chunk", "all its columns", "some of them");
        let own = chunk.get(&id).ok_or_else(missing)?.iter().cloned();
        let mut cells: Vec<Estimate> = own.collect();
        if let Some(band) = self.program.band(id) {
            let band = chunk.get(&band).ok_or_else(missing)?;
            cells = cells.into_iter().zip(band).map(|(cell, band)| cell.widened(band)).collect();
        }
        let Some(valid) = self.program.valid(id) else { return Ok(cells) };
        let open = || ProgramError::mismatch("whether a row has a number", "1 or 0", "a number between");
        let valid = chunk.get(&valid).ok_or_else(missing)?.iter().map(|valid| valid.holds().ok_or_else(open));
        let shown = |(cell, valid)| Ok(if valid? { cell } else { Estimate::missing() });
        cells.into_iter().zip(valid).map(shown).collect()
    }
}

/// Writer of a file of results, one output after the other.
pub struct ResultsWriter<'a, W: Write> {
    contexts: &'a Contexts,
    key: KeyId,
    out: W,
}

impl<'a, W: Write> ResultsWriter<'a, W> {
    /// Writes the header and the description of results under a key.
    ///
    /// # Errors
    /// [`WireError::Io`].
    pub fn new(
        contexts: &'a Contexts,
        key: KeyId,
        description: Description,
        out: W,
    ) -> Result<Self, WireError> {
        let mut writer = Self { contexts, key, out };
        writer.text(&Text::Description(Box::new(description)))?;
        Ok(writer)
    }

    fn text(&mut self, text: &Text) -> Result<(), WireError> {
        let described =
            Described { contexts: Some(self.contexts), key: Some(self.key), longest: LONGEST_DESCRIPTION };
        write(&described, text, &mut self.out)
    }

    /// Writes the next output in the order of the file, which is that of [`evaluate`](crate::run::evaluate): columns, then totals. Of a packed table
    /// the outputs are its sums, in the order of [`EncryptedTotals`](crate::packed::EncryptedTotals).
    ///
    /// # Errors
    /// [`WireError::Io`]; [`WireError::Parameters`] for ciphertexts of other parameters.
    pub fn put(&mut self, answer: &Answer) -> Result<(), WireError> {
        match (Text::of(answer), answer) {
            (Some(text), _) => self.text(&text),
            (None, Answer::Encrypted(chunk)) => self.contexts.write(chunk, &mut self.out),
            (None, _) => Ok(()),
        }
    }
}

/// Reader of a file of results, one output after the other.
pub struct ResultsReader<'a, I: BufRead> {
    contexts: &'a Contexts,
    key: KeyId,
    description: Description,
    outputs: Outputs,
    /// Number of outputs read so far.
    place: u64,
    /// Number of ciphertexts read so far.
    ciphertexts: u64,
    /// Chunk of the last column read, and the number of rows before that chunk.
    before: (usize, usize),
    input: I,
}

impl<'a, I: BufRead> ResultsReader<'a, I> {
    /// Opens a file of results and reads its description.
    ///
    /// # Errors
    /// Any [`WireError`].
    pub fn open(contexts: &'a Contexts, mut input: I) -> Result<Self, WireError> {
        let reader = Reader::new(&mut input)?;
        let got = reader.header().kind;
        if got != Kind::Results as u16 {
            return Err(WireError::Kind { expected: Kind::Results, got });
        }
        let key = reader.header().required_key()?;
        let description = Description::get(reader, Some(contexts))?;
        let packed = description.check(contexts)?;
        let outputs = Outputs::new(&description.program, contexts.scheme(), description.layout, packed);
        outputs.check(contexts.scheme(), &description.openings)?;
        Ok(Self { contexts, key, description, outputs, place: 0, ciphertexts: 0, before: (0, 0), input })
    }

    /// Returns the description of the results.
    #[must_use]
    pub fn description(&self) -> &Description {
        &self.description
    }

    /// Returns the identifier of the key that the results belong to.
    #[must_use]
    pub fn key(&self) -> KeyId {
        self.key
    }

    /// Reads the next output: its node, its chunk for columns, and its value. `None` after the last, with which the file has to end. Every sum of a packed
    /// table comes with the first of the totals that are computed from all of these.
    ///
    /// # Errors
    /// Any [`WireError`]: also for clear values of encrypted outputs, and for numbers that no table of the schema yields.
    pub fn next_answer(&mut self) -> Result<Option<(NodeId, Option<usize>, Answer)>, WireError> {
        let Some((id, chunk, known)) = self.outputs.at(self.place) else {
            let mut next = [0];
            let extra = self.input.read(&mut next).map_err(WireError::Io)?;
            return if extra == 0 { Ok(None) } else { Err(WireError::Trailing { extra: 1 }) };
        };
        self.place += 1;
        let reader = Reader::new(&mut self.input)?;
        let answer = if reader.header().kind == Kind::Results as u16 {
            let longest = chunk.map_or(LONGEST_TOTAL, |_| longest_chunk(self.description.layout.span));
            let described = Described { contexts: Some(self.contexts), key: None, longest };
            reader.for_key(self.key)?.read(&described)?.answer()?
        } else {
            Answer::Encrypted(self.contexts.read_from(reader, Some(self.key))?)
        };
        self.outputs.check_answer((chunk, known), self.contexts.scheme(), &answer)?;
        if let Answer::Encrypted(chunk) = &answer {
            self.ciphertexts += chunk.count() as u64;
        }
        Ok(Some((id, chunk, answer)))
    }

    /// Returns the output nodes that were never encrypted: the server knows them, and may have written any number for
    /// them.
    #[must_use]
    pub fn clear(&self) -> BTreeSet<NodeId> {
        self.outputs.clear()
    }
}

/// Decryption of results by the key holder: totals, and columns chunk by chunk.
impl<I: BufRead> ResultsReader<'_, I> {
    /// Decrypts all remaining outputs. `column` is called with chunks of columns, without padding, and the index of their first row, from 0.
    ///
    /// # Errors
    /// Every error of [`next_answer`](Self::next_answer) and [`Codec::decrypt`], and of `column`.
    pub fn decrypt<E: From<WireError> + From<ProgramError>>(
        &mut self,
        codec: &Codec,
        secret: &SecretKey,
        column: impl FnMut(NodeId, usize, Vec<Estimate>) -> Result<(), E>,
    ) -> Result<BTreeMap<NodeId, Estimate>, E> {
        let open =
            |_, chunk: &Encrypted| codec.decrypt(chunk, secret).map(|slots| (slots, chunk.deviation()));
        self.open_all(codec, open, column)
    }

    /// Decrypts all remaining outputs for sharing with others; every ciphertext is counted.
    ///
    /// # Errors
    /// Every error of [`decrypt`](Self::decrypt); [`ProgramError::Sharing`], before that ciphertext is opened.
    pub fn decrypt_for_sharing<E: From<WireError> + From<ProgramError>>(
        &mut self,
        codec: &Codec,
        secret: &SecretKey,
        sharing: &mut Sharing,
        column: impl FnMut(NodeId, usize, Vec<Estimate>) -> Result<(), E>,
    ) -> Result<BTreeMap<NodeId, Estimate>, E> {
        let open = |id, chunk: &Encrypted| codec.decrypt_for_sharing(id, chunk, secret, sharing);
        self.open_all(codec, open, column)
    }

    /// Reads the file to its end without a key, and returns the number of decryptions for sharing its remaining
    /// outputs; `noise` is the one of [`Sharing::new`].
    ///
    /// # Errors
    /// Every error of [`next_answer`](Self::next_answer); [`ProgramError::Sharing`] where one of them cannot be shared.
    pub fn check_shareable<E: From<WireError> + From<ProgramError>>(
        mut self,
        policy: SharingPolicy,
        noise: &BTreeMap<NodeId, DeclaredNoise>,
    ) -> Result<u64, E> {
        let mut count = 0;
        while let Some((id, _, answer)) = self.next_answer()? {
            let Answer::Encrypted(chunk) = answer else { continue };
            check_shareable(self.contexts, id, &chunk, policy, noise)?;
            count += chunk.count() as u64;
        }
        Ok(count)
    }

    fn open_all<E: From<WireError> + From<ProgramError>>(
        &mut self,
        codec: &Codec,
        mut open: impl FnMut(NodeId, &Encrypted) -> Result<(Slots, f64), ProgramError>,
        mut column: impl FnMut(NodeId, usize, Vec<Estimate>) -> Result<(), E>,
    ) -> Result<BTreeMap<NodeId, Estimate>, E> {
        let (mut totals, mut heads) = (BTreeMap::new(), Vec::new());
        let mut cells_of: BTreeMap<NodeId, Vec<Estimate>> = BTreeMap::new();
        let (width, shown) = (self.outputs.width(), self.description.program.shown_columns());
        while let Some((id, chunk, answer)) = self.next_answer()? {
            let missing = || WireError::value("openings", "one for every output", "none");
            let opening = self.description.openings.get(&id).ok_or_else(missing)?;
            match chunk {
                Some(chunk) => {
                    let places = self.outputs.decimals(id);
                    let mut cells = codec.column((opening, places), &answer, |chunk| open(id, chunk))?;
                    cells.truncate(self.description.rows_of(chunk));
                    let (at, rows) = &mut self.before;
                    if *at != chunk {
                        *rows += self.description.rows_of(*at);
                        *at = chunk;
                    }
                    let first = *rows;
                    cells_of.insert(id, cells);
                    if cells_of.len() < width {
                        continue;
                    }
                    for &id in &shown {
                        let cells = self.description.shown(id, &cells_of)?;
                        column(id, first, cells)?;
                    }
                    cells_of.clear();
                }
                None if self.outputs.packed().is_some() => {
                    let Answer::Encrypted(chunk) = &answer else { return Err(missing().into()) };
                    let (slots, _) = open(id, chunk)?;
                    heads.extend(self.outputs.packed().map(|packed| packed.heads(&slots)));
                }
                None => {
                    totals.insert(id, codec.total(opening, &answer, |chunk| open(id, chunk))?);
                }
            }
        }
        if let Some(packed) = self.outputs.packed() {
            let reader = packed::Reader::new(packed, codec, self.description.program.schema().rows, &heads)?;
            totals = reader.totals(None)?.into_iter().map(|(id, total)| (id, total.into())).collect();
        }
        Ok(totals)
    }
}

impl Codec {
    /// Returns the estimate of a total; `open` decrypts it, and returns slots and the deviation of their errors.
    fn total(
        &self,
        opening: &Opening,
        answer: &Answer,
        open: impl FnOnce(&Encrypted) -> Result<(Slots, f64), ProgramError>,
    ) -> Result<Estimate, ProgramError> {
        match answer {
            Answer::Clear(number) => Ok(opening.clear(number.clone(), self.layout())),
            Answer::ClearColumn(_) => Err(ProgramError::mismatch("a total", "a number", "a column")),
            Answer::Encrypted(chunk) => match (open(chunk)?, self.integers()) {
                ((Slots::Residues(parts), _), Some(encoder)) => {
                    let residues: Vec<u64> =
                        parts.iter().filter_map(|slots| slots.first().copied()).collect();
                    opening.total(self.layout(), encoder.crt(), &residues).map(Estimate::from)
                }
                ((Slots::Reals(slots), deviation), _) => {
                    let sum = slots.first().copied().unwrap_or(f64::NAN);
                    opening.real_total(self.layout(), sum, deviation)
                }
                ((Slots::Digits(digits), _), _) => {
                    opening.digits_total(self.layout(), &digits).map(Estimate::from)
                }
                _ => Err(ProgramError::mismatch("slots", "those of the scheme", "others")),
            },
        }
    }

    /// Returns the estimates of a chunk of a column, padding included; `open` decrypts it; clear integers count units
    /// of 10^-decimals.
    fn column(
        &self,
        (opening, decimals): (&Opening, u32),
        answer: &Answer,
        open: impl FnOnce(&Encrypted) -> Result<(Slots, f64), ProgramError>,
    ) -> Result<Vec<Estimate>, ProgramError> {
        let rows = &Layout { rows: 1, span: 1, chunks: 1 };
        let known = |number| opening.clear(number, rows);
        match answer {
            Answer::Clear(_) => Err(ProgramError::mismatch("a column", "a chunk", "a number")),
            Answer::ClearColumn(Clear::Units(units)) => {
                Ok(units.iter().map(|&v| known(Number::scaled(v.into(), decimals))).collect())
            }
            Answer::ClearColumn(Clear::Reals(reals)) => {
                Ok(reals.iter().map(|&v| known(Number::Real(v))).collect())
            }
            Answer::Encrypted(chunk) => match open(chunk)? {
                (Slots::Reals(slots), deviation) => {
                    let (numbers, error) = opening.reals(&slots, deviation)?;
                    let estimate = |v| Estimate { number: Number::Real(v), error };
                    Ok(numbers.into_iter().map(estimate).collect())
                }
                (Slots::Digits(digits), _) => {
                    (0..self.layout().span).map(|at| opening.digits_cell(&digits, at)).collect()
                }
                (slots, _) => {
                    (0..self.layout().span).map(|at| opening.cell(self.integer(&slots, at)?)).collect()
                }
            },
        }
    }
}
