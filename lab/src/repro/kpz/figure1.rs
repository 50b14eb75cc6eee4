//! Figure 1 of `[KPZ21]`: the time of a multiplication by its depth and by t, for every variant.

use std::time::Instant;

use rand_core::CryptoRng;
use sunzi_circuits::Arithmetic;
use sunzi_rlwe::{Security, randomness};

use super::clear::Clear;
use super::parameters::Parameters;
use super::printed::{Cell, Column, Digits, PLAIN_MODULI};
use super::subject::{BfvSubject, BgvSubject, Subject};
use crate::alternate::{Series, alternate};
use crate::bench::conversion::{Prices, price};
use crate::bench::tally::{self, Counts};
use crate::repro::{Figure, LabError, Machine, NOT_PRINTED, Panel, Progress, Result, upper_median};

/// A line of Figure 1: a column, most bits of its moduli in BFV, and whether moduli of BGV share words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Variant {
    pub(super) column: Column,
    widest: u32,
    trunked: bool,
    name: &'static str,
}

/// Bits of the longest moduli of `[KPZ21]`, words of 64 bits.
const WIDEST: u32 = 60;
/// Bits of Sunzi's own moduli, for which its kernels are fastest.
const NATIVE: u32 = 48;

/// The original BFV that `[KPZ21]` compares with.
pub(super) const HPS: Variant = Variant { column: Column::Hps, widest: WIDEST, trunked: false, name: "HPS" };
/// Leveled BFV with the moduli of `[KPZ21]`.
pub(super) const LEVELED: Variant = Variant { column: Column::Leveled, name: "BFV-NEW-LVL", ..HPS };
/// Leveled BFV with moduli of Sunzi's own length.
pub(super) const LEVELED_48: Variant = Variant { widest: NATIVE, name: "BFV-NEW-LVL, 48 bits", ..LEVELED };
/// BGV of `[KPZ21]`.
pub(super) const BGV: Variant = Variant { column: Column::Bgv, name: "BGV-NEW", ..HPS };
/// BGV whose moduli share words where they fit into one, the optimisation of Remark 5.1 that `[KPZ21]` does not measure.
pub(super) const TRUNKED: Variant = Variant { trunked: true, name: "BGV-NEW, trunked", ..BGV };

/// The lines of Figure 1 of `[KPZ21]`, leveled BFV with moduli of Sunzi's own length, and BGV with moduli that share words.
const VARIANTS: [Variant; 6] =
    [HPS, Variant { column: Column::New, name: "BFV-NEW", ..HPS }, LEVELED, BGV, LEVELED_48, TRUNKED];
/// Number of rounds in which the prices of a transform and a conversion are taken.
const PRICE_ROUNDS: usize = 21;
/// Numbers of multiplications in a row for each t: the deepest of `[KPZ21]`.
const DEPTHS: [u32; 3] = [20, 10, 10];

/// Size of Figure 1: the ring degree, and the number of rounds.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    /// log2 of the ring degree n; 15 in `[KPZ21]`.
    pub log2_degree: u32,
    /// Number of rounds in which every variant takes its turn.
    pub rounds: usize,
}

/// Number of steps that progress counts for Figure 1.
pub(super) fn steps(size: Size) -> usize {
    PLAIN_MODULI.len() * VARIANTS.len() * size.rounds
}

/// Times of Figure 1.
pub(super) struct Times {
    size: Size,
    lines: Vec<Line>,
}

/// A line of Figure 1, in milliseconds.
struct Line {
    plain_modulus: u64,
    variant: Variant,
    /// Median of every multiplication, the first one first.
    medians: Vec<f64>,
    /// Transforms and conversions of the deepest multiplication, by their number at the prices of this run.
    counted: f64,
}

/// Squarings in a row: milliseconds of each, and what the last one computes.
struct Chain {
    times: Vec<f64>,
    last: Counts,
}

impl Times {
    /// Times every variant, one after the other in every round.
    pub(super) fn measure(size: Size, progress: &mut Progress<'_>) -> Result<Self> {
        let mut lines = Vec::new();
        let prices = prices(1 << size.log2_degree)?;
        for (t, depth) in PLAIN_MODULI.into_iter().zip(DEPTHS) {
            let mut measured = VARIANTS.map(|variant| (variant, vec![Vec::new(); depth as usize], 0.0));
            for _ in 0..size.rounds {
                for (variant, times, counted) in &mut measured {
                    progress.begin(format!("Figure 1: {}, t = {t}", variant.name));
                    let chain = chain(*variant, t, depth, size.log2_degree)?;
                    times.iter_mut().zip(chain.times).for_each(|(all, one)| all.push(one));
                    *counted = prices(chain.last);
                }
            }
            lines.extend(measured.map(|(variant, times, counted)| {
                let medians = times.into_iter().map(upper_median).collect();
                Line { plain_modulus: t, variant, medians, counted }
            }));
        }
        Ok(Self { size, lines })
    }

    fn line(&self, t: u64, variant: Variant) -> Option<&Line> {
        self.lines.iter().find(|line| (line.plain_modulus, line.variant) == (t, variant))
    }

    /// Milliseconds of the transforms and conversions of the deepest multiplication of a variant at t.
    pub(super) fn counted(&self, t: u64, variant: Variant) -> Option<f64> {
        self.line(t, variant).map(|line| line.counted)
    }

    /// Times of the multiplications of a variant at t, in milliseconds, the first one first.
    pub(super) fn of(&self, t: u64, variant: Variant) -> &[f64] {
        self.line(t, variant).map_or(&[], |line| &line.medians)
    }

    /// log2 of the ring degree of the timed multiplications.
    pub(super) fn log2_degree(&self) -> u32 {
        self.size.log2_degree
    }

    /// Draws Figure 1 of `[KPZ21]`.
    pub(super) fn figure(&self, machine: &Machine) -> Figure {
        let panels = PLAIN_MODULI.map(|t| {
            let mut panel = Panel::new(&format!("t = {t}"), false);
            for (colour, &variant) in VARIANTS.iter().enumerate() {
                let points = (1..).map(f64::from).zip(self.of(t, variant).iter().copied());
                panel.line(variant.name, colour, false, points);
            }
            panel
        });
        let Size { log2_degree, rounds } = self.size;
        let title = format!("the d-th multiplication in a row with relinearisation, n = 2^{log2_degree}");
        let source = format!("medians of {rounds}, three digits; {machine}");
        let figure = Figure::new("Figure 1", title, source, ["depth d", "milliseconds"], panels.into());
        Figure { logarithmic: false, reason: Some(NOT_PRINTED), ..figure }
    }
}

/// Numbers of moduli of leveled BFV and of BGV, and bits of a modulus of BGV, for Figure 1 at t = 2.
pub(super) fn shape(log2_degree: u32) -> [u32; 3] {
    let ([t, ..], [depth, ..]) = (PLAIN_MODULI, DEPTHS);
    let [bfv, bgv] = [LEVELED, BGV].map(|variant| cell(variant, t, depth, log2_degree));
    [bfv.log2_modulus / bfv.log2_limb.max(1), depth + 1, bgv.log2_limb]
}

/// The parameter sizes that the estimates of `[KPZ21]` give; two bits more, as Sunzi's noise bounds are
/// proven ones.
fn cell(variant: Variant, t: u64, depth: u32, log2_degree: u32) -> Cell {
    let Variant { column, widest, .. } = variant;
    let delta = 2.0 * f64::from(1_u32 << log2_degree).sqrt();
    let plain = t as f64;
    let [log2_limb, log2_modulus] = match column {
        Column::Bgv => {
            // (14) with (n'_ks + 1)·‖v_ks‖/‖v_c‖ for P as long as a digit, and (13).
            let noise = 1.0 + delta;
            let limb = (delta * plain * (2.0 * noise + 2.0) + 2.0 * 19.2 * f64::from(depth + 2)).log2();
            let limb = limb.ceil() as u32 + 2;
            [limb, depth * limb + (2.0 * plain * noise).log2().ceil() as u32 + 2]
        }
        _ => {
            // 4t·C_1^L·(V + L·C_2/C_1) [KPZ21, 3.1].
            let growth = delta * plain * (5.0 + delta);
            let bits = (4.0 * plain).log2() + f64::from(depth) * growth.log2() + (19.2 * delta).log2() + 2.0;
            let count = (bits / f64::from(widest)).ceil();
            let limb = (bits / count).ceil() as u32;
            [limb, limb * count as u32]
        }
    };
    Cell::new(column, t, Digits::Three, depth, [log2_degree, log2_limb, log2_modulus])
}

/// Milliseconds of counted transforms and products, at the prices of a transform and a base conversion of 48 bits in turns.
fn prices(n: usize) -> Result<impl Fn(Counts) -> f64> {
    let mut prices = Prices::new(n)?;
    let (mut transform, mut convert) = prices.contenders();
    let series = alternate(PRICE_ROUNDS, &mut [&mut transform, &mut convert])?;
    let [transform, convert] = <[Series; 2]>::try_from(series).map_err(|_| LabError::no_rounds())?;
    Ok(move |counts| price(counts, n, &transform, &convert).median() / 1e3)
}

/// Squarings in a row, each a multiplication of two ciphertexts.
fn chain(variant: Variant, t: u64, depth: u32, log2_degree: u32) -> Result<Chain> {
    let mut rng = randomness::from_os()?;
    let cell = cell(variant, t, depth, log2_degree);
    if variant.trunked {
        return square(&BgvSubject::of(&trunked(t, depth, log2_degree)?, &mut rng)?, &cell, &mut rng);
    }
    let parameters = Parameters::printed(&cell, depth)?;
    match variant.column {
        Column::Bgv => square(&BgvSubject::new(t, &parameters, &mut rng)?, &cell, &mut rng),
        _ => square(&BfvSubject::new(variant.column, t, &parameters, &mut rng)?, &cell, &mut rng),
    }
}

/// BGV parameters of Sunzi's own for as many multiplications: moduli share words, and the security is the ring's.
fn trunked(t: u64, depth: u32, log2_degree: u32) -> Result<sunzi_bgv::Parameters> {
    let builder = sunzi_bgv::Parameters::builder().depth(depth as usize).plain_modulus(t).batching(false);
    let builder = builder.log2_degree(log2_degree).security(Security::InsecureForResearchOnly);
    Ok(builder.build()?)
}

fn square<S: Subject>(subject: &S, cell: &Cell, rng: &mut dyn CryptoRng) -> Result<Chain> {
    let clear = Clear::new(1 << cell.log2_degree, cell.plain_modulus)?;
    let mut message = clear.random(rng)?;
    let mut value = subject.encrypt(&message, rng)?;
    let (mut times, mut last) = (Vec::new(), Counts::default());
    for step in 1..=cell.k {
        let square = || subject.arithmetic().multiply(&value, &value, subject.keys());
        let begin = Instant::now();
        let product = square()?;
        times.push(begin.elapsed().as_secs_f64() * 1e3);
        if step == cell.k {
            last = tally::count(&|| Ok(square().map(drop)?))?;
        }
        value = subject.trusted(product);
        message = clear.product(&message, &message)?;
    }
    let right = subject.opened(&value, &message)?.is_some();
    LabError::unless(right, "chain of products", cell.column.name(), 1 << cell.log2_degree)?;
    Ok(Chain { times, last })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_variant_reaches_the_depth() {
        for (t, depth) in PLAIN_MODULI.into_iter().zip(DEPTHS) {
            for variant in VARIANTS {
                assert_eq!(
                    chain(variant, t, depth, 12).unwrap().times.len(),
                    depth as usize,
                    "{variant:?} {t}"
                );
            }
        }
    }
}
