//! Groups of small moduli, so that every product of a word and a residue uses the whole multiplier.

use sunzi_kernels::Modulus;
use sunzi_ring::RingError;

/// A group of consecutive moduli whose product P is a word.
#[derive(Clone, Debug)]
pub(super) struct Group {
    /// Product P of the moduli of a group.
    pub(super) product: Modulus,
    pub(super) members: Vec<Member>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Member {
    pub(super) modulus: Modulus,
    /// Cofactor P/q_i of a modulus q_i in its group of product P.
    pub(super) cofactor: u64,
}

/// Number of coefficients whose residues are gathered together: the residues of one row that share a few
/// cache lines.
const TILE: usize = 16;

/// Makes groups of moduli as large as they can be: a sum of as many products below P as there are members
/// stays below 2^62.
pub(super) fn group(moduli: &[Modulus]) -> Result<Vec<Group>, RingError> {
    let mut groups = Vec::new();
    let mut rest = moduli;
    while let Some((first, others)) = rest.split_first() {
        let (mut product, mut count) = (first.value(), 1_usize);
        for next in others {
            let larger = u128::from(product) * u128::from(next.value());
            if larger * (count as u128 + 1) >= 1 << 62 {
                break;
            }
            (product, count) = (larger as u64, count + 1);
        }
        let (taken, left) = rest.split_at(count);
        let member = |&modulus: &Modulus| Member { modulus, cofactor: product / modulus.value() };
        groups.push(Group { product: Modulus::new(product)?, members: taken.iter().map(member).collect() });
        rest = left;
    }
    Ok(groups)
}

/// Calls `f(i, residues of coefficient i)` for the first `length` coefficients of the rows, one row for each
/// modulus, with the residues y_i of a group merged to Σ y_i·(P/q_i): y_i·(q/q_i) is y_i·(P/q_i)·(q/P).
pub(super) fn for_each_coefficient(
    groups: &[Group],
    rows: &[&[u64]],
    length: usize,
    mut f: impl FnMut(usize, &[u64]),
) {
    let mut tile = vec![0; TILE * groups.len()];
    for at in (0..length).step_by(TILE) {
        let mut rows = rows.iter();
        for (g, group) in groups.iter().enumerate() {
            for (i, (member, row)) in group.members.iter().zip(&mut rows).enumerate() {
                let row = row.get(at..).unwrap_or_default();
                for (residues, from) in tile.chunks_exact_mut(groups.len()).zip(row) {
                    if let Some(to) = residues.get_mut(g) {
                        *to = from * member.cofactor + if i == 0 { 0 } else { *to };
                    }
                }
            }
        }
        (at..length).zip(tile.chunks_exact(groups.len())).for_each(|(i, residues)| f(i, residues));
    }
}
