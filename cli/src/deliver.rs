//! Delivery of a demonstration's report: to standard output, and as a page.

use serde::Serialize;

use crate::args::DemoArgs;
use crate::error::CliError;
use crate::files::target::Target;
use crate::output;

/// Writes the page of a report where one was asked for, prints the report, and fails with the error of its checks, if there is one.
pub(crate) fn deliver<T: Serialize>(
    (args, target): (&DemoArgs, Option<&Target<'_>>),
    report: &T,
    text: impl FnOnce(&T) -> String,
    page: impl FnOnce(&T) -> String,
    error: Option<CliError>,
) -> Result<(), CliError> {
    if let Some(target) = target {
        target.write_text(&page(report))?;
    }
    match (target.filter(|target| target.is_standard()), error) {
        (Some(_), error) => {
            output::print_beside(&text(report));
            error.map_or(Ok(()), Err)
        }
        (None, None) => output::report(args.json, report, text),
        (None, Some(error)) => Err(output::report_failed(args.json, report, text, error)),
    }
}
