//! What every run has: steps that are told.

/// Hears what is being done, and how many of how many steps are.
pub type Tell<'a> = &'a mut (dyn FnMut(&str, usize, usize) + Send);

/// Counts the steps of a run.
pub(crate) struct Progress<'a> {
    done: usize,
    total: usize,
    tell: Tell<'a>,
}

impl<'a> Progress<'a> {
    pub(crate) fn new(total: usize, tell: Tell<'a>) -> Self {
        Self { done: 0, total, tell }
    }

    /// Says what is being done, which is no step.
    pub(crate) fn say(&mut self, what: impl AsRef<str>) {
        (self.tell)(what.as_ref(), self.done, self.total);
    }

    pub(crate) fn begin(&mut self, what: impl AsRef<str>) {
        self.say(what);
        self.done += 1;
    }
}
