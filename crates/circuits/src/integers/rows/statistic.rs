//! Order statistics: integers by their places among all rows, as many as are asked for by one [search](super::search).

use super::RowEvaluator;
use super::search::MOST_COUNTED;
use crate::integers::integer::Digit;
use crate::integers::{IntegerError, Integers};

impl RowEvaluator<'_> {
    /// Returns the least of all rows, in every row.
    ///
    /// # Errors
    /// Every error of [`kth`](Self::kth).
    pub fn min(&self, a: &Integers) -> Result<Integers, IntegerError> {
        self.kth(a, 0)
    }

    /// Returns the greatest of all rows, in every row.
    ///
    /// # Errors
    /// Every error of [`kth`](Self::kth).
    pub fn max(&self, a: &Integers) -> Result<Integers, IntegerError> {
        self.kth(a, a.count.saturating_sub(1))
    }

    /// Returns the median of all rows, in every row: the lower one of two in the middle.
    ///
    /// # Errors
    /// Every error of [`kth`](Self::kth).
    pub fn median(&self, a: &Integers) -> Result<Integers, IntegerError> {
        self.kth(a, a.count.saturating_sub(1) / 2)
    }

    /// Returns the integer that k others are before in ascending order, in every row: 0 is the least.
    ///
    /// # Errors
    /// Every error of [`kth_many`](Self::kth_many).
    pub fn kth(&self, a: &Integers, k: usize) -> Result<Integers, IntegerError> {
        let found = self.kth_many(a, &[k])?.pop();
        found.ok_or_else(|| IntegerError::results(1, 0))
    }

    /// Returns the integers that so many others are before in ascending order, for each k the integer in every row. Ends, medians and quantiles of one column are found
    /// together in fewer look-ups than one after the other: their digits are compared in the slots of one ciphertext.
    ///
    /// ```
    /// # use sunzi_circuits::bootstrap::functional::FunctionalBootstrapper;
    /// # use sunzi_circuits::bootstrap::{Blueprint, BootstrapKeys, Set};
    /// use sunzi_circuits::integers::{IntegerEvaluator, IntegerKind, RowEvaluator};
    /// # use sunzi_ckks::Context;
    /// # use sunzi_rlwe::{SecretKey, randomness};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let set = Set::insecure_for_integers(9);
    /// # let context = Context::new(&set.parameters()?)?;
    /// # let mut rng = randomness::from_os()?;
    /// # let secret = SecretKey::generate(context.rlwe(), &mut rng)?;
    /// # let blueprint = Blueprint::new(&context, &set, context.max_slots())?;
    /// # let keys = BootstrapKeys::generate(&blueprint, &secret, &mut rng, |_, _| {})?;
    /// # let bootstrapper = FunctionalBootstrapper::new(&blueprint, |_, _| {})?;
    /// let e = IntegerEvaluator::new(&bootstrapper, &keys)?;
    /// let kind = IntegerKind::new(4, false).ok_or("4 bits are a kind")?;
    /// let a = e.encrypt(kind, kind.range(), &[3, 9, 7, 7, 2], |plaintext| {
    ///     context.encrypt_secret(plaintext, &secret, &mut rng)
    /// })?;
    /// let rows = RowEvaluator::new(e);
    /// let [least, middle, greatest] = &rows.kth_many(&a, &[0, 2, 4])?[..] else { return Err("three".into()) };
    /// assert_eq!(e.decrypt(least, &secret)?, [2; 5]);
    /// assert_eq!(e.decrypt(middle, &secret)?, [7; 5]);
    /// assert_eq!(e.decrypt(greatest, &secret)?, [9; 5]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`IntegerError::Operand`] for a k of the number of rows or more, and for more rows than slots; [`IntegerError::Bootstrap`] for missing keys and for keys of
    /// another secret.
    pub fn kth_many(&self, a: &Integers, ks: &[usize]) -> Result<Vec<Integers>, IntegerError> {
        self.kth_many_of(std::slice::from_ref(a), ks)
    }

    /// Returns the integers that so many others are before among the rows of several batches, for each k the integer in every row of the first batch. Batches have one
    /// kind, and may have different numbers of rows and bounds.
    ///
    /// Each batch takes look-ups of its own for rows, two a digit for each k of full batches; counts of all batches are added, and compared once.
    ///
    /// # Errors
    /// [`IntegerError::Operand`] for no batch, for a k of the number of all rows or more, and for batches of more rows than slots; [`IntegerError::Mismatch`] for batches of
    /// different kinds; [`IntegerError::Bootstrap`] for missing keys, for keys of another secret, and for more rows than noise allows.
    pub fn kth_many_of(&self, batches: &[Integers], ks: &[usize]) -> Result<Vec<Integers>, IntegerError> {
        let Some(first) = batches.first() else {
            let expected = "at least 1".to_owned();
            return Err(IntegerError::Operand { what: "the number of batches", got: 0, expected });
        };
        batches.iter().try_for_each(|batch| self.check_kind(first, batch))?;
        check_places(batches.iter().map(|batch| batch.count).sum(), ks)?;
        let batches: Vec<Integers> =
            batches.iter().map(|batch| self.comparable(batch)).collect::<Result<_, _>>()?;
        // Equal places are searched for once.
        let mut ranks = ks.to_vec();
        ranks.sort_unstable();
        ranks.dedup();
        let (found, _) = self.of_ranks(&batches, &ranks, MOST_COUNTED, false)?;
        let bounds = batches
            .iter()
            .fold(first.bounds, |[low, high], batch| [low.min(batch.bounds[0]), high.max(batch.bounds[1])]);
        let of = |k: &usize| {
            let digits = ranks.binary_search(k).ok().and_then(|at| found.get(at));
            let digits = digits.ok_or_else(|| IntegerError::results(ks.len(), found.len()))?.clone();
            Ok(Integers { digits, bounds, exact: true, ..first.clone() })
        };
        ks.iter().map(of).collect()
    }

    fn check_kind(&self, first: &Integers, batch: &Integers) -> Result<(), IntegerError> {
        self.check(batch)?;
        if first.kind == batch.kind {
            return Ok(());
        }
        let (left, right) = (first.kind.to_string(), batch.kind.to_string());
        let advice = "give batches of one kind";
        Err(IntegerError::Mismatch { operation: "an order", left, right, advice })
    }

    /// Returns the k greatest integers, each in every row, the greatest one first; equal integers are as many as there are rows that have them.
    ///
    /// # Errors
    /// [`IntegerError::Operand`] for a k of 0, and of more than the number of rows; every error of [`kth_many`](Self::kth_many).
    pub fn top(&self, a: &Integers, k: usize) -> Result<Vec<Integers>, IntegerError> {
        check_number(a.count, k)?;
        let places: Vec<usize> = (a.count - k..a.count).rev().collect();
        self.kth_many(a, &places)
    }

    /// Returns the k least integers, each in every row, the least one first; equal integers are as many as there are rows that have them.
    ///
    /// # Errors
    /// Every error of [`top`](Self::top).
    pub fn bottom(&self, a: &Integers, k: usize) -> Result<Vec<Integers>, IntegerError> {
        check_number(a.count, k)?;
        self.kth_many(a, &(0..k).collect::<Vec<_>>())
    }

    /// Returns the k-th integer, and which rows have it.
    pub(super) fn found(&self, a: &Integers, k: usize) -> Result<(Integers, Digit), IntegerError> {
        let a = self.comparable(a)?;
        let (mut found, mut equal) = self.of_ranks(std::slice::from_ref(&a), &[k], MOST_COUNTED, true)?;
        let (Some(digits), Some(equal)) = (found.pop(), equal.pop()) else {
            return Err(IntegerError::results(1, 0));
        };
        Ok((Integers { digits, exact: true, ..a }, equal))
    }
}

/// Refuses places that no row has.
fn check_places(rows: usize, ks: &[usize]) -> Result<(), IntegerError> {
    match ks.iter().find(|k| **k >= rows) {
        None => Ok(()),
        Some(k) => {
            let expected = format!("below {rows}, the number of rows");
            Err(IntegerError::Operand { what: "the place of an integer", got: *k as i128, expected })
        }
    }
}

/// Refuses numbers of integers that rows do not have.
fn check_number(rows: usize, k: usize) -> Result<(), IntegerError> {
    if (1..=rows).contains(&k) {
        return Ok(());
    }
    let expected = format!("from 1 to {rows}, the number of rows");
    Err(IntegerError::Operand { what: "the number of integers to list", got: k as i128, expected })
}
