//! Matrices of polynomials in words: a product with vectors reads each modulus of a matrix as one stream.
//!
//! A pass over polynomials reads pieces of 8 KiB from places of their own, too short for the prefetcher. So the elements of a column are cut into blocks of
//! coefficients, and the blocks of equal coefficients stand next to each other: by modulus, block, column, row, packed.

use std::ops::Range;

use sunzi_kernels::{Buffer, MATRIX_BLOCK, Modulus};
use zeroize::Zeroize;

use crate::error::entry;
use crate::parallel::Work;
use crate::poly_matrix::{MatrixContent, PolyMatrix, check_sides};
use crate::{Backend, Evaluation, Poly, RingError, WordRing};

/// Number of bytes that are read from the last vector of a modulus on.
const READ: usize = 64;

/// Elements of a matrix in words.
struct Words {
    ring: WordRing,
    rows: usize,
    columns: usize,
    /// Packed residues of the elements for every modulus.
    limbs: Vec<Buffer>,
}

/// Makes a matrix of zeros.
pub(crate) fn zeros(ring: &WordRing, rows: usize, columns: usize) -> Result<PolyMatrix, RingError> {
    let (count, blocks) = (check_sides(rows, columns)?, ring.degree().div_ceil(MATRIX_BLOCK));
    let limb = |modulus: &Modulus| {
        let bytes = [blocks, stride(modulus)].into_iter().try_fold(count, usize::checked_mul);
        let buffer = bytes.and_then(|bytes| Buffer::try_zeroed(bytes.checked_add(READ)?.div_ceil(8)));
        buffer.ok_or_else(|| {
            let got = format!("{rows} rows and {columns} columns");
            RingError::out_of_range("a matrix of polynomials", "one that fits the memory", got)
        })
    };
    let limbs = ring.basis().moduli().iter().map(limb).collect::<Result<_, _>>()?;
    Ok(PolyMatrix::new(rows, columns, Words { ring: ring.clone(), rows, columns, limbs }))
}

/// Number of bytes of a block of an element.
fn stride(modulus: &Modulus) -> usize {
    MATRIX_BLOCK * modulus.residue_bytes()
}

impl MatrixContent for Words {
    fn set(&mut self, row: usize, column: usize, a: &Poly<Evaluation>) -> Result<(), RingError> {
        self.ring.check(a)?;
        let limbs = self.ring.basis().moduli().iter().zip(&mut self.limbs).zip(a.limbs());
        for ((modulus, bytes), limb) in limbs {
            let bytes: &mut [u8] = bytemuck::cast_slice_mut(bytes);
            for (block, residues) in limb.chunks(MATRIX_BLOCK).enumerate() {
                let start = ((block * self.columns + column) * self.rows + row) * stride(modulus);
                modulus.pack_residues(bytes.get_mut(start..).unwrap_or_default(), residues)?;
            }
        }
        Ok(())
    }

    fn products(
        &self,
        vectors: &[&[&Poly<Evaluation>]],
        level: usize,
    ) -> Result<Vec<Poly<Evaluation>>, RingError> {
        let (ring, n) = (&self.ring, self.ring.degree());
        let target = ring.at_level(level)?;
        let own = ring.nested(level, ring.level())?;
        let places = |a: &Poly<Evaluation>| ring.nested(level, ring.level_of(a)?);
        let vectors = vectors.iter().map(|vector| vector.iter().map(|a| Ok((*a, places(a)?))).collect());
        let vectors: Vec<Vector<'_>> = vectors.collect::<Result<_, RingError>>()?;
        let mut sums: Vec<_> = (0..vectors.len() * self.columns).map(|_| target.arbitrary()).collect();
        // The limbs with equal number of all sums are written together.
        let mut limbs: Vec<Vec<&mut [u64]>> = own.iter().map(|_| Vec::with_capacity(sums.len())).collect();
        for sum in &mut sums {
            limbs
                .iter_mut()
                .zip(sum.words_mut().chunks_exact_mut(n))
                .for_each(|(list, limb)| list.push(limb));
        }
        let run = |(i, sums): (usize, Vec<&mut [u64]>)| {
            let bytes =
                bytemuck::cast_slice(entry("limb of a matrix", &self.limbs, *entry("place", &own, i)?)?);
            let pass =
                Pass { matrix: self, vectors: &vectors, limb: i, modulus: target.basis().own(i)?, bytes };
            target.parallelism().for_each_block_of(sums, n, |range, sums| pass.run(range, sums))
        };
        let words = own.len() * n * vectors.len() * self.rows * self.columns;
        target.parallelism().for_each(
            Work::Elementwise,
            words,
            limbs.into_iter().enumerate().collect(),
            run,
        )?;
        Ok(sums)
    }

    fn byte_len(&self) -> usize {
        self.limbs.iter().map(|limb| 8 * limb.len()).sum()
    }

    fn erase(&mut self) {
        self.limbs.iter_mut().for_each(Zeroize::zeroize);
    }
}

/// Elements of a vector, and the places of their limbs.
type Vector<'a> = Vec<(&'a Poly<Evaluation>, Vec<usize>)>;

/// A pass over one modulus of a matrix.
struct Pass<'a> {
    matrix: &'a Words,
    vectors: &'a [Vector<'a>],
    /// Number of the modulus in the products.
    limb: usize,
    modulus: Modulus,
    /// Packed residues of the matrix for the modulus.
    bytes: &'a [u8],
}

impl Pass<'_> {
    /// Computes a range of coefficients of all products: those of each column, vector after vector.
    fn run(&self, range: Range<usize>, sums: &mut [&mut [u64]]) -> Result<(), RingError> {
        let Words { rows, columns, .. } = *self.matrix;
        let mut gathered = vec![0; self.vectors.len() * rows * MATRIX_BLOCK];
        let mut products = vec![0; 2 * columns * MATRIX_BLOCK];
        for start in range.clone().step_by(MATRIX_BLOCK) {
            let len = MATRIX_BLOCK.min(range.end - start);
            let vectors = gathered.chunks_mut(rows * MATRIX_BLOCK);
            for (vector, words) in self.vectors.iter().zip(vectors) {
                self.gather(vector, start..start + len, words)?;
            }
            let first = start / MATRIX_BLOCK * columns * rows * stride(&self.modulus);
            let elements = self.bytes.get(first..).unwrap_or_default();
            let within = start - range.start..start - range.start + len;
            // The first pair of vectors reads the elements from memory, others from a cache.
            let pairs = gathered.chunks(2 * rows * MATRIX_BLOCK).zip(sums.chunks_mut(2 * columns));
            for (pair, sums) in pairs {
                let mut vectors = pair.chunks(rows * MATRIX_BLOCK);
                let one = vectors.next().unwrap_or_default();
                let (low, high) = products.split_at_mut(columns * MATRIX_BLOCK);
                let both = [one, vectors.next().unwrap_or(one)];
                self.modulus.packed_matrix_products([low, high], both, elements)?;
                for (sum, product) in sums.iter_mut().zip(products.chunks(MATRIX_BLOCK)) {
                    copy(sum.get_mut(within.clone()).unwrap_or_default(), product);
                }
            }
        }
        Ok(())
    }

    /// Copies a block of all elements of a vector into one piece.
    fn gather(&self, vector: &Vector<'_>, range: Range<usize>, words: &mut [u64]) -> Result<(), RingError> {
        for ((a, places), words) in vector.iter().zip(words.chunks_mut(MATRIX_BLOCK)) {
            copy(words, a.part_at(places, self.limb, range.clone())?);
        }
        Ok(())
    }
}

/// Copies as many words as both slices have.
fn copy(to: &mut [u64], from: &[u64]) {
    to.iter_mut().zip(from).for_each(|(to, from)| *to = *from);
}
