//! Sides that cause refusals of files.

/// Side that causes a refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The system failed: bytes could not be read or written.
    System,
    /// The file is whole, but another was expected: another kind, other parameters, another key.
    Mismatch,
    /// The file is damaged, or was never one.
    Damage,
    /// The object in memory cannot be written.
    Object,
    /// The file is whole, but asks for what is refused: no security, or more memory than there is.
    Refused,
}
