//! Measured precision of the shipped sets of bootstrapping parameters.

use std::fmt;

use sunzi_ckks::Context;
use sunzi_rlwe::words::bytes;

use super::{Back, Blueprint, BootstrapError, Set};

/// Precision in bits: −log2 of errors of slots, for slots of at most 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bits {
    /// Precision in bits that the mean error leaves.
    pub mean: f64,
    /// Precision in bits that the error of the worst slot leaves.
    pub worst: f64,
}

/// Precision that a set keeps of messages that fill all slots, after the rounds it is meant for: a little below the worst measurement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Statement {
    /// Precision of random slots, in bits.
    pub random: Bits,
    /// Precision of the hardest of three kinds of messages: all slots 1, alternating signs, a single spike.
    pub adversarial: Bits,
    /// Precision of a random message after fifty bootstrappings in a row, where measured. Errors of independent bootstrappings add as variances: 2.8
    /// bits less than after one.
    pub fifty: Option<Bits>,
}

/// Sets for few slots that keep what the set for all slots states, by name and slots: measured but for fifty bootstrappings in a row.
const FEW: [(&str, usize); 5] =
    [("n15-128", 4), ("n15-128", 16), ("n15-128", 64), ("n15-128", 256), ("n16-128-fast", 16)];

impl Statement {
    /// Returns the statement of a shipped set, also with fewer levels left, which change no step, and for the few slots that were measured; `None` for a set
    /// that was changed otherwise.
    #[must_use]
    pub fn of(set: &Set) -> Option<Self> {
        let bits = |[mean, worst]: [f64; 2]| Bits { mean, worst };
        let stated = |random, adversarial, fifty: Option<_>| {
            Some(Self { random: bits(random), adversarial: bits(adversarial), fifty: fifty.map(bits) })
        };
        let (left, few) = (set.levels_left(), set.slots);
        let is_shipped = Set::named(set.name).is_some_and(|shipped| {
            let kept = left <= shipped.levels_left();
            let variant = shipped.with_levels_left(left);
            kept && few.map_or(variant.clone(), |slots| variant.for_slots(slots)) == *set
        });
        let is_measured = few.is_none_or(|slots| FEW.contains(&(set.name, slots)));
        let stated = |random, any, fifty: Option<_>| stated(random, any, fifty.filter(|_| few.is_none()));
        match set.name {
            _ if !is_shipped || !is_measured => None,
            "n16-128" | "n16-128-switch" => stated([23.5, 21.0], [20.9, 20.0], Some([20.5, 16.5])),
            "n16-128-fast" | "n16-128-fast-switch" => stated([24.2, 20.5], [23.2, 20.4], Some([19.8, 17.8])),
            "n15-128" | "n15-128-switch" => stated([17.9, 15.7], [16.9, 15.3], Some([15.0, 13.0])),
            "n16-128-precise" | "n16-128-precise-switch" => {
                stated([36.3, 33.5], [36.3, 33.5], Some([33.4, 31.0]))
            }
            "as19" => stated([20.5, 18.5], [9.2, 9.2], None),
            _ => None,
        }
    }
}

impl fmt::Display for Bits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.1} bits in the mean, {:.1} in the worst slot", self.mean, self.worst)
    }
}

/// A parameter set in figures: its levels, precision and cost.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// Parameter set that is summarised.
    pub set: Set,
    /// Number of slots of the set's messages.
    pub slots: usize,
    /// Measured precision of the set, for a shipped set.
    pub statement: Option<Statement>,
    /// Number of levels left after the set's rounds.
    pub levels_left: usize,
    /// log2 of the modulus that is left after bootstrapping.
    pub bits_left: f64,
    /// log2 of the modulus QP, which decides the security.
    pub log2_key_modulus: f64,
    /// log2 of a bound on the probability that a bootstrapping fails.
    pub log2_failure: f64,
    /// Number of bytes of all keys of a bootstrapping.
    pub key_bytes: usize,
    /// Number of bytes of the encoded matrices of a bootstrapping.
    pub diagonal_bytes: usize,
}

impl Summary {
    /// Summarises a parameter set for messages that fill all slots, or the few that the set is for. Makes the tables of the context, but no
    /// key.
    ///
    /// # Errors
    /// Every error of [`Set::parameters`] and [`Blueprint::new`].
    pub fn new(set: &Set) -> Result<Self, BootstrapError> {
        let context = Context::new(&set.parameters()?)?;
        let blueprint = Blueprint::new(&context, set, set.slots.unwrap_or(context.max_slots()))?;
        let levels_left = blueprint.levels_left();
        Ok(Self {
            set: set.clone(),
            slots: blueprint.slots(),
            statement: Statement::of(set),
            levels_left,
            bits_left: context.rlwe().log2_modulus_at(context.limbs(levels_left)?)?,
            log2_key_modulus: blueprint.log2_key_modulus(),
            log2_failure: blueprint.log2_failure(),
            key_bytes: blueprint.key_bytes()?,
            diagonal_bytes: blueprint.diagonal_bytes(),
        })
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Set { secret, security, encapsulation, rounds, .. } = &self.set;
        writeln!(f, "{}", self.set)?;
        let degree = 1_u64.checked_shl(self.set.log2_degree).unwrap_or(u64::MAX);
        writeln!(f, "  ring degree n         {degree}, {} slots", self.slots)?;
        writeln!(f, "  security              {security}, log2 QP = {:.1}, {secret}", self.log2_key_modulus)?;
        if let Some(capsule) = encapsulation {
            let shape =
                if capsule.rank > 1 { format!(" in {} polynomials", capsule.rank) } else { String::new() };
            writeln!(f, "  raised under          a secret of Hamming weight {}{shape}", capsule.weight)?;
            let back = match capsule.back {
                Back::KeySwitch => "a key switch",
                Back::FirstMatrix => "the first matrix of CoeffsToSlots",
            };
            writeln!(f, "  and back by           {back}")?;
        }
        writeln!(f, "  failure               2^{:.0} at most", self.log2_failure)?;
        write!(f, "  left                  {} levels, {:.0} bits", self.levels_left, self.bits_left)?;
        match self.set.lowest_level() {
            0 => writeln!(f)?,
            level => writeln!(f, "; the next takes {level} of the levels")?,
        }
        writeln!(f, "  rounds                {rounds}")?;
        match &self.statement {
            Some(Statement { random, adversarial, fifty }) => {
                writeln!(f, "  random messages       {random}")?;
                writeln!(f, "  any message           {adversarial}")?;
                if let Some(bits) = fifty {
                    writeln!(f, "  fifty times in a row  {bits}")?;
                }
            }
            None => writeln!(f, "  precision             not measured")?,
        }
        let [keys, matrices] = [self.key_bytes, self.diagonal_bytes].map(|size| bytes(size as u64));
        write!(f, "  keys, matrices        {keys}, {matrices}")
    }
}
