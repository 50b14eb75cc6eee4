//! Encrypted tables as files of Sunzi: `docs/format.md`, tables.
//!
//! A file has its schema first and then chunk after chunk: the clear columns of the chunk's rows, then the ciphertexts of each column and label, one
//! for each plaintext modulus. All of these take equally many bytes, or of encrypted integers as many as the range of their column takes digits, so that every offset
//! follows from the schema: a file is written in one go while rows come, and any chunk of a column is read without the others.

mod digits;
mod form;
mod reader;
mod rekeyed;
mod schema;
mod shape;
mod writer;

use sunzi_program::analysis::SchemeChoice;
use sunzi_rlwe::wire::Kind;

pub use reader::TableFile;
pub use shape::Shape;
pub use writer::TableWriter;

/// Returns the wire kind of the tables of a scheme; packed ones of CKKS do not exist, and take the kind of others.
pub(crate) fn kind(scheme: SchemeChoice, packed: bool) -> Kind {
    match (scheme, packed) {
        (SchemeChoice::Bfv, false) => Kind::BfvTable,
        (SchemeChoice::Bgv, false) => Kind::BgvTable,
        (SchemeChoice::Bfv, true) => Kind::BfvPackedTable,
        (SchemeChoice::Bgv, true) => Kind::BgvPackedTable,
        (SchemeChoice::Ckks, _) => Kind::CkksTable,
        (SchemeChoice::Integers, _) => Kind::IntegerTable,
    }
}
