//! Sunzi itself as a rival: two builds can be compared, and the harness be tried against a contender whose
//! ratio is known to be one.

use std::io::{BufRead, Write};

use serde_json::{Value, json};
use sunzi_ckks::Parameters;
use sunzi_rlwe::Security;

use super::Scheme;
use super::protocol::{Hello, Numbered, Outcome, Preparation, Prepared, Request, Taken, VERSION};
use crate::alternate::Contender;
use crate::bench::job::Subject;
use crate::bench::job::parties::Parties;
use crate::bench::shape::parameters;
use crate::bench::{Job, LabError, Result, hoisted_exponents, key_switching};

/// Answers requests of a harness until there are no more, or until one says to quit.
///
/// # Errors
/// Input that cannot be read, output that cannot be written. Bad requests get an error as their answer.
pub fn serve(input: impl BufRead, mut output: impl Write) -> Result<()> {
    let mut job = None;
    for line in input.lines() {
        let (id, answer) = match serde_json::from_str::<Numbered>(&line?) {
            Ok(Numbered { request: Request::Quit, .. }) => break,
            Ok(Numbered { id, request }) => (Some(id), answer(request, &mut job)),
            Err(error) => (None, Err(error.into())),
        };
        let mut answer = answer.unwrap_or_else(|error| json!({ "error": error.to_string() }));
        if let Value::Object(fields) = &mut answer {
            fields.insert("id".to_owned(), id.into());
        }
        writeln!(output, "{answer}")?;
        output.flush()?;
    }
    Ok(())
}

fn answer(request: Request, job: &mut Option<Box<dyn Subject>>) -> Result<Value> {
    Ok(match request {
        Request::Hello { protocol: VERSION } => serde_json::to_value(Hello {
            protocol: VERSION,
            library: "Sunzi".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            features: sunzi_kernels::active_isa()?.to_string(),
        })?,
        Request::Prepare(asked) => {
            let made = prepare(asked)?;
            let operations = made.names().into_iter().map(str::to_owned).collect();
            let about = made.about()?;
            *job = Some(made);
            serde_json::to_value(Prepared { operations, about, ..Prepared::default() })?
        }
        Request::Verify { operation } => {
            let values = prepared(job)?.values(&operation)?;
            serde_json::to_value(Outcome { values })?
        }
        Request::Circuit { steps } => {
            let values = prepared(job)?.circuit(&steps)?;
            serde_json::to_value(Outcome { values })?
        }
        Request::Run { operation, calls, warm } => {
            let taken = prepared(job)?.call(&operation)?.turn(calls, warm)?;
            serde_json::to_value(Taken { nanoseconds: taken.as_nanos() as u64 })?
        }
        Request::Replace { .. } => {
            return Err(LabError::request("what is prepared takes no other operands"));
        }
        Request::Hello { .. } | Request::Quit => return Err(LabError::request("another protocol")),
    })
}

fn prepared(job: &Option<Box<dyn Subject>>) -> Result<&dyn Subject> {
    job.as_deref().ok_or_else(|| LabError::request("nothing is prepared yet"))
}

/// Makes Sunzi's keys and data for what a request asks.
pub(super) fn prepare(asked: Preparation) -> Result<Box<dyn Subject>> {
    let Preparation { scheme, n, t, log_scale, q, base, p, parties, left, right, .. } = asked;
    let scheme = scheme.parse::<Scheme>();
    let (Ok(scheme), true) = (scheme, n.is_power_of_two()) else {
        return Err(LabError::request(
            "only bfv, bgv, ckks and parties at degrees that are powers of two are served",
        ));
    };
    let log_n = n.ilog2();
    let words = || Ok::<_, LabError>([left.words()?.to_vec(), right.words()?.to_vec()]);
    Ok(match scheme {
        Scheme::Bfv => {
            Box::new(Job::new(&parameters(log_n, q, p, t), words()?, hoisted_exponents(1 << log_n))?)
        }
        Scheme::Bgv => {
            let key_switching = key_switching(q.len(), p);
            Box::new(Job::bgv(log_n, q, key_switching, t, words()?)?)
        }
        Scheme::Parties => {
            let key_switching = key_switching(q.len(), p);
            let parties = parties.ok_or_else(|| LabError::request("a number of parties is missing"))?;
            Box::new(Parties::new(log_n, q, key_switching, (t, parties), words()?)?)
        }
        Scheme::Ckks => {
            let key_switching = key_switching(q.len(), p);
            let levels = (base..=q.len()).collect();
            let parameters = Parameters::new(log_n, q, levels, log_scale, Security::InsecureForResearchOnly);
            let parameters = parameters.with_key_switching(key_switching);
            Box::new(Job::ckks(&parameters, [&left.reals(), &right.reals()])?)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bad_requests_are_answered_with_errors() {
        let requests = [
            "nonsense",
            r#"{"id": 1, "do": "hello", "protocol": 9}"#,
            r#"{"id": 2, "do": "verify", "operation": "rotate"}"#,
            r#"{"id": 3, "do": "prepare", "scheme": "bfv", "n": 0, "t": 5, "q": [], "p": [], "left": [], "right": []}"#,
            r#"{"id": 4, "do": "prepare", "scheme": "bfv", "n": 64, "t": 5, "q": [], "p": [], "left": [], "right": []}"#,
            r#"{"id": 5, "do": "quit"}"#,
            "not read any more",
        ];
        let mut output = Vec::new();
        serve(requests.join("\n").as_bytes(), &mut output).unwrap();
        let text = String::from_utf8(output).unwrap();
        let answers: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(answers.len(), 5);
        for (answer, id) in answers.iter().zip([Value::Null, 1.into(), 2.into(), 3.into(), 4.into()]) {
            assert!(answer["error"].is_string() && answer["id"] == id, "{answer}");
        }
    }
}
