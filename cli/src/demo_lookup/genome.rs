//! The public DNA sequence, and words of it: see `cli/data/README.md`.

use crate::error::{CliError, quoted};

/// Name of the sequence in reports.
pub(super) const NAME: &str = "Yersinia pestis plasmid pPCP1 (GenBank NC_005816.1)";
/// Number of letters of a word.
pub(super) const WORD_LETTERS: usize = 16;
/// The word that is looked up unless given another: it begins the gene pla, which tests for plague look for.
pub(super) const USUAL_WORD: &str = "ATGAAGAAAAGTTCTA";
/// Number of letters in one element of GF(2^16), two bits each.
const ELEMENT_LETTERS: usize = 8;

const TEXT: &str = include_str!("../../data/NC_005816.fna");

/// A letter of DNA, as the number of its two bits.
type Letter = u8;

/// A DNA sequence that is a circle of letters.
pub(super) struct Genome {
    letters: Vec<Letter>,
}

/// A word of DNA, as letters.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Word {
    letters: Vec<Letter>,
}

fn letter(c: char) -> Option<Letter> {
    match c.to_ascii_uppercase() {
        'A' => Some(0),
        'C' => Some(1),
        'G' => Some(2),
        'T' => Some(3),
        _ => None,
    }
}

/// Returns the elements of GF(2^16) for letters, as bits: two for each letter.
fn elements(letters: &[Letter]) -> Vec<Vec<u64>> {
    let bits = |&letter: &Letter| [u64::from(letter & 1), u64::from(letter >> 1)];
    letters.chunks(ELEMENT_LETTERS).map(|element| element.iter().flat_map(bits).collect()).collect()
}

/// Reads a word of the user.
pub(super) fn word(text: &str) -> Result<Word, CliError> {
    let letters: Option<Vec<Letter>> = text.chars().map(letter).collect();
    match letters {
        Some(letters) if letters.len() == WORD_LETTERS => Ok(Word { letters }),
        _ => Err(CliError::input(format!(
            "--word {}: expected {WORD_LETTERS} letters, each A, C, G or T, such as {USUAL_WORD}",
            quoted(text)
        ))),
    }
}

impl Word {
    /// Returns the elements of GF(2^16) that stand for this word.
    pub(super) fn elements(&self) -> Vec<Vec<u64>> {
        elements(&self.letters)
    }

    /// Returns the letters of this word as text.
    pub(super) fn text(&self) -> String {
        self.letters
            .iter()
            .map(|&l| ['A', 'C', 'G', 'T'].get(usize::from(l)).copied().unwrap_or('?'))
            .collect()
    }
}

impl Genome {
    /// Reads the DNA sequence in the repository.
    pub(super) fn embedded() -> Result<Self, CliError> {
        let lines = TEXT.lines().filter(|line| !line.starts_with('>'));
        let letters: Option<Vec<Letter>> = lines.flat_map(str::chars).map(letter).collect();
        let letters = letters.ok_or_else(|| CliError::failure("the embedded sequence has other letters"))?;
        Ok(Self { letters })
    }

    /// Number of letters of the sequence: also how many words there are, since the sequence is a circle.
    pub(super) fn len(&self) -> usize {
        self.letters.len()
    }

    /// Yields the words that begin at each letter of the sequence.
    fn windows(&self) -> impl Iterator<Item = Vec<Letter>> + '_ {
        let around = |at: usize| {
            let onwards = self.letters.iter().skip(at).chain(&self.letters);
            onwards.take(WORD_LETTERS).copied().collect()
        };
        (0..self.len()).map(around)
    }

    /// Returns the elements of GF(2^16) of all words of the sequence.
    pub(super) fn words(&self) -> Vec<Vec<Vec<u64>>> {
        self.windows().map(|window| elements(&window)).collect()
    }

    /// Returns the positions where a word begins, counted from 0: the clear answer.
    pub(super) fn positions(&self, word: &Word) -> Vec<usize> {
        self.windows().enumerate().filter(|(_, window)| *window == word.letters).map(|(at, _)| at).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sequence_is_the_one_described() {
        // The checksum is FNV-1a of 64 bits.
        let checksum = TEXT.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        });
        assert_eq!(checksum, 0xeeb8_22a9_0b9b_4fc8);
        let genome = Genome::embedded().unwrap();
        assert_eq!(genome.len(), 9609);
        // The gene begins at letter 6664, counted from 1.
        assert_eq!(genome.positions(&word(USUAL_WORD).unwrap()), [6663]);
    }

    #[test]
    fn words_are_two_elements_of_sixteen_bits() {
        let word = word("acgtACGTTTTTAAAA").unwrap();
        assert_eq!(word.text(), "ACGTACGTTTTTAAAA");
        let bits = [0, 0, 1, 0, 0, 1, 1, 1];
        assert_eq!(word.elements(), [[bits, bits].concat(), [[1; 8], [0; 8]].concat()]);
        for bad in ["", "ACGT", "ACGTACGTACGTACGTA", "ACGTACGTACGTACGN", "ACGTACGTACGTACG\u{e9}"] {
            assert!(super::word(bad).is_err(), "{bad}");
        }
        let genome = Genome::embedded().unwrap();
        let words = genome.words();
        assert_eq!(words.len(), 9609);
        // The last words go around the end of the circle.
        let last = words.last().unwrap();
        assert_eq!(last[0][2..], words[0][0][..14]);
    }
}
