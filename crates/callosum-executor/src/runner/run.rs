//! [`exchange`] and [`run`]: starts the program, hears it out, and explains what went wrong.

use std::ffi::OsString;

use callosum_host::process::Ending;

use super::{
    execution_environment::ExecutionEnvironment,
    limits::{LARGEST_ANSWER, Timeouts},
    output::{Reply, Sign},
    run_error::{RunError, cause_of},
    spawn::{SpawnSpec, own_folder},
    supervise::{Counting, Ended, hear_out},
    unread::{judge_output, refused, without_output},
};
use crate::{
    output_format::{self, ClientError},
    protocol::{Answer, AnswerError, Request, parse_answer},
    registry::{Executor, Kind},
    sanitize::fit_shortly,
    template::Template,
    transport::{self, Transport},
};

/// Runs an executor once and judges its answer.
pub fn run(
    executor: &Executor,
    request: &Request,
    surroundings: &ExecutionEnvironment,
    heard: &mut dyn FnMut(Sign<'_>),
) -> Result<Answer, RunError> {
    if let Some(dialect) = executor.dialect() {
        return output_format::ask(dialect, executor, request, surroundings, heard);
    }
    if let Some(transport) = Transport::of(executor) {
        return transport::ask(transport, executor, request, surroundings, heard);
    }
    let patience = patience_with(executor, surroundings.patience);
    let reply = exchange(executor, request, surroundings, patience, heard)?;
    let environment = &surroundings.environment;
    if let Some(error) = without_output(executor, environment, &reply) {
        return Err(error);
    }
    judge_output(executor, reply)
}

/// Runs an executor once and returns its output, if it ended well.
pub fn exchange(
    executor: &Executor,
    request: &Request,
    surroundings: &ExecutionEnvironment,
    patience: Timeouts,
    heard: &mut dyn FnMut(Sign<'_>),
) -> Result<Reply, RunError> {
    refuse_unsupported(executor)?;
    let template = Template::parse(&executor.command_template)?;
    let command = template.fill(&surroundings.self_program, &request.spoken())?;
    let temporary = own_folder(executor, surroundings)?;
    let errand = SpawnSpec {
        input: if template.takes_prompt() {
            Vec::new()
        } else {
            request.to_bytes()
        },
        output_bytes: LARGEST_ANSWER,
        ..SpawnSpec::plain(command)
    };
    let ended = hear_out(
        executor,
        errand,
        surroundings,
        &temporary,
        patience,
        &mut Counting::default(),
        heard,
    )?;
    judge_exit(executor, &surroundings.environment, ended)
}

fn refuse_unsupported(executor: &Executor) -> Result<(), RunError> {
    let how = match (executor.kind, &executor.protocol) {
        (Kind::Cli, None) => return Ok(()),
        (Kind::Cli, Some(protocol)) => format!("protocol `{}`", fit_shortly(protocol)),
        (kind, _) => format!("type `{kind}`"),
    };
    Err(RunError::Unsupported {
        executor: executor.id.clone(),
        how,
    })
}

fn patience_with(executor: &Executor, common: Timeouts) -> Timeouts {
    Timeouts {
        quiet: executor.quiet().unwrap_or(common.quiet),
        total: executor.total().or(common.total),
    }
}

/// Interprets an exit. A crash that left an error answer is reported in its words.
fn judge_exit(
    executor: &Executor,
    environment: &[(OsString, OsString)],
    ended: Ended,
) -> Result<Reply, RunError> {
    match ended.ending {
        Ending::Exited(0) => Ok(Reply {
            output: ended.output,
            complaint: ended.complaint,
            elapsed: ended.elapsed,
        }),
        ending => {
            let complaint = match parse_answer(&ended.output, executor.capabilities) {
                Err(AnswerError::Failed { words, .. }) => words,
                _ => ended.complaint,
            };
            // A limit lasts longer than the pauses between tries.
            if let Some(limit @ ClientError::RateLimited { .. }) =
                output_format::named_in(&complaint)
            {
                return Err(refused(executor, environment, limit, &complaint));
            }
            Err(RunError::Crashed {
                executor: executor.id.clone(),
                ending,
                cause: cause_of(executor, &complaint),
                complaint,
            })
        }
    }
}
