//! Order among several batches: the greatest and its place, sorting by a network of comparisons, the k-th of them.

use super::evaluator::check_alike;
use super::{IntegerError, IntegerEvaluator, IntegerKind, Integers};

impl IntegerEvaluator<'_> {
    /// Returns the greatest of several batches, integer by integer, and the place of the first batch that has it.
    ///
    /// # Errors
    /// [`IntegerError::Operand`] for no batch, and for more than 2^16; every error of [`max`](Self::max).
    pub fn argmax_of(&self, batches: &[Integers]) -> Result<[Integers; 2], IntegerError> {
        let (first, others) = self.checked(batches)?;
        let kind = if batches.len() <= 1 << 8 { IntegerKind::U8 } else { IntegerKind::U16 };
        let mut best = self.settled(first)?;
        let mut place = self.constant_integers(first, kind, 0)?;
        for (i, next) in others.iter().enumerate() {
            let next = self.settled(next)?;
            let greater = self.less(&best, &next)?;
            let own = self.constant_integers(first, kind, i as i128 + 1)?;
            place = self.select(&greater, &own, &place)?;
            best = self.select(&greater, &next, &best)?;
        }
        Ok([best, place])
    }

    /// Returns several batches in ascending order, integer by integer: the first batch of the result has the least of all.
    ///
    /// Batcher's network of pairs takes O(k·log²k) comparisons for k batches.
    ///
    /// # Errors
    /// Every error of [`argmax_of`](Self::argmax_of).
    pub fn sorted_of(&self, batches: &[Integers]) -> Result<Vec<Integers>, IntegerError> {
        self.checked(batches)?;
        self.through(batches, &network(batches.len()))
    }

    /// Returns the batch that k others are before in ascending order, integer by integer, by the comparisons that it depends on alone.
    ///
    /// # Errors
    /// [`IntegerError::Operand`] for a k of the number of batches or more; every error of [`argmax_of`](Self::argmax_of).
    pub fn kth_of(&self, batches: &[Integers], k: usize) -> Result<Integers, IntegerError> {
        self.checked(batches)?;
        if k >= batches.len() {
            let expected = format!("below {}, the number of batches", batches.len());
            return Err(IntegerError::Operand { what: "the place of a batch", got: k as i128, expected });
        }
        let pairs = needed(network(batches.len()), k);
        Ok(self.through(batches, &pairs)?.swap_remove(k))
    }

    fn checked<'b>(&self, batches: &'b [Integers]) -> Result<(&'b Integers, &'b [Integers]), IntegerError> {
        let outside = |got: usize| {
            let expected = "from 1 to 65536".to_owned();
            IntegerError::Operand { what: "the number of batches", got: got as i128, expected }
        };
        let (first, others) = batches.split_first().ok_or_else(|| outside(0))?;
        others.iter().try_for_each(|other| check_alike("an order", first, other))?;
        if batches.len() > 1 << 16 { Err(outside(batches.len())) } else { Ok((first, others)) }
    }

    /// Puts batches in ascending order, pair by pair.
    fn through(&self, batches: &[Integers], pairs: &[[usize; 2]]) -> Result<Vec<Integers>, IntegerError> {
        let mut batches: Vec<Integers> =
            batches.iter().map(|batch| self.settled(batch)).collect::<Result<_, _>>()?;
        for &[low, high] in pairs {
            let (Some(a), Some(b)) = (batches.get(low), batches.get(high)) else { continue };
            let [a, b] = [self.choice(a)?, self.choice(b)?];
            let least = self.carried(&self.select(&self.less(&a, &b)?, &a, &b)?)?;
            // Every digit is that of the one that was not chosen.
            let mut greatest = self.sub(&self.add(&a, &b)?, &least)?;
            for (digit, (a, b)) in greatest.digits.iter_mut().zip(a.digits.iter().zip(&b.digits)) {
                let range = [a.range[0].min(b.range[0]), a.range[1].max(b.range[1])];
                *digit = self.within(digit.clone(), range)?;
            }
            let bounds = [a.bounds[0].max(b.bounds[0]), a.bounds[1].max(b.bounds[1])];
            let greatest = Integers { bounds, exact: true, ..greatest };
            let bounds = [a.bounds[0].min(b.bounds[0]), a.bounds[1].min(b.bounds[1])];
            let least = Integers { bounds, ..least };
            for (place, value) in [(low, least), (high, greatest)] {
                if let Some(batch) = batches.get_mut(place) {
                    *batch = value;
                }
            }
        }
        Ok(batches)
    }
}

/// Pairs of Batcher's odd–even merge sort of `count` places, in order: the lesser of both goes to the first place.
fn network(count: usize) -> Vec<[usize; 2]> {
    let mut pairs = Vec::new();
    let mut p = 1;
    while p < count {
        let mut k = p;
        while k >= 1 {
            for j in (k % p..count.saturating_sub(k)).step_by(2 * k) {
                for i in 0..k.min(count - j - k) {
                    if (i + j) / (2 * p) == (i + j + k) / (2 * p) {
                        pairs.push([i + j, i + j + k]);
                    }
                }
            }
            k /= 2;
        }
        p *= 2;
    }
    pairs
}

/// Returns the pairs of a network that place k depends on.
fn needed(pairs: Vec<[usize; 2]>, k: usize) -> Vec<[usize; 2]> {
    let mut places = std::collections::BTreeSet::from([k]);
    let mut kept: Vec<[usize; 2]> = Vec::new();
    for pair in pairs.into_iter().rev() {
        if pair.iter().any(|place| places.contains(place)) {
            places.extend(pair);
            kept.push(pair);
        }
    }
    kept.reverse();
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A network sorts everything if it sorts all vectors of zeros and ones.
    #[test]
    fn networks_sort_zeros_and_ones() {
        for count in 1..=11 {
            let whole = network(count);
            for bits in 0..1_u32 << count {
                let run = |pairs: &[[usize; 2]]| {
                    let mut values: Vec<u32> = (0..count).map(|i| bits >> i & 1).collect();
                    for &[low, high] in pairs {
                        if values[low] > values[high] {
                            values.swap(low, high);
                        }
                    }
                    values
                };
                let sorted = run(&whole);
                assert!(sorted.is_sorted(), "{count} {bits:b}");
                let k = bits as usize % count;
                assert_eq!(run(&needed(whole.clone(), k))[k], sorted[k], "{count} {bits:b} {k}");
            }
        }
    }
}
