//! Appendix B.3 of `[BEHZ16]`: costs of both multiplications as printed, and as counted in runs of the reference.

use sunzi_math::primes_below;

use super::reference::known::Known;
use super::reference::{Cost, Form, STEPS, Setting, multi_precision, multiply, rns_gadget};
use crate::repro::kpz::reference::{Basis, Counter};
use crate::repro::{Progress, Result, Row, Table};

/// Ring degree of the counted runs: counts do not depend on it but for the factor n.
const DEGREE: usize = 64;
/// Plaintext modulus t of the counted runs, that of Table 5.
const PLAIN_MODULUS: u64 = 1 << 10;
/// Modulus m̃ of the counted runs.
const M_TILDE: u64 = 1 << 16;
/// Numbers of moduli that `[BEHZ16, Table 2]` multiplies with, of 30 and of 62 bits.
const COUNTS: [usize; 7] = [3, 6, 12, 13, 25, 26, 53];
/// The middle one of the three numbers of moduli that the coefficient of k² is taken from.
const MIDDLE: usize = 4;

/// The costs of the steps as the text of B.3 lists them.
fn printed_steps(k: u64) -> [Cost; STEPS.len()] {
    let only = |products| Cost { products, ..Cost::default() };
    let wide = 2 * k + 1;
    [
        only(4 * k * (k + 2)),
        only(4 * (k + 1)),
        Cost { ntt: 4 * wide, inverse_ntt: 3 * wide, products: 3 * wide },
        only(3 * k * (k + 1)),
        only(3 * k * (k + 2)),
        Cost { ntt: k * k, inverse_ntt: 2 * k, products: 2 * k * k },
        only(2 * k),
    ]
}

/// The total that B.3 prints for Mult_RNS.
fn printed_total(k: u64) -> Cost {
    Cost { ntt: k * k + 8 * k + 4, inverse_ntt: 8 * k + 3, products: 10 * k * k + 25 * k + 7 }
}

/// Costs of both forms of a product by `[BEHZ16, Alg. 3]` with k moduli; both products are decrypted.
fn count(k: usize) -> Result<[Vec<Cost>; 2]> {
    let primes = primes_below(1 << 30, 2 * DEGREE as u64, 2 * k + 1)?;
    let (moduli, b_sk) = primes.split_at_checked(k).unwrap_or((&primes, &[]));
    let (setting, q) =
        (Setting::new(DEGREE, moduli, b_sk, M_TILDE, PLAIN_MODULUS)?, Basis::new(DEGREE, moduli)?);
    let known = Known::new(&q, DEGREE, PLAIN_MODULUS)?;
    let key = known.key(&rns_gadget(&q))?;
    let [a, b] = &known.pairs;
    let (product, read) = multiply(&setting, Form::Read, [a, b], &key)?;
    known.check(&product, "Mult_RNS as it reads")?;
    let (uncounted, factors) = (Counter::default(), setting.representation()?);
    let represented = [a, b].map(|pair| pair.clone().map(|part| uncounted.scale(moduli, &part, &factors)));
    let [a, b] = &represented;
    let (folded, costs) = multiply(&setting, Form::Folded, [a, b], &key)?;
    let same = folded == product.map(|part| uncounted.scale(moduli, &part, &factors));
    crate::LabError::unless(same, "product", "Mult_RNS with folded constants", DEGREE)?;
    Ok([costs, read])
}

/// Costs of the steps of a product by Mult_MP with k moduli; the product is decrypted.
fn count_multi_precision(k: usize) -> Result<Vec<Cost>> {
    let primes = primes_below(1 << multi_precision::BITS, 2 * DEGREE as u64, 2 * k + 1)?;
    let (moduli, auxiliary) = primes.split_at_checked(k).unwrap_or((&primes, &[]));
    let (q, auxiliary) = (Basis::new(DEGREE, moduli)?, Basis::new(DEGREE, auxiliary)?);
    let known = Known::new(&q, DEGREE, PLAIN_MODULUS)?;
    let key = known.key(&multi_precision::gadget(&q))?;
    let setting = multi_precision::Setting { q, auxiliary, t: PLAIN_MODULUS };
    let [a, b] = &known.pairs;
    let (product, costs) = multi_precision::multiply(&setting, [a, b], &key)?;
    known.check(&product, "Mult_MP")?;
    Ok(costs)
}

/// Whether a step of Mult_MP multiplies words of big integers and no residues.
fn is_of_words(step: usize) -> bool {
    matches!(multi_precision::STEPS.get(step), Some(&("lift" | "division")))
}

/// The multiplications of n residues of a product by Mult_MP, and those of words of big integers.
fn split(costs: &[Cost]) -> [u64; 2] {
    costs.iter().enumerate().fold([0, 0], |[residues, words], (step, cost)| match is_of_words(step) {
        true => [residues, words + cost.products],
        false => [residues + cost.products, words],
    })
}

/// The tables of the costs of B.3, of Mult_RNS and of Mult_MP.
pub(super) fn tables(progress: &mut Progress<'_>) -> Result<[Table; 2]> {
    progress.begin("counts of products");
    let rns = COUNTS.into_iter().map(products).collect::<Result<Vec<_>>>()?.concat();
    let mp = COUNTS.into_iter().map(multi_precision).collect::<Result<_>>()?;
    let title =
        "counts of a product with relinearisation in runs of the reference, whose results are decrypted";
    Ok([
        Table::new("Costs", format!("{title}: constants folded as in B.3, and as the algorithms read"), rns),
        Table::new("Costs of MP", format!("{title}: integers of words of 30 bits"), mp),
    ])
}

fn row(name: &'static str, k: usize, printed: Cost, ours: Cost) -> Row {
    let row = Row::default().key("section", "B.3").key("cost", name).key("k", k);
    row.printed("ntt", printed.ntt, Some(ours.ntt))
        .printed("inverse_ntt", printed.inverse_ntt, Some(ours.inverse_ntt))
        .printed("products/n", printed.products, Some(ours.products))
}

/// The rows of Mult_RNS: its steps, the sum of what the text says of them, and the printed total.
fn products(k: usize) -> Result<Vec<Row>> {
    let [folded, read] = count(k)?;
    let listed = printed_steps(k as u64);
    let steps = STEPS.iter().zip(listed).zip(folded.iter().zip(&read));
    let steps = steps.map(|((&name, listed), (&ours, read))| {
        row(name, k, listed, ours).ours("products/n as they read", read.products)
    });
    let (ours, read) = (Cost::sum(&folded), Cost::sum(&read));
    let total =
        |name, printed: Cost| row(name, k, printed, ours).ours("products/n as they read", read.products);
    let printed = printed_total(k as u64);
    let missing = ours.products.saturating_sub(printed.products);
    let twice = missing == 2 * (k * (k + 2)) as u64;
    let reason = (ours != printed && twice).then_some(
        "the steps of the same page add up to 12k² + 29k + 7, which the run counts; the printed total is 2k(k + 2) \
         less, as much as two of the four conversions of S0 take",
    );
    let totals = [
        total("Mult_RNS, its steps added up", Cost::sum(&listed)),
        total("Mult_RNS", printed).because(reason),
    ];
    Ok(steps.chain(totals).collect())
}

/// The row of Mult_MP, of which only the multiplications of residues are printed to the last one.
fn multi_precision(k: usize) -> Result<Row> {
    let costs = count_multi_precision(k)?;
    let ([products, words], wide) = (split(&costs), k as u64);
    let printed = Cost {
        ntt: wide * wide + 8 * wide + 4,
        inverse_ntt: 8 * wide + 3,
        products: 2 * wide * wide + 6 * wide + 3,
    };
    let ours = Cost { products, ..Cost::sum(&costs) };
    Ok(row("Mult_MP", k, printed, ours).ours("word products/n", words))
}

/// The coefficient of k² in the multiplications of words of Mult_MP, of which 40k² + O(k^(1+ε)) is printed.
pub(super) fn leading() -> Result<Row> {
    let [below, middle, above] = [
        count_multi_precision(MIDDLE - 1)?,
        count_multi_precision(MIDDLE)?,
        count_multi_precision(MIDDLE + 1)?,
    ];
    let halves = |at: usize| {
        let [below, middle, above] =
            [&below, &middle, &above].map(|all| all.get(at).map_or(0, |cost| cost.products));
        (above + below).saturating_sub(2 * middle) / 2
    };
    let claim = "multiplications of words of Mult_MP, lifts and divisions: the coefficient of k²";
    let ours = (0..multi_precision::STEPS.len()).filter(|&at| is_of_words(at)).map(halves).sum::<u64>();
    Ok(Row::default().key("section", "B.3").key("claim", claim).printed("value", 40_u64, Some(ours)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_printed_total_of_the_rns_product_differs() {
        for k in [3, 5] {
            let rows = products(k).unwrap();
            assert_eq!(rows.len(), STEPS.len() + 2);
            for row in &rows {
                let total = row.name() == format!("section = B.3, cost = Mult_RNS, k = {k}");
                assert_eq!((row.holds(), row.reason.is_some()), (!total, total), "{row:?}");
            }
            assert!(multi_precision(k).unwrap().holds());
        }
        assert!(leading().unwrap().holds());
    }
}
