//! `sunzi intersect serve`: a server that answers which items its set has.

use std::fs;

use sunzi::rlwe::wire::{WireError, evaluation_keys_len, from_bytes, load, to_bytes};
use sunzi::rlwe::words::{bytes, counted};
use sunzi::rlwe::{RelinearizationKey, memory, randomness};
use sunzi::table::intersection::{
    Description, ITEM_BYTES, MOST_ITEMS, PrivateSet, Query, Served, elements_from_bytes, evaluation_to_bytes,
};
use sunzi_service::{Evaluation, LookupLimits, Lookups, Refusal};

use super::SET;
use crate::args::intersect::ServeArgs;
use crate::error::CliError;
use crate::files::{mode, refuse, refuse_table};
use crate::lookup::DESCRIPTION;
use crate::lookup::serve::{listen, wrong};
use crate::output;

/// Serves a set until the process is asked to stop.
pub(super) fn run(args: &ServeArgs) -> Result<(), CliError> {
    // Queries are answered one after the other: each takes all threads.
    let limits = LookupLimits { together: 1, items: args.items, ..LookupLimits::default() };
    listen(&args.listen, limits, || prepare(args))
}

/// Reads the set into memory, if there is room for it and for the keys of clients.
fn prepare(args: &ServeArgs) -> Result<Serving, CliError> {
    let [description, items] = [DESCRIPTION, SET].map(|file| args.set.join(file));
    mode::check(&items, &args.mode)?;
    let described = fs::read(&description).map_err(|error| refuse(&description, WireError::Io(error)))?;
    let set: PrivateSet = load(&args.accept.parameters(), &items).map_err(|error| refuse(&items, error))?;
    let intersection = set.intersection();
    let own: Description =
        load(&args.accept.parameters(), &description).map_err(|error| refuse(&description, error))?;
    if own != *intersection.description() {
        return Err(CliError::mismatch(format!(
            "{DESCRIPTION} and {SET} are of two sets: give the folder that sunzi intersect build made"
        )));
    }
    let context = intersection.context().rlwe();
    let each = context.switch_key_bytes(context.level()).map_err(CliError::input)?;
    let key_bytes = evaluation_keys_len(context.gadget(), []).map_err(CliError::failure)?;
    let prepared = intersection.layout().prepared_bytes(intersection.context());
    memory::require(prepared.saturating_add(each.saturating_mul(u64::from(args.listen.clients))))
        .map_err(CliError::input)?;
    let count = counted(intersection.description().items() as usize, "item", "items");
    output::remark(&format!("preparing {count}, in {}", bytes(prepared)));
    let mut rng = randomness::from_os().map_err(CliError::failure)?;
    let served = Served::new(set, &mut rng).map_err(|error| refuse_table(&items, error))?;
    Ok(Serving { served, description: described, key_bytes })
}

/// A set that is served.
struct Serving {
    served: Served,
    description: Vec<u8>,
    key_bytes: u64,
}

impl Serving {
    fn answered(&self, key: &RelinearizationKey, query: &[u8]) -> Result<Vec<u8>, Refusal> {
        let intersection = self.served.intersection();
        let query: Query = from_bytes(intersection, query).map_err(|error| match error {
            WireError::Parameters { .. } => Refusal::new(409, "the query asks another set than the one here")
                .remedy("ask by the description that GET /v1/description gives, if you trust it"),
            other => wrong("the query", other),
        })?;
        if Some(key.id()) != query.key() {
            return Err(Refusal::input("the query is not under the keys of this hash"));
        }
        let answer = self.served.answer(&query, key).map_err(|error| wrong("the query", error))?;
        to_bytes(intersection, &answer).map_err(|error| wrong("the answer", error))
    }
}

impl Lookups for Serving {
    type Keys = RelinearizationKey;

    fn description(&self) -> &[u8] {
        &self.description
    }

    fn key_bytes(&self) -> u64 {
        self.key_bytes
    }

    fn query_bytes(&self) -> u64 {
        self.served.intersection().most_query_bytes()
    }

    fn keys(&self, bytes: &[u8]) -> Result<RelinearizationKey, Refusal> {
        from_bytes(self.served.intersection().context().rlwe(), bytes)
            .map_err(|error| wrong("the key", error))
    }

    fn answer(&self, asked: &[(&RelinearizationKey, &[u8])]) -> Vec<Result<Vec<u8>, Refusal>> {
        asked.iter().map(|(key, query)| self.answered(key, query)).collect()
    }

    fn evaluation_bytes(&self) -> u64 {
        (MOST_ITEMS * ITEM_BYTES) as u64
    }

    fn evaluation(&self, bytes: &[u8]) -> Result<Evaluation<'_>, Refusal> {
        let elements = elements_from_bytes(bytes).map_err(|error| wrong("the items", error))?;
        let items = elements.len() as u64;
        let evaluate = move || {
            let mut rng = randomness::from_os().map_err(|error| wrong("the system", error))?;
            let (evaluated, proof) =
                self.served.evaluate(&elements, &mut rng).map_err(|error| wrong("the items", error))?;
            Ok(evaluation_to_bytes(&evaluated, &proof))
        };
        Ok(Evaluation { items, evaluate: Box::new(evaluate) })
    }
}
