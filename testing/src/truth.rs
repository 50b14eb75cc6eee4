//! Random analysis programs on misleading columns, run through files and compared with the truth.

use std::collections::BTreeMap;
use std::fmt::Write;

use chacha20::ChaCha20Rng;
use rand_core::SeedableRng;
use sunzi_program::analysis::SchemeChoice;
use sunzi_program::contexts::{EncryptionKey, SecretKey};
use sunzi_program::results::{Description, ResultsReader, ResultsWriter};
use sunzi_program::run::{Cells, Estimate, Input, Table, evaluate, reference};
use sunzi_program::{
    Column, Contexts, NodeId, Number, Opened, Options, Plan, Program, ProgramError, Schema, Undefined,
};
use sunzi_rlwe::wire::WireError;
use sunzi_rlwe::{PublicKey, Security};

/// Outcome of a random analysis program.
#[derive(Debug, PartialEq)]
pub enum Outcome {
    /// All printed intervals hold the true value; the number is that of rows which the widest interval leaves
    /// open, among counts of rows.
    True(usize),
    /// The analysis program, or its result, was refused by name before it ran.
    Refused(String),
    /// The analysis program was planned, and its run was refused by name.
    Stopped(String),
    /// A printed interval does not hold the true value, or a plan was refused without reason.
    Wrong(String),
}

/// A generator of random analysis programs and tables.
pub struct Draw(u64);

impl Draw {
    /// Makes the generator of programs and tables from a seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// Draws a random number from 0 to n − 1.
    pub fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n.max(1)
    }

    fn unit(&mut self) -> f64 {
        self.below(1 << 30) as f64 / f64::from(1 << 30)
    }

    fn of<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all.get(self.below(all.len() as u64) as usize).copied().unwrap_or_default()
    }

    /// Draws cells of a column from low to high in one of the misleading shapes: ends, ties and near ties at
    /// a threshold, tiny and huge spreads.
    fn cells(&mut self, rows: usize, low: f64, high: f64, threshold: f64) -> Vec<f64> {
        let style = self.below(8);
        let base = low + (high - low) * self.unit();
        let spread = (high - low) * 2.0_f64.powi(-(self.below(50) as i32));
        let mut cell = |row: usize| match style {
            0 => low,
            1 => high,
            2 => {
                if row.is_multiple_of(2) {
                    low
                } else {
                    high
                }
            }
            3 => match self.below(3) {
                0 => threshold,
                1 => low,
                _ => high,
            },
            4 => threshold + spread * (self.unit() - 0.5),
            5 => base + spread * (self.unit() - 0.5),
            6 => {
                if row == rows / 2 {
                    high
                } else {
                    low
                }
            }
            _ => low + (high - low) * self.unit(),
        };
        (0..rows).map(|row| cell(row).clamp(low, high)).collect()
    }

    /// Draws a random table of [`schema`].
    ///
    /// # Errors
    /// Every error of [`Table::new`].
    pub fn table(&mut self, schema: &Schema) -> Result<Table, ProgramError> {
        let rows = schema.rows as usize;
        let units = |cells: Vec<f64>| Cells::Units(cells.into_iter().map(|v| v.round() as i64).collect());
        let x = units(self.cells(rows, -50.0, 90.0, 20.0));
        let y = units(self.cells(rows, 0.0, 9.0, 3.0));
        let u = Cells::Reals(self.cells(rows, -1.0, 1.0, 0.0));
        let w = Cells::Reals(self.cells(rows, 0.25, 4.0, 1.0));
        let k = units(self.cells(rows, 0.0, 7.0, 3.0));
        let labels = [3, 2].map(|n| {
            let one = self.below(4) == 0;
            Cells::Labels((0..rows).map(|_| if one { 0 } else { self.below(n) as u32 }).collect())
        });
        let v = Cells::Reals(self.cells(rows, -2.0, 2.0, 0.5));
        Table::new(schema, [x, y, u, w, k].into_iter().chain(labels).chain([v]).collect())
    }

    /// Draws an expression of numbers that exact schemes can compute.
    fn exact(&mut self, depth: usize) -> String {
        let leaf = ["x", "y", "k", "2", "-0.5", "(g == \"b\")", "(s != \"m\")", "(k > 3)"];
        if depth == 0 {
            return self.of(&leaf).to_owned();
        }
        let (a, b) = (self.exact(depth - 1), self.exact(depth - 1));
        match self.below(6) {
            0 | 1 => format!("({a} + {b})"),
            2 => format!("({a} - {b})"),
            3 | 4 => format!("{a} * {b}"),
            _ => format!("poly({a}, 1, -2, 0.5)"),
        }
    }

    /// Draws an expression that only CKKS can compute.
    fn approximate(&mut self) -> String {
        let compared =
            ["(x > 2)", "(x >= 2)", "(y == 3)", "(x <= y)", "(y > 3) * x", "((y > 3) + (x > 2) >= 1)"];
        let close = ["(u > 0)", "(w >= 1)", "(u > 0) * w", "(u < 0.5) * u", "sigmoid(u + 3 * (w > 1))"];
        let clear =
            ["(v > 0.5)", "(v <= 0.3 - k) * u", "(v * v > 0)", "v * u", "exp(v)", "(0.1 * v - k + 0.2 >= 0)"];
        let functions = [
            "sigmoid(4 * u)",
            "tanh(u + 0.1 * x)",
            "exp(u)",
            "log(w)",
            "inverse(w)",
            "sqrt(w)",
            "w * inverse(w + 1)",
            "sigmoid(0.3 * x - u)",
            "exp(u) * sqrt(w)",
        ];
        let smooth = ["u", "w", "u * w", "u * u", "x * u", "(w - u)^3", "poly(u, 0, 1, -0.5, 0.25)"];
        match self.below(11) {
            10 => self.of(&clear).to_owned(),
            0..=2 => self.of(&smooth).to_owned(),
            3..=5 => self.of(&functions).to_owned(),
            6..=8 => self.of(&compared).to_owned(),
            _ => self.of(&close).to_owned(),
        }
    }

    /// Draws a program statement for a scheme.
    fn statement(&mut self, scheme: SchemeChoice) -> String {
        let mut rows = || {
            if scheme == SchemeChoice::Ckks && self.below(3) > 0 {
                return self.approximate();
            }
            let depth = self.below(3) as usize;
            self.exact(depth)
        };
        let (a, b) = (rows(), rows());
        let by = self.of(&["", "", "", " by g", " by s"]);
        match self.below(9) {
            0 | 1 => format!("sum({a}){by}"),
            2 | 3 => format!("mean({a}){by}"),
            4 => format!("var({a}){by}"),
            5 => format!("std({a})"),
            6 => format!("cov({a}, {b})"),
            7 if self.below(3) == 0 => format!("corr({a}, {b})"),
            7 => format!("dot({a}, {b}){by}"),
            _ => a,
        }
    }

    /// Draws a program of one or two statements.
    pub fn program(&mut self, scheme: SchemeChoice) -> String {
        let mut text = self.statement(scheme);
        if self.below(2) == 0 {
            let _ = write!(text, "; {}", self.statement(scheme));
        }
        text
    }
}

/// Returns a schema with columns of every kind: decimals, real numbers, labels, encrypted and not.
///
/// # Errors
/// Every error of [`Schema::new`].
pub fn schema(rows: u64) -> Result<Schema, ProgramError> {
    let columns = vec![
        Column::decimal("x", 1, -50, 90),
        Column::integer("y", 0, 9),
        Column::real("u", -1.0, 1.0),
        Column::real("w", 0.25, 4.0),
        Column::integer("k", 0, 7).in_the_clear(),
        Column::category("g", &["a", "b", "c"]),
        Column::category("s", &["f", "m"]).in_the_clear(),
        Column::real("v", -2.0, 2.0).in_the_clear(),
    ];
    Schema::new(rows, columns)
}

/// Runs a program on a table through a file of results, and compares all printed intervals with the true values.
#[must_use]
pub fn outcome(text: &str, table: &Table, options: &Options, seed: u64) -> Outcome {
    let program = match Program::parse(text, table.schema()) {
        Ok(program) => program,
        Err(error) => return Outcome::Refused(error.to_string()),
    };
    let plan = match Plan::new(&program, options) {
        Ok(plan) => plan,
        Err(ProgramError::Refused(refusal)) => return Outcome::Refused(refusal.to_string()),
        Err(error) => return Outcome::Wrong(format!("{text}: {error}")),
    };
    match opened(&plan, table, seed) {
        Ok((totals, columns)) => compared(&program, table, &totals, &columns),
        Err(Failed(error)) => Outcome::Stopped(error.to_string()),
    }
}

type Totals = BTreeMap<NodeId, Estimate>;
type Columns = BTreeMap<NodeId, Vec<Estimate>>;

/// Error of an analysis program's run.
struct Failed(ProgramError);

impl From<ProgramError> for Failed {
    fn from(error: ProgramError) -> Self {
        Self(error)
    }
}

impl From<WireError> for Failed {
    fn from(error: WireError) -> Self {
        Self(ProgramError::scheme(error))
    }
}

/// Runs a plan with three parties and a file, and returns the decrypted totals.
fn opened(plan: &Plan, table: &Table, seed: u64) -> Result<(Totals, Columns), Failed> {
    let (program, mut rng) = (&plan.program, ChaCha20Rng::seed_from_u64(seed));
    let contexts = Contexts::new(&plan.parameters).map_err(ProgramError::scheme)?;
    let secret = SecretKey::generate(contexts.rlwe(), &mut rng).map_err(ProgramError::scheme)?;
    let public = PublicKey::generate(contexts.rlwe(), &secret, &mut rng).map_err(ProgramError::scheme)?;
    let keys = contexts.evaluation_keys(&secret, &plan.rotations, plan.rotation_limbs, &mut rng);
    let keys = keys.map_err(ProgramError::scheme)?;
    let codec = contexts.codec(&plan.layout)?;
    let input = |id: NodeId, chunk: usize| {
        let missing = || ProgramError::Invalid("an input is no column".to_owned());
        let node = program.graph().node(id).ok_or_else(missing)?;
        let at = node.column().ok_or_else(missing)?;
        let column = program.schema().columns.get(at).ok_or_else(missing)?;
        let start = chunk * plan.layout.span;
        let cells = part(table.cells(at).ok_or_else(missing)?, start..start + plan.layout.rows_of(chunk));
        if !column.encrypted {
            return Ok(Input::Clear(cells));
        }
        let key = EncryptionKey::Public(&public);
        codec.encrypt(column, node.label(), &cells, key, &mut rng).map(Input::Encrypted)
    };
    let mut file = Vec::new();
    let mut writer = ResultsWriter::new(&contexts, secret.id(), Description::of(plan)?, &mut file)?;
    let column = |_, _, answer| writer.put(&answer).map_err(ProgramError::scheme);
    let totals = evaluate(plan, &codec, &keys, input, column)?;
    totals.values().try_for_each(|answer| writer.put(answer))?;

    let mut reader = ResultsReader::open(&contexts, file.as_slice())?;
    let mut columns = Columns::new();
    let take = |id, _, cells: Vec<Estimate>| {
        columns.entry(id).or_default().extend(cells);
        Ok::<(), Failed>(())
    };
    let totals = reader.decrypt(&codec, &secret, take)?;
    Ok((totals, columns))
}

/// Returns the cells of a column in a range of rows.
fn part(cells: &Cells, rows: std::ops::Range<usize>) -> Cells {
    match cells {
        Cells::Units(v) => Cells::Units(v.get(rows).unwrap_or_default().to_vec()),
        Cells::Reals(v) => Cells::Reals(v.get(rows).unwrap_or_default().to_vec()),
        Cells::Labels(v) => Cells::Labels(v.get(rows).unwrap_or_default().to_vec()),
        Cells::Unknown => Cells::Unknown,
    }
}

/// Bound on the absolute value of all real numbers in drawn programs.
const LARGEST: f64 = 1e3;

/// Returns a true value as a double with the oracle's own rounding error: 2^-44 of the numbers it was made
/// of.
fn rounded(number: Number, largest: f64) -> Estimate {
    match number {
        Number::Exact(_) => number.into(),
        Number::Real(_) => Estimate { number, error: largest * 2.0_f64.powi(-44) },
    }
}

fn compared(program: &Program, table: &Table, totals: &Totals, columns: &Columns) -> Outcome {
    let truth = match reference(program, table) {
        Ok(truth) => truth,
        Err(error) => return Outcome::Wrong(error.to_string()),
    };
    let weight = program.schema().rows as f64 * LARGEST;
    let right = program.finish(|id| Some(rounded(truth.totals.get(&id)?.clone(), weight)));
    let mut held = Held::default();
    for ((name, got), (_, right)) in program.finish(|id| totals.get(&id).cloned()).iter().zip(&right) {
        match (got, right) {
            (Opened::Number(got), Opened::Number(right)) => held.number(name, got, right),
            (Opened::Groups(got), Opened::Groups(right)) => {
                let pairs = got.iter().zip(right);
                pairs.for_each(|((_, got), (_, right))| held.number(name, got, right));
            }
            (Opened::Column(id), _) => match (columns.get(id), truth.numbers(*id)) {
                (Some(cells), Some(right)) => held.column(name, cells, right),
                _ => held.wrong.push(format!("{name}: a column is missing")),
            },
            _ => held.wrong.push(format!("{name}: another kind of result")),
        }
    }
    match (held.wrong.first(), held.refused.first()) {
        (Some(wrong), _) => Outcome::Wrong(wrong.clone()),
        (None, Some(refused)) => Outcome::Refused(refused.clone()),
        (None, None) => Outcome::True(held.held),
    }
}

#[derive(Default)]
struct Held {
    held: usize,
    refused: Vec<String>,
    wrong: Vec<String>,
}

impl Held {
    fn number(&mut self, name: &str, got: &Result<Estimate, Undefined>, right: &Result<Estimate, Undefined>) {
        match (got, right) {
            (Ok(got), Ok(right)) => self.estimate(name, got, right),
            (Err(why), Ok(_)) => self.refused.push(format!("{name}: {why}")),
            // An undefined value has no interval, and where rounding alone leaves it open either answer is right.
            (Ok(_), Err(Undefined::DividedByZero)) => {
                self.wrong.push(format!("{name}: {got:?}, where nothing is defined"));
            }
            _ => self.held += 1,
        }
    }

    fn estimate(&mut self, name: &str, got: &Estimate, right: &Estimate) {
        let same = match (&got.number, &right.number) {
            (Number::Exact(a), Number::Exact(b)) if got.error == 0.0 => a == b,
            (a, b) => (a.to_f64() - b.to_f64()).abs() <= got.error + right.error,
        };
        if same {
            self.held += 1;
        } else {
            self.wrong.push(format!("{name}: {got:?}, and {right:?} is true"));
        }
    }

    fn column(&mut self, name: &str, cells: &[Estimate], right: Vec<Number>) {
        let right: Vec<Estimate> = right.into_iter().map(|number| rounded(number, LARGEST)).collect();
        if right.len() != cells.len() {
            self.wrong.push(format!("{name}: {} rows of {}", cells.len(), right.len()));
        }
        cells.iter().zip(&right).for_each(|(got, right)| self.estimate(name, got, right));
    }
}

/// Returns the options of plans for a scheme: small rings without security.
#[must_use]
pub fn options(scheme: SchemeChoice) -> Options {
    let security = Security::InsecureForResearchOnly;
    Options { scheme: Some(scheme), security, log2_degree: Some(10), ..Options::default() }
}
