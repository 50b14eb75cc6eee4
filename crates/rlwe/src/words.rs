//! Words for people: sizes, numbers of things, and errors of the system.

use std::io::{Error, ErrorKind};

/// Names of error variants that only carry an error of a layer below.
const WRAPPERS: [&str; 20] = [
    "Bfv",
    "Bgv",
    "Bootstrap",
    "Ckks",
    "Encoder",
    "Encoding",
    "Kernel",
    "Math",
    "Moduli",
    "Program",
    "Rlwe",
    "Ring",
    "Scheme",
    "Segment",
    "Series",
    "Sampling",
    "Sharing",
    "Statistics",
    "Transform",
    "Wire",
];

/// Returns a number of bytes in the binary unit that people read it in, with one decimal.
///
/// ```
/// use sunzi_rlwe::words::bytes;
///
/// assert_eq!(bytes(1023), "1023 B");
/// assert_eq!(bytes(1536), "1.5 KiB");
/// assert_eq!(bytes(10 << 30), "10.0 GiB");
/// ```
#[must_use]
pub fn bytes(count: u64) -> String {
    const UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    let mut size = count as f64;
    for unit in UNITS {
        size /= 1024.0;
        // What would be printed as 1024.0 is 1.0 of the next unit.
        if size < 1023.95 {
            return if count < 1024 { format!("{count} B") } else { format!("{size:.1} {unit}") };
        }
    }
    format!("{count} B")
}

/// Returns a number of things with its word: `1 chunk`, `2 chunks`.
///
/// ```
/// use sunzi_rlwe::words::counted;
///
/// assert_eq!(counted(1, "modulus", "moduli"), "1 modulus");
/// assert_eq!(counted(0, "chunk", "chunks"), "0 chunks");
/// ```
#[must_use]
pub fn counted(count: usize, one: &str, more: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { more })
}

/// Returns the first 128 bits of a hash in eight groups of four hexadecimal digits: a fingerprint, which people read out to each other.
///
/// ```
/// use sunzi_rlwe::words::grouped;
///
/// assert_eq!(grouped(&[0xab; 32]), "abab abab abab abab abab abab abab abab");
/// ```
#[must_use]
pub fn grouped(hash: &[u8; 32]) -> String {
    let group = |pair: &[u8]| pair.iter().map(|byte| format!("{byte:02x}")).collect();
    hash.chunks(2).take(8).map(group).collect::<Vec<String>>().join(" ")
}

/// Returns why reading or writing failed, in words and without the number that the system has for it.
///
/// ```
/// use sunzi_rlwe::words::reason;
///
/// let error = std::fs::File::open("nowhere").unwrap_err();
/// assert_eq!(reason(&error), "there is no such file or folder");
/// ```
#[must_use]
pub fn reason(error: &Error) -> String {
    let text = error.to_string();
    // An error with a text of its own says more than its kind.
    if error.get_ref().is_some() && !text.contains(NUMBER) {
        return text;
    }
    match error.kind() {
        ErrorKind::NotFound => "there is no such file or folder",
        ErrorKind::PermissionDenied => "permission denied: ask its owner for access, or choose another place",
        ErrorKind::AlreadyExists => "it is there already",
        ErrorKind::StorageFull => "the disk is full: make room, or choose another place",
        ErrorKind::QuotaExceeded => "the quota is used up: make room, or choose another place",
        ErrorKind::ReadOnlyFilesystem => "its disk cannot be written to: choose another place",
        ErrorKind::BrokenPipe => "whoever reads the output has stopped",
        ErrorKind::NotADirectory => "a part of its path is no folder",
        ErrorKind::IsADirectory => "it is a folder",
        _ => return without_number(&text),
    }
    .to_owned()
}

/// Text before the number of an error of the system.
const NUMBER: &str = " (os error ";

/// Returns the text of an error without the number that the system has for it.
fn without_number(text: &str) -> String {
    match text.split_once(NUMBER) {
        Some((words, rest)) => format!("{words}{}", rest.split_once(')').map_or("", |(_, behind)| behind)),
        None => text.to_owned(),
    }
}

/// Returns the name of the innermost variant in the debug text of an error, for languages whose errors have the names of variants: variants that only carry an error
/// of a layer below are passed over.
///
/// ```
/// use sunzi_rlwe::wire::WireError;
/// use sunzi_rlwe::words::innermost_variant;
///
/// assert_eq!(innermost_variant(&format!("{:?}", WireError::Truncated)), "Truncated");
/// assert_eq!(innermost_variant("Wire(Kind { got: 3 })"), "Kind");
/// ```
#[must_use]
pub fn innermost_variant(debug: &str) -> &str {
    let end = debug.find(|c: char| !c.is_alphanumeric()).unwrap_or(debug.len());
    let (name, rest) = debug.split_at(end);
    match rest.strip_prefix('(') {
        Some(inner) if WRAPPERS.contains(&name) => innermost_variant(inner),
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_go_over_to_the_next_unit() {
        for (count, text) in [
            (0, "0 B"),
            (1 << 10, "1.0 KiB"),
            ((1 << 20) - 1, "1.0 MiB"),
            (1_047_000, "1022.5 KiB"),
            ((1 << 30) - 1, "1.0 GiB"),
            (1 << 40, "1.0 TiB"),
            (u64::MAX, "16.0 EiB"),
        ] {
            assert_eq!(bytes(count), text);
        }
    }

    #[test]
    fn no_error_of_the_system_shows_its_number() {
        for code in 1..134 {
            let text = reason(&Error::from_raw_os_error(code));
            assert!(!text.is_empty() && !text.contains("os error"), "{code}: {text}");
        }
        assert_eq!(reason(&Error::other("a text")), "a text");
        assert_eq!(reason(&Error::new(ErrorKind::NotFound, "a text")), "a text");
        let wrapped = |code| Error::other(format!("{} at \"x\"", Error::from_raw_os_error(code)));
        let text = reason(&wrapped(5));
        assert!(text.ends_with(" at \"x\"") && !text.contains("os error"), "{text}");
    }
}
