//! How far slots of CKKS are from what they should be.

use num_complex::Complex64;

use crate::{LabError, Result};

/// −log2 of errors of slots.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bits {
    /// Of the largest error.
    pub(crate) worst: f64,
    /// Of the mean error.
    pub(crate) mean: f64,
    /// Of the standard deviation.
    pub(crate) deviation: f64,
}

/// The errors of slots.
pub(crate) fn errors(opened: &[Complex64], message: &[Complex64]) -> Result<Vec<f64>> {
    if opened.len() != message.len() {
        return Err(LabError::request("a bootstrapped message has other slots"));
    }
    Ok(opened.iter().zip(message).map(|(x, y)| (x - y).norm()).collect())
}

/// Sums errors up; NaN where one is.
pub(crate) fn bits(errors: &[f64]) -> Bits {
    let count = errors.len().max(1) as f64;
    let worst = errors
        .iter()
        .fold(0.0, |worst: f64, error| if error.is_nan() { f64::NAN } else { worst.max(*error) });
    let mean = errors.iter().sum::<f64>() / count;
    let square = errors.iter().map(|error| error * error).sum::<f64>() / count;
    let [worst, mean, deviation] = [worst, mean, square.sqrt()].map(|error| -error.log2());
    Bits { worst, mean, deviation }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_summed_up_and_what_is_no_number_is_seen() {
        let Bits { worst, mean, deviation } = bits(&[0.25, 0.0, 0.0, 0.25]);
        assert_eq!((worst, mean), (2.0, 3.0));
        assert!((deviation - 2.5).abs() < 1e-12, "{deviation}");
        let broken = bits(&[0.25, f64::NAN, 0.125]);
        assert!(broken.mean.is_nan() && broken.deviation.is_nan());
        assert!(errors(&[Complex64::ONE], &[]).is_err());
    }
}
