//! `sunzi intersect query`: which items of a client a server's set has.

use std::collections::{BTreeMap, HashSet};
use std::io::{self, IsTerminal};
use std::path::Path;
use std::time::Instant;

use serde::Serialize;
use sunzi::rlwe::wire::{from_bytes, load, to_bytes};
use sunzi::rlwe::words::counted;
use sunzi::rlwe::{RelinearizationKey, SecretKey, memory, randomness};
use sunzi::table::intersection::{
    Answer, Blinded, Description, Intersection, MOST_ITEMS, Token, elements_to_bytes, evaluation_from_bytes,
    token,
};
use sunzi::table::{Source, csv};

use crate::args::intersect::QueryArgs;
use crate::error::{CliError, one_lines};
use crate::files::input::InputFile;
use crate::files::target::{Content, Target};
use crate::files::{named, refuse, refuse_table};
use crate::lookup::server::Server;
use crate::output;
use crate::progress::Progress;

/// Report of `sunzi intersect query`.
#[derive(Serialize)]
struct Found {
    /// Items that were asked for, each once.
    items: usize,
    /// Items that the set has, with the cells of their rows.
    found: Vec<Row>,
    columns: Vec<String>,
    queries: usize,
    seconds: f64,
}

/// An item that the set has.
#[derive(Serialize)]
struct Row {
    item: String,
    cells: Vec<String>,
}

/// Asks a server for all items, and writes those that its set has.
pub(super) fn run(args: &QueryArgs) -> Result<(), CliError> {
    let start = Instant::now();
    let target = |path| Target::new(path, &args.force, Content::Text, args.json);
    let target = args.output.as_deref().map(target).transpose()?;
    let description: Description = load(&args.accept.parameters(), &args.description)
        .map_err(|error| refuse(&args.description, error))?;
    memory::require(description.parameters().table_bytes()).map_err(CliError::input)?;
    let intersection =
        Intersection::new(&description).map_err(|error| refuse_table(&args.description, error))?;
    let items = items(args, args.by.as_deref().unwrap_or(description.by()))?;
    let server = Server::new(&args.server, args.ca.as_deref())?;
    let progress = Progress::new(!args.json && !args.quiet);
    progress.say("evaluating items");
    let tokens = evaluated(&server, &description, &items)?;
    progress.say("asking");
    let (found, queries) = asked(&server, &intersection, &tokens)?;
    drop(progress);
    let row = |(at, cells): (usize, Vec<String>)| Some(Row { item: items.get(at)?.clone(), cells });
    let found = Found {
        items: items.len(),
        found: found.into_iter().filter_map(row).collect(),
        columns: description.columns().to_vec(),
        queries,
        seconds: start.elapsed().as_secs_f64(),
    };
    let lines = std::iter::once((&description.by().to_owned(), &found.columns))
        .chain(found.found.iter().map(|row| (&row.item, &row.cells)))
        .map(|(item, cells)| csv::line(std::iter::once(item).chain(cells)))
        .collect::<String>();
    match target {
        Some(target) => target.write_text(&lines)?,
        None if !args.json => output::print(&shown(lines))?,
        None => {}
    }
    if args.json {
        return output::print_json(&found);
    }
    output::remark(&format!(
        "{} of {} in the set, {:.1} s",
        found.found.len(),
        counted(found.items, "item", "items"),
        found.seconds
    ));
    Ok(())
}

/// Returns lines as a terminal may show them, where one shows them: a server may give cells that would steer it.
fn shown(lines: String) -> String {
    if io::stdout().is_terminal() { one_lines(&lines) } else { lines }
}

/// Reads the items of a table, each once, in their order.
fn items(args: &QueryArgs, by: &str) -> Result<Vec<String>, CliError> {
    let of_table = |error| refuse_table(&args.items, error);
    let input = InputFile::open(&args.items)?;
    let source = Source::named(input.path(), input.name()).map_err(of_table)?.delimited(args.delimiter);
    let mut rows = source.rows().map_err(of_table)?;
    let Some(at) = rows.names().iter().position(|name| name == by) else {
        let names = rows.names().join(", ");
        return Err(CliError::input(format!(
            "{} has no column {by:?}, its columns are {names}: say with --by which one has the items",
            named(&args.items)
        )));
    };
    rows.select(&[at]).map_err(of_table)?;
    let (mut items, mut seen) = (Vec::new(), HashSet::new());
    while rows.advance().map_err(of_table)? {
        let item = rows.cell(at).text().into_owned();
        if seen.insert(item.clone()) {
            items.push(item);
        }
    }
    if items.is_empty() {
        return Err(CliError::input(format!("{} has no rows: there is nothing to ask", named(&args.items))));
    }
    Ok(items)
}

/// Has the server evaluate all items, and returns their tokens.
fn evaluated(
    server: &Server<'_>,
    description: &Description,
    items: &[String],
) -> Result<Vec<Token>, CliError> {
    let mut rng = randomness::from_os().map_err(CliError::failure)?;
    let mut tokens = Vec::with_capacity(items.len());
    for together in items.chunks(MOST_ITEMS) {
        let blinded = Blinded::new(together, &mut rng).map_err(CliError::input)?;
        let bytes = elements_to_bytes(blinded.elements());
        let most = bytes.len() as u64 + 64;
        let answer = server.posted("/v1/evaluations", &bytes, most)?.ok_or_else(|| {
            CliError::mismatch(format!("{} serves no set: check the address", server.address()))
        })?;
        let refused =
            |error: &dyn std::fmt::Display| CliError::damaged(format!("{}: {error}", server.address()));
        let (evaluated, proof) = evaluation_from_bytes(&answer).map_err(|error| refused(&error))?;
        let outputs =
            blinded.finish(&evaluated, &proof, description.key()).map_err(|error| refused(&error))?;
        tokens.extend(outputs.iter().map(token));
    }
    Ok(tokens)
}

/// Items that were found, by their numbers, with their cells.
type Rows = BTreeMap<usize, Vec<String>>;

/// Asks for all tokens, under a secret that nobody sees again; returns what was found, and the number of queries.
fn asked(
    server: &Server<'_>,
    intersection: &Intersection,
    tokens: &[Token],
) -> Result<(Rows, usize), CliError> {
    let (context, from) = (intersection.context().rlwe(), Path::new(server.address()));
    let mut rng = randomness::from_os().map_err(CliError::failure)?;
    let secret = SecretKey::generate(context, &mut rng).map_err(CliError::failure)?;
    let key = RelinearizationKey::generate(context, &secret, &mut rng).map_err(CliError::failure)?;
    let key = to_bytes(context, &key).map_err(CliError::failure)?;
    let (mut found, queries) = (BTreeMap::new(), intersection.layout().arrange(tokens, &mut rng));
    for bins in &queries {
        let query =
            intersection.ask(bins, tokens, &secret, &mut rng).map_err(|error| refuse_table(from, error))?;
        let bytes = to_bytes(intersection, &query).map_err(CliError::failure)?;
        let answer = server.answer(&key, &bytes, intersection.most_answer_bytes())?;
        let answer: Answer = from_bytes(intersection, &answer)
            .map_err(|error| CliError::damaged(format!("{}: {error}", server.address())))?;
        let read = intersection.read((bins, tokens), &query, &answer, &secret);
        found.extend(read.map_err(|error| refuse_table(from, error))?);
    }
    Ok((found, queries.len()))
}
