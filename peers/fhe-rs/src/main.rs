//! fhe.rs behind the line protocol of `peers/README.md`: one request a line on standard input, one
//! answer a line on standard output.
#![forbid(unsafe_code)]

mod bfv;

use std::error::Error;
use std::io::{self, BufRead, Write};
use std::time::Instant;

use serde::Deserialize;
use serde_json::{Value, json};

/// Version of the protocol spoken here.
const PROTOCOL: u32 = 1;

type Outcome<T> = Result<T, Box<dyn Error>>;

#[derive(Deserialize)]
struct Asked {
    id: u64,
    #[serde(flatten)]
    request: Request,
}

#[derive(Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
enum Request {
    Hello { protocol: u32 },
    Prepare(bfv::Parameters),
    Verify { operation: String },
    Circuit { steps: Vec<bfv::Step> },
    Run { operation: String, calls: u32, warm: bool },
    Quit,
}

fn main() -> Outcome<()> {
    let mut job = None;
    let mut output = io::stdout().lock();
    for line in io::stdin().lock().lines() {
        let mut id = Value::Null;
        let answer = match serde_json::from_str::<Asked>(&line?) {
            Ok(Asked { request: Request::Quit, .. }) => break,
            Ok(asked) => {
                id = asked.id.into();
                serve(asked.request, &mut job)
            }
            Err(error) => Err(error.into()),
        };
        let mut answer = answer.unwrap_or_else(|error| json!({ "error": error.to_string() }));
        answer["id"] = id;
        writeln!(output, "{answer}")?;
        output.flush()?;
    }
    Ok(())
}

fn serve(request: Request, job: &mut Option<bfv::Job>) -> Outcome<Value> {
    let prepared = || job.as_ref().ok_or("nothing is prepared yet");
    match request {
        Request::Hello { protocol } if protocol != PROTOCOL => {
            Err(format!("protocol {protocol} was asked for, this is {PROTOCOL}").into())
        }
        Request::Hello { .. } => Ok(json!({
            "protocol": PROTOCOL,
            "library": "fhe.rs",
            "version": "0.1.1",
            "features": features(),
        })),
        Request::Prepare(parameters) => {
            let made = bfv::Job::new(&parameters)?;
            let about = made.about();
            *job = Some(made);
            Ok(json!({ "operations": bfv::OPERATIONS, "about": about }))
        }
        Request::Verify { operation } => Ok(json!({ "values": prepared()?.verify(&operation)? })),
        Request::Circuit { steps } => Ok(json!({ "values": prepared()?.circuit(&steps)? })),
        Request::Run { operation, calls, warm } => {
            let mut call = prepared()?.operation(&operation)?;
            if warm {
                call()?;
            }
            let begin = Instant::now();
            for _ in 0..calls {
                call()?;
            }
            Ok(json!({ "nanoseconds": begin.elapsed().as_nanos() as u64 }))
        }
        Request::Quit => Ok(Value::Null),
    }
}

/// How it was built and what its transforms run on.
fn features() -> String {
    let vectors = if cfg!(target_feature = "avx512f") { "AVX-512" } else { "no AVX-512" };
    format!("tfhe-ntt 0.6.1, LTO, built for {vectors}")
}
