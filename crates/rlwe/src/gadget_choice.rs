//! How many digits and special moduli key switching should have: counted cost against security.

use sunzi_math::{DEFAULT_PRIME_BOUND, primes_below};
use sunzi_ring::{GadgetOptions, RingError, RnsDigits};

use crate::{RlweError, Security, security};

/// P may fall short of the largest digit by this many bits: primes of one length differ by less.
const SLACK: f64 = 0.05;

/// What a choice depends on.
#[derive(Clone, Copy, Debug)]
pub struct GadgetRequest<'a> {
    /// log2 n.
    pub log2_degree: u32,
    /// The ciphertext moduli, in order.
    pub moduli: &'a [u64],
    /// What special moduli must share no factor with besides: plaintext moduli.
    pub coprime_to: &'a [u64],
    /// Limits log2 QP.
    pub security: Security,
    /// How often keys are switched at level 1, 2, …; where it is empty, always at the highest.
    pub weights: &'a [f64],
    /// d_num, where it is not to be chosen.
    pub digits: Option<usize>,
}

/// What one key switch in evaluation form takes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SwitchCost {
    /// Transforms of one limb, forward and inverse.
    pub transforms: f64,
    /// Multiplications of n words by words or constants.
    pub multiplications: f64,
    /// Bytes of key that are read.
    pub key_bytes: f64,
}

/// Options with special moduli, and what a key switch takes with them, on average over the levels.
#[derive(Clone, Debug, PartialEq)]
pub struct GadgetChoice {
    /// Digits and special moduli.
    pub options: GadgetOptions,
    /// What a key switch takes.
    pub cost: SwitchCost,
}

impl SwitchCost {
    /// The cost at a level of options that `moduli` allow, for digits that are whole residues or remainders: d(l + s) − l forward
    /// transforms of digits and l inverse ones before, 2s inverse and 2l forward ones on the way down from s special moduli.
    ///
    /// # Errors
    /// [`RlweError::Ring`] for options that the moduli do not allow.
    pub fn new(
        options: &GadgetOptions,
        moduli: &[u64],
        level: usize,
        degree: usize,
    ) -> Result<Self, RlweError> {
        let digits = RnsDigits::new(options, moduli)?;
        let (l, s, d) = (level as f64, options.special_moduli.len() as f64, digits.count_at(level) as f64);
        let key_limbs = (l - options.dropped_limbs as f64).max(0.0) + s;
        let own = if options.radix_bits.is_some() { 0.0 } else { l };
        // A digit of several residues takes a term for each and one for the quotient.
        let term = |limbs: usize| if limbs > 1 { (limbs + 1) as f64 * (l + s - limbs as f64) } else { 0.0 };
        let lifts: f64 = digits.limbs_at(level).into_iter().map(term).sum();
        let (down, down_terms) = if s > 0.0 { (2.0 * (s + l), 2.0 * l * (s + 2.0)) } else { (0.0, 0.0) };
        Ok(Self {
            transforms: l + d * key_limbs - own + down,
            multiplications: lifts + 2.0 * d * key_limbs + down_terms,
            key_bytes: 16.0 * degree as f64 * d * key_limbs,
        })
    }

    /// Everything in transforms: a term of a conversion takes 1/15 of one, and as long as 14 bytes from memory n times. Measured on
    /// AMD Zen 4 (EPYC) at n = 2^14; what matters is their ratio, which hardly changes.
    #[must_use]
    pub fn in_transforms(&self, degree: usize) -> f64 {
        self.transforms + self.multiplications / 15.0 + self.key_bytes / (14.0 * degree as f64)
    }

    fn plus(self, other: Self, weight: f64) -> Self {
        Self {
            transforms: self.transforms + weight * other.transforms,
            multiplications: self.multiplications + weight * other.multiplications,
            key_bytes: self.key_bytes + weight * other.key_bytes,
        }
    }
}

/// The cheapest digits and special moduli, which are default-size primes, for which P is as large as the largest digit, so that
/// the noise of a switch is near that of a rounding, and QP is secure; none where nothing fits (BV remains).
///
/// ```
/// use sunzi_math::{DEFAULT_PRIME_BOUND, primes_below};
/// use sunzi_rlwe::Security;
/// use sunzi_rlwe::gadget_choice::{GadgetRequest, choose};
///
/// let moduli = primes_below(DEFAULT_PRIME_BOUND, 1 << 16, 14)?;
/// let request = GadgetRequest {
///     log2_degree: 15,
///     moduli: &moduli,
///     coprime_to: &[65_537],
///     security: Security::Bits128,
///     weights: &[],
///     digits: None,
/// };
/// let choice = choose(&request)?.ok_or("nothing fits")?;
/// assert_eq!((choice.options.digits, choice.options.special_moduli.len()), (Some(4), 4));
/// assert_eq!(choice.cost.transforms, 108.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`RlweError::Ring`] without moduli, for more digits than moduli or weights than levels, and where there are not enough primes.
pub fn choose(request: &GadgetRequest<'_>) -> Result<Option<GadgetChoice>, RlweError> {
    let k = request.moduli.len();
    if request.weights.len() > k {
        let error =
            RingError::LengthMismatch { what: "weights of levels", expected: k, got: request.weights.len() };
        return Err(error.into());
    }
    let log2 = |moduli: &[u64]| -> f64 { moduli.iter().map(|&q| (q as f64).log2()).sum() };
    let room = security::max_log2_modulus(request.log2_degree, request.security)
        .map(|limit| f64::from(limit) - log2(request.moduli));
    let mut best: Option<GadgetChoice> = None;
    let counts = request.digits.map_or(1..=k, |digits| digits..=digits);
    for digits in counts {
        if digits == 0 || digits > k {
            return Err(RingError::OutOfRange {
                what: "digits",
                expected: format!("1 to {k}, the number of ciphertext moduli"),
                got: digits.to_string(),
            }
            .into());
        }
        let largest = request.moduli.chunks(k.div_ceil(digits)).map(log2).fold(0.0, f64::max);
        let Some(special_moduli) = special_moduli(request, largest - SLACK, room)? else { continue };
        let options = GadgetOptions { digits: Some(digits), special_moduli, ..GadgetOptions::default() };
        let cost = average(request, &options)?;
        let weight = |cost: &SwitchCost| cost.in_transforms(1 << request.log2_degree);
        if best.as_ref().is_none_or(|best| weight(&cost) < weight(&best.cost)) {
            best = Some(GadgetChoice { options, cost });
        }
    }
    Ok(best)
}

/// The largest default-size primes that can be special, as few as have a product of at least `bits` bits; none if that is more
/// than there is room for.
fn special_moduli(
    request: &GadgetRequest<'_>,
    bits: f64,
    room: Option<f64>,
) -> Result<Option<Vec<u64>>, RlweError> {
    let secure =
        request.security == Security::InsecureForResearchOnly || room.is_some_and(|room| bits <= room);
    if !secure {
        return Ok(None);
    }
    // Default-size primes have more than 47 bits until millions of them are taken.
    let most = (bits / 47.0).ceil().max(1.0) as usize + request.moduli.len() + request.coprime_to.len();
    let primes =
        primes_below(DEFAULT_PRIME_BOUND, 2 << request.log2_degree, most).map_err(RingError::from)?;
    let mut total = 0.0;
    let mut chosen = Vec::new();
    for prime in primes {
        if total >= bits && !chosen.is_empty() {
            break;
        }
        if !request.moduli.contains(&prime) && request.coprime_to.iter().all(|t| t % prime != 0) {
            total += (prime as f64).log2();
            chosen.push(prime);
        }
    }
    Ok(Some(chosen).filter(|_| room.is_none_or(|room| total <= room)))
}

fn average(request: &GadgetRequest<'_>, options: &GadgetOptions) -> Result<SwitchCost, RlweError> {
    let (moduli, degree) = (request.moduli, 1 << request.log2_degree);
    let total: f64 = request.weights.iter().sum();
    if total <= 0.0 {
        return SwitchCost::new(options, moduli, moduli.len(), degree);
    }
    let mut sum = SwitchCost::default();
    for (level, weight) in (1..).zip(request.weights) {
        sum = sum.plus(SwitchCost::new(options, moduli, level, degree)?, weight / total);
    }
    Ok(sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(log2_degree: u32, moduli: &[u64]) -> GadgetRequest<'_> {
        let security = Security::Bits128;
        GadgetRequest { log2_degree, moduli, coprime_to: &[65_537], security, weights: &[], digits: None }
    }

    fn primes(log2_degree: u32, count: usize) -> Vec<u64> {
        primes_below(DEFAULT_PRIME_BOUND, 2 << log2_degree, count).unwrap()
    }

    #[test]
    fn choices_are_secure_disjoint_and_large_enough() {
        for log2_degree in 13..=16 {
            let limit = f64::from(security::max_log2_modulus(log2_degree, Security::Bits128).unwrap());
            for count in 1..=(limit / 48.0) as usize {
                let moduli = primes(log2_degree, count);
                let Some(choice) = choose(&request(log2_degree, &moduli)).unwrap() else {
                    assert!(count as f64 * 47.8 + 47.8 > limit, "{count} of {limit}");
                    continue;
                };
                let GadgetOptions { digits, special_moduli, .. } = &choice.options;
                let bits = |moduli: &[u64]| moduli.iter().map(|&q| (q as f64).log2()).sum::<f64>();
                assert!(bits(&moduli) + bits(special_moduli) <= limit);
                assert!(special_moduli.iter().all(|p| !moduli.contains(p)));
                let group = count.div_ceil(digits.unwrap());
                assert!(bits(special_moduli) >= bits(&moduli[..group]) - SLACK);
                // One special modulus less would not be enough.
                assert!(
                    bits(&special_moduli[1..]) < bits(&moduli[..group]) - SLACK || special_moduli.len() == 1
                );
            }
        }
    }

    /// No other number of digits is cheaper, and the security limit is what keeps it from fewer.
    #[test]
    fn the_choice_is_the_cheapest() {
        let moduli = primes(15, 12);
        let best = choose(&request(15, &moduli)).unwrap().unwrap();
        for digits in 1..=12 {
            let forced = choose(&GadgetRequest { digits: Some(digits), ..request(15, &moduli) }).unwrap();
            let Some(forced) = forced else {
                assert!(12_usize.div_ceil(digits) > 6);
                continue;
            };
            assert!(forced.cost.in_transforms(1 << 15) >= best.cost.in_transforms(1 << 15));
        }
        let insecure = GadgetRequest { security: Security::InsecureForResearchOnly, ..request(15, &moduli) };
        assert!(choose(&insecure).unwrap().unwrap().cost.key_bytes <= best.cost.key_bytes);
        assert!(choose(&request(12, &primes(12, 2))).unwrap().is_none());
    }

    #[test]
    fn special_moduli_avoid_plaintext_moduli_and_few_long_ones_serve_many_short_ones() {
        let moduli = sunzi_math::primes_with_bits(30, 1 << 15, 8).unwrap();
        let first = choose(&GadgetRequest { digits: Some(2), ..request(14, &moduli) }).unwrap().unwrap();
        // 4 · 30 bits in three primes of 47.8.
        assert_eq!(first.options.special_moduli.len(), 3);
        let t = [first.options.special_moduli[0]];
        let request = GadgetRequest { coprime_to: &t, digits: Some(2), ..request(14, &moduli) };
        let second = choose(&request).unwrap().unwrap();
        assert_eq!(second.options.special_moduli[..2], first.options.special_moduli[1..]);
    }

    #[test]
    fn lower_levels_cost_less() {
        let moduli = primes(15, 12);
        let low = GadgetRequest { weights: &[1.0, 1.0, 1.0], digits: Some(4), ..request(15, &moduli) };
        let high = GadgetRequest { weights: &[], ..low };
        let [low, high] = [low, high].map(|request| choose(&request).unwrap().unwrap());
        assert_eq!(low.options, high.options);
        assert!(low.cost.transforms * 3.0 < high.cost.transforms, "{:?} {:?}", low.cost, high.cost);
        // d(l + s) − l + l + 2s + 2l with s = 3, averaged over l = 1, 2, 3.
        assert_eq!(low.cost.transforms, 5.0 + 6.0 + 4.0);
    }

    #[test]
    fn nonsense_is_refused() {
        let moduli = primes(14, 3);
        assert!(choose(&request(14, &[])).is_ok_and(|choice| choice.is_none()));
        for digits in [0, 4, usize::MAX] {
            assert!(choose(&GadgetRequest { digits: Some(digits), ..request(14, &moduli) }).is_err());
        }
        assert!(choose(&GadgetRequest { weights: &[1.0; 4], ..request(14, &moduli) }).is_err());
    }
}
