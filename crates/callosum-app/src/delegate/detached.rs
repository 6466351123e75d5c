//! `delegate --detach`: a delegation in a process of its own, which outlives the process that
//! ordered it.
//!
//! [`detach`] writes the request to a file and starts the process; [`work`] is that process. The
//! later commands about a run are `executor runs`.

use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use callosum_redact::secrets;
use callosum_session::trajectory::Agent;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::context::{Context, Requester};
use crate::delegate::delegate;
use crate::delegate::options::DelegateOptions;
use crate::delegate::output::{DelegateOutput, NamedOutput, TasksOutput};
use crate::delegate::run_store::{Runs, Ticket};
use crate::json_error::ErrorOutput;
use crate::time_span::{milliseconds, span_text};
use crate::{CommandError, Exit, auto_checkpoint, background, disk_errors};

/// Characters of a prompt that a ticket shows at most.
const LONGEST_PROMPT: usize = 120;

/// Interval at which a run checks whether it is to end.
const EACH: Duration = Duration::from_millis(200);

/// `callosum delegate --detach --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub struct DetachedOutput {
    /// The id of the run, for `callosum executor runs`.
    pub run: String,
}

/// Request to the process of a run.
#[derive(Debug, Deserialize, Serialize)]
struct Request {
    /// The options and the prompt of `callosum delegate`.
    arguments: Vec<String>,
    /// The agent that asked, and its session.
    asked_by: Option<String>,
    asked_in: Option<String>,
}

/// Starts a delegation that goes on by itself, and returns the id of its run.
pub fn detach(context: &Context, options: &DelegateOptions) -> Result<String, CommandError> {
    context
        .project
        .homes
        .create_machine(&context.disk)
        .map_err(|error| disk_errors::disk_failed(&error))?;
    let runs = Runs::new(context);
    // What cannot be cleared away hinders nothing.
    if let Err(error) = runs.remove_old() {
        context.report.error(&error);
    }
    let arguments = words(context, options)?;
    let shown = match (&options.tasks, arguments.last()) {
        (Some(file), _) => file.display().to_string(),
        (None, last) => last.cloned().unwrap_or_default(),
    };
    let masked = secrets::mask(&shown).text;
    let line: Vec<&str> = masked.split_whitespace().collect();
    let mut ticket = Ticket {
        run: context.ids.uuid_v4(),
        created_at: context.clock.now(),
        executor: options.executor.clone(),
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
    let started = background::start(context, &["--no-progress", "delegate", "--work-for", &run]);
    if let Err(error) = started {
        runs.end(&run, &refused(options, &error)?)?;
        return Err(error);
    }
    Ok(run)
}

/// Does the work of a detached run, and stores what came of it.
///
/// `parse` reads the stored arguments.
pub fn work(
    context: &mut Context,
    run: &str,
    parse: impl FnOnce(&[String]) -> Result<DelegateOptions, CommandError>,
) -> Result<(), CommandError> {
    let runs = Runs::new(context);
    let (_lock, request) = runs.begin(run)?;
    let request: Request = serde_json::from_slice(&request).map_err(CommandError::internal)?;
    let options = parse(&request.arguments)?;
    if let Some(agent) = request
        .asked_by
        .as_deref()
        .and_then(|it| Agent::new(it).ok())
    {
        context.asker = Some(Requester {
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
    let output = match delegate(context, &options) {
        Ok(report) if options.tasks.is_some() => {
            let named = report.tasks.iter().map(|task| NamedOutput {
                id: task.local_id.clone(),
                output: DelegateOutput::of(task, options.budget),
            });
            let tasks = named.collect();
            serde_json::to_vec_pretty(&TasksOutput { tasks, error: None })
                .map_err(CommandError::internal)?
        }
        Ok(report) => match report.tasks.first() {
            Some(task) => serde_json::to_vec_pretty(&DelegateOutput::of(task, options.budget))
                .map_err(CommandError::internal)?,
            None => refused(
                &options,
                &CommandError::new(Exit::Internal, "the run has no result"),
            )?,
        },
        Err(error) => refused(&options, &error)?,
    };
    // Signed before others learn that it is over, and may go on.
    auto_checkpoint::after(context);
    runs.end(run, &output)
}

/// Returns the result of a run that could not start.
fn refused(options: &DelegateOptions, error: &CommandError) -> Result<Vec<u8>, CommandError> {
    let error = ErrorOutput::of_command(error);
    let bytes = if options.tasks.is_some() {
        serde_json::to_vec_pretty(&TasksOutput::refused(error))
    } else {
        let kind = callosum_arbiter::kind_name(options.kind);
        let executor = options.executor.clone();
        serde_json::to_vec_pretty(&DelegateOutput::refused(executor, kind, error))
    };
    bytes.map_err(CommandError::internal)
}

/// The arguments as words, with what was on standard input in them: the process of a run has none.
fn words(context: &Context, options: &DelegateOptions) -> Result<Vec<String>, CommandError> {
    let mut words = Vec::new();
    let mut put = |option: &str, value: Option<String>| {
        words.extend(value.map(|value| format!("{option}={value}")));
    };
    let number = |value: Option<u64>| value.map(|value| value.to_string());
    put("--kind", options.kind.map(|kind| kind.to_string()));
    put("--mode", options.mode.map(|mode| mode.to_string()));
    put(
        "--priority",
        options.priority.map(|priority| priority.to_string()),
    );
    put("--executor", options.executor.clone());
    put(
        "--require-citations",
        options.require_citations.map(|share| share.to_string()),
    );
    put("--budget", number(options.budget));
    put("--max-spawns", number(options.max_spawns));
    put("--max-tokens", number(options.max_tokens));
    put("--max-cost", options.max_cost.map(|cost| cost.to_string()));
    put(
        "--timeout",
        options.timeout.map(|time| span_text(milliseconds(time))),
    );
    put(
        "--wait-limit",
        options
            .wait_limit
            .map(|wait| format!("{}s", wait.as_secs())),
    );
    for path in &options.paths {
        put("--path", Some(utf8(path)?));
    }
    for link in &options.links {
        put("--link", Some(link.clone()));
    }
    if let Some(file) = &options.tasks {
        if file.as_os_str() == "-" {
            let what = "a detached run cannot read tasks from standard input";
            return Err(CommandError::new(Exit::Usage, what)
                .hint("callosum delegate --detach --tasks FILE"));
        }
        put("--tasks", Some(utf8(&context.folder.join(file))?));
    }
    for (option, is_set) in [
        ("--no-cache", options.no_cache),
        ("--ask-for-citations", options.ask_for_citations),
    ] {
        if is_set {
            words.push(option.to_owned());
        }
    }
    if options.tasks.is_none() {
        words.push("--".to_owned());
        words.push(crate::delegate::submission::prompt(options)?);
    }
    Ok(words)
}

fn utf8(path: &std::path::Path) -> Result<String, CommandError> {
    let text = PathBuf::from(path).into_os_string().into_string();
    text.map_err(|path| {
        let what = format!("`{}` is not UTF-8", path.display());
        CommandError::new(Exit::Usage, what)
    })
}
