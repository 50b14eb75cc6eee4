//! `sunzi plan`: tells what a program takes in parameters, memory and time, before there is any key.

use std::fs::File;
use std::path::Path;

use serde::Serialize;
use sunzi::bfv::explain::bytes;
use sunzi::program::analysis::{Layout, Options, Parameters, SchemeChoice};
use sunzi::program::{Plan, Schema, Timing};
use sunzi::rlwe::wire::{Header, Kind, SecurityClaim, WireError};
use sunzi::rlwe::{Security, memory};
use sunzi::table::{Asked, EncryptedTable, Source, is_parquet, survey};

use super::{parse, parts, refuse};
use crate::args::{PlanArgs, PlanScheme};
use crate::error::{CliError, quoted};
use crate::files::{self, stored};
use crate::output;

/// Plan of a program as it is printed in JSON.
#[derive(Serialize)]
struct Planned<'a> {
    #[serde(flatten)]
    plan: &'a Plan,
    scheme: &'static str,
    degree: usize,
    security: SecurityClaim,
    /// CKKS: bits of every intermediate number that are right.
    bits: Option<f64>,
    /// Seconds of a run on this machine; none if the run was not measured.
    seconds: Option<f64>,
    /// Bytes of a run with the tables of its contexts, those that this machine has left, where it says, and whether these suffice.
    needed_bytes: u64,
    available_bytes: Option<u64>,
    fits: bool,
}

/// Chooses parameters for a program, or tells whether given ones suffice.
pub(crate) fn run(args: &PlanArgs) -> Result<(), CliError> {
    args.output.as_deref().map_or(Ok(()), files::check_target)?;
    let (schema, layout) = match (&args.table, &args.schema) {
        (Some(table), _) => of_table(table, args.partition.as_ref())?,
        (None, Some(schema)) => (of_file(schema)?, None),
        (None, None) => return Err(CliError::input("no columns: give --table or --schema")),
    };
    let (program, parts) = (parse(&args.program, &schema)?, parts(&schema, args.partition.as_ref())?);
    let plan = match &args.params {
        Some(path) => {
            let parameters = Parameters::load_as(args.accept.parameters(), path)
                .map_err(|error| files::refuse(path, error))?;
            if let Some(packing) = args.packing.asked()? {
                return tell(args, &Plan::within_packed(&program, &parameters, &packing).map_err(refuse)?);
            }
            let planned = || Layout::of_parts(schema.rows as usize, parameters.slots(), parts);
            Plan::for_layout(&program, &parameters, layout.unwrap_or_else(planned), args.precision)
        }
        None => Plan::new(&program, &options(args, parts)?),
    };
    tell(args, &plan.map_err(refuse)?)
}

/// Keeps the parameters of a plan where that was asked for, and prints the plan.
fn tell(args: &PlanArgs, plan: &Plan) -> Result<(), CliError> {
    if let Some(path) = &args.output {
        if path.exists() {
            let name = quoted(&path.display().to_string());
            return Err(CliError::input(format!(
                "{name} is there already: choose another name, or remove it"
            )));
        }
        plan.parameters.store(path).map_err(|error| files::refuse(path, error))?;
    }
    let available = memory::available();
    // The times of packed runs are not known.
    let seconds = if args.no_time || plan.packed().is_some() || exceeds(plan, available) {
        None
    } else {
        Some(Timing::measure(plan).map_err(refuse)?.seconds(plan))
    };
    if args.json {
        let (scheme, degree) = (plan.parameters.name(), plan.parameters.degree());
        return output::print_json(&Planned {
            plan,
            scheme,
            degree,
            security: plan.parameters.claim(),
            bits: plan.precision_bits(),
            seconds,
            needed_bytes: plan.needed_bytes(),
            available_bytes: available,
            fits: !exceeds(plan, available),
        });
    }
    output::print(&text(plan, seconds, available))
}

fn options(args: &PlanArgs, parts: usize) -> Result<Options, CliError> {
    let scheme = match args.scheme {
        PlanScheme::Auto => None,
        PlanScheme::Bfv => Some(SchemeChoice::Bfv),
        PlanScheme::Bgv => Some(SchemeChoice::Bgv),
        PlanScheme::Ckks => Some(SchemeChoice::Ckks),
    };
    let security = match args.security.as_str() {
        "192" => Security::Bits192,
        "256" => Security::Bits256,
        _ => Security::Bits128,
    };
    let sharing = args.room.policy()?;
    Ok(Options {
        scheme,
        precision: args.precision,
        security,
        log2_degree: None,
        parts,
        sharing,
        packing: args.packing.asked()?,
    })
}

/// Reads the schema in a file of JSON, rows and all.
pub(crate) fn of_file(path: &Path) -> Result<Schema, CliError> {
    match files::read_schema(path)? {
        Asked { rows: Some(rows), declared: Some(columns), .. } => Schema::new(rows, columns).map_err(refuse),
        _ => {
            let name = quoted(&path.display().to_string());
            Err(CliError::input(format!("{name} does not say how many rows there are: add \"rows\"")))
        }
    }
}

/// Returns the schema of a table in a file, read, or found by looking at all of the table; and where rows
/// stand if it is encrypted.
fn of_table(path: &Path, partition: Option<&String>) -> Result<(Schema, Option<Layout>), CliError> {
    let encrypted = |table: Box<dyn EncryptedTable>| Ok((table.schema().clone(), Some(table.layout())));
    let header = File::open(path).map_err(WireError::Io).and_then(|mut file| Header::read(&mut file));
    if header.is_ok_and(|header| Kind::of(header.kind).is_some_and(Kind::is_table)) {
        return encrypted(stored::table(path)?);
    }
    // A table in Parquet may be encrypted or not.
    if let (Ok(true), Ok(table)) = (is_parquet(path), sunzi::table::open(path)) {
        return encrypted(table);
    }
    let refused = |error| files::refuse_table(path, error);
    let source = Source::open(path).map_err(refused)?;
    let mut rows = source.rows().map_err(refused)?;
    let categories: Vec<String> = partition.into_iter().cloned().collect();
    let asked = Asked { clear: categories.clone(), categories, ..Asked::default() };
    Ok((survey(&mut *rows, &asked).map_err(refused)?.schema, None))
}

/// Whether a run takes more memory than the machine has left, where the machine says how much that is.
fn exceeds(plan: &Plan, available: Option<u64>) -> bool {
    available.is_some_and(|available| available < plan.needed_bytes())
}

fn text(plan: &Plan, seconds: Option<f64>, available: Option<u64>) -> String {
    let mut text = format!(
        "scheme       {}, n = {}, {} plaintext modulus(es)\n\
         parameters   {}\n\
         rows         {} in {} chunk(s) of {}\n\
         depth        {}\n\
         keys         {} for products and {} rotations\n\
         table        {} ciphertexts of the columns it reads, up to {}\n\
         memory       about {}, and {} of tables\n",
        plan.parameters.name(),
        plan.parameters.degree(),
        plan.parameters.plain_moduli().len(),
        plan.parameters.claim(),
        plan.layout.rows,
        plan.layout.chunks,
        plan.layout.span,
        plan.depth,
        bytes(plan.key_bytes),
        plan.rotations.len(),
        plan.inputs,
        bytes(plan.table_bytes()),
        bytes(plan.memory_bytes),
        bytes(plan.parameters.table_bytes()),
    );
    if let Some(available) = available.filter(|_| exceeds(plan, available)) {
        let left = bytes(available);
        text.push_str(&format!("too large    this machine has {left} left: a run here is refused\n"));
    }
    if let Some(seconds) = seconds {
        text.push_str(&format!("time         about {seconds:.1} s here\n"));
    }
    if let Some(bits) = plan.precision_bits() {
        text.push_str(&format!("precision    {bits:.0} bits of every intermediate number\n"));
    }
    if let Some(packed) = plan.packed() {
        let (own, shape) = (packed.layout(), packed.layout().shape());
        text.push_str(&format!(
            "packed       {} columns and {} group(s) of up to {} rows, {} columns in a ciphertext\n",
            shape.columns,
            shape.groups,
            shape.longest_group,
            own.units()
        ));
    }
    plan.reasons.iter().for_each(|reason| text.push_str(&format!("because      {reason}\n")));
    text
}
