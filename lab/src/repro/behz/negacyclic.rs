//! Products of plaintexts modulo X^n + 1 and t by the definition, which results are checked against.

use sunzi_bfv::Plaintext;

use crate::repro::{LabError, Result};

/// The product first·second modulo X^n + 1 and t, for t a power of two of at most 2^16.
///
/// # Errors
/// [`LabError::Failed`] for a t that is no power of two or above 2^16.
pub(super) fn product(first: &Plaintext, second: &Plaintext) -> Result<Plaintext> {
    let t = first.modulus();
    if !t.is_power_of_two() || t > 1 << 16 || second.modulus() != t {
        return Err(LabError::plain_modulus(t));
    }
    // t divides 2^16: words that wrap are right.
    let narrow =
        |plaintext: &Plaintext| plaintext.coefficients().iter().map(|&c| c as u16).collect::<Vec<_>>();
    let (first, second) = (narrow(first), narrow(second));
    let mut sums = vec![0_u16; first.len()];
    for (shift, &factor) in first.iter().enumerate() {
        let (wrapped, straight) = sums.split_at_mut(shift);
        let (low, high) = second.split_at(second.len().saturating_sub(shift));
        for (sum, &c) in straight.iter_mut().zip(low) {
            *sum = sum.wrapping_add(factor.wrapping_mul(c));
        }
        for (sum, &c) in wrapped.iter_mut().zip(high) {
            *sum = sum.wrapping_sub(factor.wrapping_mul(c));
        }
    }
    Ok(Plaintext::new(sums.into_iter().map(|sum| u64::from(sum) & (t - 1)).collect(), t)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plaintext(coefficients: &[u64], t: u64) -> Plaintext {
        Plaintext::new(coefficients.to_vec(), t).unwrap()
    }

    #[test]
    fn wraps_with_a_sign() {
        // (1 + 2X)(3 + X^3) = 3 + 6X + X^3 + 2X^4 = 1 + 6X + X^3 modulo X^4 + 1.
        let product = product(&plaintext(&[1, 2, 0, 0], 1024), &plaintext(&[3, 0, 0, 1], 1024)).unwrap();
        assert_eq!(product.coefficients(), [1, 6, 0, 1]);
        let minus = super::product(&plaintext(&[0, 1], 8), &plaintext(&[0, 1], 8)).unwrap();
        assert_eq!(minus.coefficients(), [7, 0]);
    }

    #[test]
    fn other_moduli_are_refused() {
        for t in [3, 1 << 17] {
            let one = plaintext(&[1, 0], t);
            let error = product(&one, &one).unwrap_err().to_string();
            assert!(error.starts_with(&format!("products modulo {t} cannot")), "{error}");
        }
        assert!(product(&plaintext(&[1, 0], 2), &plaintext(&[1, 0], 4)).is_err());
    }
}
