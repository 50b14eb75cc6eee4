//! Look-ups of encrypted integers: which programs need them, how many a run takes, and how long.

use serde::Serialize;

use super::Refusal;
use crate::{Node, NodeId, Program};

/// Reason in the message where a scheme has no order and no tables.
pub(super) const ONLY: &str =
    "encrypted integers alone have order and tables: take them, with --scheme integers";
/// Seconds of a look-up of one table in real parts of slots, in products at the highest level.
const LOOK_UP: f64 = 33.0;
/// Seconds of a further table of a look-up, in such products.
const TABLE: f64 = 2.0;
/// Seconds of a key switch of a result, in such products.
const KEY_SWITCH: f64 = 0.6;
/// Seconds of a product of a digit with a clear one, in such products.
const PLAIN_PRODUCT: f64 = 0.1;
/// Seconds before the first look-up, in which keys are read and matrices made, in such products.
const SET_UP: f64 = 60.0;

/// Look-ups of a run on encrypted integers.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct LookUps {
    /// Number of look-ups of a run, each of about a second.
    pub count: u64,
    /// Number of tables of all look-ups.
    pub tables: u64,
    /// Number of key switches outside of look-ups.
    pub key_switches: u64,
    /// Number of products of digits with those of clear columns.
    pub plain_products: u64,
    /// log2 of the probability that one look-up is wrong in any slot.
    pub log2_failure: f64,
    /// Bytes in memory of the keys of look-ups.
    pub key_bytes: u64,
    /// Bytes of the file of these keys, to a percent.
    pub key_file_bytes: u64,
    /// Bytes in memory of the matrices of look-ups.
    pub matrix_bytes: u64,
}

impl LookUps {
    /// Returns the estimated seconds of a run, for those of a relinearised product at the highest level.
    pub(super) fn seconds(&self, product: f64) -> f64 {
        let further = self.tables.saturating_sub(self.count) as f64;
        let products =
            SET_UP + LOOK_UP * self.count as f64 + TABLE * further + KEY_SWITCH * self.key_switches as f64;
        (products + PLAIN_PRODUCT * self.plain_products as f64) * product
    }
}

/// Returns a node that encrypted integers alone compute, if there is one.
pub(super) fn needed(program: &Program) -> Option<NodeId> {
    let needs = |id: &NodeId| program.graph().node(*id).is_some_and(Node::needs_integers);
    program.used().into_iter().find(needs)
}

/// Refuses a program that encrypted integers alone compute.
pub(super) fn refuse(program: &Program) -> Result<(), Box<Refusal>> {
    let Some(id) = needed(program) else { return Ok(()) };
    let expression = program.graph().describe(id, program.schema());
    Err(Box::new(Refusal { reason: ONLY.to_owned(), expression }))
}
