//! `sunzi plan`: tells what a program takes in parameters, memory and time, before there is any key.

use std::path::Path;

use serde::Serialize;
use sunzi::program::analysis::{Layout, Options, Parameters, SchemeChoice};
use sunzi::program::{Plan, Schema, Timing};
use sunzi::rlwe::memory;
use sunzi::rlwe::wire::{Kind, SecurityClaim};
use sunzi::rlwe::words::{bytes, counted};
use sunzi::table::{Asked, EncryptedTable, Source, is_parquet, survey};

use super::{parse, parts, picture, refuse};
use crate::args::{PRECISION, PlanArgs, security};
use crate::error::CliError;
use crate::files::input::InputFile;
use crate::files::target::{Content, Target};
use crate::files::{self, named, stored};
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
    check_precision(args.precision, args.asked_scheme())?;
    let targets = Targets::new(args)?;
    let (schema, layout) = match (args.table(), &args.schema) {
        (Some(table), _) => of_table(table, args)?,
        (None, Some(schema)) => (of_file(schema)?, None),
        (None, None) => return Err(CliError::input("no columns: give a table or --schema")),
    };
    let (program, parts) = (parse(&args.program, &schema)?, parts(&schema, args.partition.as_ref())?);
    let plan = match &args.params {
        Some(path) => {
            let parameters = Parameters::load_as(args.accept.parameters(), InputFile::open(path)?.path())
                .map_err(|error| files::refuse(path, error))?;
            check_precision(args.precision, Some(parameters.scheme()))?;
            if let Some(packing) = args.packing.asked()? {
                let plan = Plan::within_packed(&program, &parameters, &packing).map_err(refuse)?;
                return tell(args, &plan, &targets);
            }
            let planned = || parameters.layout(schema.rows as usize, parts);
            let precision = args.precision.unwrap_or(PRECISION);
            Plan::for_layout(&program, &parameters, layout.unwrap_or_else(planned), precision)
        }
        None => Plan::new(&program, &options(args, parts)?),
    };
    let plan = plan.map_err(refuse)?;
    if args.precision.is_some() && !matches!(plan.parameters.scheme(), SchemeChoice::Ckks) {
        // `eval` and `decrypt` would refuse it.
        return Err(CliError::input(format!(
            "--scheme auto takes {} for this program, which computes exactly: leave --precision away, or give --scheme ckks",
            plan.parameters.name()
        )));
    }
    tell(args, &plan, &targets)
}

/// Files that are written beside the report.
struct Targets<'a> {
    parameters: Option<Target<'a>>,
    picture: Option<Target<'a>>,
}

impl<'a> Targets<'a> {
    fn new(args: &'a PlanArgs) -> Result<Self, CliError> {
        let target = |option, path: Option<&'a Path>, content| {
            path.map(|path| Target::of_option(option, path, args.force, content, args.json)).transpose()
        };
        let parameters = target("--output", args.output.as_deref(), Content::Binary)?;
        let picture = target("--picture", args.picture.as_deref(), Content::Text)?;
        if let Some(picture) = &picture {
            picture.check_beside(parameters.as_ref())?;
        }
        Ok(Self { parameters, picture })
    }

    fn write(&self, plan: &Plan) -> Result<(), CliError> {
        if let Some(target) = &self.parameters {
            target.write(|file| plan.parameters.write(file)).map_err(|error| target.refuse(error))?;
        }
        if let Some(target) = &self.picture {
            target.write_text(&picture::draw(plan)?)?;
        }
        Ok(())
    }

    /// The file that goes to standard output, if one does.
    fn standard(&self) -> Option<&Target<'a>> {
        self.parameters.iter().chain(&self.picture).find(|target| target.is_standard())
    }
}

/// Keeps the parameters of a plan and its picture where that was asked for, and prints the plan.
fn tell(args: &PlanArgs, plan: &Plan, targets: &Targets<'_>) -> Result<(), CliError> {
    targets.write(plan)?;
    let available = memory::available();
    // The times of packed runs are not known.
    let seconds = if args.no_time || plan.packed().is_some() || exceeds(plan, available) {
        None
    } else {
        Some(Timing::measure(plan).map_err(refuse)?.seconds(plan))
    };
    let planned = Planned {
        plan,
        scheme: plan.parameters.name(),
        degree: plan.parameters.degree(),
        security: plan.parameters.claim(),
        bits: plan.precision_bits(),
        seconds,
        needed_bytes: plan.needed_bytes(),
        available_bytes: available,
        fits: !exceeds(plan, available),
    };
    match targets.standard() {
        Some(target) => target.report(args.json, &planned, text),
        None => output::report(args.json, &planned, text),
    }
}

/// Fails where a precision is given for a scheme that computes exactly.
pub(super) fn check_precision(precision: Option<u32>, scheme: Option<SchemeChoice>) -> Result<(), CliError> {
    match scheme {
        Some(SchemeChoice::Bfv | SchemeChoice::Bgv) if precision.is_some() => Err(CliError::input(
            "--precision is for CKKS, and BFV and BGV compute exactly: leave --precision away",
        )),
        Some(SchemeChoice::Integers) if precision.is_some() => Err(CliError::input(
            "--precision is for CKKS, and encrypted integers compute exactly: leave --precision away",
        )),
        _ => Ok(()),
    }
}

fn options(args: &PlanArgs, parts: usize) -> Result<Options, CliError> {
    let sharing = args.room.policy()?;
    Ok(Options {
        scheme: args.asked_scheme(),
        precision: args.precision.unwrap_or(PRECISION),
        security: security(&args.security),
        log2_degree: None,
        parts,
        sharing,
        reencryptions: args.room.reencryptions()?,
        packing: args.packing.asked()?,
        parties: args.parties,
    })
}

/// Reads the schema in a file of JSON, rows and all.
pub(crate) fn of_file(path: &Path) -> Result<Schema, CliError> {
    match files::read_schema(path)? {
        Asked { rows: Some(rows), declared: Some(columns), .. } => Schema::new(rows, columns).map_err(refuse),
        _ => {
            let name = named(path);
            Err(CliError::input(format!("{name} does not say how many rows there are: add \"rows\"")))
        }
    }
}

/// Returns the schema of a table in a file, read, or found by looking at all of the table; and where rows
/// stand if it is encrypted.
fn of_table(path: &Path, args: &PlanArgs) -> Result<(Schema, Option<Layout>), CliError> {
    let encrypted = |table: Box<dyn EncryptedTable>| Ok((table.schema().clone(), Some(table.layout())));
    let (input, refused) = (InputFile::open(path)?, |error| files::refuse_table(path, error));
    let file = input.path();
    if stored::header(file).is_ok_and(|(header, _)| Kind::of(header.kind).is_some_and(Kind::is_table)) {
        return encrypted(sunzi::table::open(file).map_err(refused)?);
    }
    // A table in Parquet may be encrypted or not.
    if let (Ok(true), Ok(table)) = (is_parquet(file), sunzi::table::open(file)) {
        return encrypted(table);
    }
    let source = Source::named(file, input.name()).map_err(refused)?.delimited(args.reading.delimiter);
    let mut rows = source.rows().map_err(refused)?;
    let (categories, reading) = (args.partition.iter().cloned().collect::<Vec<_>>(), args.reading.reading());
    let asked = Asked { clear: categories.clone(), categories, reading, ..Asked::default() };
    Ok((survey(&mut *rows, &asked).map_err(refused)?.schema, None))
}

/// Whether a run takes more memory than the machine has left, where the machine says how much that is.
fn exceeds(plan: &Plan, available: Option<u64>) -> bool {
    available.is_some_and(|available| available < plan.needed_bytes())
}

fn text(planned: &Planned<'_>) -> String {
    let Planned { plan, seconds, available_bytes, .. } = *planned;
    let moduli = match plan.parameters.plain_moduli().len() {
        0 => String::new(),
        count => format!(", {}", counted(count, "plaintext modulus", "plaintext moduli")),
    };
    let (work, purpose) = match &plan.look_ups {
        Some(look_ups) => (format!("look-ups     {}", look_ups.count), "look-ups".to_owned()),
        None => {
            let rotations = counted(plan.rotations.len(), "rotation", "rotations");
            (format!("depth        {}", plan.depth), format!("products and {rotations}"))
        }
    };
    let mut text = format!(
        "scheme       {}, n = {}{}\n\
         parameters   {}\n\
         rows         {} in {} of {}\n\
         {}\n\
         keys         {} in files, for {}\n\
         table        {} ciphertexts of the columns it reads, up to {}\n\
         memory       about {}, and {} of tables\n",
        plan.parameters.name(),
        plan.parameters.degree(),
        moduli,
        plan.parameters.claim(),
        plan.layout.rows,
        counted(plan.layout.chunks, "chunk", "chunks"),
        plan.layout.span,
        work,
        bytes(plan.key_bytes),
        purpose,
        plan.inputs,
        bytes(plan.table_bytes()),
        bytes(plan.memory_bytes),
        bytes(plan.parameters.table_bytes()),
    );
    if let Some(available) = available_bytes.filter(|_| !planned.fits) {
        let left = bytes(available);
        let too_large = output::verdict(false, "too large");
        text.push_str(&format!("{too_large}    this machine has {left} left: a run here is refused\n"));
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
            "packed       {} and {} of up to {} rows, {} in a ciphertext\n",
            counted(shape.columns, "column", "columns"),
            counted(shape.groups, "group", "groups"),
            shape.longest_group,
            counted(own.units(), "column", "columns"),
        ));
    }
    plan.reasons.iter().for_each(|reason| text.push_str(&format!("because      {reason}\n")));
    text
}
