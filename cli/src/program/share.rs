//! Sharing of results with somebody else: which noise is declared, and the ledger beside the secret key.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::Path;

use sunzi::program::analysis::SchemeChoice;
use sunzi::program::contexts::LEDGER;
use sunzi::program::sharing::LedgerFile;
use sunzi::program::{Contexts, NodeId, Plan, Sharing};
use sunzi::rlwe::wire::WireError;
use sunzi::rlwe::{DeclaredNoise, KeyId, RlweError, SharingPolicy};

use crate::args::SharingArgs;
use crate::error::CliError;
use crate::files::{self, named};

/// Noise that is declared for each node of a program whose value is a result.
pub(super) type Declared = BTreeMap<NodeId, DeclaredNoise>;

/// Advice to users whose parameters leave no room for sharing.
const REMEDY: &str = "make parameters with sunzi plan --share or sunzi params --share";

/// Returns the command-line error for an error of a shared decryption, by whose fault it is.
pub(crate) fn refuse(error: RlweError) -> CliError {
    match error {
        RlweError::SharingRoom { bits_short, .. } => CliError::impossible(format!(
            "sharing takes {bits_short:.1} bits more than these parameters leave beside the noise: {REMEDY}, or share with fewer \
             --statistical-bits under another key"
        )),
        RlweError::ReencryptionRoom { hop, bits_short, .. } => CliError::impossible(format!(
            "re-encryption number {hop} takes {bits_short:.1} bits more than these results have left: make parameters with sunzi plan --reencryptions {hop} \
             or sunzi params --reencryptions {hop}, give sunzi reencrypt run --further where results are handed on more than once, or ask for fewer --statistical-bits"
        )),
        RlweError::NoiseDeclaredTooLow { .. } => {
            CliError::mismatch(format!("{error}; give --for and --precision as sunzi eval was given them"))
        }
        RlweError::Ledger(error) => {
            let message = format!("the sharing ledger: {error}");
            files::of_fault(error.fault(), message)
        }
        other => CliError::impossible(other),
    }
}

/// Returns the sharing that opens results by `count` decryptions, all of which the ledger still has to allow.
pub(super) fn sharing(
    policy: SharingPolicy,
    noise: Declared,
    count: u64,
    (key, folder): (KeyId, &Path),
) -> Result<Sharing, CliError> {
    let ledger = ledger(policy, key, folder)?;
    let (queries, used) = (policy.queries(), ledger.ledger().used());
    let left = queries.saturating_sub(used);
    if count > left {
        return Err(CliError::impossible(format!(
            "these results take {count} shared decryptions, {left} of the {queries} under this key are left: compute fewer results, or \
             make another key with sunzi keygen and encrypt the table under it"
        )));
    }
    Sharing::new(ledger, noise).map_err(super::refuse)
}

/// Returns the sharing policy of these options: how many ciphertexts may be shared, and how well.
pub(super) fn policy(args: &SharingArgs) -> Result<Option<SharingPolicy>, CliError> {
    let policy = |queries| SharingPolicy::new(args.statistical_bits, queries).map_err(CliError::input);
    args.share.map(policy).transpose()
}

/// Opens the ledger of a key, which promises what the first shared result is given for.
fn ledger(policy: SharingPolicy, key: KeyId, folder: &Path) -> Result<LedgerFile, CliError> {
    let path = folder.join(LEDGER);
    let ledger = LedgerFile::begin(&path, key, policy).map_err(|error| match error {
        WireError::Io(error) if error.kind() == ErrorKind::NotFound => CliError::io(format!(
            "{} is missing, and without it nobody knows how many results were shared under this key: put it back beside the secret key, or \
             make another key with sunzi keygen and encrypt the table under it",
            named(&path)
        )),
        other => files::refuse(&path, other),
    })?;
    let own = ledger.ledger();
    if own.policy() != policy {
        let (queries, bits) = (own.policy().queries(), own.policy().statistical_bits());
        return Err(CliError::input(format!(
            "under this key {queries} results are shared with {bits} statistical bits, which does not change: give --share {queries} \
             --statistical-bits {bits}, or make another key"
        )));
    }
    Ok(ledger)
}

/// Returns the noise that the key holder declares: of the plans that the agreed program may have been run by,
/// the larger counts.
pub(super) fn declared(contexts: &Contexts, plans: Option<&[Plan; 2]>) -> Result<Declared, CliError> {
    let Some(plans) = plans else {
        return match contexts.scheme() {
            SchemeChoice::Ckks => Err(CliError::input(
                "results of CKKS are shared with the errors that the agreed program leaves: give it with --for PROGRAM --schema FILE",
            )),
            SchemeChoice::Integers => Err(CliError::input(
                "results of encrypted integers have no room for noise that hides their own: share results of BFV or BGV, or leave --share away and give these only to who may know the secret key",
            )),
            SchemeChoice::Bfv | SchemeChoice::Bgv => Ok(BTreeMap::new()),
        };
    };
    Plan::noise_of_all(plans).map_err(super::refuse)
}
