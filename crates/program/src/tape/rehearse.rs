//! Rehearsal of a tape: a run over polynomials without coefficients.

use std::collections::HashSet;

use chacha20::ChaCha20Rng;
use chacha20::rand_core::SeedableRng;
use sunzi_bfv::CrtParameters;
use sunzi_circuits::EvaluationKeys;
use sunzi_ckks::rotation;
use sunzi_encoding::{BatchEncoder, Encoder as _, Plaintext};
use sunzi_ring::{Evaluation, Poly};
use sunzi_rlwe::{DeclaredNoise, PublicKey, RlweContext, RlweError, SharingPolicy, galois};

use super::machine::{ExactMachine, Machine, RealMachine};
use super::{Report, Step, Tape};
use crate::ProgramError;
use crate::analysis::{Parameters, dry};

/// Step of a tape that the parameters do not allow, and the error.
#[derive(Debug, thiserror::Error)]
#[error("step {step}: {error}")]
pub struct Failed {
    /// Index of the step that failed.
    pub step: usize,
    /// Error of the tape's step that failed.
    pub error: ProgramError,
}

/// Results of a rehearsed tape.
#[derive(Debug)]
pub struct Rehearsal {
    /// Known properties of the result of every step, up to the one that failed.
    pub reports: Vec<Report>,
    /// Number of bytes of all keys.
    pub key_bytes: usize,
    /// Largest number of bytes of ciphertexts that exist at one time.
    pub peak_bytes: usize,
    /// Step that failed, if there is one.
    pub failed: Option<Failed>,
    /// First output that cannot be shared, where sharing was requested.
    pub unshareable: Option<Failed>,
    /// Fewest right bits behind the binary point of any output after sharing, in CKKS; `None` where nothing is
    /// shared.
    shared: Option<f64>,
}

impl Rehearsal {
    /// Returns the fewest bits left in any output before decryption is refused.
    #[must_use]
    pub fn bits_left(&self, tape: &Tape) -> f64 {
        let out = tape.outputs().filter_map(|place| self.reports.get(place));
        out.map(|report| report.bits_left).fold(f64::INFINITY, f64::min)
    }

    /// Returns the least precision of any output in bits, after sharing where outputs are shared.
    #[must_use]
    pub fn precision(&self, tape: &Tape) -> f64 {
        if self.unshareable.is_some() {
            return f64::NEG_INFINITY;
        }
        if let Some(bits) = self.shared {
            return bits;
        }
        let out = tape.outputs().filter_map(|place| self.reports.get(place)?.precision);
        out.fold(f64::INFINITY, f64::min)
    }
}

fn bytes(parts: &[Poly<Evaluation>]) -> usize {
    parts.iter().map(|part| part.byte_len()).sum()
}

/// Encodes residues modulo t in every period of n slots.
fn encode(
    degree: usize,
    t: u64,
) -> Result<impl Fn(Vec<u64>, usize) -> Result<Plaintext, ProgramError>, ProgramError> {
    let encoder = BatchEncoder::new(degree, t).map_err(ProgramError::scheme)?;
    Ok(move |mut tile: Vec<u64>, period: usize| {
        tile.resize(period, 0);
        encoder.encode(&tile.repeat(encoder.slots() / period)).map_err(ProgramError::scheme)
    })
}

impl Tape {
    /// Rehearses the tape with the evaluators of the scheme, over polynomials without coefficients: finds the
    /// properties of all ciphertexts, and refuses what a run would refuse. Of several plaintext moduli the largest is
    /// taken, which has the most noise.
    ///
    /// # Errors
    /// [`ProgramError::Scheme`] for invalid parameters.
    pub fn rehearse(&self, parameters: &Parameters) -> Result<Rehearsal, ProgramError> {
        self.rehearse_sharing(parameters, None)
    }

    /// Rehearses the tape as [`rehearse`](Self::rehearse) does, and finds whether all outputs can be shared under a
    /// policy, if one is given: with the noise declared that the same computation has.
    ///
    /// # Errors
    /// Every error of [`rehearse`](Self::rehearse).
    pub fn rehearse_sharing(
        &self,
        parameters: &Parameters,
        policy: Option<SharingPolicy>,
    ) -> Result<Rehearsal, ProgramError> {
        match parameters {
            Parameters::Bfv(all) => self.rehearse_bfv(all, policy),
            Parameters::Bgv { parameters, plain_moduli } => {
                self.rehearse_bgv(&dry::bgv(parameters, plain_moduli)?, policy)
            }
            Parameters::Ckks(own) => self.rehearse_reals(own, policy),
            Parameters::Bootstrapped(_) | Parameters::Integers(_) => {
                let name = parameters.name();
                Err(ProgramError::mismatch("the scheme", "BFV, BGV or CKKS without bootstrapping", name))
            }
        }
    }

    fn rehearse_bfv(
        &self,
        all: &CrtParameters,
        policy: Option<SharingPolicy>,
    ) -> Result<Rehearsal, ProgramError> {
        let context = dry::bfv(all)?;
        let (public, keys) = self.keys(context.rlwe())?;
        let machine = ExactMachine {
            arithmetic: &sunzi_bfv::Evaluator::new(&context),
            keys: &keys,
            encode: &encode(context.degree(), context.plain_modulus())?,
            size: |a: &sunzi_bfv::Ciphertext| (None, bytes(a.parts())),
            check_shareable: &|a, policy| {
                let noise = DeclaredNoise::of_own_run(a.noise(), context.ring().expansion());
                context.check_shareable(a, noise, policy).map_err(ProgramError::of_bfv)
            },
        };
        let zero = Plaintext::constant(0, context.degree(), context.plain_modulus());
        let zero = zero.map_err(ProgramError::scheme)?;
        let fresh = |_: usize, rng: &mut ChaCha20Rng| {
            context.encrypt(&zero, &public, rng).map_err(ProgramError::scheme)
        };
        Ok(self.play(&machine, fresh, keys.byte_len(), policy))
    }

    fn rehearse_bgv(
        &self,
        context: &sunzi_bgv::Context,
        policy: Option<SharingPolicy>,
    ) -> Result<Rehearsal, ProgramError> {
        let (public, keys) = self.keys(context.rlwe())?;
        let machine = ExactMachine {
            arithmetic: &sunzi_bgv::Evaluator::new(context),
            keys: &keys,
            encode: &encode(context.degree(), context.plain_modulus())?,
            size: |a: &sunzi_bgv::Ciphertext| (Some(a.metadata().level()), bytes(a.parts())),
            check_shareable: &|a, policy| {
                let noise = DeclaredNoise::of_own_run(a.noise(), context.ring().expansion());
                context.check_shareable(a, noise, policy).map_err(ProgramError::of_bgv)
            },
        };
        let zero = Plaintext::constant(0, context.degree(), context.plain_modulus());
        let zero = zero.map_err(ProgramError::scheme)?;
        let fresh = |_: usize, rng: &mut ChaCha20Rng| {
            context.encrypt(&zero, &public, rng).map_err(ProgramError::scheme)
        };
        Ok(self.play(&machine, fresh, keys.byte_len(), policy))
    }

    fn rehearse_reals(
        &self,
        own: &sunzi_ckks::Parameters,
        policy: Option<SharingPolicy>,
    ) -> Result<Rehearsal, ProgramError> {
        let context = dry::ckks(own)?;
        let (public, keys) = self.keys(context.rlwe())?;
        let evaluator = sunzi_ckks::Evaluator::new(&context);
        let machine = RealMachine::new(&evaluator, &keys);
        let fresh = |period: usize, rng: &mut ChaCha20Rng| {
            let zero = machine.encoder(period)?.encode_real(&[]).map_err(ProgramError::scheme)?;
            context.encrypt(&zero, &public, rng).map_err(ProgramError::scheme)
        };
        Ok(self.play(&machine, fresh, keys.byte_len(), policy))
    }

    /// Makes keys for all operations of the tape.
    fn keys(&self, context: &RlweContext) -> Result<(PublicKey, EvaluationKeys), ProgramError> {
        let index = context.ring().index();
        let exponent = |step: &Step| match (step, self.is_real()) {
            (Step::Rotate(_, steps), true) => Some(Ok(rotation::rotation_exponent(*steps, index))),
            (Step::Swap(_), true) => Some(Ok(rotation::conjugation_exponent(index))),
            (Step::Rotate(_, steps), false) => Some(galois::rotation_exponent(index, *steps)),
            (Step::Swap(_), false) => Some(galois::swap_exponent(index)),
            _ => None,
        };
        let exponents: Result<Vec<u64>, RlweError> = self.steps().iter().filter_map(exponent).collect();
        let make = || -> Result<_, RlweError> {
            let (public, mut keys) = dry::keys(context, exponents?)?;
            if !self.multiplies() {
                keys.relinearization = None;
            }
            Ok((public, keys))
        };
        make().map_err(ProgramError::scheme)
    }

    fn play<M: Machine>(
        &self,
        machine: &M,
        fresh: impl Fn(usize, &mut ChaCha20Rng) -> Result<M::Ciphertext, ProgramError>,
        key_bytes: usize,
        policy: Option<SharingPolicy>,
    ) -> Rehearsal {
        let rng = &mut ChaCha20Rng::seed_from_u64(1);
        let mut all: Vec<M::Ciphertext> = Vec::with_capacity(self.steps().len());
        let (mut reports, mut failed) = (Vec::with_capacity(self.steps().len()), None);
        for (place, step) in self.steps().iter().enumerate() {
            let made = match step {
                Step::Input(runs) => fresh(super::period(runs).unwrap_or(0), rng),
                step => machine.step(step, &all),
            };
            match made {
                Ok(ciphertext) => {
                    reports.push(machine.report(&ciphertext));
                    all.push(ciphertext);
                }
                Err(error) => {
                    failed = Some(Failed { step: place, error });
                    break;
                }
            }
        }
        let peak_bytes = self.peak(&reports);
        let (mut unshareable, mut shared) = (None, None);
        for (place, policy) in self.outputs().zip(std::iter::repeat(policy)) {
            let (Some(policy), Some(result)) = (policy, all.get(place)) else { continue };
            match machine.shared(result, policy) {
                Ok(bits) => shared = bits.map(|bits| shared.unwrap_or(f64::INFINITY).min(bits)).or(shared),
                Err(error) => {
                    unshareable = Some(Failed { step: place, error });
                    break;
                }
            }
        }
        Rehearsal { reports, key_bytes, peak_bytes, failed, unshareable, shared }
    }

    /// Returns the largest number of bytes of ciphertexts that exist at one time: inputs and outputs until the end,
    /// other results until their last use.
    fn peak(&self, reports: &[Report]) -> usize {
        let mut last: Vec<usize> = (0..self.steps().len()).collect();
        for (place, step) in self.steps().iter().enumerate() {
            for operand in step.operands() {
                last.iter_mut().skip(operand).take(1).for_each(|last| *last = place);
            }
        }
        let outputs: HashSet<usize> = self.outputs().collect();
        let mut freed = vec![0_usize; reports.len()];
        for ((place, report), (step, &last)) in reports.iter().enumerate().zip(self.steps().iter().zip(&last))
        {
            if !matches!(step, Step::Input(_)) && !outputs.contains(&place) {
                freed.iter_mut().skip(last).take(1).for_each(|bytes| *bytes += report.bytes);
            }
        }
        let (mut now, mut peak) = (0_usize, 0_usize);
        for (report, freed) in reports.iter().zip(freed) {
            now += report.bytes;
            peak = peak.max(now);
            now = now.saturating_sub(freed);
        }
        peak
    }
}
