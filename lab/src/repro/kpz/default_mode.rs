//! Counts of what Sunzi does for the products and key switchings of Tables 1 and 4 of `[KPZ21]`.
//!
//! Sunzi's ciphertexts are in evaluation form before and after, and a product is counted with its
//! relinearisation: what `[KPZ21]` counts apart shares work.

use sunzi_bfv::{Algorithms, Context, Evaluator};
use sunzi_encoding::Plaintext;
use sunzi_kernels::Tally;
use sunzi_math::{DEFAULT_PRIME_BOUND, primes_below};
use sunzi_ring::{GadgetOptions, Multiplication, Ring, ScalerOptions};
use sunzi_rlwe::randomness;

use super::formulas::{self, corrected};
use super::reference::Counts;
use super::reference::key_switching::Scheme;
use crate::repro::{Keys, Result, Row, Rule, Table, on_threads, research};

/// Ring degree of the runs whose operations are counted.
const DEGREE: usize = 1 << 11;
/// Plaintext modulus t of the runs whose operations are counted.
const PLAIN_MODULUS: u64 = 65537;

/// A counted product with its relinearisation: Q of `limbs` moduli in digits of `width`, P of as many as a
/// digit; none for BV.
#[derive(Clone, Copy, Debug)]
struct Case {
    name: &'static str,
    multiplication: Multiplication,
    limbs: usize,
    /// Number of moduli α of a digit; 0 for BV.
    width: usize,
}

impl Case {
    /// The counts of this product by the formulas of `[KPZ21]`.
    fn printed(&self) -> Counts {
        let k = self.limbs as u64;
        let product = match self.multiplication {
            Multiplication::Behz | Multiplication::Hps => formulas::original(k),
            Multiplication::HpsOverQ => formulas::over_auxiliary(k),
            Multiplication::HpsOverQLeveled => corrected::leveled(k, k),
        };
        let widths: Vec<u64> = (0..self.limbs)
            .step_by(self.width.max(1))
            .map(|begin| self.width.min(self.limbs - begin) as u64)
            .collect();
        let switch = match self.width {
            0 => formulas::bv(Scheme::Bfv, k, 1),
            width => corrected::hybrid(Scheme::Bfv, k, width as u64, &widths),
        };
        Counts {
            transforms: product.transforms + switch.transforms,
            products: product.products + switch.products,
            floats: product.floats,
        }
    }

    /// Number of products by the quotient v that Sunzi counts and `[KPZ21]` does not: one for each result of
    /// an exact conversion.
    fn quotients(&self) -> u64 {
        let (k, width) = (self.limbs as u64, self.width as u64);
        let product = match self.multiplication {
            // Four lifts to P, three conversions back.
            Multiplication::Behz | Multiplication::Hps => 4 * (k + 1) + 3 * k,
            // Two switches to P, four lifts.
            Multiplication::HpsOverQ | Multiplication::HpsOverQLeveled => 6 * k,
        };
        let digits = (0..self.limbs).step_by(self.width.max(1)).map(|begin| width.min(k - begin as u64));
        let lifts: u64 = digits.filter(|&digit| digit > 1).map(|digit| k - digit + width).sum();
        // Both halves are converted from P.
        product + lifts + if width > 1 { 2 * k } else { 0 }
    }

    /// The counts of this product while Sunzi computes it.
    fn count(&self) -> Result<Counts> {
        let mut rng = randomness::from_os()?;
        let primes = primes_below(DEFAULT_PRIME_BOUND, 2 * DEGREE as u64, self.limbs + self.width)?;
        let (moduli, special) = primes.split_at_checked(self.limbs).unwrap_or((&primes, &[]));
        let scaling = ScalerOptions { multiplication: self.multiplication, ..ScalerOptions::default() };
        let algorithms = Algorithms { scaling, ..Algorithms::default() };
        let context = context(DEGREE, [moduli, special], self.width, algorithms)?;
        let Keys { public, relinearization: key, .. } = Keys::generate(context.rlwe(), &mut rng)?;
        let message = Plaintext::constant(3, DEGREE, PLAIN_MODULUS)?;
        let [a, b] =
            [context.encrypt(&message, &public, &mut rng)?, context.encrypt(&message, &public, &mut rng)?];
        let evaluator = Evaluator::new(&context);
        // Counts are those of a thread: all work must be done by one.
        let tally = on_threads(1, || {
            let (product, tally) = Tally::of(|| evaluator.multiply(&a, &b, &key));
            Ok(product.map(|_| tally)?)
        })?;
        let n = DEGREE as u64;
        Ok(Counts {
            transforms: tally.transforms(),
            products: (tally.conversion_products + tally.products).div_ceil(n),
            floats: 0,
        })
    }
}

/// BFV at N = `degree`, whose digits are of `width` moduli where there are special ones.
fn context(
    degree: usize,
    [moduli, special]: [&[u64]; 2],
    width: usize,
    algorithms: Algorithms,
) -> Result<Context> {
    let digits = (!special.is_empty()).then(|| moduli.len().div_ceil(width.max(1)));
    let special_moduli = special.to_vec();
    let key_switching = GadgetOptions { digits, special_moduli, ..algorithms.key_switching };
    let algorithms = Algorithms { key_switching, ..algorithms };
    research(Ring::new(2 * degree as u64, moduli)?, PLAIN_MODULUS, &algorithms)
}

/// Bits of Sunzi's own relinearisation key at N = `degree`, for digits of `width` moduli, which are cut by a radix if it is given.
pub(super) fn key_bits(
    degree: usize,
    moduli: [&[u64]; 2],
    width: usize,
    radix_bits: Option<u32>,
) -> Result<usize> {
    let key_switching = GadgetOptions { radix_bits, ..GadgetOptions::default() };
    let context = context(degree, moduli, width, Algorithms { key_switching, ..Algorithms::default() })?;
    let keys = Keys::generate(context.rlwe(), &mut randomness::from_os()?)?;
    Ok(8 * keys.relinearization.byte_len())
}

/// The counted products: BV, GHS and hybrid key switching for every multiplication.
fn cases() -> Vec<Case> {
    let products = [
        ("MultOld", Multiplication::Hps),
        ("MultNew", Multiplication::HpsOverQ),
        ("MultNewLeveled", Multiplication::HpsOverQLeveled),
    ];
    let shapes = [(3, 0), (6, 0), (2, 2), (6, 6), (6, 2), (7, 3), (12, 4)];
    let with =
        |(name, multiplication)| shapes.map(|(limbs, width)| Case { name, multiplication, limbs, width });
    products.into_iter().flat_map(with).collect()
}

/// The table of Sunzi's counts beside those of `[KPZ21]`.
pub(super) fn table() -> Result<Table> {
    let rows = cases().iter().map(row).collect::<Result<_, _>>()?;
    let title = "Sunzi's own counts of a product with its relinearisation, beside the sums of Tables 1 and 4; \
                 multiplications without v·Q, which the paper does not count, and all of them";
    Ok(Table::new("Tables 1 and 4", title, rows))
}

fn row(case: &Case) -> Result<Row> {
    let (printed, ours) = (case.printed(), case.count()?);
    let switching = match case.width {
        0 => "BV",
        width if width == case.limbs => "GHS",
        _ => "hybrid",
    };
    let by_the_same_rule = ours.products.saturating_sub(case.quotients());
    Ok(Row::default()
        .key("method", case.name)
        .key("key_switching", switching)
        .key("l", case.limbs)
        .key("alpha", case.width)
        .judged("transforms", Some(printed.transforms), Some(ours.transforms), Rule::Smaller(1.0))
        .judged("integer_products/n", Some(printed.products), Some(by_the_same_rule), Rule::Smaller(1.0))
        .ours("all_products/n", ours.products))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repro::report::{Quantity, Value};

    #[test]
    fn nothing_costs_more_than_the_paper_says() {
        let number = |value: &Option<Value>| match value {
            Some(Value::Integer(value)) => *value,
            _ => panic!("no count"),
        };
        let mut above = Vec::new();
        for row in table().unwrap().rows {
            let [transforms, products, all] = &row.quantities[..] else { panic!("{row:?}") };
            let more = |one: &Quantity| number(&one.ours) > number(&one.paper);
            // With v·Q, at most a sixth more.
            let room = number(&products.paper) + number(&products.paper) / 6;
            if more(transforms) || more(products) || number(&all.ours) > room {
                let values = row.quantities.iter().map(|one| number(&one.ours)).collect::<Vec<_>>();
                above.push(format!("{:?} {values:?}", row.keys));
            }
        }
        assert!(above.is_empty(), "{above:#?}");
    }
}
