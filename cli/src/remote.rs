//! `sunzi remote`: the key holder's side of a server.

pub(crate) mod client;
mod fetch;
mod kept;
mod login;
mod send;
mod shown;

use serde_json::{Value, json};

use self::client::Client;
use crate::args::service::{DeleteArgs, RemoteArgs, RemoteCommand, RunArgs};
use crate::error::CliError;
use crate::output;
use crate::serve::name;

/// Runs a command that speaks with a server.
pub(crate) fn run(args: &RemoteArgs) -> Result<(), CliError> {
    match &args.command {
        RemoteCommand::Login(args) => login::run(args),
        RemoteCommand::Put(args) => send::run(&args.what),
        RemoteCommand::Run(args) => compute(args),
        RemoteCommand::Get(args) => fetch::run(args),
        RemoteCommand::List(args) => shown::run(args),
        RemoteCommand::Delete(args) => delete(args),
    }
}

/// Asks the server to compute, and prints the job.
fn compute(args: &RunArgs) -> Result<(), CliError> {
    let mut asked = json!({ "program": name(&args.program)?, "keys": name(&args.keys)? });
    let tables = args.tables.iter().map(|table| name(table)).collect::<Result<Vec<_>, _>>()?;
    if let Value::Object(asked) = &mut asked {
        asked.insert("tables".to_owned(), json!(tables));
        asked.extend(args.precision.map(|precision| ("precision".to_owned(), json!(precision))));
    }
    let job = Client::open()?.post_named("/v1/jobs", &mut asked)?;
    let id = job.get("id").and_then(Value::as_str).unwrap_or_default().to_owned();
    output::report(args.json, &job, |_| id.clone())?;
    if !args.json {
        output::remark(&format!("sunzi remote get {id} -o results.sz fetches the result, once it is there"));
    }
    Ok(())
}

/// Removes something from the server.
fn delete(args: &DeleteArgs) -> Result<(), CliError> {
    let (what, name) = (args.what.as_str(), name(&args.name)?);
    Client::open()?.delete(&format!("/v1/{what}/{name}"))?;
    output::report(args.json, &json!({ "removed": name }), |_| format!("removed {name} from the {what}"))
}
