//! Specimens of what several parties send and keep: the files of version 1, in the context that they were made in.

use std::fs;
use std::path::Path;

use sunzi::parties::Message;
use sunzi::parties::decryption::Request;
use sunzi::parties::operations::{Additive, JointSwitch, OperationRequest, Refresh, Switch};
use sunzi::ring::{GadgetOptions, Ring};
use sunzi::rlwe::joint::{
    DecryptionShare, EphemeralSecret, GaloisShares, KeySwitchShare, PublicKeyShare, PublicKeySwitchShare,
    RefreshShare, RelinearizationShare, RoundTwoShare, ThresholdPiece, ThresholdShare,
};
use sunzi::rlwe::wire::{Format, HEADER_LEN, Kind, Reader, from_bytes};
use sunzi::rlwe::{RlweContext, SecretDistribution, Security};
use sunzi_math::primes_below;
use sunzi_testing::wire::{Failure, Specimen};

const INDEX: u64 = 256;
/// Messages of each kind, by their names in the folder of golden files.
const MESSAGES: [&str; 13] = [
    "reference-commitment",
    "reference-contribution",
    "key-commitment",
    "key-shares",
    "second-shares",
    "key-confirmation",
    "dealt-piece",
    "share-confirmation",
    "decryption-answer",
    "refresh-answer",
    "switch-answer",
    "additive-answer",
    "joint-switch-answer",
];
/// Length of what stands in a message before its content.
const ENVELOPE: usize = 88;

/// Makes the context of the golden files of parties.
fn context() -> Result<RlweContext, Failure> {
    let ring = Ring::new(INDEX, &primes_below(1 << 47, INDEX, 4)?)?;
    let special_moduli = primes_below(1 << 50, INDEX, 1)?;
    let options = GadgetOptions { digits: None, special_moduli, ..GadgetOptions::default() };
    let context = RlweContext::with_gadget(ring, Security::InsecureForResearchOnly, &options)?;
    Ok(context.with_secrets(SecretDistribution::Joint(2))?)
}

fn golden(name: &str) -> Result<Vec<u8>, Failure> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("golden/v1");
    Ok(fs::read(folder.join(format!("parties-{name}.sz")))?)
}

fn object<T: 'static>(name: &str, context: &RlweContext) -> Result<Specimen, Failure>
where
    RlweContext: Format<T>,
{
    let object: T = from_bytes(context, &golden(name)?)?;
    Specimen::new(name, context, &object, |_| ())
}

/// Returns the specimen of a message, which is read without a context.
fn message(name: &str) -> Result<Specimen, Failure> {
    let bytes = golden(name)?;
    let kind = Kind::of(Reader::new(&bytes[..])?.header().kind).ok_or("a kind that is known")?;
    let end = HEADER_LEN + ENVELOPE;
    let records = vec![HEADER_LEN..end, end + 8..bytes.len() - 8];
    Ok(Specimen::of_reader(name, kind, (bytes, records), |bytes| Ok(Message::read(bytes)?.to_bytes())))
}

/// Returns specimens of shares, requests and messages of several parties.
pub(crate) fn party_specimens() -> Result<Vec<Specimen>, Failure> {
    let context = &context()?;
    let mut all = vec![
        object::<PublicKeyShare>("public-key-share", context)?,
        object::<GaloisShares>("galois-shares", context)?,
        object::<RelinearizationShare>("relinearization-share", context)?,
        object::<RoundTwoShare>("round-two-share", context)?,
        object::<DecryptionShare>("decryption-share", context)?,
        object::<EphemeralSecret>("ephemeral-secret", context)?,
        object::<ThresholdPiece>("threshold-piece", context)?,
        object::<ThresholdShare>("threshold-share", context)?,
        object::<RefreshShare>("refresh-share", context)?,
        object::<PublicKeySwitchShare>("switch-share", context)?,
        object::<KeySwitchShare>("joint-switch-share", context)?,
        object::<Request>("decryption-request", context)?,
        object::<OperationRequest<Refresh>>("refresh-request", context)?,
        object::<OperationRequest<Switch>>("switch-request", context)?,
        object::<OperationRequest<Additive>>("additive-request", context)?,
        object::<OperationRequest<JointSwitch>>("joint-switch-request", context)?,
    ];
    for name in MESSAGES {
        all.push(message(name)?);
    }
    Ok(all)
}
