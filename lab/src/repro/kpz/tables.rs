//! Tables 2, 3, 6, 7 and 8 of `[KPZ21]`: noise and time of whole computations.

use std::cell::RefCell;
use std::time::Duration;

use sunzi_rlwe::randomness;

use super::circuits::{self, Circuit};
use super::clear::Clear;
use super::parameters::Parameters;
use super::printed::{self, Cell, Column, Digits};
use super::rows::{self, Measured, judge};
use super::subject::{BfvSubject, BgvSubject, Subject, refused};
use crate::repro::slower::Waited;
use crate::repro::{Budget, Progress, Result, Row, Series, Table, Timed, alternate_timed, upper_median};

/// Number of terms of the inner products of Table 8 of `[KPZ21]`.
const TERMS: usize = 128;

/// Time for which the computations of one line are repeated, each of them: coefficients and noise are random.
const SHORT: Duration = Duration::from_secs(1);
/// Most repetitions of a computation.
const ROUNDS: usize = 31;

/// Most bits by which q_0 may be longer than printed in `[KPZ21]`.
const MOST_SLACK: u32 = 8;

/// A table of `[KPZ21]` to compute: its circuit and its cells.
pub(super) struct Plan {
    name: &'static str,
    circuit: Circuit,
    cells: Vec<Cell>,
    /// Time for which a computation of the table is repeated.
    patience: Duration,
    /// Seconds that a computation may have taken in `[KPZ21]`.
    longest: f64,
}

/// A computation that takes turns with others: it returns its noise log e and its time.
type Call<'a> = Box<dyn FnMut() -> Result<(f64, Duration)> + 'a>;

/// A computation of a cell with keys, and what its first run found.
struct Contender<'a> {
    cell: &'a Cell,
    parameters: Parameters,
    call: Call<'a>,
    first: (f64, Duration),
    /// Noise of switched ciphertexts, where the paper seems to multiply fresh ones: BGV at t = 2.
    switched: Option<f64>,
}

impl Plan {
    /// Plan of Table 2 or 6 of `[KPZ21]`: noise and time of product trees.
    pub(super) fn trees(name: &'static str) -> Self {
        Self::new(name, Circuit::Tree, printed::trees())
    }

    /// Plan of Table 3 or 7 of `[KPZ21]`: noise and time of polynomials.
    pub(super) fn polynomials(name: &'static str) -> Self {
        Self::new(name, Circuit::Polynomial, printed::polynomials())
    }

    fn new(name: &'static str, circuit: Circuit, cells: Vec<Cell>) -> Self {
        Self { name, circuit, cells, patience: SHORT, longest: f64::INFINITY }
    }

    /// The plan with only t = 2^16 + 1 and three digits: Tables 2 and 3 of `[KPZ21]`.
    pub(super) fn of_the_text(mut self) -> Self {
        let [_, t, _] = printed::PLAIN_MODULI;
        self.cells.retain(|cell| cell.plain_modulus == t && cell.digits == Digits::Three);
        self
    }

    /// This plan without the lines of which a cell took `[KPZ21]` longer than `seconds`; with a finite limit,
    /// each computation for a tenth of the time.
    pub(super) fn within(mut self, seconds: f64) -> Self {
        self.longest = seconds;
        if seconds.is_finite() {
            self.patience = SHORT / 10;
        }
        self
    }

    /// The lines of a table: the cells of one (t, digits, k), which take turns.
    fn lines(&self) -> impl Iterator<Item = &[Cell]> {
        let key = |cell: &Cell| (cell.plain_modulus, cell.digits, cell.k);
        self.cells.chunk_by(move |a, b| key(a) == key(b))
    }

    /// Whether a line is computed at all.
    fn wants(&self, line: &[Cell]) -> bool {
        line.iter().all(|cell| cell.seconds <= self.longest)
    }

    /// Number of steps that progress counts for this table.
    pub(super) fn steps(&self) -> usize {
        self.lines().filter(|line| self.wants(line)).count()
    }

    /// Computes the lines of a table of `[KPZ21]`; cells that are left out are rows, too.
    pub(super) fn compute(&self, progress: &mut Progress<'_>) -> Result<Table> {
        let mut rows = Vec::new();
        let mut left_out = 0;
        for line in self.lines() {
            if !self.wants(line) {
                left_out += line.len();
                rows.extend(line.iter().map(|cell| rows::left_out(cell, self.longest)));
                continue;
            }
            if let Some(cell) = line.first() {
                progress.begin(format!("{}: t = {}, k = {}", self.name, cell.plain_modulus, cell.k));
            }
            rows.extend(self.race(line)?);
        }
        let what = match self.circuit {
            Circuit::Tree => "a product of 2^k factors",
            Circuit::Polynomial => "a polynomial of degree k with coefficients below 16",
        };
        let differing = rows.iter().filter_map(rows::noise_difference);
        let (far, worst) = differing
            .fold((0, 0.0_f64), |(far, worst), bits| (far + usize::from(bits > rows::NEAR), worst.max(bits)));
        let title = format!(
            "{what}; the variants of a line take turns; log e of {far} rows is more than {} bits from the printed \
             one, at most {worst:.1}; {left_out} of {} cells left out",
            rows::NEAR,
            self.cells.len(),
        );
        Ok(Table::new(self.name, title, rows))
    }

    /// Lets the variants of a line take turns, and returns their rows.
    fn race(&self, line: &[Cell]) -> Result<Vec<Row>> {
        let (mut contenders, waited) = (Vec::new(), Waited::begin());
        for cell in line {
            contenders.extend(self.contenders(cell)?);
        }
        let firsts: Duration = contenders.iter().map(|one| one.first.1).sum();
        let together = self.patience * contenders.len() as u32;
        let time = together.saturating_sub(firsts);
        // What alone fills the time is not repeated.
        let most = if time.is_zero() { 0 } else { ROUNDS };
        let noises: Vec<RefCell<Vec<f64>>> =
            contenders.iter().map(|one| RefCell::new(vec![one.first.0])).collect();
        let timed = |(one, noises): (_, _)| turn(one, noises);
        let mut calls: Vec<Timed<'_>> = contenders.iter_mut().zip(&noises).map(timed).collect();
        let series = alternate_timed(Budget { time, least: 0, most }, &mut calls)?;
        drop(calls);
        let found: Vec<Measured> = contenders
            .iter()
            .zip(noises)
            .zip(series)
            .map(|((one, noises), series)| Measured {
                log2_noise: upper_median(noises.into_inner()),
                seconds: repeated(series, one.first.1),
                switched: one.switched,
                waited: waited.share(),
            })
            .collect();
        let leveled = contenders.iter().position(|one| one.cell.column == Column::Leveled);
        let leveled = leveled.and_then(|at| found.get(at)).map(|one| one.seconds.clone());
        let row = |(one, found): (&Contender<'_>, &Measured)| {
            rows::row((one.cell, line), self.circuit, &one.parameters, found, leveled.as_ref())
        };
        Ok(contenders.iter().zip(&found).map(row).collect())
    }

    /// The computations of a cell with the printed sizes; if BGV refuses them, with a q_0 that is as little
    /// longer as it takes.
    fn contenders<'a>(&self, cell: &'a Cell) -> Result<Vec<Contender<'a>>> {
        let mut slack = 0;
        loop {
            let all = Parameters::of(cell, self.circuit.depth(cell.k), slack)?;
            match all.into_iter().map(|parameters| self.contender(cell, parameters)).collect() {
                Err(error) if slack < MOST_SLACK && refused(&error) => slack += 1,
                contenders => return contenders,
            }
        }
    }

    fn contender<'a>(&self, cell: &'a Cell, parameters: Parameters) -> Result<Contender<'a>> {
        let mut rng = randomness::from_os()?;
        let (t, column) = (cell.plain_modulus, cell.column);
        let mut switched = None;
        let mut call = match column {
            Column::Bgv => {
                let subject = BgvSubject::new(t, &parameters, &mut rng)?;
                if t == 2 {
                    let message = Clear::new(1 << parameters.log2_degree, t)?.random(&mut rng)?;
                    switched = subject.switched(&message, &mut rng)?;
                }
                self.call(subject, cell, &parameters)?
            }
            _ => self.call(BfvSubject::new(column, t, &parameters, &mut rng)?, cell, &parameters)?,
        };
        Ok(Contender { cell, parameters, first: call()?, call, switched })
    }

    /// A call that computes a cell's circuit on fresh encryptions; the result is checked.
    fn call<'a, S: Subject + 'a>(
        &self,
        subject: S,
        cell: &'a Cell,
        parameters: &Parameters,
    ) -> Result<Call<'a>> {
        let degree = 1 << parameters.log2_degree;
        let clear = Clear::new(degree, cell.plain_modulus)?;
        let circuit = self.circuit;
        Ok(Box::new(move || {
            let outcome = circuit.run(&subject, &clear, cell.k, &mut randomness::from_os()?)?;
            judge(&subject, &outcome, cell.column.name(), degree)
        }))
    }
}

/// A contender's turn, which keeps the noise it finds.
fn turn<'a>(one: &'a mut Contender<'_>, noises: &'a RefCell<Vec<f64>>) -> Timed<'a> {
    Box::new(move || {
        let (noise, time) = (one.call)()?;
        noises.borrow_mut().push(noise);
        Ok(time)
    })
}

/// The times of the rounds; of the first run where there were none.
fn repeated(series: Series, first: Duration) -> Series {
    match series.is_empty() {
        true => Series::from_micros(vec![first.as_secs_f64() * 1e6]),
        false => series,
    }
}

/// Table 8 of `[KPZ21]`: noise and time of inner products.
pub(super) fn table8(progress: &mut Progress<'_>) -> Result<Table> {
    let mut all = Vec::new();
    for (cell, found) in printed::inner_products() {
        let t = cell.plain_modulus;
        progress.begin(format!("Table 8: t = {t}"));
        for parameters in Parameters::of(&cell, 1, 0)? {
            let mut rng = randomness::from_os()?;
            let subject = BfvSubject::new(Column::New, t, &parameters, &mut rng)?;
            let degree = 1 << parameters.log2_degree;
            let clear = Clear::new(degree, t)?;
            let waited = Waited::begin();
            let outcomes = circuits::inner(&subject, &clear, TERMS, &mut rng)?;
            let names = ["one by one", "lazy KS", "lazy scaling"];
            for ((outcome, name), (log2_noise, seconds)) in outcomes.iter().zip(names).zip(found) {
                let cell = Cell { log2_noise, seconds, ..cell };
                let (noise, time) = judge(&subject, outcome, name, degree)?;
                let ours = Measured {
                    log2_noise: noise,
                    seconds: Series::from_micros(vec![time.as_secs_f64() * 1e6]),
                    switched: None,
                    waited: waited.share(),
                };
                all.push(rows::inner(&cell, name, &parameters, &ours));
            }
        }
    }
    Ok(Table::new("Table 8", format!("inner product of {TERMS}"), all))
}

#[cfg(test)]
mod tests {
    use super::*;
    use sunzi_math::primes_below;

    #[test]
    fn small_computations_come_out_right_and_are_compared() {
        for plan in [Plan::trees("Table 6"), Plan::polynomials("Table 7")] {
            let plan =
                Plan { cells: plan.cells.into_iter().filter(|cell| cell.seconds < 0.004).collect(), ..plan };
            let mut steps = 0;
            let mut tell = |_: &str, done: usize, total: usize| {
                assert!(done < total);
                steps += 1;
            };
            let table = plan.compute(&mut Progress::new(plan.steps(), &mut tell)).unwrap();
            assert_eq!(steps, plan.steps());
            assert!(table.rows.len() >= 6, "{table:?}");
            for row in &table.rows {
                assert!(!row.is_unexplained(), "{row:?}");
            }
        }
    }

    /// Whether noise may be off: in Table 2, HPS, k = 5 it depends on |Q|_t, hence on primes that `[KPZ21]`
    /// does not name; in Table 3, k = 2 on |a_2|.
    fn is_outlier(plan: &Plan, cell: &Cell) -> bool {
        match plan.circuit {
            Circuit::Tree => cell.column == Column::Hps && cell.k == 5,
            Circuit::Polynomial => cell.column == Column::New && cell.k == 2,
        }
    }

    /// Noises log e of `runs` runs with each of `sets` sets of moduli.
    fn noises(plan: &Plan, cell: &Cell, sets: usize, runs: usize) -> Vec<f64> {
        let printed = Parameters::printed(cell, plan.circuit.depth(cell.k)).unwrap();
        let primes = |bits: u32, count| primes_below(1_u64 << bits, 2 << cell.log2_degree, count).unwrap();
        // Longer ones: they must not be among the moduli.
        let special: Vec<u64> = primes(cell.log2_limb + 1, printed.special.len());
        let count = printed.moduli.len();
        let clear = Clear::new(1 << cell.log2_degree, cell.plain_modulus).unwrap();
        let mut found = Vec::new();
        for moduli in primes(cell.log2_limb, sets * count).chunks(count) {
            let parameters =
                Parameters { moduli: moduli.to_vec(), special: special.clone(), ..printed.clone() };
            let mut rng = randomness::from_os().unwrap();
            let subject = BfvSubject::new(cell.column, cell.plain_modulus, &parameters, &mut rng).unwrap();
            for _ in 0..runs {
                let outcome = plan.circuit.run(&subject, &clear, cell.k, &mut rng).unwrap();
                found.push(judge(&subject, &outcome, cell.column.name(), 1 << cell.log2_degree).unwrap().0);
            }
        }
        found
    }

    #[test]
    #[ignore = "long: minutes"]
    fn noise_is_within_three_bits_of_tables_2_and_3() {
        let mut outliers = 0;
        for plan in [Plan::trees("Table 2").of_the_text(), Plan::polynomials("Table 3").of_the_text()] {
            for cell in &plan.cells {
                let (name, printed) = (cell.column.name(), f64::from(cell.log2_noise));
                if is_outlier(&plan, cell) {
                    let (sets, runs) = if plan.circuit == Circuit::Tree { (4, 2) } else { (1, 200) };
                    let found = noises(&plan, cell, sets, runs);
                    let least = found.iter().copied().fold(f64::INFINITY, f64::min);
                    let most = found.iter().copied().fold(0.0, f64::max);
                    println!("{}, {name}, k = {}: {printed}, {least:.1} to {most:.1}", plan.name, cell.k);
                    assert!((least - 0.5..most + 0.5).contains(&printed), "{least} {most}");
                    assert!(most - least > 3.0 && most - least < 5.0, "{least} {most}");
                    outliers += 1;
                    continue;
                }
                let found = plan.race(std::slice::from_ref(cell)).unwrap();
                assert!(found.first().and_then(rows::noise_difference).is_some(), "{found:?}");
                for row in found {
                    let ours = row.quantities.iter().find(|one| one.name == "log_e").unwrap().ours.clone();
                    println!("{}, {name}, k = {}: {printed}, {}", plan.name, cell.k, ours.unwrap());
                    // A second row has a larger degree.
                    let difference = rows::noise_difference(&row).unwrap();
                    assert!(difference <= 3.0, "{row:?}");
                }
            }
        }
        assert_eq!(outliers, 2);
    }

    #[test]
    fn shorter_tables_are_parts_of_longer_ones() {
        assert_eq!(Plan::trees("").of_the_text().steps(), 7);
        assert_eq!(Plan::polynomials("").of_the_text().steps(), 7);
        assert_eq!(Plan::trees("").steps(), 42);
        assert_eq!(Plan::trees("").within(0.0).steps(), 0);
        assert_eq!(upper_median(vec![3.0, 1.0, 2.0]), 2.0);
        assert!(upper_median(Vec::new()).is_nan());
    }
}
