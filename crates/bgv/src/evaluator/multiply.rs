//! The BGV product: switch both operands, tensor times t, relinearise.

use sunzi_ring::on_pool;
use sunzi_rlwe::{Exact as _, RelinearizationKey, Trace, relinearization};

use super::Evaluator;
use crate::{Bgv, BgvError, Ciphertext, Usage};

/// Number of products that are summed in one pass: what has to be switched for them is held at once.
const PER_PASS: usize = 64;

impl Evaluator {
    /// The product a·b of two ciphertexts, relinearised. Operands are switched to the common level first.
    ///
    /// # Errors
    /// [`BgvError::DepthExceeded`]; [`BgvError::BudgetExceeded`]; [`sunzi_rlwe::RlweError::KeyMismatch`];
    /// [`sunzi_rlwe::RlweError::WrongPartCount`] for operands that are not relinearised;
    /// [`BgvError::PlainModulusMismatch`], [`BgvError::LevelMismatch`] or [`BgvError::Ring`] for ciphertexts of other
    /// parameters.
    pub fn multiply(
        &self,
        a: &Ciphertext,
        b: &Ciphertext,
        key: &RelinearizationKey,
    ) -> Result<Ciphertext, BgvError> {
        a.check_key(key.id(), "the relinearisation key")?;
        on_pool(self.context().rlwe().switch_words(), || {
            self.relinearized(&self.product(a, b, "multiply")?, key, "multiply")
        })
    }

    /// a·b, relinearised and switched for the multiplication that follows, with one rounding: what
    /// [`multiply`](Self::multiply) and then [`operand`](Self::operand) make, in fewer transforms. For a product that is
    /// multiplied next; sums and rotations are better made before the switch, where noise matters less.
    ///
    /// # Errors
    /// Every error of [`multiply`](Self::multiply).
    pub fn multiply_switched(
        &self,
        a: &Ciphertext,
        b: &Ciphertext,
        key: &RelinearizationKey,
    ) -> Result<Ciphertext, BgvError> {
        a.check_key(key.id(), "the relinearisation key")?;
        on_pool(self.context().rlwe().switch_words(), || self.switched_product(a, b, key))
    }

    fn switched_product(
        &self,
        a: &Ciphertext,
        b: &Ciphertext,
        key: &RelinearizationKey,
    ) -> Result<Ciphertext, BgvError> {
        const OPERATION: &str = "multiply";
        let context = self.context();
        let product = self.product(a, b, OPERATION)?;
        let level = product.metadata().level;
        let (high, low) = (context.place(level + 1)?, context.place(level)?);
        if high.share > 0 || low.share > 0 {
            // A factor of a word cannot be dropped with the special moduli.
            return self.operand(&self.relinearized(&product, key, OPERATION)?);
        }
        let mut switched = relinearization::relinearize_to(context.rlwe(), &product, key, low.limbs)?;
        switched.set_metadata(context.metadata(level, level, Usage::ONE)?);
        context.finish(switched, OPERATION, &[product.trace()])
    }

    /// The square a² of a ciphertext, relinearised.
    ///
    /// # Errors
    /// Every error of [`multiply`](Self::multiply).
    pub fn square(&self, a: &Ciphertext, key: &RelinearizationKey) -> Result<Ciphertext, BgvError> {
        self.multiply(a, a, key)
    }

    /// The product a·b of two ciphertexts in three parts, to be relinearised later: sums of such products are
    /// relinearised once.
    ///
    /// # Errors
    /// Every error of [`multiply`](Self::multiply).
    pub fn multiply_unrelinearized(&self, a: &Ciphertext, b: &Ciphertext) -> Result<Ciphertext, BgvError> {
        self.product(a, b, "multiply")
    }

    /// The sum of products Σ a_i·b_i of ciphertexts, relinearised once.
    ///
    /// # Errors
    /// Every error of [`multiply`](Self::multiply); [`BgvError::Empty`] for none.
    pub fn sum_of_products<'a>(
        &self,
        terms: impl IntoIterator<Item = (&'a Ciphertext, &'a Ciphertext)>,
        key: &RelinearizationKey,
    ) -> Result<Ciphertext, BgvError> {
        let terms: Vec<_> = terms.into_iter().collect();
        let level = |(a, b): &(&Ciphertext, &Ciphertext)| a.metadata().level.min(b.metadata().level);
        let mut sum: Option<Ciphertext> = None;
        for terms in terms.chunk_by(|x, y| level(x) == level(y)).flat_map(|terms| terms.chunks(PER_PASS)) {
            let products = self.products(terms, "multiply")?;
            sum = Some(match sum {
                Some(mut sum) => {
                    self.add_assign(&mut sum, &products)?;
                    sum
                }
                None => products,
            });
        }
        self.relinearize(&sum.ok_or(BgvError::Empty { what: "a sum of products" })?, key)
    }

    /// A ciphertext switched for multiplication at its level, which [`multiply`](Self::multiply) does as well: once
    /// for an operand that enters several products of that level.
    ///
    /// # Errors
    /// Every error of [`mod_switch_to`](Self::mod_switch_to).
    pub fn operand(&self, a: &Ciphertext) -> Result<Ciphertext, BgvError> {
        self.mod_switch_to(a, a.metadata().level)
    }

    fn relinearized(
        &self,
        a: &Ciphertext,
        key: &RelinearizationKey,
        operation: &'static str,
    ) -> Result<Ciphertext, BgvError> {
        let two = relinearization::relinearize(self.context().rlwe(), a, key)?;
        self.context().finish(two, operation, &[a.trace()])
    }

    /// The product t·(a_0 + a_1·Y)(b_0 + b_1·Y) of two ciphertexts at the common level.
    fn product(
        &self,
        a: &Ciphertext,
        b: &Ciphertext,
        operation: &'static str,
    ) -> Result<Ciphertext, BgvError> {
        self.products(&[(a, b)], operation)
    }

    /// The sum t·Σ (a_0 + a_1·Y)(b_0 + b_1·Y) for one pair or more, all of which have the level of the first in
    /// common.
    fn products(
        &self,
        pairs: &[(&Ciphertext, &Ciphertext)],
        operation: &'static str,
    ) -> Result<Ciphertext, BgvError> {
        const PRODUCT: &str = "multiplication";
        let (context, t) = (self.context(), self.context().plain_modulus());
        let Some((first, _)) = pairs.first() else {
            return Err(BgvError::Empty { what: "a sum of products" });
        };
        for (a, b) in pairs {
            context.check(a)?;
            context.check(b)?;
            first.check_key(a.key(), "the next product")?;
            a.check_key(b.key(), "the second factor")?;
            a.two_parts(PRODUCT)?;
            b.two_parts(PRODUCT)?;
        }
        let level =
            pairs.iter().flat_map(|(a, b)| [a.metadata().level, b.metadata().level]).min().unwrap_or(0);
        let Some(below) = level.checked_sub(1) else {
            let depth = context.depth();
            return Err(BgvError::DepthExceeded { operation, needed: depth + 1, depth });
        };
        // Both factors of a square are one ciphertext, which is switched once.
        let mut switched = Vec::with_capacity(pairs.len());
        for &(a, b) in pairs {
            let other = if std::ptr::eq(a, b) { None } else { Some(self.context().switched(b, level)?) };
            switched.push((self.context().switched(a, level)?, other));
        }
        let operands: Vec<[&Ciphertext; 2]> =
            switched.iter().map(|(a, b)| [&**a, b.as_deref().unwrap_or(a)]).collect();
        let parts = operands.iter().map(|[a, b]| Ok([a.two_parts(PRODUCT)?, b.two_parts(PRODUCT)?]));
        let parts: Vec<_> = parts.collect::<Result<_, BgvError>>()?;
        let parts = context.ring().sum_of_tensors(&parts, t, context.place(level)?.limbs)?;
        let expansion = context.ring().expansion();
        let metadata = context.metadata(below, level, Usage::ONE)?;
        let carried: Vec<_> = operands
            .iter()
            .map(|[a, b]| (metadata.clone(), a.noise().product(b.noise(), t as f64, expansion)))
            .collect();
        let traces: Vec<&Trace> = pairs.iter().flat_map(|(a, b)| [a.trace(), b.trace()]).collect();
        let sum = Ciphertext::from_parts(parts.into(), metadata, *first.noise(), first.key())?;
        Bgv::finish_sum(context, sum, operation, &traces, &carried)
    }
}
