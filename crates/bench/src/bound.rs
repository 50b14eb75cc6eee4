//! The least time that a transform's vector instructions can take.

use sunzi_kernels::{Isa, NttPlan};

use crate::alternate::{Contender, Series};
use crate::report::Bound;

pub(crate) struct Pace;

impl Pace {
    pub(crate) fn new(_isa: Isa) -> Self {
        Self
    }

    pub(crate) fn contenders(&mut self) -> Vec<Contender<'_>> {
        Vec::new()
    }
}

pub(crate) fn bound(
    _plan: &NttPlan,
    _forward: bool,
    _ours: &Series,
    _pace: &[Series],
    _bar: Option<f64>,
) -> Option<Bound> {
    None
}
