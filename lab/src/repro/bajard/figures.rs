//! Figures 1, 2 and 3 of `[BEHMSZ17]`: time per slot of reductions and of products.

use sunzi_math::primes_with_bits;
use sunzi_ring::{Backend, Ring};
use sunzi_univariate::{Reduction, UnivariateRing};

use super::printed;
use super::reductions::{METHODS, Measured, OTHERS, direct_ring};
use super::subject::Subject;
use super::tables::slots;
use super::{MODULUS_BITS, Options};
use crate::repro::{
    Figure, LabError, Machine, NOT_PRINTED, Panel, Progress, Result, Series, Timed, alternate_timed,
};

/// Figure 1 of `[BEHMSZ17]`: time per slot of reductions, and of whole products with them.
pub(super) fn figure1(measured: &[Measured], machine: &Machine) -> Figure {
    let names: Vec<&str> = METHODS.iter().map(|method| method.1).chain(OTHERS).collect();
    let panel = |title: &str, times: fn(&Measured) -> &[Series]| {
        let mut panel = Panel::new(title, false);
        for (at, name) in names.iter().enumerate() {
            let point = |one: &Measured| Some((log2(one.m), times(one).get(at)?.median() / one.slots as f64));
            push(&mut panel, at, name, measured.iter().filter_map(point).collect());
        }
        panel
    };
    let mut reduction = panel("the reduction alone", |one| &one.reductions);
    let ntl: Vec<(f64, f64)> = measured
        .iter()
        .filter_map(|one| Some((log2(one.m), one.ntl.as_ref()?.median() / one.slots as f64)))
        .collect();
    let reason = if ntl.is_empty() { NO_NTL } else { NOT_PRINTED };
    push(&mut reduction, names.len(), "NTL, 60 bits", ntl);
    let panels = vec![reduction, panel("a product modulo one prime", |one| &one.products)];
    let title = "time per slot of GF(2^d), one modulus of 62 bits".to_owned();
    Figure { reason: Some(reason), ..figure("Figure 1", title, machine, panels) }
}

fn log2(m: u64) -> f64 {
    (m as f64).log2()
}

/// Name of the curve of the power-of-two ring. That ring has but one slot for t = 2: a curve a thousand times
/// higher would hide the differences between the others.
const AS_MANY_SLOTS: &str = "power of two, divided by as many slots";

fn push(panel: &mut Panel, at: usize, name: &str, points: Vec<(f64, f64)>) {
    if !points.is_empty() {
        let dashed = name == OTHERS[0];
        panel.line(if dashed { AS_MANY_SLOTS } else { name }, at + 1, dashed, points);
    }
}

fn figure(name: &'static str, title: String, machine: &Machine, panels: Vec<Panel>) -> Figure {
    let source = format!("medians of alternating rounds; {machine}");
    let figure = Figure::new(name, title, source, ["log2 m", "microseconds per slot"], panels);
    Figure { reason: Some(NOT_PRINTED), ..figure }
}

/// Reason why Figure 1 of `[BEHMSZ17]` has no line of NTL, whose times the paper does not print.
pub(super) const NO_NTL: &str = "the paper prints no numbers for this plot; NTL's line takes the program of peers/native/ntl.cpp, which SUNZI_NTL names";

/// Times of a scheme's products in every ring: columns of medians in milliseconds, by [`NAMES`].
pub(super) struct Products {
    m: u64,
    slots: u64,
    /// Times of products of FV, then of BGV.
    schemes: [Vec<f64>; 2],
}

impl Products {
    pub(super) fn m(&self) -> u64 {
        self.m
    }

    /// Speed-up of the products of FV or BGV by one of [`REDUCTIONS`] over those by plain Barrett.
    pub(super) fn speed_up(&self, bgv: bool, reduction: Reduction) -> Option<f64> {
        let [fv, of_bgv] = &self.schemes;
        let times = if bgv { of_bgv } else { fv };
        let at = REDUCTIONS.iter().position(|other| *other == reduction)?;
        Some(times.first()? / times.get(at)?)
    }
}

/// Names of the rings and reductions that multiply, in the legend.
const NAMES: [&str; 6] = [
    "Barrett (Alg. 1)",
    "Barrett after a sparse multiple (Alg. 2)",
    "Montgomery (Alg. 3)",
    "mixed (4.4)",
    OTHERS[0],
    OTHERS[1],
];
const REDUCTIONS: [Reduction; 4] =
    [Reduction::Barrett, Reduction::SparseBarrett, Reduction::Montgomery, Reduction::Mixed];

/// Times products of FV and BGV with the moduli of `[BEHMSZ17]`.
pub(super) fn products(options: &Options, progress: &mut Progress<'_>) -> Result<Vec<Products>> {
    let mut all = Vec::new();
    for printed in printed::DEPTHS.iter().filter(|row| row.m <= options.product_index) {
        let (m, k) = (printed.m, printed.moduli);
        progress.begin(format!("products: m = {m}, {k} moduli"));
        let order = UnivariateRing::root_order(m)?;
        let primes = primes_with_bits(MODULUS_BITS, order, k)?;
        let mut subjects = Vec::new();
        for (reduction, name) in REDUCTIONS.into_iter().zip(NAMES) {
            subjects.push(Subject::new(name, Ring::of(UnivariateRing::new(m, &primes, reduction)?))?);
        }
        subjects.push(Subject::new(OTHERS[0], Ring::new(order, &primes)?)?);
        if let Some(ring) = direct_ring(m, k) {
            subjects.push(Subject::new(OTHERS[1], ring)?);
        }
        let mut fv = subjects.iter().map(Subject::fv_product).collect::<Result<Vec<_>>>()?;
        let mut bgv = subjects.iter().map(Subject::bgv_product).collect::<Result<Vec<_>>>()?;
        let medians = |contenders: &mut [Timed<'_>]| {
            let times = alternate_timed(options.budget, contenders)?;
            Ok::<Vec<f64>, LabError>(times.iter().map(Series::median_ms).collect())
        };
        let n =
            UnivariateRing::new(m, primes.get(..1).unwrap_or_default(), Reduction::SparseBarrett)?.degree();
        all.push(Products {
            m,
            slots: slots(m, n as u64)?,
            schemes: [medians(&mut fv)?, medians(&mut bgv)?],
        });
    }
    Ok(all)
}

/// Figure 2 (FV) or Figure 3 (BGV) of `[BEHMSZ17]`: time per slot of products.
pub(super) fn of_scheme(products: &[Products], bgv: bool, machine: &Machine) -> Figure {
    let mut panel = Panel::new("", false);
    for (at, name) in NAMES.iter().enumerate() {
        let point = |one: &Products| {
            let [fv, of_bgv] = &one.schemes;
            let times = if bgv { of_bgv } else { fv };
            Some((log2(one.m), times.get(at)? * 1e3 / one.slots as f64))
        };
        push(&mut panel, at, name, products.iter().filter_map(point).collect());
    }
    let scheme = if bgv { "BGV" } else { "FV" };
    let title = format!("time per slot of a product of {scheme}, the paper's moduli of 62 bits");
    figure(if bgv { "Figure 3" } else { "Figure 2" }, title, machine, vec![panel])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figure_1_is_in_microseconds_a_slot() {
        let times = |micros: f64| vec![Series::from_micros(vec![micros]); METHODS.len() + OTHERS.len()];
        let measured = Measured {
            m: 4096,
            slots: 128,
            reductions: times(256.0),
            products: times(512.0),
            native: times(512.0),
            ntl: Some(Series::from_micros(vec![1024.0])),
        };
        let figure = figure1(&[measured], &Machine::this().unwrap());
        let [reductions, products] = &figure.panels[..] else { panic!("two panels") };
        assert!(reductions.series.iter().rev().skip(1).all(|line| line.points == [(12.0, 2.0)]));
        assert_eq!(reductions.series.last().unwrap().points, [(12.0, 8.0)]);
        assert!(products.series.iter().all(|line| line.points == [(12.0, 4.0)]));
        assert_eq!(figure.reason, Some(NOT_PRINTED));
    }
}
