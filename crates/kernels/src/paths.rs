//! The files of the workspace that calls of kernels come through: the feature `paths`, which nothing has that users build.
//!
//! Where the variable `SUNZI_PATHS` names a file, every path that is new is appended to it, as a line: frames from the outermost to the innermost,
//! separated by tabs, each a file relative to the root of the workspace, a blank and the function's name.

use std::collections::{HashMap, HashSet};
use std::ffi::c_void;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex, PoisonError};

/// Files whose frames end every path.
const OWN: [&str; 2] = ["kernels/src/paths.rs", "kernels/src/tally.rs"];

static RECORDER: LazyLock<Option<Mutex<Recorder>>> = LazyLock::new(|| Recorder::new().map(Mutex::new));

struct Recorder {
    root: PathBuf,
    file: File,
    /// Return addresses of every call of a kernel so far.
    known: HashSet<Vec<usize>>,
    /// Frames of the workspace that an address stands for, the innermost first; several where functions were
    /// inlined.
    frames: HashMap<usize, Vec<String>>,
    written: HashSet<String>,
}

/// Notes the path of the kernel call that is being counted.
pub(crate) fn note() {
    let Some(recorder) = RECORDER.as_ref() else { return };
    let mut addresses = Vec::with_capacity(128);
    backtrace::trace(|frame| {
        addresses.push(frame.ip() as usize);
        true
    });
    // A recording has nobody to tell that its file is full; what reads it sees that paths are missing.
    let _ = recorder.lock().unwrap_or_else(PoisonError::into_inner).add(addresses);
}

impl Recorder {
    fn new() -> Option<Self> {
        let file =
            OpenOptions::new().create(true).append(true).open(std::env::var_os("SUNZI_PATHS")?).ok()?;
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2)?.to_path_buf();
        Some(Self { root, file, known: HashSet::new(), frames: HashMap::new(), written: HashSet::new() })
    }

    fn add(&mut self, addresses: Vec<usize>) -> io::Result<()> {
        if self.known.contains(&addresses) {
            return Ok(());
        }
        let mut path = Vec::new();
        for address in &addresses {
            let root = &self.root;
            path.extend(
                self.frames.entry(*address).or_insert_with(|| frames(root, *address)).iter().cloned(),
            );
        }
        path.reverse();
        let line = path.join("\t");
        self.known.insert(addresses);
        if self.written.insert(line.clone()) { writeln!(self.file, "{line}") } else { Ok(()) }
    }
}

/// Returns the functions of the workspace at an address, but for those that count and record.
fn frames(root: &Path, address: usize) -> Vec<String> {
    let mut found = Vec::new();
    backtrace::resolve(address as *mut c_void, |symbol| {
        let Some(file) = symbol.filename().and_then(|file| file.strip_prefix(root).ok()) else { return };
        if let Some(name) = symbol.name().filter(|_| !OWN.iter().any(|own| file.ends_with(own))) {
            found.push(format!("{} {name:#}", file.display()));
        }
    });
    found
}
