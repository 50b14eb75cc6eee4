//! Joint keys of the hospitals, a threshold of them, and results that two of the three open.
//!
//! Every hospital acts in a thread of its own, with its own records, its own share and its own ledger. Records of key generation are dropped with the session:
//! a hospital that may be interrupted would keep them in a folder.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use sunzi::parties::dealing::DealingSetup;
use sunzi::parties::decryption::{Collector, Decryptor, Request, Subject};
use sunzi::parties::driver::{Driver, Incoming, Transport, channels};
use sunzi::parties::keys::{JointKeys, KeyPlan, KeySetup};
use sunzi::parties::{MemoryStore, PartiesError, Party, Roster};
use sunzi::rlwe::joint::{JointContext, ThresholdShare};
use sunzi::rlwe::wire::{self, Format};
use sunzi::rlwe::{
    Ciphertext, DeclaredNoise, EvaluationKeys, Homomorphic, LedgerFile, PublicKey, RlweContext, SecretKey,
    SharingLedger, SharingPolicy, randomness,
};

use super::parts::{NAMES, QUORUM};
use crate::encrypted::timed;
use crate::error::CliError;
use crate::progress::Progress;

/// Seconds after which a hospital gives up a round.
const PATIENCE: Duration = Duration::from_secs(600);
/// Rounds of key generation, and that of the dealing.
const ROUNDS: usize = 7;

/// A hospital with its share of the joint secret and the ledger that counts the results it opened.
pub(super) struct Member {
    pub(super) me: Party,
    pub(super) share: ThresholdShare,
    pub(super) ledger: LedgerFile,
}

/// Joint keys of the hospitals: their roster, the public and evaluation keys that they made together, and the members with their shares.
pub(super) struct Joint {
    pub(super) roster: Arc<Roster>,
    pub(super) members: Vec<Member>,
    pub(super) public: PublicKey,
    pub(super) keys: EvaluationKeys,
    /// Bytes that each hospital sent to each of the others to make keys.
    pub(super) sent: u64,
    /// Seconds for the keys, and for dealing the threshold.
    pub(super) seconds: [f64; 2],
}

/// Runs `each` for every item, in a thread of its own.
pub(super) fn at_once<T: Send, R: Send>(
    items: impl IntoIterator<Item = T>,
    each: impl Fn(T) -> Result<R, CliError> + Sync,
) -> Result<Vec<R>, CliError> {
    thread::scope(|scope| {
        let each = &each;
        let running: Vec<_> = items.into_iter().map(|item| scope.spawn(move || each(item))).collect();
        let ended = running.into_iter().map(|thread| {
            thread.join().map_err(|_| CliError::failure("the thread of a hospital stopped"))?
        });
        ended.collect()
    })
}

/// Makes the keys of a joint secret by the six rounds of the protocol, and deals a threshold of which two decrypt.
pub(super) fn make(
    context: &RlweContext,
    plan: KeyPlan,
    policy: SharingPolicy,
    progress: &Progress,
) -> Result<Joint, CliError> {
    let mut seconds = [0.0; 2];
    let [making, dealing] = &mut seconds;
    progress.begin(ROUNDS * NAMES.len());
    progress.say("making keys together");
    let (made, sent) = timed(making, || generate(context, plan, progress))?;
    let roster = Roster::new(NAMES).and_then(|roster| roster.with_threshold(QUORUM.len()));
    let roster = Arc::new(roster.map_err(CliError::failure)?);
    progress.say("dealing the threshold");
    let mut secrets = Vec::new();
    let mut all = None;
    for (me, keys) in made {
        let JointKeys { public, galois, relinearization, secret, .. } = keys;
        secrets.push((me, secret));
        // All made the same, which the last round has confirmed.
        all = Some((public, EvaluationKeys { relinearization, galois: Some(galois) }));
    }
    let (public, keys) = all.ok_or_else(|| CliError::failure("there are no hospitals"))?;
    let shares = timed(dealing, || deal(context, &roster, &public, secrets, progress))?;
    let member = |(me, share)| {
        let ledger = SharingLedger::new(context.fingerprint(), public.id(), policy);
        Member { me, share, ledger: LedgerFile::in_memory(ledger) }
    };
    let members = shares.into_iter().map(member).collect();
    Ok(Joint { roster, members, public, keys, sent, seconds })
}

/// A channel to the other hospitals that counts what is sent to each of them.
struct Counted {
    link: channels::Link,
    sent: u64,
}

impl Transport for Counted {
    fn send(&mut self, message: &[u8]) -> Result<(), PartiesError> {
        self.sent += message.len() as u64;
        self.link.send(message)
    }

    fn send_to(&mut self, to: Party, message: &[u8]) -> Result<(), PartiesError> {
        self.link.send_to(to, message)
    }

    fn receive(&mut self, wait: Duration) -> Result<Option<Incoming>, PartiesError> {
        self.link.receive(wait)
    }
}

/// Generates keys in six rounds; returns those of each hospital, and how many bytes one sends to another.
fn generate(
    context: &RlweContext,
    plan: KeyPlan,
    progress: &Progress,
) -> Result<(Vec<(Party, JointKeys)>, u64), CliError> {
    // Keys are the same whatever the threshold is: it is dealt afterwards.
    let roster = Roster::new(NAMES).map_err(CliError::failure)?;
    let nonce = KeySetup::nonce(&mut randomness::from_os().map_err(CliError::failure)?);
    let setup = KeySetup::new(context.clone(), roster, plan, nonce).map_err(CliError::failure)?;
    let hospital = |link: channels::Link| {
        let me = link.me();
        let mut channel = Counted { link, sent: 0 };
        let mut run = || -> Result<JointKeys, PartiesError> {
            let mut rng = randomness::from_os()?;
            let round = setup.begin(me, MemoryStore::default(), &mut rng)?;
            let mut ended = |now: sunzi::parties::driver::Progress| {
                if now.received == now.of {
                    progress.step();
                }
                ControlFlow::Continue(())
            };
            Driver::new(&mut channel, PATIENCE, &mut ended).generate_keys(round, &mut rng)
        };
        let keys = run().map_err(CliError::failure)?;
        Ok(((me, keys), channel.sent))
    };
    let made = at_once(channels::links(setup.roster()), hospital)?;
    let sent = made.iter().map(|(_, sent)| *sent).max().unwrap_or(0);
    Ok((made.into_iter().map(|(made, _)| made).collect(), sent))
}

/// Deals the joint secret: every hospital gets its share.
fn deal(
    context: &RlweContext,
    roster: &Roster,
    public: &PublicKey,
    secrets: Vec<(Party, SecretKey)>,
    progress: &Progress,
) -> Result<Vec<(Party, ThresholdShare)>, CliError> {
    let nonce = KeySetup::nonce(&mut randomness::from_os().map_err(CliError::failure)?);
    let setup = DealingSetup::new(context.clone(), roster.clone(), public.id(), nonce);
    let setup = setup.map_err(CliError::failure)?;
    at_once(secrets.into_iter().zip(channels::links(roster)), |((me, secret), mut link)| {
        let mut run = || -> Result<ThresholdShare, PartiesError> {
            let mut rng = randomness::from_os()?;
            let dealing = setup.begin(me, &secret, MemoryStore::default(), &mut rng)?;
            let mut quietly = |_| ControlFlow::Continue(());
            Driver::new(&mut link, PATIENCE, &mut quietly).deal(dealing)
        };
        let share = run().map_err(CliError::failure)?;
        progress.step();
        Ok((me, share))
    })
}

/// The hospitals that open results, each with its share, its ledger and what it declares.
pub(super) struct Openers {
    roster: Arc<Roster>,
    members: Vec<Decryptor<MemoryStore>>,
}

impl Openers {
    /// Makes the hospitals ready to answer requests.
    pub(super) fn new(
        context: &RlweContext,
        roster: Arc<Roster>,
        members: Vec<Member>,
    ) -> Result<Self, CliError> {
        let decryptor = |Member { me, share, ledger }| {
            let (context, roster) = (context.clone(), Arc::clone(&roster));
            Decryptor::new(context, roster, me, share, ledger, MemoryStore::default())
        };
        let members = members.into_iter().map(decryptor).collect::<Result<_, _>>();
        Ok(Self { members: members.map_err(CliError::failure)?, roster })
    }

    /// Opens a result by the counted shares of the quorum. `declared` is what each hospital of the quorum declares of its own as noise of the result; the first one
    /// makes the request.
    pub(super) fn open<C>(
        &mut self,
        context: &C,
        result: &Ciphertext<C::Scheme>,
        declared: [DeclaredNoise; QUORUM.len()],
        description: &str,
    ) -> Result<<C::Scheme as Homomorphic>::Plaintext, CliError>
    where
        C: JointContext + Format<Ciphertext<C::Scheme>> + Sync,
        Ciphertext<C::Scheme>: Sync,
        <C::Scheme as Homomorphic>::Error: std::fmt::Display,
    {
        let rlwe = <C::Scheme as Homomorphic>::rlwe(context);
        // Whoever opens the result asks for the noise of the agreed program, and not for what the file says.
        let [noise, _] = declared;
        let policy = self.policy()?;
        let decryption = context.joint_decryption(result, noise, policy).map_err(CliError::failure)?;
        let bytes = wire::to_bytes(context, result).map_err(CliError::failure)?;
        let subject = Subject { bytes: &bytes, linear: decryption.linear(), key: result.key() };
        let quorum = QUORUM.into_iter().map(|name| self.roster.named(name)).collect::<Result<Vec<_>, _>>();
        let quorum = quorum.map_err(CliError::failure)?;
        let request = Request::new(rlwe, subject, noise.bits(), quorum.iter().copied(), [0; 32], description);
        let request = request.map_err(CliError::failure)?;
        let mut collector =
            Collector::new(rlwe.clone(), &self.roster, &request).map_err(CliError::failure)?;
        let asked = self.members.iter_mut().filter(|member| quorum.contains(&member.me()));
        let answers = at_once(asked.zip(declared), |(member, declared)| {
            let reviewed = member.review(&request, subject, declared).map_err(CliError::failure)?;
            let mut rng = randomness::from_os().map_err(CliError::failure)?;
            let answer = member.answer(reviewed, &mut rng).map_err(CliError::failure)?;
            Ok((member.me(), answer))
        })?;
        for (from, answer) in answers {
            collector.accept(from, &answer).map_err(CliError::failure)?;
        }
        let shares = collector.finish().map_err(CliError::failure)?;
        let quorum = request.quorum(&self.roster).map_err(CliError::failure)?;
        context.open_shares(result, noise, policy, quorum.as_ref(), &shares).map_err(CliError::failure)
    }

    fn policy(&self) -> Result<SharingPolicy, CliError> {
        let first = self.members.first().ok_or_else(|| CliError::failure("there are no hospitals"))?;
        Ok(first.ledger().ledger().policy())
    }

    /// Results that the ledger of each hospital counts, in the order of their numbers.
    pub(super) fn counted(&self) -> Vec<u64> {
        self.members.iter().map(|member| member.ledger().ledger().used()).collect()
    }
}
