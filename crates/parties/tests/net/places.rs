//! Parties with identities, and the places through which they send.

use std::net::TcpListener;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::Duration;

use sunzi_parties::driver::folder::{FolderLink, FolderOptions};
use sunzi_parties::driver::tls::{TlsLink, TlsOptions};
use sunzi_parties::driver::{Driver, Progress, Transport};
use sunzi_parties::keys::{JointKeys, KeySetup};
use sunzi_parties::{Contacts, Identity, PartiesError, Store};

use crate::common::rng;

/// A time that no test should need.
pub(crate) const LONG: Duration = Duration::from_secs(240);
/// Names of the parties, as `common::roster` has them.
pub(crate) const NAMES: [&str; 3] = ["Ada", "Bo", "Cy"];

/// How parties reach one another.
pub(crate) enum Place {
    Folder(PathBuf),
    Tls,
}

/// Identities of three parties, and their cards.
pub(crate) struct World {
    pub(crate) place: Place,
    pub(crate) identities: Vec<Identity>,
    pub(crate) contacts: Contacts,
}

pub(crate) fn identity(name: &str, seed: u64) -> Identity {
    Identity::generate(name, &mut rng(seed)).unwrap()
}

/// Returns an address of this machine at which nobody listens.
pub(crate) fn free_address() -> String {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string()
}

impl World {
    pub(crate) fn new(place: Place) -> Self {
        let identities: Vec<Identity> = (1..).zip(NAMES).map(|(seed, name)| identity(name, seed)).collect();
        let cards = identities.iter().enumerate().map(|(at, identity)| {
            // The last party makes connections alone.
            let address = (at < 2).then(free_address);
            identity.card(address.as_deref()).unwrap()
        });
        let contacts = Contacts::new(cards).unwrap();
        Self { place, identities, contacts }
    }

    /// Opens the link of a party.
    pub(crate) fn link(&self, at: usize, channel: &[u8; 32], longest: u64) -> Box<dyn Transport + Send> {
        match &self.place {
            Place::Folder(_) => Box::new(self.folder_link(at, channel, longest)),
            Place::Tls => Box::new(self.tls_link(at, channel, TlsOptions::new(longest))),
        }
    }

    pub(crate) fn folder_link(&self, at: usize, channel: &[u8; 32], longest: u64) -> FolderLink {
        let Place::Folder(folder) = &self.place else { panic!("there is no folder") };
        let mut options = FolderOptions::new(longest);
        options.poll = Duration::from_millis(20);
        FolderLink::open(folder, &self.identities[at], &self.contacts, channel, options).unwrap()
    }

    pub(crate) fn tls_link(&self, at: usize, channel: &[u8; 32], options: TlsOptions) -> TlsLink {
        TlsLink::open(&self.identities[at], &self.contacts, channel, options).unwrap()
    }
}

/// Runs the key generation of one party over its link; `progress` may break off.
pub(crate) fn make_keys<S: Store, T: Transport>(
    setup: &KeySetup,
    at: usize,
    link: &mut T,
    store: S,
    timeout: Duration,
    mut progress: impl FnMut(Progress) -> ControlFlow<()>,
) -> Result<JointKeys, PartiesError> {
    let mut rng = rng(at as u64 + 100);
    let me = setup.roster().party(at as u64 + 1)?;
    let round = setup.begin(me, store, &mut rng)?;
    Driver::new(link, timeout, &mut progress).generate_keys(round, &mut rng)
}

/// Goes on.
pub(crate) fn go_on(_: Progress) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// Returns the next message that comes within a time that no test should need.
pub(crate) fn next(link: &mut impl Transport) -> (u32, Vec<u8>) {
    let (from, message) = link.receive(Duration::from_secs(30)).unwrap().unwrap();
    (from.number(), message.to_vec())
}

/// Waits for the first refusal.
pub(crate) fn refusal(link: &mut impl Transport) -> String {
    refusal_with(link, "")
}

/// Waits for the first refusal whose text begins as given.
pub(crate) fn refusal_with(link: &mut impl Transport, start: &str) -> String {
    for _ in 0..600 {
        assert!(link.receive(Duration::from_millis(50)).unwrap().is_none());
        let texts = link.refusals().into_iter().map(|refusal| refusal.to_string());
        if let Some(text) = texts.into_iter().find(|text| text.starts_with(start)) {
            return text;
        }
    }
    panic!("nothing was refused");
}
