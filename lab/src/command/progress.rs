//! Progress bars, shown only on a terminal.

use std::io::IsTerminal;

use indicatif::{ProgressBar, ProgressStyle};

/// A progress bar on standard error, or none.
pub(crate) struct Progress {
    bar: ProgressBar,
}

impl Progress {
    /// A progress bar if `wanted` and standard error is a terminal.
    pub(crate) fn new(wanted: bool) -> Self {
        let visible = wanted && std::io::stderr().is_terminal();
        let bar = if visible { ProgressBar::new(1) } else { ProgressBar::hidden() };
        if let Ok(style) =
            ProgressStyle::with_template("{msg:<32} [{bar:32}] {pos}/{len} {elapsed}, {eta} left")
        {
            bar.set_style(style.progress_chars("=> "));
        }
        Self { bar }
    }

    /// Moves the progress bar to `done` of `total`, and names the work.
    pub(crate) fn at(&self, done: usize, total: usize, what: &str) {
        self.bar.set_length(total as u64);
        self.bar.set_position(done as u64);
        self.bar.set_message(what.to_owned());
        self.bar.tick();
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
