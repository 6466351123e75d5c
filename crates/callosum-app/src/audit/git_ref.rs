//! The checkpoints as an object of the project's git repository, which is pushed like any other.

use std::ffi::OsString;
use std::time::Duration;

use callosum_host::process;
use callosum_host::process::{Ending, Launch, Limits, git};

use crate::context::Context;
use crate::{CommandError, Exit, disk_errors};

/// The ref that names them.
const REF: &str = "refs/callosum/checkpoints";

/// Nothing that git does here takes long.
const PATIENCE: Duration = Duration::from_secs(30);

/// Writes all checkpoints as one object, and has the ref name it. The object's name.
pub fn keep(context: &Context) -> Result<String, CommandError> {
    let notes = context.disk.read(&context.trust_store().path());
    let notes = notes.map_err(|error| disk_errors::disk_failed(&error))?;
    let object = ask(context, &["hash-object", "-w", "--stdin"], notes)?;
    let object = object.trim().to_owned();
    ask(context, &["update-ref", REF, &object], Vec::new())?;
    Ok(object)
}

/// Runs git in the project's root. What it prints.
fn ask(context: &Context, arguments: &[&str], input: Vec<u8>) -> Result<String, CommandError> {
    let environment = ["PATH", "HOME"]
        .iter()
        .filter_map(|name| Some((*name, context.environment.get(name)?)));
    let launch = Launch {
        program: "git".into(),
        // A hook of the repository is a program of the repository: it would run at `update-ref`.
        arguments: git::SETTINGS
            .iter()
            .flat_map(|setting| ["-c", *setting])
            .chain(arguments.iter().copied())
            .map(OsString::from)
            .collect(),
        folder: context.state().to_owned(),
        environment: git::environment(environment),
        input,
        limits: Limits {
            quiet: None,
            total: Some(PATIENCE),
            output_bytes: 64 * 1024,
            error_bytes: 4 * 1024,
        },
    };
    let run = process::run(&launch, &context.cancel, &mut |_, _| {})
        .map_err(|error| CommandError::because(Exit::Environment, "cannot run git", &error))?;
    match run.ending {
        Ending::Exited(0) => Ok(String::from_utf8_lossy(&run.output).into_owned()),
        Ending::Cancelled => Err(CommandError::told(Exit::Interrupted)),
        _ => {
            let output = String::from_utf8_lossy(&run.error);
            let what = format!("git could not store the checkpoints: {}", output.trim());
            Err(CommandError::new(Exit::Environment, what).hint("git status"))
        }
    }
}
