//! `sunzi party keygen`: keys of all parties, in six rounds, and shares of a threshold where not all open results; or a key that is handed on.

use std::thread;
use std::time::{Duration, Instant};

use serde::Serialize;
use sunzi::parties::dealing::DealingSetup;
use sunzi::parties::decryption::Holding;
use sunzi::parties::driver::Driver;
use sunzi::parties::keys::{JointKeys, KeyPlan, KeySetup};
use sunzi::parties::{Contacts, FolderStore, Identity};
use sunzi::program::Contexts;
use sunzi::rlwe::{memory, randomness};

use super::cards::{self, Known};
use super::handing_on::Received;
use super::home::{Home, IDENTITY};
use super::keys::{Published, adopt, keep_holding, publish};
use super::link::{Speaker, showing, telling};
use super::run::{DEALING, ROUNDS, Run, number};
use crate::args::party::{KeygenArgs, WaitArgs};
use crate::ask::confirm;
use crate::error::{CliError, one_line, one_lines};
use crate::fingerprint::{OF_PARTIES, expect as expect_fingerprint};
use crate::progress::Progress;
use crate::{output, program};

/// Number of rounds of a generation of keys.
const COUNT: u64 = 6;
/// Time between two looks for cards of others.
const LOOK: Duration = Duration::from_millis(300);

/// Report of `sunzi party keygen`.
#[derive(Serialize)]
struct Made {
    name: String,
    /// Name of the joint key.
    key: String,
    /// Fingerprint of the cards of all parties.
    cards: String,
    threshold: usize,
    #[serde(flatten)]
    published: Published,
}

/// Makes keys with all other parties, or goes on where this party stopped.
pub(super) fn run(args: &KeygenArgs) -> Result<(), CliError> {
    let home = Home::open(&args.home)?;
    let (wait, json) = (&args.wait, args.output.json);
    let quiet = wait.quiet || json;
    let identity = home.identity()?;
    home.announce()?;
    let contacts = home.all_cards(args.expect.as_deref(), wait, json)?;
    let agreement = &home.agreement;
    let contexts = agreement.contexts()?;
    let time = Duration::from_secs(wait.timeout);
    let session = home.session();
    let speaker = Speaker { identity: &identity, contacts: &contacts, session, wait: time };
    let progress = Progress::new(!quiet);
    let run = Run { home: &home, speaker, progress: &progress, quiet };
    if let (Some(setup), Some(before)) = (home.handing_on(&contexts, &contacts)?, &agreement.before) {
        adopt(&home, &before.keys)?;
        let received = run.hand_on(&contexts, (&setup, before))?;
        drop(progress);
        return output::report(json, &received, Received::text);
    }
    let made = run.make(&contexts)?;
    drop(progress);
    output::report(json, &made, |made| made.text(agreement.roster.len()))
}

impl Made {
    fn text(&self, parties: usize) -> String {
        let Self { name, key, cards, threshold, published } = self;
        one_lines(&format!(
            "key          {key}, of which {name} holds a share that {threshold} of {parties} open results with\n\
             cards        {cards}\n{}",
            published.text(),
        ))
    }
}

/// Returns the setup of the rounds: its number is a hash of the agreement and all cards, so that parties who have another one of any of these are in another session.
fn setup(home: &Home, contexts: &Contexts, contacts: &Contacts) -> Result<KeySetup, CliError> {
    let agreement = &home.agreement;
    let levels = contexts.joint_key_levels(&agreement.plan).map_err(program::refuse)?;
    let plan = KeyPlan::new(contexts.rlwe(), levels.relinearization, levels.galois);
    let plan = plan.map_err(super::refuse)?;
    let number = number(home, contacts);
    KeySetup::new(contexts.rlwe().clone(), (*agreement.roster).clone(), plan, number).map_err(super::refuse)
}

impl Home {
    /// Reads the identity of this party.
    pub(super) fn identity(&self) -> Result<Identity, CliError> {
        let file = self.path(IDENTITY);
        let identity = Identity::load(&file).map_err(|error| cards::in_file(&file, error))?;
        if identity.name() == self.name() {
            return Ok(identity);
        }
        Err(CliError::mismatch(format!(
            "{}: expected the identity of {:?}, got that of {:?}",
            crate::files::named(&file),
            self.name(),
            identity.name()
        )))
    }

    /// Waits for the cards of all parties, shows them, and asks about those that are new.
    fn all_cards(&self, expect: Option<&str>, wait: &WaitArgs, json: bool) -> Result<Contacts, CliError> {
        let (contacts, news) = self.awaited_cards(Duration::from_secs(wait.timeout), json || wait.quiet)?;
        expect_fingerprint(expect, &contacts.fingerprint(), "the cards of all parties", OF_PARTIES)?;
        if !news {
            return Ok(contacts);
        }
        if !json {
            let everyone = &self.agreement.everyone;
            let cards = everyone.parties().filter_map(|party| contacts.card(party));
            let lines: Vec<String> = cards
                .map(|card| format!("card         {}  {}", card.fingerprint(), one_line(card.name())))
                .collect();
            let all = contacts.fingerprint();
            output::print_beside(&format!("{}\nall cards    {all}", lines.join("\n")));
        }
        if !wait.yes && expect.is_none() {
            confirm(
                "Do the other parties read out the same fingerprint of all cards?",
                "--expect with the fingerprint of all cards, or --yes",
            )?;
        }
        self.keep_cards(&contacts)?;
        Ok(contacts)
    }

    fn awaited_cards(&self, time: Duration, quiet: bool) -> Result<(Contacts, bool), CliError> {
        let end = Instant::now().checked_add(time);
        let mut told = false;
        loop {
            let missing = match self.cards()? {
                Known::All(contacts, news) => return Ok((contacts, news)),
                Known::Missing(names) => names.join(", "),
            };
            if !quiet && !told {
                output::remark(&format!("waiting for the cards of {missing}"));
                told = true;
            }
            if end.is_none_or(|end| Instant::now() >= end) {
                let seconds = time.as_secs();
                return Err(CliError::io(format!(
                    "after {seconds} s these parties have not joined: {missing}; ask them to, with sunzi party join, and run this again"
                )));
            }
            thread::sleep(LOOK);
        }
    }
}

impl Run<'_> {
    /// Makes keys, and what this party opens results with.
    fn make(&self, contexts: &Contexts) -> Result<Made, CliError> {
        let (home, contacts, agreement) = (self.home, self.speaker.contacts, &self.home.agreement);
        home.check_kept()?;
        let setup = setup(home, contexts, contacts)?;
        memory::require(agreement.plan.key_bytes.saturating_mul(agreement.roster.len() as u64))
            .map_err(CliError::input)?;
        let keys = self.rounds(&setup)?;
        let joint = keys.public.id();
        let published = publish(home, contexts, &keys)?;
        let holding = match agreement.opens_by_shares() {
            true => self.deal(contexts, joint, keys.secret)?,
            false => Holding::Secret(keys.secret),
        };
        keep_holding(home, contexts, (joint, 0), &holding)?;
        Ok(Made {
            name: home.name().to_owned(),
            key: joint.to_string(),
            cards: contacts.fingerprint(),
            threshold: agreement.roster.threshold(),
            published,
        })
    }

    /// Generates keys, or the same keys again from the records.
    fn rounds(&self, setup: &KeySetup) -> Result<JointKeys, CliError> {
        let mut rng = randomness::from_os().map_err(CliError::failure)?;
        let store =
            FolderStore::open(self.home.path(ROUNDS)).map_err(|error| self.in_records(ROUNDS, error))?;
        let longest = setup.longest_message().map_err(super::refuse)?;
        let mut link = self.speaker.link(setup.session().id(), &self.members(), longest)?;
        let round = setup.begin(self.home.me, store, &mut rng).map_err(|error| self.refuse(error))?;
        let (mut shown, mut told) = (showing(self.progress, COUNT), telling(self.quiet));
        let driver = Driver::new(&mut link, self.speaker.wait, &mut shown);
        let keys = driver.telling(&mut told).generate_keys(round, &mut rng);
        let keys = keys.map_err(|error| self.refuse(error))?;
        self.progress.say("until the others have all");
        self.speaker.finish(link, self.quiet)?;
        Ok(keys)
    }

    /// Deals the own secret, and returns the share of the threshold.
    fn deal(
        &self,
        contexts: &Contexts,
        joint: sunzi::rlwe::KeyId,
        secret: sunzi::rlwe::SecretKey,
    ) -> Result<Holding, CliError> {
        let (home, roster) = (self.home, &self.home.agreement.roster);
        let number = number(home, self.speaker.contacts);
        let setup = DealingSetup::new(contexts.rlwe().clone(), (**roster).clone(), joint, number);
        let setup = setup.map_err(super::refuse)?;
        let mut rng = randomness::from_os().map_err(CliError::failure)?;
        let store = FolderStore::open(home.path(DEALING)).map_err(|error| self.in_records(DEALING, error))?;
        let longest = setup.longest_message().map_err(super::refuse)?;
        let mut link = self.speaker.link(setup.session().id(), &self.members(), longest)?;
        let dealing = setup.begin(home.me, &secret, store, &mut rng).map_err(|error| self.refuse(error))?;
        let (mut shown, mut told) = (showing(self.progress, 1), telling(self.quiet));
        let driver = Driver::new(&mut link, self.speaker.wait, &mut shown);
        let share = driver.telling(&mut told).deal(dealing).map_err(|error| self.refuse(error))?;
        self.speaker.finish(link, self.quiet)?;
        Ok(Holding::Share(share))
    }
}
