//! Prints the reference of the program language as a page of the book: `cargo xtask book --record` keeps it.
#![forbid(unsafe_code)]
#![expect(clippy::print_stdout, reason = "printing the page is its purpose")]

fn main() {
    print!("{}", sunzi_program::language::markdown());
}
