//! Tests of programs: parsed, planned and run in every scheme.
#![forbid(unsafe_code)]

#[cfg(test)]
mod ckks;
#[cfg(test)]
mod clear;
#[cfg(test)]
mod common;
#[cfg(test)]
mod contexts;
#[cfg(test)]
mod course;
#[cfg(test)]
mod deep;
#[cfg(test)]
mod encrypted;
#[cfg(test)]
mod exact;
#[cfg(test)]
mod integers;
#[cfg(test)]
mod language;
#[cfg(test)]
mod limits;
#[cfg(test)]
mod missing;
#[cfg(test)]
mod order;
#[cfg(test)]
mod packed;
#[cfg(test)]
mod parse;
#[cfg(test)]
mod parties;
#[cfg(test)]
mod results;
#[cfg(test)]
mod room;
#[cfg(test)]
mod tables;
#[cfg(test)]
mod tape;
#[cfg(test)]
mod timed;
#[cfg(test)]
mod wide;
