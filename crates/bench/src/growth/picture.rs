//! The panels of growth as one SVG.

use std::ops::Range;

use plotters::coord::Shift;
use plotters::prelude::*;

use super::{Growth, Panel};
use crate::BenchError;

/// Pixels of a panel, and how many stand side by side.
const PANEL: (u32, u32) = (560, 420);
const COLUMNS: usize = 3;
/// Height of the line above all panels.
const HEAD: u32 = 44;
const FONT: &str = "sans-serif";
/// Colours that colour-blind readers can tell apart, dark enough on white.
const COLOURS: [RGBColor; 4] = [
    RGBColor(0x00, 0x72, 0xb2),
    RGBColor(0xd5, 0x5e, 0x00),
    RGBColor(0x00, 0x8a, 0x64),
    RGBColor(0x33, 0x33, 0x33),
];

/// Draws all panels; `about` says of what machine and commit.
///
/// # Errors
/// [`BenchError::Drawing`].
pub fn picture(growth: &Growth, about: &str) -> Result<String, BenchError> {
    let mut svg = String::new();
    let columns = growth.panels.len().clamp(1, COLUMNS);
    let rows = growth.panels.len().div_ceil(columns).max(1);
    let size = (PANEL.0 * columns as u32, PANEL.1 * rows as u32 + HEAD);
    {
        let root = SVGBackend::with_string(&mut svg, size).into_drawing_area();
        draw(growth, about, &root, (rows, columns))
            .map_err(|error| BenchError::Drawing(error.to_string()))?;
    }
    Ok(svg)
}

type Drawn = Result<(), Box<dyn std::error::Error>>;
type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

fn draw(growth: &Growth, about: &str, root: &Area<'_>, grid: (usize, usize)) -> Drawn {
    root.fill(&WHITE)?;
    root.draw(&Text::new(format!("Growth of costs. {about}"), (14, 14), (FONT, 16).into_font()))?;
    let below = root.margin(HEAD, 0, 0, 0);
    for (panel, area) in growth.panels.iter().zip(below.split_evenly(grid)) {
        chart(panel, &area)?;
    }
    Ok(root.present()?)
}

fn chart(panel: &Panel, area: &Area<'_>) -> Drawn {
    let (x, y) = (bounds(panel, |point| point.0), bounds(panel, |point| point.1));
    let side = 0.04 * (x.end - x.start);
    // Times over decades of their own; gains from 0 on.
    let times = panel.y.starts_with("ms");
    let x = x.start - side..x.end + side;
    // Degrees, threads and depths are whole numbers, and so are their ticks.
    let ticks = (x.end - x.start).clamp(1.0, 9.0) as usize + 1;
    let (low, high) = if times { (y.start / 1.5, y.end * 4.0) } else { (0.0, 1.4 * y.end) };
    let mut builder = ChartBuilder::on(area);
    builder.caption(&panel.title, (FONT, 15)).margin(10).x_label_area_size(44).y_label_area_size(64);
    // The two kinds of axis are two types.
    macro_rules! lines {
        ($heights:expr) => {{
            let mut chart = builder.build_cartesian_2d(x, $heights)?;
            let mut mesh = chart.configure_mesh();
            mesh.x_desc(panel.x).y_desc(panel.y).x_labels(ticks).y_labels(10).label_style((FONT, 13));
            mesh.light_line_style(RGBColor(0xee, 0xee, 0xee))
                .bold_line_style(RGBColor(0xd5, 0xd5, 0xd5))
                .draw()?;
            for (line, colour) in panel.lines.iter().zip(COLOURS.iter().cycle()) {
                let style = colour.stroke_width(2);
                chart
                    .draw_series(LineSeries::new(line.points.iter().copied(), style).point_size(3))?
                    .label(&line.name)
                    .legend(move |(x, y)| PathElement::new(vec![(x, y), (x + 20, y)], style));
            }
            let mut labels = chart.configure_series_labels();
            labels.position(SeriesLabelPosition::UpperLeft).label_font((FONT, 13));
            labels.background_style(WHITE.mix(0.85)).border_style(RGBColor(0x99, 0x99, 0x99)).draw()?;
        }};
    }
    if times {
        lines!((low..high).log_scale());
    } else {
        lines!(low..high);
    }
    Ok(())
}

/// The range of a coordinate; a lone value gets room around it.
fn bounds(panel: &Panel, of: fn(&(f64, f64)) -> f64) -> Range<f64> {
    let values = panel.lines.iter().flat_map(|line| &line.points).map(of).filter(|value| value.is_finite());
    let (low, high) = values
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
    match (low < high, low.is_finite()) {
        (true, _) => low..high,
        (false, true) => low * 0.5..low.mul_add(1.5, 1.0),
        (false, false) => 1.0..2.0,
    }
}

#[cfg(test)]
mod tests {
    use super::super::Line;
    use super::*;

    #[test]
    fn every_panel_and_line_is_drawn() {
        let line = |name: &str, points: &[(f64, f64)]| Line {
            name: name.to_owned(),
            points: points.to_vec(),
            spreads: vec![0.0; points.len()],
        };
        let panel = |y, lines| Panel { title: "of <what>".to_owned(), x: "across", y, lines };
        let panels = vec![
            panel("ms", vec![line("first", &[(12.0, 0.1), (16.0, 90.0)]), line("second", &[(12.0, 3.0)])]),
            panel("times as fast as one", vec![line("third", &[(1.0, 1.0), (2.0, 1.9)])]),
            panel("ms", vec![line("alone", &[(1.0, 2.0)])]),
            panel("ms", vec![]),
        ];
        let svg = picture(&Growth { panels, gains: Vec::new(), correct: true }, "machine & more").unwrap();
        for part in ["first", "second", "third", "alone", "of &lt;what&gt;", "across", "machine &amp; more"] {
            assert!(svg.contains(part), "{part}");
        }
        let ticks: Vec<&str> =
            svg.lines().map(str::trim).filter(|line| line.parse::<f64>().is_ok()).collect();
        assert!(ticks.contains(&"14.0") && !ticks.contains(&"14.5"), "{ticks:?}");
        assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>") && !svg.contains("NaN"));
    }
}
