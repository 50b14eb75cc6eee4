//! CKKS in files: the records of `docs/format.md` other than keys.

use std::io::BufRead;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sunzi_rlwe::moduli::MAX_MODULI;
use sunzi_rlwe::wire::{
    CiphertextOf, FieldReader, Fields, Format, Header, Kind, RingPart, SchemeFormat, SecurityClaim, Sink,
    Source, StoredParameters, WireError, claimed, get_security, put_security,
};
use sunzi_rlwe::{RingShape, RlweContext};
use zeroize::Zeroizing;

use crate::plaintext::check_scale;
use crate::precision::{Precision, STORED_LEN};
use crate::{Ckks, Context, Metadata, Parameters, Plaintext, ScaleRange};

/// Bytes of level, scale, slots and precision in files.
const METADATA_LEN: usize = 3 * 8 + STORED_LEN;

/// Writes the numbers on which CKKS messages depend: the level of the ring and the scale of every level.
fn describe(levels: impl Iterator<Item = (usize, f64)>, fields: &mut Fields) {
    fields.bytes(b"CKKS");
    for (limbs, scale) in levels {
        fields.usize(limbs);
        fields.f64(scale);
    }
}

impl SchemeFormat for Context {
    type Scheme = Ckks;
    const CIPHERTEXT: Kind = Kind::CkksCiphertext;
    const CIPHERTEXTS: Kind = Kind::CkksCiphertexts;
    const PLAINTEXT: Kind = Kind::CkksPlaintext;
    const METADATA_LEN: usize = METADATA_LEN;

    fn rlwe(&self) -> &RlweContext {
        self.rlwe()
    }

    fn describe(&self, fields: &mut Fields) {
        describe(self.level_scales(), fields);
    }

    fn put_metadata(&self, metadata: &Metadata, fields: &mut Fields) {
        fields.usize(metadata.level);
        fields.f64(metadata.scale);
        fields.usize(metadata.slots);
        metadata.precision.put(fields);
    }

    fn get_metadata(&self, fields: &mut FieldReader<'_>) -> Result<Metadata, WireError> {
        let (level, scale) = (fields.usize_in("level of CKKS", 0..=self.depth())?, fields.f64()?);
        let slots = fields.usize_in("slots", 1..=self.max_slots())?;
        check_scale(scale).and_then(|()| self.check_slots(slots)).map_err(WireError::scheme)?;
        Ok(Metadata { level, scale, slots, precision: Precision::get(fields)? })
    }

    fn accept(&self, ciphertext: CiphertextOf<Self>) -> Result<CiphertextOf<Self>, WireError> {
        self.check(&ciphertext).map_err(WireError::scheme)?;
        self.finish(ciphertext, "load", &[]).map_err(WireError::scheme)
    }
}

impl Format<Plaintext> for Context {
    const KIND: Kind = Self::PLAINTEXT;

    fn put(&self, plaintext: &Plaintext, sink: &mut impl Sink) -> Result<(), WireError> {
        self.check_plaintext(plaintext).map_err(WireError::scheme)?;
        let mut fields = Fields::default();
        self.put_metadata(plaintext.metadata(), &mut fields);
        sink.sealed(fields.as_bytes())?;
        sink.poly(self.ring_at(plaintext.level()).map_err(WireError::scheme)?, plaintext.poly())?;
        sink.seal()
    }

    fn get(&self, _: &Header, source: &mut Source<impl BufRead>) -> Result<Plaintext, WireError> {
        let record = source.sealed("a plaintext's numbers", METADATA_LEN)?;
        let metadata = self.get_metadata(&mut FieldReader::new(&record))?;
        let Metadata { level, scale, precision, .. } = &metadata;
        self.check_magnitude("load", precision.magnitude(), *level, *scale).map_err(WireError::scheme)?;
        let poly = Zeroizing::new(source.poly(self.ring_at(*level).map_err(WireError::scheme)?)?);
        source.seal("the plaintext")?;
        Ok(Plaintext::from_parts(poly, metadata))
    }
}

fn ring_part(parameters: &Parameters) -> RingPart {
    RingPart {
        ring: parameters.shape(),
        moduli: parameters.moduli().to_vec(),
        rungs: parameters.rungs().to_vec(),
        key_switching: parameters.key_switching().clone(),
        secrets: parameters.secrets(),
    }
}

impl StoredParameters for Parameters {
    const KIND: Kind = Kind::CkksParameters;

    fn key_bytes(&self) -> Vec<u8> {
        ring_part(self).to_bytes()
    }

    fn describe(&self, fields: &mut Fields) {
        describe(self.levels().iter().copied().zip(self.scales()), fields);
    }

    fn claim(&self) -> SecurityClaim {
        ring_part(self).claim("CKKS", Vec::new(), self.security())
    }

    fn table_bytes(&self) -> u64 {
        self.table_bytes()
    }

    fn digits(&self) -> usize {
        ring_part(self).digits()
    }

    fn put(&self, fields: &mut Fields) {
        fields.bytes(&self.key_bytes());
        fields.list(self.levels().iter().map(|&limbs| limbs as u64));
        fields.list(self.scale_ranges().iter().map(|range| range.top as u64));
        fields.list(self.scale_ranges().iter().map(|range| range.bits.into()));
        fields.u64(self.message_bits().into());
        put_security(fields, self.security());
    }

    fn get(fields: &mut FieldReader<'_>) -> Result<Self, WireError> {
        let ring = RingPart::get(fields)?;
        let (log2_degree, real_slots) = match ring.ring {
            RingShape::Log2Degree(log2_degree) => (log2_degree, false),
            RingShape::RealLog2Degree(log2_degree) => (log2_degree, true),
            RingShape::RingIndex(m) => {
                return Err(WireError::value("ring index of CKKS", "a power of two", m));
            }
        };
        let whole = |value: u64| usize::try_from(value).unwrap_or(usize::MAX);
        let levels = fields.list("levels", MAX_MODULI)?.into_iter().map(whole).collect();
        let tops = fields.list("ranges of scales", MAX_MODULI)?;
        let bits = fields.list("scales", MAX_MODULI)?;
        if tops.len() != bits.len() {
            return Err(WireError::value("scales", tops.len(), bits.len()));
        }
        let short = |value: u64| u32::try_from(value).unwrap_or(u32::MAX);
        let ranges = tops.into_iter().zip(bits);
        let scales = ranges.map(|(top, bits)| ScaleRange { top: whole(top), bits: short(bits) }).collect();
        let message_bits = short(fields.u64()?);
        let parameters = Self::new(log2_degree, ring.moduli, levels, 0, get_security(fields)?)
            .with_rungs(ring.rungs)
            .with_scales(scales)
            .with_message_bits(message_bits)
            .with_secrets(ring.secrets)
            .with_key_switching(ring.key_switching);
        let parameters = if real_slots { parameters.with_real_slots() } else { parameters };
        parameters.validate().map_err(WireError::scheme)?;
        Ok(parameters)
    }
}

impl Serialize for Parameters {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Self::serialize(self, serializer)
    }
}

impl<'de> Deserialize<'de> for Parameters {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        claimed(Self::deserialize(deserializer)?)
    }
}
