//! Errors of CKKS slots against the expected values, and precision in bits.

use num_complex::Complex64;

use crate::{LabError, Result};

/// Precision of slots in bits: −log2 of their errors.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bits {
    /// Precision in bits by the largest error of a slot.
    pub(crate) worst: f64,
    /// Precision in bits by the mean error of the slots.
    pub(crate) mean: f64,
    /// Precision in bits by the standard deviation of the errors of slots.
    pub(crate) deviation: f64,
}

/// The absolute errors of decrypted slots against the message.
pub(crate) fn errors(opened: &[Complex64], message: &[Complex64]) -> Result<Vec<f64>> {
    if opened.len() != message.len() {
        return Err(LabError::request("a bootstrapped message has other slots"));
    }
    Ok(opened.iter().zip(message).map(|(x, y)| (x - y).norm()).collect())
}

/// Precision in bits of a list of errors; NaN where an error is.
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
