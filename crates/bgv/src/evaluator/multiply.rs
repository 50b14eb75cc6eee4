//! The BGV product: switch both operands, tensor times t, relinearise.

use sunzi_ring::on_pool;
use sunzi_rlwe::{Exact as _, RelinearizationKey, Trace, relinearization};

use super::Evaluator;
use crate::{Bgv, BgvError, Ciphertext, Usage};

/// Number of products that are summed in one pass: their switched operands are in memory at once.
const PER_PASS: usize = 64;

impl Evaluator {
    /// Multiplies two BGV ciphertexts and relinearises the product a·b. Operands are switched to the common level
    /// first.
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

    /// Multiplies two BGV ciphertexts, relinearises a·b and switches it for the next multiplication, with one
    /// rounding: the result of [`multiply`](Self::multiply) and then [`operand`](Self::operand), in fewer transforms.
    /// For a product that is multiplied next; sums and rotations are better made before the switch, where noise
    /// matters less.
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
        if high.share > 0 || low.share > 0 || context.budget().is_dynamic() {
            // A factor of a word cannot be dropped with the special moduli, and the next product chooses its modulus.
            return self.operand(&self.relinearized(&product, key, OPERATION)?);
        }
        let mut switched = relinearization::relinearize_to(context.rlwe(), &product, key, low.limbs)?;
        switched.set_metadata(context.metadata(level, level, Usage::ONE)?);
        context.finish(switched, OPERATION, &[product.trace()])
    }

    /// Squares a BGV ciphertext and relinearises a².
    ///
    /// # Errors
    /// Every error of [`multiply`](Self::multiply).
    pub fn square(&self, a: &Ciphertext, key: &RelinearizationKey) -> Result<Ciphertext, BgvError> {
        self.multiply(a, a, key)
    }

    /// Multiplies two BGV ciphertexts: a·b in three parts, to be relinearised later. Sums of such products are
    /// relinearised once.
    ///
    /// # Errors
    /// Every error of [`multiply`](Self::multiply).
    pub fn multiply_unrelinearized(&self, a: &Ciphertext, b: &Ciphertext) -> Result<Ciphertext, BgvError> {
        self.product(a, b, "multiply")
    }

    /// Computes the sum of products Σ a_i·b_i of BGV ciphertexts, relinearised once.
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

    /// Switches a BGV ciphertext for multiplication at its level, which [`multiply`](Self::multiply) does as well:
    /// once for an operand that enters several products of that level. With dynamic switching the other factor decides
    /// too, so that the operand stays as it is.
    ///
    /// # Errors
    /// Every error of [`mod_switch_to`](Self::mod_switch_to).
    pub fn operand(&self, a: &Ciphertext) -> Result<Ciphertext, BgvError> {
        if self.context().budget().is_dynamic() {
            self.context().check(a)?;
            return Ok(a.clone());
        }
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

    /// The product t·(a_0 + a_1·Y)(b_0 + b_1·Y) of two BGV ciphertexts at their common level.
    fn product(
        &self,
        a: &Ciphertext,
        b: &Ciphertext,
        operation: &'static str,
    ) -> Result<Ciphertext, BgvError> {
        self.products(&[(a, b)], operation)
    }

    /// The sum t·Σ (a_0 + a_1·Y)(b_0 + b_1·Y) over one pair of BGV ciphertexts or more, at the lowest level of all.
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
        let place = if context.budget().is_dynamic() { context.best_place(pairs)? } else { level };
        // Both factors of a square are one ciphertext, which is switched once.
        let mut switched = Vec::with_capacity(pairs.len());
        for &(a, b) in pairs {
            let other = if std::ptr::eq(a, b) { None } else { Some(context.moved(b, level, place)?) };
            switched.push((context.moved(a, level, place)?, other));
        }
        let operands: Vec<[&Ciphertext; 2]> =
            switched.iter().map(|(a, b)| [&**a, b.as_deref().unwrap_or(a)]).collect();
        let parts = operands.iter().map(|[a, b]| Ok([a.two_parts(PRODUCT)?, b.two_parts(PRODUCT)?]));
        let parts: Vec<_> = parts.collect::<Result<_, BgvError>>()?;
        let parts = context.ring().sum_of_tensors(&parts, t, context.place(place)?.limbs)?;
        let expansion = context.ring().expansion();
        let metadata = context.metadata(below, place, Usage::ONE)?;
        let carried: Vec<_> = operands
            .iter()
            .map(|[a, b]| (metadata.clone(), a.noise().product(b.noise(), t as f64, expansion)))
            .collect();
        let traces: Vec<&Trace> = pairs.iter().flat_map(|(a, b)| [a.trace(), b.trace()]).collect();
        let sum = Ciphertext::from_parts(parts.into(), metadata, *first.noise(), first.key())?;
        Bgv::finish_sum(context, sum, operation, &traces, &carried)
    }
}
