//! `sunzi party decrypt`: results that parties open together, each after a look of its own.

use std::time::Duration;

use serde::Serialize;
use sunzi::parties::decryption::{self, Decryptor};
use sunzi::parties::driver::Transport as _;
use sunzi::parties::{Contacts, FolderStore, Party};
use sunzi::program::ProgramError;
use sunzi::rlwe::randomness;
use sunzi::rlwe::wire::Accept;
use sunzi::rlwe::words::counted;
use sunzi_keystore::log::Event;

use super::cards::Known;
use super::fingerprint::Fingerprint;
use super::gather::Gathered;
use super::home::Home;
use super::link::{Link, Speaker};
use super::opening::{Opening, members};
use crate::args::party::DecryptArgs;
use crate::audit::Audit;
use crate::error::{CliError, listed, one_lines, quoted};
use crate::files::refuse;
use crate::output;
use crate::program::eval::{Asked, Computation};
use crate::program::refuse_in;
use crate::program::shown::{Form, Shown};
use crate::program::stopped::Stopped;
use crate::progress::Progress;

/// Folder of the shares that this party gave.
const SHARES: &str = "records-shares";
/// Longest time that a party stays for others who have what it sent.
const STAY: Duration = Duration::from_secs(30);
/// Number of results that are named.
const SHOWN: usize = 8;

/// Opens results with other parties.
pub(super) fn run(args: &DecryptArgs) -> Result<(), CliError> {
    let home = Home::open(&args.home)?;
    let contacts = home.known_cards()?;
    let identity = home.identity()?;
    let contexts = home.agreement.contexts()?;
    let holding = home.holding(contexts.rlwe(), &args.passphrase)?;
    let ledger = home.ledger()?;
    let (roster, joint) = (home.roster(&contexts, &contacts)?, ledger.ledger().key());
    let members = members(&roster, home.me, &args.others)?;
    let receivers = receivers(&home, &members, &args.to)?;
    let opening = Opening::new((&home, &contexts), (&args.file, joint), (roster.clone(), members))?;
    let digest = opening.digest()?;
    let records = home.path(SHARES);
    let store = FolderStore::open(&records).map_err(|error| refuse(&records, error))?;
    let context = contexts.rlwe().clone();
    let decryptor = Decryptor::new(context, roster.clone(), home.me, holding, ledger, store);
    let mut run = Run { args, opening, receivers, decryptor: decryptor.map_err(super::refuse)? };
    let fresh = run.fresh()?;
    let agreed = run.recomputed(digest)?;

    let channel = channel(&home, &digest);
    let time = Duration::from_secs(args.wait.timeout);
    let speaker =
        Speaker { identity: &identity, contacts: &contacts, session: home.session(), wait: time.min(STAY) };
    let longest = decryption::longest_message(contexts.rlwe()).map_err(super::refuse)?;
    let mut link = speaker.link(&channel, &run.opening.members, longest)?;
    let mut gathered = Gathered::new(&run.opening, time, args.wait.quiet || args.output.json)?;
    let attested = match args.attested {
        Some(count) => gathered.attestations(&mut link, count as usize)?,
        None => {
            gathered.attest(&mut link)?;
            Vec::new()
        }
    };
    run.show(fresh, agreed, &attested)?;
    if !args.wait.yes {
        crate::ask::confirm("Open these results?", "--yes")?;
    }
    let event = Event::Open(run.opening.logged()?);
    Audit::beside(home.folder(), joint).recorded(event, || run.open(&mut link, gathered))?;
    speaker.finish(link, args.wait.quiet)?;
    run.remark();
    Ok(())
}

/// Report of a party that only sent its shares.
#[derive(Serialize)]
struct Sent {
    shares: u64,
    to: Vec<String>,
}

impl Sent {
    fn text(&self) -> String {
        let shares = counted(usize::try_from(self.shares).unwrap_or(usize::MAX), "share", "shares");
        one_lines(&format!("sent         {shares} to {}", self.to.join(", ")))
    }
}

/// Returns the name of the channel on which parties open results: of one agreement, and of these ciphertexts.
fn channel(home: &Home, digest: &[u8; 32]) -> [u8; 32] {
    Fingerprint::of("sunzi opening of results", [&home.agreement.fingerprint.0[..], digest]).0
}

/// Returns the parties that get the shares of this one.
fn receivers(home: &Home, members: &[Party], names: &[String]) -> Result<Vec<Party>, CliError> {
    if names.is_empty() {
        return Ok(members.to_vec());
    }
    let roster = &home.agreement.roster;
    let found = names.iter().map(|name| {
        let party = roster.named(name).ok().filter(|party| members.contains(party));
        party.ok_or_else(|| {
            let names: Vec<&str> = members.iter().map(|party| roster.name(*party)).collect();
            let (name, names) = (quoted(name), names.join(", "));
            CliError::input(format!("--to: {name} is none of the parties that open these results: {names}"))
        })
    });
    found.collect()
}

impl Home {
    /// Returns the cards of all parties, with which keys were made.
    pub(super) fn known_cards(&self) -> Result<Contacts, CliError> {
        match self.cards()? {
            Known::All(contacts, false) => Ok(contacts),
            _ => Err(CliError::io(
                "this party has not made keys with all others yet: run sunzi party keygen first",
            )),
        }
    }
}

/// One opening by this party.
struct Run<'a> {
    args: &'a DecryptArgs,
    opening: Opening<'a>,
    receivers: Vec<Party>,
    decryptor: Decryptor<FolderStore>,
}

impl Run<'_> {
    /// Reads all ciphertexts, and returns how many this party has given no share of yet; fails where the ledger does not allow these.
    fn fresh(&self) -> Result<u64, CliError> {
        let mut fresh = 0_u64;
        self.opening.each(|asked| {
            let reviewed = self.decryptor.review(&asked.request, asked.subject(), asked.planned.noise);
            let reviewed = reviewed.map_err(super::refuse)?;
            let given = self.decryptor.is_answered(&reviewed).map_err(super::refuse)?;
            fresh += u64::from(!given);
            Ok(())
        })?;
        let ledger = self.decryptor.ledger().ledger();
        let left = ledger.policy().queries().saturating_sub(ledger.used());
        if fresh <= left {
            return Ok(fresh);
        }
        Err(CliError::impossible(format!(
            "these results take {fresh} shared decryptions, {left} of the {} that the parties agreed on are left: agree on another session, with more",
            ledger.policy().queries()
        )))
    }

    /// Computes the results again where tables are given, and returns how many there were; fails for others than those of the file.
    fn recomputed(&self, digest: [u8; 32]) -> Result<usize, CliError> {
        let args = self.args;
        if args.attested.is_some() {
            return Ok(0);
        }
        let keys = self.opening.home.checked_keys()?;
        let plan = &self.opening.home.agreement.plan;
        let progress = Progress::new(!args.wait.quiet && !args.output.json);
        let again = Computation {
            program: Asked::Program(&plan.program),
            keys: &keys,
            tables: &args.tables,
            precision: (plan.precision > 0).then_some(plan.precision),
            accept: Accept::Secure,
            memory: None,
            progress: &progress,
        };
        if again.digest()? == digest {
            return Ok(args.tables.len());
        }
        Err(CliError::mismatch(format!(
            "{} is not what the agreed program makes of these tables: nothing is answered for it; ask whoever computed it, and whether these are the tables",
            crate::files::named(&args.file)
        )))
    }

    /// Shows what is going to be opened.
    fn show(&self, fresh: u64, tables: usize, attested: &[Party]) -> Result<(), CliError> {
        if self.args.wait.yes && (self.args.wait.quiet || self.args.output.json) {
            return Ok(());
        }
        let agreement = &self.opening.home.agreement;
        let named = |parties: &[Party]| {
            let names: Vec<&str> = parties.iter().map(|party| agreement.roster.name(*party)).collect();
            names.join(", ")
        };
        let outputs = agreement.plan.program.outputs();
        let results: Vec<String> = outputs.iter().map(|output| quoted(&output.name)).collect();
        let grounds = match attested {
            [] => {
                format!("computed again by this party from {}: the same", counted(tables, "table", "tables"))
            }
            _ => format!("{} say that they computed them again", named(attested)),
        };
        let ledger = self.decryptor.ledger().ledger();
        let (used, queries) = (ledger.used(), ledger.policy().queries());
        let rows = if agreement.opens_rows() { ", some of them with a number of every row" } else { "" };
        let text = format!(
            "results      {}{rows}\n\
             grounds      {grounds}\n\
             opened by    {}\n\
             read by      {}\n\
             counts       {fresh} more of {queries} ciphertexts that this party ever opens, {used} until now",
            listed(&results, SHOWN),
            named(&self.opening.members),
            named(&self.receivers),
        );
        output::print_beside(one_lines(&text).trim_end());
        Ok(())
    }

    /// Gives the shares of this party, and prints the results if it gets to read them.
    fn open(&mut self, link: &mut Link, mut gathered: Gathered) -> Result<(), CliError> {
        let shares = self.answer(link, &mut gathered)?;
        if self.receivers.contains(&self.opening.home.me) {
            gathered.complete(link)?;
            return self.print(gathered);
        }
        let to = self.receivers.iter().map(|party| self.opening.roster.name(*party).to_owned()).collect();
        output::report(self.args.output.json, &Sent { shares, to }, Sent::text)
    }

    /// Makes the shares of this party, each counted before, sends them to those who read the results, and returns how many there are.
    fn answer(&mut self, link: &mut Link, gathered: &mut Gathered) -> Result<u64, CliError> {
        let Self { opening, receivers, decryptor, .. } = self;
        let (mut rng, me) = (randomness::from_os().map_err(CliError::failure)?, opening.home.me);
        let mut shares = 0;
        opening.each(|asked| {
            let reviewed = decryptor.review(&asked.request, asked.subject(), asked.planned.noise);
            let answer = decryptor.answer(reviewed.map_err(super::refuse)?, &mut rng);
            let answer = answer.map_err(super::refuse)?;
            for &receiver in receivers.iter() {
                if receiver == me {
                    gathered.take(me, &answer)?;
                } else {
                    link.send_to(receiver, &answer).map_err(super::refuse)?;
                }
            }
            shares += 1;
            Ok(())
        })?;
        Ok(shares)
    }

    /// Opens the results by the shares of all members, and prints them.
    fn print(&self, gathered: Gathered) -> Result<(), CliError> {
        let Opening { contexts, agreed, .. } = &self.opening;
        let args = self.args;
        let (quorum, mut shares) = gathered.finish()?;
        let mut results = self.opening.reader()?;
        let description = results.description().clone();
        let codec = contexts.codec(&description.layout).map_err(|error| refuse_in(&args.file, error))?;
        let form = match (args.csv, args.output.json) {
            (true, _) => Form::Csv,
            (false, true) => Form::Json,
            (false, false) => Form::Text,
        };
        let mut shown = Shown::new(&description.program, &results.clear(), form)?;
        let column = |id, first, cells| shown.column(id, first, cells).map_err(Stopped::Said);
        let missing = || ProgramError::Invalid("shares of a ciphertext are missing".to_owned());
        let next = |place| shares.remove(&place).ok_or_else(missing);
        let totals = results.open_shares(&codec, agreed, quorum.as_ref(), next, column);
        shown.finish(&totals.map_err(|stopped| stopped.of(&args.file))?)
    }

    /// Says how many more results this party may open.
    fn remark(&self) {
        let ledger = self.decryptor.ledger().ledger();
        let (used, queries) = (ledger.used(), ledger.policy().queries());
        if !self.args.wait.quiet {
            output::remark(&format!(
                "{used} of the {queries} decryptions that this party agreed to under this key are used"
            ));
        }
    }
}
