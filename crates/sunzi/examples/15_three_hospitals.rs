//! Three hospitals make keys together, a server computes on the rows of all, and only the three together open the result.
//!
//! `cargo run --release -p sunzi --example 15_three_hospitals`
#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::error::Error;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use sunzi::parties::decryption::{Collector, Decryptor, Request, Subject};
use sunzi::parties::driver::{Driver, channels};
use sunzi::parties::keys::{JointKeys, KeyPlan, KeySetup};
use sunzi::parties::{MemoryStore, PartiesError, Party, Roster};
use sunzi::prelude::*;
use sunzi::rlwe::joint::JointContext as _;
use sunzi::rlwe::wire;
use sunzi::rlwe::{DeclaredNoise, LedgerFile, SharingLedger, SharingPolicy};

/// Ages of patients, whose rows never leave it in the clear.
const AGES: [&[u64]; 3] = [&[71, 64, 58, 80], &[45, 69, 77], &[52, 61, 66, 83, 74]];

type Failure = Box<dyn Error + Send + Sync>;

/// One hospital's part of the six rounds of key generation, in a thread of its own. A program of its own would take a `FolderStore` and connections instead.
fn make_keys(setup: &KeySetup, me: Party, mut link: channels::Link) -> Result<JointKeys, PartiesError> {
    let mut rng = randomness::from_os()?;
    let round = setup.begin(me, MemoryStore::default(), &mut rng)?;
    let mut quietly = |_| ControlFlow::Continue(());
    Driver::new(&mut link, Duration::from_secs(60), &mut quietly).generate_keys(round, &mut rng)
}

/// What the server computes: Σ x and Σ x² over all rows. It has public keys alone.
fn totals(context: &Context, keys: &JointKeys, rows: &[Ciphertext]) -> Result<[Ciphertext; 2], Failure> {
    let relinearization = keys.relinearization.as_ref().ok_or("it was planned")?;
    let evaluator = Evaluator::new(context);
    let add = |a: Ciphertext, b: &Ciphertext| evaluator.add(&a, b);
    let (first, rest) = rows.split_first().ok_or("there are hospitals")?;
    let sum = rest.iter().try_fold(first.clone(), add)?;
    let squares: Vec<_> =
        rows.iter().map(|row| evaluator.square(row, relinearization)).collect::<Result<_, _>>()?;
    let (first, rest) = squares.split_first().ok_or("there are hospitals")?;
    let squares = rest.iter().try_fold(first.clone(), add)?;
    // The sum is in every slot: sums of fewer rows in other slots would be opened with it.
    let total = |a| evaluator.sum_slots(a, &keys.galois);
    Ok([total(&sum)?, total(&squares)?])
}

/// Opens a result by the shares of all hospitals, each of which counts it in its ledger.
fn open(
    context: &Context,
    roster: &Arc<Roster>,
    hospitals: &mut [Decryptor<MemoryStore>],
    result: &Ciphertext,
    policy: SharingPolicy,
) -> Result<Plaintext, Failure> {
    // Every hospital plays the agreed program itself and declares its noise: here it is that of the result at hand.
    let noise = DeclaredNoise::of_own_run(result.noise(), context.ring().expansion());
    let decryption = context.joint_decryption(result, noise, policy)?;
    let bytes = wire::to_bytes(context, result)?;
    let subject = Subject { bytes: &bytes, linear: decryption.linear(), key: result.key() };
    let rlwe = context.rlwe();
    let request = Request::new(rlwe, subject, noise.bits(), roster.parties(), [0; 32], "mean and variance")?;
    let mut collector = Collector::new(rlwe.clone(), roster, &request)?;
    for hospital in hospitals {
        let reviewed = hospital.review(&request, subject, noise)?;
        let answer = hospital.answer(reviewed, &mut randomness::from_os()?)?;
        collector.accept(hospital.me(), &answer)?;
    }
    Ok(context.open_shares(result, noise, policy, None, &collector.finish()?)?)
}

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    run().map_err(|error| -> Box<dyn Error> { error })
}

/// Makes keys, computes and opens: errors of threads are sent between them.
fn run() -> Result<(), Failure> {
    // Ten results may be opened under these keys, together within 2^-40 of what tells nothing of any secret.
    let policy = SharingPolicy::new(40, 10)?;
    let parameters = Parameters::builder().parties(3).depth(1).plain_bits(24).rotations(14).additions(2);
    let context = Context::new(&parameters.sharing(policy).build()?)?;
    let encoder = BatchEncoder::new(context.degree(), context.plain_modulus())?;

    // What all agree on before: parameters, names, the keys to make, and a number for this session.
    let roster = Roster::new(["north", "south", "west"])?;
    let level = context.rlwe().level();
    let exponents = slot_sum_exponents(context.degree(), context.degree());
    let plan =
        KeyPlan::new(context.rlwe(), Some(level), exponents.into_iter().map(|exponent| (exponent, level)))?;
    let nonce = KeySetup::nonce(&mut randomness::from_os()?);
    let setup = KeySetup::new(context.rlwe().clone(), roster.clone(), plan, nonce)?;
    let links = roster.parties().zip(channels::links(&roster));
    let keys = thread::scope(|scope| {
        let setup = &setup;
        let running: Vec<_> =
            links.map(|(me, link)| (me, scope.spawn(move || make_keys(setup, me, link)))).collect();
        let ended = |(me, thread): (Party, thread::ScopedJoinHandle<'_, _>)| {
            let made: Result<JointKeys, PartiesError> = thread.join().map_err(|_| "a hospital stopped")?;
            Ok((me, made?))
        };
        running.into_iter().map(ended).collect::<Result<Vec<_>, Failure>>()
    })?;
    println!("{} hospitals made keys together: {}", keys.len(), setup.session().name());

    // Everybody encrypts under the joint public key, and the server computes.
    let (_, first) = keys.first().ok_or("there are hospitals")?;
    let encrypt = |ages: &&[u64]| -> Result<Ciphertext, Failure> {
        Ok(context.encrypt(&encoder.encode(ages)?, &first.public, &mut randomness::from_os()?)?)
    };
    let rows = AGES.iter().map(encrypt).collect::<Result<Vec<_>, _>>()?;
    let results = totals(&context, first, &rows)?;

    // Each hospital keeps its own secret and its own ledger.
    let (roster, joint) = (Arc::new(roster), first.public.id());
    let decryptor = |(me, keys): (Party, JointKeys)| {
        let ledger = LedgerFile::in_memory(SharingLedger::new(context.rlwe().fingerprint(), joint, policy));
        let rlwe = context.rlwe().clone();
        Decryptor::new(rlwe, Arc::clone(&roster), me, keys.secret, ledger, MemoryStore::default())
    };
    let mut hospitals = keys.into_iter().map(decryptor).collect::<Result<Vec<_>, _>>()?;
    let mut opened = Vec::new();
    for result in &results {
        let slots = encoder.decode(&open(&context, &roster, &mut hospitals, result, policy)?)?;
        if slots.iter().any(|slot| Some(slot) != slots.first()) {
            return Err("slots of one result differ".into());
        }
        opened.extend(slots.first().copied());
    }

    let ages = AGES.concat();
    let (count, clear) = (ages.len() as f64, [ages.iter().sum::<u64>(), ages.iter().map(|x| x * x).sum()]);
    if opened != clear {
        return Err(format!("opened {opened:?}, in the clear {clear:?}").into());
    }
    let [mean, square] = clear.map(|sum| sum as f64 / count);
    println!("{count} patients, mean age {mean:.1}, deviation {:.1}", (square - mean * mean).sqrt());
    println!(
        "each ledger counts {} results",
        hospitals.iter().map(|hospital| hospital.ledger().ledger().used()).max().unwrap_or(0)
    );
    Ok(())
}
