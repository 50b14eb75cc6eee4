//! Pictures of a comparison as SVG: factors of one scheme for readers, and ratios beside their bars for contributors.

use std::fmt::Write;

use super::factors::{Factor, names, range, short, words};
use super::{Workload, memory, rival, workloads};
use crate::bench::report::Row;

/// Width of pictures for readers in pixels, where operations' names end, and where the axis ends.
const WIDTH: f64 = 640.0;
const LEFT: f64 = 210.0;
const RIGHT: f64 = 620.0;
/// Height in pixels of an operation's line, and between the marks of two rivals in it.
const LINE: f64 = 27.0;
const APART: f64 = 3.4;
/// Height of a line of the legend in pixels, and entries of a line.
const LEGEND: f64 = 20.0;
const ENTRIES: usize = 3;
/// Largest factor that the axis reaches; larger ones would press all others together, and are written beside their mark.
const MOST: f64 = 100.0;
/// Colours of rivals by the first word of their name.
const COLOURS: [(&str, &str); 7] = [
    ("SEAL", "#0072b2"),
    ("OpenFHE", "#d55e00"),
    ("Lattigo", "#00795c"),
    ("HElib", "#b04d8a"),
    ("fhe.rs", "#8c6d00"),
    ("HEXL", "#2b9ec9"),
    ("tfhe-ntt", "#57606a"),
];
const STYLE: &str = "text{fill:#1f2328}.back{fill:#fff}.faint{fill:#57606a}.grid{stroke:#d8dee4}.one{stroke:#1f2328;stroke-width:1.5}\
    @media(prefers-color-scheme:dark){text{fill:#e6edf3}.back{fill:#15191e}.faint{fill:#9da7b1}.grid{stroke:#30363d}.one{stroke:#e6edf3}}";

/// A logarithmic axis of factors.
struct Axis {
    least: f64,
    most: f64,
}

impl Axis {
    fn of(factors: &[Factor<'_>]) -> Self {
        let [least, most] = range(factors.iter().map(|one| one.factor)).unwrap_or([1.0; 2]);
        Self { least: least.min(0.8) / 1.1, most: most.clamp(2.0, MOST) * 1.1 }
    }

    /// Place of a factor in pixels; factors beyond the axis stand at its end.
    fn place(&self, factor: f64) -> f64 {
        LEFT + (RIGHT - LEFT) * (factor.min(self.most) / self.least).ln() / (self.most / self.least).ln()
    }

    fn ticks(&self) -> impl Iterator<Item = f64> {
        let decades = (-3..3).map(|decade| 10_f64.powi(decade));
        let all = decades.flat_map(|decade| [1.0, 2.0, 5.0].map(|step| decade * step));
        all.filter(|tick| (self.least..=self.most).contains(tick))
    }
}

/// How a rival is drawn: colour, and whether marks are full.
fn mark(rivals: &[&str], rival: &str) -> (&'static str, bool) {
    let library = |name: &str| name.split(' ').next().unwrap_or_default().to_owned();
    let own = library(rival);
    let colour = COLOURS.iter().find(|(name, _)| *name == own).map_or("#57606a", |(_, colour)| colour);
    (colour, rivals.iter().find(|other| library(other) == own).is_none_or(|first| *first == rival))
}

/// Draws how many times as fast each operation of a scheme is as each rival: a mark at the geometric mean over degrees, on a line from the least to
/// the most.
pub(super) fn scheme(heading: &str, factors: &[Factor<'_>]) -> String {
    let rivals = names(factors, |one| one.rival);
    let operations = names(factors, |one| one.operation);
    let axis = Axis::of(factors);
    let top = 62.0 + LEGEND * rivals.len().div_ceil(ENTRIES) as f64;
    let bottom = top + LINE * operations.len() as f64;
    let height = bottom + 46.0;
    let title = format!("{heading}: times as fast as other libraries");
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" height=\"{height}\" \
         font-family=\"sans-serif\" font-size=\"13\" role=\"img\">\n<title>{title}</title>\n<style>{STYLE}</style>\n\
         <rect width=\"{WIDTH}\" height=\"{height}\" class=\"back\"/>\n\
         <text x=\"20\" y=\"26\" font-size=\"17\" font-weight=\"bold\">{title}</text>\n"
    );
    for (at, name) in rivals.iter().enumerate() {
        let (x, y) = (20.0 + 205.0 * (at % ENTRIES) as f64, 48.0 + LEGEND * (at / ENTRIES) as f64);
        text.push_str(&dot((x + 5.0, y - 4.0), mark(&rivals, name), name));
        let _ = writeln!(
            text,
            "<text x=\"{:.1}\" y=\"{y:.1}\" font-size=\"12\">{}</text>",
            x + 16.0,
            escaped(name)
        );
    }
    for tick in axis.ticks() {
        let (x, class) = (axis.place(tick), if tick == 1.0 { "one" } else { "grid" });
        let _ = writeln!(
            text,
            "<line x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{:.1}\" y2=\"{bottom:.1}\" class=\"{class}\"/>\
             <text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\" font-size=\"12\">{tick}</text>",
            top - 6.0,
            bottom + 16.0
        );
    }
    let _ = writeln!(
        text,
        "<text x=\"{RIGHT}\" y=\"{:.1}\" text-anchor=\"end\" font-size=\"12\" class=\"faint\">times as fast as the rival, right of 1 faster: \
         mean over ring degrees, and from least to most</text>",
        bottom + 36.0
    );
    for (at, operation) in operations.iter().enumerate() {
        let middle = top + LINE * (at as f64 + 0.5);
        let name = escaped(&words(operation));
        let _ = writeln!(
            text,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\" font-size=\"12\">{name}</text>",
            LEFT - 8.0,
            middle + 4.0
        );
        for (row, rival) in rivals.iter().enumerate() {
            let y = middle + APART * (row as f64 - (rivals.len() as f64 - 1.0) / 2.0);
            let own = factors.iter().filter(|one| one.operation == *operation && one.rival == *rival);
            text.push_str(&marks(&axis, y, own.collect(), mark(&rivals, rival)));
        }
    }
    text + "</svg>\n"
}

/// Draws the factors of one operation beside one rival.
fn marks(axis: &Axis, y: f64, factors: Vec<&Factor<'_>>, mark: (&'static str, bool)) -> String {
    let (Some([least, most]), Some(first)) = (range(factors.iter().map(|one| one.factor)), factors.first())
    else {
        return String::new();
    };
    let mean = (factors.iter().map(|one| one.factor.ln()).sum::<f64>() / factors.len() as f64).exp();
    let told: Vec<String> =
        factors.iter().map(|one| format!("{} at 2^{}", short(one.factor), one.n.max(1).ilog2())).collect();
    let tip = format!("{}, {}: {}", words(first.operation), first.rival, told.join(", "));
    let (from, to) = (axis.place(least), axis.place(most));
    let beyond = if mean > axis.most {
        format!(
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\" font-size=\"11\" class=\"faint\">{} →</text>",
            RIGHT - 8.0,
            y + 4.0,
            short(mean)
        )
    } else {
        String::new()
    };
    beyond
        + &format!(
            "<line x1=\"{from:.1}\" x2=\"{to:.1}\" y1=\"{y:.1}\" y2=\"{y:.1}\" stroke=\"{}\"/>",
            mark.0
        )
        + &dot((axis.place(mean), y), mark, &tip)
}

fn dot((x, y): (f64, f64), (colour, full): (&str, bool), tip: &str) -> String {
    let fill = if full { format!("fill=\"{colour}\"") } else { "class=\"back\"".to_owned() };
    let tip = escaped(tip);
    format!(
        "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3.4\" {fill} stroke=\"{colour}\" stroke-width=\"1.4\"><title>{tip}</title></circle>\n"
    )
}

/// A text as it stands in XML.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// Pixels of the picture of bars: height of a line, where bars begin, width of a factor of ten.
const THIN: usize = 16;
const LABELS: f64 = 380.0;
const DECADE: f64 = 220.0;
/// Smallest ratio that the picture of bars shows as such.
const LEAST: f64 = 0.01;

/// Draws the ratio of every workload beside its fastest rival, the furthest beyond its bar first, on a logarithmic axis; a mark
/// where it may end.
pub(super) fn bars(rows: &[Row]) -> String {
    let all = workloads(rows);
    let height = THIN * (all.len() + 3);
    let place = |ratio: f64| LABELS + DECADE * (ratio.max(LEAST) / LEAST).log10();
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 970 {height}\" font-family=\"sans-serif\" font-size=\"11\">\n\
         <rect width=\"970\" height=\"{height}\" fill=\"white\"/>\n"
    );
    for tick in [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0] {
        let x = place(tick);
        let bottom = height - THIN;
        let _ = writeln!(
            text,
            "<line x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{THIN}\" y2=\"{bottom}\" stroke=\"#ddd\"/>\
             <text x=\"{x:.1}\" y=\"12\" text-anchor=\"middle\">{tick}</text>"
        );
    }
    for (at, workload) in all.iter().enumerate() {
        text.push_str(&bar(workload, THIN * (at + 1) + 4, place));
    }
    text.push_str("</svg>\n");
    text
}

fn bar(workload: &Workload<'_>, y: usize, place: impl Fn(f64) -> f64) -> String {
    let row = workload.row;
    let (left, right, bar) = (place(LEAST), place(workload.ratio), place(workload.bar));
    let colour = if workload.met() { "#4477aa" } else { "#cc3311" };
    let label = format!("{}, 2^{}: {}{}", row.name, row.n.max(1).ilog2(), rival(row), memory(row));
    format!(
        "<text x=\"{:.1}\" y=\"{}\" text-anchor=\"end\" font-size=\"9\">{}</text>\
         <rect x=\"{left:.1}\" y=\"{y}\" width=\"{:.1}\" height=\"{}\" fill=\"{colour}\"/>\
         <line x1=\"{bar:.1}\" x2=\"{bar:.1}\" y1=\"{y}\" y2=\"{}\" stroke=\"black\" stroke-width=\"2\"/>\
         <text x=\"{:.1}\" y=\"{}\">{:.3}</text>\n",
        LABELS - 4.0,
        y + 10,
        escaped(&label),
        (right - left).max(1.0),
        THIN - 4,
        y + THIN - 4,
        right.max(bar) + 4.0,
        y + 10,
        workload.ratio
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn factor(operation: &'static str, rival: &'static str, n: usize, factor: f64) -> Factor<'static> {
        Factor { scheme: "bfv", operation, n, rival, factor }
    }

    #[test]
    fn every_operation_and_rival_is_drawn_right_of_one_if_faster() {
        let all = [
            factor("add", "SEAL with HEXL 4", 4096, 0.5),
            factor("add", "SEAL with HEXL 4", 8192, 2.0),
            factor("add", "SEAL 4", 4096, 8.0),
            factor("rotate_hoisted", "A & <b>", 4096, 40.0),
        ];
        let svg = scheme("BFV", &all);
        for part in [
            "add",
            "rotate hoisted",
            "SEAL with HEXL 4",
            "A &amp; &lt;b&gt;",
            "0.50 at 2^12, 2.0 at 2^13",
            "class=\"one\"",
        ] {
            assert!(svg.contains(part), "{part}:\n{svg}");
        }
        // Four marks of the legend and of operations each, less one: two degrees are one mark.
        assert_eq!(svg.matches("<circle").count(), 3 + 3);
        let axis = Axis::of(&all);
        assert!(axis.place(0.5) < axis.place(1.0) && axis.place(1.0) < axis.place(40.0));
        assert!(axis.place(0.5) >= LEFT && axis.place(40.0) <= RIGHT);
        let ticks: Vec<f64> = axis.ticks().collect();
        assert!(ticks.contains(&1.0) && ticks.contains(&20.0) && !ticks.contains(&100.0), "{ticks:?}");
        let far = scheme("BFV", &[factor("add", "A", 4096, 2.0), factor("add", "B", 4096, 9000.0)]);
        assert!(far.contains("9000 →") && far.contains(&format!("cx=\"{RIGHT:.1}\"")), "{far}");
        // The second build of a library has hollow marks of the same colour.
        let rivals = names(&all, |one| one.rival);
        assert_eq!((mark(&rivals, "SEAL with HEXL 4").1, mark(&rivals, "SEAL 4").1), (true, false));
        assert_eq!(mark(&rivals, "SEAL with HEXL 4").0, mark(&rivals, "SEAL 4").0);
    }
}
