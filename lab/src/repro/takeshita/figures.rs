//! Figures 1 to 9 of `[TSKJ20]`: speed-ups over the version without shortcuts, and the times they come from.

use super::counts::Counts;
use super::subject::{BOTH, KRONECKER, Operation, Subject, VERSIONS, WORDS};
use super::{Options, Part};
use crate::report::Curve;
use crate::repro::{
    Budget, Figure, Machine, NOT_PRINTED, Panel, Result, Row, Rule, Run, Series, Table, Timed,
    alternate_timed,
};

/// Index of the version with the largest speed-ups of `[TSKJ20]`, shifts for multiplications.
pub(super) const MULTIPLICATION: usize = 1;
/// Reason why values of a plot have no printed ones beside them.
const ONLY_LARGEST: &str = "the paper prints no numbers for this plot but its largest";

/// One figure of `[TSKJ20]` in a sweep.
#[derive(Clone, Copy)]
pub(super) struct Plot {
    pub(super) part: Part,
    pub(super) operation: Operation,
    name: &'static str,
    pub(super) what: &'static str,
    /// Largest speed-up of `[TSKJ20]`, with shifts for multiplications only: (n, g, times).
    pub(super) printed: Largest,
}

/// Times at one point of a sweep.
pub(super) struct Point {
    pub(super) degree: usize,
    pub(super) bits: usize,
    /// Place of a point on the axis of its sweep.
    x: f64,
    /// Times of all versions of the plot's operation.
    times: Vec<Series>,
    /// Times of the versions of D_RNS, which is products with (q/q_i)^-1 alone.
    digits: Vec<Series>,
    counted: Option<f64>,
}

impl Point {
    /// Median time of a version in milliseconds.
    pub(super) fn ms(&self, version: usize) -> f64 {
        self.times.get(version).map_or(f64::NAN, Series::median_ms)
    }

    /// Speed-up of a version over the one without shortcuts.
    pub(super) fn gain(&self, version: usize) -> f64 {
        match (self.times.first(), self.times.get(version)) {
            (Some(first), Some(own)) => own.speed_up_over(first),
            _ => f64::NAN,
        }
    }

    /// Time in milliseconds that both shortcuts save in D_RNS: in the products of one polynomial.
    pub(super) fn saved_by_one(&self) -> f64 {
        let median = |version: usize| self.digits.get(version).map_or(f64::NAN, Series::median_ms);
        median(0) - median(BOTH)
    }

    /// Number of rounds in which the versions took turns.
    pub(super) fn rounds(&self) -> usize {
        self.times.first().map_or(0, Series::len)
    }
}

/// A plot with what was measured for it.
pub(super) struct Measured {
    axis: &'static str,
    pub(super) plot: Plot,
    pub(super) points: Vec<Point>,
}

/// A sweep: the parameters along which figures are drawn.
pub(super) struct Sweep {
    /// Label of the parameter that the sweep goes along.
    axis: &'static str,
    /// Points (n, g) of the sweep with their place on the axis.
    points: Vec<(usize, usize, f64)>,
    plots: Vec<Plot>,
}

/// The sweeps of `[TSKJ20]` that the options need.
pub(super) fn sweeps(options: &Options) -> Vec<Sweep> {
    let least = options.least_log2_degree;
    let n = 1_usize << least;
    let largest = 1 << options.most_bits.clamp(128, 16_384).ilog2();
    let bits = (7..=14).map(|log2| 1_usize << log2).filter(|&bits| bits <= largest);
    let by_bits = bits.map(|bits| (n, bits, (bits as f64).log2())).collect();
    let fixed = 2048.min(largest);
    // The largest degree is always there: the paper prints numbers for it alone.
    let most = options.most_log2_degree.max(least);
    let step = options.degree_step.max(1) as u32;
    let degrees = (least..=most).filter(|log2| (most - log2).is_multiple_of(step));
    let by_degree = degrees.map(|log2| (1 << log2, fixed, f64::from(log2))).collect();
    let standard = [(13, 128), (14, 256), (15, 512)].map(|(log2, bits): (u32, usize)| {
        // Smaller rings for tests only.
        let degree = if least < 10 { n } else { 1 << log2 };
        (degree, bits.min(largest), f64::from(log2))
    });
    let all = [
        ("log2 of bit(q), n = 1024", by_bits, &BY_BITS[..]),
        ("log2 n, bit(q) = 2048", by_degree, &BY_DEGREE),
        ("log2 n, bit(q) = 128, 256, 512", standard.to_vec(), &STANDARD),
    ];
    let wanted = |(axis, points, plots): (&'static str, Vec<_>, &[Plot])| {
        let wanted = |part| options.parts.contains(&part);
        // The text states numbers for every plot.
        let plots = plots.iter().filter(|plot| wanted(plot.part) || wanted(Part::Text));
        Sweep { axis, points, plots: plots.copied().collect() }
    };
    all.into_iter().map(wanted).filter(|sweep| !sweep.plots.is_empty()).collect()
}

type Largest = Option<(usize, usize, f64)>;

const fn decryption(part: Part, name: &'static str, printed: Largest) -> Plot {
    Plot { part, operation: Operation::Decryption, name, what: "decryption", printed }
}

const fn multiplication(part: Part, name: &'static str, printed: Largest) -> Plot {
    Plot { part, operation: Operation::Multiplication, name, what: "multiplication", printed }
}

const fn step(part: Part, operation: Operation, name: &'static str, what: &'static str) -> Plot {
    Plot { part, operation, name, what, printed: None }
}

const BY_BITS: [Plot; 5] = [
    step(Part::Figure1, Operation::ToPlain, "Figure 1", "FastBconv to {t, gamma}"),
    decryption(Part::Figure2, "Figure 2", Some((1024, 16_384, 4.48))),
    step(Part::Figure3, Operation::ToAuxiliary, "Figure 3", "FastBconv to B_sk"),
    step(Part::Figure4, Operation::Decomposition, "Figure 4", "D_RNS"),
    multiplication(Part::Figure5, "Figure 5", Some((1024, 16_384, 14.68))),
];
const BY_DEGREE: [Plot; 2] = [
    decryption(Part::Figure6, "Figure 6", Some((16_384, 2048, 2.15))),
    multiplication(Part::Figure7, "Figure 7", Some((16_384, 2048, 4.07))),
];
const STANDARD: [Plot; 2] = [
    decryption(Part::Figure8, "Figure 8", Some((32_768, 512, 1.42))),
    multiplication(Part::Figure9, "Figure 9", Some((32_768, 512, 1.69))),
];

impl Sweep {
    pub(super) fn steps(&self) -> usize {
        self.points.len()
    }

    /// Whether every point for which the paper prints a number is in the sweep.
    #[cfg(test)]
    pub(super) fn misses_no_printed_point(&self) -> bool {
        let has = |(n, g, _): (usize, usize, f64)| {
            self.points.iter().any(|&(degree, bits, _)| (degree, bits) == (n, g))
        };
        self.plots.iter().filter_map(|plot| plot.printed).all(has)
    }

    /// Measures every point of the sweep for all its plots.
    pub(super) fn measure(&self, options: &Options, run: &mut Run<'_>) -> Result<Vec<Measured>> {
        let empty = |&plot: &Plot| Measured { axis: self.axis, plot, points: Vec::new() };
        let mut measured: Vec<Measured> = self.plots.iter().map(empty).collect();
        for &(degree, bits, x) in &self.points {
            run.progress.begin(format!("n = {degree}, bit(q) = {bits}"));
            let subject = Subject::new(degree, bits, degree * bits <= options.most_kronecker)?;
            let budget = options.budget_at(degree * bits);
            let digits = times(&subject, Operation::Decomposition, budget)?;
            for one in &mut measured {
                let times = times(&subject, one.plot.operation, budget)?;
                let counted = match subject.parts() {
                    Some((ring, scaler)) => Counts::speed_up(ring, scaler, one.plot.operation)?,
                    None => None,
                };
                let digits = digits.clone();
                one.points.push(Point { degree, bits, x, times, digits, counted });
            }
        }
        Ok(measured)
    }
}

fn times(subject: &Subject, operation: Operation, budget: Budget) -> Result<Vec<Series>> {
    let mut contenders: Vec<Timed<'_>> = Vec::new();
    for version in (0..VERSIONS.len()).filter(|&version| subject.has(operation, version)) {
        contenders.push(Box::new(move || subject.time(operation, version)));
    }
    alternate_timed(budget, &mut contenders)
}

/// The lines of a figure: one for every version but the first.
fn lines() -> Vec<Curve> {
    let line = |(colour, name): (usize, &&str)| Curve {
        name: (*name).to_owned(),
        colour,
        dashed: colour >= WORDS,
        points: Vec::new(),
    };
    VERSIONS.iter().enumerate().skip(1).map(line).collect()
}

impl Measured {
    /// Adds the table and the figure of the plot to the results of a run.
    pub(super) fn show(&self, run: &mut Run<'_>) {
        let rows = self.points.iter().map(|point| self.plot.row(point)).collect();
        run.tables.push(Table::new(self.plot.name, self.plot.title(), rows));
        let mut series = lines();
        for point in &self.points {
            for (line, version) in series.iter_mut().zip(1..point.times.len()) {
                line.points.push((point.x, point.gain(version)));
            }
        }
        run.figures.push(self.plot.figure(self.axis, series, &run.machine));
    }
}

impl Plot {
    fn row(&self, point: &Point) -> Row {
        let at = (point.degree, point.bits);
        let printed = self.printed.filter(|&(n, g, _)| (n, g) == at).map(|(_, _, times)| (times, 2));
        let names = ["none ms", "multiplication ms", "reduction ms", "both ms", "words ms"];
        let mut row = Row::default().key("n", point.degree).key("bit(q)", point.bits);
        for (version, name) in names.into_iter().enumerate() {
            row = row.ours(name, (point.ms(version), 3));
        }
        let multiplication = point.gain(MULTIPLICATION);
        row = row
            .judged("multiplication x", printed, Some((multiplication, 2)), Rule::Larger(1.15))
            .ours("reduction x", (point.gain(2), 2))
            .ours("both x", (point.gain(BOTH), 2));
        // What the products with (q/q_i)^-1 take apart from the rest, which all versions share.
        let own = point.ms(BOTH);
        let saved = self.polynomials() * point.saved_by_one();
        row = row.ours("predicted x", ((own + saved) / own, 2));
        if let Some(counted) = point.counted {
            row = row.ours("counted x", (counted, 2));
        }
        row = row.ours("words / both", (point.ms(WORDS) / own, 2));
        if let [none, both] = KRONECKER
            && point.times.len() > both
        {
            row = row.ours("Kronecker ms", (point.ms(both), 3));
            row = row.ours("Kronecker x", (point.ms(none) / point.ms(both), 2));
        }
        if row.holds() {
            return row;
        }
        let reason = match printed {
            None if self.printed.is_some() => ONLY_LARGEST.to_owned(),
            None => NOT_PRINTED.to_owned(),
            Some(_) => self.gap(point),
        };
        row.because(Some(reason))
    }

    /// Why a gain stays below the printed one, with measured shares of the time.
    pub(super) fn gap(&self, point: &Point) -> String {
        let saved = 100.0 * self.polynomials() * point.saved_by_one() / point.ms(0);
        format!(
            "products with (q/q_i)^-1 and their divisions are {saved:.0} % of the version without shortcuts here, and \
             shifts alone leave the divisions; both shortcuts gain {:.2}. The table Shifts has what the paper can have \
             timed",
            point.gain(BOTH)
        )
    }

    /// Number of polynomials that are multiplied by (q/q_i)^-1 `[TSKJ20, 4.1 and 4.3]`.
    fn polynomials(&self) -> f64 {
        match self.operation {
            // Four extensions, three floors, and the digits of relinearisation.
            Operation::Multiplication => 8.0,
            _ => 1.0,
        }
    }

    fn title(&self) -> String {
        format!("{}: speed-up over the version without shortcuts", self.what)
    }

    fn figure(&self, axis: &'static str, series: Vec<Curve>, machine: &Machine) -> Figure {
        let mut panel = Panel::new(self.what, false);
        panel.series = series.into_iter().filter(|line| !line.points.is_empty()).collect();
        let source = format!("medians of alternating rounds; {machine}");
        let reason = Some(if self.printed.is_some() { ONLY_LARGEST } else { NOT_PRINTED });
        let labels = [axis, "times as fast"];
        Figure { reason, ..Figure::new(self.name, self.title(), source, labels, vec![panel]) }
    }
}
