//! Counts of the vector instructions of a transform, made by running its own code on lanes that only count.

use std::cell::Cell;

use crate::constants::Constants;
use crate::generic::lanes::{Integers, Lanes, Lanes52, WIDTH};
use crate::generic::word52::Word52;
use crate::generic::{ntt_forward, ntt_inverse};
use crate::negacyclic::{self, Passes};
use crate::plan::NttPlan;
use crate::schedule::Pass;
use crate::table::{Elsewhere, LastFactors};
use crate::twiddles::Twiddles;

/// Numbers of 512-bit vector instructions; loads, stores and broadcasts are not counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InstructionCounts {
    /// Number of 52-bit multiply-adds.
    pub multiplies: u64,
    /// Number of additions, subtractions, minima, masks and the shuffles of the transpositions.
    pub others: u64,
}

impl InstructionCounts {
    /// Number of all counted instructions.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.multiplies + self.others
    }
}

/// Counts the forward transform of `plan` with 52-bit multiply-adds; `None` for moduli that these do not take.
#[must_use]
pub fn count_forward(plan: &NttPlan) -> Option<InstructionCounts> {
    count(plan, true)
}

/// Counts the inverse transform of `plan`; the constant of its last level changes nothing.
#[must_use]
pub fn count_inverse(plan: &NttPlan) -> Option<InstructionCounts> {
    count(plan, false)
}

fn count(plan: &NttPlan, forward: bool) -> Option<InstructionCounts> {
    let modulus = plan.modulus();
    let q = modulus.value();
    let (twiddles, last) =
        if forward { (plan.forward_twiddles(), None) } else { (plan.inverse_twiddles(), Some([0; 4])) };
    let run = match (1_u64 << 52) / q {
        _ if q.is_multiple_of(2) => return None,
        18.. => run::<4>,
        10.. => run::<2>,
        8.. => run::<1>,
        _ => return None,
    };
    Some(run(&modulus.constants, twiddles, last))
}

fn run<const PERIOD: usize>(
    constants: &Constants,
    twiddles: &Twiddles,
    last: Option<LastFactors>,
) -> InstructionCounts {
    let counts = Cell::new(InstructionCounts::default());
    let arithmetic = Word52::<_, PERIOD>::new(Counting(&counts), constants);
    let mut data = vec![0; twiddles.n];
    match last {
        None => {
            negacyclic::outer(arithmetic, twiddles, None, &mut data);
            negacyclic::inner(arithmetic, twiddles, 0, &mut data, [&[]; 2]);
        }
        Some(last) => negacyclic::inverse(arithmetic, twiddles, &last, None, &mut data),
    }
    counts.get()
}

impl<L: Lanes52, const PERIOD: usize> Passes for Word52<L, PERIOD> {
    fn enter(self, input: Elsewhere<'_>, data: &mut [u64]) {
        input.write_to(data);
    }
    fn forward_pass(self, pass: Pass, input: Option<Elsewhere<'_>>, data: &mut [u64], twiddles: &[u64]) {
        ntt_forward::forward_pass(self, pass, input, data, twiddles);
    }
    fn forward_tail(self, data: &mut [u64], twiddles: &[u64], later: [&[u8]; 2]) {
        ntt_forward::forward_tail(self, data, twiddles, later);
    }
    fn inverse_pass(self, pass: Pass, data: &mut [u64], twiddles: &[u64], last: Option<&LastFactors>) {
        ntt_inverse::inverse_pass(self, pass, data, twiddles, last);
    }
    fn inverse_tail(self, data: &mut [u64], twiddles: &[u64], last: &LastFactors) {
        ntt_inverse::inverse_tail(self, data, twiddles, last);
    }
}

/// Lanes without words, which count instructions.
#[derive(Clone, Copy)]
struct Counting<'a>(&'a Cell<InstructionCounts>);

impl Counting<'_> {
    fn multiply(self) {
        let counts = self.0.get();
        self.0.set(InstructionCounts { multiplies: counts.multiplies + 1, ..counts });
    }

    fn others(self, number: u64) {
        let counts = self.0.get();
        self.0.set(InstructionCounts { others: counts.others + number, ..counts });
    }
}

impl Integers for Counting<'_> {
    type V = ();
    fn splat(self, _: u64) {}
    fn add(self, (): (), (): ()) {
        self.others(1);
    }
    fn sub(self, (): (), (): ()) {
        self.others(1);
    }
    fn unless_negative(self, (): (), (): ()) {
        self.others(1);
    }
    fn and(self, (): (), (): ()) {
        self.others(1);
    }
    fn shift_left(self, (): (), _: u32) {
        self.others(1);
    }
    fn shift_right(self, (): (), _: u32) {
        self.others(1);
    }
}

impl Lanes for Counting<'_> {
    const LEVELS: u32 = 4;
    type Pattern = ();
    fn load(self, _: &[u64; WIDTH]) {}
    fn pattern(self, _: usize) {}
    fn expand(self, _: &[u8; 8 * WIDTH], (): ()) {
        self.others(1);
    }
    fn store(self, _: &mut [u64; WIDTH], (): ()) {}
    fn prefetch(self, _: *const u64) {}
    fn transpose(self, _: &mut [(); WIDTH]) {
        self.others(24);
    }
}

impl Lanes52 for Counting<'_> {
    fn multiply_add_low(self, (): (), (): (), (): ()) {
        self.multiply();
    }
    fn multiply_add_high(self, (): (), (): (), (): ()) {
        self.multiply();
    }
    fn carry(self, (): ()) {
        self.others(1);
    }
}
