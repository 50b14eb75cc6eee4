//! Transform from coefficients in the powerful basis to the values of slots, and back.
//!
//! A slot is the value at X = η^u, η a primitive m-th root of unity in GR(p^r, d), u one of the representatives of (Z/m)*/⟨p⟩. The transform
//! goes down the axes of the powerful basis, one prime q after the other: after a stage there are the values at the classes of units modulo
//! M, the product of the primes so far, in the ring Z_(p^r)\[η_M\] of as many coefficients as p has order modulo M. So no stage works in a
//! larger ring than it must, or on more than one point of a class:
//!
//!   f(U) = Σ_j η_M^(b·j) · Frob^s(f_j(u)),  where U = p^s·u modulo the M of the stage before.
//!
//! Back, the coefficients f_j(u) are traces of values times powers of roots, divided by q: both directions are sums of multiples of table rows.

use sunzi_math::{GaloisRing, MathError, QuotientGroup, RingIndex, Subring, gcd, mod_inv, mod_pow, mul_mod};
use zeroize::Zeroizing;

use super::convolution::{self, Convolution};
use crate::EncodingError;

/// All stages of the slot transform, and the plaintext modulus t.
pub(super) struct SlotTransform {
    sums: LazySums,
    stages: Vec<Stage>,
}

/// Stage of the slot transform for one prime factor of m.
struct Stage {
    /// Product M of the prime factors of m up to this stage.
    index: u64,
    /// Number of coefficients that become one value: q, or q − 1 if they belong to the powers of a q-th root of unity.
    radix: usize,
    /// Whether the last of the q coefficients of a value is missing, which is then 0.
    folded: bool,
    /// Distance of the coefficients that become one value.
    stride: usize,
    /// Number of columns of coefficients: one for each place on the axes of later stages.
    columns: usize,
    /// Number of coefficients of an element of the ring before the stage; the next field is that of the ring after it.
    below: usize,
    degree: usize,
    points: Vec<Point>,
    /// Powers η_M^k for all k, as rows of coefficients.
    powers: Vec<u64>,
    /// Traces of η_M^k to the ring before the stage, divided by q.
    traces: Vec<u64>,
    /// Convolution that replaces the sums of a stage for a large prime.
    convolution: Option<Convolution>,
}

/// A class U of units, and the exponents of η_M that lead to it and back.
struct Point {
    /// Index of the class u of the stage before.
    parent: usize,
    /// Exponents of η_M that lead to the class, for the generator of the ring before and for the
    /// coefficients.
    forward: [u64; 2],
    /// Exponents of η_M that lead back, for the generator of this ring and for the coefficients.
    backward: [u64; 2],
}

/// Sums of multiples of rows modulo t, reduced as rarely as words allow.
struct LazySums {
    t: u64,
    /// Number of products of residues modulo t whose sum fits a word.
    room: u64,
}

impl LazySums {
    fn new(t: u64) -> Self {
        let square = u128::from(t - 1) * u128::from(t - 1);
        Self { t, room: u64::try_from(u128::from(u64::MAX) / square.max(1)).unwrap_or(u64::MAX) }
    }

    /// Adds Σ x·row to `sum`, for rows of a table that begin at these places.
    fn combine(&self, sum: &mut [u64], table: &[u64], terms: impl Iterator<Item = (u64, usize)>) {
        sum.fill(0);
        let mut room = self.room;
        for (x, place) in terms {
            let row = table.get(place..).unwrap_or_default();
            if self.room < 2 {
                for (sum, &y) in sum.iter_mut().zip(row) {
                    *sum = (*sum + mul_mod(x, y, self.t)) % self.t;
                }
                continue;
            }
            if room == 0 {
                sum.iter_mut().for_each(|sum| *sum %= self.t);
                // A residue takes no more room than a product.
                room = self.room - 1;
            }
            for (sum, &y) in sum.iter_mut().zip(row) {
                *sum += x * y;
            }
            room -= 1;
        }
        sum.iter_mut().for_each(|sum| *sum %= self.t);
    }
}

/// One prime factor of m as an axis has it: M grows by `growth`.
struct Step {
    prime: u64,
    growth: u64,
    /// Order q^f of the root to whose powers the coefficients belong.
    order: u64,
    folded: bool,
    radix: usize,
    stride: usize,
    columns: usize,
}

/// Lists the steps of the transform, the largest prime first, whose axis is innermost: while rings are small.
fn steps(index: &RingIndex) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut columns = index.degree();
    for axis in index.axes().iter().rev() {
        let prime = axis.prime();
        // A square root of unity has no powers of its own: the axis of 2 begins with a fourth root.
        let mut order = if prime == 2 { 2 } else { 1 };
        while order < axis.order() {
            let folded = order == 1;
            let growth = if order == 2 { 4 } else { prime };
            order *= prime;
            let radix = (prime - u64::from(folded)) as usize;
            columns /= radix;
            let stride = (axis.order() / order) as usize;
            steps.push(Step { prime, growth, order, folded, radix, stride, columns });
        }
    }
    steps
}

/// Returns for every unit modulo M the index of its class and the s with unit = p^s·representative; other entries are unspecified.
fn classes(representatives: &[u64], p: u64, index: u64) -> Vec<(usize, u32)> {
    let mut classes = vec![(usize::MAX, 0); index as usize];
    for (class, &representative) in representatives.iter().enumerate() {
        let mut unit = representative % index;
        for s in 0.. {
            match classes.get_mut(unit as usize) {
                Some(entry) if entry.0 == usize::MAX => *entry = (class, s),
                _ => break,
            }
            unit = mul_mod(unit, p, index);
        }
    }
    classes
}

/// Returns the least unit of every class modulo M.
fn least_representatives(p: u64, index: u64) -> Vec<u64> {
    let mut seen = vec![false; index as usize];
    let mut representatives = Vec::new();
    for unit in (0..index).filter(|&unit| gcd(unit, index) == 1) {
        if seen.get(unit as usize) == Some(&false) {
            representatives.push(unit);
        }
        let mut member = unit;
        while let Some(entry) = seen.get_mut(member as usize).filter(|entry| !**entry) {
            *entry = true;
            member = mul_mod(member, p, index);
        }
    }
    representatives
}

impl SlotTransform {
    /// Makes the tables of the slot transform for slots in the order of the group.
    pub(super) fn new(
        index: &RingIndex,
        ring: &GaloisRing,
        group: &QuotientGroup,
    ) -> Result<Self, EncodingError> {
        let sums = LazySums::new(ring.modulus());
        let mut stages = Vec::new();
        let mut ring = ring.clone();
        let mut representatives = group.representatives();
        // From the last stage to the first: rings shrink.
        for step in steps(index).iter().rev() {
            let (below, way) = ring.subring(step.growth)?;
            let parents = least_representatives(ring.prime(), below.index());
            let mut stage = Stage::new(step, &ring, (&below, &way), &representatives, &parents, &sums)?;
            if step.folded && below.index() == 1 && convolution::PRIMES.contains(&step.prime) {
                stage.convolve([step.prime, ring.modulus()], &representatives)?;
            }
            stages.push(stage);
            (ring, representatives) = (below, parents);
        }
        stages.reverse();
        Ok(Self { sums, stages })
    }

    /// Returns the values of all slots, d numbers each, of n coefficients.
    pub(super) fn forward(&self, coefficients: &[u64]) -> Result<Zeroizing<Vec<u64>>, EncodingError> {
        let mut data = Zeroizing::new(coefficients.to_vec());
        for stage in &self.stages {
            data = match &stage.convolution {
                Some(convolution) => stage.forward_by(convolution, &data)?,
                None => stage.forward(&data, &self.sums),
            };
        }
        Ok(data)
    }

    /// Returns the n coefficients of a plaintext that has the given values in its slots.
    pub(super) fn inverse(&self, values: Zeroizing<Vec<u64>>) -> Result<Zeroizing<Vec<u64>>, EncodingError> {
        self.stages.iter().rev().try_fold(values, |data, stage| match &stage.convolution {
            Some(convolution) => stage.inverse_by(convolution, &data),
            None => Ok(stage.inverse(&data, &self.sums)),
        })
    }
}

impl Stage {
    fn new(
        step: &Step,
        ring: &GaloisRing,
        (below, way): (&GaloisRing, &Subring),
        representatives: &[u64],
        parents: &[u64],
        sums: &LazySums,
    ) -> Result<Self, MathError> {
        let (index, p, t) = (ring.index(), ring.prime(), ring.modulus());
        let classes = classes(parents, p, below.index());
        let mut points = Vec::with_capacity(representatives.len());
        for &unit in representatives {
            let missing = MathError::NotCoprime { left: unit, right: index };
            let &(parent, s) = classes.get((unit % below.index()) as usize).ok_or(missing)?;
            let frobenius = mod_pow(p, s.into(), index);
            let back = mod_inv(frobenius, index)?;
            let root = mul_mod(index / step.order, unit, index);
            points.push(Point {
                parent,
                forward: [mul_mod(step.growth, frobenius, index), root],
                backward: [back, index - mul_mod(back, root, index)],
            });
        }
        let powers = ring.powers_of_y();
        let traces = traces(&powers, ring, below, way, sums, mod_inv(step.prime % t, t)?);
        Ok(Self {
            index,
            radix: step.radix,
            folded: step.folded,
            stride: step.stride,
            columns: step.columns,
            below: below.degree(),
            degree: ring.degree(),
            points,
            powers,
            traces,
            convolution: None,
        })
    }

    /// Replaces the tables of the first stage by those of convolutions.
    fn convolve(&mut self, moduli: [u64; 2], representatives: &[u64]) -> Result<(), EncodingError> {
        let [powers, traces] = [&mut self.powers, &mut self.traces].map(std::mem::take);
        let units: Vec<u64> = representatives.iter().map(|unit| unit % self.index).collect();
        self.convolution = Some(Convolution::new(moduli, &units, self.degree, &powers, &traces)?);
        Ok(())
    }

    /// Returns the places of rows x·i + y·j in a table with rows of this width.
    fn places(&self, [x, y]: [u64; 2], terms: usize, radix: usize, width: usize) -> Vec<usize> {
        let row = move |i: usize, j: usize| (x * i as u64 + y * j as u64) % self.index;
        (0..radix).flat_map(|j| (0..terms).map(move |i| row(i, j) as usize * width)).collect()
    }

    /// Returns the index of the first coefficient of a column, where all of a class stand together.
    fn first(&self, column: usize) -> usize {
        column / self.stride * self.radix * self.stride + column % self.stride
    }

    fn forward(&self, data: &[u64], sums: &LazySums) -> Zeroizing<Vec<u64>> {
        let mut out = Zeroizing::new(vec![0; self.points.len() * self.columns * self.degree]);
        let block = self.columns * self.radix * self.below;
        for (point, out) in self.points.iter().zip(out.chunks_mut(self.columns * self.degree)) {
            let data = data.get(point.parent * block..).unwrap_or_default();
            let places = self.places(point.forward, self.below, self.radix, self.degree);
            for (column, out) in out.chunks_mut(self.degree).enumerate() {
                let data = data.get(self.first(column) * self.below..).unwrap_or_default();
                let entries = data.chunks(self.below).step_by(self.stride).flatten().copied();
                sums.combine(out, &self.powers, entries.zip(places.iter().copied()));
            }
        }
        out
    }

    /// Runs the first stage forward by its convolution, for coefficients that are numbers.
    fn forward_by(
        &self,
        convolution: &Convolution,
        data: &[u64],
    ) -> Result<Zeroizing<Vec<u64>>, EncodingError> {
        let mut out = Zeroizing::new(vec![0; self.points.len() * self.columns * self.degree]);
        for column in 0..self.columns {
            let entries = data.get(self.first(column)..).unwrap_or_default();
            let entries: Zeroizing<Vec<u64>> =
                Zeroizing::new(entries.iter().step_by(self.stride).take(self.radix).copied().collect());
            let values = convolution.forward(&entries)?;
            let targets = out.chunks_mut(self.degree).skip(column).step_by(self.columns);
            targets.zip(values.chunks(self.degree)).for_each(|(out, value)| out.copy_from_slice(value));
        }
        Ok(out)
    }

    fn inverse_by(
        &self,
        convolution: &Convolution,
        data: &[u64],
    ) -> Result<Zeroizing<Vec<u64>>, EncodingError> {
        let mut out = Zeroizing::new(vec![0; self.columns * self.radix]);
        for column in 0..self.columns {
            let values = data.chunks(self.degree).skip(column).step_by(self.columns);
            let values: Zeroizing<Vec<u64>> = Zeroizing::new(values.flatten().copied().collect());
            let entries = convolution.inverse(&values)?;
            let targets = out.iter_mut().skip(self.first(column)).step_by(self.stride);
            targets.zip(entries.iter()).for_each(|(out, &entry)| *out = entry);
        }
        Ok(out)
    }

    fn inverse(&self, data: &[u64], sums: &LazySums) -> Zeroizing<Vec<u64>> {
        let parents = self.points.iter().map(|point| point.parent + 1).max().unwrap_or(0);
        let block = self.columns * self.radix * self.below;
        let mut out = Zeroizing::new(vec![0; parents * block]);
        let mut term = Zeroizing::new(vec![0; self.below]);
        let mut missing = Zeroizing::new(vec![0; self.below]);
        for (point, data) in self.points.iter().zip(data.chunks(self.columns * self.degree)) {
            let rows = self.radix + usize::from(self.folded);
            let places = self.places(point.backward, self.degree, rows, self.below);
            let out = out.get_mut(point.parent * block..).unwrap_or_default();
            for (column, data) in data.chunks(self.degree).enumerate() {
                let sum_of = |sum: &mut [u64], places: &[usize]| {
                    sums.combine(sum, &self.traces, data.iter().copied().zip(places.iter().copied()));
                };
                let (listed, last) = places.split_at(self.radix * self.degree);
                if self.folded {
                    sum_of(&mut missing, last);
                }
                let out = out.get_mut(self.first(column) * self.below..).unwrap_or_default();
                let targets = out.chunks_mut(self.below).step_by(self.stride);
                for (out, places) in targets.zip(listed.chunks(self.degree)) {
                    sum_of(&mut term, places);
                    for ((out, &x), &y) in out.iter_mut().zip(term.iter()).zip(missing.iter()) {
                        *out = (*out + x + sums.t - y) % sums.t;
                    }
                }
            }
        }
        out
    }
}

/// Returns rows of the trace of Y^k to the ring below, times a number.
fn traces(
    powers: &[u64],
    ring: &GaloisRing,
    below: &GaloisRing,
    way: &Subring,
    sums: &LazySums,
    scale: u64,
) -> Vec<u64> {
    let (d, m) = (ring.degree(), ring.index());
    let turn = mod_pow(ring.prime(), below.degree() as u64, m);
    let mut traces = Vec::with_capacity(powers.len() / d.max(1) * below.degree());
    let mut sum = vec![0; d];
    for k in 0..m {
        let conjugates = std::iter::successors(Some(k), |&k| Some(mul_mod(k, turn, m)));
        let terms = conjugates.take(d / below.degree()).map(|k| (scale, k as usize * d));
        sums.combine(&mut sum, powers, terms);
        traces.extend(way.coordinates(&sum));
    }
    traces
}
