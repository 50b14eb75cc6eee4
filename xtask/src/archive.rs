//! Task `cargo xtask archive`: the command line as an archive with completions, pages of the manual and licences.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Args;
use flate2::{Compression, GzBuilder};
use sha2::{Digest, Sha256};
use tar::{Builder, EntryType, Header};

use crate::step::{self, cargo};
use crate::tree;

/// Shells that completions are written for, and the name that each looks for.
const SHELLS: [(&str, &str); 5] = [
    ("bash", "sunzi.bash"),
    ("zsh", "_sunzi"),
    ("fish", "sunzi.fish"),
    ("powershell", "sunzi.ps1"),
    ("elvish", "sunzi.elv"),
];
/// Documents that go with the program.
const DOCUMENTS: [&str; 6] =
    ["README.md", "CHANGELOG.md", "SECURITY.md", "PATENTS.md", "LICENSE-MIT", "LICENSE-APACHE"];

/// Options of `cargo xtask archive`.
#[derive(Args)]
pub(crate) struct Arguments {
    /// Folder of the archive
    #[arg(long, value_name = "FOLDER", default_value = "target/archives")]
    out: PathBuf,
}

/// A file of the archive: its path there, its contents, whether it is a program.
struct Entry {
    path: String,
    contents: Vec<u8>,
    is_program: bool,
}

/// Builds the command line and packs it; the same tree and compiler give the same bytes.
pub(crate) fn run(arguments: &Arguments) -> Result<String, String> {
    let root = tree::root();
    let out = root.join(&arguments.out);
    fs::create_dir_all(&out).map_err(|error| format!("{}: {error}", out.display()))?;
    let program = built(&root)?;
    let name = format!("sunzi-{}-{}", env!("CARGO_PKG_VERSION"), host()?);
    let entries = entries(&root, &program)?;
    let path = out.join(format!("{name}.tar.gz"));
    pack(&path, &name, &entries).map_err(|error| format!("{}: {error}", path.display()))?;
    let bytes = fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let sum: String = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    let sums = out.join(format!("{name}.tar.gz.sha256"));
    fs::write(&sums, format!("{sum}  {name}.tar.gz\n"))
        .map_err(|error| format!("{}: {error}", sums.display()))?;
    let size = bytes.len() as f64 / f64::from(1 << 20);
    Ok(format!("archive: {}, {} files, {size:.1} MiB, SHA-256 {sum}", path.display(), entries.len()))
}

/// Builds the command line as users install it, and returns its path.
fn built(root: &Path) -> Result<PathBuf, String> {
    let line = ["build", "--locked", "-p", "sunzi-cli", "--profile", "dist", "--features", "parquet,shared"];
    step::announce(&format!("cargo {}", line.join(" ")));
    let status = Command::new(cargo()).args(line).current_dir(root).status();
    match status {
        Ok(status) if status.success() => {}
        Ok(status) => return Err(format!("cargo ended with {status}")),
        Err(error) => return Err(format!("cannot start cargo: {error}")),
    }
    Ok(tree::target(root).join("dist").join(format!("sunzi{}", std::env::consts::EXE_SUFFIX)))
}

/// Returns the target that the compiler builds for here.
fn host() -> Result<String, String> {
    let output = Command::new("rustc").arg("-vV").output().map_err(|error| format!("rustc: {error}"))?;
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let line = said.lines().find_map(|line| line.strip_prefix("host: "));
    line.map(str::to_owned).ok_or_else(|| "rustc -vV names no host".to_owned())
}

/// Returns the files of the archive, in the order of their paths.
fn entries(root: &Path, program: &Path) -> Result<Vec<Entry>, String> {
    let read = |path: &Path| fs::read(path).map_err(|error| format!("{}: {error}", path.display()));
    let text = |path: String, contents| Entry { path, contents, is_program: false };
    let name = format!("sunzi{}", std::env::consts::EXE_SUFFIX);
    let mut entries = vec![Entry { path: name, contents: read(program)?, is_program: true }];
    for document in DOCUMENTS {
        entries.push(text(document.to_owned(), read(&root.join(document))?));
    }
    for (shell, file) in SHELLS {
        entries.push(text(format!("completions/{file}"), printed(program, &["completions", shell])?));
    }
    let first = printed(program, &["manual"])?;
    let commands = pages(&String::from_utf8_lossy(&first));
    for command in commands.into_iter().chain(["language".to_owned()]) {
        entries.push(text(format!("man/sunzi-{command}.1"), printed(program, &["manual", &command])?));
    }
    entries.push(text("man/sunzi.1".to_owned(), first));
    entries.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(entries)
}

/// Returns what the program prints.
fn printed(program: &Path, arguments: &[&str]) -> Result<Vec<u8>, String> {
    let output = Command::new(program)
        .args(arguments)
        .output()
        .map_err(|error| format!("{}: {error}", program.display()))?;
    let is_fine = output.status.success() && !output.stdout.is_empty();
    if is_fine { Ok(output.stdout) } else { Err(format!("sunzi {} prints nothing", arguments.join(" "))) }
}

/// Returns the commands whose pages the first page of the manual names, as `sunzi\-keygen(1)`.
fn pages(manual: &str) -> Vec<String> {
    let named = manual.lines().filter_map(|line| line.strip_prefix("sunzi\\-")?.strip_suffix("(1)"));
    named.map(|command| command.replace("\\-", "-")).collect()
}

/// Writes the archive, without times and users, so that the same files give the same bytes.
fn pack(path: &Path, name: &str, entries: &[Entry]) -> std::io::Result<()> {
    let zipped = GzBuilder::new().mtime(0).write(File::create(path)?, Compression::best());
    let mut archive = Builder::new(zipped);
    for entry in entries {
        let mut header = Header::new_ustar();
        header.set_entry_type(EntryType::Regular);
        header.set_size(entry.contents.len() as u64);
        header.set_mode(if entry.is_program { 0o755 } else { 0o644 });
        header.set_mtime(0);
        archive.append_data(&mut header, format!("{name}/{}", entry.path), entry.contents.as_slice())?;
    }
    archive.into_inner()?.finish()?.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_of_commands_are_those_that_the_manual_names() {
        let manual = ".SH SUBCOMMANDS\n.TP\nsunzi\\-demo(1)\nStatistics\n.TP\nsunzi\\-key\\-gen(1)\n";
        assert_eq!(pages(manual), ["demo", "key-gen"]);
    }

    #[test]
    fn equal_files_give_equal_archives() {
        let folder = std::env::temp_dir().join(format!("sunzi-archive-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let entry = |path: &str| Entry { path: path.to_owned(), contents: vec![7; 5000], is_program: true };
        let bytes = ["a", "b"].map(|name| {
            let path = folder.join(name);
            pack(&path, "sunzi", &[entry("sunzi"), entry("man/sunzi.1")]).unwrap();
            fs::read(path).unwrap()
        });
        fs::remove_dir_all(&folder).unwrap();
        assert_eq!(bytes[0], bytes[1]);
        assert!(bytes[0].len() > 100);
    }
}
