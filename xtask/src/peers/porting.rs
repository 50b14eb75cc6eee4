//! Programs of the porting guides: each in the other library and in Sunzi, with results compared.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use super::build::{Interpreter, Places, done, environment, go_program};
use crate::step::cargo;
use crate::tree;

/// Number of runs of a program, of which the shortest counts.
const RUNS: usize = 3;
/// Largest difference of a result, relative to the larger number or to 1.
const TOLERANCE: f64 = 1e-3;

/// A job in another library and in Sunzi.
struct Port {
    library: &'static str,
    theirs: &'static str,
    ours: &'static str,
}

/// The four guides' programs, by their files.
const PORTS: [Port; 4] = [
    Port {
        library: "SEAL",
        theirs: "peers/porting/from_seal.py",
        ours: "crates/sunzi/examples/13_ported_from_seal.rs",
    },
    Port {
        library: "OpenFHE",
        theirs: "peers/porting/from_openfhe.py",
        ours: "python/examples/11_ported_from_openfhe.py",
    },
    Port {
        library: "TenSEAL",
        theirs: "peers/porting/from_tenseal.py",
        ours: "python/examples/12_ported_from_tenseal.py",
    },
    Port {
        library: "Lattigo",
        theirs: "peers/lattigo/porting/main.go",
        ours: "crates/sunzi/examples/14_ported_from_lattigo.rs",
    },
];

/// Program that ran: what it printed, and its shortest time in seconds.
struct Ran {
    results: Vec<(String, Vec<f64>)>,
    seconds: f64,
}

/// Runs the programs of all guides on both sides, compares results and prints a table.
pub(super) fn run(places: &Places) -> Result<String, String> {
    let mut failed = Vec::new();
    println!("| library | lines, theirs | ours | seconds, theirs | ours | results |");
    println!("|---|---|---|---|---|---|");
    for port in &PORTS {
        let (theirs, ours) = (lines_of(&places.root, port.theirs)?, lines_of(&places.root, port.ours)?);
        let sides = program(places, port.theirs)
            .and_then(|program| ran(&program, &places.root))
            .map_err(|error| format!("{}: {error}", port.theirs))
            .and_then(|first| {
                let second = program(places, port.ours).and_then(|program| ran(&program, &places.root));
                Ok((first, second.map_err(|error| format!("{}: {error}", port.ours))?))
            });
        let row = match sides {
            Ok((first, second)) => {
                let told = match differ(&first.results, &second.results) {
                    None => "agree".to_owned(),
                    Some(why) => {
                        failed.push(format!("{}: {why}", port.library));
                        why
                    }
                };
                format!("{:.2} | {:.2} | {told}", first.seconds, second.seconds)
            }
            Err(why) => {
                failed.push(why.clone());
                format!("| | absent: {why}")
            }
        };
        println!("| {} | {theirs} | {ours} | {row} |", port.library);
    }
    if failed.is_empty() { Ok(String::new()) } else { Err(format!("porting: {}", failed.join("\n"))) }
}

/// Returns the number of lines of a program that are neither empty nor comments.
fn lines_of(root: &Path, file: &str) -> Result<usize, String> {
    let text = tree::read(root, Path::new(file))?;
    let code = |line: &&str| {
        let line = line.trim();
        !line.is_empty() && !["//", "#", "\"\"\""].iter().any(|comment| line.starts_with(comment))
    };
    Ok(text.lines().filter(code).count())
}

/// Returns a command, as its words, that runs a program; builds what it needs.
fn program(places: &Places, file: &str) -> Result<Vec<PathBuf>, String> {
    let path = places.root.join(file);
    let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    if tree::has_extension(&path, &["go"]) {
        let folder =
            path.parent().and_then(Path::file_name).unwrap_or_default().to_string_lossy().into_owned();
        return Ok(vec![go_program(places, &format!("lattigo-{folder}"), &format!("./{folder}"))?]);
    }
    if tree::has_extension(&path, &["rs"]) {
        let mut build = Command::new(cargo());
        build.current_dir(&places.root).args([
            "build",
            "--release",
            "--quiet",
            "-p",
            "sunzi",
            "--example",
            &name,
        ]);
        done(&mut build, "its build")?;
        let built = tree::target(&places.root).join("release/examples");
        return Ok(vec![built.join(format!("{name}{}", std::env::consts::EXE_SUFFIX))]);
    }
    let python = match file {
        "peers/porting/from_openfhe.py" => environment(places, "openfhe", Interpreter::OPENFHE)?,
        _ if file.starts_with("peers/") => environment(places, "seal", Interpreter::SEAL)?,
        _ => own_python(places)?,
    };
    Ok(vec![python, PathBuf::from("-B"), path])
}

/// Returns a Python that has the package `sunzi`: the one of SUNZI_PYTHON, or the environment of `cargo xtask python`.
fn own_python(places: &Places) -> Result<PathBuf, String> {
    let named = std::env::var_os("SUNZI_PYTHON").map(PathBuf::from);
    let built = tree::target(&places.root).join("python/venv/bin/python");
    let has = |python: &PathBuf| {
        let asked = Command::new(python).args(["-c", "import sunzi"]).current_dir(&places.output).output();
        asked.is_ok_and(|asked| asked.status.success())
    };
    named.into_iter().chain([built]).find(has).ok_or_else(|| {
        "no Python has the package sunzi: run cargo xtask python, or name one in SUNZI_PYTHON".to_owned()
    })
}

/// Runs a program some times.
fn ran(words: &[PathBuf], root: &Path) -> Result<Ran, String> {
    let (first, others) = words.split_first().ok_or("no program")?;
    let mut shortest: Option<Ran> = None;
    for _ in 0..RUNS {
        let begin = Instant::now();
        let output = Command::new(first).args(others).current_dir(root).output();
        let output = output.map_err(|error| format!("cannot start {}: {error}", first.display()))?;
        let seconds = begin.elapsed().as_secs_f64();
        if !output.status.success() {
            let message = String::from_utf8_lossy(&output.stderr);
            return Err(format!(
                "ended with {}: {}",
                output.status,
                message.lines().last().unwrap_or_default()
            ));
        }
        if shortest.as_ref().is_none_or(|ran| seconds < ran.seconds) {
            let results = results(&String::from_utf8_lossy(&output.stdout));
            shortest = Some(Ran { results, seconds });
        }
    }
    shortest.ok_or_else(|| "it never ran".to_owned())
}

/// Returns names and numbers of the lines `name: numbers` of an output.
fn results(output: &str) -> Vec<(String, Vec<f64>)> {
    let named = |line: &str| {
        let (name, numbers) = line.split_once(':')?;
        let words = numbers.split(|sign: char| sign.is_whitespace() || "[],()".contains(sign));
        let numbers = words.filter_map(|word| word.parse().ok()).collect();
        Some((name.to_owned(), numbers))
    };
    output.lines().filter_map(named).filter(|(_, numbers): &(_, Vec<f64>)| !numbers.is_empty()).collect()
}

/// Returns how two outputs differ, if they do.
fn differ(theirs: &[(String, Vec<f64>)], ours: &[(String, Vec<f64>)]) -> Option<String> {
    if theirs.is_empty() {
        return Some("no results were printed".to_owned());
    }
    let names = |side: &[(String, Vec<f64>)]| {
        side.iter()
            .map(|(name, numbers)| format!("{name} ({})", numbers.len()))
            .collect::<Vec<_>>()
            .join(", ")
    };
    if names(theirs) != names(ours) {
        return Some(format!("results {} and {}", names(theirs), names(ours)));
    }
    theirs.iter().zip(ours).find_map(|((name, theirs), (_, ours))| {
        let apart = |(a, b): (&f64, &f64)| {
            ((a - b).abs() > TOLERANCE * a.abs().max(b.abs()).max(1.0)).then_some((*a, *b))
        };
        let (a, b) = theirs.iter().zip(ours).find_map(apart)?;
        Some(format!("{name}: {a} and {b}"))
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn results_are_compared_number_by_number() {
        let exact = results("dot: 120\nchain: [8, 28, 54]\n");
        assert_eq!(exact, [("dot".to_owned(), vec![120.0]), ("chain".to_owned(), vec![8.0, 28.0, 54.0])]);
        assert_eq!(differ(&exact, &results("dot: 120.00001\nchain: 8.0001 28 54\nnote: none\n")), None);
        for (other, part) in [
            ("dot: 121\nchain: 8 28 54", "dot: 120 and 121"),
            ("dot: 120\nchain: 8 28", "chain (3)"),
            ("dot: 120", "results"),
        ] {
            let told = differ(&exact, &results(other)).unwrap();
            assert!(told.contains(part), "{told}");
        }
        assert!(differ(&[], &[]).is_some());
    }

    #[test]
    fn pages_show_the_programs_that_run() {
        let root = tree::root();
        for file in PORTS.iter().flat_map(|port| [port.theirs, port.ours]) {
            let text = fs::read_to_string(root.join(file)).unwrap();
            let library = PORTS.iter().find(|port| [port.theirs, port.ours].contains(&file)).unwrap().library;
            let page = fs::read_to_string(root.join(format!("docs/book/from-{}.md", library.to_lowercase())))
                .unwrap();
            let shown = shown(&text);
            assert!(
                page.contains(&shown),
                "docs/book/from-{}.md does not show {file}:\n{shown}",
                library.to_lowercase()
            );
        }
    }

    /// The part of a program that a page shows: all behind its documentation.
    fn shown(text: &str) -> String {
        let code = |line: &&str| !["//", "#!", "\"\"\""].iter().any(|begin| line.starts_with(begin));
        let at = text.lines().position(|line| code(&line) && !line.is_empty()).unwrap();
        let shown = text.lines().skip(at).collect::<Vec<_>>().join("\n");
        shown.replace("pub(crate) fn main", "fn main").trim_end().to_owned()
    }
}
