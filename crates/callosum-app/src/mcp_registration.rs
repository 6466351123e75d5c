//! The MCP checks of `doctor`: whether our server of tools is registered with clients, and whether
//! it answers.
//!
//! Each registered program is started here as its client would start it, and asked to begin.

use std::path::PathBuf;

use callosum_host::process;
use callosum_host::process::{Ending, Launch};
use serde_json::{Value, json};

use crate::context::Context;
use crate::{CommandError, Exit, hook_probe};

/// Name of the server in its answer.
const NAME: &str = "callosum";

/// Whether a registered program is our server; else why not.
pub fn answers(context: &Context, program: &str) -> Result<(), String> {
    let scratch = context.scratch().map_err(|error| error.one_line())?;
    let request = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {},
        "clientInfo": {"name": "callosum-doctor", "version": env!("CARGO_PKG_VERSION")},
    }});
    let environment = context.environment.iter();
    let launch = Launch {
        program: PathBuf::from(program),
        arguments: vec!["mcp".into()],
        folder: scratch.path().to_owned(),
        environment: environment
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect(),
        input: format!("{request}\n").into_bytes(),
        limits: hook_probe::limits(),
    };
    let run = process::run(&launch, &context.cancel, &mut |_, _| {})
        .map_err(|error| CommandError::from_error(Exit::No, &error).one_line())?;
    if run.ending != Ending::Exited(0) {
        return Err("it did not exit successfully at the end of its input".to_owned());
    }
    let answer: Option<Value> = serde_json::from_slice(&run.output).ok();
    let named = answer.map(|answer| answer["result"]["serverInfo"]["name"] == NAME);
    named
        .unwrap_or(false)
        .then_some(())
        .ok_or_else(|| "its answer to `initialize` is not that of callosum".to_owned())
}
