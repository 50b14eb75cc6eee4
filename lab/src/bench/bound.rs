//! The least time that a transform's vector instructions can take on this processor.
//!
//! Two bounds on a transform's time, both from instructions counted by running the kernels' own code on
//! counting lanes, and from loops whose pace is measured in the same rounds as the transform:
//! * all instructions at the pace of a multiply-add loop;
//! * the stricter one of ports: multiply-adds at the pace of a multiply-add loop, or all instructions at the
//!   pace of a loop of additions, which every vector port takes, whichever takes longer. Where the multiplier
//!   has half the ports, additions beside it are free, and the first bound can be beaten.

use std::hint::black_box;

use sunzi_kernels::counts::{count_forward, count_inverse};
use sunzi_kernels::pace::{run_additions, run_multiply_adds};
use sunzi_kernels::{Isa, NttPlan};

use crate::bench::report::{Bound, Counted, Instructions};
use crate::bench::{Result, Series};

/// Iterations of a pace loop in one call, which take some microseconds.
const ROUNDS: u32 = 1000;

/// Runs the pace loop of vector multiply-adds; does nothing where there are no such vectors.
pub(crate) fn multiply_adds() -> Result<()> {
    black_box(run_multiply_adds(ROUNDS));
    Ok(())
}

/// Runs the pace loop of vector additions.
pub(crate) fn additions() -> Result<()> {
    black_box(run_additions(ROUNDS));
    Ok(())
}

/// The bounds on the time of one transform of `plan`, if it runs on the vectors that the pace loops use.
///
/// The series `multiply_adds` and `additions` are the times of a call of the pace loops in the same rounds.
pub(crate) fn bound(
    plan: &NttPlan,
    forward: bool,
    ours: &Series,
    multiply_adds: &Series,
    additions: &Series,
    bar: Option<f64>,
) -> Option<Bound> {
    if plan.modulus().isa() != Isa::Avx512Ifma {
        return None;
    }
    let counts = if forward { count_forward(plan) } else { count_inverse(plan) }?;
    let multiply_add = multiply_adds.scaled(1.0 / run_multiply_adds(ROUNDS)? as f64);
    let additions = additions.scaled(1.0 / run_additions(ROUNDS)? as f64);
    let (multiplies, total) = (counts.multiplies as f64, counts.total() as f64);
    let simple = multiply_add.scaled(total);
    let ports = multiply_add.scaled(multiplies).max(&additions.scaled(total));
    let counted = Counted::Instructions(Instructions {
        instructions: counts.total(),
        multiplies: counts.multiplies,
        port_bound_us: ports.median(),
        over_port_bound: ours.over(&ports).median,
        multiply_add_per_ns: 1e-3 / multiply_add.median(),
        addition_per_ns: 1e-3 / additions.median(),
    });
    let (bound_us, over_bound) = (simple.median(), ours.over(&simple).median);
    Some(Bound { bound_us, over_bound, bound_bar: bar, counted })
}
