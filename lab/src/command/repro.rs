//! `lab repro`: the tables and figures of a paper, computed and timed again.

mod args;
mod human;
mod page;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use lab::repro::report::Report;
use lab::repro::{self, Part, akimoto, behz, takeshita};
use lab::{LabError, Result, plot};

pub(crate) use self::args::Paper;
use self::args::RunArgs;
use super::output;
use super::progress::Progress;

/// Computes the tables and figures asked for, prints the tables and writes the figures.
pub(crate) fn run(paper: &Paper) -> Result<()> {
    match paper {
        Paper::Behz { run, log_n } => {
            reproduce(run, "repro-behz", &listed("--log-n", log_n), |options: &mut behz::Options| {
                if !log_n.is_empty() {
                    options.log2_degrees.clone_from(log_n);
                    options.log2_degrees.sort_unstable();
                    options.log2_degrees.dedup();
                }
            })
        }
        Paper::Kpz(run) => reproduce(run, "repro-kpz", "", |_: &mut repro::kpz::Options| {}),
        Paper::Akimoto(run) => reproduce(run, "repro-akimoto", "", |options: &mut akimoto::Options| {
            options.threads = run.threads.map_or(options.threads, usize::from);
        }),
        Paper::Bajard(run) => reproduce(run, "repro-bajard", "", |_: &mut repro::bajard::Options| {}),
        Paper::Takeshita { run, bits } => reproduce(
            run,
            "repro-takeshita",
            &listed("--bits", bits.as_slice()),
            |options: &mut takeshita::Options| {
                options.most_bits = bits.map_or(options.most_bits, usize::from);
            },
        ),
    }
}

/// An option of the command line with its values; nothing without values.
fn listed(option: &str, values: &[impl ToString]) -> String {
    let values: Vec<String> = values.iter().map(ToString::to_string).collect();
    if values.is_empty() { String::new() } else { format!(" {option} {}", values.join(",")) }
}

/// Reproduces a paper with changed options, which `own` names; figures go into `folder` unless another is asked for.
fn reproduce<P: repro::Paper>(
    args: &RunArgs<P::Part>,
    folder: &str,
    own: &str,
    change: impl FnOnce(&mut P),
) -> Result<()> {
    let mut options = if args.quick { P::quick() } else { P::full() };
    if !args.only.is_empty() {
        options.parts().clone_from(&args.only);
    }
    change(&mut options);
    options.validate()?;
    super::on_threads(args.threads)?;
    let parts: Vec<&str> = args.only.iter().map(|part| part.name()).collect();
    let command = format!(
        "cargo lab {}{}{}{own}{}",
        folder.replacen('-', " ", 1),
        if args.quick { " --quick" } else { "" },
        listed("--only", &parts),
        listed("--threads", args.threads.as_slice())
    );
    // Figures of a page lie beside it, in a folder of its name.
    let beside = args.markdown.as_ref().map(|page| page.with_extension(""));
    let folder = args.out.clone().or(beside).unwrap_or_else(|| PathBuf::from(folder));
    if options.parts().iter().any(|part| part.is_figure()) {
        // Before minutes of work, not after them.
        fs::create_dir_all(&folder).map_err(|reason| LabError::folder(&folder, &reason))?;
    }
    let progress = Progress::new(!args.json && !args.quiet);
    let report = repro::run(&options, &mut |what, done, total| progress.at(done, total, what));
    drop(progress);
    let report = report?;
    let files = write_figures(&report, &folder)?;
    if let Some(page) = &args.markdown {
        let figures = folder.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
        let text = page::render(&report, &command, &figures);
        write_whole(page, text.as_bytes()).map_err(|reason| LabError::folder(page, &reason))?;
    }
    if args.json {
        return output::print_json(&report);
    }
    output::print(&human::render(&report, &files))
}

/// Writes every figure as SVG and returns the paths.
fn write_figures(report: &Report, folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::with_capacity(report.figures.len());
    for figure in &report.figures {
        let svg = plot::render(figure)?;
        let file = folder.join(figure.file());
        write_whole(&file, svg.as_bytes()).map_err(|reason| LabError::folder(&file, &reason))?;
        files.push(file);
    }
    Ok(files)
}

/// Writes a file beside its final path and renames it: no reader sees half of it.
fn write_whole(file: &Path, content: &[u8]) -> std::io::Result<()> {
    let beside = file.with_extension(format!("{}.part", std::process::id()));
    let written = fs::File::create(&beside).and_then(|mut out| {
        out.write_all(content)?;
        out.sync_all()?;
        fs::rename(&beside, file)
    });
    if written.is_err() {
        let _ = fs::remove_file(&beside);
    }
    written
}
