//! [`start`]: the only way in which an executor's program is started.
//!
//! The entry decides about its environment variables, the surroundings about its folder. The input
//! and the meaning of the output are the caller's business.

use std::ffi::OsString;

use callosum_host::{
    disk::Scratch,
    process::{self, Launch, Limits, Run, Stream},
};

use super::{
    environment::environment,
    execution_environment::ExecutionEnvironment,
    limits::{HEARD_COMPLAINT, LARGEST_ANSWER, Timeouts},
    run_error::RunError,
};
use crate::{registry::Executor, template::Command};

/// Data of one start, in addition to the entry and the surroundings.
#[derive(Debug)]
pub(crate) struct SpawnSpec {
    /// The program and its arguments.
    pub(crate) command: Command,
    /// Its standard input.
    pub(crate) input: Vec<u8>,
    /// Names of variables that are passed on, in addition to those that the entry lists.
    pub(crate) passed: &'static [&'static str],
    /// Variables that it gets unless they are passed on.
    pub(crate) set: &'static [(&'static str, &'static str)],
    /// Most bytes on standard output.
    pub(crate) output_bytes: usize,
}

impl SpawnSpec {
    /// A start without input, with the short environment.
    pub(crate) fn plain(command: Command) -> Self {
        Self {
            command,
            input: Vec::new(),
            passed: &[],
            set: &[],
            output_bytes: LARGEST_ANSWER,
        }
    }
}

/// Makes the folder for the temporary files of one run, removed with everything in it when dropped.
pub(crate) fn own_folder(
    executor: &Executor,
    surroundings: &ExecutionEnvironment,
) -> Result<Scratch, RunError> {
    surroundings
        .disk
        .scratch(&surroundings.temporary)
        .map_err(|source| RunError::Temporary {
            executor: executor.id.clone(),
            source,
        })
}

/// Starts an executor's program and reads its output to the end.
pub(crate) fn start(
    executor: &Executor,
    errand: SpawnSpec,
    surroundings: &ExecutionEnvironment,
    temporary: &Scratch,
    patience: Timeouts,
    heard: &mut dyn FnMut(Stream, &[u8]),
) -> Result<Run, RunError> {
    let launch = Launch {
        program: errand.command.program,
        arguments: errand.command.arguments,
        environment: given(executor, errand.passed, errand.set, surroundings, temporary),
        folder: surroundings.root.clone(),
        input: errand.input,
        limits: Limits {
            quiet: Some(patience.quiet),
            total: patience.total,
            output_bytes: errand.output_bytes,
            error_bytes: HEARD_COMPLAINT,
        },
    };
    if let Some(confiner) = &surroundings.confiner {
        return confiner.run(executor, launch, surroundings, temporary.path(), heard);
    }
    let pulse = surroundings.connections.pulse();
    process::run_with(&launch, &surroundings.cancel, pulse, heard).map_err(|source| {
        RunError::Spawn {
            executor: executor.id.clone(),
            source,
        }
    })
}

fn given(
    executor: &Executor,
    passed: &[&str],
    set: &[(&str, &str)],
    surroundings: &ExecutionEnvironment,
    temporary: &Scratch,
) -> Vec<(OsString, OsString)> {
    let mut listed = executor.pass_environment.clone();
    listed.extend(passed.iter().map(ToString::to_string));
    let mut given = environment(
        &listed,
        &surroundings.environment,
        &surroundings.root,
        temporary.path(),
    );
    for (name, value) in set {
        if given.iter().all(|(known, _)| known != name) {
            given.push(((*name).into(), (*value).into()));
        }
    }
    given
}
