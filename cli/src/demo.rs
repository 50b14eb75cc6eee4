//! `sunzi demo`: computes on a table under encryption, from parameters to decrypted results.

use std::time::Instant;

use crate::args::{DemoArgs, DemoJob, SchemeChoice};
use crate::deliver::deliver;
use crate::encrypted::{Asked, timed};
use crate::error::CliError;
use crate::files::target::{Content, Target};
use crate::job::Job;
use crate::progress::Progress;
use crate::report::{self, Params, Report};
use crate::{demo_lookup, hospitals, regression, statistics_clear};

/// Runs the demonstration and prints its report.
pub(crate) fn run(args: &DemoArgs) -> Result<(), CliError> {
    if args.word.is_some() && args.job != DemoJob::Lookup {
        return Err(CliError::input("--word is for --job lookup"));
    }
    let page = |path| Target::of_option("--html", path, args.force, Content::Text, args.json);
    let target = args.html.as_deref().map(page).transpose()?;
    if args.job == DemoJob::Regression {
        return regression::run(args, target.as_ref());
    }
    if args.job == DemoJob::Hospitals {
        return hospitals::run(args, target.as_ref());
    }
    if args.iterations.is_some() || args.quick {
        return Err(CliError::input("--iterations and --quick are for --job regression and hospitals"));
    }
    if args.job == DemoJob::Lookup {
        return demo_lookup::run(args, target.as_ref());
    }
    let report = report(args)?;
    let differs = || {
        let wrong = report.checks.iter().filter(|check| !check.equal).count();
        let all = report.checks.len();
        CliError::Check(format!("{wrong} of {all} encrypted results differ from the plain ones"))
    };
    let error = (!report.ok).then(differs);
    deliver((args, target.as_ref()), &report, report::human::render, report::page::render, error)
}

/// Runs the whole job of the demonstration, in the clear and encrypted, and compares the results.
fn report(args: &DemoArgs) -> Result<Report, CliError> {
    let start = Instant::now();
    let progress = Progress::new(!args.json && !args.quiet);
    let mut read = 0.0;
    let job = timed(&mut read, || Job::prepare(args))?;
    let mut choosing = 0.0;
    progress.say("choosing parameters");
    let asked = timed(&mut choosing, || Asked::new(&job, args.scheme))?;
    let mut outcome = asked.run(&progress)?;
    outcome.times.read = read;
    outcome.times.parameters += choosing;
    let mut compare = 0.0;
    let (checks, loss) = timed(&mut compare, || {
        let plain = statistics_clear::sums(&job);
        report::checks::compare(&job, &outcome.sums, &plain)
    });
    outcome.times.compare = compare;
    let auto = args.scheme == SchemeChoice::Auto;
    let params = Params::of(&job, &asked.plan, auto)?;
    Report::new(&job, params, outcome, checks, loss, start.elapsed().as_secs_f64())
}
