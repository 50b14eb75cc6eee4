//! Powers of encrypted numbers, from a few that the client sends.

use rayon::prelude::*;
use sunzi_bgv::{Ciphertext, Evaluator};
use sunzi_rlwe::RelinearizationKey;

use super::IntersectionError;

/// Exponents of the powers that a query has, and the largest exponent up to which all are sums of at most four of them: for each number of powers
/// the exponents that reach farthest (the postage stamp problem, found by trying all).
pub(super) const SOURCES: [(&[usize], usize); 7] = [
    (&[1], 4),
    (&[1, 4], 10),
    (&[1, 5, 8], 26),
    (&[1, 3, 11, 18], 44),
    (&[1, 3, 11, 15, 32], 70),
    (&[1, 5, 8, 27, 29, 44], 108),
    (&[1, 5, 8, 25, 31, 52, 71], 162),
];

/// The exponents of so many powers.
pub(super) fn sources(count: usize) -> &'static [usize] {
    SOURCES.get(count.wrapping_sub(1)).map_or(&[], |(sources, _)| sources)
}

/// The largest exponent that so many powers reach.
pub(super) fn reach(count: usize) -> usize {
    SOURCES.get(count.wrapping_sub(1)).map_or(0, |&(_, reach)| reach)
}

/// The number of powers that reach an exponent; all of them where none do.
pub(super) fn sources_for(exponent: usize) -> usize {
    SOURCES.iter().position(|&(_, reach)| reach >= exponent).map_or(SOURCES.len(), |at| at + 1)
}

/// How a power is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// The power is the one of this number in the query.
    Sent(usize),
    /// The power is the product of two powers with these exponents.
    Product(usize, usize),
}

/// Returns how every power from 1 on is made: of two that were sent, or of two such products, whichever has least depth.
fn plan(count: usize) -> Vec<Step> {
    let (sent, reach) = (sources(count), reach(count));
    let mut depths = vec![usize::MAX; reach + 1];
    let mut steps = vec![Step::Sent(0); reach + 1];
    for (at, &exponent) in sent.iter().enumerate() {
        if let (Some(step), Some(depth)) = (steps.get_mut(exponent), depths.get_mut(exponent)) {
            (*step, *depth) = (Step::Sent(at), 0);
        }
    }
    for depth in 1..=2 {
        let ready: Vec<usize> =
            (1..=reach).filter(|&at| depths.get(at).is_some_and(|&own| own < depth)).collect();
        for (at, &a) in ready.iter().enumerate() {
            for &b in ready.iter().take(at + 1) {
                if let Some(own) = depths.get_mut(a + b).filter(|own| **own > depth)
                    && let Some(step) = steps.get_mut(a + b)
                {
                    (*step, *own) = (Step::Product(a, b), depth);
                }
            }
        }
    }
    steps.split_off(1)
}

/// Computes all powers from 1 on that a query reaches, at the level of the last products.
pub(super) fn powers(
    evaluator: &Evaluator,
    query: &[Ciphertext],
    key: &RelinearizationKey,
) -> Result<Vec<Ciphertext>, IntersectionError> {
    let steps = plan(query.len());
    let mut made: Vec<Option<Ciphertext>> = steps
        .iter()
        .map(|step| match step {
            Step::Sent(at) => query.get(*at).cloned(),
            Step::Product(..) => None,
        })
        .collect();
    // Each round makes the powers whose factors the round before left.
    while made.iter().any(Option::is_none) {
        let factor = |exponent: usize| made.get(exponent - 1).and_then(Option::as_ref);
        let ready: Vec<_> = (steps.iter().enumerate().zip(&made))
            .filter(|(_, made)| made.is_none())
            .filter_map(|((at, step), _)| match *step {
                Step::Product(a, b) => Some((at, factor(a)?, factor(b)?)),
                Step::Sent(_) => None,
            })
            .collect();
        let products: Vec<(usize, Ciphertext)> = ready
            .into_par_iter()
            .map(|(at, a, b)| Ok((at, evaluator.multiply(a, b, key)?)))
            .collect::<Result<_, IntersectionError>>()?;
        if products.is_empty() {
            return Err(IntersectionError::setting("the powers of a query", steps.len(), query.len()));
        }
        for (at, product) in products {
            if let Some(made) = made.get_mut(at) {
                *made = Some(product);
            }
        }
    }
    let made: Vec<Ciphertext> = made.into_iter().flatten().collect();
    Ok(evaluator.summands(&made)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every power is made at depth 2 at most, of powers that are there.
    #[test]
    fn all_powers_are_reached() {
        for count in 1..=SOURCES.len() {
            let steps = plan(count);
            assert_eq!(steps.len(), reach(count));
            let mut depths = vec![0; steps.len() + 1];
            for round in 0..3 {
                for (at, step) in steps.iter().enumerate() {
                    match *step {
                        Step::Sent(source) => assert_eq!(sources(count)[source], at + 1),
                        Step::Product(a, b) => {
                            assert_eq!(a + b, at + 1);
                            depths[at + 1] = 1 + depths[a].max(depths[b]);
                            assert!(round < 2 || depths[at + 1] <= 2, "{} of {count}", at + 1);
                        }
                    }
                }
            }
        }
        assert_eq!([4, 5, 162, 1000].map(sources_for), [1, 2, 7, 7]);
    }
}
