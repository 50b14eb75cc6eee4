//! Laws that hold across crates: every scheme, ring and file against an oracle.
#![forbid(unsafe_code)]

#[cfg(test)]
mod algorithms;
#[cfg(test)]
mod approximation;
#[cfg(test)]
mod bgv_circuits;
#[cfg(test)]
mod bootstrapped;
#[cfg(test)]
mod circuits;
#[cfg(test)]
mod constant_time;
#[cfg(test)]
mod crt;
#[cfg(test)]
mod cyclotomic;
#[cfg(test)]
mod cyclotomic_noise;
#[cfg(test)]
mod dynamic;
#[cfg(test)]
mod edges;
#[cfg(test)]
#[cfg(target_os = "linux")]
mod erasure;
#[cfg(test)]
mod failures;
#[cfg(test)]
mod fermat;
#[cfg(test)]
mod identical;
#[cfg(test)]
mod joint;
#[cfg(test)]
mod joint_attack;
#[cfg(test)]
mod levels;
#[cfg(test)]
mod linear_maps;
#[cfg(test)]
mod loading;
#[cfg(test)]
mod metamorphic;
#[cfg(test)]
mod noise;
#[cfg(test)]
mod operators;
#[cfg(test)]
mod oracle;
#[cfg(test)]
mod parameters;
#[cfg(test)]
mod plain_matrices;
#[cfg(test)]
#[cfg(all(feature = "memcheck", target_arch = "x86_64"))]
mod poisoned;
#[cfg(test)]
mod precision;
#[cfg(test)]
mod reencryption;
#[cfg(test)]
mod reencryption_attack;
#[cfg(test)]
mod retrieval;
#[cfg(test)]
mod samplers;
#[cfg(test)]
mod sharing;
#[cfg(test)]
mod sharing_room;
#[cfg(test)]
mod slots;
#[cfg(test)]
mod switched;
#[cfg(test)]
mod traces;
#[cfg(test)]
mod truth;
#[cfg(test)]
mod univariate;
#[cfg(test)]
mod variants;
#[cfg(test)]
mod wire;
#[cfg(test)]
mod wire_kill;
#[cfg(test)]
mod wire_sizes;
