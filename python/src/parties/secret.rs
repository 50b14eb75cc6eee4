//! Python class of what a party keeps for itself: its own secret, or its share of a threshold.

use std::path::PathBuf;
use std::sync::Arc;

use pyo3::prelude::*;
use sunzi_parties as parties;
use sunzi_parties::Party;
use sunzi_parties::decryption::Holding;
use sunzi_rlwe::joint::{Reference, ThresholdShare};
use sunzi_rlwe::wire::{self, WireError};
use sunzi_rlwe::{KeyId, LedgerFile, SecretKey, SharingLedger};
use zeroize::Zeroizing;

use super::{Roster, policy};
use crate::compute::run;
use crate::error::Failure;
use crate::keys::{PublicKey, short};
use crate::scheme::Scheme;

/// What a party holds of a joint secret. Nothing here gives it to Python: it is written to a file of its owner alone.
#[pyclass(frozen, module = "sunzi._native")]
pub(crate) struct PartySecret {
    pub(super) scheme: Arc<Scheme>,
    pub(super) roster: Arc<parties::Roster>,
    pub(super) me: Party,
    /// Name of the joint secret.
    pub(super) key: KeyId,
    pub(super) held: Held,
}

/// Secret value that a party holds.
#[derive(Clone)]
pub(super) enum Held {
    Own(Arc<SecretKey>),
    Share(Arc<ThresholdShare>),
}

impl Held {
    /// Returns a copy for a decryptor. Shares are copied by their bytes, which are erased.
    pub(super) fn holding(&self, scheme: &Scheme) -> Result<Holding, Failure> {
        Ok(match self {
            Self::Own(secret) => Holding::Secret(secret.duplicate()),
            Self::Share(share) => {
                let bytes = Zeroizing::new(wire::to_bytes(scheme.rlwe(), &**share)?);
                let copy: ThresholdShare = wire::from_bytes(scheme.rlwe(), &bytes)?;
                Holding::Share(copy)
            }
        })
    }
}

#[pymethods]
impl PartySecret {
    /// Reads a secret, or the share of a threshold, of a party and a joint public key from a file.
    #[staticmethod]
    fn load(
        py: Python<'_>,
        public: &PublicKey,
        roster: &Roster,
        me: &str,
        path: PathBuf,
        threshold: bool,
    ) -> PyResult<Self> {
        let (scheme, roster, me) =
            (Arc::clone(&public.scheme), Arc::clone(&roster.inner), roster.party(py, me)?);
        let key = public.key.id();
        run(py, move || {
            let held = if threshold {
                let share: ThresholdShare = wire::load(scheme.rlwe(), &path)?;
                if (share.key(), share.party()) != (key, me.number()) {
                    let (party, key) = (share.party(), short(share.key()));
                    return Err(other_secret(
                        &roster,
                        me,
                        &format!("the share of party {party} of key {key}"),
                    ));
                }
                Held::Share(Arc::new(share))
            } else {
                let secret: SecretKey = wire::load(scheme.rlwe(), &path)?;
                if secret.id() != Reference::share_id(key, me.number()) {
                    return Err(other_secret(&roster, me, &format!("secret {}", short(secret.id()))));
                }
                Held::Own(Arc::new(secret))
            };
            Ok(Self { scheme, roster, me, key, held })
        })
    }

    /// Writes it to a new file that its owner alone can read.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let (scheme, held) = (Arc::clone(&self.scheme), self.held.clone());
        run(py, move || {
            let rlwe = scheme.rlwe();
            let write = |file: &mut std::fs::File| match &held {
                Held::Own(secret) => wire::write(rlwe, &**secret, file),
                Held::Share(share) => wire::write(rlwe, &**share, file),
            };
            Ok(wire::create::<WireError>(&path, true, write)?)
        })
    }

    /// Writes the file of the ledger of the joint secret, which has no policy until results are shared.
    fn prepare_ledger(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let (scheme, key) = (Arc::clone(&self.scheme), self.key);
        run(py, move || Ok(LedgerFile::prepare(path, scheme.fingerprint(), key)?))
    }

    /// Writes the file of the ledger of a joint secret that was handed on to this party, with its policy and the results that others counted before.
    fn begin_ledger(
        &self,
        py: Python<'_>,
        path: PathBuf,
        queries: u64,
        statistical_bits: u32,
        used: u64,
    ) -> PyResult<()> {
        let (scheme, key) = (Arc::clone(&self.scheme), self.key);
        run(py, move || {
            let policy = policy(queries, statistical_bits)?;
            let ledger = SharingLedger::new(scheme.fingerprint(), key, policy).taken_over(used)?;
            LedgerFile::create(path, ledger)?;
            Ok(())
        })
    }

    #[getter]
    fn me(&self) -> String {
        self.roster.name(self.me).to_owned()
    }

    #[getter]
    fn is_share(&self) -> bool {
        matches!(self.held, Held::Share(_))
    }

    fn __repr__(&self) -> String {
        let what = if self.is_share() { "threshold share" } else { "secret" };
        format!("<{what} of party {} of key {}>", self.me(), short(self.key))
    }
}

/// Returns the policy and the count of the ledger in a file, as results, statistical bits and results counted; `None` where nothing was shared yet.
#[pyfunction]
pub(crate) fn party_ledger(py: Python<'_>, path: PathBuf) -> PyResult<Option<(u64, u32, u64)>> {
    run(py, move || {
        let said = |ledger: SharingLedger| {
            (ledger.policy().queries(), ledger.policy().statistical_bits(), ledger.used())
        };
        Ok(LedgerFile::peek(path)?.map(said))
    })
}

fn other_secret(roster: &parties::Roster, me: Party, got: &str) -> Failure {
    let message =
        format!("what party {} decrypts with: expected its own of these keys, got {got}", roster.name(me));
    Failure::new("PartySetting", message)
}
