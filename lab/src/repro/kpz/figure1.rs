//! Figure 1 of `[KPZ21]`: the time of a multiplication by its depth and by t, for every variant.

use std::time::Instant;

use rand_core::CryptoRng;
use sunzi_circuits::Arithmetic;
use sunzi_rlwe::randomness;

use super::clear::Clear;
use super::parameters::Parameters;
use super::printed::{Cell, Column, Digits, PLAIN_MODULI};
use super::subject::{BfvSubject, BgvSubject, Subject};
use crate::repro::{Figure, LabError, Machine, NOT_PRINTED, Panel, Progress, Result, upper_median};

/// Variants of BFV multiplication in Figure 1 of `[KPZ21]`.
const COLUMNS: [Column; 4] = [Column::Hps, Column::New, Column::Leveled, Column::Bgv];
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
    PLAIN_MODULI.len() * COLUMNS.len() * size.rounds
}

/// Times every variant and draws Figure 1 of `[KPZ21]`.
pub(super) fn compute(size: Size, machine: &Machine, progress: &mut Progress<'_>) -> Result<Figure> {
    let mut panels = Vec::new();
    for (t, depth) in PLAIN_MODULI.into_iter().zip(DEPTHS) {
        let mut panel = Panel::new(&format!("t = {t}"), false);
        let mut times = vec![vec![Vec::new(); depth as usize]; COLUMNS.len()];
        for _ in 0..size.rounds {
            for (&column, times) in COLUMNS.iter().zip(&mut times) {
                progress.begin(format!("Figure 1: {}, t = {t}", column.name()));
                for (all, one) in times.iter_mut().zip(chain(column, t, depth, size.log2_degree)?) {
                    all.push(one);
                }
            }
        }
        for (colour, (&column, times)) in COLUMNS.iter().zip(times).enumerate() {
            let points = (1..).map(f64::from).zip(times.into_iter().map(upper_median));
            panel.line(column.name(), colour, false, points);
        }
        panels.push(panel);
    }
    let title = format!("the d-th multiplication in a row with relinearisation, n = 2^{}", size.log2_degree);
    let source = format!("medians of {}, three digits; {machine}", size.rounds);
    let figure = Figure::new("Figure 1", title, source, ["depth d", "milliseconds"], panels);
    Ok(Figure { logarithmic: false, reason: Some(NOT_PRINTED), ..figure })
}

/// The parameter sizes that the estimates of `[KPZ21]` give; two bits more, as Sunzi's noise bounds are
/// proven ones.
fn cell(column: Column, t: u64, depth: u32, log2_degree: u32) -> Cell {
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
            let count = (bits / 60.0).ceil();
            let limb = (bits / count).ceil() as u32;
            [limb, limb * count as u32]
        }
    };
    Cell::new(column, t, Digits::Three, depth, [log2_degree, log2_limb, log2_modulus])
}

/// Times in milliseconds of each of `depth` squarings in a row, each a multiplication of two ciphertexts.
fn chain(column: Column, t: u64, depth: u32, log2_degree: u32) -> Result<Vec<f64>> {
    let mut rng = randomness::from_os()?;
    let cell = cell(column, t, depth, log2_degree);
    let parameters = Parameters::printed(&cell, depth)?;
    match column {
        Column::Bgv => square(&BgvSubject::new(t, &parameters, &mut rng)?, &cell, &mut rng),
        _ => square(&BfvSubject::new(column, t, &parameters, &mut rng)?, &cell, &mut rng),
    }
}

fn square<S: Subject>(subject: &S, cell: &Cell, rng: &mut dyn CryptoRng) -> Result<Vec<f64>> {
    let clear = Clear::new(1 << cell.log2_degree, cell.plain_modulus)?;
    let mut message = clear.random(rng)?;
    let mut value = subject.encrypt(&message, rng)?;
    let mut times = Vec::new();
    for _ in 0..cell.k {
        let begin = Instant::now();
        value = subject.arithmetic().multiply(&value, &value, subject.keys())?;
        times.push(begin.elapsed().as_secs_f64() * 1e3);
        value = subject.trusted(value);
        message = clear.product(&message, &message)?;
    }
    let right = subject.opened(&value, &message)?.is_some();
    LabError::unless(right, "chain of products", cell.column.name(), 1 << cell.log2_degree)?;
    Ok(times)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_variant_reaches_the_depth() {
        for (t, depth) in PLAIN_MODULI.into_iter().zip(DEPTHS) {
            for column in COLUMNS {
                assert_eq!(chain(column, t, depth, 12).unwrap().len(), depth as usize, "{column:?} {t}");
            }
        }
    }
}
