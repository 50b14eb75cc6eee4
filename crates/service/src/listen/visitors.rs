//! Connections of each address: one machine cannot take the places of all others.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, PoisonError};

/// Bits of an address of IPv6 that name a network, whose machines take their addresses themselves.
const NETWORK_BITS: u32 = 64;

/// Numbers of open connections by address.
#[derive(Debug)]
pub(super) struct Visitors {
    most: usize,
    open: Mutex<HashMap<IpAddr, usize>>,
}

/// Connection that counts for its address until it is dropped.
#[derive(Debug)]
pub(super) struct Visit {
    visitors: Arc<Visitors>,
    /// Address that is counted; none for this machine.
    counted: Option<IpAddr>,
}

impl Visitors {
    /// Visitors who have at most so many connections each.
    pub(super) fn new(most: usize) -> Arc<Self> {
        Arc::new(Self { most, open: Mutex::default() })
    }

    /// Counts a connection of an address; `None` if the address has as many as it may. This machine has no limit: what stands before a server may be on it.
    pub(super) fn enter(self: &Arc<Self>, address: IpAddr) -> Option<Visit> {
        let address = network(address.to_canonical());
        let counted = (!address.is_loopback()).then_some(address);
        if let Some(address) = counted {
            let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
            let count = open.entry(address).or_default();
            if *count >= self.most {
                return None;
            }
            *count += 1;
        }
        Some(Visit { visitors: Arc::clone(self), counted })
    }
}

impl Drop for Visit {
    fn drop(&mut self) {
        let Some(address) = self.counted else { return };
        let mut open = self.visitors.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = open.get_mut(&address) {
            *count -= 1;
            if *count == 0 {
                open.remove(&address);
            }
        }
    }
}

/// Returns the address that counts for an address: of IPv6 its network.
pub(crate) fn network(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V6(six) if !six.is_loopback() => {
            IpAddr::V6(Ipv6Addr::from_bits(six.to_bits() >> NETWORK_BITS << NETWORK_BITS))
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_address_has_its_own_places() {
        let visitors = Visitors::new(2);
        let enter = |address: &str| visitors.enter(address.parse().unwrap());
        let first = enter("192.0.2.1").unwrap();
        let second = enter("::ffff:192.0.2.1").unwrap();
        assert!(enter("192.0.2.1").is_none());
        let other = enter("192.0.2.2").unwrap();
        drop(first);
        let third = enter("192.0.2.1").unwrap();
        assert!(enter("192.0.2.1").is_none());
        let six: Vec<_> = ["2001:db8::1", "2001:db8::2:1"].into_iter().map(enter).collect();
        assert!(six.iter().all(Option::is_some) && enter("2001:db8::3").is_none());
        assert!(enter("2001:db8:0:1::3").is_some());
        let here: Vec<_> = ["127.0.0.1", "::1", "127.0.0.9"].into_iter().cycle().take(9).map(enter).collect();
        assert!(here.iter().all(Option::is_some));
        drop((second, other, third, six, here));
        assert!(visitors.open.lock().unwrap().is_empty(), "nothing is kept of those who left");
    }
}
