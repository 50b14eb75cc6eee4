//! Choice of the least parameters of a ring degree that a tape can run in.

use std::ops::RangeInclusive;

use num_bigint::BigUint;
use num_traits::FromPrimitive;
use sunzi_rlwe::{Security, SharingPolicy};

use super::{Rehearsal, Tape};
use crate::ProgramError;
use crate::analysis::{Parameters, Refusal, SchemeChoice};

/// Number of bits of noise that exact results must have left.
const MARGIN: f64 = 2.0;
/// Largest margin that the builders of BFV and BGV take, in bits.
pub(super) const LARGEST_MARGIN: u32 = 100;
/// Largest number of products in a row that is tried.
const DEEPEST: usize = 40;
/// Range of log2 of the CKKS scales that are tried.
const SCALE_BITS: RangeInclusive<u32> = 25..=60;
/// Largest log2 of the results that CKKS moduli are chosen for.
const LARGEST_RESULT: u32 = 60;

/// Requirements on the parameters of a tape.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// Ring degree as log2 n, which the tape was made for.
    pub log2_degree: u32,
    /// Security level to reach.
    pub security: Security,
    /// Number of right bits behind the binary point of every CKKS result.
    pub precision: u32,
    /// Largest |result| in exact schemes, if it is known better than the inputs tell.
    pub largest: Option<f64>,
    /// Scheme for integers: BGV if this says so, BFV otherwise. Real numbers always take CKKS.
    pub scheme: Option<SchemeChoice>,
    /// Policy under which all outputs are shared: there is room for hiding noise, and the precision of CKKS is that
    /// after sharing.
    pub sharing: Option<SharingPolicy>,
}

impl Default for Wanted {
    fn default() -> Self {
        let (security, precision) = (Security::Bits128, 20);
        Self { log2_degree: 13, security, precision, largest: None, scheme: None, sharing: None }
    }
}

/// Chosen parameters of a tape, and its rehearsal in them.
#[derive(Debug)]
pub struct Choice {
    /// Chosen parameters of BFV, BGV or CKKS.
    pub parameters: Parameters,
    /// Rehearsal of the tape in the chosen parameters.
    pub rehearsal: Rehearsal,
    /// Reasons for the choice of parameters, a sentence each.
    pub reasons: Vec<String>,
}

impl Tape {
    /// Chooses the least parameters of a ring degree: those with the fewest bits of modulus that pass a rehearsal.
    ///
    /// # Errors
    /// [`ProgramError::Refused`] where no parameters hold the tape, with the step that ends the search.
    pub fn choose(&self, wanted: &Wanted) -> Result<Choice, ProgramError> {
        if self.is_real() { self.choose_reals(wanted) } else { self.choose_integers(wanted) }
    }

    fn choose_integers(&self, wanted: &Wanted) -> Result<Choice, ProgramError> {
        let row = 1_usize << wanted.log2_degree.saturating_sub(1);
        let largest = wanted.largest.unwrap_or_else(|| self.largest(row)).max(1.0);
        let range = BigUint::from_f64(largest.ceil()).ok_or_else(|| {
            ProgramError::Invalid("results without a bound: give a result_bound".to_owned())
        })?;
        if wanted.scheme == Some(SchemeChoice::Bgv) {
            return Ok(self.explained(self.choose_levels(wanted, &range)?, &range));
        }
        let builder = sunzi_bfv::Parameters::builder()
            .plain_range(range.clone())
            .log2_degree(wanted.log2_degree)
            .security(wanted.security);
        let builder = wanted.sharing.iter().fold(builder, |builder, &policy| builder.sharing(policy));
        // By the products in a row that they are made for, then by the bits that are added to those.
        let attempt = |depth: usize, margin: u32| -> Result<Result<Choice, Box<Refusal>>, ProgramError> {
            let built = match builder.clone().depth(depth).margin(margin).build_crt() {
                Ok(built) => Parameters::Bfv(built),
                Err(error) => return Err(ProgramError::scheme(error)),
            };
            let rehearsal = self.rehearse_sharing(&built, wanted.sharing)?;
            Ok(self.passes(&rehearsal).map(|()| Choice { parameters: built, rehearsal, reasons: Vec::new() }))
        };
        let mut refusal: Option<Box<Refusal>> = None;
        for depth in 0..=DEEPEST {
            match attempt(depth, MARGIN as u32) {
                Ok(Ok(choice)) => {
                    let choice = self.refined(choice, depth, &attempt);
                    return Ok(self.explained(choice, &range));
                }
                Ok(Err(why)) => refusal = Some(why),
                Err(error) => {
                    // Bits beyond the last depth that fits.
                    let last = depth.checked_sub(1).and_then(|below| {
                        (1..=LARGEST_MARGIN / 10).find_map(|tens| attempt(below, 10 * tens).ok()?.ok())
                    });
                    if let Some(choice) = last {
                        return Ok(self.explained(choice, &range));
                    }
                    return Err(refusal.map_or(error, ProgramError::Refused));
                }
            }
        }
        let deeper = || ProgramError::Invalid(format!("more than {DEEPEST} products in a row"));
        Err(refusal.map_or_else(deeper, ProgramError::Refused))
    }

    /// Reduces the bits of the modulus by less than one product takes, as long as the rehearsal passes.
    fn refined(
        &self,
        choice: Choice,
        depth: usize,
        attempt: &impl Fn(usize, u32) -> Result<Result<Choice, Box<Refusal>>, ProgramError>,
    ) -> Choice {
        let Some(below) = depth.checked_sub(1) else { return choice };
        let bits = |choice: &Choice| log2_modulus(&choice.parameters);
        let better = (1..LARGEST_MARGIN / 10).find_map(|tens| attempt(below, 10 * tens).ok()?.ok());
        match better {
            Some(better) if bits(&better) < bits(&choice) => better,
            _ => choice,
        }
    }

    fn explained(&self, mut choice: Choice, range: &BigUint) -> Choice {
        let count = choice.parameters.plain_moduli().len();
        choice.reasons.push(format!(
            "results are below 2^{} in absolute value, for which {} room",
            range.bits(),
            if count == 1 {
                "one plaintext modulus has".to_owned()
            } else {
                format!("{count} plaintext moduli have")
            }
        ));
        choice.reasons.push(format!(
            "{:.0} bits of modulus leave {:.0} bits before decryption would refuse",
            log2_modulus(&choice.parameters),
            choice.rehearsal.bits_left(self)
        ));
        choice
    }

    /// Checks that all outputs of a rehearsal can be decrypted.
    pub(super) fn passes(&self, rehearsal: &Rehearsal) -> Result<(), Box<Refusal>> {
        if let Some(failed) = &rehearsal.failed {
            return Err(refused(failed.error.to_string(), failed.step));
        }
        if let Some(failed) = &rehearsal.unshareable {
            return Err(refused(failed.error.to_string(), failed.step));
        }
        let bits = rehearsal.bits_left(self);
        if bits >= MARGIN {
            return Ok(());
        }
        let left = |place: &usize| rehearsal.reports.get(*place).map_or(0.0, |report| report.bits_left);
        let worst = self.outputs().min_by(|a, b| left(a).total_cmp(&left(b))).unwrap_or_default();
        Err(refused(format!("{bits:.0} bits would be left of noise where {MARGIN} must be"), worst))
    }

    /// Chooses CKKS parameters of the least scale whose errors leave the required precision.
    fn choose_reals(&self, wanted: &Wanted) -> Result<Choice, ProgramError> {
        let enough = |found: &Result<(Parameters, Rehearsal), ProgramError>| match found {
            Ok((_, rehearsal)) => rehearsal.precision(self) >= f64::from(wanted.precision),
            // Moduli that are too long for the ring with this scale are so with all above.
            Err(_) => true,
        };
        let (mut low, mut high) = (*SCALE_BITS.start(), *SCALE_BITS.end());
        while low < high {
            let middle = low.midpoint(high);
            if enough(&self.at_scale(wanted, middle)) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        let (parameters, rehearsal) = self.at_scale(wanted, low)?;
        if let Some(failed) = &rehearsal.unshareable {
            return Err(refused(failed.error.to_string(), failed.step).into());
        }
        let bits = rehearsal.precision(self);
        if bits < f64::from(wanted.precision) {
            let text = format!("no scale leaves more than {bits:.1} bits: ask for less precision");
            return Err(refused(text, self.outputs().next().unwrap_or_default()).into());
        }
        let reasons = vec![
            format!("{} multiplications in a row, and inputs below 2^{}", self.depth(), self.message_bits()),
            format!(
                "{:.0} bits of modulus, a scale of 2^{low}, leave {bits:.1} bits behind the binary point where {} were asked for",
                log2_modulus(&parameters),
                wanted.precision
            ),
        ];
        Ok(Choice { parameters, rehearsal, reasons })
    }

    /// Returns log2 of the largest number that the tape encrypts.
    fn message_bits(&self) -> u32 {
        self.largest_input().max(1.0).log2().ceil() as u32
    }

    /// Returns the CKKS parameters of this scale with the least lowest modulus that holds all numbers, and their
    /// rehearsal.
    fn at_scale(&self, wanted: &Wanted, scale_bits: u32) -> Result<(Parameters, Rehearsal), ProgramError> {
        let row = 1_usize << wanted.log2_degree.saturating_sub(1);
        let results = self.largest(row).max(2.0).log2().ceil().min(f64::from(LARGEST_RESULT)) as u32;
        let mut result_bits = results.max(self.message_bits());
        loop {
            let parameters = sunzi_ckks::Parameters::builder()
                .depth(self.depth())
                .scale_bits(scale_bits)
                .message_bits(self.message_bits())
                .result_bits(result_bits)
                .log2_degree(wanted.log2_degree)
                .security(wanted.security)
                .build()
                .map_err(ProgramError::scheme)?;
            let parameters = Parameters::Ckks(parameters);
            let rehearsal = self.rehearse_sharing(&parameters, wanted.sharing)?;
            match rehearsal.failed.as_ref().or(rehearsal.unshareable.as_ref()) {
                None => return Ok((parameters, rehearsal)),
                // Numbers that may be larger than a level holds.
                Some(_) if result_bits < LARGEST_RESULT => {
                    result_bits = (result_bits + 2).min(LARGEST_RESULT)
                }
                // What hides noise stands beside larger numbers at a larger scale.
                Some(_) if rehearsal.failed.is_none() => return Ok((parameters, rehearsal)),
                Some(failed) => return Err(refused(failed.error.to_string(), failed.step).into()),
            }
        }
    }
}

pub(super) fn refused(reason: String, step: usize) -> Box<Refusal> {
    Box::new(Refusal { reason, expression: format!("step {step}") })
}

pub(super) fn log2_modulus(parameters: &Parameters) -> f64 {
    sunzi_math::log2_product(parameters.moduli())
}
