//! Steps of a task: a name, an action that can fail, and the command that repeats it.

use std::ffi::OsString;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use crate::tree;

/// Action of a step of a task.
pub(crate) enum Action {
    /// Action that runs cargo with these arguments and these environment variables.
    Cargo { arguments: Vec<&'static str>, variables: Vec<(&'static str, &'static str)> },
    /// Action that calls a check of this program; success carries a one-line summary.
    Check { check: fn(&Path) -> Result<String, String>, command: &'static str },
}

/// A named step of a task.
pub(crate) struct Step {
    pub(crate) name: &'static str,
    pub(crate) action: Action,
}

impl Step {
    pub(crate) fn cargo(name: &'static str, line: &'static str) -> Self {
        Self::cargo_with(name, &[], line)
    }

    pub(crate) fn cargo_with(
        name: &'static str,
        variables: &[(&'static str, &'static str)],
        line: &'static str,
    ) -> Self {
        let action =
            Action::Cargo { arguments: line.split_whitespace().collect(), variables: variables.to_vec() };
        Self { name, action }
    }

    pub(crate) fn check(
        name: &'static str,
        check: fn(&Path) -> Result<String, String>,
        command: &'static str,
    ) -> Self {
        Self { name, action: Action::Check { check, command } }
    }

    /// Returns the command line that repeats this step alone.
    pub(crate) fn rerun(&self) -> String {
        match &self.action {
            Action::Check { command, .. } => (*command).to_owned(),
            Action::Cargo { arguments, variables } => {
                let mut line = String::new();
                for (name, value) in variables {
                    if value.contains(' ') {
                        line.push_str(&format!("{name}=\"{value}\" "));
                    } else {
                        line.push_str(&format!("{name}={value} "));
                    }
                }
                line.push_str("cargo");
                for argument in arguments {
                    // A shell would expand a pattern.
                    let quote = if argument.contains('*') { "'" } else { "" };
                    line.push_str(&format!(" {quote}{argument}{quote}"));
                }
                line
            }
        }
    }

    fn act(&self, root: &Path) -> Result<String, String> {
        match &self.action {
            Action::Check { check, .. } => check(root),
            Action::Cargo { arguments, variables } => {
                let status = Command::new(cargo())
                    .args(arguments)
                    .envs(variables.iter().copied())
                    .env(tree::FIGURES, tree::figures_file(root))
                    .current_dir(root)
                    .status()
                    .map_err(|error| format!("cannot start cargo: {error}"))?;
                if status.success() { Ok(String::new()) } else { Err(format!("cargo ended with {status}")) }
            }
        }
    }
}

/// Writes a command that is about to run to standard error, which programs do not read.
pub(crate) fn announce(command: &str) {
    eprintln!("\n{command}");
}

/// Returns the cargo that started this program, or the one on the path.
pub(crate) fn cargo() -> OsString {
    std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}

/// Runs the steps of a task in order, printing progress and times; stops at the first that fails.
pub(crate) fn run_all(task: &str, steps: &[Step]) -> Result<String, String> {
    let root = tree::root();
    let begin = Instant::now();
    let mut times = Vec::with_capacity(steps.len());
    for (index, step) in steps.iter().enumerate() {
        let number = index + 1;
        println!("\n[{number}/{}] {}: {}", steps.len(), step.name, step.rerun());
        let started = Instant::now();
        match step.act(&root) {
            Ok(note) => {
                let seconds = started.elapsed().as_secs_f64();
                let note = if note.is_empty() { note } else { format!(" ({note})") };
                println!("[{number}/{}] {}: ok, {seconds:.1} s{note}", steps.len(), step.name);
                times.push(format!("{} {seconds:.0} s", step.name));
            }
            Err(why) => {
                return Err(format!(
                    "{why}\n\n{task}: FAILED at step {number} of {} ({}) after {:.0} s; run it again with\n    {}",
                    steps.len(),
                    step.name,
                    begin.elapsed().as_secs_f64(),
                    step.rerun()
                ));
            }
        }
    }
    Ok(format!(
        "\n{}\n{task}: all {} steps passed in {:.0} s",
        times.join(", "),
        steps.len(),
        begin.elapsed().as_secs_f64()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rerun_names_variables_and_arguments() {
        let step =
            Step::cargo_with("docs", &[("RUSTDOCFLAGS", "-D warnings"), ("A", "b")], "doc --no-deps *");
        assert_eq!(step.rerun(), "RUSTDOCFLAGS=\"-D warnings\" A=b cargo doc --no-deps '*'");
    }

    #[test]
    fn a_failing_step_names_its_command() {
        let steps = [
            Step::check("good", |_| Ok("fine".into()), "cargo xtask good"),
            Step::check("bad", |_| Err("broken".into()), "cargo xtask bad"),
            Step::check("never", |_| panic!("reached"), "cargo xtask never"),
        ];
        let message = run_all("task", &steps).unwrap_err();
        assert!(message.contains("step 2 of 3 (bad)"), "{message}");
        assert!(message.contains("cargo xtask bad"), "{message}");
    }
}
