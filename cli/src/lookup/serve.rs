//! `sunzi lookup serve`: a server that has one database in memory and answers over HTTP.

use std::fs;
use std::io::BufReader;
use std::path::Path;

use sunzi::circuits::EvaluationKeys;
use sunzi::rlwe::memory;
use sunzi::rlwe::wire::{Reader, WireError, evaluation_keys_len, from_bytes, open_regular, to_bytes};
use sunzi::rlwe::words::{bytes, counted};
use sunzi::table::lookup::{Answer, Lookup, Prepared, Query};
use sunzi_service::{Limits, LookupLimits, Lookups, Refusal, is_loopback, serve_lookups};

use super::{DESCRIPTION, ENTRIES, refuse_lookup};
use crate::args::lookup::{ListenArgs, ServeArgs};
use crate::error::CliError;
use crate::files::refuse;
use crate::{output, serve};

/// Serves a database until the process is asked to stop.
pub(super) fn run(args: &ServeArgs) -> Result<(), CliError> {
    let limits = LookupLimits { together: args.together.into(), ..LookupLimits::default() };
    listen(&args.listen, limits, || prepare(args))
}

/// Prepares what is served, and answers until the process is asked to stop.
pub(crate) fn listen<L: Lookups>(
    args: &ListenArgs,
    limits: LookupLimits,
    prepare: impl FnOnce() -> Result<L, CliError>,
) -> Result<(), CliError> {
    if !is_loopback(&args.listen) && args.tls_cert.is_none() && !args.tls_elsewhere {
        let address = args.listen;
        return Err(CliError::input(format!(
            "other machines reach {address}, and whoever is between could change answers: give --tls-cert and --tls-key, or --tls-elsewhere if something before this server ends TLS"
        )));
    }
    let stop = serve::stop()?;
    let tls = serve::tls(args.tls_cert.as_deref(), args.tls_key.as_deref())?;
    let serving = prepare()?;
    serve::log();
    let (listener, address) = serve::bind(args.listen, tls.is_some())?;
    output::print(&format!("listening at {address}"))?;
    let connections_each = serve::connections_each(args.tls_elsewhere);
    let connections = Limits { connections_each, ..Limits::default() };
    let limits = LookupLimits { connections, clients: args.clients.into(), ..limits };
    serve_lookups(serving, &limits, listener, tls, &stop).map_err(serve::refuse)
}

/// Reads the database into memory, if there is room for it and for the keys of clients.
fn prepare(args: &ServeArgs) -> Result<Serving, CliError> {
    let [description, entries] = [DESCRIPTION, ENTRIES].map(|file| args.database.join(file));
    let lookup = super::opened(args.accept.parameters(), &description, &description)?;
    let context = lookup.context().rlwe();
    let levels = lookup.layout().exponents().map(|_| context.level());
    let key_bytes = evaluation_keys_len(context.gadget(), levels).map_err(CliError::failure)?;
    let each = context.switch_key_bytes(context.level()).map_err(CliError::input)?;
    let keys = each.saturating_mul(lookup.layout().exponents().count() as u64 + 1);
    let clients = keys.saturating_mul(u64::from(args.listen.clients));
    let answers = lookup.answer_bytes().saturating_mul(u64::from(args.together));
    let needed = lookup.prepared_bytes().saturating_add(clients).saturating_add(answers);
    memory::require(needed).map_err(CliError::input)?;
    let rows = counted(lookup.description().rows() as usize, "row", "rows");
    output::remark(&format!("preparing {rows}, in {}", bytes(lookup.prepared_bytes())));
    let described = fs::read(&description).map_err(|error| refuse(&description, WireError::Io(error)))?;
    let prepared = read(lookup, &entries)?;
    Ok(Serving { prepared, description: described, key_bytes })
}

fn read(lookup: Lookup, path: &Path) -> Result<Prepared, CliError> {
    let file = open_regular(path).map_err(|error| refuse(path, error))?;
    let len = file.metadata().map_err(|error| refuse(path, WireError::Io(error)))?.len();
    Prepared::new(lookup, BufReader::with_capacity(1 << 20, file), len)
        .map_err(|error| refuse_lookup(path, error))
}

/// A database that is served.
struct Serving {
    prepared: Prepared,
    description: Vec<u8>,
    key_bytes: u64,
}

/// Returns the refusal of what a client sent.
pub(crate) fn wrong(what: &str, error: impl std::fmt::Display) -> Refusal {
    Refusal::input(format!("{what}: {error}"))
}

fn none() -> Refusal {
    Refusal::input("the query has no answer")
}

impl Serving {
    fn query(&self, keys: &EvaluationKeys, bytes: &[u8]) -> Result<Query, Refusal> {
        let lookup = self.prepared.lookup();
        let query: Query = from_bytes(lookup, bytes).map_err(|error| match error {
            WireError::Parameters { .. } => {
                Refusal::new(409, "the query asks another database than the one here")
                    .remedy("ask by the description that GET /v1/description gives, if you trust it")
            }
            other => wrong("the query", other),
        })?;
        match &keys.relinearization {
            Some(own) if Some(own.id()) == query.key() => Ok(query),
            _ => Err(Refusal::input("the query is not under the keys of this hash")),
        }
    }

    /// Answers queries together; each alone where that fails, so that one that cannot be answered takes no answers of others.
    fn answered(&self, asked: &[(&Query, &EvaluationKeys)]) -> Vec<Result<Answer, Refusal>> {
        if let Ok(answers) = self.prepared.answer(asked) {
            return answers.into_iter().map(Ok).collect();
        }
        let alone = |one: &(&Query, &EvaluationKeys)| {
            let answers = self.prepared.answer(&[*one]).map_err(|error| wrong("the query", error));
            answers?.pop().ok_or_else(none)
        };
        asked.iter().map(alone).collect()
    }

    fn written(&self, answer: &Answer) -> Result<Vec<u8>, Refusal> {
        to_bytes(self.prepared.lookup(), answer).map_err(|error| wrong("the answer", error))
    }
}

impl Lookups for Serving {
    type Keys = EvaluationKeys;

    fn description(&self) -> &[u8] {
        &self.description
    }

    fn key_bytes(&self) -> u64 {
        self.key_bytes
    }

    fn query_bytes(&self) -> u64 {
        self.prepared.lookup().most_query_bytes()
    }

    fn keys(&self, bytes: &[u8]) -> Result<EvaluationKeys, Refusal> {
        let lookup = self.prepared.lookup();
        let context = lookup.context().rlwe();
        let of_keys = |error: WireError| wrong("the keys", error);
        let (relinearization, rest) =
            Reader::new(bytes).and_then(|reader| reader.read_next(context)).map_err(of_keys)?;
        let galois = from_bytes(context, rest).map_err(of_keys)?;
        let keys = EvaluationKeys { relinearization: Some(relinearization), galois: Some(galois) };
        let ids =
            [keys.relinearization.as_ref().map(|key| key.id()), keys.galois.as_ref().map(|keys| keys.id())];
        if ids[0] != ids[1] {
            return Err(
                Refusal::input("the keys belong to two secrets").remedy("send those that were made together")
            );
        }
        match lookup.layout().exponents().find(|exponent| !keys.has_exponent(*exponent)) {
            None => Ok(keys),
            Some(exponent) => Err(Refusal::input(format!("the keys have none for X -> X^{exponent}"))
                .remedy("make keys by the description of this database")),
        }
    }

    fn answer(&self, asked: &[(&EvaluationKeys, &[u8])]) -> Vec<Result<Vec<u8>, Refusal>> {
        let queries: Vec<_> = asked.iter().map(|(keys, bytes)| self.query(keys, bytes)).collect();
        let whole =
            queries.iter().zip(asked).filter_map(|(query, (keys, _))| Some((query.as_ref().ok()?, *keys)));
        let whole: Vec<_> = whole.collect();
        let mut answers = self.answered(&whole).into_iter();
        let next = |query: Result<Query, Refusal>| {
            query?;
            self.written(&answers.next().unwrap_or_else(|| Err(none()))?)
        };
        queries.into_iter().map(next).collect()
    }
}
