//! Sums of products of polynomials modulo 2^g − 1.

use std::ops::Range;

use sunzi_ring::RingError;
use sunzi_ring::storage::check_length;

use crate::residues::FermatResidues;
use crate::{Component, FermatRing, Products, kronecker};

impl FermatRing {
    /// Yields the component at every position, and the range of its residues.
    pub(crate) fn ranges(&self) -> impl Iterator<Item = (usize, Component, Range<usize>)> {
        let mut start = 0;
        self.0.modulus.components().iter().enumerate().map(move |(position, &component)| {
            let range = start..start + self.0.degree * component.len();
            start = range.end;
            (position, component, range)
        })
    }

    /// Returns the coefficients of Σ_j a_j·b_j for every sum, component by component.
    ///
    /// Each polynomial of the sums of products is lifted once, however many sums it is in.
    pub(crate) fn sums_of_products<const S: usize>(
        &self,
        factors: &[&FermatResidues],
        sums: [&[(usize, usize)]; S],
    ) -> Result<[FermatResidues; S], RingError> {
        let mut results = sums.map(|_| self.empty());
        for (position, component, range) in self.ranges() {
            let parts: Vec<&[u64]> =
                factors.iter().filter_map(|factor| factor.words.get(range.clone())).collect();
            let outs =
                results.each_mut().map(|result| result.words.get_mut(range.clone()).unwrap_or_default());
            match self.0.products {
                Products::Transforms => self.by_transforms(position, &parts, &sums, outs)?,
                Products::Kronecker => self.by_kronecker(component, &parts, &sums, outs),
            }
        }
        let n = self.0.degree;
        if let Some(tables) = &self.0.limbs {
            for (sum, result) in sums.iter().zip(&mut results) {
                for (i, (plan, out)) in tables.rows(&mut result.limbs).enumerate() {
                    let rows = |pick: fn(&(usize, usize)) -> usize| -> Vec<&[u64]> {
                        let limb = |pair| factors.get(pick(pair))?.limbs.chunks_exact(n).nth(i);
                        sum.iter().filter_map(limb).collect()
                    };
                    plan.modulus().inner_product(out, &rows(|pair| pair.0), &rows(|pair| pair.1))?;
                }
            }
        }
        Ok(results)
    }

    fn by_transforms<const S: usize>(
        &self,
        position: usize,
        parts: &[&[u64]],
        sums: &[&[(usize, usize)]; S],
        outs: [&mut [u64]; S],
    ) -> Result<(), RingError> {
        let products = self.0.word_products(position)?;
        let lift = |part: &&[u64]| products.lift().apply(part);
        let lifted = parts.iter().map(lift).collect::<Result<Vec<_>, _>>()?;
        for (sum, out) in sums.iter().zip(outs) {
            let all = |pick: fn(&(usize, usize)) -> usize| -> Vec<&[u64]> {
                sum.iter().filter_map(|pair| lifted.get(pick(pair))).map(|lift| lift.as_slice()).collect()
            };
            products.recover(products.sum(&all(|pair| pair.0), &all(|pair| pair.1))?, out)?;
        }
        Ok(())
    }

    /// Returns the product modulo X^n + 1 of polynomials modulo the component at a position alone, given by n residues each.
    ///
    /// # Errors
    /// [`RingError::NoSuchLevel`] for a position without a component; [`RingError::LengthMismatch`] for
    /// another number of residues.
    pub fn component_product(&self, position: usize, a: &[u64], b: &[u64]) -> Result<Vec<u64>, RingError> {
        let highest = self.0.modulus.level();
        let missing = RingError::NoSuchLevel { got: position + 1, highest };
        let (_, component, range) = self.ranges().nth(position).ok_or(missing)?;
        check_length("residues", range.len(), a.len())?;
        check_length("residues", range.len(), b.len())?;
        let mut product = vec![0; range.len()];
        match self.0.products {
            Products::Transforms => {
                self.by_transforms(position, &[a, b], &[&[(0, 1)]], [&mut product])?;
            }
            Products::Kronecker => kronecker::negacyclic(component, self.0.degree, a, b, &mut product),
        }
        Ok(product)
    }

    fn by_kronecker<const S: usize>(
        &self,
        component: Component,
        parts: &[&[u64]],
        sums: &[&[(usize, usize)]; S],
        outs: [&mut [u64]; S],
    ) {
        for (sum, out) in sums.iter().zip(outs) {
            let mut term = vec![0; out.len()];
            for &(a, b) in *sum {
                if let (Some(a), Some(b)) = (parts.get(a), parts.get(b)) {
                    kronecker::negacyclic(component, self.0.degree, a, b, &mut term);
                }
                let pairs = out.chunks_exact_mut(component.len()).zip(term.chunks_exact(component.len()));
                for (out, term) in pairs {
                    component.add_assign(out, term);
                }
            }
        }
    }

    /// Whether [`product_with_key`](Self::product_with_key) computes all products of polynomials of this ring.
    pub(crate) fn lifts_keys(&self) -> bool {
        self.0.limbs.is_none() && self.0.products == Products::Transforms
    }

    /// Returns the product a·b by transforms modulo q alone, for a polynomial b of this level or above, which
    /// stores its lift.
    pub(crate) fn product_with_key(
        &self,
        a: &FermatResidues,
        b: &FermatResidues,
    ) -> Result<FermatResidues, RingError> {
        let mut product = self.empty();
        for (position, _, range) in self.ranges() {
            let products = self.0.word_products(position)?;
            let [part, key] = [a, b].map(|poly| poly.words.get(range.clone()).unwrap_or_default());
            let key = b.words.lifted(position, products.lift().len(), || products.lift().apply(key))?;
            let sum = products.sum(&[&products.lift().apply(part)?], &[&key])?;
            products.recover(sum, product.words.get_mut(range).unwrap_or_default())?;
        }
        Ok(product)
    }
}
