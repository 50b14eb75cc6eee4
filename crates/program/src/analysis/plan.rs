//! Plans of programs and the options of an analysis: their fields, and what follows from them.

use std::fmt;

use serde::{Deserialize, Serialize};
use sunzi_circuits::Rotation;
use sunzi_rlwe::words::counted;
use sunzi_rlwe::{Reencryptions, SecretDistribution, Security, SharingPolicy, memory as machine};

use super::Refusal;
use super::approximate::Lowered;
use super::bootstraps::Bootstraps;
use super::layout::Layout;
use super::look_ups::LookUps;
use super::merging::Merging;
use super::parameters::{Parameters, SchemeChoice};
use crate::packed::{Packed, Packing};
use crate::{Program, ProgramError};

/// Options of the analysis of a program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Options {
    /// Scheme of the plan; the cheapest that can compute the program unless set.
    pub scheme: Option<SchemeChoice>,
    /// Number of right bits of every intermediate number in CKKS, counted from the end of its range; 16 unless set.
    pub precision: u32,
    /// Security level that the parameters reach.
    pub security: Security,
    /// Ring degree to use, as log2 n; chosen unless set.
    pub log2_degree: Option<u32>,
    /// Number of parts of the table that share no chunk: one for each label of a category that cuts the table, else
    /// 1.
    #[serde(default = "one_part")]
    pub parts: usize,
    /// Policy under which results are shared: there is room for hiding noise, and the precision of CKKS is that after
    /// sharing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sharing: Option<SharingPolicy>,
    /// Number of times in a row that results are re-encrypted for another owner, and the policy of each: there is room for all of them in BFV and BGV, and
    /// chunks fill all slots, since the new owner sees all of these. CKKS and encrypted integers are refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reencryptions: Option<Reencryptions>,
    /// Packing of the table where that costs less, for a table at hand; [`Plan::packed`] says whether it is packed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub packing: Option<Packing>,
    /// Number of parties that have the secret together, each of which may encrypt rows of the table; 1 for a single holder. Results of several
    /// are opened by shares, which takes a policy of [`sharing`](Self::sharing).
    #[serde(default = "one_party", skip_serializing_if = "is_one")]
    pub parties: u32,
}

fn one_part() -> usize {
    1
}

fn one_party() -> u32 {
    1
}

fn is_one(parties: &u32) -> bool {
    *parties == 1
}

impl Default for Options {
    fn default() -> Self {
        let security = Security::Bits128;
        Self {
            scheme: None,
            precision: 16,
            security,
            log2_degree: None,
            parts: 1,
            sharing: None,
            reencryptions: None,
            packing: None,
            parties: 1,
        }
    }
}

impl Options {
    /// Returns the bits of noise that must be left for the flooding noise of all parties.
    pub(super) fn sharing_room(&self, degree: usize) -> f64 {
        self.sharing.map_or(0.0, |policy| policy.room_of(degree, self.parties))
    }

    /// Whether chunks fill all slots, so that sums are in every slot: whoever is not the key holder and opens a result sees all of these.
    pub(super) fn fills_slots(&self) -> bool {
        self.parties > 1 || self.reencryptions.is_some()
    }

    /// Checks that so many parties can open results together.
    pub(super) fn check_parties(&self) -> Result<(), Box<Refusal>> {
        let most = SecretDistribution::MOST_PARTIES;
        match self.parties {
            1 => Ok(()),
            2.. if self.parties <= most && self.sharing.is_some() => Ok(()),
            2.. if self.parties <= most => Err(Refusal::of_program(
                "results of several parties are opened by shares, which hide the noise: say how many results are going to be shared, \
                 so that there is room",
            )),
            got => Err(Refusal::of_program(format!("a secret is that of 1 to {most} parties, not of {got}"))),
        }
    }

    /// Refuses what takes sparse keys, which several parties cannot make.
    pub(super) fn check_one_holder(&self, what: &str, instead: &str) -> Result<(), Box<Refusal>> {
        match self.parties {
            1 => Ok(()),
            parties => Err(Refusal::of_program(format!(
                "{what} takes keys of a sparse secret, which {parties} parties cannot make together: {instead}, or let one \
                 party hold the secret"
            ))),
        }
    }
}

/// Plan: a program with its scheme, parameters and layout; both parties make equal plans of equal programs and
/// options.
///
/// Plans are stored as JSON: program, parameters, layout and precision are read, and all other fields are recomputed.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(try_from = "Made")]
pub struct Plan {
    /// Program that the plan is for.
    pub program: Program,
    /// Scheme and encryption parameters of the plan.
    pub parameters: Parameters,
    /// Layout of the table's rows in slots.
    pub layout: Layout,
    /// Rotations of the plan, which need keys.
    #[serde(serialize_with = "in_words")]
    pub rotations: Vec<Rotation>,
    /// Highest level at which ciphertexts are rotated, which is its number of moduli where levels are prefixes:
    /// rotation keys need no more.
    pub rotation_limbs: usize,
    /// Number of levels of the program in CKKS, or its multiplicative depth.
    pub depth: usize,
    /// Number of bytes of the files of evaluation keys: of the relinearisation key and of the rotations.
    pub key_bytes: u64,
    /// Number of bytes of one fresh ciphertext in memory, over all plaintext moduli.
    pub ciphertext_bytes: u64,
    /// Number of bytes that a run takes at most, approximately.
    pub memory_bytes: u64,
    /// Requested precision of CKKS in bits; 0 for exact schemes.
    pub precision: u32,
    /// Number of ciphertexts of all inputs, over all chunks.
    pub inputs: usize,
    /// Reasons for the choice of scheme and parameters, a sentence each.
    pub reasons: Vec<String>,
    /// Look-ups of a run on encrypted integers; none in other schemes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub look_ups: Option<LookUps>,
    /// Bootstraps of a run in CKKS; none where parameters have levels for the whole program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bootstraps: Option<Bootstraps>,
    #[serde(skip)]
    pub(crate) lowered: Option<Lowered>,
    #[serde(skip)]
    pub(crate) merging: Option<Merging>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) packed: Option<Packed>,
}

impl Plan {
    /// Makes a plan without operations, keys and inputs, to which those of a scheme are added.
    pub(crate) fn bare(
        program: &Program,
        parameters: Parameters,
        layout: Layout,
        reasons: Vec<String>,
    ) -> Self {
        Self {
            program: program.clone(),
            ciphertext_bytes: parameters.ciphertext_bytes(),
            parameters,
            layout,
            rotations: Vec::new(),
            rotation_limbs: 0,
            depth: 0,
            key_bytes: 0,
            memory_bytes: 0,
            precision: 0,
            inputs: 0,
            reasons,
            look_ups: None,
            bootstraps: None,
            lowered: None,
            merging: None,
            packed: None,
        }
    }

    /// Checks that a codec's layout is that of the plan.
    pub(crate) fn check_layout(&self, got: &Layout) -> Result<(), ProgramError> {
        let expected = &self.layout;
        if expected != got {
            return Err(ProgramError::mismatch("the layout", format!("{expected:?}"), format!("{got:?}")));
        }
        Ok(())
    }

    /// Returns the packing of the plan's table; an error where every column has ciphertexts of its own.
    pub(crate) fn require_packed(&self) -> Result<&Packed, ProgramError> {
        let none = || ProgramError::mismatch("the plan", "one that packs its table", "another");
        self.packed.as_ref().ok_or_else(none)
    }

    /// Returns the packing of the plan's table; `None` where every column has ciphertexts of its own.
    #[must_use]
    pub fn packed(&self) -> Option<&Packed> {
        self.packed.as_ref()
    }

    /// Returns the approximate number of bytes that a run takes at most, with the tables of its contexts.
    #[must_use]
    pub fn needed_bytes(&self) -> u64 {
        self.memory_bytes.saturating_add(self.parameters.table_bytes())
    }

    /// Checks that the machine has the memory of a run besides the tables of its contexts, which exist by then.
    ///
    /// # Errors
    /// [`ProgramError::Memory`] for a machine with less memory than a run takes.
    pub fn check_memory(&self) -> Result<(), ProgramError> {
        machine::require(self.memory_bytes).map_err(ProgramError::Memory)
    }

    /// Returns the number of bytes in memory of all ciphertexts that the plan reads.
    #[must_use]
    pub fn table_bytes(&self) -> u64 {
        let moduli = self.parameters.plain_moduli().len().max(1) as u64;
        (self.inputs as u64).saturating_mul(self.ciphertext_bytes / moduli)
    }

    /// Returns the number of right bits of every intermediate number in CKKS, counted from the end of its range, as
    /// far as parameters determine it.
    #[must_use]
    pub fn precision_bits(&self) -> Option<f64> {
        let Parameters::Ckks(parameters) = &self.parameters else { return None };
        let bits = parameters.predicted_precision().ok()?;
        Some(bits - bits_of_parties(self.parameters.parties()))
    }

    pub(super) fn with_precision(self, precision: u32) -> Self {
        let precision = if self.lowered.is_some() { clamped(precision) } else { 0 };
        Self { precision, ..self }
    }
}

/// Returns the bits of precision that a sum of the encryptions of so many parties has fewer than one encryption: their errors are independent.
pub(super) fn bits_of_parties(parties: u32) -> f64 {
    f64::from(parties).log2() / 2.0
}

fn in_words<S: serde::Serializer>(rotations: &[Rotation], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(rotations.iter().map(ToString::to_string))
}

/// Returns a requested precision, limited to the largest one.
pub(super) fn clamped(precision: u32) -> u32 {
    precision.clamp(4, 30)
}

/// Fields from which a plan is made again.
#[derive(Deserialize)]
pub(super) struct Made {
    pub(super) program: Program,
    pub(super) parameters: Parameters,
    pub(super) layout: Layout,
    pub(super) precision: u32,
    pub(super) packed: Option<Packing>,
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Layout { rows, span, chunks } = self.layout;
        writeln!(f, "scheme        {}, n = {}", self.parameters.name(), self.parameters.degree())?;
        writeln!(f, "rows          {rows} in {} of {span} slots", counted(chunks, "chunk", "chunks"))?;
        match &self.look_ups {
            Some(look_ups) => writeln!(f, "look-ups      {}", look_ups.count)?,
            None => {
                writeln!(f, "depth         {}", self.depth)?;
                writeln!(f, "rotations     {}", self.rotations.len())?;
            }
        }
        if let Some(bootstraps) = &self.bootstraps {
            let Bootstraps { count, log2_failure, .. } = bootstraps;
            writeln!(
                f,
                "bootstraps    {count}, one of them wrong with a probability of at most 2^{log2_failure:.1}"
            )?;
        }
        writeln!(f, "keys          {} bytes in files", self.key_bytes)?;
        writeln!(f, "memory        about {} bytes", self.memory_bytes)?;
        writeln!(f, "tables        about {} bytes", self.parameters.table_bytes())?;
        if let Some(left) = machine::available().filter(|&left| left < self.needed_bytes()) {
            writeln!(f, "warning       this machine has {left} bytes left, less than a run takes")?;
        }
        writeln!(f, "inputs        {} ciphertexts of {} bytes", self.inputs, self.ciphertext_bytes)?;
        self.reasons.iter().try_for_each(|reason| writeln!(f, "because       {reason}"))
    }
}
