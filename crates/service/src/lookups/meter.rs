//! Items that were evaluated for each address, since an hour began.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::listen::network;
use crate::refusal::Refusal;

/// Time after which counts begin anew.
const HOUR: Duration = Duration::from_secs(3600);
/// Addresses that are counted at most; others wait until the hour is over.
const ADDRESSES: usize = 1 << 16;

/// Counts of an hour, by address.
pub(super) struct Meter {
    most: u64,
    counted: Mutex<(Instant, HashMap<IpAddr, u64>)>,
}

impl Meter {
    /// A meter that allows an address so many items in an hour.
    pub(super) fn new(most: u64) -> Self {
        Self { most, counted: Mutex::new((Instant::now(), HashMap::new())) }
    }

    /// Counts items of an address, all or none of them.
    pub(super) fn count(&self, address: IpAddr, items: u64) -> Result<(), Refusal> {
        self.count_at(address, items, Instant::now())
    }

    fn count_at(&self, address: IpAddr, items: u64, now: Instant) -> Result<(), Refusal> {
        let mut counted = self.counted.lock().unwrap_or_else(PoisonError::into_inner);
        let (began, counts) = &mut *counted;
        if now.saturating_duration_since(*began) >= HOUR {
            (*began, *counts) = (now, HashMap::new());
        }
        let address = network(address.to_canonical());
        let own = counts.get(&address).copied().unwrap_or(0);
        let (known, all) = (counts.contains_key(&address), own.saturating_add(items));
        if all > self.most || (!known && counts.len() >= ADDRESSES) {
            let left = HOUR.saturating_sub(now.saturating_duration_since(*began));
            let seconds = u32::try_from(left.as_secs()).unwrap_or(u32::MAX).max(1);
            return Err(Refusal::busy("too many items were asked for in this hour", seconds)
                .expected(format!("at most {} of an address", self.most))
                .got(format!("{items} after {own}"))
                .remedy("ask for fewer, or later"));
        }
        counts.insert(address, all);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_address_has_so_many_items_in_an_hour() {
        let (meter, start) = (Meter::new(10), Instant::now());
        let [one, same, other] =
            ["2001:db8::1", "2001:db8::2", "192.0.2.1"].map(|text| text.parse().unwrap());
        meter.count_at(one, 6, start).unwrap();
        let refused = meter.count_at(same, 5, start).unwrap_err();
        assert_eq!(refused.status, 429);
        meter.count_at(same, 4, start).unwrap();
        meter.count_at(other, 10, start).unwrap();
        assert!(meter.count_at(other, 1, start + HOUR / 2).is_err());
        meter.count_at(one, 10, start + HOUR + Duration::from_secs(1)).unwrap();
        assert!(meter.count_at(other, u64::MAX, start + HOUR + Duration::from_secs(2)).is_err());
    }
}
