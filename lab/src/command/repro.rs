//! `lab repro`: the tables and figures of a paper, computed and timed again.

mod args;
mod human;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use lab::repro::report::Report;
use lab::repro::{Part, Tell, akimoto, bajard, behz, kpz, takeshita};
use lab::{LabError, plot};

use self::args::RunArgs;
use super::output;
use super::progress::Progress;

pub(crate) use self::args::Paper;

/// Reproduces what was asked for, prints the tables and writes the figures.
pub(crate) fn run(paper: &Paper) -> Result<(), LabError> {
    match paper {
        Paper::Behz(args) => {
            let mut options = if args.run.quick { behz::Options::quick() } else { behz::Options::full() };
            choose(&mut options.parts, &args.run);
            if !args.log_n.is_empty() {
                options.log2_degrees.clone_from(&args.log_n);
                options.log2_degrees.sort_unstable();
                options.log2_degrees.dedup();
            }
            options.validate()?;
            make(&args.run, &options.parts, "repro-behz", |tell| behz::run(&options, tell))
        }
        Paper::Kpz(args) => {
            let mut options = if args.run.quick { kpz::Options::quick() } else { kpz::Options::full() };
            choose(&mut options.parts, &args.run);
            make(&args.run, &options.parts, "repro-kpz", |tell| kpz::run(&options, tell))
        }
        Paper::Akimoto(args) => {
            let mut options =
                if args.run.quick { akimoto::Options::quick() } else { akimoto::Options::full() };
            choose(&mut options.parts, &args.run);
            options.threads = args.run.threads.map_or(options.threads, usize::from);
            make(&args.run, &options.parts, "repro-akimoto", |tell| akimoto::run(&options, tell))
        }
        Paper::Bajard(args) => {
            let mut options = if args.run.quick { bajard::Options::quick() } else { bajard::Options::full() };
            choose(&mut options.parts, &args.run);
            make(&args.run, &options.parts, "repro-bajard", |tell| bajard::run(&options, tell))
        }
        Paper::Takeshita(args) => {
            let quick = args.run.quick;
            let mut options = if quick { takeshita::Options::quick() } else { takeshita::Options::full() };
            choose(&mut options.parts, &args.run);
            options.most_bits = args.bits.map_or(options.most_bits, usize::from);
            make(&args.run, &options.parts, "repro-takeshita", |tell| takeshita::run(&options, tell))
        }
    }
}

/// All parts, or those that were named.
fn choose<P: Part>(parts: &mut Vec<P>, args: &RunArgs<P>) {
    if !args.only.is_empty() {
        parts.clone_from(&args.only);
    }
}

/// Does the work, prints the tables, and writes the figures if there are any: into `folder` unless told otherwise.
fn make<P: Part>(
    args: &RunArgs<P>,
    parts: &[P],
    folder: &str,
    work: impl FnOnce(Tell<'_>) -> Result<Report, LabError>,
) -> Result<(), LabError> {
    super::on_threads(args.threads)?;
    let folder = args.out.clone().unwrap_or_else(|| PathBuf::from(folder));
    // Found out before minutes of work, not after.
    if parts.iter().any(|part| part.is_figure()) {
        fs::create_dir_all(&folder).map_err(|reason| LabError::Folder { path: folder.clone(), reason })?;
    }
    let progress = Progress::new(!args.json && !args.quiet);
    let report = work(&mut |what, done, total| progress.at(done, total, what));
    drop(progress);
    let report = report?;
    let files = write_figures(&report, &folder)?;
    if args.json {
        return output::print_json(&report);
    }
    output::print(&human::render(&report, &files))
}

/// Writes every figure as SVG and says where.
fn write_figures(report: &Report, folder: &Path) -> Result<Vec<PathBuf>, LabError> {
    let mut files = Vec::with_capacity(report.figures.len());
    for figure in &report.figures {
        let svg = plot::render(figure)?;
        let file = folder.join(figure.file);
        write_whole(&file, svg.as_bytes())
            .map_err(|reason| LabError::Folder { path: file.clone(), reason })?;
        files.push(file);
    }
    Ok(files)
}

/// Writes beside the file and renames: nobody ever sees half of it.
fn write_whole(file: &Path, content: &[u8]) -> std::io::Result<()> {
    let beside = file.with_extension(format!("svg.{}.part", std::process::id()));
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
