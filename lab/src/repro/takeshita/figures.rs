//! Figures 1 to 9: speed-ups over the version without shortcuts, and the times they come from.

use super::counts::Counts;
use super::subject::{KRONECKER, Operation, Subject, VERSIONS, WORDS};
use super::{Options, Part};
use crate::LabError;
use crate::alternate::{Series, Timed, alternate_timed};
use crate::report::{Corner, Curve, Figure, Machine, Panel};
use crate::repro::report::{Quantity, Row, Table, Value};
use crate::repro::run::Progress;

/// The version with the paper's largest speed-ups, and ours with both shortcuts.
const MULTIPLICATION: usize = 1;
const BOTH: usize = 3;

/// One figure of a sweep.
struct Plot {
    part: Part,
    operation: Operation,
    name: &'static str,
    file: &'static str,
    what: &'static str,
    /// The paper's largest speed-up, with shifts for multiplications only: (n, g, times).
    printed: Option<(usize, usize, f64)>,
}

/// Parameters along which figures are drawn.
pub(super) struct Sweep {
    /// Along what.
    axis: &'static str,
    /// (n, g) with the place on the axis.
    points: Vec<(usize, usize, f64)>,
    plots: Vec<Plot>,
}

/// The sweeps that the options need.
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
        ("log2 of bit(q), n = 1024", by_bits, PLOTS_BY_BITS.to_vec()),
        ("log2 n, bit(q) = 2048", by_degree, PLOTS_BY_DEGREE.to_vec()),
        ("log2 n, bit(q) = 128, 256, 512", standard.to_vec(), PLOTS_STANDARD.to_vec()),
    ];
    let wanted = |(axis, points, plots): (&'static str, Vec<_>, Vec<Spec>)| {
        let plots: Vec<Plot> =
            plots.into_iter().map(Plot::from).filter(|plot| options.parts.contains(&plot.part)).collect();
        Sweep { axis, points, plots }
    };
    all.into_iter().map(wanted).filter(|sweep| !sweep.plots.is_empty()).collect()
}

type Spec = (Part, Operation, &'static str, &'static str, &'static str, Option<(usize, usize, f64)>);

const PLOTS_BY_BITS: [Spec; 5] = [
    (Part::Figure1, Operation::ToPlain, "Figure 1", "figure1.svg", "FastBconv to {t, gamma}", None),
    (
        Part::Figure2,
        Operation::Decryption,
        "Figure 2",
        "figure2.svg",
        "decryption",
        Some((1024, 16_384, 4.48)),
    ),
    (Part::Figure3, Operation::ToAuxiliary, "Figure 3", "figure3.svg", "FastBconv to B_sk", None),
    (Part::Figure4, Operation::Decomposition, "Figure 4", "figure4.svg", "D_RNS", None),
    (
        Part::Figure5,
        Operation::Multiplication,
        "Figure 5",
        "figure5.svg",
        "multiplication",
        Some((1024, 16_384, 14.68)),
    ),
];
const PLOTS_BY_DEGREE: [Spec; 2] = [
    (
        Part::Figure6,
        Operation::Decryption,
        "Figure 6",
        "figure6.svg",
        "decryption",
        Some((16_384, 2048, 2.15)),
    ),
    (
        Part::Figure7,
        Operation::Multiplication,
        "Figure 7",
        "figure7.svg",
        "multiplication",
        Some((16_384, 2048, 4.07)),
    ),
];
const PLOTS_STANDARD: [Spec; 2] = [
    (
        Part::Figure8,
        Operation::Decryption,
        "Figure 8",
        "figure8.svg",
        "decryption",
        Some((32_768, 512, 1.42)),
    ),
    (
        Part::Figure9,
        Operation::Multiplication,
        "Figure 9",
        "figure9.svg",
        "multiplication",
        Some((32_768, 512, 1.69)),
    ),
];

impl From<Spec> for Plot {
    fn from((part, operation, name, file, what, printed): Spec) -> Self {
        Self { part, operation, name, file, what, printed }
    }
}

impl Sweep {
    pub(super) fn steps(&self) -> usize {
        self.points.len()
    }

    /// A table and a figure for every plot.
    pub(super) fn compute(
        &self,
        options: &Options,
        machine: &Machine,
        progress: &mut Progress<'_>,
    ) -> Result<Vec<(Table, Figure)>, LabError> {
        let mut rows: Vec<Vec<Row>> = self.plots.iter().map(|_| Vec::new()).collect();
        let mut series: Vec<Vec<Curve>> = self.plots.iter().map(|_| lines()).collect();
        for &(degree, bits, x) in &self.points {
            progress.begin(format!("n = {degree}, bit(q) = {bits}"));
            let subject = Subject::new(degree, bits, degree * bits <= options.most_kronecker)?;
            let digits = times(&subject, Operation::Decomposition, options)?;
            for ((plot, rows), series) in self.plots.iter().zip(&mut rows).zip(&mut series) {
                let times = times(&subject, plot.operation, options)?;
                let first = times.first().ok_or(LabError::NoVersion)?;
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
        let made = self.plots.iter().zip(rows).zip(series);
        Ok(made.map(|((plot, rows), series)| plot.finish(self.axis, rows, series, machine)).collect())
    }
}

fn times(subject: &Subject, operation: Operation, options: &Options) -> Result<Vec<Series>, LabError> {
    let mut contenders: Vec<Timed<'_>> = Vec::new();
    for version in (0..VERSIONS.len()).filter(|&version| subject.has(operation, version)) {
        contenders.push(Box::new(move || subject.time(operation, version)));
    }
    alternate_timed(options.budget, &mut contenders)
}

/// A line for every version but the first.
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
            (Some(first), Some(own)) => own.speed_up_over(first),
            _ => f64::NAN,
        };
        let ours = |name, value| Quantity { name, paper: None, ours: Some(Value::Decimal(value, 3)) };
        let ratio = |name, value| Quantity { name, paper: None, ours: Some(Value::Decimal(value, 2)) };
        let printed = self.printed.filter(|&(n, g, _)| (n, g) == (degree, bits)).map(|(_, _, times)| times);
        let mut quantities: Vec<Quantity> =
            ["none ms", "multiplication ms", "reduction ms", "both ms", "words ms"]
                .into_iter()
                .enumerate()
                .map(|(version, name)| ours(name, median(times, version)))
                .collect();
        quantities.push(Quantity {
            name: "multiplication x",
            paper: printed.map(|times| Value::Decimal(times, 2)),
            ours: Some(Value::Decimal(speed_up(MULTIPLICATION), 2)),
        });
        quantities.push(ratio("reduction x", speed_up(2)));
        quantities.push(ratio("both x", speed_up(BOTH)));
        // What the products with (q/q_i)^-1 take apart from the rest, which all versions share.
        let saved = median(digits, 0) - median(digits, BOTH);
        let own = median(times, BOTH);
        quantities.push(ratio("predicted x", (own + self.polynomials() * saved) / own));
        quantities.extend(counted.map(|counted| ratio("counted x", counted)));
        quantities.push(ratio("words / both", median(times, WORDS) / own));
        if let [none, both] = KRONECKER
            && times.len() > both
        {
            quantities.push(ours("Kronecker ms", median(times, both)));
            quantities.push(ratio("Kronecker x", median(times, none) / median(times, both)));
        }
        Row {
            measured: true,
            keys: vec![("n", Value::Integer(degree as u64)), ("bit(q)", Value::Integer(bits as u64))],
            quantities,
            reason: None,
        }
    }

    /// Polynomials that are multiplied by (q/q_i)^-1 `[TSKJ20, 4.1 and 4.3]`.
    fn polynomials(&self) -> f64 {
        match self.operation {
            // Four extensions, three floors, and the digits of relinearisation.
            Operation::Multiplication => 8.0,
            _ => 1.0,
        }
    }

    fn finish(
        &self,
        axis: &'static str,
        rows: Vec<Row>,
        series: Vec<Curve>,
        machine: &Machine,
    ) -> (Table, Figure) {
        let title = format!("{}: speed-up over the version without shortcuts", self.what);
        let mut panel = Panel::new(self.what, false);
        panel.series = series.into_iter().filter(|line| !line.points.is_empty()).collect();
        let figure = Figure {
            name: self.name,
            title: title.clone(),
            source: format!("medians of alternating rounds; {machine}"),
            file: self.file,
            x_label: axis,
            y_label: "times as fast",
            logarithmic: true,
            legend: Corner::UpperLeft,
            panels: vec![panel],
            reason: Some("the paper prints no numbers for this plot but its largest".to_owned()),
        };
        (Table { name: self.name, title, rows }, figure)
    }
}
