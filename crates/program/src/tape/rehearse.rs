//! A tape played without residues.

use std::collections::HashSet;

use chacha20::ChaCha20Rng;
use chacha20::rand_core::SeedableRng;
use sunzi_circuits::{Arithmetic, EvaluationKeys};
use sunzi_ckks::rotation;
use sunzi_encoding::{BatchEncoder, Plaintext};
use sunzi_ring::{Evaluation, HollowPoly, HollowRing, PolyRing};
use sunzi_rlwe::{PublicKey, RlweContext, RlweError, SecretKey, galois};

use super::machine::{ExactMachine, Machine, RealMachine};
use super::{Step, Tape};
use crate::ProgramError;
use crate::analysis::Parameters;

/// What is known of a ciphertext before there is one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Report {
    /// Its level; none in BFV.
    pub level: Option<usize>,
    /// Bits before decryption refuses; in CKKS, bits of the modulus that rescalings can still take.
    pub bits_left: f64,
    /// CKKS: bits behind the binary point that are right.
    pub precision: Option<f64>,
    /// CKKS: a bound on the slots.
    pub magnitude: Option<f64>,
    /// Bytes in memory.
    pub bytes: usize,
}

/// The step that parameters do not allow.
#[derive(Debug, thiserror::Error)]
#[error("step {step}: {error}")]
pub struct Failed {
    /// Its place.
    pub step: usize,
    /// Why.
    pub error: ProgramError,
}

/// A tape, played.
#[derive(Debug)]
pub struct Rehearsal {
    /// What is known of the result of every step, up to the one that failed.
    pub reports: Vec<Report>,
    /// Bytes of all keys.
    pub key_bytes: usize,
    /// Bytes of ciphertexts that are there at once, at most.
    pub peak_bytes: usize,
    /// What failed, if anything.
    pub failed: Option<Failed>,
}

impl Rehearsal {
    /// The least bits left of what comes out.
    #[must_use]
    pub fn bits_left(&self, tape: &Tape) -> f64 {
        let out = tape.outputs().filter_map(|place| self.reports.get(place));
        out.map(|report| report.bits_left).fold(f64::INFINITY, f64::min)
    }

    /// The least precision of what comes out, in bits.
    #[must_use]
    pub fn precision(&self, tape: &Tape) -> f64 {
        let out = tape.outputs().filter_map(|place| self.reports.get(place)?.precision);
        out.fold(f64::INFINITY, f64::min)
    }
}

fn bytes(parts: &[HollowPoly<Evaluation>]) -> usize {
    parts.iter().map(HollowRing::byte_len).sum()
}

/// CKKS over polynomials without coefficients.
pub(crate) fn hollow(own: &sunzi_ckks::Parameters) -> Result<sunzi_ckks::Context<HollowRing>, ProgramError> {
    let (index, levels) = (2 * own.degree() as u64, own.moduli().len());
    let rungs: Vec<Vec<usize>> = match own.rungs() {
        [] => (1..=levels).map(|level| (0..level).collect()).collect(),
        rungs => rungs.to_vec(),
    };
    let ring = HollowRing::with_rungs(index, own.moduli(), &rungs).map_err(ProgramError::scheme)?;
    let settings = sunzi_ckks::Settings::from(own);
    sunzi_ckks::Context::with_ring(ring, &settings).map_err(ProgramError::scheme)
}

impl Tape {
    /// Plays it with the evaluators of the scheme, over polynomials without coefficients: what ciphertexts will carry beside them is found, and
    /// what a run would refuse is refused. Of several plaintext moduli the largest is taken, which has the most noise.
    ///
    /// # Errors
    /// [`ProgramError::Scheme`] for parameters that are none.
    pub fn rehearse(&self, parameters: &Parameters) -> Result<Rehearsal, ProgramError> {
        match parameters {
            Parameters::Bfv(all) => {
                let largest = all.parts().into_iter().max_by_key(sunzi_bfv::Parameters::plain_modulus);
                let own = largest.ok_or_else(|| ProgramError::Invalid("no plaintext modulus".to_owned()))?;
                let ring = HollowRing::new(own.ring().index(), own.moduli()).map_err(ProgramError::scheme)?;
                let (t, security) = (own.plain_modulus(), own.security());
                let context = sunzi_bfv::Context::with_algorithms(ring, t, security, own.algorithms());
                let context = context.map_err(ProgramError::scheme)?;
                let (public, keys) = self.keys(context.rlwe())?;
                self.rehearse_integers(
                    &sunzi_bfv::Evaluator::new(&context),
                    &keys,
                    |a| (None, bytes(a.parts())),
                    |zero, rng| context.encrypt(zero, &public, rng),
                )
            }
            Parameters::Bgv { parameters: own, .. } => {
                let ring = HollowRing::new(own.ring().index(), own.moduli()).map_err(ProgramError::scheme)?;
                let settings = sunzi_bgv::Settings::from(own);
                let context = sunzi_bgv::Context::with_ring(ring, &settings).map_err(ProgramError::scheme)?;
                let (public, keys) = self.keys(context.rlwe())?;
                self.rehearse_integers(
                    &sunzi_bgv::Evaluator::new(&context),
                    &keys,
                    |a| (Some(a.metadata().level()), bytes(a.parts())),
                    |zero, rng| context.encrypt(zero, &public, rng),
                )
            }
            Parameters::Ckks(own) => self.rehearse_reals(own),
        }
    }

    fn rehearse_integers<A, E>(
        &self,
        arithmetic: &A,
        keys: &EvaluationKeys<HollowRing>,
        size: fn(&A::Ciphertext) -> (Option<usize>, usize),
        encrypt: impl Fn(&Plaintext, &mut ChaCha20Rng) -> Result<A::Ciphertext, E>,
    ) -> Result<Rehearsal, ProgramError>
    where
        A: Arithmetic<Plaintext = Plaintext, Keys = EvaluationKeys<HollowRing>>,
        E: std::error::Error + Send + Sync + 'static,
    {
        let (degree, t) = (2 * arithmetic.row_length(), arithmetic.plain_modulus());
        let encoder = BatchEncoder::new(degree, t).map_err(ProgramError::scheme)?;
        let zero = Plaintext::constant(0, degree, t).map_err(ProgramError::scheme)?;
        let machine = ExactMachine { arithmetic, keys, encoder, size };
        let fresh = |_: usize, rng: &mut ChaCha20Rng| encrypt(&zero, rng).map_err(ProgramError::scheme);
        Ok(self.play(&machine, fresh, keys.byte_len()))
    }

    fn rehearse_reals(&self, own: &sunzi_ckks::Parameters) -> Result<Rehearsal, ProgramError> {
        let context = hollow(own)?;
        let (public, keys) = self.keys(context.rlwe())?;
        let evaluator = sunzi_ckks::Evaluator::new(&context);
        let machine = RealMachine::new(&evaluator, &keys);
        let fresh = |period: usize, rng: &mut ChaCha20Rng| {
            let zero = machine.encoder(period)?.encode_real(&[]).map_err(ProgramError::scheme)?;
            context.encrypt(&zero, &public, rng).map_err(ProgramError::scheme)
        };
        Ok(self.play(&machine, fresh, keys.byte_len()))
    }

    /// Keys for all that it does.
    fn keys(
        &self,
        context: &RlweContext<HollowRing>,
    ) -> Result<(PublicKey<HollowRing>, EvaluationKeys<HollowRing>), ProgramError> {
        // Nothing is encrypted under them: any numbers will do.
        let rng = &mut ChaCha20Rng::seed_from_u64(0);
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
            let secret = SecretKey::generate(context, rng)?;
            let public = PublicKey::generate(context, &secret, rng)?;
            let mut keys = EvaluationKeys::for_exponents(context, &secret, exponents?, rng)?;
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
    ) -> Rehearsal {
        let rng = &mut ChaCha20Rng::seed_from_u64(1);
        let mut all: Vec<M::Ciphertext> = Vec::with_capacity(self.steps().len());
        let (mut reports, mut failed) = (Vec::with_capacity(self.steps().len()), None);
        for (place, step) in self.steps().iter().enumerate() {
            let made = match step {
                Step::Input(bounds) => fresh(bounds.len(), rng),
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
        Rehearsal { reports, key_bytes, peak_bytes, failed }
    }

    /// Bytes that are there at once: inputs and outputs until the end, everything else until it is used for the last time.
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
