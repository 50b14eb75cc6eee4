//! Messages modulo p as numbers in slots.

use num_complex::Complex64;

use super::interpolation::MOST_POINTS;
use crate::bootstrap::BootstrapError;

/// Messages modulo p as numbers from −1 to below 1: m is 2m/p, m taken from −p/2 to below p/2.
///
/// ```
/// use sunzi_circuits::bootstrap::functional::Messages;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let bytes = Messages::new(256)?;
/// assert_eq!(bytes.number(64)?, 0.5);
/// assert_eq!(bytes.number(255)?, -1.0 / 128.0);
/// // Numbers wrap, and a little noise does no harm.
/// assert_eq!(bytes.nearest(1.5 + 0.001), 192);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Messages {
    modulus: usize,
}

impl Messages {
    /// Messages modulo p, for p from 2 to 2^14.
    ///
    /// # Errors
    /// [`BootstrapError::Table`] for another p.
    pub fn new(modulus: usize) -> Result<Self, BootstrapError> {
        if (2..=MOST_POINTS).contains(&modulus) {
            return Ok(Self { modulus });
        }
        let got = modulus.to_string();
        Err(BootstrapError::Table { what: "the modulus of messages", got, expected: "2 to 16384" })
    }

    /// The modulus p of the messages.
    #[must_use]
    pub fn modulus(self) -> usize {
        self.modulus
    }

    /// Returns the number that stands for a message.
    ///
    /// # Errors
    /// [`BootstrapError::Table`] for a message of p or more.
    pub fn number(self, message: usize) -> Result<f64, BootstrapError> {
        if message >= self.modulus {
            let got = message.to_string();
            return Err(BootstrapError::Table { what: "a message", got, expected: "below the modulus" });
        }
        let centred =
            if 2 * message < self.modulus { message as f64 } else { message as f64 - self.modulus as f64 };
        Ok(2.0 * centred / self.modulus as f64)
    }

    /// Returns the message whose number is nearest, modulo 2; 0 for a number that is not finite.
    #[must_use]
    pub fn nearest(self, number: f64) -> usize {
        let steps = (number * self.modulus as f64 / 2.0).round();
        if steps.is_finite() { steps.rem_euclid(self.modulus as f64) as usize } else { 0 }
    }

    /// Returns the slots of messages, two to a slot: the first half in real parts, the second half in imaginary ones.
    ///
    /// # Errors
    /// [`BootstrapError::Table`] for an odd number of messages or for a message of p or more.
    pub fn slots(self, messages: &[usize]) -> Result<Vec<Complex64>, BootstrapError> {
        let half = messages.len() / 2;
        if half * 2 != messages.len() {
            let got = messages.len().to_string();
            return Err(BootstrapError::Table { what: "the number of messages", got, expected: "even" });
        }
        let (real, imaginary) = messages.split_at(half);
        let pair = |(&a, &b): (&usize, &usize)| Ok(Complex64::new(self.number(a)?, self.number(b)?));
        real.iter().zip(imaginary).map(pair).collect()
    }

    /// Returns the messages of slots, as [`slots`](Self::slots) places them.
    #[must_use]
    pub fn of_slots(self, slots: &[Complex64]) -> Vec<usize> {
        let real = slots.iter().map(|slot| self.nearest(slot.re));
        real.chain(slots.iter().map(|slot| self.nearest(slot.im))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_message_comes_back_also_with_noise() {
        for modulus in [2, 3, 7, 16, 255, 256, MOST_POINTS] {
            let messages = Messages::new(modulus).unwrap();
            for message in 0..modulus {
                let number = messages.number(message).unwrap();
                assert!((-1.0..1.0).contains(&number));
                for noise in [0.0, 0.98 / modulus as f64, -0.98 / modulus as f64] {
                    for turn in [0.0, 2.0, -4.0] {
                        assert_eq!(messages.nearest(number + noise + turn), message);
                    }
                }
            }
            assert!(messages.number(modulus).is_err());
        }
        assert!(Messages::new(1).is_err() && Messages::new(MOST_POINTS + 1).is_err());
        let bits = Messages::new(2).unwrap();
        assert!(bits.slots(&[1]).is_err());
        assert_eq!(bits.of_slots(&bits.slots(&[1, 0, 1, 1]).unwrap()), [1, 0, 1, 1]);
        assert_eq!(bits.nearest(f64::NAN), 0);
    }
}
