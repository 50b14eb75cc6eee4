//! Objects of every kind as files, each with its reader and all operations that take it: for tests of the wire format.

pub mod alloc;
mod crafted;
pub mod mutation;
mod operate;
mod results;
mod specimens;
mod tables;

pub use crafted::{Crafted, crafted};
pub use operate::{Objects, Operate};
pub use specimens::{Failure, Specimen, every_specimen, parameter_specimens, specimens};
