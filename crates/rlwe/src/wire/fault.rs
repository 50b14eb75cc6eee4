//! Sides that cause errors of files.

/// Side that caused an error of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The system failed: bytes of the file could not be read or written.
    System,
    /// The file is whole, but a file of another kind, other parameters or another key was expected.
    Mismatch,
    /// The file is damaged, or is no file of Sunzi.
    Damage,
    /// The object in memory cannot be written to a file.
    Object,
    /// The file is whole, but its object is refused: it has no security, or takes more memory than there is.
    Refused,
}
