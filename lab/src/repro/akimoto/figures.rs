//! Figures 1 and 2 of `[AS19]`: times of CKKS operations by threads and by level, for every strategy.

use sunzi_rlwe::words::counted;

use super::Options;
use super::printed::{DEPTH, FIGURE1_LEVEL};
use super::subject::{OPERATIONS, STRATEGIES, subject, time};
use crate::repro::{
    Figure, Machine, NOT_PRINTED, Panel, Progress, Result, Timed, alternate_timed, on_threads,
};
use crate::subjects::strategies::{Operands, Subject};

/// Median times of every operation by every strategy, at one place of the horizontal axis.
type Column = Vec<Vec<f64>>;

/// Figure 1 of `[AS19]`: times of CKKS operations by the number of threads, at level 16.
pub(super) fn figure1(options: &Options, machine: &Machine, progress: &mut Progress<'_>) -> Result<Figure> {
    let subject = subject(options.figure_log2_degree)?;
    let operands = subject.operands(FIGURE1_LEVEL)?;
    let mut columns = Vec::new();
    for threads in options.thread_counts() {
        progress.begin(format!("Figure 1: {}", counted(threads, "thread", "threads")));
        columns.push((threads, column(options, &subject, &operands, threads)?));
    }
    let title =
        format!("the operations by threads, level {FIGURE1_LEVEL}, N = 2^{}", options.figure_log2_degree);
    Ok(figure("Figure 1", title, "threads", machine, &columns))
}

/// Figure 2 of `[AS19]`: times of CKKS operations by level, on all threads.
pub(super) fn figure2(options: &Options, machine: &Machine, progress: &mut Progress<'_>) -> Result<Figure> {
    let subject = subject(options.figure_log2_degree)?;
    let mut columns = Vec::new();
    for level in levels(options) {
        progress.begin(format!("Figure 2: level {level}"));
        let operands = subject.operands(level)?;
        columns.push((level, column(options, &subject, &operands, options.threads)?));
    }
    let (degree, threads) = (options.figure_log2_degree, counted(options.threads, "thread", "threads"));
    let title = format!("the operations by level, {threads}, N = 2^{degree}");
    Ok(figure("Figure 2", title, "level", machine, &columns))
}

/// The ciphertext levels of Figure 2 of `[AS19]`.
pub(super) fn levels(options: &Options) -> Vec<usize> {
    let step = options.level_step.clamp(1, DEPTH);
    let mut levels: Vec<usize> = (step..=DEPTH).step_by(step).collect();
    if step > 1 {
        levels.insert(0, 1);
    }
    levels
}

pub(super) fn column(
    options: &Options,
    subject: &Subject,
    operands: &Operands,
    threads: usize,
) -> Result<Column> {
    on_threads(threads.max(1), || {
        let mut medians = Vec::new();
        for operation in OPERATIONS {
            let mut contenders: Vec<Timed<'_>> = Vec::new();
            for (parallelism, _) in STRATEGIES {
                contenders.push(Box::new(move || time(subject, operation, parallelism, operands)));
            }
            let times = alternate_timed(options.budget, &mut contenders)?;
            medians.push(times.iter().map(|times| times.median_ms()).collect());
        }
        Ok(medians)
    })
}

fn figure(
    name: &'static str,
    title: String,
    x_label: &'static str,
    machine: &Machine,
    columns: &[(usize, Column)],
) -> Figure {
    let mut panels = Vec::new();
    for (at, (_, operation)) in OPERATIONS.iter().enumerate() {
        let mut panel = Panel::new(operation, false);
        for (colour, (_, name)) in STRATEGIES.iter().enumerate() {
            let point = |(x, column): &(usize, Column)| Some((*x as f64, *column.get(at)?.get(colour)?));
            panel.line(*name, colour + 1, false, columns.iter().filter_map(point));
        }
        panels.push(panel);
    }
    let source = format!("medians of alternating rounds; {machine}");
    let figure = Figure::new(name, title, source, [x_label, "milliseconds"], panels);
    Figure { reason: Some(NOT_PRINTED), ..figure }
}
