//! Tests that a party that was killed sends the same bytes again, and that the run ends with the same keys.

use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Mutex;
use std::thread;
use std::time::Duration;

use sunzi_parties::driver::channels::{Link, links};
use sunzi_parties::driver::{Driver, Progress, Transport};
use sunzi_parties::keys::{JointKeys, KeySetup};
use sunzi_parties::{FolderStore, MemoryStore, PartiesError, Party, Store};
use sunzi_rlwe::wire::WireError;
use zeroize::Zeroizing;

use crate::common::{rng, setup, stores};

const LONG: Duration = Duration::from_secs(120);

/// Runs one party over its link; `progress` may break off.
fn party<S: Store>(
    setup: &KeySetup,
    link: &mut Link,
    store: S,
    seed: u64,
    timeout: Duration,
    mut progress: impl FnMut(Progress) -> ControlFlow<()>,
) -> Result<JointKeys, PartiesError> {
    let mut rng = rng(seed);
    let me: Party = link.me();
    let round = setup.begin(me, store, &mut rng)?;
    Driver::new(link, timeout, &mut progress).generate_keys(round, &mut rng)
}

/// Kills the second party at the given point of each round, as often as there are rounds, and begins it again.
fn killed_everywhere(received: usize, open: impl Fn() -> Box<dyn Store> + Sync) {
    let setup = setup(3, 1);
    let kept = stores(3);
    let keys = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for (at, mut link) in links(setup.roster()).into_iter().enumerate() {
            let (setup, kept, keys, open) = (&setup, &kept, &keys, &open);
            scope.spawn(move || {
                let go_on = |_: Progress| ControlFlow::Continue(());
                let mut got = None;
                if at != 1 {
                    got = Some(party(setup, &mut link, kept[at].clone(), at as u64, LONG, go_on));
                } else {
                    for round in 1..=7_u64 {
                        let stop = |progress: Progress| {
                            let here = progress.step.round() == round && progress.received >= received;
                            if here { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
                        };
                        // Another seed each time: what is drawn anew would differ.
                        let ended = party(setup, &mut link, Shared(open()), 100 + round, LONG, stop);
                        assert_eq!(matches!(ended, Err(PartiesError::Stopped)), round < 7, "round {round}");
                        got = Some(ended);
                    }
                }
                keys.lock().unwrap().push(got.unwrap().unwrap());
            });
        }
    });
    let keys = keys.into_inner().unwrap();
    assert!(keys.iter().all(|other| other.transcript == keys[0].transcript));
    assert_eq!(keys.len(), 3);
    // Once more from the records alone, without any other party.
    let mut links = links(setup.roster());
    let go_on = |_: Progress| ControlFlow::Continue(());
    let again = party(&setup, &mut links[1], Shared(open()), 7, Duration::ZERO, go_on).unwrap();
    assert_eq!(again.transcript, keys[0].transcript);
    assert!(keys.iter().any(|keys| keys.secret.id() == again.secret.id()));
}

/// Records behind a pointer.
struct Shared(Box<dyn Store>);

impl Store for Shared {
    fn get(&self, record: &str) -> Result<Option<Zeroizing<Vec<u8>>>, WireError> {
        self.0.get(record)
    }

    fn put(&mut self, record: &str, bytes: &[u8], secret: bool) -> Result<(), WireError> {
        self.0.put(record, bytes, secret)
    }

    fn remove(&mut self, record: &str) -> Result<(), WireError> {
        self.0.remove(record)
    }
}

#[test]
fn a_party_killed_after_sending_in_each_round_ends_with_the_same_keys() {
    let store = MemoryStore::default();
    killed_everywhere(1, || Box::new(store.clone()));
}

#[test]
fn a_party_killed_after_receiving_in_each_round_ends_with_the_same_keys() {
    let folder = tempfile::tempdir().unwrap();
    killed_everywhere(2, || Box::new(FolderStore::open(folder.path().join("records")).unwrap()));
    check_modes(&folder.path().join("records"));
}

/// Secrets are for their owner alone.
fn check_modes(folder: &Path) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(folder), 0o700);
        assert_eq!(mode(&folder.join("secret.sz")), 0o600);
        assert!(!folder.join("ephemeral.sz").exists());
    }
}

/// Records whose writing fails once, as if the party was killed before or after it.
struct Failing {
    store: MemoryStore,
    writes_left: usize,
    after: bool,
}

impl Store for Failing {
    fn get(&self, record: &str) -> Result<Option<Zeroizing<Vec<u8>>>, WireError> {
        self.store.get(record)
    }

    fn put(&mut self, record: &str, bytes: &[u8], secret: bool) -> Result<(), WireError> {
        let Some(left) = self.writes_left.checked_sub(1) else {
            if self.after {
                self.store.put(record, bytes, secret)?;
            }
            return Err(WireError::Io(std::io::ErrorKind::StorageFull.into()));
        };
        self.writes_left = left;
        self.store.put(record, bytes, secret)
    }

    fn remove(&mut self, record: &str) -> Result<(), WireError> {
        self.store.remove(record)
    }
}

/// A link whose other end sends again what it has sent so far.
struct Again<'a> {
    link: &'a mut Link,
    again: VecDeque<(Party, Zeroizing<Vec<u8>>)>,
}

impl Transport for Again<'_> {
    fn send(&mut self, message: &[u8]) -> Result<(), PartiesError> {
        self.link.send(message)
    }

    fn send_to(&mut self, to: Party, message: &[u8]) -> Result<(), PartiesError> {
        self.link.send_to(to, message)
    }

    fn receive(&mut self, wait: Duration) -> Result<Option<(Party, Zeroizing<Vec<u8>>)>, PartiesError> {
        self.again.pop_front().map_or_else(|| self.link.receive(wait), |sent| Ok(Some(sent)))
    }
}

/// Runs two parties, the second of which is killed at a write; whether it got so far.
fn killed_at_write(write: usize, after: bool) -> bool {
    let setup = setup(2, 1);
    let kept = stores(2);
    let mut links = links(setup.roster());
    let (mut second, mut first) = (links.pop().unwrap(), links.pop().unwrap());
    let go_on = |_: Progress| ControlFlow::Continue(());
    thread::scope(|scope| {
        let other = scope.spawn(|| party(&setup, &mut first, kept[0].clone(), 1, LONG, go_on).unwrap());
        let store = Failing { store: kept[1].clone(), writes_left: write, after };
        let (keys, was_killed) = match party(&setup, &mut second, store, 2, LONG, go_on) {
            Ok(keys) => (keys, false),
            Err(PartiesError::Wire(WireError::Io(_))) => {
                let from = setup.roster().party(1).unwrap();
                let sent = (1..=6).filter_map(|round| kept[0].get(&format!("{round}-sent")).unwrap());
                let again = sent.map(|message| (from, message)).collect();
                let mut transport = Again { link: &mut second, again };
                let mut rng = rng(3);
                let round = setup.begin(transport.link.me(), kept[1].clone(), &mut rng).unwrap();
                let mut progress = go_on;
                let mut driver = Driver::new(&mut transport, LONG, &mut progress);
                (driver.generate_keys(round, &mut rng).unwrap(), true)
            }
            Err(other) => panic!("write {write}: {other}"),
        };
        assert_eq!(other.join().unwrap().transcript, keys.transcript, "write {write}");
        was_killed
    })
}

#[test]
fn a_party_killed_at_any_write_ends_with_the_same_keys() {
    for after in [false, true] {
        let writes = (0..).take_while(|&write| killed_at_write(write, after)).count();
        // The session, the contribution, three records of shares, and six messages of each.
        assert_eq!(writes, 1 + 1 + 3 + 12);
    }
}

/// Runs three parties, the third of which ends after a round, and checks what the others say.
fn ends_after(round: u64) {
    let setup = setup(3, 1);
    thread::scope(|scope| {
        for (at, mut link) in links(setup.roster()).into_iter().enumerate() {
            let setup = &setup;
            scope.spawn(move || {
                let stop = |progress: Progress| {
                    let over = at == 2 && progress.step.round() == round && progress.received == 3;
                    if over { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
                };
                if at == 2 && round == 0 {
                    return;
                }
                let wait = if at == 2 { LONG } else { Duration::from_secs(5) };
                match party(setup, &mut link, MemoryStore::default(), at as u64, wait, stop) {
                    Err(PartiesError::Stopped) => assert_eq!(at, 2),
                    Err(PartiesError::Missing { step, parties }) => {
                        assert_eq!(parties, ["Cy"], "{step}");
                        assert!(step.contains(&format!("round {}", round + 1)), "{step}");
                    }
                    Err(other) => panic!("{other}"),
                    Ok(_) => assert_eq!(round, 6),
                }
            });
        }
    });
}

#[test]
fn a_missing_party_is_named() {
    thread::scope(|scope| {
        for round in [0, 1, 3, 4, 5, 6] {
            scope.spawn(move || ends_after(round));
        }
    });
}

#[test]
fn records_that_were_changed_are_an_error_that_names_them() {
    let setup = setup(2, 1);
    let all = stores(2);
    crate::common::run_with(&setup, &all, 1);
    for name in all[0].names() {
        let mut changed = MemoryStore::default();
        for other in all[0].names() {
            let mut bytes = all[0].get(&other).unwrap().unwrap().to_vec();
            if other == name {
                let last = bytes.len() - 1;
                bytes[last] ^= 1;
            }
            changed.put(&other, &bytes, true).unwrap();
        }
        let mut links = links(setup.roster());
        let go_on = |_: Progress| ControlFlow::Continue(());
        let error = party(&setup, &mut links[0], changed, 7, Duration::ZERO, go_on).err();
        let error = error.unwrap_or_else(|| panic!("{name} is not read"));
        assert!(matches!(&error, PartiesError::Journal { record, .. } if *record == name), "{name}: {error}");
    }
}
