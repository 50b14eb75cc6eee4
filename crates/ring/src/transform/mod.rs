//! Changes between coefficients and values at the roots of unity, one file per shape of ring.

mod negacyclic;

pub(crate) use negacyclic::NegacyclicTransform;
