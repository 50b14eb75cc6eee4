//! Trace into the subring of few slots: the sum over all rotations that leave the slots as they are.
//!
//! Four rotations at a time share digits and one division by P: of two key switches one after the other they take 0.8, for half as many keys again.

use rayon::prelude::*;
use sunzi_ckks::precision::slot_error;
use sunzi_ckks::rotation::{named, rotation_exponent};
use sunzi_ckks::{Ciphertext, CkksError, Context, Metadata};
use sunzi_rlwe::extended::ExtendedCiphertext;
use sunzi_rlwe::{GaloisKeys, galois};

/// Returns the rotations of every stage of a trace to `slots` of `most` slots, beside the identity: three where two stages are one.
pub(super) fn stages(slots: usize, most: usize) -> Vec<Vec<i64>> {
    let (mut step, mut stages) = (slots, Vec::new());
    while step < most {
        let radix = if 2 * step < most { 4 } else { 2 };
        stages.push((1..radix).map(|i| (i * step) as i64).collect());
        step *= radix;
    }
    stages
}

/// Returns the mean of a ciphertext and its rotations by these steps, by another scale.
pub(super) fn mean_of_rotations(
    context: &Context,
    a: &Ciphertext,
    steps: &[i64],
    keys: &GaloisKeys,
) -> Result<Ciphertext, CkksError> {
    context.check(a)?;
    let (rlwe, index, of) = (context.rlwe(), context.ring().index(), a.metadata());
    let limbs = context.limbs(of.level)?;
    let hoisted = galois::hoist(rlwe, a)?;
    let exponents: Vec<u64> = [0].iter().chain(steps).map(|&steps| rotation_exponent(steps, index)).collect();
    let terms: Vec<_> = exponents
        .par_iter()
        .map(|&exponent| hoisted.extended(exponent, keys).map_err(named))
        .collect::<Result<_, _>>()?;
    let added = galois::added_noise_at(rlwe, limbs)?;
    let turned = a.noise().plus(added);
    let noise = steps.iter().fold(*a.noise(), |noise, _| noise.sum(&turned));
    let turned = of.precision.plus_error(slot_error(added.deviation.bits().exp2(), of.slots, of.scale));
    let precision = steps.iter().fold(of.precision, |precision, _| precision.sum(&turned));
    let count = terms.len() as f64;
    let metadata =
        Metadata { scale: of.scale * count, precision: precision.scaled(1.0 / count), ..of.clone() };
    match ExtendedCiphertext::sum(rlwe, &terms)? {
        Some(sum) => {
            let sum = sum.mod_down(rlwe, limbs, metadata, noise)?;
            context.finish(sum, "sum rotations", &[a.trace()])
        }
        None => Ok(a.clone()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the sums of all stages: every multiple of the slots once.
    #[test]
    fn stages_reach_every_multiple_once() {
        for (slots, most) in [(8, 8), (4, 8), (1, 4), (2, 64), (16, 512), (1, 1 << 14), (4, 1 << 15)] {
            let mut sums = vec![0];
            for stage in stages(slots, most) {
                assert!(stage.len() == 3 || stage.len() == 1);
                sums = sums
                    .iter()
                    .flat_map(|sum| [0].iter().chain(&stage).map(move |step| sum + step))
                    .collect();
            }
            sums.sort_unstable();
            let multiples: Vec<i64> = (0..most / slots).map(|i| (i * slots) as i64).collect();
            assert_eq!(sums, multiples, "{slots} of {most}");
        }
    }
}
