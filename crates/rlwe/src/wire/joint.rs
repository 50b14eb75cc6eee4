//! Wire format of shares of several parties: no uniform half is stored, since all follow from the reference that the parties have.

use std::collections::BTreeMap;
use std::io::BufRead;

use sunzi_ring::{Evaluation, Poly};
use zeroize::{Zeroize, Zeroizing};

use super::keys::{get_small, put_small};
use super::{FieldReader, Fields, Format, Header, Kind, Sink, Source, WireError};
use crate::joint::{
    DecryptionShare, EncryptionShare, EphemeralSecret, GaloisHalf, GaloisShares, KeySwitchShare, Point,
    PublicKeyShare, PublicKeySwitchShare, RefreshShare, RelinearizationShare, RoundTwoShare, ThresholdPiece,
    ThresholdShare, gadget_at,
};
use crate::{KeyId, RlweContext, SecretDistribution, SecretKey};

/// Length of an entry of a list of Galois keys, in bytes: exponent and level.
const ENTRY_LEN: usize = 2 * 8;

fn put_level(level: usize, sink: &mut impl Sink) -> Result<(), WireError> {
    sink.sealed(&(level as u64).to_le_bytes())
}

fn get_level(context: &RlweContext, source: &mut Source<impl BufRead>) -> Result<usize, WireError> {
    let record = source.sealed("the level of a share", 8)?;
    FieldReader::new(&record).usize_in("level of a share", 1..=context.level())
}

impl Format<PublicKeyShare> for RlweContext {
    const KIND: Kind = Kind::PublicKeyShare;

    fn key(&self, share: &PublicKeyShare) -> Option<KeyId> {
        Some(share.key)
    }

    fn put(&self, share: &PublicKeyShare, sink: &mut impl Sink) -> Result<(), WireError> {
        sink.poly(&self.encryption_ring()?, &share.body)?;
        sink.seal()
    }

    fn get(&self, header: &Header, source: &mut Source<impl BufRead>) -> Result<PublicKeyShare, WireError> {
        let body = source.poly(&self.encryption_ring()?)?;
        source.seal("a share of a public key")?;
        Ok(PublicKeyShare { key: header.required_key()?, body })
    }
}

impl Format<GaloisShares> for RlweContext {
    const KIND: Kind = Kind::GaloisShares;

    fn key(&self, shares: &GaloisShares) -> Option<KeyId> {
        Some(shares.key)
    }

    fn put(&self, shares: &GaloisShares, sink: &mut impl Sink) -> Result<(), WireError> {
        sink.sealed(&(shares.halves.len() as u64).to_le_bytes())?;
        let mut fields = Fields::default();
        for (exponent, level) in shares.exponents() {
            fields.u64(exponent);
            fields.usize(level);
        }
        sink.sealed(fields.as_bytes())?;
        for half in shares.halves.values() {
            let gadget = self.gadget_at(half.level)?;
            for (digit, part) in half.parts.iter().enumerate() {
                sink.key_part(&gadget, part, digit)?;
            }
            sink.seal()?;
        }
        Ok(())
    }

    fn get(&self, header: &Header, source: &mut Source<impl BufRead>) -> Result<GaloisShares, WireError> {
        let index = self.ring().ring_index();
        let record = source.sealed("the count of shares of Galois keys", 8)?;
        let count = FieldReader::new(&record).usize_in("shares of Galois keys", 0..=index.degree())?;
        let record = source.sealed("the list of shares of Galois keys", count * ENTRY_LEN)?;
        let mut fields = FieldReader::new(&record);
        let (mut halves, mut least) = (BTreeMap::new(), 2);
        for _ in 0..count {
            let exponent = fields.u64()?;
            let level = fields.usize_in("level of a share", 1..=self.level())?;
            if exponent < least || !index.is_automorphism(exponent) {
                let expected = format!("ascending exponents of automorphisms, below {}", index.value());
                return Err(WireError::value("exponents of Galois keys", expected, exponent));
            }
            least = exponent.saturating_add(1);
            let gadget = self.gadget_at(level)?;
            let part = |digit| Ok(gadget.pack_part(source.poly(&gadget.part_ring(digit)?)?, digit)?);
            let parts = (0..gadget.digit_count()).map(part).collect::<Result<_, WireError>>()?;
            source.seal("a share of a Galois key")?;
            halves.insert(exponent, GaloisHalf { level, parts });
        }
        Ok(GaloisShares { key: header.required_key()?, halves })
    }
}

impl Format<RelinearizationShare> for RlweContext {
    const KIND: Kind = Kind::RelinearizationShare;

    fn key(&self, share: &RelinearizationShare) -> Option<KeyId> {
        Some(share.key)
    }

    fn put(&self, share: &RelinearizationShare, sink: &mut impl Sink) -> Result<(), WireError> {
        put_level(share.level, sink)?;
        let gadget = gadget_at(self, share.level)?;
        for (digit, pair) in share.pairs.iter().enumerate() {
            pair.iter().try_for_each(|part| sink.key_part(&gadget, part, digit))?;
        }
        sink.seal()
    }

    fn get(
        &self,
        header: &Header,
        source: &mut Source<impl BufRead>,
    ) -> Result<RelinearizationShare, WireError> {
        let level = get_level(self, source)?;
        let gadget = gadget_at(self, level)?;
        let pair = |digit| {
            let mut half = || Ok::<_, WireError>(gadget.pack_part(source.poly(gadget.key_ring())?, digit)?);
            Ok([half()?, half()?])
        };
        let pairs = (0..gadget.digit_count()).map(pair).collect::<Result<_, WireError>>()?;
        source.seal("a first share of a relinearisation key")?;
        Ok(RelinearizationShare { key: header.required_key()?, level, pairs })
    }
}

impl Format<RoundTwoShare> for RlweContext {
    const KIND: Kind = Kind::RoundTwoShare;

    fn key(&self, share: &RoundTwoShare) -> Option<KeyId> {
        Some(share.key)
    }

    fn put(&self, share: &RoundTwoShare, sink: &mut impl Sink) -> Result<(), WireError> {
        put_level(share.level, sink)?;
        let gadget = gadget_at(self, share.level)?;
        let mut parts = share.parts.iter().enumerate();
        parts.try_for_each(|(digit, part)| sink.key_part(&gadget, part, digit))?;
        sink.seal()
    }

    fn get(&self, header: &Header, source: &mut Source<impl BufRead>) -> Result<RoundTwoShare, WireError> {
        let level = get_level(self, source)?;
        let gadget = gadget_at(self, level)?;
        let part = |digit| Ok(gadget.pack_part(source.poly(gadget.key_ring())?, digit)?);
        let parts = (0..gadget.digit_count()).map(part).collect::<Result<_, WireError>>()?;
        source.seal("a second share of a relinearisation key")?;
        Ok(RoundTwoShare { key: header.required_key()?, level, parts })
    }
}

impl Format<DecryptionShare> for RlweContext {
    const KIND: Kind = Kind::DecryptionShare;

    fn put(&self, share: &DecryptionShare, sink: &mut impl Sink) -> Result<(), WireError> {
        let level = share.level(self)?;
        put_level(level, sink)?;
        sink.poly(&self.ring_at(level)?, &share.0)?;
        sink.seal()
    }

    fn get(&self, header: &Header, source: &mut Source<impl BufRead>) -> Result<DecryptionShare, WireError> {
        header.without_key()?;
        let level = get_level(self, source)?;
        let poly = source.poly(&self.ring_at(level)?)?;
        source.seal("a share of a decryption")?;
        Ok(DecryptionShare(poly))
    }
}

impl Format<RefreshShare> for RlweContext {
    const KIND: Kind = Kind::RefreshShare;

    fn put(&self, share: &RefreshShare, sink: &mut impl Sink) -> Result<(), WireError> {
        for poly in [&share.opening.0, &share.masks.0] {
            let level = self.ring().level_of(poly)?;
            put_level(level, sink)?;
            sink.poly(&self.ring_at(level)?, poly)?;
            sink.seal()?;
        }
        Ok(())
    }

    fn get(&self, header: &Header, source: &mut Source<impl BufRead>) -> Result<RefreshShare, WireError> {
        header.without_key()?;
        let mut next = || -> Result<Poly<Evaluation>, WireError> {
            let level = get_level(self, source)?;
            let poly = source.poly(&self.ring_at(level)?)?;
            source.seal("a share of a refresh")?;
            Ok(poly)
        };
        let (opening, masks) = (next()?, next()?);
        Ok(RefreshShare { opening: DecryptionShare(opening), masks: EncryptionShare(masks) })
    }
}

impl Format<PublicKeySwitchShare> for RlweContext {
    const KIND: Kind = Kind::PublicKeySwitchShare;

    fn put(&self, share: &PublicKeySwitchShare, sink: &mut impl Sink) -> Result<(), WireError> {
        let ring = self.ring_at(share.level)?;
        put_level(share.level, sink)?;
        share.parts.iter().try_for_each(|part| sink.packed(&ring, part))?;
        sink.seal()
    }

    fn get(
        &self,
        header: &Header,
        source: &mut Source<impl BufRead>,
    ) -> Result<PublicKeySwitchShare, WireError> {
        header.without_key()?;
        let level = get_level(self, source)?;
        let ring = self.ring_at(level)?;
        let mut part = || Ok::<_, WireError>(ring.packed(&source.poly(&ring)?)?);
        let parts = [part()?, part()?];
        source.seal("a share of a switch")?;
        Ok(PublicKeySwitchShare { level, parts })
    }
}

impl Format<KeySwitchShare> for RlweContext {
    const KIND: Kind = Kind::KeySwitchShare;

    fn put(&self, share: &KeySwitchShare, sink: &mut impl Sink) -> Result<(), WireError> {
        Format::<DecryptionShare>::put(self, &share.0, sink)
    }

    fn get(&self, header: &Header, source: &mut Source<impl BufRead>) -> Result<KeySwitchShare, WireError> {
        Format::<DecryptionShare>::get(self, header, source).map(KeySwitchShare)
    }
}

impl Format<EphemeralSecret> for RlweContext {
    const KIND: Kind = Kind::EphemeralSecret;

    fn key(&self, secret: &EphemeralSecret) -> Option<KeyId> {
        Some(secret.key)
    }

    fn put(&self, secret: &EphemeralSecret, sink: &mut impl Sink) -> Result<(), WireError> {
        put_level(secret.level, sink)?;
        put_small(self, &secret.u, sink)
    }

    fn get(&self, header: &Header, source: &mut Source<impl BufRead>) -> Result<EphemeralSecret, WireError> {
        let level = get_level(self, source)?;
        let (key, coefficients) = (header.required_key()?, get_small(self, source)?);
        // The name of the ephemeral secret itself is used by nothing.
        Ok(EphemeralSecret { key, level, u: SecretKey::from_coefficients(self, key, &coefficients)? })
    }
}

impl Format<ThresholdPiece> for RlweContext {
    const KIND: Kind = Kind::ThresholdPiece;

    fn key(&self, piece: &ThresholdPiece) -> Option<KeyId> {
        Some(piece.key())
    }

    fn put(&self, piece: &ThresholdPiece, sink: &mut impl Sink) -> Result<(), WireError> {
        put_party(&piece.0, sink)?;
        sink.packed(self.key_ring(), &piece.0.value)?;
        sink.seal()
    }

    fn get(&self, header: &Header, source: &mut Source<impl BufRead>) -> Result<ThresholdPiece, WireError> {
        let Point { key, party, value } = get_point(self, header, source)?;
        let value = Zeroizing::new(self.key_ring().packed(&value)?);
        Ok(ThresholdPiece(Point { key, party, value }))
    }
}

impl Format<ThresholdShare> for RlweContext {
    const KIND: Kind = Kind::ThresholdShare;

    fn key(&self, share: &ThresholdShare) -> Option<KeyId> {
        Some(share.key())
    }

    fn put(&self, share: &ThresholdShare, sink: &mut impl Sink) -> Result<(), WireError> {
        put_party(&share.0, sink)?;
        sink.poly(self.key_ring(), &*share.0.value)?;
        sink.seal()
    }

    fn get(&self, header: &Header, source: &mut Source<impl BufRead>) -> Result<ThresholdShare, WireError> {
        get_point(self, header, source).map(ThresholdShare)
    }
}

/// Writes the number of the party of a secret value.
fn put_party<V: Zeroize>(point: &Point<V>, sink: &mut impl Sink) -> Result<(), WireError> {
    sink.sealed(&u64::from(point.party).to_le_bytes())
}

/// Reads the number of a party and its value.
fn get_point(
    context: &RlweContext,
    header: &Header,
    source: &mut Source<impl BufRead>,
) -> Result<Point<Poly<Evaluation>>, WireError> {
    let record = source.sealed("the number of a party", 8)?;
    let most = SecretDistribution::MOST_PARTIES as usize;
    let party = FieldReader::new(&record).usize_in("number of a party", 1..=most)? as u32;
    let value = Zeroizing::new(source.poly(context.key_ring())?);
    source.seal("a threshold share")?;
    Ok(Point { key: header.required_key()?, party, value })
}
