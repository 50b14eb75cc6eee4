//! Bytes of blinded items, and of their evaluations.

use sunzi_oprf::{Element, MOST_INPUTS, OprfError, Proof};

/// Returns the bytes of elements, one after the other.
#[must_use]
pub fn elements_to_bytes(elements: &[Element]) -> Vec<u8> {
    elements.iter().flat_map(|element| *element.as_bytes()).collect()
}

/// Reads elements, one after the other.
///
/// # Errors
/// [`OprfError::Inputs`] for none, or more than are evaluated together; [`OprfError::Element`] for bytes that are no elements.
pub fn elements_from_bytes(bytes: &[u8]) -> Result<Vec<Element>, OprfError> {
    let (elements, rest) = bytes.as_chunks::<{ Element::BYTES }>();
    if !rest.is_empty() {
        return Err(OprfError::Element);
    }
    if !(1..=MOST_INPUTS).contains(&elements.len()) {
        return Err(OprfError::Inputs(elements.len()));
    }
    elements.iter().map(|bytes| Element::from_bytes(*bytes)).collect()
}

/// Returns the bytes of evaluated elements, with those of the proof before them.
#[must_use]
pub fn evaluation_to_bytes(evaluated: &[Element], proof: &Proof) -> Vec<u8> {
    [&proof.to_bytes()[..], &elements_to_bytes(evaluated)].concat()
}

/// Reads evaluated elements and the proof before them.
///
/// # Errors
/// [`OprfError::Proof`] for bytes without a proof; every error of [`elements_from_bytes`].
pub fn evaluation_from_bytes(bytes: &[u8]) -> Result<(Vec<Element>, Proof), OprfError> {
    let (proof, elements) = bytes.split_first_chunk::<{ Proof::BYTES }>().ok_or(OprfError::Proof)?;
    Ok((elements_from_bytes(elements)?, Proof::from_bytes(proof)?))
}
