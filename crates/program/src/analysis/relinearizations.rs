//! Relinearisations of a run, by level.

use std::collections::{BTreeMap, BTreeSet};

use super::memory::drop_of;
use super::timing::work;
use super::{Facts, Plan, facts};
use crate::NodeId;
use crate::graph::Node;
use crate::run::only_summed;

/// Returns the number of relinearisations of a chunk by how many levels they are below fresh ciphertexts; those of a
/// polynomial spread evenly over its levels.
pub(super) fn relinearizations(plan: &Plan) -> BTreeMap<usize, f64> {
    let plan = &*plan.computed();
    let (known, lowered) = (facts(&plan.program), plan.lowered.as_ref());
    let encrypted = |id: &NodeId| known.get(id.index()).is_some_and(|facts| facts.encrypted);
    let summed = if lowered.is_some() { BTreeSet::new() } else { only_summed(&plan.program) };
    let mut all = BTreeMap::new();
    for id in plan.program.used().into_iter().filter(encrypted) {
        let count = work(plan, &known, id, summed.contains(&id)).relinearizations;
        let levels = levels_of(plan, &known, id);
        let each = count / levels.len() as f64;
        levels.filter(|_| count > 0.0).for_each(|drop| *all.entry(drop).or_default() += each);
    }
    all
}

/// Returns the levels at which a node is computed, by how many they are below fresh ciphertexts.
fn levels_of(plan: &Plan, known: &[Facts], id: NodeId) -> std::ops::Range<usize> {
    let operands = plan.program.graph().node(id).map(Node::operands).unwrap_or_default();
    let drop = |id| drop_of(known, plan.lowered.as_ref(), id);
    let from = operands.into_iter().map(drop).max().unwrap_or(0);
    from..drop(id).max(from + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::merging::{Merging, WORTH};
    use crate::analysis::{Parameters, exp2};
    use crate::contexts::{Contexts, Encrypted, EncryptionKey, SecretKey, Slots};
    use crate::run::{Answer, Cells, ERROR_DEVIATIONS, Input, evaluate};
    use crate::{Column, Program, Schema};
    use chacha20::ChaCha20Rng;
    use rand_core::SeedableRng;
    use sunzi_circuits::EvaluationKeys;
    use sunzi_rlwe::Security;
    use sunzi_rlwe::security::accepting_insecure;

    /// Returns the plan of products in a row for so many full chunks, in a ring of 2^10 with a digit for each of eleven moduli.
    fn plan(products: usize, chunks: u64) -> Plan {
        let builder =
            sunzi_ckks::Parameters::builder().depth(10).precision(12).result_bits(24).log2_degree(10);
        let parameters = builder.security(Security::InsecureForResearchOnly).build().unwrap();
        let parameters = parameters.with_special(1, 48).unwrap();
        let schema =
            Schema::new(chunks * parameters.max_slots() as u64, vec![Column::integer("x", -1, 1)]).unwrap();
        let program = Program::parse(&format!("sum(x{})", "*x".repeat(products)), &schema).unwrap();
        Plan::within(&program, &Parameters::Ckks(parameters), 12).unwrap()
    }

    #[test]
    fn relinearizations_are_counted_by_level() {
        let all: BTreeMap<usize, f64> = (0..10).map(|drop| (drop, 1.0)).collect();
        assert_eq!(relinearizations(&plan(10, 1)), all);
    }

    /// Tests that sums are made for many chunks alone, and that plans tell their memory.
    #[test]
    fn sums_pay_for_many_relinearizations() {
        let [one, many, more] = [1, 50, 5000].map(|chunks| plan(2, chunks));
        assert_eq!(one.merging, None);
        let (many_sums, more_sums) = (many.merging.as_ref().unwrap(), more.merging.as_ref().unwrap());
        assert!(many_sums.share < WORTH && more_sums.share < many_sums.share, "{many_sums:?} {more_sums:?}");
        assert_eq!(many.memory_bytes, one.memory_bytes + many_sums.memory_bytes);
        assert!(many_sums.memory_bytes > many_sums.bytes);
        assert_eq!(many.reasons.last(), Some(&many_sums.reason()));
        assert!(one.reasons.iter().all(|reason| !reason.contains("sums of the relinearisation key")));
        // Stored plans are made again from parameters.
        let text = serde_json::to_string(&many).unwrap();
        let again: Plan = accepting_insecure(|| serde_json::from_str(&text)).unwrap();
        assert_eq!((&again.merging, again.memory_bytes), (&many.merging, many.memory_bytes));
    }

    /// Runs a plan on ones, and returns its sum.
    fn run(plan: &Plan, contexts: &Contexts, keys: &EvaluationKeys, secret: &SecretKey) -> Encrypted {
        let (codec, mut rng) = (contexts.codec(&plan.layout).unwrap(), ChaCha20Rng::seed_from_u64(2));
        let cells = Cells::Units(vec![1; plan.layout.span]);
        let input = |_, _| {
            let column = &plan.program.schema().columns[0];
            codec.encrypt(column, None, &cells, EncryptionKey::Secret(secret), &mut rng).map(Input::Encrypted)
        };
        let mut totals = evaluate(plan, &codec, keys, input, |_, _, _| Ok(())).unwrap();
        match totals.pop_first() {
            Some((_, Answer::Encrypted(sum))) => sum,
            _ => panic!("one sum is encrypted"),
        }
    }

    /// Tests a run with sums against one without: other bits, the same number within the errors, and the bits of keys summed before.
    #[test]
    fn runs_take_the_sums_that_plans_count_on() {
        let mut plan = Plan { merging: None, ..plan(10, 2) };
        let contexts = Contexts::new(&plan.parameters).unwrap();
        let mut rng = ChaCha20Rng::seed_from_u64(1);
        let secret = SecretKey::generate(contexts.rlwe(), &mut rng).unwrap();
        let keys = contexts.evaluation_keys(&secret, &plan.rotations, plan.rotation_limbs, &mut rng).unwrap();
        let (alone, without) = (keys.byte_len(), run(&plan, &contexts, &keys, &secret));
        plan.merging = self::plan(10, 5000).merging;
        let merging = plan.merging.clone().unwrap();
        let with = run(&plan, &contexts, &keys, &secret);
        assert_eq!(keys.byte_len(), alone, "a run leaves keys as they are");
        let summed = Merging::keys(Some(&merging), contexts.rlwe(), &keys).unwrap().into_owned();
        // 64 bytes of each polynomial are for its end.
        let extra = (summed.byte_len() - alone) as u64;
        assert!((merging.bytes..merging.bytes + merging.bytes / 50).contains(&extra), "{extra} {merging:?}");
        plan.merging = None;
        let before = run(&plan, &contexts, &summed, &secret);
        let [without_bytes, with_bytes, before_bytes] =
            [&without, &with, &before].map(|sum| contexts.to_bytes(sum).unwrap());
        assert!(with_bytes == before_bytes && with_bytes != without_bytes);
        let codec = contexts.codec(&plan.layout).unwrap();
        let step = plan.lowered.as_ref().unwrap().step(*plan.program.totals().first().unwrap()).unwrap();
        let expected = plan.layout.rows as f64 * exp2(-step.exponent);
        for sum in [&without, &with] {
            let Slots::Reals(slots) = codec.decrypt(sum, &secret).unwrap() else { panic!("CKKS has reals") };
            let most = ERROR_DEVIATIONS * sum.deviation();
            assert!(most < 1e-2 * expected && (slots[0] - expected).abs() <= most, "{} {most}", slots[0]);
        }
    }
}
