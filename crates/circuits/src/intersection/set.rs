//! Sets that are prepared for answers, and the answers.

use std::collections::HashSet;

use rand_core::CryptoRng;
use rand_core::Rng as _;
use rayon::prelude::*;
use sunzi_bgv::{BgvError, Ciphertext, Context, Evaluator, PlainMatrix};
use sunzi_encoding::{BatchEncoder, Encoder};
use sunzi_ring::sampling::SeededRng;
use sunzi_rlwe::RelinearizationKey;
use zeroize::Zeroizing;

use super::interpolation::Field;
use super::layout::ZEROS;
use super::powers::{powers, reach, sources_for};
use super::{IntersectionError, Layout, Token};
use crate::packing::packed;

/// A set of items with labels, ready to answer any number of queries.
///
/// Its plaintexts take 7 bytes of memory for every modulus and coefficient of a polynomial: about 3.5 KiB an item with a label of 16 bytes in a large set.
pub struct LabelledSet {
    layout: Layout,
    /// Coefficients of all polynomials: a row for every power, a column for every part of a sealed label of every polynomial of a bin.
    matrix: PlainMatrix,
}

/// Seeds that are tried for a set.
const SEEDS: usize = 4;

/// An item of a polynomial: its node, and its number in the set; no number where the node is there to hide how many items there are.
type Root = (u64, Option<usize>);

impl LabelledSet {
    /// Prepares the items of a set, each with its label. Labels that are shorter than the longest are filled up with zeros.
    ///
    /// # Errors
    /// Every error of [`Layout::drawn`]; [`IntersectionError::Bgv`] for a set that does not fit the memory.
    pub fn new(
        evaluator: &Evaluator,
        items: &[(Token, Vec<u8>)],
        rng: &mut dyn CryptoRng,
    ) -> Result<Self, IntersectionError> {
        let layout = Layout::drawn(evaluator.context(), items, rng)?;
        Self::with_layout(evaluator, layout, items, rng)
    }

    /// Prepares the items of a set whose layout clients have.
    ///
    /// # Errors
    /// [`IntersectionError::Setting`] for items of another layout; [`IntersectionError::Bgv`] for a set that does not fit the memory.
    pub fn with_layout(
        evaluator: &Evaluator,
        layout: Layout,
        items: &[(Token, Vec<u8>)],
        rng: &mut dyn CryptoRng,
    ) -> Result<Self, IntersectionError> {
        layout.check(evaluator.context())?;
        let (count, longest) = (items.len() as u64, longest(items));
        if (count, longest) != (layout.items(), layout.label_bytes()) {
            let said = |count, bytes| format!("{count} with labels of {bytes} bytes");
            let expected = said(layout.items(), layout.label_bytes());
            return Err(IntersectionError::setting("the items of a layout", expected, said(count, longest)));
        }
        let divided = layout.divided(items);
        let parts = divided.iter().map(Vec::len).max().unwrap_or(0).max(1);
        if parts != layout.parts() {
            return Err(IntersectionError::setting("the polynomials of a bin", layout.parts(), parts));
        }
        let mut hidden = Zeroizing::new([0; 32]);
        rng.fill_bytes(&mut *hidden);
        let matrix = layout.matrix(evaluator, items, &divided, &hidden)?;
        Ok(Self { layout, matrix })
    }

    /// The layout of the set, which clients ask by.
    #[must_use]
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Length of the prepared set in memory, in bytes.
    #[must_use]
    pub fn byte_len(&self) -> usize {
        self.matrix.byte_len()
    }

    /// Answers a query: a ciphertext for every part of a sealed label of every polynomial of a bin.
    ///
    /// # Errors
    /// [`IntersectionError::Setting`] for a query of another number of ciphertexts; [`IntersectionError::Bgv`] for one of other parameters, or under another key.
    pub fn answer(
        &self,
        evaluator: &Evaluator,
        query: &[Ciphertext],
        key: &RelinearizationKey,
    ) -> Result<Vec<Ciphertext>, IntersectionError> {
        self.layout.check(evaluator.context())?;
        if query.len() != self.layout.sources() {
            return Err(IntersectionError::setting(
                "the ciphertexts of a query",
                self.layout.sources(),
                query.len(),
            ));
        }
        let powers = powers(evaluator, query, key)?;
        let sums = evaluator.plain_matrix_products(&[&powers], &self.matrix)?.pop().unwrap_or_default();
        let lowest = |sum: &Ciphertext| Ok(evaluator.mod_switch_to(sum, 0)?);
        sums.iter().map(lowest).collect()
    }
}

/// Divides the items of a bin into polynomials of at most so many items, whose nodes differ.
fn divide(bin: Vec<(u64, usize)>, most: usize) -> Vec<Vec<Root>> {
    let mut parts: Vec<(Vec<Root>, HashSet<u64>)> = Vec::new();
    for (node, item) in bin {
        let fits =
            |(roots, nodes): &&mut (Vec<Root>, HashSet<u64>)| roots.len() < most && !nodes.contains(&node);
        match parts.iter_mut().find(fits) {
            Some((roots, nodes)) => {
                roots.push((node, Some(item)));
                nodes.insert(node);
            }
            None => parts.push((vec![(node, Some(item))], HashSet::from([node]))),
        }
    }
    parts.into_iter().map(|(roots, _)| roots).collect()
}

/// Fails for a token that comes again.
fn check_differ(items: &[(Token, Vec<u8>)]) -> Result<(), IntersectionError> {
    let mut sorted: Vec<(&Token, usize)> = (0..).zip(items).map(|(at, (token, _))| (token, at)).collect();
    sorted.sort_unstable();
    let mut neighbours = sorted.windows(2).filter_map(|pair| Some((pair.first()?, pair.last()?)));
    match neighbours.find(|(a, b)| a.0 == b.0) {
        Some((&(_, first), &(_, second))) => Err(IntersectionError::Twice { first, second }),
        None => Ok(()),
    }
}

/// The number of bytes of the longest label.
fn longest(items: &[(Token, Vec<u8>)]) -> usize {
    items.iter().map(|(_, label)| label.len()).max().unwrap_or(0)
}

impl Layout {
    /// Draws the layout of a set: of some seeds the one whose answers have fewest ciphertexts, since the fullest bin decides.
    ///
    /// # Errors
    /// [`IntersectionError::Twice`] for a token that comes again; [`IntersectionError::Setting`] for no items, too many, or labels that are too long, and for
    /// parameters that no set has.
    pub fn drawn(
        context: &Context,
        items: &[(Token, Vec<u8>)],
        rng: &mut dyn CryptoRng,
    ) -> Result<Self, IntersectionError> {
        check_differ(items)?;
        let mut best: Option<Self> = None;
        for _ in 0..SEEDS {
            let mut seed = [0; 32];
            rng.fill_bytes(&mut seed);
            let layout = Self::of_items(context, seed, items)?;
            let sizes = |layout: &Self| (layout.answers(), layout.sources());
            if best.as_ref().is_none_or(|best| sizes(&layout) < sizes(best)) {
                best = Some(layout);
            }
        }
        best.ok_or_else(|| IntersectionError::setting("the seeds of a set", "some", 0))
    }

    /// Makes the layout of a set by its seed, with as few ciphertexts in queries and answers as its fullest bin takes.
    fn of_items(
        context: &Context,
        seed: [u8; 32],
        items: &[(Token, Vec<u8>)],
    ) -> Result<Self, IntersectionError> {
        let sizes = (items.len() as u64, longest(items));
        // Bins are those of the seed alone, so the rest of the layout may follow from how full they are.
        let bins = Self::new(context, seed, sizes, (1, 1))?.filled(items);
        let sources = sources_for(bins.iter().map(Vec::len).max().unwrap_or(0));
        let parts = bins.into_iter().map(|bin| divide(bin, reach(sources)).len()).max().unwrap_or(0).max(1);
        Self::new(context, seed, sizes, (sources, parts))
    }

    /// The items of all polynomials of every bin.
    fn divided(&self, items: &[(Token, Vec<u8>)]) -> Vec<Vec<Vec<Root>>> {
        self.filled(items).into_iter().map(|bin| divide(bin, self.degree())).collect()
    }

    /// Puts every item into its bins: their nodes and numbers.
    fn filled(&self, items: &[(Token, Vec<u8>)]) -> Vec<Vec<(u64, usize)>> {
        let mut bins = vec![Vec::new(); self.bins()];
        for (number, (token, _)) in items.iter().enumerate() {
            let place = self.place(token);
            for (at, &bin) in place.bins.iter().enumerate() {
                let is_first = !place.bins.iter().take(at).any(|before| *before == bin);
                if let Some(bin) = bins.get_mut(bin).filter(|_| is_first) {
                    bin.push((place.node, number));
                }
            }
        }
        bins
    }

    /// Makes the matrix of the coefficients of all polynomials.
    fn matrix(
        &self,
        evaluator: &Evaluator,
        items: &[(Token, Vec<u8>)],
        divided: &[Vec<Vec<Root>>],
        hidden: &[u8; 32],
    ) -> Result<PlainMatrix, IntersectionError> {
        let (degree, columns) = (self.degree(), self.columns());
        let mut matrix = evaluator.plain_matrix(degree, self.answers())?;
        let encoder = BatchEncoder::new(self.bins(), self.plain_modulus()).map_err(BgvError::from)?;
        let sealed: Vec<Zeroizing<Vec<u64>>> =
            items.par_iter().map(|(token, label)| self.sealed_numbers(token, label)).collect();
        let field = Field::new(self.plain_modulus());
        for part in 0..self.parts() {
            let polynomials: Vec<Vec<Vec<u32>>> = divided
                .par_iter()
                .enumerate()
                .map(|(bin, parts)| {
                    let stream = (part * self.bins() + bin) as u64;
                    let mut rng = SeededRng::derive(hidden, "nodes without an item", stream);
                    let roots = self.filled_up(parts.get(part).map_or(&[], Vec::as_slice), &mut rng);
                    self.polynomials(field, &roots, &sealed, &mut rng)
                })
                .collect();
            for column in 0..columns {
                let of_power = |power: usize| {
                    let coefficient = |bin: &Vec<Vec<u32>>| {
                        bin.get(column).and_then(|all| all.get(power)).copied().unwrap_or(0).into()
                    };
                    encoder.encode(&polynomials.iter().map(coefficient).collect::<Vec<u64>>())
                };
                let plaintexts: Vec<_> = (0..degree)
                    .into_par_iter()
                    .map(of_power)
                    .collect::<Result<_, _>>()
                    .map_err(BgvError::from)?;
                for (power, plaintext) in plaintexts.iter().enumerate() {
                    evaluator.set_plain(&mut matrix, [power, part * columns + column], plaintext)?;
                }
            }
        }
        Ok(matrix)
    }

    /// Interpolates the parts of the sealed labels of a polynomial's items, and random numbers where a node has no item.
    fn polynomials(
        &self,
        field: Field,
        roots: &[Root],
        sealed: &[Zeroizing<Vec<u64>>],
        rng: &mut SeededRng,
    ) -> Vec<Vec<u32>> {
        let mut value = |column: usize, item: Option<usize>| {
            let own = item.and_then(|item| sealed.get(item)).and_then(|sealed| sealed.get(column));
            own.copied().unwrap_or_else(|| rng.next_u64() >> (64 - self.bits()))
        };
        let values: Vec<Vec<u64>> = (0..self.columns())
            .map(|column| roots.iter().map(|(_, item)| value(column, *item)).collect())
            .collect();
        let nodes: Vec<u64> = roots.iter().map(|(node, _)| *node).collect();
        field.interpolate(&nodes, &values)
    }

    /// Fills the items of a polynomial up with nodes at random, so that nobody sees how many items there are.
    fn filled_up(&self, roots: &[Root], rng: &mut SeededRng) -> Vec<Root> {
        let mut nodes: HashSet<u64> = roots.iter().map(|(node, _)| *node).collect();
        let mut all = roots.to_vec();
        let below = u128::from(self.plain_modulus() - 1);
        while all.len() < self.degree() {
            let node = 1 + ((u128::from(rng.next_u64()) * below) >> 64) as u64;
            if nodes.insert(node) {
                all.push((node, None));
            }
        }
        all
    }

    /// Seals a label, as the numbers of the slots that it takes.
    fn sealed_numbers(&self, token: &Token, label: &[u8]) -> Zeroizing<Vec<u64>> {
        let mut bytes = Zeroizing::new(vec![0; self.sealed_bytes()]);
        bytes.iter_mut().skip(ZEROS).zip(label).for_each(|(to, byte)| *to = *byte);
        self.sealed(token, &mut bytes);
        let mut numbers = Zeroizing::new(packed(&bytes, self.bits()));
        numbers.truncate(self.columns());
        numbers
    }
}
