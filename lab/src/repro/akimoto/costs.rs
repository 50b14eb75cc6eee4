//! The parts of the operations of `[AS19]`, measured on one thread: transforms, conversions and work word by word.

use std::time::Instant;

use rayon::prelude::*;
use sunzi_kernels::{Conversion, NttPlan};

use super::simulation::{Kind, Step, Work};
use crate::repro::{LabError, Result, Timed, on_threads};
use crate::subjects::strategies::{Operation, Subject};

/// Targets of a conversion in one measurement, as many as in an operation.
const TARGETS: usize = 4;
/// Parallel loops that a barrier is the mean of.
const LOOPS: u32 = 200;

/// Numbers of limbs at one level, and milliseconds of the parts of an operation on one limb.
#[derive(Clone, Copy, Debug)]
pub(super) struct Costs {
    pub(super) degree: usize,
    /// Limbs of a ciphertext polynomial, and of that a level lower.
    limbs: usize,
    lower: usize,
    special: usize,
    digits: usize,
    transform: f64,
    /// A conversion from one limb to another.
    conversion: f64,
    /// Reading two words and writing one, for each word of a limb.
    elementwise: f64,
    /// A step that two threads begin and end together.
    pub(super) barrier: f64,
}

impl Costs {
    /// The parts at a level, from milliseconds of Add and of the two [`contenders`] there.
    pub(super) fn new(
        subject: &Subject,
        level: usize,
        [add, transform, conversion]: [f64; 3],
    ) -> Result<Self> {
        let context = subject.context()?;
        let rlwe = context.rlwe();
        let (limbs, lower) = (context.limbs(level)?, context.limbs(level.saturating_sub(1))?);
        let special = rlwe.key_ring().level().saturating_sub(rlwe.level());
        let digits = rlwe.gadget_at(context.key_level(level)?)?.digit_count().max(1);
        let (degree, elementwise) = (context.degree(), add / (2 * limbs) as f64);
        let barrier = barrier()?;
        Ok(Self { degree, limbs, lower, special, digits, transform, conversion, elementwise, barrier })
    }

    fn transforms(&self, limbs: usize) -> Step {
        step(Kind::Transform, limbs, limbs as f64 * self.transform)
    }

    fn conversions(&self, from: usize, limbs: usize) -> Step {
        step(Kind::Conversion, limbs, (from * limbs) as f64 * self.conversion)
    }

    /// A step that moves `moved` words for each word of `limbs` limbs.
    fn words(&self, limbs: usize, moved: f64) -> Step {
        step(Kind::Elementwise, limbs, limbs as f64 * moved / 3.0 * self.elementwise)
    }

    /// A division of a half by a product of `from` moduli, group by group: conversions, transforms, differences.
    fn division(&self, from: usize, limbs: usize) -> [Step; 3] {
        let steps = [self.conversions(from, limbs), self.transforms(limbs), self.words(limbs, 3.0)];
        steps.map(|step| Step { grouped: true, ..step })
    }

    /// Key switching: digits, their lifts and transforms and inner products with both halves of a key, group by group, and division by P.
    fn switch(&self) -> Vec<Step> {
        let Self { limbs, special, digits, .. } = *self;
        let (own, all) = (limbs.div_ceil(digits), limbs + special);
        let others = all.saturating_sub(own);
        let mut steps = vec![self.transforms(limbs)];
        let lifts = [self.conversions(own, digits * others), self.transforms(digits * others)];
        let lifts = lifts.into_iter().chain([self.words(2 * all, 1.5 * digits as f64 + 1.0)]);
        steps.extend(lifts.map(|step| Step { limbs: all, grouped: true, ..step }));
        steps.push(self.transforms(2 * special));
        steps.extend((0..2).flat_map(|_| self.division(special, limbs)));
        steps
    }

    /// An operation that takes `milliseconds` on one thread.
    pub(super) fn work(&self, operation: Operation, milliseconds: f64) -> Work {
        let Self { limbs, lower, .. } = *self;
        let steps = match operation {
            // All of it is words.
            Operation::Add | Operation::Constant { .. } => {
                vec![step(Kind::Elementwise, 2 * limbs, milliseconds)]
            }
            Operation::Rescale => {
                let dropped = limbs.saturating_sub(lower);
                let halves = [self.division(dropped, lower); 2].concat();
                [vec![self.transforms(2 * dropped)], halves].concat()
            }
            Operation::Multiply => {
                let tensor = self.words(3 * limbs, 7.0 / 3.0);
                [vec![tensor], self.switch(), vec![self.words(2 * limbs, 3.0)]].concat()
            }
            Operation::Rotate => [vec![self.words(2 * limbs, 2.0)], self.switch()].concat(),
        };
        Work::new(steps, milliseconds)
    }
}

fn step(kind: Kind, limbs: usize, milliseconds: f64) -> Step {
    Step { kind, limbs, grouped: false, milliseconds }
}

/// Parts of operations to time in turns with them: a transform of one limb, there and back, and conversions from one limb to another.
pub(super) fn contenders(subject: &Subject, level: usize) -> Result<Vec<Timed<'static>>> {
    let context = subject.context()?;
    let (degree, rlwe) = (context.degree(), context.rlwe());
    let moduli = context.ring_at(level)?.words()?.basis().moduli().to_vec();
    let from = moduli.len().div_ceil(rlwe.gadget_at(context.key_level(level)?)?.digit_count().max(1));
    let first = *moduli.first().ok_or_else(|| LabError::request("a ring without moduli"))?;
    let plan = NttPlan::new(first, degree)?;
    // As many limbs as in an operation: fewer would stay in the cache.
    let limb = || (0..degree as u64).collect::<Vec<u64>>();
    let count = moduli.len();
    let mut limbs = vec![limb(); count];
    let transform: Timed<'static> = Box::new(move || {
        let begin = Instant::now();
        limbs.iter_mut().try_for_each(|limb| plan.forward(limb))?;
        limbs.iter_mut().try_for_each(|limb| plan.inverse(limb))?;
        Ok(begin.elapsed() / (2 * count.max(1)) as u32)
    });
    let source = moduli.get(..from.clamp(1, moduli.len())).unwrap_or_default();
    let target = moduli.get(moduli.len().saturating_sub(TARGETS)..).unwrap_or_default();
    let conversion = Conversion::new(source, target, |i, j| (i * 7 + j * 3 + 5) as u64)?;
    let rows = vec![limb(); source.len()];
    let mut outputs = vec![limb(); target.len()];
    let pairs = source.len() * target.len();
    let convert: Timed<'static> = Box::new(move || {
        let rows: Vec<&[u64]> = rows.iter().map(Vec::as_slice).collect();
        let mut outputs: Vec<&mut [u64]> = outputs.iter_mut().map(Vec::as_mut_slice).collect();
        let begin = Instant::now();
        conversion.apply(&rows, &mut outputs)?;
        Ok(begin.elapsed() / pairs as u32)
    });
    Ok(vec![transform, convert])
}

/// Milliseconds that two threads take to begin and end a loop.
fn barrier() -> Result<f64> {
    on_threads(2, || {
        let begin = Instant::now();
        for _ in 0..LOOPS {
            (0..2_u32).into_par_iter().for_each(|i| {
                std::hint::black_box(i);
            });
        }
        Ok(begin.elapsed().as_secs_f64() * 1e3 / f64::from(LOOPS))
    })
}
