//! `sunzi lookup query`: a row from a server over HTTP.

use std::fs;
use std::path::Path;

use sunzi::program::contexts::{GALOIS, RELINEARIZATION};
use sunzi::rlwe::randomness;
use sunzi::rlwe::wire::{WireError, from_bytes, to_bytes};
use sunzi::table::lookup::Answer;
use sunzi_keystore::log::{Event, sha256};

use super::server::Server;
use super::{read, refuse_keys, refuse_lookup};
use crate::args::lookup::QueryArgs;
use crate::audit::{self, Audit};
use crate::error::CliError;
use crate::files::refuse_table;

/// Asks a server, and prints the row.
pub(super) fn run(args: &QueryArgs) -> Result<(), CliError> {
    let lookup = super::given(args.accept.parameters(), &args.description)?;
    let wanted = super::wanted(&args.wanted, lookup.description(), &args.description)?;
    let secret = super::secret(&lookup, &args.keys.join("secret"), (&args.mode, &args.passphrase))?;
    let server = Server::new(&args.server, args.ca.as_deref())?;
    let mut rng = randomness::from_os().map_err(CliError::failure)?;
    let asked = lookup.ask(wanted, &secret, &mut rng);
    let (query, asked) = asked.map_err(|error| refuse_table(&args.description, error))?;
    let query = to_bytes(&lookup, &query).map_err(CliError::failure)?;
    let keys = keys(&args.keys.join("eval"))?;
    let answer = server.answer(&keys, &query, lookup.most_answer_bytes())?;
    let opening = audit::opening_of("read a look-up from", server.address(), sha256(&answer));
    let audit = Audit::new(&args.log, &args.keys.join("secret"), secret.id());
    let from = Path::new(server.address());
    let answer: Answer = from_bytes(&lookup, &answer)
        .map_err(|error| CliError::damaged(format!("{}: {error}", server.address())))?;
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
