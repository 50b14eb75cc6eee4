//! Digits and special moduli of key switching to choose from.

use sunzi_ring::GadgetOptions;

use crate::request::{KeySwitching, Request};

/// A choice of digits for key switching: the numbers of special moduli and of digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DigitChoice {
    /// Number of special moduli; none for BV key switching.
    pub(super) special: usize,
    /// Number of digits d_num; for BV key switching what the options say.
    digits: Option<usize>,
}

impl DigitChoice {
    const BV: Self = Self { special: 0, digits: None };

    /// Makes the choice of hybrid key switching: d digits of k moduli, and as many special moduli as the largest digit
    /// has moduli.
    fn hybrid(limbs: usize, digits: usize) -> Self {
        Self { special: limbs.div_ceil(digits.max(1)), digits: Some(digits) }
    }

    /// Every choice of digits that `request` allows with `limbs` ciphertext moduli. Of choices with equally many
    /// special moduli the one of fewer digits is better: only that one is listed.
    pub(super) fn all(request: &Request, limbs: usize) -> Vec<Self> {
        let asked = &request.algorithms.key_switching;
        if *asked != GadgetOptions::default() {
            return vec![Self { special: asked.special_moduli.len(), digits: asked.digits }];
        }
        match request.key_switching {
            KeySwitching::Bv => vec![Self::BV],
            KeySwitching::Ghs => vec![Self::hybrid(limbs, 1)],
            KeySwitching::Hybrid(digits) if digits <= limbs => vec![Self::hybrid(limbs, digits)],
            KeySwitching::Hybrid(_) => Vec::new(),
            KeySwitching::Automatic => {
                let mut choices = vec![Self::BV];
                for digits in 1..=limbs {
                    let choice = Self::hybrid(limbs, digits);
                    if choices.last().is_none_or(|last| last.special != choice.special) {
                        choices.push(choice);
                    }
                }
                choices
            }
        }
    }

    /// Makes the options of key switching from a choice of digits and a list of special moduli.
    pub(super) fn options(self, request: &Request, special_moduli: &[u64]) -> GadgetOptions {
        let asked = &request.algorithms.key_switching;
        if *asked != GadgetOptions::default() {
            return asked.clone();
        }
        GadgetOptions { digits: self.digits, special_moduli: special_moduli.to_vec(), ..asked.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choices(key_switching: KeySwitching, limbs: usize) -> Vec<(usize, Option<usize>)> {
        let request = Request { key_switching, ..Request::default() };
        DigitChoice::all(&request, limbs).into_iter().map(|choice| (choice.special, choice.digits)).collect()
    }

    #[test]
    fn every_useful_number_of_digits_is_tried_once() {
        assert_eq!(choices(KeySwitching::Automatic, 1), [(0, None), (1, Some(1))]);
        let six = [(0, None), (6, Some(1)), (3, Some(2)), (2, Some(3)), (1, Some(6))];
        let mut tried = choices(KeySwitching::Automatic, 6);
        // Four digits of two limbs take as much as three.
        assert!(!tried.contains(&(2, Some(4))));
        tried.sort_by_key(|&(_, digits)| digits);
        assert_eq!(tried, six);
    }

    #[test]
    fn what_is_forced_is_the_only_way() {
        assert_eq!(choices(KeySwitching::Bv, 5), [(0, None)]);
        assert_eq!(choices(KeySwitching::Ghs, 5), [(5, Some(1))]);
        assert_eq!(choices(KeySwitching::Hybrid(3), 5), [(2, Some(3))]);
        assert_eq!(choices(KeySwitching::Hybrid(6), 5), []);
        let given = GadgetOptions { radix_bits: Some(16), ..GadgetOptions::default() };
        let mut request = Request { key_switching: KeySwitching::Ghs, ..Request::default() };
        request.algorithms.key_switching = given.clone();
        let [choice] = DigitChoice::all(&request, 4)[..] else { panic!("one choice") };
        assert_eq!(choice.options(&request, &[]), given);
    }
}
