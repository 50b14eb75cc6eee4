//! The search for the smallest CKKS scale and the fastest key switching.

use sunzi_ring::RnsDigits;
use sunzi_rlwe::chains::{WIDE_WORD_BITS, WORD_BITS};
use sunzi_rlwe::explain::largest_below;
use sunzi_rlwe::noise::NoiseModel;
use sunzi_rlwe::security::limit_of;
use sunzi_rlwe::switch_cost::SwitchCost;
use sunzi_rlwe::{Log2, RingShape};

use super::sharing;
use crate::chain::LevelRange;
use crate::error::CkksError;
use crate::explain::{Candidate, Explanation};
use crate::parameters::{Parameters, slots_of};
use crate::precision::{Precision, slot_error};
use crate::refusal::{NothingFits, Refusal, Verdict};
use crate::request::{Request, SCALE_BITS};

/// Ring degrees tried unless one is given: log2 n.
const LOG2_DEGREES: std::ops::RangeInclusive<u32> = 11..=17;
/// Bits by which results may exceed messages, where the request says nothing and the bits cost no modulus of their
/// own.
const RESULT_BITS: std::ops::RangeInclusive<u32> = 2..=10;

/// Largest ratio of key-switching costs at which levels that are sets of moduli are chosen: operands of two levels
/// cost a modulus switch there.
const WORTH_SETS: f64 = 0.95;

/// Lists the candidates up to the first ring that fits: a smaller ring is faster.
pub(super) fn explain(request: &Request) -> Explanation {
    let degrees = request.log2_degree.map_or(LOG2_DEGREES, |log2_degree| log2_degree..=log2_degree);
    Explanation::first_fit(request, degrees.map(|log2_degree| request.shape(log2_degree)), at_degree)
}

fn at_degree(request: &Request, ring: RingShape) -> (Candidate, Option<Parameters>) {
    let log2_degree = ring.log2_degree();
    let limit = limit_of(request.secrets, log2_degree, request.security);
    let mut candidate = Candidate::empty(log2_degree, limit.is_finite().then_some(limit));
    let (verdict, chosen) = Verdict::of(choose(request, limit, &mut candidate));
    (Candidate { verdict, ..candidate }, chosen)
}

fn choose(request: &Request, limit: f64, candidate: &mut Candidate) -> Result<Parameters, Refusal> {
    let log2_degree = candidate.log2_degree;
    let slots = slots_of(request.shape(log2_degree));
    if slots < request.slots {
        return Err(Refusal::TooFewSlots { slots, wanted: request.slots });
    }
    if limit == 0.0 {
        return Err(Refusal::NotSecure);
    }
    let scales = request.scale_bits.map_or(SCALE_BITS, |bits| bits..=bits);
    let mut best: Result<(f64, Candidate, Parameters), Refusal> =
        Err(Refusal::TooPrecise { most: *SCALE_BITS.end() });
    for bits in scales {
        // What a rounding alone leaves tells which scales are worth a look.
        if request.scale_bits.is_none() && least_error(request, log2_degree, bits) > wanted(request) {
            continue;
        }
        match at_scale(request, bits, limit, candidate) {
            Ok(Choice { cost, least, parameters, .. }) => {
                if best.as_ref().map_or(true, |(lowest, ..)| cost < *lowest) {
                    best = Ok((cost, candidate.clone(), parameters));
                }
                // A larger scale costs more, unless it is precise with fewer digits.
                if cost <= least {
                    break;
                }
            }
            // A larger scale needs larger moduli still.
            Err(error @ Refusal::TooLarge { .. }) => {
                best = best.map_err(|_| error);
                break;
            }
            Err(error) => best = best.map_err(|_| error),
        }
    }
    let (_, described, parameters) = best?;
    *candidate = described;
    Ok(parameters)
}

/// The largest deviation of errors that gives the requested precision.
fn wanted(request: &Request) -> f64 {
    (-f64::from(request.precision)).exp2()
}

/// A lower bound on the error at a scale: roundings at every level, amplified at every level below.
fn least_error(request: &Request, log2_degree: u32, bits: u32) -> f64 {
    let ring = request.shape(log2_degree);
    let rounding = NoiseModel::new(ring.expansion(), request.secrets).mod_switch(2).deviation.bits().exp2();
    let growth = 2.0 * f64::from(request.message_bits).exp2();
    slot_error(rounding, slots_of(ring), f64::from(bits).exp2()) * growth.powi(request.depth as i32)
}

fn at_scale(
    request: &Request,
    scale_bits: u32,
    limit: f64,
    candidate: &mut Candidate,
) -> Result<Choice, Refusal> {
    let least = scale_bits + 1 + request.message_bits;
    // Q_0 is a word, a wide one, or two.
    let mut free = [WORD_BITS, WIDE_WORD_BITS].into_iter().map(|word| (word as u32).saturating_sub(least));
    let extra = free
        .find(|free| free >= RESULT_BITS.start())
        .map_or(*RESULT_BITS.end(), |free| free.min(*RESULT_BITS.end()));
    // The noise that hides the noise of results stands beside the largest of them.
    let beside = u32::from(request.sharing.is_some());
    let first_bits = request.result_bits.map_or(least + extra, |bits| scale_bits + 1 + bits.max(1)) + beside;
    let ranges = [LevelRange { levels: request.depth, scale_bits }];
    // Levels have their own primes, unless sets of other primes are cheaper, or there are too few primes.
    let mut best: Result<Choice, Refusal> = Err(Refusal::NoPrimes { scale_bits });
    for make in [Parameters::from_ranges, Parameters::from_ranges_rational] {
        if matches!(best, Err(Refusal::TooLarge { .. })) {
            break;
        }
        let Ok(chain) = make(request.shape(candidate.log2_degree), first_bits, &ranges, request.security)
        else {
            continue;
        };
        let chain = chain.with_message_bits(request.message_bits).with_secrets(request.secrets);
        candidate.scale_bits = scale_bits;
        candidate.log2_modulus = chain.log2_modulus();
        best = match (best, fastest(request, &chain, limit)) {
            (Ok(own), Ok(sets)) => Ok(own.or(sets, WORTH_SETS)),
            (Ok(own), Err(_)) => Ok(own),
            (Err(_), sets) => sets,
        };
    }
    let choice = best?;
    let (parameters, mut deviation) = (&choice.parameters, choice.deviation);
    let given = request.scale_bits.is_some();
    if let Some(policy) = request.sharing.filter(|_| given || deviation <= wanted(request)) {
        let largest = request.result_bits.map_or(parameters.message_bound(), |bits| f64::from(bits).exp2());
        let added = sharing::added_deviation(parameters, policy, largest);
        deviation = deviation.hypot(added.map_err(|_| Refusal::NotShareable { most: *SCALE_BITS.end() })?);
    }
    candidate.precision = -deviation.log2();
    candidate.log2_modulus = parameters.log2_modulus();
    candidate.log2_key_modulus = parameters.log2_key_modulus();
    candidate.limbs = parameters.moduli().len();
    candidate.least_limbs = (parameters.log2_modulus() / WIDE_WORD_BITS).ceil() as usize;
    if deviation <= wanted(request) || given {
        return Ok(choice);
    }
    let most = *SCALE_BITS.end();
    Err(if request.sharing.is_some() { Refusal::NotShareable { most } } else { Refusal::TooPrecise { most } })
}

/// CKKS parameters of one scale with one choice of digits.
struct Choice {
    /// Cost of key switches at all levels.
    cost: f64,
    /// The least cost of all choices of this scale, precise or not.
    least: f64,
    /// Predicted deviation of a slot.
    deviation: f64,
    /// Whether the scale is given or leaves the precision asked for.
    precise: bool,
    parameters: Parameters,
}

impl Choice {
    /// The other choice, where it alone is precise or where both are alike and it costs less than `ratio` of this one;
    /// else this one.
    fn or(self, other: Self, ratio: f64) -> Self {
        let least = self.least.min(other.least);
        let alike = self.precise == other.precise;
        let better = if alike { other.cost < ratio * self.cost } else { other.precise };
        Self { least, ..if better { other } else { self } }
    }
}

/// The digits of key switching that cost least of all that security allows and that are precise enough, or least of all
/// where none are.
fn fastest(request: &Request, chain: &Parameters, limit: f64) -> Result<Choice, Refusal> {
    let counts = request.digits.map_or(1..=chain.moduli().len(), |digits| digits..=digits);
    let mut best: Option<Choice> = None;
    let mut smallest = f64::INFINITY;
    for digits in counts {
        let Ok(parameters) = chain.clone().with_digits(digits) else { continue };
        smallest = smallest.min(parameters.log2_key_modulus());
        if parameters.log2_key_modulus() > limit || parameters.validate().is_err() {
            continue;
        }
        let limbs = (0..parameters.levels().len()).map(|level| parameters.limbs(level));
        let (options, moduli) = (parameters.key_switching(), parameters.moduli());
        let Some(cost) = SwitchCost::sum(options, moduli, limbs, parameters.degree()) else { continue };
        let Ok(deviation) = predicted(&parameters) else { continue };
        let precise = request.scale_bits.is_some() || deviation <= wanted(request);
        let choice = Choice { cost, least: cost, deviation, precise, parameters };
        best = Some(match best {
            Some(best) => best.or(choice, 1.0),
            None => choice,
        });
    }
    let log2_modulus = if smallest.is_finite() { smallest } else { chain.log2_modulus() };
    best.ok_or(Refusal::TooLarge { log2_modulus, limit })
}

/// Predicts the deviation of a slot after the computation of the [builder](super::ParametersBuilder), with full
/// packing.
pub(super) fn predicted(parameters: &Parameters) -> Result<f64, CkksError> {
    let (ring, options) = (parameters.shape().expansion(), parameters.key_switching());
    let (slots, bound) = (parameters.max_slots(), parameters.message_bound());
    let model = NoiseModel::new(ring, parameters.secrets());
    let digits = RnsDigits::new(options, parameters.moduli()).map_err(CkksError::KeySwitching)?;
    let float = |deviation: Log2| deviation.bits().exp2();
    let rounding = float(model.mod_switch(2).deviation);
    let log2_special = sunzi_math::log2_product(&options.special_moduli);
    // Relinearisation has power 2, and a rotation power 1.
    let key_switch = |level: usize, power| {
        let errors = model.key_switch(&digits.bounds_of(&parameters.limbs(level)), power).deviation;
        float(errors * Log2::from_bits(-log2_special)) + rounding
    };
    let log2_p = options.special_moduli.first().map_or(0.0, |&p| (p as f64).log2());
    let scales = parameters.scales();
    let scale = scales.last().copied().unwrap_or(1.0);
    let fresh = slot_error(float(model.public_encryption(log2_p).deviation), slots, scale);
    let mut precision = Precision::fresh(bound, fresh, 0);
    for (below, pair) in scales.windows(2).enumerate().rev() {
        let [low, high] = *pair else { continue };
        let square = precision.product(&precision, 1.0).with_magnitude(bound);
        let relinearized = square.plus_error(slot_error(key_switch(below + 1, 2), slots, high * high));
        let rescaled = relinearized.plus_error(slot_error(rounding, slots, low));
        precision = rescaled.plus_error(slot_error(key_switch(below, 1), slots, low));
    }
    Ok(precision.deviation())
}

/// Says why nothing fits and which depth would.
pub(super) fn advise(Explanation { request, candidates, .. }: &Explanation) -> NothingFits {
    let fits = |depth| explain(&Request { depth, ..request.clone() }).chosen.is_some();
    let last = candidates.last().map(|last| (request.shape(last.log2_degree), &last.verdict));
    NothingFits::new(last, largest_below(request.depth, fits))
}
