//! Merged digits in a run: levels whose relinearisations go by sums of the key's polynomials, where these pay.
//!
//! Rotations stay as they are: their keys are made for the level of sums, which drops no digit of theirs.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use sunzi_circuits::EvaluationKeys;
use sunzi_ring::RnsDigits;
use sunzi_rlwe::RlweContext;
use sunzi_rlwe::switch_cost::SwitchCost;

use super::memory::drop_of;
use super::timing::work;
use super::{Facts, Plan, facts};
use crate::graph::Node;
use crate::run::only_summed;
use crate::{NodeId, ProgramError};

/// Time of one limb of a sum of two polynomials of a key, in transforms.
const ADDITION: f64 = 0.8;
/// Number of polynomials in words that a sum takes while it is made, kept for reuse: two terms and what is packed of them.
const SCRATCH: u64 = 3;
/// Largest part of the work of relinearisations, sums included, at which digits are merged.
const WORTH: f64 = 0.95;

/// Relinearisations of a run by merged digits.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Merging {
    /// Levels of the ring at which relinearisations go by merged digits.
    levels: Vec<usize>,
    /// Number of bytes of the sums.
    pub(crate) bytes: u64,
    /// Number of bytes of the sums and of the polynomials that are kept from making them.
    pub(crate) memory_bytes: u64,
    /// Counted work of relinearisations with the sums, over that by the level's own digits.
    pub(crate) share: f64,
}

impl Merging {
    /// Counts the relinearisations of a plan; `None` where merged digits do not pay.
    pub(super) fn of(plan: &Plan) -> Option<Self> {
        let parameters = &plan.parameters;
        let (options, moduli, n) = (parameters.key_switching(), parameters.moduli(), parameters.degree());
        let digits = RnsDigits::new(options, moduli).ok()?;
        let times = (plan.layout.chunks * parameters.plain_moduli().len().max(1)) as f64;
        let (mut own, mut merged) = (0.0, 0.0);
        let (mut levels, mut sums) = (BTreeSet::new(), BTreeSet::new());
        for (drop, count) in relinearizations(plan) {
            let limbs = parameters.limbs_below(drop);
            let cost = SwitchCost::of_limbs(options, moduli, &limbs, n).ok()?.in_transforms(n);
            own += count * times * cost;
            // A relinearisation ends at the level below, which may have anew what merged digits divide by.
            let below = parameters.limbs_below(drop + 1);
            let divides =
                |merging: &sunzi_ring::Merging| merging.further.iter().any(|limb| below.contains(limb));
            let Some(merging) = digits.merging(&limbs).filter(|merging| !divides(merging)) else {
                merged += count * times * cost;
                continue;
            };
            merged += count * times * merging.cost.in_transforms(1);
            levels.insert(parameters.ring_level_below(drop));
            sums.extend(merging.blocks.iter().filter(|block| block.len() > 1).map(|b| [b.start, b.end]));
        }
        let share = (merged + sums.len() as f64 * 2.0 * digits.key_limbs() as f64 * ADDITION) / own;
        let all: Vec<usize> = (0..moduli.len()).collect();
        let bytes = parameters.key_digit_memory(&all) * sums.len() as u64;
        let memory_bytes = bytes + SCRATCH * 8 * (n * digits.key_limbs()) as u64;
        let pays = !levels.is_empty() && share <= WORTH;
        pays.then(|| Self { levels: levels.into_iter().collect(), bytes, memory_bytes, share })
    }

    /// Returns the reason that a plan states for its sums.
    pub(super) fn reason(&self) -> String {
        format!(
            "sums of the relinearisation key, {} bytes, leave {:.2} of the work of relinearisations",
            self.bytes, self.share
        )
    }

    /// Returns keys with the sums that a plan takes.
    ///
    /// # Errors
    /// [`ProgramError::Scheme`] for keys of other parameters, and where the machine lacks the memory.
    pub(crate) fn keys<'a>(
        merging: Option<&Self>,
        context: &RlweContext,
        keys: &'a EvaluationKeys,
    ) -> Result<Cow<'a, EvaluationKeys>, ProgramError> {
        let (Some(merging), Some(key)) = (merging, &keys.relinearization) else {
            return Ok(Cow::Borrowed(keys));
        };
        let key = key.clone().with_merged_digits_at(context, merging.levels.iter().copied());
        let relinearization = Some(key.map_err(ProgramError::of_rlwe)?);
        Ok(Cow::Owned(EvaluationKeys { relinearization, galois: keys.galois.clone() }))
    }
}

/// Returns the number of relinearisations of a chunk by how many levels they are below fresh ciphertexts; those of a
/// polynomial spread evenly over its levels.
fn relinearizations(plan: &Plan) -> BTreeMap<usize, f64> {
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
    use crate::analysis::{Parameters, exp2};
    use crate::contexts::{Contexts, Encrypted, EncryptionKey, SecretKey, Slots};
    use crate::run::{Answer, Cells, ERROR_DEVIATIONS, Input, evaluate};
    use crate::{Column, Program, Schema};
    use chacha20::ChaCha20Rng;
    use rand_core::SeedableRng;
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
