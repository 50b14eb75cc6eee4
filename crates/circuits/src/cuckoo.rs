//! Cuckoo hashing with three places for each item.

use rand_core::CryptoRng;

/// Number of places of an item.
pub(crate) const PLACES: usize = 3;
/// Items that are moved for one that has no free place, at most.
const MOVES: usize = 500;

/// Puts an item into one of its places, by moving those that stand there; returns the item that is left without a place in the end.
pub(crate) fn put(
    table: &mut [Option<usize>],
    places: &[[usize; PLACES]],
    mut moving: usize,
    rng: &mut dyn CryptoRng,
) -> Option<usize> {
    for moves in 0..=MOVES {
        let own = places.get(moving)?;
        if let Some(free) = own.iter().find(|&&place| table.get(place) == Some(&None)) {
            *table.get_mut(*free)? = Some(moving);
            return None;
        }
        if moves < MOVES {
            let place = *own.get(rng.next_u32() as usize % PLACES)?;
            moving = table.get_mut(place)?.replace(moving)?;
        }
    }
    Some(moving)
}
