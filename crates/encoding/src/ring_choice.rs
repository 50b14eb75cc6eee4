//! The ring whose slots of GF(p^d) serve best: the cheapest of those that parameters can be made for.

use std::ops::RangeInclusive;

use sunzi_math::MAX_SLOT_DEGREE;

use crate::{EncodingError, IndexChoice, indices_by_cost};

/// Ring degrees n that are searched, as log2 n rounded down.
const LOG2_DEGREES: RangeInclusive<u32> = 10..=15;
/// Number of indices of one degree that are tried before the degree is given up.
const TRIED: usize = 4;

/// Rings for slots of GF(p^d) that parameters were made for.
#[derive(Clone, Debug)]
pub struct RingChoice<P> {
    /// The cheapest ring, and its parameters.
    pub chosen: (IndexChoice, P),
    /// Rings that were tried and are secure, with their parameters, by increasing degree; the chosen one is among them.
    pub candidates: Vec<(IndexChoice, P)>,
}

impl<P: Clone> RingChoice<P> {
    /// Chooses a ring with at least so many slots for the prime p. Of each size of degree the few indices with the cheapest transforms are tried: `build`
    /// makes parameters for an index, or refuses it as too small for depth and security, and `moduli` counts the moduli of parameters. The ring with the
    /// cheapest transform of all moduli is taken.
    ///
    /// # Errors
    /// [`EncodingError::TooManySlots`] where no ring has as many; the last error of `build` where it refused all.
    pub fn new<E: From<EncodingError>>(
        prime: u64,
        slots: usize,
        mut build: impl FnMut(u64) -> Result<P, E>,
        moduli: impl Fn(&P) -> usize,
    ) -> Result<Self, E> {
        let (mut candidates, mut refusal) = (Vec::new(), None);
        for log2 in LOG2_DEGREES {
            for choice in indices(prime, slots, log2).into_iter().take(TRIED) {
                match build(choice.index.value()) {
                    Ok(parameters) => candidates.push((choice, parameters)),
                    Err(error) => refusal = Some(error),
                }
            }
        }
        let cost = |(choice, parameters): &(IndexChoice, P)| choice.cost() * moduli(parameters) as f64;
        match candidates.iter().min_by(|a, b| cost(a).total_cmp(&cost(b))).cloned() {
            Some(chosen) => Ok(Self { chosen, candidates }),
            None => Err(refusal.unwrap_or_else(|| too_many_slots(prime, slots).into())),
        }
    }
}

fn indices(prime: u64, slots: usize, log2: u32) -> Vec<IndexChoice> {
    indices_by_cost(prime, slots, 1 << log2..=(2 << log2) - 1, MAX_SLOT_DEGREE)
}

/// Makes the error for too many slots, with the index that has the most.
fn too_many_slots(prime: u64, slots: usize) -> EncodingError {
    let most = LOG2_DEGREES.flat_map(|log2| indices(prime, 1, log2)).max_by_key(|choice| choice.slots);
    let most = most.map(|choice| (choice.slots, choice.index.value()));
    EncodingError::TooManySlots {
        got: slots,
        prime,
        degrees: [*LOG2_DEGREES.start(), *LOG2_DEGREES.end() + 1],
        most,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two moduli from degree 2^11 on, and nothing below.
    fn build(m: u64) -> Result<(u64, usize), EncodingError> {
        let large = IndexChoice::new(m, 2).is_some_and(|choice| choice.index.degree() >= 2048);
        if large { Ok((m, 2)) } else { Err(EncodingError::PlainModulusOutOfRange { got: m }) }
    }

    #[test]
    fn the_cheapest_ring_that_serves_is_taken() {
        let found = RingChoice::new(2, 100, build, |made| made.1).unwrap();
        let (chosen, made) = &found.chosen;
        assert_eq!(made.0, chosen.index.value());
        assert!(chosen.slots >= 100 && chosen.index.degree() >= 2048);
        assert!(found.candidates.iter().all(|(other, _)| other.cost() >= chosen.cost()));
        assert!(found.candidates.iter().any(|(other, _)| other == chosen));
        // More moduli make a ring dearer than another one.
        let dear = chosen.index.value();
        let other = RingChoice::new(2, 100, build, |made| if made.0 == dear { 1000 } else { 2 }).unwrap();
        assert_ne!(other.chosen.0.index.value(), dear);
    }

    #[test]
    fn what_no_ring_does_is_refused() {
        let refused = RingChoice::new(
            2,
            100,
            |m| Err::<(), _>(EncodingError::PlainModulusOutOfRange { got: m }),
            |()| 1,
        );
        assert!(matches!(refused, Err(EncodingError::PlainModulusOutOfRange { .. })));
        let error = RingChoice::new(2, 1_000_000, build, |made| made.1).unwrap_err();
        assert!(
            matches!(error, EncodingError::TooManySlots { most: Some((slots, _)), .. } if slots < 1_000_000)
        );
        assert!(
            error
                .to_string()
                .starts_with("no ring of degree 2^10 to 2^16 has 1000000 slots for p = 2: the most are ")
        );
        let none = RingChoice::new(0, 1, build, |made| made.1).unwrap_err();
        assert!(none.to_string().ends_with("none has any"), "{none}");
    }
}
