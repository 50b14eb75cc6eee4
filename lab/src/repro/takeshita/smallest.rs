//! The smallest component of 2^g − 1 `[TSKJ20, Lemma 1]`: a longer one saves components, which are digits of key switching.

use sunzi_bfv::Context;
use sunzi_fermat::{FermatModulus, FermatRing};
use sunzi_ring::Ring;
use sunzi_rlwe::{Security, randomness};

use super::Options;
use super::subject::{PLAIN, Party};
use crate::repro::{Result, Row, Series, Table, Timed, alternate_timed};

/// Bits of the smallest component that are compared: the paper's, and longer ones.
const SMALLEST: [usize; 4] = [64, 128, 256, 512];
/// Bits of q at which they are compared.
const BITS: [usize; 3] = [1024, 4096, 16_384];

/// Makes the table, at the smallest degree.
pub(super) fn compute(options: &Options) -> Result<Table> {
    let degree = 1 << options.least_log2_degree;
    let mut rows = Vec::new();
    let most = 1 << options.most_bits.clamp(128, 16_384).ilog2();
    let mut sizes = BITS.map(|bits| bits.min(most)).to_vec();
    sizes.dedup();
    for bits in sizes {
        // One component alone is one digit, which takes all of q.
        let parties = SMALLEST.into_iter().filter(|smallest| 2 * smallest <= bits);
        let parties = parties.map(|smallest| party(degree, bits, smallest)).collect::<Result<Vec<_>>>()?;
        let mut contenders: Vec<Timed<'_>> = Vec::new();
        for party in &parties {
            contenders.push(Box::new(move || party.timed_product()));
        }
        let times = alternate_timed(options.budget_at(degree * bits), &mut contenders)?;
        let first = times.first();
        for ((party, smallest), times) in parties.iter().zip(SMALLEST).zip(&times) {
            let ratio = first.map_or(f64::NAN, |first| times.over(first).median);
            let row = Row::default().key("n", degree).key("bit(q)", bits).key("smallest component", smallest);
            rows.push(
                row.ours("components", party.level())
                    .ours("key MiB", (party.key_bytes() as f64 / f64::from(1 << 20), 2))
                    .ours("multiplication ms", (Series::median_ms(times), 3))
                    .ours("over 64 bits", (ratio, 2))
                    .because(Some("the paper has 64 bits")),
            );
        }
    }
    Ok(Table::new("Smallest", "multiplications by the length of the smallest component of q", rows))
}

fn party(degree: usize, bits: usize, smallest: usize) -> Result<Party> {
    let modulus = FermatModulus::with_smallest(bits, smallest)?;
    let ring = Ring::of(FermatRing::with_modulus(2 * degree as u64, modulus)?);
    let context = Context::with_ring(ring, PLAIN, Security::InsecureForResearchOnly)?;
    Party::new(context, &mut randomness::from_os()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repro::{Budget, Paper, Value};

    #[test]
    fn any_number_of_bits_is_rounded_down_as_in_the_figures() {
        let budget = Budget { time: std::time::Duration::ZERO, least: 1, most: 1 };
        let options = Options { most_bits: 300, least_log2_degree: 7, budget, ..Options::quick() };
        let table = compute(&options).unwrap();
        let keys: Vec<&Value> = table.rows.iter().filter_map(|row| Some(&row.keys.get(1)?.1)).collect();
        assert_eq!(keys, [&Value::Integer(256), &Value::Integer(256)]);
    }
}
