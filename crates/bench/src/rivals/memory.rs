//! Plain loops over memory, beside operations that have little to compute.

use super::Scheme;
use crate::BenchError;
use crate::job::many;
use crate::stream::{Addition, Stream};

/// Something to time beside an operation.
pub(super) type MemoryLoop = Box<dyn FnMut() -> Result<(), BenchError>>;

/// A loop over as many bytes as an operation has operands and results, for ciphertexts of degree `n` and so many `bytes`.
pub(super) fn beside(scheme: Scheme, n: usize, name: &str, bytes: usize) -> Option<MemoryLoop> {
    match name {
        "add" => Some(sum(bytes)),
        "decrypt" => Some(read(bytes, 1)),
        // Products of BFV change moduli. Four polynomials in and three out are as much as three times 7/6 of a ciphertext.
        "multiply" if scheme != Scheme::Bfv => Some(sum(bytes * 7 / 6)),
        many::INNER_PRODUCT if scheme != Scheme::Bfv => {
            let different = many::different(n);
            Some(read(different * bytes, many::OPERANDS / different))
        }
        _ => None,
    }
}

fn sum(bytes: usize) -> MemoryLoop {
    let mut addition = Addition::new(bytes);
    Box::new(move || addition.add())
}

fn read(bytes: usize, times: usize) -> MemoryLoop {
    let stream = Stream::new(bytes);
    Box::new(move || (0..times).try_for_each(|_| stream.read()))
}
