//! Shape of a transform between coefficients and slots: its direction, and the packing of the parts.

/// Packing of real and imaginary parts between CoeffsToSlots and SlotsToCoeffs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packing {
    /// Two ciphertexts: there are as many numbers as slots.
    Full,
    /// One ciphertext: s slots of real parts, then s of imaginary parts, repeated.
    Sparse,
}

/// Direction of a transform.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Direction of CoeffsToSlots.
    ToSlots,
    /// Direction of SlotsToCoeffs.
    ToCoeffs,
}
