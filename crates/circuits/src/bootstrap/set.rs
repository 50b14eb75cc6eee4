//! Parameter sets of bootstrapping: plain data from which a context and a bootstrapping are made.

pub(super) mod few_slots;
mod tables;
mod variants;

use std::ops::RangeInclusive;

use sunzi_ckks::{CkksError, LevelRange, Parameters};
use sunzi_rlwe::moduli::MAX_MODULI;
use sunzi_rlwe::{SecretDistribution, Security, security};

use super::eval_mod::{ApproximationForm, EvalMod, EvalModParameters};
use super::steps::Steps;
use super::{BootstrapError, SpecialModuli, failure};

/// Sparse secret under which ModRaise runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Encapsulation {
    /// Hamming weight h of the sparse secret.
    pub weight: usize,
    /// Number of polynomials that share the weight: 1, or 2 where a ring is too small for a weight. Security is that of dimension rank·n; the switch
    /// back takes as many key switches.
    pub rank: usize,
    /// log2 of the special modulus P' of the encapsulation: q_0·P' must stay within the security table for weight h and dimension rank·n.
    pub special_bits: u32,
    /// Way from the sparse secret back to the main one.
    pub back: Back,
}

/// Way from the sparse secret back to the main one, after the modulus was raised.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Back {
    /// One key switch with all digits; then every matrix of CoeffsToSlots takes a level.
    #[default]
    KeySwitch,
    /// Keys of the first matrix of CoeffsToSlots, of one digit each: the matrix takes no level, so that there is one matrix more than levels
    /// `[YZSW25]`.
    FirstMatrix,
}

/// Position of SlotsToCoeffs among the steps of bootstrapping.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// SlotsToCoeffs at the end, on levels of its own: a message with no level left is bootstrapped `[AS19, 3.1]`.
    Last,
    /// SlotsToCoeffs at the beginning, on the lowest levels: cheaper, since its modulus is smaller, and the message keeps more levels; a message with fewer levels
    /// than it takes can no longer be bootstrapped. EvalMod runs twice, for real and for imaginary parts; in sets [for few slots](Set::for_slots) it
    /// runs once, and one level more takes the parts asunder.
    First,
}

/// Choice of the moduli of the levels of a ciphertext.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Chain {
    /// Prefixes of one list: one level's moduli are among those of every level above it.
    #[default]
    Prefixes,
    /// Any sets of moduli, of as few words as hold their bits: see [`Parameters::from_ranges_rational`].
    Sets,
}

/// A parameter set, from which a bootstrapping is made. Levels from below: q_0; residual levels, whose lowest SlotsToCoeffs uses if it comes
/// [`First`](Order::First); SlotsToCoeffs if it comes [`Last`](Order::Last); EvalMod; CoeffsToSlots.
#[derive(Clone, Debug, PartialEq)]
pub struct Set {
    /// Name of the shipped set that the parameters are, or come from.
    pub name: &'static str,
    /// log2 of the ring degree n.
    pub log2_degree: u32,
    /// log2 of the lowest modulus q_0.
    pub first_bits: u32,
    /// Choice of the moduli of the levels.
    pub chain: Chain,
    /// Levels that are left after bootstrapping, and their scale.
    pub residual: LevelRange,
    /// Levels and scale of SlotsToCoeffs.
    pub slots_to_coeffs: LevelRange,
    /// log2 of the scale of EvalMod, which has as many levels as it takes.
    pub eval_mod_bits: u32,
    /// Parameters of EvalMod, the approximation of x modulo 1.
    pub eval_mod: EvalModParameters,
    /// Levels and scale of polynomials that stand for [tables](super::functional), below EvalMod, which then gives the exponential alone: `None` in
    /// sets that bootstrap messages as they are.
    pub tables: Option<LevelRange>,
    /// Levels and log2 of the moduli of CoeffsToSlots: one for each matrix, but none for one that is applied while the modulus is raised.
    pub coeffs_to_slots: LevelRange,
    /// Number of digits of key switching in the context, d_num.
    pub digits: usize,
    /// Special moduli of the steps.
    pub special: SpecialModuli,
    /// Distribution of the main secret key.
    pub secret: SecretDistribution,
    /// Sparse secret at ModRaise, if it is another than the main secret.
    pub encapsulation: Option<Encapsulation>,
    /// Position of SlotsToCoeffs among the steps.
    pub order: Order,
    /// Number of rounds of [refinement](super::Bootstrapper::bootstrap_refined) that the set is meant for: 1 for none. Every further one takes a residual level.
    pub rounds: usize,
    /// Number of slots of the messages that matrices and digits are [chosen for](Self::for_slots): `None` for as many as the ring has.
    pub slots: Option<usize>,
    /// Size of messages: slots are at most 2^`message_bits`.
    pub message_bits: u32,
    /// Security level that the parameters have to reach.
    pub security: Security,
}

/// Levels at which the steps of bootstrapping start, counted from below.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Levels {
    /// Level of a bootstrapped ciphertext.
    pub residual: usize,
    /// Level at which SlotsToCoeffs starts.
    pub slots_to_coeffs: usize,
    /// Level at which EvalMod starts.
    pub eval_mod: usize,
    /// Level at which CoeffsToSlots starts: the highest.
    pub coeffs_to_slots: usize,
}

impl Set {
    /// Default set: 128 bits of security at n = 2^16 for uniform ternary secrets, full packing, ten levels of 40 bits and 447 bits left.
    ///
    /// The set keeps of random messages
    /// 23.5 bits in the mean, 21.0 in the worst slot,
    /// of messages that are all 1, alternating, or a single spike
    /// 20.9 bits in the mean, 20.0 in the worst slot,
    /// and after fifty bootstrappings in a row
    /// 20.5 bits in the mean, 16.5 in the worst slot.
    /// log2 QP = 1643 of 1746, failure 2^-132, keys of 4.2 GiB in memory and 2.2 GB in a file.
    #[must_use]
    pub fn default_128() -> Self {
        Self {
            name: "n16-128",
            log2_degree: 16,
            first_bits: 47,
            chain: Chain::Sets,
            residual: LevelRange { levels: 10, scale_bits: 40 },
            slots_to_coeffs: LevelRange { levels: 3, scale_bits: 40 },
            eval_mod_bits: 60,
            eval_mod: EvalModParameters {
                form: ApproximationForm::Cosine { degree: 30, arcsine: 3 },
                doublings: 3,
                range: 15,
                ratio_bits: 6.75,
                weight: 32,
            },
            tables: None,
            coeffs_to_slots: LevelRange { levels: 3, scale_bits: 47 },
            digits: 4,
            special: SpecialModuli::EachStep,
            secret: SecretDistribution::Ternary,
            encapsulation: Some(Encapsulation {
                weight: 32,
                rank: 1,
                special_bits: 61,
                back: Back::FirstMatrix,
            }),
            order: Order::Last,
            rounds: 1,
            slots: None,
            message_bits: 0,
            security: Security::Bits128,
        }
    }

    /// Fast set: that of the default in less time and memory, for messages bootstrapped before the last levels are used. SlotsToCoeffs comes first, on
    /// the three lowest of twelve levels of 40 bits, so that nine levels and 413 bits lie between two bootstrappings. Coefficients are slots there, so that
    /// messages that one coefficient holds are no harder than others, and messages are so small beside q_0 that the sine needs no correction.
    ///
    /// The set keeps of random messages
    /// 24.2 bits in the mean, 20.5 in the worst slot,
    /// of messages that are all 1, alternating, or a single spike
    /// 23.2 bits in the mean, 20.4 in the worst slot,
    /// and after fifty bootstrappings in a row
    /// 19.8 bits in the mean, 17.8 in the worst slot.
    /// log2 QP = 1737 of 1746, failure 2^-132, keys of 2.3 GiB in memory and 1.2 GB in a file.
    #[must_use]
    pub fn fast_128() -> Self {
        let default = Self::default_128();
        Self {
            name: "n16-128-fast",
            first_bits: 53,
            order: Order::First,
            residual: LevelRange { levels: 12, ..default.residual },
            eval_mod_bits: 59,
            eval_mod: EvalModParameters {
                form: ApproximationForm::Cosine { degree: 30, arcsine: 1 },
                ratio_bits: 12.5,
                ..default.eval_mod
            },
            coeffs_to_slots: LevelRange { levels: 3, scale_bits: 49 },
            digits: 3,
            ..default
        }
    }

    /// Set for n = 2^15: 128 bits of security for uniform ternary secrets, two levels of 35 bits and 115 bits left. The table has no weight as small as 32
    /// there, but it has for the dimension 2^16: the sparse secret is a vector of two polynomials. Messages are so small beside q_0 that the
    /// sine needs no correction.
    ///
    /// The set keeps of random messages
    /// 17.9 bits in the mean, 15.7 in the worst slot,
    /// of messages that are all 1, alternating, or a single spike
    /// 16.9 bits in the mean, 15.3 in the worst slot,
    /// and after fifty bootstrappings in a row
    /// 15.0 bits in the mean, 13.0 in the worst slot.
    /// log2 QP = 862 of 868, failure 2^-134, keys of 1.8 GiB in memory and 0.9 GB in a file.
    #[must_use]
    pub fn n15_128() -> Self {
        Self {
            name: "n15-128",
            log2_degree: 15,
            first_bits: 45,
            residual: LevelRange { levels: 2, scale_bits: 35 },
            slots_to_coeffs: LevelRange { levels: 2, scale_bits: 33 },
            eval_mod_bits: 56,
            eval_mod: EvalModParameters {
                form: ApproximationForm::Cosine { degree: 30, arcsine: 1 },
                doublings: 3,
                range: 15,
                ratio_bits: 9.75,
                weight: 32,
            },
            coeffs_to_slots: LevelRange { levels: 2, scale_bits: 45 },
            digits: 7,
            encapsulation: Some(Encapsulation {
                weight: 32,
                rank: 2,
                special_bits: 60,
                back: Back::FirstMatrix,
            }),
            ..Self::default_128()
        }
    }

    /// Precise set: that of the fast one for two rounds of [refinement](super::Bootstrapper::bootstrap_refined), with levels of 52 bits, two primes each.
    /// Nine levels and 524 bits are left, three of which the next bootstrapping takes. A fourth doubling makes EvalMod's largest error, which bounds of noise
    /// contain, 2^4 times smaller.
    ///
    /// The set keeps, of random messages and of those that are all 1, alternating, or a single spike,
    /// 36.3 bits in the mean, 33.5 in the worst slot,
    /// and after fifty bootstrappings in a row
    /// 33.4 bits in the mean, 31.0 in the worst slot.
    /// log2 QP = 1683 of 1746, failure 2^-132, keys of 3.1 GiB in memory and 1.6 GB in a file.
    #[must_use]
    pub fn high_precision_128() -> Self {
        let fast = Self::fast_128();
        Self {
            name: "n16-128-precise",
            first_bits: 56,
            residual: LevelRange { levels: 10, scale_bits: 52 },
            eval_mod: EvalModParameters {
                form: ApproximationForm::Cosine { degree: 22, arcsine: 1 },
                doublings: 4,
                ..fast.eval_mod
            },
            rounds: 2,
            ..fast
        }
    }

    /// The paper's set `[AS19, 5]`: q_0 ≈ 2^61, L = 32 levels of 55 bits, h = 64, r = 8, radix 8. The steps take 21 levels, so that 11 are
    /// left where the paper has 7. INSECURE: 80 bits by the estimates of its time.
    ///
    /// The set keeps of random messages, where the paper states 11 bits,
    /// 20.5 bits in the mean, 18.5 in the worst slot,
    /// and of messages that are all 1, alternating, or a single spike
    /// 9.2 bits in the mean, 9.2 in the worst slot:
    /// q_0 is 2^6 times the scale, so that the sine of the largest message, which nothing corrects, is off by (2π)^2/6·2^-12 = 2^-9.3 of it. log2 QP =
    /// 2288, failure 2^-194.
    #[must_use]
    pub fn akimoto_sakuma_insecure() -> Self {
        Self {
            name: "as19",
            log2_degree: 16,
            first_bits: 61,
            chain: Chain::Prefixes,
            residual: LevelRange { levels: 11, scale_bits: 55 },
            slots_to_coeffs: LevelRange { levels: 5, scale_bits: 55 },
            eval_mod_bits: 55,
            eval_mod: EvalModParameters {
                form: ApproximationForm::Exponential { degree: 7 },
                doublings: 8,
                range: 29,
                ratio_bits: 5.75,
                weight: 64,
            },
            tables: None,
            coeffs_to_slots: LevelRange { levels: 5, scale_bits: 55 },
            digits: 4,
            special: SpecialModuli::Shared,
            secret: SecretDistribution::FixedWeight(64),
            encapsulation: None,
            order: Order::Last,
            rounds: 1,
            slots: None,
            message_bits: 0,
            security: Security::InsecureForResearchOnly,
        }
    }

    /// Returns all shipped sets. [`Statement`](super::Statement) says the precision each keeps,
    /// [`Summary`](super::Summary) what it costs.
    #[must_use]
    pub fn shipped() -> [Self; 5] {
        [
            Self::default_128(),
            Self::fast_128(),
            Self::n15_128(),
            Self::high_precision_128(),
            Self::akimoto_sakuma_insecure(),
        ]
    }

    /// Returns a small and INSECURE set for tests: the default with n = 2^`log2_degree`, few levels left, prefixes of moduli, and a key switch back from the
    /// sparse secret.
    #[must_use]
    pub fn insecure_for_tests(log2_degree: u32) -> Self {
        Self {
            name: "insecure-test",
            log2_degree,
            chain: Chain::Prefixes,
            residual: LevelRange { levels: 3, scale_bits: 40 },
            security: Security::InsecureForResearchOnly,
            ..Self::default_128().with_key_switch_back()
        }
    }

    /// Returns the levels at which the steps of bootstrapping start.
    ///
    /// # Errors
    /// [`BootstrapError::Series`] for an EvalMod that is not possible; [`BootstrapError::Set`] for steps without levels.
    pub fn levels(&self) -> Result<Levels, BootstrapError> {
        let eval_mod = EvalMod::new(self.eval_mod)?.depth();
        let own = self.slots_to_coeffs.levels;
        let outside =
            |what, got: usize, expected: String| BootstrapError::Set { what, got: got.to_string(), expected };
        for (what, got) in [
            ("levels of SlotsToCoeffs", own),
            ("levels of CoeffsToSlots", self.coeffs_to_slots.levels),
            ("levels left", self.residual.levels),
        ] {
            if got == 0 || got > MAX_MODULI {
                return Err(outside(what, got, format!("1 to {MAX_MODULI}")));
            }
        }
        let residual = self.residual.levels;
        let (start, below) = match self.order {
            Order::Last => (residual + own, self.below_eval_mod()),
            Order::First if own <= residual => (own, self.below_eval_mod()),
            Order::First => return Err(outside("levels left", residual, format!("at least {own}"))),
        };
        Ok(Levels {
            residual,
            slots_to_coeffs: start,
            eval_mod: below + eval_mod,
            coeffs_to_slots: below + eval_mod + self.coeffs_to_slots.levels,
        })
    }

    /// Returns the CKKS parameters of the set's context.
    ///
    /// # Errors
    /// Every error of [`levels`](Self::levels); [`BootstrapError::Ckks`] for scales without primes and above the security limit.
    pub fn parameters(&self) -> Result<Parameters, BootstrapError> {
        let parameters = self.chain_of_levels()?.with_digits(self.digits)?;
        parameters.validate()?;
        Ok(parameters)
    }

    /// Returns the CKKS parameters without special moduli.
    fn chain_of_levels(&self) -> Result<Parameters, BootstrapError> {
        let levels = self.levels()?;
        let eval_mod = LevelRange {
            levels: levels.coeffs_to_slots - self.coeffs_to_slots.levels - self.below_eval_mod(),
            scale_bits: self.eval_mod_bits,
        };
        let mut ranges = vec![self.residual];
        if self.order == Order::Last {
            ranges.push(self.slots_to_coeffs);
        } else if self.splits_parts() {
            // A range of its own: levels that are left end where the residual range does.
            ranges.push(LevelRange { levels: 1, ..self.residual });
        }
        ranges.extend(self.tables);
        ranges.extend([eval_mod, self.coeffs_to_slots]);
        // Before the search for primes, which knows no reason why there are none.
        let bits = |range: &LevelRange| range.levels as f64 * f64::from(range.scale_bits);
        let least = f64::from(self.first_bits) + ranges.iter().map(bits).sum::<f64>();
        let degree = 1_usize.checked_shl(self.log2_degree).unwrap_or(usize::MAX);
        security::check_of(self.secret, degree, least, self.security).map_err(CkksError::from)?;
        let make = match self.chain {
            Chain::Prefixes => Parameters::from_ranges,
            Chain::Sets => Parameters::from_ranges_rational,
        };
        let chain = make(self.log2_degree, self.first_bits, &ranges, self.security)?;
        let chain = match self.special {
            SpecialModuli::Shared => chain,
            SpecialModuli::EachStep => {
                let steps = self.step_levels()?;
                // Those of CoeffsToSlots have all moduli.
                let chain = chain.with_joint_level(steps.polynomial).with_joint_level(steps.slots_to_coeffs);
                steps.tables.into_iter().fold(chain, Parameters::with_joint_level)
            }
        };
        Ok(chain.with_secrets(self.secret).with_message_bits(self.message_bits))
    }

    /// Returns the levels of the ciphertexts whose keys every step switches.
    pub(super) fn step_levels(&self) -> Result<Steps<RangeInclusive<usize>>, BootstrapError> {
        let (levels, depth) = (self.levels()?, EvalMod::new(self.eval_mod)?.polynomial_depth());
        let range = |highest: usize, count: usize| (highest + 1).saturating_sub(count)..=highest;
        // Parts side by side are added below the first matrix, at a level whose moduli may be others.
        let least = if (self.order, self.chain) == (Order::Last, Chain::Sets) { 2 } else { 1 };
        Ok(Steps {
            coeffs_to_slots: range(levels.coeffs_to_slots, self.coeffs_to_slots.levels),
            polynomial: range(levels.eval_mod, depth),
            tables: self.tables.map(|tables| range(self.below_eval_mod(), tables.levels)),
            slots_to_coeffs: if self.rotates_results() {
                range(levels.residual, levels.residual)
            } else {
                range(levels.slots_to_coeffs, self.slots_to_coeffs.levels.max(least))
            },
        })
    }

    /// Returns whether there are keys of rotations of results, as sets [for integers](Self::for_integers) have: those with levels for tables, and two levels
    /// above the lowest.
    pub(super) fn rotates_results(&self) -> bool {
        self.tables.is_some() && self.residual.levels >= self.lowest_level() + 2
    }

    /// Returns the number of levels that a message has left after the rounds of the set.
    #[must_use]
    pub fn levels_left(&self) -> usize {
        self.residual.levels.saturating_sub(self.rounds.max(1) - 1)
    }

    /// Returns the lowest level that a message may have: SlotsToCoeffs takes its levels from the message where it comes first.
    #[must_use]
    pub fn lowest_level(&self) -> usize {
        if self.order == Order::First { self.slots_to_coeffs.levels } else { 0 }
    }

    /// Returns whether the first matrix of CoeffsToSlots is applied while the modulus is raised.
    pub(super) fn raises_with_matrix(&self) -> bool {
        self.encapsulation.is_some_and(|capsule| capsule.back == Back::FirstMatrix)
    }

    /// Returns the number of matrices of CoeffsToSlots.
    #[must_use]
    pub fn matrices_to_slots(&self) -> usize {
        self.coeffs_to_slots.levels + usize::from(self.raises_with_matrix())
    }

    /// Returns the fewest slots that the transforms of the set have, a step for each matrix.
    pub(super) fn fewest_slots(&self) -> usize {
        let matrices = self.matrices_to_slots().max(self.slots_to_coeffs.levels);
        u32::try_from(matrices).ok().and_then(|matrices| 1_usize.checked_shl(matrices)).unwrap_or(usize::MAX)
    }

    /// Returns whether real and imaginary parts of few slots go through EvalMod side by side where SlotsToCoeffs comes first, and are taken asunder after it.
    pub(super) fn splits_parts(&self) -> bool {
        self.order == Order::First && self.slots.is_some()
    }

    /// Returns the level at which EvalMod ends.
    pub(super) fn below_eval_mod(&self) -> usize {
        let own = match self.order {
            Order::Last => self.slots_to_coeffs.levels,
            Order::First => usize::from(self.splits_parts()),
        };
        self.residual.levels + own + self.tables.map_or(0, |tables| tables.levels)
    }

    /// Returns the distribution of the secret key at ModRaise.
    #[must_use]
    pub fn raised_secret(&self) -> SecretDistribution {
        self.encapsulation.map_or(self.secret, |capsule| SecretDistribution::FixedWeight(capsule.weight))
    }

    /// Returns log2 of a bound on the probability that a bootstrapping of messages of `slots` slots fails because an integer leaves the range
    /// of EvalMod: see [`failure`].
    #[must_use]
    pub fn log2_failure(&self, slots: usize) -> f64 {
        // For tables |x| up to K + 1 is near, and x is at most 1/2 beyond the sum of the integer's variables.
        let ratio = if self.tables.is_some() { 0.0 } else { (-self.eval_mod.ratio_bits).exp2() };
        let degree = 1_usize.checked_shl(self.log2_degree).unwrap_or(usize::MAX);
        failure::log2_failure(self.raised_secret(), degree, 2 * slots, self.eval_mod.range, ratio)
    }
}
