//! The panels of the growth benchmark as one SVG.

use super::{Growth, Panel};
use crate::Result;
use crate::plot::{self, Chart, Sheet};
use crate::report::Corner;

/// Width and height of a panel in pixels.
const PANEL: (u32, u32) = (560, 420);

/// Draws all panels of the growth benchmark; `about` names the machine and commit.
///
/// # Errors
/// [`LabError::Failed`](crate::LabError::Failed) for a picture that cannot be drawn.
pub fn picture(growth: &Growth, about: &str) -> Result<String> {
    let charts = growth.panels.iter().map(chart).collect();
    let sheet = Sheet { title: "Growth of costs".to_owned(), source: about, size: PANEL, charts };
    plot::draw(&sheet, "growth")
}

fn chart(panel: &Panel) -> Chart<'_> {
    let points = || panel.lines.iter().flat_map(|line| &line.curve.points);
    let x = plot::widened(&plot::bounds(points().map(|point| point.0)));
    let y = plot::bounds(points().map(|point| point.1));
    // Times over decades of their own; gains from 0 on.
    let logarithmic = panel.y.starts_with("ms");
    let y = if logarithmic { y.start / 1.5..y.end * 4.0 } else { 0.0..1.4 * y.end };
    Chart {
        title: &panel.title,
        labels: [&panel.x, &panel.y],
        // Degrees, threads and depths are whole numbers, and so are their ticks.
        ticks: [(x.end - x.start).clamp(1.0, 9.0) as usize + 1, 10],
        x_text: plot::whole,
        x,
        y,
        logarithmic,
        legend: Corner::UpperLeft,
        lines: panel.lines.iter().map(|line| &line.curve).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::Line;
    use super::*;
    use crate::report::Curve;

    #[test]
    fn every_panel_and_line_is_drawn() {
        let line = |name: &str, points: &[(f64, f64)]| Line {
            curve: Curve { name: name.to_owned(), colour: 1, dashed: false, points: points.to_vec() },
            spreads: vec![0.0; points.len()],
        };
        let panel = |y: &str, lines| Panel {
            title: "of <what>".to_owned(),
            x: "across".to_owned(),
            y: y.to_owned(),
            lines,
        };
        let panels = vec![
            panel("ms", vec![line("first", &[(12.0, 0.1), (16.0, 90.0)]), line("second", &[(12.0, 3.0)])]),
            panel("times as fast as one", vec![line("third", &[(1.0, 1.0), (2.0, 1.9)])]),
            panel("ms", vec![line("alone", &[(1.0, 2.0)])]),
            panel("ms", vec![]),
        ];
        let growth = Growth { panels, gains: Vec::new(), correct: true };
        let svg = picture(&growth, "machine & more").unwrap();
        for part in ["first", "second", "third", "alone", "of &lt;what&gt;", "across", "machine &amp; more"] {
            assert!(svg.contains(part), "{part}");
        }
        let ticks: Vec<&str> =
            svg.lines().map(str::trim).filter(|line| line.parse::<f64>().is_ok()).collect();
        assert!(ticks.contains(&"14") && !ticks.contains(&"14.0") && !ticks.contains(&"14.5"), "{ticks:?}");
        assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>") && !svg.contains("NaN"));
    }
    #[test]
    fn a_picture_is_drawn_again_from_its_numbers() {
        let line = |name: &str| {
            let points = vec![(12.0, 1.0), (13.0, 2.0)];
            let curve = Curve { name: name.to_owned(), colour: 0, dashed: false, points };
            Line { curve, spreads: vec![0.0; 2] }
        };
        let (x, y) = ("log2 n".to_owned(), "ms".to_owned());
        let panels = vec![Panel { title: "degree".to_owned(), x, y, lines: vec![line("a"), line("b")] }];
        let text = serde_json::to_string(&Growth { panels, gains: Vec::new(), correct: true }).unwrap();
        let read = Growth::from_json(&text).unwrap();
        let colours: Vec<usize> = read.panels[0].lines.iter().map(|line| line.curve.colour).collect();
        assert_eq!(colours, super::super::COLOURS[..2]);
        assert_eq!(serde_json::to_string(&read).unwrap(), text);
        assert!(Growth::from_json("{}").is_err());
    }
}
