//! Wire format of a context of some levels of another, with special moduli of its own: a level and moduli.

use std::io::BufRead;

use super::encapsulation::{get_moduli, put_moduli};
use super::{FieldReader, Fields, Sink, Source, WireError};
use crate::RlweContext;
use crate::chains::WORD_BITS;

/// Writes level and special moduli of a context that [`RlweContext::up_to`] made, as two records.
///
/// # Errors
/// [`WireError::Io`] when the output fails.
pub fn put_lower(context: &RlweContext, sink: &mut impl Sink) -> Result<(), WireError> {
    let special = &context.gadget().options().special_moduli;
    let mut fields = Fields::default();
    [context.level(), special.len()].into_iter().for_each(|number| fields.usize(number));
    sink.sealed(fields.as_bytes())?;
    put_moduli(special, sink)
}

/// Reads a context of some levels of `context` that [`put_lower`] wrote.
///
/// # Errors
/// Every error of [`Source::sealed`]; [`WireError::Value`] for numbers out of range; [`WireError::Rlwe`] for moduli that
/// the ring cannot have, or above the security limit.
pub fn get_lower(context: &RlweContext, source: &mut Source<impl BufRead>) -> Result<RlweContext, WireError> {
    let record = source.sealed("the levels of a step", 2 * 8)?;
    let mut fields = FieldReader::new(&record);
    let level = fields.usize_in("highest level of a step", 1..=context.level())?;
    // No digit is longer than the modulus, so that more would only fill memory with their tables.
    let most = (context.log2_modulus_at(level)? / WORD_BITS).ceil() as usize;
    let special = fields.usize_in("special moduli of a step", 1..=most)?;
    let special_moduli = get_moduli("the special moduli of a step", special, source)?;
    Ok(context.up_to(level, &special_moduli)?)
}
