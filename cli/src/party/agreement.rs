//! The agreement of a session: what is computed, who takes part, how many open, and how many results. All in one file, whose hash parties compare.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use sunzi::parties::Roster;
use sunzi::program::{Kind, OutputValue, Plan};
use sunzi::rlwe::SharingPolicy;
use sunzi::rlwe::words::{bytes, counted};

use super::before::Before;
use super::fingerprint::{Fingerprint, of_digits};
use crate::error::{CliError, listed, one_line, quoted};
use crate::files::input::read_text;
use crate::files::{LONGEST_JSON, named};

/// File of the agreement in the folder of a session, and of the copy that each party keeps.
pub(super) const AGREEMENT: &str = "agreement.json";
/// Version of the form of agreements.
const VERSION: u32 = 1;
/// Number of columns and of results that are told by name.
const SHOWN: usize = 12;

/// The agreement as it is stored.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    agreement: u32,
    /// Number of the session in hexadecimal digits, drawn when it was created: keys of one session are never those of another.
    number: String,
    parties: Vec<String>,
    threshold: usize,
    share: u64,
    statistical_bits: u32,
    /// The session whose key is handed on to these parties.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    before: Option<Before>,
    plan: Plan,
}

/// Agreement of the parties of a session, once it is checked.
pub(super) struct Agreement {
    /// Parties that open results.
    pub(super) roster: Arc<Roster>,
    /// Parties of the session: those that open results, and behind them those that hand a key on and leave.
    pub(super) everyone: Roster,
    pub(super) before: Option<Before>,
    pub(super) policy: SharingPolicy,
    pub(super) plan: Plan,
    pub(super) fingerprint: Fingerprint,
    text: String,
}

/// An agreement in words, for people and for programs.
#[derive(Serialize)]
pub(super) struct Terms {
    fingerprint: String,
    parties: Vec<String>,
    threshold: usize,
    share: u64,
    statistical_bits: u32,
    rows: u64,
    columns: Vec<String>,
    results: Vec<String>,
    scheme: &'static str,
    parameters: String,
    key_bytes: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    handed_on: Option<HandedOn>,
    #[serde(skip)]
    ranges: Vec<String>,
}

/// A key that is handed on, as the report of an agreement has it.
#[derive(Serialize)]
struct HandedOn {
    key: String,
    /// Parties of before.
    from: Vec<String>,
    /// Parties of before that deal pieces of the key.
    by: Vec<String>,
    /// Number of ciphertexts that were opened under the key.
    opened: u64,
}

impl Agreement {
    /// Writes an agreement of a plan down.
    pub(super) fn new(
        plan: Plan,
        roster: &Roster,
        policy: SharingPolicy,
        number: [u8; 32],
        before: Option<Before>,
    ) -> Result<Self, CliError> {
        let stored = Stored {
            agreement: VERSION,
            number: Fingerprint(number).digits(),
            parties: roster.parties().map(|party| roster.name(party).to_owned()).collect(),
            threshold: roster.threshold(),
            share: policy.queries(),
            statistical_bits: policy.statistical_bits(),
            before,
            plan,
        };
        let text = serde_json::to_string(&stored).map_err(CliError::failure)?;
        // What cannot be read is not written.
        Self::of_text(format!("{text}\n")).map_err(CliError::input)
    }

    /// Reads the agreement in a folder.
    pub(super) fn load(folder: &Path) -> Result<Self, CliError> {
        let file = folder.join(AGREEMENT);
        if folder.is_dir() && !file.exists() {
            let folder = named(folder);
            return Err(CliError::io(format!(
                "{folder} has no {AGREEMENT}: give the folder that sunzi party create made, or wait until all of it is here"
            )));
        }
        let text = read_text(&file, "an agreement as sunzi party create writes it", LONGEST_JSON)?;
        Self::of_text(text).map_err(|reason| {
            let file = named(&file);
            CliError::damaged(format!(
                "{file} is no agreement as sunzi party create writes it: {reason}; copy it anew from whoever created the session"
            ))
        })
    }

    fn of_text(text: String) -> Result<Self, String> {
        let stored: Stored = serde_json::from_str(&text).map_err(|error| error.to_string())?;
        if stored.agreement != VERSION {
            return Err(format!("it is of version {}, expected {VERSION}", stored.agreement));
        }
        of_digits::<32>(&stored.number).ok_or("its number has not 64 hexadecimal digits")?;
        let roster = Roster::new(stored.parties).and_then(|roster| roster.with_threshold(stored.threshold));
        let roster = roster.map_err(|error| error.to_string())?;
        let policy = SharingPolicy::new(stored.statistical_bits, stored.share);
        let policy = policy.map_err(|error| error.to_string())?;
        let planned = stored.plan.parameters.parties() as usize;
        let everyone = match &stored.before {
            Some(before) => {
                before.check(&roster, (planned, stored.share))?;
                before.everyone(&roster)?
            }
            None if planned == roster.len() => roster.clone(),
            None => {
                return Err(format!(
                    "its plan is for {}, and it names {}: make the plan with sunzi plan --parties {1}",
                    counted(planned, "party", "parties"),
                    roster.len()
                ));
            }
        };
        let fingerprint = Fingerprint(Sha256::digest(text.as_bytes()).into());
        let Stored { before, plan, .. } = stored;
        Ok(Self { roster: Arc::new(roster), everyone, before, policy, plan, fingerprint, text })
    }

    /// Whether results are opened by shares of a threshold, and not by the secrets of all parties.
    pub(super) fn opens_by_shares(&self) -> bool {
        self.before.is_some() || self.roster.has_shares()
    }

    /// The text of the agreement's file.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Returns what the agreement says, in words.
    pub(super) fn terms(&self) -> Terms {
        let (roster, plan) = (&self.roster, &self.plan);
        let schema = plan.program.schema();
        let outputs = plan.program.outputs();
        Terms {
            fingerprint: self.fingerprint.to_string(),
            parties: roster.parties().map(|party| roster.name(party).to_owned()).collect(),
            threshold: roster.threshold(),
            share: self.policy.queries(),
            statistical_bits: self.policy.statistical_bits(),
            rows: schema.rows,
            columns: schema.columns.iter().map(|column| column.name.clone()).collect(),
            results: outputs.iter().map(|output| output.name.clone()).collect(),
            scheme: plan.parameters.name(),
            parameters: plan.parameters.claim().to_string(),
            key_bytes: plan.key_bytes,
            handed_on: self.before.as_ref().map(|before| HandedOn {
                key: before.keys.key.clone(),
                from: before.parties.clone(),
                by: before.dealers.clone(),
                opened: before.opened,
            }),
            ranges: schema.columns.iter().map(|column| described(&column.name, &column.kind)).collect(),
        }
    }

    /// Whether any result is a column: then it tells a number of every row.
    pub(super) fn opens_rows(&self) -> bool {
        let column =
            |value: &OutputValue| matches!(value, OutputValue::Column(_) | OutputValue::Partial { .. });
        self.plan.program.outputs().iter().any(|output| column(&output.value))
    }
}

fn described(name: &str, kind: &Kind) -> String {
    match kind {
        Kind::Category { labels } => {
            format!("{} ({})", quoted(name), counted(labels.len(), "label", "labels"))
        }
        _ => quoted(name),
    }
}

impl Terms {
    /// Returns the terms as text for people.
    pub(super) fn text(&self) -> String {
        let names = self.parties.join(", ");
        let opens = match self.threshold == self.parties.len() {
            true => "all of them together".to_owned(),
            false => format!("any {} of them together; all others learn nothing of a result", self.threshold),
        };
        let results: Vec<String> = self.results.iter().map(|name| quoted(name)).collect();
        let mut text = format!(
            "parties      {}: {names}\n\
             open results {opens}\n\
             results      {}\n\
             rows         {} of all parties together, columns {}\n\
             at most      {} ciphertexts opened, within 2^-{} of what tells nothing of secrets\n\
             parameters   {}\n\
             keys         {} for whoever computes\n",
            self.parties.len(),
            listed(&results, SHOWN),
            self.rows,
            listed(&self.ranges, SHOWN),
            self.share,
            self.statistical_bits,
            self.parameters,
            bytes(self.key_bytes),
        );
        if let Some(HandedOn { key, from, by, opened }) = &self.handed_on {
            let (from, by) = (from.join(", "), by.join(", "));
            let _ = writeln!(
                text,
                "handed on    key {key} of {from}, by {by}; {opened} ciphertexts were opened under it"
            );
        }
        let _ = writeln!(text, "agreement    {}", self.fingerprint);
        // Names come from whoever wrote the file, and must not steer a terminal.
        text.lines().map(|line| one_line(line) + "\n").collect()
    }
}

/// Path of a session as messages and records name it: whole, so that another working folder changes nothing.
pub(super) fn whole(path: &Path) -> Result<PathBuf, CliError> {
    std::path::absolute(path).map_err(|error| CliError::io(format!("{}: {error}", named(path))))
}
