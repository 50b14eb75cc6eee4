//! Parties in one process: their keys from the sessions of the protocol, and their shares of results.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use chacha20::ChaCha20Rng;
use chacha20::rand_core::SeedableRng;
use sunzi_circuits::EvaluationKeys;
use sunzi_parties::decryption::{Collector, Decryptor, Request, Subject as Asked};
use sunzi_parties::driver::{Driver, channels};
use sunzi_parties::keys::{JointKeys, KeyPlan, KeySetup};
use sunzi_parties::{MemoryStore, Roster};
use sunzi_program::Plan;
use sunzi_program::contexts::{Agreed, Contexts, Subject};
use sunzi_program::results::ResultsReader;
use sunzi_rlwe::joint::{DecryptionShare, Quorum, ThresholdPiece, ThresholdShare};
use sunzi_rlwe::{LedgerFile, SecretKey, SharingLedger};

use crate::encrypted::Failed;

/// All parties: their secrets, and the keys that they made together.
pub(super) struct Hospitals {
    pub(super) parties: u32,
    roster: Arc<Roster>,
    secrets: Vec<SecretKey>,
    /// Keys as the first party has them, without its secret.
    pub(super) keys: Made,
    /// Shares of a threshold, and how many of them open a result.
    dealt: Option<(u32, Vec<ThresholdShare>)>,
    pub(super) rng: ChaCha20Rng,
}

/// Keys that all parties made alike.
pub(super) struct Made {
    pub(super) public: sunzi_rlwe::PublicKey,
    evaluation: EvaluationKeys,
}

impl Hospitals {
    pub(super) fn new(contexts: &Contexts, plan: &Plan, threshold: Option<u32>, nonce: u8) -> Self {
        let parties = contexts.parameters().parties();
        let roster = Roster::new((0..parties).map(|at| format!("hospital {at}"))).unwrap();
        let levels = contexts.joint_key_levels(plan).unwrap();
        let key_plan = KeyPlan::new(contexts.rlwe(), levels.relinearization, levels.galois).unwrap();
        let setup = KeySetup::new(contexts.rlwe().clone(), roster.clone(), key_plan, [nonce; 32]).unwrap();
        let made: Vec<JointKeys> = thread::scope(|scope| {
            let running = roster.parties().zip(channels::links(&roster)).map(|(me, mut link)| {
                let setup = &setup;
                scope.spawn(move || {
                    let mut rng = ChaCha20Rng::seed_from_u64(u64::from(me.number()));
                    let round = setup.begin(me, MemoryStore::default(), &mut rng).unwrap();
                    let mut quietly = |_| ControlFlow::Continue(());
                    let mut driver = Driver::new(&mut link, Duration::from_secs(300), &mut quietly);
                    driver.generate_keys(round, &mut rng).unwrap()
                })
            });
            let running: Vec<_> = running.collect();
            running.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        let mut rng = ChaCha20Rng::seed_from_u64(u64::from(nonce) + 1000);
        let mut secrets = Vec::new();
        let mut keys = None;
        for JointKeys { public, relinearization, galois, secret, .. } in made {
            secrets.push(secret);
            keys.get_or_insert(Made {
                public,
                evaluation: EvaluationKeys { relinearization, galois: Some(galois) },
            });
        }
        let keys = keys.unwrap();
        let dealt = threshold.map(|threshold| {
            let (context, key) = (contexts.rlwe(), keys.public.id());
            let mut dealers: Vec<_> = secrets
                .iter()
                .map(|secret| {
                    let pieces = ThresholdPiece::deal(context, key, secret, threshold, parties, &mut rng);
                    pieces.unwrap().into_iter()
                })
                .collect();
            let share = |party| {
                let pieces: Vec<_> = dealers.iter_mut().map(|pieces| pieces.next().unwrap()).collect();
                ThresholdShare::combine(context, party, &pieces).unwrap()
            };
            (threshold, (1..=parties).map(share).collect())
        });
        Self { parties, roster: Arc::new(roster), secrets, keys, dealt, rng }
    }

    pub(super) fn evaluation(&self) -> EvaluationKeys {
        self.keys.evaluation.clone()
    }

    /// Number of parties that open a result.
    pub(super) fn threshold(&self) -> usize {
        self.dealt.as_ref().map_or(self.secrets.len(), |(threshold, _)| *threshold as usize)
    }

    /// Returns the shares of every ciphertext of a file: of all parties, or of the last ones of a threshold.
    pub(super) fn shares(
        &mut self,
        contexts: &Contexts,
        file: &[u8],
        agreed: &Agreed,
    ) -> (Option<Quorum>, Vec<Vec<DecryptionShare>>) {
        let Self { secrets, dealt, rng, parties, .. } = self;
        let rlwe = contexts.rlwe();
        let all = subjects(contexts, file, agreed);
        let Some((threshold, dealt)) = dealt else {
            let of = |subject: &Subject| {
                secrets.iter().map(|secret| subject.decryption.share(rlwe, secret, rng).unwrap()).collect()
            };
            return (None, all.iter().map(of).collect());
        };
        let numbers: Vec<u32> = (*parties - *threshold + 1..=*parties).collect();
        let quorum = Quorum::new(*threshold, *parties, &numbers).unwrap();
        let of = |subject: &Subject| {
            let members = dealt.iter().filter(|share| numbers.contains(&share.party()));
            let share = |own: &ThresholdShare| {
                subject.decryption.share(rlwe, &own.in_quorum(rlwe, &quorum).unwrap(), rng).unwrap()
            };
            members.map(share).collect()
        };
        let shares = all.iter().map(of).collect();
        (Some(quorum), shares)
    }

    /// Returns the shares of every ciphertext of a file, as answers to requests that each party reviewed and counted.
    pub(super) fn answers(
        &mut self,
        contexts: &Contexts,
        file: &[u8],
        agreed: &Agreed,
    ) -> Vec<Vec<DecryptionShare>> {
        let (rlwe, key) = (contexts.rlwe(), self.keys.public.id());
        let ledger = || {
            let own = SharingLedger::new(rlwe.fingerprint(), key, agreed.policy());
            LedgerFile::in_memory(own)
        };
        let secrets = std::mem::take(&mut self.secrets);
        let mut hospitals: Vec<_> = self
            .roster
            .parties()
            .zip(secrets)
            .map(|(me, secret)| {
                let (roster, store) = (Arc::clone(&self.roster), MemoryStore::default());
                Decryptor::new(rlwe.clone(), roster, me, secret, ledger(), store).unwrap()
            })
            .collect();
        let mut all = Vec::new();
        for own in subjects(contexts, file, agreed) {
            let subject = Asked { bytes: &own.bytes, linear: own.decryption.linear(), key: own.key };
            let parties = self.roster.parties();
            let request = Request::new(rlwe, subject, own.noise.bits(), parties, [0; 32], "a test").unwrap();
            let mut collector = Collector::new(rlwe.clone(), &self.roster, &request).unwrap();
            for hospital in &mut hospitals {
                let reviewed = hospital.review(&request, subject, own.noise).unwrap();
                let answer = hospital.answer(reviewed, &mut self.rng).unwrap();
                collector.accept(hospital.me(), &answer).unwrap();
            }
            all.push(collector.finish().unwrap());
        }
        for hospital in hospitals {
            assert_eq!(hospital.ledger().ledger().used(), all.len() as u64);
        }
        all
    }
}

/// Returns all ciphertexts of a file as the parties open them.
pub(super) fn subjects(contexts: &Contexts, file: &[u8], agreed: &Agreed) -> Vec<Subject> {
    let mut reader = ResultsReader::open(contexts, file).unwrap();
    let mut all = Vec::new();
    while let Some(own) = reader.next_subjects::<Failed>(agreed).unwrap() {
        all.extend(own);
    }
    assert!(all.iter().zip(0..).all(|(subject, place)| subject.place == place));
    all
}
