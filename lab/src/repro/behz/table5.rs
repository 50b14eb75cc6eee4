//! Table 5 of `[BEHZ16]`: decryption and multiplication timed, and Figures 1 and 2, which draw it.

use super::subject::Variant;
use super::timing::{Group, Measured};
use super::{PRINTED, Width};
use crate::repro::report::{Quantity, Verdict};
use crate::repro::slower::slower;
use crate::repro::{Figure, Machine, Panel, Row, Rule, Series, Table, lines, number};

/// Milliseconds, and the speed-up over the multi-precision variant MP, where they are printed.
type Pair = [Option<f64>; 2];

/// A line of Table 5 as printed; RNS-SIMD is called RNS-AVX2 there.
#[derive(Debug)]
struct Line {
    log2_degree: u32,
    nu: u32,
    variant: &'static str,
    decryption: Pair,
    multiplication: Pair,
}

fn printed() -> impl Iterator<Item = Line> {
    lines(PRINTED, "Table 5").into_iter().filter_map(|[n, nu, variant, decryption, d, multiplication, m]| {
        let [decryption, multiplication] =
            [[decryption, d], [multiplication, m]].map(|pair| pair.map(number));
        Some(Line { log2_degree: number(n)?, nu: number(nu)?, variant, decryption, multiplication })
    })
}

/// Table 5 of `[BEHZ16]` with these timings.
pub(super) fn compute(groups: &[Group]) -> Table {
    let title = "milliseconds, median and distance between the quartiles, and speed-up over MP on the same kernels; MP, \
                 MP-div (a division by q for every rounding), RNS-flp, RNS on scalar kernels, MP-SIMD, RNS-SIMD (the paper's RNS-AVX2) on the fastest, RNS-48 with \
                 Sunzi's 48-bit primes at equal log q";
    let rows = groups.iter().flat_map(|group| group.variants.iter().map(|one| row(group, one)));
    Table::new("Table 5", title, rows.collect())
}

fn row(group: &Group, measured: &Measured) -> Row {
    let (log2_degree, nu, variant) = (group.log2_degree, group.width.bits(), measured.variant.name());
    let line = printed().find(|line| (line.log2_degree, line.nu, line.variant) == (log2_degree, nu, variant));
    let baseline = group.of(measured.variant.baseline()).or_else(|| group.of(Variant::Mp));
    let baseline = baseline.filter(|one| one.variant != measured.variant);
    let row = Row::default()
        .key("n", 1_u64 << log2_degree)
        .key("nu", nu)
        .key("k", measured.limbs)
        .key("variant", variant);
    let none = line.is_none();
    let [decryption, multiplication] =
        line.map_or([[None; 2]; 2], |line| [line.decryption, line.multiplication]);
    let row = operation(
        row,
        ["decrypt_ms", "decrypt_spread", "decrypt_speed_up"],
        decryption,
        Some(&measured.decryption),
        baseline.map(|one| &one.decryption),
    );
    let ours = measured.multiplication.as_ref();
    let row = operation(
        row,
        ["multiply_ms", "multiply_spread", "multiply_speed_up"],
        multiplication,
        ours,
        baseline.and_then(|one| one.multiplication.as_ref()),
    );
    let row = row.ours("rounds", ours.unwrap_or(&measured.decryption).len());
    if none {
        return row.because(Some(not_printed(measured.variant)));
    }
    let mp = printed().find(|line| (line.log2_degree, line.nu, line.variant) == (log2_degree, nu, "MP"));
    let [mp_decryption, mp_multiplication] =
        mp.map_or([None; 2], |line| [line.decryption[0], line.multiplication[0]]);
    let reasons = [
        Compared {
            what: "decryption",
            paper: [decryption[0], mp_decryption],
            ours: Some(&measured.decryption),
            group,
            series: |one| Some(&one.decryption),
        }
        .reason(&row, ["decrypt_ms", "decrypt_speed_up"], baseline.map(|one| &one.decryption)),
        Compared {
            what: "multiplication",
            paper: [multiplication[0], mp_multiplication],
            ours,
            group,
            series: |one| one.multiplication.as_ref(),
        }
        .reason(
            &row,
            ["multiply_ms", "multiply_speed_up"],
            baseline.and_then(|one| one.multiplication.as_ref()),
        ),
    ];
    let known: Vec<String> = reasons.into_iter().flatten().collect();
    row.because((!known.is_empty()).then(|| known.join("; ")))
}

/// Why the table has no line for a variant.
fn not_printed(variant: Variant) -> &'static str {
    match variant {
        Variant::MpDiv => "the paper's MP divides so; its times stand beside MP",
        _ => "the paper has no such variant",
    }
}

/// The speed-up over the variant that divides by q as the paper's MP does, in words; none if it was not timed.
pub(super) fn over_division(group: &Group, speed_up: impl Fn(&Measured) -> Option<f64>) -> String {
    let measured = group.of(Variant::MpDiv).and_then(speed_up);
    measured.map_or_else(String::new, |speed_up| {
        format!("; over MP-div, which divides by q as the paper's MP does, the speed-up is {speed_up:.2}")
    })
}

/// An operation of a variant: milliseconds printed for it and for MP, and its times here.
struct Compared<'a> {
    what: &'static str,
    paper: [Option<f64>; 2],
    ours: Option<&'a Series>,
    group: &'a Group,
    series: fn(&Measured) -> Option<&Series>,
}

impl Compared<'_> {
    /// Why the time or the speed-up of an operation is worse than printed: how each side moved.
    fn reason(&self, row: &Row, names: [&'static str; 2], baseline: Option<&Series>) -> Option<String> {
        let [slow, less] =
            names.map(|name| row.quantities.iter().any(|one| one.name == name && needs_reason(one)));
        let (ours, [paper, mp]) = (self.ours?, self.paper);
        let longer = if slow { Some(slower(ours, paper? * 1e-3, self.group.waited)?) } else { None };
        let moved = || {
            let [own, base] = [paper? / ours.median_ms(), mp? / baseline?.median_ms()];
            let over = over_division(self.group, |mp| Some(ours.speed_up_over((self.series)(mp)?)));
            Some(format!("{own:.1} times as fast as the paper's, and MP {base:.1} times{over}"))
        };
        let gained = if less { Some(moved()?) } else { None };
        let both: Vec<String> = longer.into_iter().chain(gained).collect();
        (!both.is_empty()).then(|| format!("{}: {}", self.what, both.join("; ")))
    }
}

fn needs_reason(one: &Quantity) -> bool {
    one.verdict().is_some_and(Verdict::needs_reason)
}

fn operation(
    row: Row,
    [time, spread, speed_up]: [&'static str; 3],
    [paper, paper_speed_up]: Pair,
    ours: Option<&Series>,
    baseline: Option<&Series>,
) -> Row {
    let faster = ours.zip(baseline).map(|(ours, baseline)| (ours.speed_up_over(baseline), 2));
    row.judged(time, paper.map(|time| (time, 3)), ours.map(|ours| (ours.median_ms(), 3)), Rule::Smaller(1.0))
        .judged(spread, None::<u64>, ours.map(|ours| (ours.spread_ms(), 3)), Rule::Equal)
        .judged(speed_up, paper_speed_up.map(|speed_up| (speed_up, 2)), faster, Rule::Larger(1.15))
}

/// Figure 1 of `[BEHZ16]`: decryption times against the degree n.
pub(super) fn figure1(groups: &[Group], machine: &Machine) -> Figure {
    let shown = [
        Variant::Mp,
        Variant::RnsFlp,
        Variant::Rns,
        Variant::MpSimd,
        Variant::RnsSimd,
        Variant::Rns48,
        Variant::MpDiv,
    ];
    let ours = |measured: &Measured| Some(measured.decryption.median_ms());
    figure("Figure 1", "decryption, t = 2^10", &shown, |line| line.decryption[0], ours, groups, machine)
}

/// Figure 2 of `[BEHZ16]`: multiplication times against the degree n.
pub(super) fn figure2(groups: &[Group], machine: &Machine) -> Figure {
    let shown =
        [Variant::Mp, Variant::Rns, Variant::MpSimd, Variant::RnsSimd, Variant::Rns48, Variant::MpDiv];
    let ours = |measured: &Measured| measured.multiplication.as_ref().map(Series::median_ms);
    let title = "multiplication with relinearisation, t = 2^10";
    figure("Figure 2", title, &shown, |line| line.multiplication[0], ours, groups, machine)
}

fn figure(
    name: &'static str,
    title: &str,
    shown: &[Variant],
    paper: impl Fn(&Line) -> Option<f64>,
    ours: impl Fn(&Measured) -> Option<f64>,
    groups: &[Group],
    machine: &Machine,
) -> Figure {
    let mut panels = [Panel::new("[BEHZ16, Table 5], Core i7-4810MQ", true), Panel::new("Sunzi", false)];
    for (colour, &variant) in shown.iter().enumerate() {
        for width in [Width::Bits30, Width::Bits62] {
            let lines = printed().filter(|line| (line.nu, line.variant) == (width.bits(), variant.name()));
            let printed = lines.filter_map(|line| Some((f64::from(line.log2_degree), paper(&line)?)));
            let measured = groups
                .iter()
                .filter(|group| group.width == width)
                .filter_map(|group| Some((f64::from(group.log2_degree), ours(group.of(variant)?)?)));
            let both: [Vec<(f64, f64)>; 2] = [printed.collect(), measured.collect()];
            for (panel, points) in panels.iter_mut().zip(both) {
                let name =
                    if variant == Variant::RnsSimd && panel.printed { "RNS-AVX2" } else { variant.name() };
                if !points.is_empty() {
                    let name = format!("{name}, ν = {}", width.bits());
                    panel.line(name, colour, width == Width::Bits62, points);
                }
            }
        }
    }
    Figure::new(name, title, format!("ours: {machine}"), ["log2 n", "milliseconds"], panels.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks that printed speed-ups are quotients of printed times: a digit misread in a time would show.
    #[test]
    fn printed_speed_ups_are_the_quotients_of_printed_times() {
        assert_eq!(printed().count(), 35);
        for line in printed() {
            let mp = printed()
                .find(|mp| (mp.log2_degree, mp.nu, mp.variant) == (line.log2_degree, line.nu, "MP"))
                .unwrap();
            let pairs = [(mp.decryption, line.decryption), (mp.multiplication, line.multiplication)];
            for ([mp, _], one) in pairs {
                if let (Some(mp), [Some(time), Some(speed_up)]) = (mp, one) {
                    // All three are printed with three decimals.
                    let rounding = 0.0006 * (1.0 / mp + 1.0 / time + 1.0 / speed_up);
                    assert!((mp / time / speed_up - 1.0).abs() < rounding, "{line:?}");
                }
            }
        }
    }
}
