//! Line plots as SVG: panels in rows over the same axes, each with a legend in space of its own.

use std::ops::Range;

use plotters::coord::Shift;
use plotters::coord::ranged1d::{AsRangedCoord, ValueFormatter};
use plotters::prelude::*;

use crate::report::{Corner, Curve, Figure};
use crate::{LabError, Result};

/// Width and height in pixels of a panel among several, with a legend of up to [`ENTRIES`] lines.
const PANEL: (u32, u32) = (620, 560);
/// Number of lines of a legend from which on each makes its panel higher by [`ENTRY`], so that the lines keep most of it.
const ENTRIES: u32 = 6;
/// Height in pixels that a panel gains by each further line of its legend, twice what the legend takes.
const ENTRY: u32 = 38;
/// Number of panels beside each other; more go into further rows.
const COLUMNS: usize = 3;
/// Most labels of a plot's horizontal axis.
const MOST_LABELS: usize = 20;
/// Width in pixels of a panel that stands alone.
const WIDE: u32 = 900;
/// Height in pixels of the title of a plot and the line below it.
const HEAD: u32 = 70;
const FONT: &str = "sans-serif";
/// Colours of the lines, which colour-blind readers can tell apart, dark enough on white.
const COLOURS: [RGBColor; 7] = [
    RGBColor(0x33, 0x33, 0x33),
    RGBColor(0x00, 0x72, 0xb2),
    RGBColor(0xd5, 0x5e, 0x00),
    RGBColor(0x00, 0x8a, 0x64),
    RGBColor(0xb0, 0x4d, 0x8a),
    RGBColor(0x8c, 0x6d, 0x00),
    RGBColor(0x2b, 0x9e, 0xc9),
];

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// A sheet to draw: charts in rows under one title.
pub(crate) struct Sheet<'a> {
    /// Title of the sheet.
    pub(crate) title: String,
    /// Line below the title of the sheet, which names the source.
    pub(crate) source: &'a str,
    /// Width and height of one chart in pixels.
    pub(crate) size: (u32, u32),
    /// Charts of the sheet, from the left.
    pub(crate) charts: Vec<Chart<'a>>,
}

/// A chart to draw: lines over two axes.
pub(crate) struct Chart<'a> {
    /// Heading of a chart in a plot.
    pub(crate) title: &'a str,
    /// Labels of the chart's horizontal and vertical axis.
    pub(crate) labels: [&'a str; 2],
    /// Range of the chart's horizontal axis.
    pub(crate) x: Range<f64>,
    /// Range of the chart's vertical axis.
    pub(crate) y: Range<f64>,
    /// Whether the chart's vertical axis is logarithmic.
    pub(crate) logarithmic: bool,
    /// Corner of the chart in which the legend stands.
    pub(crate) legend: Corner,
    /// Most tick labels of the chart's horizontal and vertical axis.
    pub(crate) ticks: [usize; 2],
    /// Text of a tick label of the chart's horizontal axis.
    pub(crate) x_text: fn(f64) -> String,
    /// Lines of a chart in a plot.
    pub(crate) lines: Vec<&'a Curve>,
}

/// Draws the panels of a figure as SVG.
///
/// # Errors
/// [`LabError::Failed`] if the figure has nothing to draw or the drawing fails.
pub fn render(figure: &Figure) -> Result<String> {
    // Panels stand over the same axes.
    let points = || figure.panels.iter().flat_map(|panel| &panel.series).flat_map(|series| &series.points);
    let x = widened(&bounds(points().map(|point| point.0)));
    let y = heights(figure, bounds(points().map(|point| point.1)));
    let ticks = [(x.end - x.start + 2.0) as usize, 14];
    let charts = figure.panels.iter().map(|panel| Chart {
        title: &panel.title,
        labels: [figure.x_label, figure.y_label],
        x: x.clone(),
        y: y.clone(),
        logarithmic: figure.logarithmic,
        legend: figure.legend,
        ticks,
        x_text: whole,
        lines: panel.series.iter().collect(),
    });
    let title = format!("{}: {}", figure.name, figure.title);
    let size = (PANEL.0, height(figure));
    let sheet = Sheet { title, source: &figure.source, size, charts: charts.collect() };
    draw(&sheet, figure.name)
}

/// Draws the charts of a sheet in rows of three; the error says why it cannot be done.
pub(crate) fn draw(sheet: &Sheet<'_>, figure: &str) -> Result<String> {
    let mut svg = String::new();
    let [rows, columns] = grid(sheet.charts.len());
    let size = ((sheet.size.0 * columns as u32).max(WIDE), sheet.size.1 * rows as u32 + HEAD);
    {
        let root = SVGBackend::with_string(&mut svg, size).into_drawing_area();
        fill(sheet, &root, (rows, columns))
            .map_err(|reason| LabError::Failed(format!("cannot draw {figure}: {reason}")))?;
    }
    Ok(svg)
}

/// Numbers of rows and columns in which `charts` charts are laid out.
fn grid(charts: usize) -> [usize; 2] {
    let columns = charts.clamp(1, COLUMNS);
    [charts.div_ceil(columns).max(1), columns]
}

/// Number of lines of the longest legend of a figure.
fn longest(figure: &Figure) -> u32 {
    figure.panels.iter().map(|panel| panel.series.len()).max().unwrap_or(0) as u32
}

/// Height in pixels of the panels of a figure.
fn height(figure: &Figure) -> u32 {
    PANEL.1 + ENTRY * longest(figure).saturating_sub(ENTRIES)
}

/// The range of the vertical axis with room for the legend where it stands, and for the outermost markers.
fn heights(figure: &Figure, y: Range<f64>) -> Range<f64> {
    // The part of a panel's height that a legend takes, of what lines could have.
    let legend = (24.0 + 19.0 * f64::from(longest(figure))) / (f64::from(height(figure)) - 110.0);
    let room = 0.04 + legend / (1.0 - legend).max(0.25);
    let [below, above] = match figure.legend {
        Corner::UpperLeft => [0.04, room],
        Corner::LowerRight => [room, 0.04],
    };
    if figure.logarithmic {
        let length = (y.end / y.start).max(2.0);
        return y.start / length.powf(below)..y.end * length.powf(above);
    }
    let length = y.end - y.start;
    y.start - below * length..y.end + above * length
}

fn fill(sheet: &Sheet<'_>, root: &Area<'_>, grid: (usize, usize)) -> Result<(), Box<dyn std::error::Error>> {
    root.fill(&WHITE)?;
    let middle = root.dim_in_pixel().0 as i32 / 2;
    let centred = |size: u32| {
        let anchor = plotters::style::text_anchor::Pos::new(
            plotters::style::text_anchor::HPos::Center,
            plotters::style::text_anchor::VPos::Top,
        );
        TextStyle::from((FONT, size).into_font()).color(&BLACK).pos(anchor)
    };
    root.draw(&Text::new(sheet.title.clone(), (middle, 12), centred(22)))?;
    root.draw(&Text::new(sheet.source.to_owned(), (middle, 42), centred(14)))?;
    let below = root.margin(HEAD, 0, 0, 0);
    for (chart, area) in sheet.charts.iter().zip(below.split_evenly(grid)) {
        if chart.logarithmic {
            lines(&area, chart, chart.y.clone().log_scale())?;
        } else {
            lines(&area, chart, chart.y.clone())?;
        }
    }
    Ok(root.present()?)
}

/// Draws the axes and lines of a chart; a linear and a logarithmic vertical axis are two types `Y`.
fn lines<Y>(area: &Area<'_>, shown: &Chart<'_>, y: Y) -> Result<(), Box<dyn std::error::Error>>
where
    Y: AsRangedCoord<Value = f64>,
    Y::CoordDescType: ValueFormatter<f64>,
{
    let corner = match shown.legend {
        Corner::UpperLeft => SeriesLabelPosition::UpperLeft,
        Corner::LowerRight => SeriesLabelPosition::LowerRight,
    };
    let [x_label, y_label] = shown.labels;
    let [x_ticks, y_ticks] = shown.ticks;
    let mut chart = ChartBuilder::on(area)
        .caption(shown.title, (FONT, 17))
        .margin(12)
        .x_label_area_size(48)
        .y_label_area_size(72)
        .build_cartesian_2d(shown.x.clone(), y)?;
    chart
        .configure_mesh()
        .x_desc(x_label)
        .y_desc(y_label)
        .x_label_formatter(&|x| (shown.x_text)(*x))
        .y_label_formatter(&|y| rounded(*y))
        .x_labels(x_ticks.min(MOST_LABELS))
        .x_max_light_lines(0)
        .y_labels(y_ticks)
        .axis_desc_style((FONT, 15))
        .label_style((FONT, 14))
        .light_line_style(RGBColor(0xee, 0xee, 0xee))
        .bold_line_style(RGBColor(0xcc, 0xcc, 0xcc))
        .draw()?;
    for one in &shown.lines {
        let colour = COLOURS.get(one.colour % COLOURS.len()).copied().unwrap_or(BLACK);
        let style = colour.stroke_width(2);
        let points = one.points.iter().copied();
        if one.dashed {
            chart
                .draw_series(DashedLineSeries::new(points.clone(), 6, 5, style))?
                .label(one.name.as_str())
                .legend(move |(x, y)| {
                    EmptyElement::at((x, y))
                        + PathElement::new(vec![(0, 0), (9, 0)], style)
                        + PathElement::new(vec![(15, 0), (24, 0)], style)
                });
        } else {
            chart
                .draw_series(LineSeries::new(points.clone(), style))?
                .label(one.name.as_str())
                .legend(move |(x, y)| PathElement::new(vec![(x, y), (x + 24, y)], style));
        }
        chart.draw_series(points.map(|point| Circle::new(point, 3, colour.filled())))?;
    }
    chart
        .configure_series_labels()
        .position(corner)
        .margin(10)
        .legend_area_size(30)
        .label_font((FONT, 14))
        .background_style(WHITE.mix(0.85))
        .border_style(RGBColor(0x99, 0x99, 0x99))
        .draw()?;
    Ok(())
}

/// Text of a tick where values are whole numbers, such as depths, threads and logarithms of degrees: none between them.
pub(crate) fn whole(tick: f64) -> String {
    // Ticks are computed and may be off by a rounding.
    if (tick - tick.round()).abs() < 1e-9 { rounded(tick.round()) } else { String::new() }
}

/// Text of a tick with the digits that it has apart from roundings.
fn rounded(tick: f64) -> String {
    // The sum has no -0.
    format!("{}", (tick * 1e9).round() / 1e9 + 0.0)
}

/// The range of a list of values; a single value gets room around it.
pub(crate) fn bounds(values: impl Iterator<Item = f64>) -> Range<f64> {
    let (low, high) = values
        .filter(|value| value.is_finite())
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
    match low < high {
        true => low..high,
        false if low.is_finite() => low * 0.5..low.mul_add(1.5, 1.0),
        false => 1.0..2.0,
    }
}

/// A range of the horizontal axis with room for the outermost markers.
pub(crate) fn widened(x: &Range<f64>) -> Range<f64> {
    let side = (x.end - x.start) * 0.04;
    x.start - side..x.end + side
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Panel;

    fn figure(panels: Vec<Panel>, logarithmic: bool) -> Figure {
        Figure {
            name: "Figure 9",
            title: "a title".to_owned(),
            source: "a source".to_owned(),
            x_label: "across",
            y_label: "up",
            logarithmic,
            legend: Corner::UpperLeft,
            panels,
            reason: None,
        }
    }

    fn panel(points: Vec<(f64, f64)>) -> Panel {
        let series =
            |name: &str, dashed| Curve { name: name.to_owned(), colour: 1, dashed, points: points.clone() };
        Panel {
            title: "panel".to_owned(),
            printed: false,
            series: vec![series("a & <b>", false), series("c", true)],
        }
    }

    #[test]
    fn text_is_escaped_and_every_label_is_there() {
        for logarithmic in [false, true] {
            let svg = render(&figure(vec![panel(vec![(11.0, 0.1), (12.0, 200.0)])], logarithmic)).unwrap();
            for part in [
                "<svg",
                "</svg>",
                "Figure 9: a title",
                "a source",
                "across",
                "up",
                "panel",
                "a &amp; &lt;b&gt;",
            ] {
                assert!(svg.contains(part), "{part} is missing:\n{svg}");
            }
        }
    }

    #[test]
    fn panels_go_into_rows_and_legends_have_room() {
        let points = vec![(1.0, 1.0), (33.0, 100.0)];
        for (panels, [rows, columns]) in [(0, [1, 1]), (1, [1, 1]), (3, [1, 3]), (5, [2, 3])] {
            assert_eq!(
                grid(figure(vec![panel(points.clone()); panels], false).panels.len()),
                [rows, columns]
            );
        }
        for logarithmic in [false, true] {
            let mut figure = figure(vec![panel(points.clone())], logarithmic);
            let high = heights(&figure, 1.0..100.0);
            figure.legend = Corner::LowerRight;
            let low = heights(&figure, 1.0..100.0);
            assert!(high.start < 1.0 && low.end > 100.0 && high.end > low.end && low.start < high.start);
        }
    }

    #[test]
    fn long_legends_leave_the_lines_most_of_a_panel() {
        let points = vec![(1.0, 1e-2), (33.0, 1e3)];
        let of = |lines: usize| {
            let mut panel = Panel::new("a panel", false);
            (0..lines).for_each(|colour| panel.line("a line", colour, false, points.clone()));
            figure(vec![panel], true)
        };
        assert_eq!([1, 6].map(|lines| height(&of(lines))), [PANEL.1; 2]);
        for lines in [1, 6, 7, 16, 40] {
            let range = heights(&of(lines), 1e-2..1e3);
            // Five decades of lines, below as much room at most.
            assert!((range.end / range.start).log10() < 10.0, "{lines}: {range:?}");
        }
    }

    #[test]
    fn ticks_have_no_digits_of_roundings() {
        assert_eq!([12.0, 12.000_000_000_1, 12.5, -0.0].map(whole), ["12", "12", "", "0"]);
        assert_eq!([0.1 + 0.2, 1e-3, 10.0].map(rounded), ["0.3", "0.001", "10"]);
    }

    #[test]
    fn few_points_are_drawn_too() {
        for points in [vec![], vec![(11.0, 3.0)]] {
            for logarithmic in [false, true] {
                assert!(
                    render(&figure(vec![panel(points.clone()); 2], logarithmic))
                        .unwrap()
                        .ends_with("</svg>\n")
                );
            }
        }
    }
}
