//! Outputs of a file of results as the program determines them: their order, and whether the server knows them.

use std::collections::{BTreeMap, BTreeSet};

use num_bigint::BigInt;
use num_traits::Signed;
use sunzi_rlwe::wire::WireError;

use crate::analysis::{Facts, Layout, SchemeChoice, facts_in};
use crate::packed::Packed;
use crate::run::{Answer, Clear, Opening};
use crate::{NodeId, Number, Program};

/// Largest exponent of the powers of two by which numbers of CKKS are divided: doubles have none beyond it.
const LARGEST_EXPONENT: u32 = 1000;

/// Outputs of a program in the order of the file of results, each with its facts.
pub(super) struct Outputs {
    columns: Vec<(NodeId, Facts)>,
    totals: Vec<(NodeId, Facts)>,
    layout: Layout,
    rows: u64,
    packed: Option<Packed>,
    /// Openings that exact schemes leave no choice of.
    openings: BTreeMap<NodeId, Opening>,
}

impl Outputs {
    pub(super) fn new(
        program: &Program,
        scheme: SchemeChoice,
        layout: Layout,
        packed: Option<Packed>,
    ) -> Self {
        let known = facts_in(program, scheme);
        let openings = match scheme {
            SchemeChoice::Ckks => Ok(BTreeMap::new()),
            SchemeChoice::Integers => Opening::digits(program),
            SchemeChoice::Bfv | SchemeChoice::Bgv => Opening::exact(program),
        };
        let of = |id: NodeId| Some((id, *known.get(id.index())?));
        Self {
            columns: program.columns().into_iter().filter_map(of).collect(),
            totals: program.totals().into_iter().filter_map(of).collect(),
            layout,
            rows: program.schema().rows,
            packed,
            // Nothing agrees with none.
            openings: openings.unwrap_or_default(),
        }
    }

    /// Returns the packing of the table, if it was packed; the outputs are then its sums.
    pub(super) fn packed(&self) -> Option<&Packed> {
        self.packed.as_ref()
    }

    /// Returns the number of output columns.
    pub(super) fn width(&self) -> usize {
        self.columns.len()
    }

    /// Returns the output at a place in the file, with its chunk if it is a column; `None` after the last.
    pub(super) fn at(&self, place: u64) -> Option<(NodeId, Option<usize>, &Facts)> {
        if let Some(packed) = &self.packed {
            let (id, facts) = self.totals.first().filter(|_| place < packed.results() as u64)?;
            return Some((*id, None, facts));
        }
        let (width, chunks) = (self.columns.len() as u64, self.layout.chunks as u64);
        match place.checked_sub(width.checked_mul(chunks)?) {
            Some(total) => {
                self.totals.get(usize::try_from(total).ok()?).map(|(id, facts)| (*id, None, facts))
            }
            None => {
                let (chunk, column) = (place.checked_div(width)?, place.checked_rem(width)?);
                let (id, facts) = self.columns.get(column as usize)?;
                Some((*id, Some(chunk as usize), facts))
            }
        }
    }

    /// Whether any total is encrypted.
    pub(super) fn has_encrypted_totals(&self) -> bool {
        self.totals.iter().any(|(_, facts)| facts.encrypted)
    }

    /// Returns the outputs that the server knows.
    pub(super) fn clear(&self) -> BTreeSet<NodeId> {
        let all = self.columns.iter().chain(&self.totals);
        all.filter(|(_, facts)| !facts.encrypted).map(|(id, _)| *id).collect()
    }

    /// Returns the number of decimals of a column of exact numbers; 0 for other columns.
    pub(super) fn decimals(&self, id: NodeId) -> u32 {
        let at = self.columns.binary_search_by_key(&id, |(id, _)| *id).ok();
        let facts = at.and_then(|at| self.columns.get(at)).map(|(_, facts)| facts);
        facts.and_then(|facts| facts.exact).map_or(0, |exact| exact.decimals)
    }

    /// Checks that openings are those that the program requires. Exact numbers leave no choice; those of CKKS depend
    /// on the precision that was requested, and must be possible.
    pub(super) fn check(
        &self,
        scheme: SchemeChoice,
        openings: &BTreeMap<NodeId, Opening>,
    ) -> Result<(), WireError> {
        let all = || self.columns.iter().chain(&self.totals);
        if let Some((id, _)) = all().find(|(id, _)| !openings.contains_key(id)) {
            let got = format!("none for {}", id.index());
            return Err(WireError::value("openings", "one for every output", got));
        }
        for (id, _) in all() {
            let Some(own) = openings.get(id) else { continue };
            let right = match own {
                _ if scheme != SchemeChoice::Ckks => self.openings.get(id) == Some(own),
                Opening::Real { exponent, padding, error } => {
                    exponent.unsigned_abs() <= LARGEST_EXPONENT && padding.is_finite() && *error >= 0.0
                }
                Opening::Exact { .. } | Opening::Digits { .. } => false,
            };
            if !right {
                return Err(WireError::value("an opening", "that of the program", format!("{own:?}")));
            }
        }
        Ok(())
    }

    /// Refuses clear values of encrypted outputs, and numbers that no table of the schema yields.
    pub(super) fn check_answer(
        &self,
        (chunk, known): (Option<usize>, &Facts),
        scheme: SchemeChoice,
        answer: &Answer,
    ) -> Result<(), WireError> {
        if matches!(answer, Answer::Encrypted(_)) {
            return Ok(());
        }
        if known.encrypted {
            return Err(WireError::value(
                "a result of an encrypted column",
                "a ciphertext",
                "a clear number",
            ));
        }
        let exact = scheme != SchemeChoice::Ckks;
        match (answer, chunk) {
            (Answer::Clear(_), Some(_)) => Err(WireError::value("a chunk", "a column", "a total")),
            (Answer::ClearColumn(_), None) => Err(WireError::value("a total", "a number", "a column")),
            (Answer::Clear(Number::Real(_)), _) | (Answer::ClearColumn(Clear::Reals(_)), _) if exact => {
                Err(WireError::value("a clear result", "an exact number", "a real one"))
            }
            (Answer::Clear(Number::Exact(ratio)), _) => self.check_total(known, ratio),
            (Answer::ClearColumn(column), _) => {
                let (expected, got) = match column {
                    Clear::Units(units) => (self.layout.span, units.len()),
                    Clear::Reals(reals) => (self.layout.span, reals.len()),
                };
                if expected == got {
                    Ok(())
                } else {
                    Err(WireError::value("cells of a chunk", expected, got))
                }
            }
            _ => Ok(()),
        }
    }

    /// Checks that a sum over rows is possible for numbers in the range of the node.
    fn check_total(&self, known: &Facts, ratio: &num_rational::Ratio<BigInt>) -> Result<(), WireError> {
        let Some(exact) = known.exact else {
            return Err(WireError::value("a clear total", "a real number", "an exact one"));
        };
        let units = ratio * BigInt::from(10).pow(exact.decimals);
        let most = BigInt::from(exact.magnitude()) * self.rows;
        if units.is_integer() && units.numer().abs() <= most {
            return Ok(());
        }
        let places = exact.decimals;
        Err(WireError::value(
            "a clear total",
            format!("at most {most} units of {places} digits behind the point"),
            "another number",
        ))
    }
}
