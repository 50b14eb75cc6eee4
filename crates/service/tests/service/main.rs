//! The server as its clients meet it: over connections of TCP, with jobs that are scripts of the shell.
#![forbid(unsafe_code)]

#[cfg(test)]
#[cfg(unix)]
mod accounts;
#[cfg(test)]
#[cfg(unix)]
mod common;
#[cfg(test)]
#[cfg(unix)]
mod hostile;
#[cfg(test)]
#[cfg(unix)]
mod interface;
#[cfg(test)]
#[cfg(unix)]
mod jobs;
#[cfg(test)]
#[cfg(unix)]
mod kill;
#[cfg(test)]
#[cfg(unix)]
mod limits;
#[cfg(test)]
#[cfg(unix)]
mod load;
#[cfg(test)]
#[cfg(unix)]
mod storage;
