//! Tests of CKKS through its public interface: circuits against clear arithmetic, precision, oracles, refusals.

#[cfg(test)]
mod builder;
#[cfg(test)]
mod common;
#[cfg(test)]
mod operations;
#[cfg(test)]
mod oracle;
#[cfg(test)]
mod precision;
#[cfg(test)]
mod real;
#[cfg(test)]
mod refusals;
#[cfg(test)]
#[expect(unreachable_pub, reason = "shared with other tests")]
#[path = "../../../../testing/src/storage.rs"]
mod storage;
