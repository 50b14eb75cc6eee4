//! Tests of keys, ciphertexts and key switching, without any scheme.
#![forbid(unsafe_code)]

#[cfg(test)]
mod common;
#[cfg(test)]
mod compact;
#[cfg(test)]
mod encryption;
#[cfg(test)]
mod extended;
#[cfg(test)]
mod joint;
#[cfg(test)]
mod levels;
#[cfg(test)]
mod randomness;
#[cfg(test)]
mod real;
#[cfg(test)]
mod real_ring;
#[cfg(test)]
mod secrets;
#[cfg(test)]
#[expect(unreachable_pub, reason = "shared with other tests")]
#[path = "../../../../testing/src/storage.rs"]
mod storage;
#[cfg(test)]
mod sums;
#[cfg(test)]
mod switching;
#[cfg(test)]
mod threshold;
#[cfg(test)]
mod variants;
