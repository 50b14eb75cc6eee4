//! The server as its clients meet it: over connections of TCP, with jobs that are scripts of the shell.
#![cfg(unix)]
#![forbid(unsafe_code)]

#[cfg(test)]
mod accounts;
#[cfg(test)]
mod common;
#[cfg(test)]
mod elsewhere;
#[cfg(test)]
mod gate;
#[cfg(test)]
mod hostile;
#[cfg(test)]
mod interface;
#[cfg(test)]
mod jobs;
#[cfg(test)]
mod kill;
#[cfg(test)]
mod limits;
#[cfg(test)]
mod load;
#[cfg(test)]
mod machines;
#[cfg(test)]
mod page;
#[cfg(test)]
mod records;
#[cfg(test)]
mod storage;
