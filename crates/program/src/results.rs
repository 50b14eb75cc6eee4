//! Results of a program in a file: `docs/format.md`, results.
//!
//! A file is a sequence of objects: a description, then what came out: chunk after chunk of every column, then every total, nodes in
//! ascending order. What is encrypted is a ciphertext for each plaintext modulus; what the server knew anyway is a
//! text. Whoever decrypts sees the program that the description has: compare it with the one that was asked for.

mod outputs;
mod text;

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, Write};

use serde::{Deserialize, Serialize};
use sunzi_rlwe::wire::{Kind, Reader, WireError, write};
use sunzi_rlwe::{DeclaredNoise, KeyId, SharingPolicy};

use self::outputs::Outputs;
use self::text::{Described, LONGEST_DESCRIPTION, LONGEST_TOTAL, Text, longest_chunk};
use crate::analysis::Layout;
use crate::contexts::{Codec, Contexts, Encrypted, SecretKey, Slots};
use crate::run::{Answer, Clear, Estimate, Opening};
use crate::sharing::check_shareable;
use crate::{NodeId, Number, Plan, Program, ProgramError, Sharing};

/// What was computed, and how it is read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Description {
    /// The program.
    pub program: Program,
    /// Where rows stand.
    pub layout: Layout,
    /// How each node that comes out is read.
    pub openings: BTreeMap<NodeId, Opening>,
    /// Rows of each chunk, where any before the last is not full.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filled: Option<Vec<usize>>,
}

impl Description {
    /// That of a plan.
    ///
    /// # Errors
    /// [`ProgramError::Invalid`] for a plan whose nodes are not its own.
    pub fn of(plan: &Plan) -> Result<Self, ProgramError> {
        let openings = Opening::of(plan)?;
        Ok(Self { program: plan.program.clone(), layout: plan.layout, openings, filled: None })
    }

    /// The same for a table whose chunks have so many rows each.
    ///
    /// # Errors
    /// [`ProgramError::Mismatch`] unless they are those of the layout.
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
        Ok(Self { filled: Some(filled), ..self })
    }

    /// Fails unless these are the results of a plan: those of its program, read as it says.
    ///
    /// Errors and padding of CKKS are doubles that another machine may round another way: they are near those of the plan.
    ///
    /// # Errors
    /// [`ProgramError::Mismatch`].
    pub fn check_plan(&self, plan: &Plan) -> Result<(), ProgramError> {
        if self.program != plan.program {
            return Err(ProgramError::mismatch("the program", "that of the plan", "another"));
        }
        let own = Opening::of(plan)?;
        let agree = |(id, opening): (&NodeId, &Opening)| own.get(id).is_some_and(|own| own.is_near(opening));
        if self.openings.len() == own.len() && self.openings.iter().all(agree) {
            return Ok(());
        }
        Err(ProgramError::mismatch("how results are read", "as the plan says", "another way"))
    }

    /// Rows of a chunk.
    #[must_use]
    pub fn rows_of(&self, chunk: usize) -> usize {
        match &self.filled {
            Some(filled) => filled.get(chunk).copied().unwrap_or(0),
            None => self.layout.rows_of(chunk),
        }
    }

    fn check(&self, contexts: &Contexts) -> Result<(), WireError> {
        let (rows, slots) = (self.program.schema().rows, contexts.parameters().slots());
        let right = self.layout.check(rows, slots).is_ok()
            && match &self.filled {
                None => self.layout.chunks == self.layout.rows.div_ceil(self.layout.span),
                Some(filled) => self.layout.is_filled(filled),
            };
        if !right {
            return Err(WireError::value("layout", "that of the parameters", "another"));
        }
        Ok(())
    }

    /// A chunk of a column, with errors that hold what comparisons may change.
    fn banded(
        &self,
        id: NodeId,
        chunk: &BTreeMap<NodeId, Vec<Estimate>>,
    ) -> Result<Vec<Estimate>, ProgramError> {
        let missing = || ProgramError::mismatch("a chunk", "all its columns", "some of them");
        let own = chunk.get(&id).ok_or_else(missing)?.iter().cloned();
        let Some(band) = self.program.band(id) else { return Ok(own.collect()) };
        let band = chunk.get(&band).ok_or_else(missing)?;
        Ok(own.zip(band).map(|(cell, band)| cell.widened(band)).collect())
    }
}

/// Writes results as they come.
pub struct ResultsWriter<'a, W: Write> {
    contexts: &'a Contexts,
    key: KeyId,
    out: W,
}

impl<'a, W: Write> ResultsWriter<'a, W> {
    /// Writes the description of results under this key.
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
            Described { contexts: self.contexts, key: Some(self.key), longest: LONGEST_DESCRIPTION };
        write(&described, text, &mut self.out)
    }

    /// Writes what came out next, in the order of the file: as [`evaluate`](crate::run::evaluate) gives columns, then totals.
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

/// Reads results one after the other.
pub struct ResultsReader<'a, I: BufRead> {
    contexts: &'a Contexts,
    key: KeyId,
    description: Description,
    outputs: Outputs,
    /// How many outputs were read.
    place: u64,
    /// The chunk of the last column, and how many rows stand before it.
    before: (usize, usize),
    input: I,
}

impl<'a, I: BufRead> ResultsReader<'a, I> {
    /// Reads the description of results in these contexts.
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
        let described = Described { contexts, key: None, longest: LONGEST_DESCRIPTION };
        let Text::Description(description) = reader.read(&described)? else {
            return Err(WireError::value("the first text", "a description", "a number"));
        };
        description.check(contexts)?;
        let outputs = Outputs::new(&description.program, description.layout);
        outputs.check(contexts.scheme(), &description.openings)?;
        Ok(Self { contexts, key, description: *description, outputs, place: 0, before: (0, 0), input })
    }

    /// What was computed.
    #[must_use]
    pub fn description(&self) -> &Description {
        &self.description
    }

    /// The key that the results belong to.
    #[must_use]
    pub fn key(&self) -> KeyId {
        self.key
    }

    /// The next output: its node, its chunk for columns, and what it is. None after the last, with which the file has to end.
    ///
    /// # Errors
    /// Any [`WireError`]: also for clear numbers of what is encrypted, and for those that no table of the schema gives.
    pub fn next_answer(&mut self) -> Result<Option<(NodeId, Option<usize>, Answer)>, WireError> {
        let Some((id, chunk, known)) = self.outputs.at(self.place) else {
            let mut rest = [0];
            let extra = self.input.read(&mut rest).map_err(WireError::Io)?;
            return if extra == 0 { Ok(None) } else { Err(WireError::Trailing { extra: 1 }) };
        };
        self.place += 1;
        let reader = Reader::new(&mut self.input)?;
        let answer = if reader.header().kind == Kind::Results as u16 {
            let longest = chunk.map_or(LONGEST_TOTAL, |_| longest_chunk(self.description.layout.span));
            let described = Described { contexts: self.contexts, key: None, longest };
            reader.for_key(self.key)?.read(&described)?.answer()?
        } else {
            Answer::Encrypted(self.contexts.read_from(reader, Some(self.key))?)
        };
        self.outputs.check_answer((chunk, known), self.contexts.scheme(), &answer)?;
        Ok(Some((id, chunk, answer)))
    }

    /// Nodes that come out and were never encrypted: whoever computed knows them, and may have written any number for them.
    #[must_use]
    pub fn clear(&self) -> BTreeSet<NodeId> {
        self.outputs.clear()
    }
}

/// What the key holder reads: totals, and columns chunk by chunk.
impl<I: BufRead> ResultsReader<'_, I> {
    /// Decrypts all that is left. `column` takes chunks of columns, without padding, and which row is the first of them, counted from 0.
    ///
    /// # Errors
    /// Those of [`next_answer`](Self::next_answer) and [`Codec::decrypt`], and what `column` fails with.
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

    /// The same for somebody else to see: every ciphertext is counted.
    ///
    /// # Errors
    /// As [`decrypt`](Self::decrypt); [`ProgramError::Sharing`], before anything of that ciphertext is opened.
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

    /// Reads the file to its end without a key, and says how many decryptions it takes to share what is left of it; `noise` as in [`Sharing::new`].
    ///
    /// # Errors
    /// Those of [`next_answer`](Self::next_answer); [`ProgramError::Sharing`] where one of them will not do.
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
        let mut totals = BTreeMap::new();
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
                        let cells = self.description.banded(id, &cells_of)?;
                        column(id, first, cells)?;
                    }
                    cells_of.clear();
                }
                None => {
                    totals.insert(id, codec.total(opening, &answer, |chunk| open(id, chunk))?);
                }
            }
        }
        Ok(totals)
    }
}

impl Codec {
    /// Reads a total, if encrypted by what `open` makes of it: slots, and the deviation of their errors.
    fn total(
        &self,
        opening: &Opening,
        answer: &Answer,
        open: impl FnOnce(&Encrypted) -> Result<(Slots, f64), ProgramError>,
    ) -> Result<Estimate, ProgramError> {
        match answer {
            Answer::Clear(number) => Ok(opening.clear(number.clone(), self.layout())),
            Answer::ClearColumn(_) => Err(ProgramError::mismatch("a total", "a number", "a column")),
            Answer::Encrypted(chunk) => match (open(chunk)?, self.exact()) {
                ((Slots::Residues(parts), _), Some((_, crt))) => {
                    let residues: Vec<u64> =
                        parts.iter().filter_map(|slots| slots.first().copied()).collect();
                    opening.total(self.layout(), crt, &residues).map(Estimate::from)
                }
                ((Slots::Reals(slots), deviation), _) => {
                    let sum = slots.first().copied().unwrap_or(f64::NAN);
                    opening.real_total(self.layout(), sum, deviation)
                }
                _ => Err(ProgramError::mismatch("slots", "those of the scheme", "others")),
            },
        }
    }

    /// Reads a chunk of a column likewise, padding and all; clear integers count units of so many decimals.
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
                (slots, _) => {
                    (0..self.layout().span).map(|at| opening.cell(self.integer(&slots, at)?)).collect()
                }
            },
        }
    }
}
