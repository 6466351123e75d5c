//! `delegate --detach`: a delegation by a process of its own, which survives whoever ordered it.
//!
//! [`detach`] writes the request down and starts the process; [`work`] is that process. What is asked of a run later is
//! `executor runs`.

use std::{ffi::OsString, path::PathBuf, thread, time::Duration};

use callosum_evidence::secrets;
use callosum_host::process::{self, Launch, Limits};
use callosum_session::trajectory::Agent;
use clap::{Parser, ValueEnum};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    DelegateArgs, KindArg, ModeArg, PriorityArg, delegate,
    report::{DelegateOutput, NamedOutput, TasksOutput},
    run_store::{Runs, Ticket},
};
use crate::{
    cli::{
        context::{Asker, Context},
        failure::ErrorOutput,
        store,
        time_span::{milliseconds, span_text},
        witness,
    },
    ui::{CommandError, Exit},
};

/// How much of a prompt a ticket shows, in characters.
const LONGEST_PROMPT: usize = 120;

/// How often a run looks whether it is to end.
const EACH: Duration = Duration::from_millis(200);

/// `callosum delegate --detach --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub(crate) struct DetachedOutput {
    /// The id of the run, for `callosum executor runs`.
    pub(crate) run: String,
}

/// What the process of a run is told.
#[derive(Debug, Deserialize, Serialize)]
struct Request {
    /// The options and the prompt of `callosum delegate`.
    arguments: Vec<String>,
    /// The agent that asked, and its session.
    asked_by: Option<String>,
    asked_in: Option<String>,
}

/// The arguments of a stored request.
#[derive(Debug, Parser)]
#[command(no_binary_name = true)]
struct Stored {
    #[command(flatten)]
    args: DelegateArgs,
}

/// Starts a delegation that goes on by itself, and returns the id of its run.
pub(super) fn detach(context: &Context, args: &DelegateArgs) -> Result<String, CommandError> {
    context
        .project
        .homes
        .create_machine(&context.disk)
        .map_err(|error| store::disk_failed(&error))?;
    let runs = Runs::new(context);
    // What cannot be cleared away hinders nothing.
    if let Err(error) = runs.remove_old() {
        error.tell();
    }
    let arguments = words(context, args)?;
    let shown = match (&args.tasks, arguments.last()) {
        (Some(file), _) => file.display().to_string(),
        (None, last) => last.cloned().unwrap_or_default(),
    };
    let masked = secrets::mask(&shown).text;
    let line: Vec<&str> = masked.split_whitespace().collect();
    let mut ticket = Ticket {
        run: context.ids.uuid_v4(),
        created_at: context.clock.now(),
        executor: args.executor.clone(),
        prompt: line.join(" ").chars().take(LONGEST_PROMPT).collect(),
    };
    let asker = context.asker.as_ref();
    let request = Request {
        arguments,
        asked_by: asker.map(|asker| asker.agent.as_str().to_owned()),
        asked_in: asker.and_then(|asker| asker.session.clone()),
    };
    let request = serde_json::to_vec(&request).map_err(CommandError::internal)?;
    while !runs.create(&ticket, &request)? {
        ticket.run = context.ids.uuid_v4();
    }
    let run = ticket.run;
    let program = std::env::current_exe().map_err(|error| {
        let what = "this program does not find itself";
        CommandError::because(Exit::Environment, what, &error)
    })?;
    let started = process::leave(&Launch {
        program,
        arguments: ["--no-progress", "delegate", "--work-for", &run]
            .map(OsString::from)
            .into(),
        folder: context.folder.clone(),
        environment: context
            .environment
            .iter()
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect(),
        input: Vec::new(),
        limits: Limits {
            quiet: None,
            total: None,
            output_bytes: 0,
            error_bytes: 0,
        },
    });
    if let Err(error) = started {
        let error = CommandError::from_error(Exit::Environment, &error);
        runs.end(&run, &refused(args, &error)?)?;
        return Err(error);
    }
    Ok(run)
}

/// Does the work of a detached run, and stores what came of it.
pub(super) fn work(context: &mut Context, run: &str) -> Result<(), CommandError> {
    let runs = Runs::new(context);
    let (_lock, request) = runs.begin(run)?;
    let request: Request = serde_json::from_slice(&request).map_err(CommandError::internal)?;
    let stored = Stored::try_parse_from(&request.arguments).map_err(CommandError::internal)?;
    if let Some(agent) = request
        .asked_by
        .as_deref()
        .and_then(|it| Agent::new(it).ok())
    {
        context.asker = Some(Asker {
            agent,
            session: request.asked_in,
        });
    }
    let cancel = context.cancel.clone();
    let (watched, watched_run) = (Runs::new(context), run.to_owned());
    thread::Builder::new()
        .spawn(move || {
            // A look that fails is made again: the run can be ended by a signal all the same.
            while !matches!(watched.is_asked_to_end(&watched_run), Ok(true)) {
                thread::sleep(EACH);
            }
            cancel.cancel();
        })
        .map_err(|error| {
            CommandError::because(Exit::Environment, "cannot create a thread", &error)
        })?;
    let output = match delegate(context, &stored.args) {
        Ok(report) if stored.args.tasks.is_some() => {
            let named = report.tasks.iter().map(|task| NamedOutput {
                id: task.local_id.clone(),
                output: DelegateOutput::of(task, stored.args.budget),
            });
            let tasks = named.collect();
            serde_json::to_vec_pretty(&TasksOutput { tasks, error: None })
                .map_err(CommandError::internal)?
        }
        Ok(report) => match report.tasks.first() {
            Some(task) => serde_json::to_vec_pretty(&DelegateOutput::of(task, stored.args.budget))
                .map_err(CommandError::internal)?,
            None => refused(
                &stored.args,
                &CommandError::new(Exit::Internal, "nothing came of it"),
            )?,
        },
        Err(error) => refused(&stored.args, &error)?,
    };
    // Signed before others learn that it is over, and may go on.
    witness::after(context);
    runs.end(run, &output)
}

/// The result of a run of which nothing could be done.
fn refused(args: &DelegateArgs, error: &CommandError) -> Result<Vec<u8>, CommandError> {
    let error = ErrorOutput::of_command(error);
    let bytes = if args.tasks.is_some() {
        serde_json::to_vec_pretty(&TasksOutput::refused(error))
    } else {
        let kind = callosum_arbiter::kind_name(args.kind.map(super::submission::kind));
        let executor = args.executor.clone();
        serde_json::to_vec_pretty(&DelegateOutput::refused(executor, kind, error))
    };
    bytes.map_err(CommandError::internal)
}

/// The arguments as words, with what was on standard input in them: the process of a run has none.
fn words(context: &Context, args: &DelegateArgs) -> Result<Vec<String>, CommandError> {
    let mut words = Vec::new();
    let mut put = |option: &str, value: Option<String>| {
        words.extend(value.map(|value| format!("{option}={value}")));
    };
    let number = |value: Option<u64>| value.map(|value| value.to_string());
    put("--kind", args.kind.and_then(|it: KindArg| name(&it)));
    put("--mode", args.mode.and_then(|it: ModeArg| name(&it)));
    put(
        "--priority",
        args.priority.and_then(|it: PriorityArg| name(&it)),
    );
    put("--executor", args.executor.clone());
    put(
        "--require-citations",
        args.require_citations.map(|share| share.to_string()),
    );
    put("--budget", number(args.budget));
    put("--max-spawns", number(args.max_spawns));
    put("--max-tokens", number(args.max_tokens));
    put("--max-cost", args.max_cost.map(|cost| cost.to_string()));
    put(
        "--timeout",
        args.timeout.map(|time| span_text(milliseconds(time))),
    );
    put(
        "--wait-limit",
        args.wait_limit.map(|wait| format!("{}s", wait.as_secs())),
    );
    for path in &args.path {
        put("--path", Some(utf8(path)?));
    }
    for link in &args.link {
        put("--link", Some(link.clone()));
    }
    if let Some(file) = &args.tasks {
        if file.as_os_str() == "-" {
            let what = "a detached run reads its tasks from a file";
            return Err(CommandError::new(Exit::Usage, what)
                .hint("callosum delegate --detach --tasks FILE"));
        }
        put("--tasks", Some(utf8(&context.folder.join(file))?));
    }
    for (option, is_set) in [
        ("--no-cache", args.no_cache),
        ("--ask-for-citations", args.ask_for_citations),
    ] {
        if is_set {
            words.push(option.to_owned());
        }
    }
    if args.tasks.is_none() {
        words.push("--".to_owned());
        words.push(super::submission::prompt(args)?);
    }
    Ok(words)
}

/// The name of a value on the command line.
fn name<V: ValueEnum>(value: &V) -> Option<String> {
    let named = value.to_possible_value()?;
    Some(named.get_name().to_owned())
}

fn utf8(path: &std::path::Path) -> Result<String, CommandError> {
    let text = PathBuf::from(path).into_os_string().into_string();
    text.map_err(|path| {
        let what = format!("`{}` is not UTF-8", path.display());
        CommandError::new(Exit::Usage, what)
    })
}
