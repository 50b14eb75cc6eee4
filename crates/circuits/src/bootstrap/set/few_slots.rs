//! Sets for few slots: numbers of matrices and digits, chosen by the cost that is counted for them.

use std::collections::BTreeSet;

use sunzi_ckks::{LevelRange, Parameters};

use super::{Order, Set};
use crate::bootstrap::eval_mod::EvalMod;
use crate::bootstrap::steps::Steps;
use crate::bootstrap::{BootstrapError, SpecialModuli, first_matrix};
use crate::steps::{Cost, width};

/// Most digits of key switching that are considered.
const MOST_DIGITS: usize = 12;
/// Cost of a product with an encoded diagonal, over a key switch of some eight transforms a limb: 2 of 15 products a transform.
const DIAGONAL: f64 = 1.0 / 60.0;
/// Cost of a doubling in the trace, over a key switch: two of them share digits and a division.
const STAGE: f64 = 0.83;
/// Cost of a term of the first matrix, in transforms a limb: a permutation of a digit and its products with both halves of a key.
const TERM: f64 = 1.1;

impl Set {
    /// Returns the set for messages of few slots, rounded up to a power of two from 4 on: with fewer and larger matrices, which take fewer levels and no
    /// more time there, and digits that suit: those that are counted cheapest. Levels left, EvalMod and security are as before; for
    /// as many slots as the ring has the set is as before too, and so are sets for tables.
    ///
    /// A bootstrapping takes any number of slots in any set; in sets for few slots, few take less time and smaller keys. The name of a shipped set then
    /// has the number of slots behind it.
    ///
    /// ```
    /// use sunzi_circuits::bootstrap::Set;
    ///
    /// let set = Set::n15_128().for_slots(16);
    /// assert_eq!((set.to_string(), set.slots), ("n15-128-s16".to_owned(), Some(16)));
    /// assert_eq!((set.matrices_to_slots(), set.slots_to_coeffs.levels), (2, 1));
    /// assert_eq!(set.levels_left(), Set::n15_128().levels_left());
    /// ```
    #[must_use]
    pub fn for_slots(self, slots: usize) -> Self {
        let whole = self.of_all_slots();
        let most = 1_usize.checked_shl(whole.log2_degree.saturating_sub(1)).unwrap_or(usize::MAX);
        let slots = slots.max(4).checked_next_power_of_two().unwrap_or(most);
        if slots >= most || whole.tables.is_some() {
            return whole;
        }
        let set = Self { slots: Some(slots), ..whole };
        let choice = |[forth, back]: [usize; 2]| {
            let coeffs_to_slots = LevelRange { levels: forth, ..set.coeffs_to_slots };
            let slots_to_coeffs = LevelRange { levels: back, scale_bits: set.bits_back(back) };
            let choice = Self { coeffs_to_slots, slots_to_coeffs, ..set.clone() };
            if choice.fewest_slots() > slots { None } else { choice.with_cheapest_digits(slots).ok()? }
        };
        let (mut levels, mut best) = ([1, 1], choice([1, 1]));
        // One matrix more, in one direction and then in the other, as long as it costs less.
        for more in [[1, 0], [0, 1]] {
            while let Some((least, _)) = &best {
                let next = [levels[0] + more[0], levels[1] + more[1]];
                let Some(cheaper) = choice(next).filter(|(cost, _)| cost < least) else { break };
                (levels, best) = (next, Some(cheaper));
            }
        }
        best.map_or(set.clone(), |(_, set)| set)
    }

    /// Runs a change of the set for all slots, and chooses anew for few.
    pub(super) fn changed(self, change: impl FnOnce(Self) -> Self) -> Self {
        match self.slots {
            Some(slots) => change(self.of_all_slots()).for_slots(slots),
            None => change(self),
        }
    }

    /// Returns the set with the matrices and digits of the shipped one.
    fn of_all_slots(self) -> Self {
        match self.slots.and_then(|_| Self::named(self.name)) {
            Some(Self { coeffs_to_slots, slots_to_coeffs, digits, .. }) => {
                Self { coeffs_to_slots, slots_to_coeffs, digits, slots: None, ..self }
            }
            None => Self { slots: None, ..self },
        }
    }

    /// Returns log2 of the scale of another number of matrices of SlotsToCoeffs whose entries have as many bits. Where it comes last, matrices share
    /// the way down from the scale of a message after EvalMod.
    fn bits_back(&self, matrices: usize) -> u32 {
        let LevelRange { levels, scale_bits } = self.slots_to_coeffs;
        if self.order == Order::First || matrices == levels {
            return scale_bits;
        }
        let turns = if self.eval_mod.has_arcsine() { 0.0 } else { std::f64::consts::TAU.log2() };
        let message =
            f64::from(self.eval_mod_bits) + turns - self.eval_mod.ratio_bits - f64::from(self.message_bits);
        let down = message - f64::from(self.residual.scale_bits);
        (f64::from(scale_bits) + down * (1.0 / matrices as f64 - 1.0 / levels as f64)).ceil().max(1.0) as u32
    }

    /// Returns the set with the digits that cost least, and the cost; `None` if security allows none.
    fn with_cheapest_digits(self, slots: usize) -> Result<Option<(f64, Self)>, BootstrapError> {
        let chain = self.chain_of_levels()?;
        let own = self.costs_of_own_steps(&chain)?;
        let mut best: Option<(f64, usize)> = None;
        for digits in 1..=MOST_DIGITS.min(chain.moduli().len()) {
            let parameters = chain.clone().with_digits(digits)?;
            if parameters.validate().is_err() || !self.has_room_for_first_matrix(&parameters, slots) {
                continue;
            }
            let Some(cost) = self.cost(&parameters, own.as_ref(), slots)? else { continue };
            if best.is_none_or(|(least, _)| cost < least) {
                best = Some((cost, digits));
            }
        }
        Ok(best.map(|(cost, digits)| (cost, Self { digits, ..self })))
    }

    /// Returns the costs of key switches of the steps that have special moduli of their own, level by level.
    fn costs_of_own_steps(&self, chain: &Parameters) -> Result<Option<Steps<Vec<f64>>>, BootstrapError> {
        match self.special {
            SpecialModuli::Shared => Ok(None),
            SpecialModuli::EachStep => {
                let Steps { coeffs_to_slots, polynomial, slots_to_coeffs, .. } = self.step_levels()?;
                let cost = |levels: std::ops::RangeInclusive<usize>| {
                    let special_moduli = chain.special_moduli_for(levels.clone())?;
                    Ok::<_, BootstrapError>(chain.switch_costs(levels, &special_moduli).unwrap_or_default())
                };
                let (coeffs_to_slots, polynomial) = (cost(coeffs_to_slots)?, cost(polynomial)?);
                let slots_to_coeffs = cost(slots_to_coeffs)?;
                Ok(Some(Steps { coeffs_to_slots, polynomial, tables: None, slots_to_coeffs }))
            }
        }
    }

    /// Returns the counted cost of bootstrapping one part of all slots of the set, real or imaginary, in all of its rounds: of key switches and of what goes into
    /// matrices, [in transforms](sunzi_ring::switch_cost::SwitchCost::in_transforms) modulo one prime. Rescalings and tensor products are not in it.
    ///
    /// Times of bootstraps are predicted by it, from a measured key switch.
    ///
    /// ```
    /// use sunzi_circuits::bootstrap::Set;
    ///
    /// let [fast, precise] = [Set::fast_128(), Set::high_precision_128()].map(|set| set.counted_transforms());
    /// assert!(precise? > 2.0 * fast?, "two rounds take twice as long");
    /// # Ok::<(), sunzi_circuits::bootstrap::BootstrapError>(())
    /// ```
    ///
    /// # Errors
    /// Every error of [`parameters`](Self::parameters).
    pub fn counted_transforms(&self) -> Result<f64, BootstrapError> {
        self.counted_transforms_in(&self.parameters()?)
    }

    /// Returns the [counted cost](Self::counted_transforms) in the set's parameters, which take longer to find than to count.
    pub(in crate::bootstrap) fn counted_transforms_in(
        &self,
        parameters: &Parameters,
    ) -> Result<f64, BootstrapError> {
        let own = self.costs_of_own_steps(parameters)?;
        let slots = self.slots.unwrap_or_else(|| parameters.max_slots());
        let cost = self.cost(parameters, own.as_ref(), slots)?.unwrap_or(f64::INFINITY);
        Ok(self.rounds.max(1) as f64 * cost)
    }

    /// Returns whether the special moduli are large enough for the keys of the first matrix.
    fn has_room_for_first_matrix(&self, parameters: &Parameters, slots: usize) -> bool {
        let terms = self.terms_of_first_matrix(slots) * parameters.degree() as f64;
        let needed = first_matrix::special_bits(f64::from(self.first_bits), terms);
        terms == 0.0 || sunzi_math::log2_product(&parameters.key_switching().special_moduli) >= needed
    }

    /// Returns the number of products with keys in the first matrix, if it is applied while the modulus is raised.
    fn terms_of_first_matrix(&self, slots: usize) -> f64 {
        let rank = self.encapsulation.filter(|_| self.raises_with_matrix()).map_or(0, |capsule| capsule.rank);
        let steps = slots.ilog2().div_ceil(self.matrices_to_slots() as u32);
        rank as f64 * f64::from(steps).exp2()
    }

    /// Returns the counted cost of a bootstrapping of this many slots in transforms of a limb, by the costs of key switches of the steps if they have special
    /// moduli of their own: all that depends on matrices or digits, products of EvalMod at the mean of their levels.
    fn cost(
        &self,
        parameters: &Parameters,
        own: Option<&Steps<Vec<f64>>>,
        slots: usize,
    ) -> Result<Option<f64>, BootstrapError> {
        let (levels, eval_mod, at) = (self.levels()?, EvalMod::new(self.eval_mod)?, self.step_levels()?);
        let special_moduli = &parameters.key_switching().special_moduli;
        let Some(shared) = parameters.switch_costs(0..=parameters.depth(), special_moduli) else {
            return Ok(None);
        };
        let of = |levels: std::ops::RangeInclusive<usize>| shared.get(levels).unwrap_or_default().to_vec();
        let steps = own.cloned().unwrap_or_else(|| Steps {
            coeffs_to_slots: of(at.coeffs_to_slots),
            polynomial: of(at.polynomial),
            tables: None,
            slots_to_coeffs: of(at.slots_to_coeffs),
        });
        let products = levels.eval_mod - eval_mod.polynomial_depth();
        let rest = of(self.below_eval_mod() + 1..=products);
        let [polynomial, doublings] = eval_mod.relinearizations().map(|count| count as f64);
        let reduced = polynomial * mean(&steps.polynomial) + doublings * mean(&rest);
        let log = slots.ilog2();
        let stages = f64::from(parameters.degree().ilog2().saturating_sub(1 + log));
        let trace = STAGE * stages * steps.coeffs_to_slots.last().copied().unwrap_or_default();
        let limbs = parameters.limbs(levels.coeffs_to_slots).len() + 2;
        let raised = self.terms_of_first_matrix(slots) * TERM * limbs as f64;
        let [forth, back] = self.matrices(log);
        let forth = forth.into_iter().skip(usize::from(self.raises_with_matrix()));
        let product = |(cost, (steps, wraps)): (&f64, (u32, bool))| cost * switches(steps, wraps);
        let there = steps.coeffs_to_slots.iter().rev().zip(forth).map(product).sum::<f64>();
        let home = steps.slots_to_coeffs.iter().rev().zip(back).map(product).sum::<f64>();
        let conjugation = steps.coeffs_to_slots.first().copied().unwrap_or_default();
        Ok(Some(raised + trace + there + conjugation + reduced + home))
    }

    /// Returns the steps of the matrices of both transforms in the order in which they are applied, and whether each wraps around: those that have the longest
    /// blocks, unless parts lie side by side.
    pub(in crate::bootstrap) fn matrices(&self, steps: u32) -> [Vec<(u32, bool)>; 2] {
        let wide = self.order == Order::Last && self.slots_to_coeffs.levels == 1;
        let forth = shares(steps, self.matrices_to_slots()).enumerate().map(|(i, steps)| (steps, i == 0));
        let back = shares(steps, self.slots_to_coeffs.levels).enumerate();
        let back: Vec<_> = back.map(|(i, steps)| (steps, i == 0 && !wide)).collect();
        [forth.collect(), back.into_iter().rev().collect()]
    }
}

/// Returns how many of all steps of a transform each of its matrices takes, the longest blocks first.
fn shares(steps: u32, matrices: usize) -> impl Iterator<Item = u32> {
    let matrices = matrices as u32;
    (0..matrices).map(move |i| steps / matrices + u32::from(i < steps % matrices))
}

/// Returns the diagonals of a matrix of this many steps, in units of their distance, modulo the number that is also returned.
pub(in crate::bootstrap) fn diagonals(steps: u32, wraps: bool) -> (usize, Vec<usize>) {
    let half = 1_usize << steps;
    if wraps {
        return (half, (0..half).collect());
    }
    let size = 4 * half;
    (size, (0..half).chain(size - half + 1..size).collect())
}

/// Returns the number of key switches that a matrix of this many steps amounts to: rotations, products with diagonals, and one for its digits and its division.
fn switches(steps: u32, wraps: bool) -> f64 {
    let (size, diagonals) = diagonals(steps, wraps);
    let width = width(size, &diagonals, Cost::TYPICAL);
    let rotations = |part: &dyn Fn(usize) -> usize| {
        diagonals.iter().map(|&d| part(d)).filter(|&step| step > 0).collect::<BTreeSet<_>>().len() as f64
    };
    let babies = Cost::TYPICAL.baby * rotations(&|d| d % width);
    1.0 + babies + Cost::TYPICAL.giant * rotations(&|d| d - d % width) + DIAGONAL * diagonals.len() as f64
}

fn mean(costs: &[f64]) -> f64 {
    costs.iter().sum::<f64>() / costs.len().max(1) as f64
}
