//! Progress bars, shown only on a terminal.

use std::io::IsTerminal;

use indicatif::{ProgressBar, ProgressStyle};

/// A progress bar on standard error, or nothing at all.
pub(crate) struct Progress {
    bar: ProgressBar,
}

impl Progress {
    /// Makes a progress bar if `wanted` and standard error is a terminal.
    pub(crate) fn new(wanted: bool) -> Self {
        let visible = wanted && std::io::stderr().is_terminal();
        let bar = if visible { ProgressBar::new(1) } else { ProgressBar::hidden() };
        if let Ok(style) =
            ProgressStyle::with_template("{msg:<28} [{bar:32}] {pos}/{len} {elapsed}, {eta} left")
        {
            bar.set_style(style.progress_chars("=> "));
        }
        Self { bar }
    }

    /// Begins a progress bar of `steps` steps.
    pub(crate) fn begin(&self, steps: usize) {
        self.bar.reset();
        self.bar.set_length(steps as u64);
    }

    /// Shows a text beside the bar that says what is being done.
    pub(crate) fn say(&self, what: &str) {
        self.bar.set_message(what.to_owned());
        self.bar.tick();
    }

    /// Notes that one step of the bar is done.
    pub(crate) fn step(&self) {
        self.bar.inc(1);
    }

    /// Shows that `done` steps of `total` of the bar are done.
    pub(crate) fn at(&self, done: usize, total: usize) {
        self.bar.set_length(total as u64);
        self.bar.set_position(done as u64);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
