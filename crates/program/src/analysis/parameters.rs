//! Encryption parameters of a program, in any of the schemes.

use std::iter;

use serde::{Deserialize, Serialize};
use sunzi_bfv::CrtParameters;
use sunzi_circuits::bootstrap::BootstrapParameters;
use sunzi_circuits::clear::Counts;
use sunzi_circuits::integers::IntegerParameters;
use sunzi_ring::{GadgetOptions, Ring, RnsDigits};
use sunzi_rlwe::Security;
use sunzi_rlwe::switch_cost::SwitchCost;
use sunzi_rlwe::wire::{WireError, evaluation_keys_len};

use super::{Layout, Refusal};
use crate::ProgramError;

/// Largest precision of CKKS, in bits.
pub(super) const MOST_PRECISION: u32 = 45;

/// Cost of a multiplication of n words, relative to a transform of n words.
pub(crate) const MULTIPLICATION: f64 = 1.0 / 15.0;

/// Scheme that a program runs in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SchemeChoice {
    /// BFV: exact, for any order of operations.
    Bfv,
    /// BGV: exact, for the operations that were counted.
    Bgv,
    /// CKKS: approximate, with functions and comparisons.
    Ckks,
    /// Encrypted integers in digits of 4 bits: exact comparisons, order and tables, by look-ups of about a second.
    Integers,
}

/// Encryption parameters of one scheme.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Parameters {
    /// Parameters of BFV, for every plaintext modulus.
    Bfv(CrtParameters),
    /// Parameters of BGV, made for the largest of several plaintext moduli.
    Bgv {
        /// Parameters of BGV with the first of the plaintext moduli.
        parameters: sunzi_bgv::Parameters,
        /// Plaintext moduli that share the BGV parameters.
        plain_moduli: Vec<u64>,
    },
    /// Parameters of CKKS.
    Ckks(sunzi_ckks::Parameters),
    /// Parameters of CKKS with bootstrapping.
    Bootstrapped(BootstrapParameters),
    /// Parameters of encrypted integers.
    Integers(IntegerParameters),
}

impl Parameters {
    /// Returns the name of the scheme.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Bfv(_) => "BFV",
            Self::Bgv { .. } => "BGV",
            Self::Ckks(_) => "CKKS",
            Self::Bootstrapped(_) => "CKKS with bootstrapping",
            Self::Integers(_) => "integers",
        }
    }

    /// Returns the scheme of the parameters.
    #[must_use]
    pub fn scheme(&self) -> SchemeChoice {
        match self {
            Self::Bfv(_) => SchemeChoice::Bfv,
            Self::Bgv { .. } => SchemeChoice::Bgv,
            Self::Ckks(_) | Self::Bootstrapped(_) => SchemeChoice::Ckks,
            Self::Integers(_) => SchemeChoice::Integers,
        }
    }

    /// Returns the ring degree n.
    #[must_use]
    pub fn degree(&self) -> usize {
        match self {
            Self::Bfv(parameters) => parameters.degree(),
            Self::Bgv { parameters, .. } => parameters.degree(),
            Self::Ckks(parameters) => parameters.degree(),
            Self::Bootstrapped(parameters) => parameters.ckks().degree(),
            Self::Integers(parameters) => parameters.ckks().degree(),
        }
    }

    /// Returns the number of slots of a ciphertext.
    #[must_use]
    pub fn slots(&self) -> usize {
        match self {
            Self::Ckks(parameters) => parameters.max_slots(),
            Self::Bootstrapped(parameters) => parameters.ckks().max_slots(),
            // Rows are in real parts of slots, so that order reaches all of them.
            Self::Integers(parameters) => parameters.ckks().max_slots(),
            _ => self.degree(),
        }
    }

    /// Checks that slots hold numbers, as tables and programs take them; otherwise returns what they hold and what to do.
    ///
    /// # Errors
    /// A text about slots of field elements, in rings whose index is no power of two.
    pub fn check_numbers(&self) -> Result<(), String> {
        let index = match self {
            Self::Bfv(own) => own.ring().index(),
            Self::Bgv { parameters, .. } => parameters.ring().index(),
            Self::Ckks(_) | Self::Bootstrapped(_) | Self::Integers(_) => return Ok(()),
        };
        if index.is_power_of_two() {
            return Ok(());
        }
        let moduli: Vec<String> = self.plain_moduli().iter().map(u64::to_string).collect();
        Err(format!(
            "slots of these parameters hold elements of a field or Galois ring modulo {}, in the ring of index {index}: tables and \
             programs compute with numbers, for which `sunzi plan` makes parameters; elements take sunzi.Context.for_field in \
             Python or sunzi::encoding::GaloisEncoder in Rust",
            moduli.join(", ")
        ))
    }

    /// Returns the plaintext moduli; none for CKKS.
    #[must_use]
    pub fn plain_moduli(&self) -> &[u64] {
        match self {
            Self::Bfv(parameters) => parameters.plain_moduli(),
            Self::Bgv { plain_moduli, .. } => plain_moduli,
            Self::Ckks(_) | Self::Bootstrapped(_) | Self::Integers(_) => &[],
        }
    }

    /// Returns the ciphertext moduli.
    #[must_use]
    pub fn moduli(&self) -> &[u64] {
        match self {
            Self::Bfv(parameters) => parameters.moduli(),
            Self::Bgv { parameters, .. } => parameters.moduli(),
            Self::Ckks(parameters) => parameters.moduli(),
            Self::Bootstrapped(parameters) => parameters.ckks().moduli(),
            Self::Integers(parameters) => parameters.ckks().moduli(),
        }
    }

    /// Returns the level of the ring at which fresh ciphertexts of exact schemes are.
    pub(crate) fn ring_level(&self) -> usize {
        match self {
            Self::Bgv { parameters, .. } => parameters.ring_level(),
            _ => self.moduli().len(),
        }
    }

    /// Returns the level of the ring `drop` levels below the highest.
    pub(super) fn ring_level_below(&self, drop: usize) -> usize {
        let level = match self {
            Self::Bfv(_) | Self::Integers(_) => None,
            Self::Bgv { parameters, .. } => parameters.levels().get(parameters.depth().saturating_sub(drop)),
            Self::Ckks(parameters) => parameters.levels().get(parameters.depth().saturating_sub(drop)),
            Self::Bootstrapped(own) => own.ckks().levels().get(own.set().levels_left().saturating_sub(drop)),
        };
        level.copied().unwrap_or_else(|| self.ring_level())
    }

    /// Returns the indices of the moduli `drop` levels below the highest.
    pub(super) fn limbs_below(&self, drop: usize) -> Vec<usize> {
        let limbs = match self {
            Self::Bfv(_) | Self::Integers(_) => Vec::new(),
            Self::Bgv { parameters, .. } => parameters.limbs(parameters.depth().saturating_sub(drop)),
            Self::Ckks(parameters) => parameters.limbs(parameters.depth().saturating_sub(drop)),
            Self::Bootstrapped(own) => own.ckks().limbs(own.set().levels_left().saturating_sub(drop)),
        };
        if limbs.is_empty() { (0..self.moduli().len()).collect() } else { limbs }
    }

    /// Returns the security that the parameters reach.
    #[must_use]
    pub fn security(&self) -> Security {
        match self {
            Self::Bfv(parameters) => parameters.security(),
            Self::Bgv { parameters, .. } => parameters.security(),
            Self::Ckks(parameters) => parameters.security(),
            Self::Bootstrapped(parameters) => parameters.ckks().security(),
            Self::Integers(parameters) => parameters.ckks().security(),
        }
    }

    /// Returns the number of parties that have the secret together; 1 for a single holder.
    #[must_use]
    pub fn parties(&self) -> u32 {
        let secrets = match self {
            Self::Bfv(parameters) => parameters.secrets(),
            Self::Bgv { parameters, .. } => parameters.secrets(),
            Self::Ckks(parameters) => parameters.secrets(),
            Self::Bootstrapped(parameters) => parameters.ckks().secrets(),
            Self::Integers(parameters) => parameters.ckks().secrets(),
        };
        secrets.parties()
    }

    /// Returns the layout of so many rows, in `parts` parts that share no chunk: sums that several parties open are in every slot.
    #[must_use]
    pub fn layout(&self, rows: usize, parts: usize) -> Layout {
        match self {
            Self::Bfv(_) | Self::Bgv { .. } => Layout::of_parties(rows, self.slots(), parts, self.parties()),
            // Slots repeat, so that sums are in all of them.
            _ => Layout::of_parts(rows, self.slots(), parts),
        }
    }

    /// Checks that a table of `rows` rows can have a layout in ciphertexts of these parameters.
    pub(crate) fn check_layout(&self, layout: &Layout, rows: u64) -> Result<(), ProgramError> {
        layout.check(rows, self.slots(), self.fills_slots())
    }

    /// Whether chunks fill all slots, however few rows there are. Slots of CKKS repeat, so that sums are in all of them anyway.
    fn fills_slots(&self) -> bool {
        matches!(self, Self::Bfv(_) | Self::Bgv { .. }) && self.parties() > 1
    }

    /// Returns the options of key switching.
    #[must_use]
    pub fn key_switching(&self) -> &GadgetOptions {
        match self {
            Self::Bfv(parameters) => &parameters.algorithms().key_switching,
            Self::Bgv { parameters, .. } => parameters.key_switching(),
            Self::Ckks(parameters) => parameters.key_switching(),
            Self::Bootstrapped(parameters) => parameters.ckks().key_switching(),
            Self::Integers(parameters) => parameters.ckks().key_switching(),
        }
    }

    /// Returns the estimated butterflies of the server's work, by which exact schemes and rings are compared.
    pub(super) fn cost(&self, counts: &Counts, layout: &Layout) -> f64 {
        let (moduli, options, n) = (self.moduli(), self.key_switching(), self.degree());
        let k = moduli.len() as f64;
        let switch = SwitchCost::new(options, moduli, moduli.len(), n).unwrap_or_default().in_transforms(n);
        let square = k * k * MULTIPLICATION;
        let product = match self {
            Self::Bfv(_) => 16.0 * k + 9.0 * square,
            _ => 2.0 * k,
        };
        let (products, relinearizations) = (counts.products as f64, counts.relinearizations as f64);
        let chunk = products * product + relinearizations * switch + counts.plain_products as f64 * k;
        let sums = counts.rotations as f64 * switch;
        let transforms = layout.chunks as f64 * chunk + sums;
        let moduli = self.plain_moduli().len().max(1) as f64;
        transforms * moduli * n as f64 / 2.0 * (n as f64).log2()
    }

    /// Returns the bytes of the files of a relinearisation key and of `rotations` rotation keys for ciphertexts of a level of
    /// the ring.
    ///
    /// # Errors
    /// A [`Refusal`] for a level that does not exist.
    pub(crate) fn key_bytes(&self, level: usize, rotations: usize) -> Result<u64, Box<Refusal>> {
        let refused = |error: WireError| {
            Box::new(Refusal { reason: error.to_string(), expression: "the keys".to_owned() })
        };
        let ring = match self {
            Self::Bfv(own) => Ring::dry(own.ring().index(), own.moduli(), &[]),
            Self::Bgv { parameters: own, .. } => Ring::dry(own.ring().index(), own.moduli(), own.rungs()),
            Self::Ckks(own) => Ring::dry(own.shape(), own.moduli(), own.rungs()),
            Self::Bootstrapped(own) => Ring::dry(own.ckks().shape(), own.ckks().moduli(), own.ckks().rungs()),
            Self::Integers(own) => Ring::dry(own.ckks().shape(), own.ckks().moduli(), own.ckks().rungs()),
        };
        let gadget = ring.and_then(|ring| ring.gadget(self.key_switching()));
        let gadget = gadget.map_err(|error| refused(error.into()))?;
        evaluation_keys_len(&gadget, iter::repeat_n(level, rotations)).map_err(refused)
    }

    /// Returns the bytes in memory of a relinearisation key and of `rotations` rotation keys for the moduli of these indices.
    pub(crate) fn key_memory(&self, limbs: &[usize], rotations: usize) -> u64 {
        let digits = RnsDigits::new(self.key_switching(), self.moduli());
        let count = |limbs: &[usize]| digits.as_ref().map_or(0, |digits| digits.limbs_of(limbs).len()) as u64;
        let key = |limbs: &[usize]| self.key_digit_memory(limbs) * count(limbs);
        let all: Vec<usize> = (0..self.moduli().len()).collect();
        key(&all) + key(limbs) * rotations as u64
    }

    /// Returns the bytes in memory of one digit of a key for the moduli of these indices; a residue takes as many bytes as its
    /// modulus.
    pub(crate) fn key_digit_memory(&self, limbs: &[usize]) -> u64 {
        let width = |q: &u64| u64::from((u64::BITS - q.leading_zeros()).div_ceil(8));
        let own = limbs.iter().filter_map(|&limb| self.moduli().get(limb));
        2 * self.degree() as u64 * own.chain(&self.key_switching().special_moduli).map(width).sum::<u64>()
    }

    /// Returns the bytes of a fresh ciphertext in memory, over all plaintext moduli.
    pub(crate) fn ciphertext_bytes(&self) -> u64 {
        let moduli = match self {
            Self::Bootstrapped(_) => self.limbs_below(0).len(),
            _ => self.moduli().len(),
        };
        16 * (self.degree() * moduli * self.plain_moduli().len().max(1)) as u64
    }
}

/// Returns the ways to split the range of sums over plaintext moduli: as BFV does or, where it has no parameters, all
/// ways.
pub(crate) fn plain_moduli(explanation: &sunzi_bfv::Explanation) -> Vec<Vec<u64>> {
    if let Some(choice) = &explanation.chosen {
        return vec![choice.parameters.plain_moduli().to_vec()];
    }
    let candidates = explanation.candidates.iter().map(|candidate| candidate.plain_moduli.clone());
    candidates.filter(|plain| !plain.is_empty()).collect()
}

/// Returns BGV parameters that a builder makes for the largest of some plaintext moduli, for all of these.
pub(crate) fn bgv_of(builder: sunzi_bgv::ParametersBuilder, plain_moduli: Vec<u64>) -> Option<Parameters> {
    let largest = plain_moduli.iter().copied().max()?;
    let parameters = builder.plain_modulus(largest).explain().ok()?.chosen?;
    // Contexts refuse a plaintext modulus that is one of the ciphertext moduli.
    let mut moduli = parameters.moduli().iter().chain(&parameters.key_switching().special_moduli);
    let shared = moduli.any(|q| plain_moduli.iter().any(|t| t.is_multiple_of(*q)));
    let parameters = parameters.clone().with_plain_modulus(*plain_moduli.first()?);
    (!shared).then_some(Parameters::Bgv { parameters, plain_moduli })
}
