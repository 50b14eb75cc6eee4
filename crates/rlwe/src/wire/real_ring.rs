//! Wire format of keys between a real ring and the whole ring in which it lies: the names of both secrets, the context
//! of the level of entry, one key switch there and two back.

use std::io::BufRead;

use super::keys::{Bodies, get_switch, put_switch};
use super::{FieldReader, Sink, Source, WireError, get_lower, put_lower};
use crate::{KeyId, RealRingKeys, RlweContext};

/// Writes keys between a real ring and the whole ring.
///
/// # Errors
/// [`WireError::Io`] when the output fails; [`WireError::Rlwe`] for keys of another context.
pub fn put_real_ring(real: &RlweContext, keys: &RealRingKeys, sink: &mut impl Sink) -> Result<(), WireError> {
    let [of_real, of_whole] = keys.ids();
    sink.sealed(&[*of_real.as_bytes(), *of_whole.as_bytes()].concat())?;
    put_lower(keys.low(), sink)?;
    put_switch(keys.low(), keys.enter(), Bodies::Stored, sink)?;
    keys.leave().iter().try_for_each(|key| put_switch(real, key, Bodies::Stored, sink))
}

/// Reads keys between a real ring and the whole ring that [`put_real_ring`] wrote.
///
/// # Errors
/// Every error of [`get_lower`]; [`WireError::Value`] for keys that are not of the highest levels.
pub fn get_real_ring(
    [real, whole]: [&RlweContext; 2],
    source: &mut Source<impl BufRead>,
) -> Result<RealRingKeys, WireError> {
    let record = source.sealed("the names of both secrets", 2 * 16)?;
    let mut fields = FieldReader::new(&record);
    let ids = [KeyId::from_bytes(fields.array()?), KeyId::from_bytes(fields.array()?)];
    let low = get_lower(whole, source)?;
    let enter = get_switch(&low, Bodies::Stored, source)?;
    let leave = [get_switch(real, Bodies::Stored, source)?, get_switch(real, Bodies::Stored, source)?];
    let highest = enter.level() == low.level() && leave.iter().all(|key| key.level() == real.level());
    if highest {
        Ok(RealRingKeys::from_keys(ids, low, enter, leave))
    } else {
        Err(WireError::value("levels of keys between two rings", "the highest", "others"))
    }
}
