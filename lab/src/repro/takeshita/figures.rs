//! Figures 1 to 9 of `[TSKJ20]`: speed-ups over the version without shortcuts, and the times they come from.

use super::counts::Counts;
use super::subject::{KRONECKER, Operation, Subject, VERSIONS, WORDS};
use super::{Options, Part};
use crate::report::Curve;
use crate::repro::{
    Figure, LabError, Machine, Panel, Result, Row, Rule, Run, Series, Table, Timed, alternate_timed,
};

/// Indices of the version with the largest speed-ups of `[TSKJ20]`, shifts for multiplications, and of the
/// one with both shortcuts.
const MULTIPLICATION: usize = 1;
const BOTH: usize = 3;

/// One figure of `[TSKJ20]` in a sweep.
#[derive(Clone, Copy)]
struct Plot {
    part: Part,
    operation: Operation,
    name: &'static str,
    what: &'static str,
    /// Largest speed-up of `[TSKJ20]`, with shifts for multiplications only: (n, g, times).
    printed: Option<(usize, usize, f64)>,
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
    let most = 1 << options.most_bits.clamp(128, 16_384).ilog2();
    let bits = (7..=14).map(|log2| 1_usize << log2).filter(|&bits| bits <= most);
    let by_bits = bits.map(|bits| (n, bits, (bits as f64).log2())).collect();
    let fixed = 2048.min(most);
    let degrees = least..=options.most_log2_degree.max(least);
    let by_degree = degrees.map(|log2| (1 << log2, fixed, f64::from(log2))).collect();
    let standard = [(13, 128), (14, 256), (15, 512)].map(|(log2, bits)| {
        // Smaller rings for tests only.
        let degree = if least < 10 { n } else { 1 << log2 };
        (degree, bits.min(most), f64::from(log2))
    });
    let all = [
        ("log2 of bit(q), n = 1024", by_bits, &BY_BITS[..]),
        ("log2 n, bit(q) = 2048", by_degree, &BY_DEGREE),
        ("log2 n, bit(q) = 128, 256, 512", standard.to_vec(), &STANDARD),
    ];
    let wanted = |(axis, points, plots): (&'static str, Vec<_>, &[Plot])| {
        let plots = plots.iter().filter(|plot| options.parts.contains(&plot.part));
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

    /// Makes a table and a figure for every plot of the sweep.
    pub(super) fn compute(&self, options: &Options, run: &mut Run<'_>) -> Result<()> {
        let mut rows: Vec<Vec<Row>> = self.plots.iter().map(|_| Vec::new()).collect();
        let mut series: Vec<Vec<Curve>> = self.plots.iter().map(|_| lines()).collect();
        for &(degree, bits, x) in &self.points {
            run.progress.begin(format!("n = {degree}, bit(q) = {bits}"));
            let subject = Subject::new(degree, bits, degree * bits <= options.most_kronecker)?;
            let digits = times(&subject, Operation::Decomposition, options)?;
            for ((plot, rows), series) in self.plots.iter().zip(&mut rows).zip(&mut series) {
                let times = times(&subject, plot.operation, options)?;
                let first = times.first().ok_or_else(LabError::no_rounds)?;
                for (line, version) in series.iter_mut().zip(1..) {
                    line.points.extend(times.get(version).map(|own: &Series| (x, own.speed_up_over(first))));
                }
                let counted = match subject.parts() {
                    Some((ring, scaler)) => Counts::speed_up(ring, scaler, plot.operation)?,
                    None => None,
                };
                rows.push(plot.row((degree, bits), &times, &digits, counted));
            }
        }
        for ((plot, rows), series) in self.plots.iter().zip(rows).zip(series) {
            run.figures.push(plot.figure(self.axis, series, &run.machine));
            run.tables.push(Table::new(plot.name, plot.title(), rows));
        }
        Ok(())
    }
}

fn times(subject: &Subject, operation: Operation, options: &Options) -> Result<Vec<Series>> {
    let mut contenders: Vec<Timed<'_>> = Vec::new();
    for version in (0..VERSIONS.len()).filter(|&version| subject.has(operation, version)) {
        contenders.push(Box::new(move || subject.time(operation, version)));
    }
    alternate_timed(options.budget, &mut contenders)
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

impl Plot {
    fn row(
        &self,
        (degree, bits): (usize, usize),
        times: &[Series],
        digits: &[Series],
        counted: Option<f64>,
    ) -> Row {
        let median =
            |times: &[Series], version: usize| times.get(version).map_or(f64::NAN, Series::median_ms);
        let speed_up = |version: usize| match (times.first(), times.get(version)) {
            (Some(first), Some(own)) => (own.speed_up_over(first), 2),
            _ => (f64::NAN, 2),
        };
        let printed =
            self.printed.filter(|&(n, g, _)| (n, g) == (degree, bits)).map(|(_, _, times)| (times, 2));
        let names = ["none ms", "multiplication ms", "reduction ms", "both ms", "words ms"];
        let mut row = Row::default().key("n", degree).key("bit(q)", bits);
        for (version, name) in names.into_iter().enumerate() {
            row = row.ours(name, (median(times, version), 3));
        }
        row = row
            .judged("multiplication x", printed, Some(speed_up(MULTIPLICATION)), Rule::Larger(1.15))
            .ours("reduction x", speed_up(2))
            .ours("both x", speed_up(BOTH));
        // What the products with (q/q_i)^-1 take apart from the rest, which all versions share.
        let saved = median(digits, 0) - median(digits, BOTH);
        let own = median(times, BOTH);
        row = row.ours("predicted x", ((own + self.polynomials() * saved) / own, 2));
        if let Some(counted) = counted {
            row = row.ours("counted x", (counted, 2));
        }
        row = row.ours("words / both", (median(times, WORDS) / own, 2));
        if let [none, both] = KRONECKER
            && times.len() > both
        {
            let both = median(times, both);
            row = row.ours("Kronecker ms", (both, 3)).ours("Kronecker x", (median(times, none) / both, 2));
        }
        row
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
        let reason = Some("the paper prints no numbers for this plot but its largest");
        let labels = [axis, "times as fast"];
        Figure { reason, ..Figure::new(self.name, self.title(), source, labels, vec![panel]) }
    }
}
