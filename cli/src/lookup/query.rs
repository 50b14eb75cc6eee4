//! `sunzi lookup query`: a row from a server over HTTP.

use std::fs;
use std::path::Path;

use sha2::{Digest, Sha256};
use sunzi::program::contexts::{GALOIS, RELINEARIZATION};
use sunzi::rlwe::randomness;
use sunzi::rlwe::wire::{WireError, from_bytes, to_bytes};
use sunzi::table::lookup::{Answer, Lookup};
use ureq::Agent;

use sunzi_keystore::log::{Event, sha256};

use super::{read, refuse_keys, refuse_lookup};
use crate::args::lookup::QueryArgs;
use crate::audit::{self, Audit};
use crate::error::CliError;
use crate::files::refuse_table;
use crate::remote::client::{agent, told};

/// Why an address of another machine takes TLS.
const WHY: &str = "whoever is between could change the answer";

/// Asks a server, and prints the row.
pub(super) fn run(args: &QueryArgs) -> Result<(), CliError> {
    let lookup = super::given(args.accept.parameters(), &args.description)?;
    let wanted = super::wanted(&args.wanted, lookup.description(), &args.description)?;
    let secret = super::secret(&lookup, &args.keys.join("secret"), (&args.mode, &args.passphrase))?;
    let server = args.server.trim_end_matches('/');
    let server = Server { agent: agent(server, args.ca.as_deref(), WHY)?, address: server };
    let mut rng = randomness::from_os().map_err(CliError::failure)?;
    let asked = lookup.ask(wanted, &secret, &mut rng);
    let (query, asked) = asked.map_err(|error| refuse_table(&args.description, error))?;
    let query = to_bytes(&lookup, &query).map_err(CliError::failure)?;
    let keys = keys(&args.keys.join("eval"))?;
    let answer = server.answer(&lookup, &keys, &query)?;
    let opening = audit::opening_of("read a look-up from", server.address, sha256(&answer));
    let audit = Audit::new(&args.log, &args.keys.join("secret"), secret.id());
    let from = Path::new(server.address);
    let answer: Answer = from_bytes(&lookup, &answer)
        .map_err(|error| CliError::damaged(format!("{}: {error}", server.address)))?;
    audit.recorded(Event::Open(opening), || {
        let cells = lookup.read(&asked, &answer, &secret);
        read::print(args.json, &asked, cells.map_err(|error| refuse_lookup(from, error))?)
    })
}

/// Reads the keys that a server gets, one file after the other.
fn keys(folder: &Path) -> Result<Vec<u8>, CliError> {
    let mut all = Vec::new();
    for file in [RELINEARIZATION, GALOIS] {
        let bytes = fs::read(folder.join(file)).map_err(WireError::Io);
        all.extend(bytes.map_err(|error| refuse_keys(folder, "eval", error))?);
    }
    Ok(all)
}

/// A server of lookups.
struct Server<'a> {
    agent: Agent,
    address: &'a str,
}

impl Server<'_> {
    /// Sends a query, and the keys where the server does not have them.
    fn answer(&self, lookup: &Lookup, keys: &[u8], query: &[u8]) -> Result<Vec<u8>, CliError> {
        let hash: String = Sha256::digest(keys).iter().map(|byte| format!("{byte:02x}")).collect();
        let most = lookup.most_answer_bytes();
        let address = format!("{}/v1/answers/{hash}", self.address);
        if let Some(answer) = self.posted(&address, query, most)? {
            return Ok(answer);
        }
        // A server that refuses says so before the bytes are sent.
        let sent =
            self.agent.put(format!("{}/v1/keys/{hash}", self.address)).header("expect", "100-continue");
        let sent = sent.send(keys);
        let mut sent = sent.map_err(|error| self.unreachable(&error))?;
        if !sent.status().is_success() {
            return Err(told(&mut sent));
        }
        let none =
            || CliError::io(format!("{} forgets keys as soon as it has them: try again later", self.address));
        self.posted(&address, query, most)?.ok_or_else(none)
    }

    /// Sends a query; `None` where the server does not have the keys.
    fn posted(&self, address: &str, query: &[u8], most: u64) -> Result<Option<Vec<u8>>, CliError> {
        let answer = self.agent.post(address).header("expect", "100-continue").send(query);
        let mut answer = answer.map_err(|error| self.unreachable(&error))?;
        if answer.status().as_u16() == 404 {
            return Ok(None);
        }
        if !answer.status().is_success() {
            return Err(told(&mut answer));
        }
        let bytes = answer.body_mut().with_config().limit(most).read_to_vec();
        bytes.map(Some).map_err(|error| self.unreachable(&error))
    }

    fn unreachable(&self, error: &ureq::Error) -> CliError {
        CliError::io(format!("{}: {error}: check the address, and whether the server runs", self.address))
    }
}
