//! Table 5: decryption and multiplication timed, and Figures 1 and 2, which draw it.

use super::Width;
use super::timing::{Group, Measured, Variant};
use crate::alternate::Series;
use crate::report::{Corner, Curve, Figure, Machine, Panel};
use crate::repro::report::{Quantity, Row, Table, Value};

/// Time in milliseconds and speed-up over MP.
type Pair = (f64, Option<f64>);
/// log2 n, ν, variant, decryption, multiplication: as printed; RNS-SIMD is called RNS-AVX2 there.
type Line = (u32, u32, Variant, Pair, Option<Pair>);

const fn mp(log2_degree: u32, nu: u32, decryption: f64, multiplication: Option<f64>) -> Line {
    let multiplication = match multiplication {
        Some(time) => Some((time, None)),
        None => None,
    };
    (log2_degree, nu, Variant::Mp, (decryption, None), multiplication)
}

const fn rns(log2_degree: u32, nu: u32, variant: Variant, d: [f64; 2], m: Option<[f64; 2]>) -> Line {
    let multiplication = match m {
        Some([time, speed_up]) => Some((time, Some(speed_up))),
        None => None,
    };
    (log2_degree, nu, variant, (d[0], Some(d[1])), multiplication)
}

const PRINTED: [Line; 35] = [
    mp(11, 30, 1.153, Some(13.809)),
    rns(11, 30, Variant::RnsFlp, [0.192, 6.005], None),
    rns(11, 30, Variant::Rns, [0.189, 6.101], Some([3.159, 4.371])),
    rns(11, 30, Variant::RnsSimd, [0.188, 6.133], Some([2.710, 5.096])),
    mp(11, 62, 1.020, None),
    rns(11, 62, Variant::RnsFlp, [0.054, 18.880], None),
    rns(11, 62, Variant::Rns, [0.050, 20.390], None),
    mp(12, 30, 4.587, Some(45.055)),
    rns(12, 30, Variant::RnsFlp, [0.798, 5.748], None),
    rns(12, 30, Variant::Rns, [0.789, 5.814], Some([15.614, 2.886])),
    rns(12, 30, Variant::RnsSimd, [0.775, 5.919], Some([13.737, 3.280])),
    mp(12, 62, 3.473, Some(28.168)),
    rns(12, 62, Variant::RnsFlp, [0.339, 10.245], None),
    rns(12, 62, Variant::Rns, [0.326, 10.653], Some([7.688, 3.664])),
    mp(13, 30, 16.051, Some(218.103)),
    rns(13, 30, Variant::RnsFlp, [3.732, 4.301], None),
    rns(13, 30, Variant::Rns, [3.691, 4.349], Some([100.625, 2.167])),
    rns(13, 30, Variant::RnsSimd, [3.637, 4.413], Some([88.589, 2.462])),
    mp(13, 62, 10.945, Some(92.093)),
    rns(13, 62, Variant::RnsFlp, [1.552, 7.052], None),
    rns(13, 62, Variant::Rns, [1.513, 7.234], Some([37.738, 2.440])),
    mp(14, 30, 70.154, Some(1249.400)),
    rns(14, 30, Variant::RnsFlp, [17.497, 4.009], None),
    rns(14, 30, Variant::Rns, [17.333, 4.047], Some([622.596, 2.007])),
    rns(14, 30, Variant::RnsSimd, [16.818, 4.171], Some([617.846, 2.022])),
    mp(14, 62, 38.910, Some(424.014)),
    rns(14, 62, Variant::RnsFlp, [6.702, 5.806], None),
    rns(14, 62, Variant::Rns, [6.494, 5.992], Some([206.511, 2.053])),
    mp(15, 30, 364.379, Some(8396.080)),
    rns(15, 30, Variant::RnsFlp, [85.165, 4.279], None),
    rns(15, 30, Variant::Rns, [81.225, 4.486], Some([4923.220, 1.705])),
    rns(15, 30, Variant::RnsSimd, [72.665, 5.015], Some([5063.920, 1.658])),
    mp(15, 62, 180.848, Some(2680.535)),
    rns(15, 62, Variant::RnsFlp, [33.310, 5.429], None),
    rns(15, 62, Variant::Rns, [31.895, 5.670], Some([1406.960, 1.905])),
];

fn printed(group: &Group, variant: Variant) -> Option<&'static Line> {
    PRINTED.iter().find(|line| (line.0, line.1, line.2) == (group.log2_degree, group.width.bits(), variant))
}

/// The table of these timings.
pub(super) fn compute(groups: &[Group]) -> Table {
    Table {
        name: "Table 5",
        title: "milliseconds, median and distance between the quartiles, and speed-up over MP on the same kernels; MP, \
                RNS-flp, RNS on scalar kernels, MP-SIMD, RNS-SIMD (the paper's RNS-AVX2) on the fastest, RNS-48 with \
                Sunzi's 48-bit primes at equal log q"
            .to_owned(),
        rows: groups.iter().flat_map(|group| group.variants.iter().map(|one| row(group, one))).collect(),
    }
}

fn row(group: &Group, measured: &Measured) -> Row {
    let line = printed(group, measured.variant);
    let baseline = group.of(measured.variant.baseline()).or_else(|| group.of(Variant::Mp));
    let baseline = baseline.filter(|one| one.variant != measured.variant);
    let mut quantities = operation(
        ["decrypt_ms", "decrypt_spread", "decrypt_speed_up"],
        line.map(|line| line.3),
        Some(&measured.decryption),
        baseline.map(|one| &one.decryption),
    );
    quantities.extend(operation(
        ["multiply_ms", "multiply_spread", "multiply_speed_up"],
        line.and_then(|line| line.4),
        measured.multiplication.as_ref(),
        baseline.and_then(|one| one.multiplication.as_ref()),
    ));
    let rounds = measured.multiplication.as_ref().unwrap_or(&measured.decryption).len();
    quantities.push(Quantity { name: "rounds", paper: None, ours: Some((rounds as u64).into()) });
    Row {
        measured: true,
        keys: vec![
            ("n", (1_u64 << group.log2_degree).into()),
            ("nu", group.width.bits().into()),
            ("k", (measured.limbs as u64).into()),
            ("variant", Value::Text(measured.variant.name())),
        ],
        quantities,
        reason: line.is_none().then(|| "the paper has no such variant".to_owned()),
    }
}

fn operation(
    [time, spread, speed_up]: [&'static str; 3],
    paper: Option<Pair>,
    ours: Option<&Series>,
    baseline: Option<&Series>,
) -> Vec<Quantity> {
    let value = |value| Value::Decimal(value, 3);
    let ratio = |value| Value::Decimal(value, 2);
    let faster = ours.zip(baseline).map(|(ours, baseline)| ours.speed_up_over(baseline));
    vec![
        Quantity {
            name: time,
            paper: paper.map(|(time, _)| value(time)),
            ours: ours.map(|ours| value(ours.median_ms())),
        },
        Quantity { name: spread, paper: None, ours: ours.map(|ours| value(ours.spread_ms())) },
        Quantity {
            name: speed_up,
            paper: paper.and_then(|(_, speed_up)| speed_up).map(ratio),
            ours: faster.map(ratio),
        },
    ]
}

/// Figure 1: decryption against n.
pub(super) fn figure1(groups: &[Group], machine: &Machine) -> Figure {
    let shown =
        [Variant::Mp, Variant::RnsFlp, Variant::Rns, Variant::MpSimd, Variant::RnsSimd, Variant::Rns48];
    let paper = |line: &Line| Some(line.3.0);
    let ours = |measured: &Measured| Some(measured.decryption.median_ms());
    figure(["Figure 1", "decryption, t = 2^10", "figure1.svg"], &shown, paper, ours, groups, machine)
}

/// Figure 2: multiplication against n.
pub(super) fn figure2(groups: &[Group], machine: &Machine) -> Figure {
    let shown = [Variant::Mp, Variant::Rns, Variant::MpSimd, Variant::RnsSimd, Variant::Rns48];
    let paper = |line: &Line| line.4.map(|(time, _)| time);
    let ours = |measured: &Measured| measured.multiplication.as_ref().map(Series::median_ms);
    let words = ["Figure 2", "multiplication with relinearisation, t = 2^10", "figure2.svg"];
    figure(words, &shown, paper, ours, groups, machine)
}

fn figure(
    [name, title, file]: [&'static str; 3],
    shown: &[Variant],
    paper: impl Fn(&Line) -> Option<f64>,
    ours: impl Fn(&Measured) -> Option<f64>,
    groups: &[Group],
    machine: &Machine,
) -> Figure {
    let mut panels = [Panel::new("[BEHZ16, Table 5], Core i7-4810MQ", true), Panel::new("Sunzi", false)];
    for (colour, &variant) in shown.iter().enumerate() {
        for width in [Width::Bits30, Width::Bits62] {
            let lines = PRINTED.iter().filter(|line| (line.1, line.2) == (width.bits(), variant));
            let printed = lines.filter_map(|line| Some((f64::from(line.0), paper(line)?)));
            let measured = groups
                .iter()
                .filter(|group| group.width == width)
                .filter_map(|group| Some((f64::from(group.log2_degree), ours(group.of(variant)?)?)));
            let both: [Vec<(f64, f64)>; 2] = [printed.collect(), measured.collect()];
            for (panel, points) in panels.iter_mut().zip(both) {
                let name = match (variant, panel.printed) {
                    (Variant::RnsSimd, true) => "RNS-AVX2",
                    (variant, _) => variant.name(),
                };
                let name = format!("{name}, ν = {}", width.bits());
                if !points.is_empty() {
                    panel.series.push(Curve { name, colour, dashed: width == Width::Bits62, points });
                }
            }
        }
    }
    Figure {
        name,
        title: title.to_owned(),
        source: format!("ours: {machine}"),
        file,
        x_label: "log2 n",
        y_label: "milliseconds",
        logarithmic: true,
        legend: Corner::UpperLeft,
        panels: panels.into(),
        reason: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A digit misread in a time shows in its speed-up.
    #[test]
    fn printed_speed_ups_are_the_quotients_of_printed_times() {
        for line in &PRINTED {
            let mp = PRINTED.iter().find(|mp| (mp.0, mp.1, mp.2) == (line.0, line.1, Variant::Mp)).unwrap();
            let pairs = [(Some(mp.3), Some(line.3)), (mp.4, line.4)];
            for (mp, one) in pairs.into_iter().filter_map(|(mp, one)| Some((mp?, one?))) {
                if let Some(speed_up) = one.1 {
                    // All three are printed with three decimals.
                    let rounding = 0.0006 * (1.0 / mp.0 + 1.0 / one.0 + 1.0 / speed_up);
                    assert!((mp.0 / one.0 / speed_up - 1.0).abs() < rounding, "{line:?}");
                }
            }
        }
    }
}
