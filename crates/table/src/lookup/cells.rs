//! Cells of a row as the bytes of an entry: each cell is its length, seven bits a byte and the lowest first, and its text.

use sunzi_rlwe::wire::WireError;

/// Appends a cell to the bytes of a row.
pub(crate) fn put(cell: &str, bytes: &mut Vec<u8>) {
    let mut len = cell.len();
    while len >= 0x80 {
        bytes.push(len as u8 | 0x80);
        len >>= 7;
    }
    bytes.push(len as u8);
    bytes.extend_from_slice(cell.as_bytes());
}

/// Reads so many cells; zeros may follow them.
///
/// # Errors
/// [`WireError::Value`] for bytes that are no such cells: whoever built the database made them.
pub(crate) fn get(mut bytes: &[u8], count: usize) -> Result<Vec<String>, WireError> {
    let wrong = |expected: &str, got: &str| WireError::value("the cells of an entry", expected, got);
    let mut cells = Vec::new();
    for _ in 0..count {
        let len = len(&mut bytes).ok_or_else(|| wrong("the length of a cell", "none"))?;
        let (cell, rest) =
            bytes.split_at_checked(len).ok_or_else(|| wrong("a whole cell", "a part of one"))?;
        let text = std::str::from_utf8(cell).map_err(|_| wrong("UTF-8", "other bytes"))?;
        cells.push(text.to_owned());
        bytes = rest;
    }
    if bytes.iter().any(|byte| *byte != 0) {
        return Err(wrong("nothing behind the last cell", "more"));
    }
    Ok(cells)
}

/// Reads a length of at most four bytes.
fn len(bytes: &mut &[u8]) -> Option<usize> {
    let mut len = 0;
    for shift in [0, 7, 14, 21] {
        let (first, rest) = bytes.split_first()?;
        *bytes = rest;
        len |= usize::from(first & 0x7F) << shift;
        if first & 0x80 == 0 {
            return Some(len);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_come_back() {
        let long = "x".repeat(20_000);
        let cells = ["", "Tokyo", "a\nb", "\0", &long, "é"];
        let mut bytes = Vec::new();
        cells.iter().for_each(|cell| put(cell, &mut bytes));
        assert_eq!(get(&bytes, cells.len()).unwrap(), cells);
        assert!(get(&bytes, cells.len() - 1).is_err());
        assert_eq!(get(&[&bytes[..], &[0; 9]].concat(), cells.len()).unwrap(), cells);
        for end in 0..bytes.len() {
            assert!(get(&bytes[..end], cells.len()).is_err(), "{end}");
        }
    }

    #[test]
    fn bytes_that_are_no_cells_are_refused() {
        assert!(get(&[0x80; 9], 1).is_err() && get(&[2, 0xFF, 0xFF], 1).is_err());
        assert!(get(&[0xFF, 0xFF, 0xFF, 0x7F], 1).is_err());
        assert!(get(&[0, 0, 0], 0).unwrap().is_empty());
    }
}
