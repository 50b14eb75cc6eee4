//! Division by a product of moduli with rounding: modulus switching, and the division by P that ends a key switch.

use std::ops::Range;
use std::sync::Arc;

use sunzi_kernels::{Conversion, Isa, Modulus, RoundedQuotient};
use sunzi_math::mod_inv;
use zeroize::{Zeroize, Zeroizing};

use crate::error::{check_limbs, check_table, entry, part};
use crate::ladder::places;
use crate::parallel::{ENDED, Parallelism, Work, block_of, on_pool};
use crate::scratch::Scratch;
use crate::transform::{Plan, Scale};
use crate::{Backend, Coefficient, Evaluation, Poly, RingError, WordRing};

/// Does [`Backend::mod_switch`] and, with b, [`Backend::mod_switch_sum`].
pub(crate) fn switch_down(
    ring: &WordRing,
    a: &Poly<Evaluation>,
    b: Option<&Poly<Coefficient>>,
    level: usize,
) -> Result<Poly<Evaluation>, RingError> {
    let from = ring.level_of(a)?;
    let ring = ring.at_level(from)?;
    b.map_or(Ok(()), |b| ring.check(b))?;
    if level == from {
        let mut sum = a.clone();
        // The sum is secret: it holds the errors and the message of an encryption.
        b.map_or(Ok(()), |b| ring.add_assign(&mut sum, &Zeroizing::new(ring.to_evaluation(b.clone())?)))?;
        return Ok(sum);
    }
    let mut switched = ring.at_level(level)?.arbitrary();
    let division = ring.division(level)?;
    on_pool(a.words().len(), || division.divide(switched.words_mut(), a.words(), b.map(|b| b.words())))?;
    Ok(switched)
}

/// Factor of the remainder of a division.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Factor {
    /// Factor 1: remainders stand as they are.
    One,
    /// Factor D^-1 of remainders, for the divisor D.
    Inverse,
}

/// Path of a division: from one set of moduli to another.
pub(crate) struct DivisionPath {
    /// Places of the divisor's moduli d_i among those of x: the other set lacks them.
    divisor: Vec<usize>,
    /// Place of every target among the moduli of x, unless it is new.
    places: Vec<Option<usize>>,
}

impl DivisionPath {
    /// The path of a division to the moduli with indices `to` from those with indices `from`, both ascending.
    pub(crate) fn new(to: &[usize], from: &[usize]) -> Self {
        let divisor = (0..).zip(from).filter(|(_, limb)| to.binary_search(limb).is_err());
        Self { divisor: divisor.map(|(place, _)| place).collect(), places: places(to, from) }
    }

    pub(crate) fn divisor(&self) -> &[usize] {
        &self.divisor
    }

    pub(crate) fn places(&self) -> &[Option<usize>] {
        &self.places
    }
}

/// Division ⌊A·x/D⌉ modulo the target moduli: (A·x − r)/D with r = [A·x]_D the centred remainder, for D = d_1⋯d_s the
/// product of the moduli of x that are no targets and A that of the targets that are no moduli of x, modulo which it
/// is −r/D.
///
/// With y_i = |A·x·d_i/D|_{d_i} and v = ⌊Σ y_i/d_i⌉ the remainder is r = Σ y_i·(D/d_i) − v·D [HPS19]: one matrix product with v as a
/// further row. In doubles v is off by one only where A·x/D is within [`RoundedQuotient::error`] of a half: ‖⌊A·x/D⌉ − A·x/D‖ ≤ 1/2 + that.
pub(crate) struct Division {
    divisor: Vec<Arc<Plan>>,
    targets: Vec<Arc<Plan>>,
    path: DivisionPath,
    /// Factors A·d_i/D of the divisor's limbs, folded into inverse transforms.
    scales: Vec<Scale>,
    /// Factors A·d_i/D of the divisor's limbs, for rows that do not come from a transform.
    factors: Vec<u64>,
    remainders: Remainders,
    /// Groups of targets whose remainders are computed together.
    groups: Vec<Range<usize>>,
    /// Factor of the remainders of the division.
    factor: Factor,
    /// Residues of A/D modulo every target.
    inverses: Vec<u64>,
    parallelism: Parallelism,
}

/// Remainder −r modulo one target: the words of a row plus an offset, below 2q; times a factor.
#[derive(Clone, Copy)]
pub(crate) struct Lifted<'a> {
    row: &'a [u64],
    offset: u64,
    factor: u64,
}

/// Does the outer levels of a transform of −r, which stands in the limb unless it is lifted on the way.
pub(crate) fn transform_outer(
    plan: &Plan,
    limb: &mut [u64],
    lifted: Option<Lifted<'_>>,
) -> Result<(), RingError> {
    match lifted {
        Some(Lifted { row, offset, .. }) => Ok(plan.forward_outer_from(limb, row, offset)?),
        None => Ok(plan.forward_outer(limb)?),
    }
}

/// Does the inner levels of a transform for a block of whole chunks, and multiplies by the factor. Data that
/// is read after it is prefetched meanwhile.
pub(crate) fn transform_inner(
    plan: &Plan,
    start: usize,
    block: &mut [u64],
    later: [Option<&[u64]>; 2],
    lifted: Option<Lifted<'_>>,
) -> Result<(), RingError> {
    plan.forward_inner(start, block, later.map(|later| later.unwrap_or_default().into()))?;
    match lifted {
        Some(Lifted { factor, .. }) if factor != 1 => Ok(plan.modulus().mul_scalar_assign(block, factor)?),
        _ => Ok(()),
    }
}

/// Computation of the remainder −r, times D^-1 for [`Factor::Inverse`].
enum Remainders {
    /// Lift from one modulus d: −r is the difference of (h − x) mod d to h = ⌊d/2⌋. It carries the factors modulo
    /// every target.
    Lifted { half: u64, factors: Vec<u64> },
    /// Conversion from y and v, for the targets of each group.
    Converted { quotient: RoundedQuotient, conversions: Vec<Conversion> },
}

impl Division {
    /// Builds the division of x modulo the moduli of `source`; [`Factor::Inverse`] where there are new targets.
    /// Remainders are computed for a group of targets at a time.
    pub(crate) fn new(
        source: &[Arc<Plan>],
        targets: &[Arc<Plan>],
        path: DivisionPath,
        groups: Vec<Range<usize>>,
        isa: Isa,
        factor: Factor,
        parallelism: Parallelism,
    ) -> Result<Self, RingError> {
        let places = path.divisor.iter();
        let divisor = places.map(|&place| entry("transform of a divisor", source, place).cloned());
        let divisor: Vec<_> = divisor.collect::<Result<_, RingError>>()?;
        check_table("place of a target", targets.len(), path.places.len())?;
        check_table("group of targets", targets.len(), groups.iter().map(Range::len).sum())?;
        let moduli: Vec<Modulus> = divisor.iter().map(|plan| plan.modulus()).collect();
        let to: Vec<Modulus> = targets.iter().map(|plan| plan.modulus()).collect();
        let new = || to.iter().zip(&path.places).filter(|(_, place)| place.is_none()).map(|(q, _)| q);
        let factor = if new().next().is_some() { Factor::Inverse } else { factor };
        let times_new = |q: &Modulus, x| new().fold(x, |product, a| q.mul(product, q.reduce(a.value())));
        let product_mod = |q: &Modulus, without: usize| {
            let others = moduli.iter().enumerate().filter(|&(i, _)| i != without);
            others.fold(1, |product, (_, d)| q.mul(product, q.reduce(d.value())))
        };
        let inverse_mod = |q: &Modulus, without| mod_inv(product_mod(q, without), q.value());
        let factors = moduli.iter().enumerate().map(|(i, d)| Ok(times_new(d, inverse_mod(d, i)?)));
        let factors: Vec<u64> = factors.collect::<Result<_, RingError>>()?;
        let factors: Vec<u64> = match (&moduli[..], &factors[..]) {
            ([d], [factor]) => vec![d.neg(*factor)],
            _ => factors,
        };
        let scales: Result<_, _> = divisor.iter().zip(&factors).map(|(plan, &c)| plan.scale(c)).collect();
        let inverses: Vec<u64> = to.iter().map(|q| inverse_mod(q, usize::MAX)).collect::<Result<_, _>>()?;
        let multiplied = |inverse: u64| if factor == Factor::One { 1 } else { inverse };
        let remainders = if let [d] = moduli[..] {
            let factors = inverses.iter().map(|&inverse| multiplied(inverse)).collect();
            Remainders::Lifted { half: d.value() / 2, factors }
        } else {
            let quotient = RoundedQuotient::new(isa, &moduli)?;
            let rows: Vec<Modulus> = moduli.iter().copied().chain([quotient.range()]).collect();
            let conversion = |range: &Range<usize>| {
                let to = part("modulus of a group", &to, range.clone(), range.start)?;
                let inverses = part("inverse of a group", &inverses, range.clone(), range.start)?;
                let entry = |i: usize, j: usize| {
                    let (Some(q), Some(&inverse)) = (to.get(j), inverses.get(j)) else { return 0 };
                    let entry = q.mul(product_mod(q, i), multiplied(inverse));
                    if i < moduli.len() { q.neg(entry) } else { entry }
                };
                Ok(Conversion::new(&rows, to, entry)?)
            };
            let conversions = groups.iter().map(conversion).collect::<Result<_, RingError>>()?;
            Remainders::Converted { quotient, conversions }
        };
        let inverses = to.iter().zip(inverses).map(|(q, inverse)| times_new(q, inverse)).collect();
        Ok(Self {
            divisor,
            targets: targets.to_vec(),
            path,
            scales: scales?,
            factors,
            remainders,
            groups,
            factor,
            inverses,
            parallelism,
        })
    }

    /// Computes the division ⌊A·(a + b)/D⌉ in evaluation form for a in evaluation form and b in coefficient
    /// form.
    pub(crate) fn divide(&self, out: &mut [u64], a: &[u64], b: Option<&[u64]>) -> Result<(), RingError> {
        let n = self.degree();
        check_limbs("limb of a quotient", self.targets.len(), n, out.len())?;
        let mut rows = self.rows(a, b)?;
        let inside = self.parallelism.inside(self.groups.len());
        let step = |(range, out): (&Range<usize>, &mut [u64])| {
            let lifted = if b.is_none() { self.lifted(&rows, range.clone())? } else { None };
            if lifted.is_none() {
                self.remainders(&rows, range.clone(), out.chunks_exact_mut(n).collect(), inside)?;
            }
            let mut lifted = lifted.unwrap_or_default().into_iter();
            for (j, limb) in range.clone().zip(out.chunks_exact_mut(n)) {
                self.add(limb, (a, b), j, lifted.next())?;
            }
            Ok(())
        };
        let (shared, mut rest, mut parts) = (out.len(), out, Vec::new());
        for range in &self.groups {
            let (part, others) =
                std::mem::take(&mut rest).split_at_mut_checked(range.len() * n).unwrap_or_default();
            parts.push((range, part));
            rest = others;
        }
        let divided = self.parallelism.for_each(Work::Transform, shared, parts, step);
        if b.is_some() {
            // The remainders of an unfinished encryption reveal its randomness.
            rows.zeroize();
        }
        divided
    }

    /// Computes the result (A·(a + b) − r)/D in evaluation form from −r or −r/D, modulo target j.
    fn add(
        &self,
        limb: &mut [u64],
        (a, b): (&[u64], Option<&[u64]>),
        j: usize,
        lifted: Option<Lifted<'_>>,
    ) -> Result<(), RingError> {
        let (plan, inverse) = (entry("transform of a target", &self.targets, j)?, self.inverse(j)?);
        let (n, modulus) = (self.degree(), plan.modulus());
        let place = *entry("place of a target", &self.path.places, j)?;
        let a = place.map(|place| limb_of(a, n, place)).transpose()?;
        let b = place.zip(b).map(|(place, b)| limb_of(b, n, place)).transpose()?;
        match (self.factor, b) {
            (Factor::One, Some(b)) => modulus.add_assign(limb, b)?,
            (Factor::Inverse, Some(b)) => modulus.add_scaled_assign(limb, b, inverse)?,
            (_, None) => {}
        }
        transform_outer(plan, limb, lifted)?;
        let len = plan.block(ENDED);
        for (start, block) in (0..n).step_by(len).zip(limb.chunks_mut(len)) {
            let a = a.and_then(|a| a.get(start..start + block.len()));
            transform_inner(plan, start, block, [a, None], lifted)?;
            match (self.factor, a) {
                (Factor::One, Some(a)) => modulus.add_scale_assign(block, a, inverse)?,
                (Factor::One, None) => modulus.mul_scalar_assign(block, inverse)?,
                (Factor::Inverse, Some(a)) => modulus.add_scaled_assign(block, a, inverse)?,
                (Factor::Inverse, None) => {}
            }
        }
        Ok(())
    }

    /// Returns the tables that lift the remainder −r to these targets while it is transformed; `None` where
    /// −r has to be computed before.
    pub(crate) fn lifted<'a>(
        &self,
        rows: &'a [u64],
        targets: Range<usize>,
    ) -> Result<Option<Vec<Lifted<'a>>>, RingError> {
        let Remainders::Lifted { half, factors } = &self.remainders else { return Ok(None) };
        let row = part("row of a remainder", rows, 0..self.degree(), 0)?;
        let mut all = Vec::with_capacity(targets.len());
        for j in targets {
            let plan = entry("transform of a target", &self.targets, j)?;
            let factor = *entry("factor of a remainder", factors, j)?;
            let (offset, reduces) = offset_less(*half, &plan.modulus());
            if reduces {
                return Ok(None);
            }
            all.push(Lifted { row, offset, factor });
        }
        Ok(Some(all))
    }

    pub(crate) fn path(&self) -> &DivisionPath {
        &self.path
    }

    /// The factor of the division's remainders.
    pub(crate) fn factor(&self) -> Factor {
        self.factor
    }

    /// Returns the ratio A/D modulo target j.
    pub(crate) fn inverse(&self, j: usize) -> Result<u64, RingError> {
        entry("inverse of a divisor", &self.inverses, j).copied()
    }

    pub(crate) fn degree(&self) -> usize {
        self.divisor.first().map_or(0, |plan| plan.n())
    }

    /// Returns the rows y_1, …, y_s and v of a + b, for a in evaluation form and b in coefficient form.
    fn rows(&self, a: &[u64], b: Option<&[u64]>) -> Result<Scratch, RingError> {
        let n = self.degree();
        let mut rows = Scratch::new((self.divisor.len() + 1) * n);
        let places = self.path.divisor.iter();
        let b = b.map(|b| places.map(|&place| limb_of(b, n, place)).collect::<Result<Vec<_>, _>>());
        self.fill_rows(&mut rows, Some(a), &b.transpose()?.unwrap_or_default())?;
        Ok(rows)
    }

    /// Fills the rows in place: the first s are the divisor's limbs of a unless it stands elsewhere, plus those limbs
    /// of b, if there are any.
    pub(crate) fn fill_rows(
        &self,
        rows: &mut [u64],
        a: Option<&[u64]>,
        b: &[&[u64]],
    ) -> Result<(), RingError> {
        let n = self.degree();
        check_limbs("row of a remainder", self.divisor.len() + 1, n, rows.len())?;
        let (residues, quotients) = rows.split_at_mut_checked(self.divisor.len() * n).unwrap_or_default();
        self.parallelism.for_each_limb(Work::Transform, residues, n, |i, limb| {
            let plan = entry("transform of a divisor", &self.divisor, i)?;
            let scale = entry("factor of a divisor's transform", &self.scales, i)?;
            match a {
                Some(a) => {
                    let place = *entry("place of a divisor", &self.path.divisor, i)?;
                    plan.inverse_scaled_into(limb, limb_of(a, n, place)?, scale)?;
                }
                None => plan.inverse_scaled(limb, scale)?,
            }
            if !b.is_empty() {
                // The row is secret: it holds the errors and the message of an encryption.
                let factor = *entry("factor of a divisor", &self.factors, i)?;
                plan.modulus().add_scaled_assign(limb, entry("limb of what is added", b, i)?, factor)?;
            }
            match &self.remainders {
                Remainders::Lifted { half, .. } => Ok(plan.modulus().shift_assign(limb, *half, 0)?),
                Remainders::Converted { .. } => Ok(()),
            }
        })?;
        let Remainders::Converted { quotient, .. } = &self.remainders else { return Ok(()) };
        let residues = &*residues;
        self.parallelism.for_each_block(quotients, n, |range, quotients| {
            let rows = block_of(residues.chunks_exact(n), &range);
            quotients.iter_mut().try_for_each(|out| Ok(quotient.apply(&rows, out)?))
        })
    }

    /// Computes the remainder −r, or −r/D for [`Factor::Inverse`], modulo the given targets of one group.
    pub(crate) fn remainders(
        &self,
        rows: &[u64],
        targets: Range<usize>,
        out: Vec<&mut [u64]>,
        inside: Parallelism,
    ) -> Result<(), RingError> {
        let mut rows = rows.chunks_exact(self.degree());
        match &self.remainders {
            Remainders::Lifted { half, factors } => {
                let row = rows.next().unwrap_or_default();
                check_table("limb of a remainder", targets.len(), out.len())?;
                targets.zip(out).try_for_each(|(j, out)| {
                    let plan = entry("transform of a target", &self.targets, j)?;
                    let factor = *entry("factor of a remainder", factors, j)?;
                    lift(&plan.modulus(), out, row, (*half, factor), inside)
                })
            }
            Remainders::Converted { conversions, .. } => {
                let rows: Vec<&[u64]> = rows.collect();
                let group = self.groups.iter().zip(conversions).find(|(range, _)| **range == targets);
                let missing =
                    RingError::MissingTable { table: "conversion to a group of moduli", limb: targets.start };
                let (_, conversion) = group.ok_or(missing)?;
                inside.convert(conversion, &rows, out)
            }
        }
    }
}

fn limb_of(words: &[u64], n: usize, place: usize) -> Result<&[u64], RingError> {
    part("limb of a dividend", words, place * n..(place + 1) * n, place)
}

/// Returns the offset that turns a word u in [0, 2·bias] into u − bias modulo q when it is added, and whether u has
/// to be reduced before: u − bias + q is in (0, 2q) for a bias below q.
pub(crate) fn offset_less(bias: u64, modulus: &Modulus) -> (u64, bool) {
    let q = modulus.value();
    if bias < q { (q - bias, false) } else { (modulus.neg(modulus.reduce(bias)), true) }
}

/// Computes the differences of the words of a row to a number, times a factor, modulo q.
fn lift(
    modulus: &Modulus,
    out: &mut [u64],
    words: &[u64],
    (half, factor): (u64, u64),
    parallelism: Parallelism,
) -> Result<(), RingError> {
    let n = out.len();
    let (offset, reduces) = offset_less(half, modulus);
    parallelism.for_each_part([out], n, |_, range, [out]| {
        let words = words.get(range).unwrap_or_default();
        modulus.lift_into(out, words, (0, u64::MAX), offset, reduces)?;
        if factor == 1 { Ok(()) } else { Ok(modulus.mul_scalar_assign(out, factor)?) }
    })
}
