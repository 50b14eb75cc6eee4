//! Look-ups of encrypted integers: which programs need them, how many a run takes, and how long.

use serde::Serialize;

use super::Refusal;
use crate::{Node, NodeId, Program};

/// Reason in the message where CKKS has no order and no tables.
pub(super) const ONLY: &str =
    "CKKS has no order and no tables: take encrypted integers, with --scheme integers, or BFV for tables";
/// Reason in the message where an exact scheme has no order.
const NO_ORDER: &str = "encrypted integers alone have order: take them, with --scheme integers";
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
        let work = Self::work(self.count, self.tables, self.key_switches);
        (work + PLAIN_PRODUCT * self.plain_products as f64) * product
    }

    /// Returns the work of so many look-ups, tables and key switches, in products at the highest level.
    pub(super) fn work(count: u64, tables: u64, key_switches: u64) -> f64 {
        let further = tables.saturating_sub(count) as f64;
        SET_UP + LOOK_UP * count as f64 + TABLE * further + KEY_SWITCH * key_switches as f64
    }
}

/// Returns a node whose rows depend on other rows, which encrypted integers alone compute, if there is one.
pub(super) fn ordered(program: &Program) -> Option<NodeId> {
    let crosses = |id: &NodeId| program.graph().node(*id).is_some_and(Node::crosses_rows);
    program.used().into_iter().find(crosses)
}

/// Returns the number of tables of the user's own; `None` for a program without any.
pub(super) fn tables(program: &Program) -> Option<usize> {
    let tables = program.used().into_iter().filter_map(|id| program.graph().node(id)?.entries()).count();
    (tables > 0).then_some(tables)
}

/// Returns a node that CKKS does not compute, if there is one: order, and tables.
pub(super) fn needed(program: &Program) -> Option<NodeId> {
    let needs = |id: &NodeId| program.graph().node(*id).is_some_and(Node::needs_integers);
    program.used().into_iter().find(needs)
}

/// Refuses a program of order or tables.
pub(super) fn refuse(program: &Program) -> Result<(), Box<Refusal>> {
    refused(program, needed(program), ONLY)
}

/// Refuses a program of order.
pub(super) fn refuse_order(program: &Program) -> Result<(), Box<Refusal>> {
    refused(program, ordered(program), NO_ORDER)
}

fn refused(program: &Program, id: Option<NodeId>, reason: &str) -> Result<(), Box<Refusal>> {
    let Some(id) = id else { return Ok(()) };
    let expression = program.graph().describe(id, program.schema());
    Err(Box::new(Refusal { reason: reason.to_owned(), expression }))
}
