//! `callosum mesh inject`: types a prompt into an agent's pane, with evidence that it was taken (Seed CALC §6, pattern 3).

use std::path::{Path, PathBuf};

use callosum_mesh::Voice;
use callosum_mesh::event::Draft;
use callosum_mesh::journal::Durability;
use callosum_panes::Pane;
use callosum_panes::inject::rate::Bucket;
use callosum_panes::inject::tmux::{InjectError, Target, inject};
use callosum_panes::inject::{Injection, Options, Outcome, Reason, Receipt, prepare};
use callosum_panes::tmux::Connection;
use schemars::JsonSchema;
use serde::Serialize;

use crate::context::Context;
use crate::mesh::open;
use crate::mesh::panes::{Watcher, named, unknown};
use crate::{CommandError, Exit, store};

/// Topic of the event with the receipt.
const TOPIC: &str = "pane.inject";

/// `callosum mesh inject --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub struct InjectOutput {
    /// Name of the pane.
    pub pane: String,
    /// The client in it.
    pub runtime: String,
    /// `submitted`, `unconfirmed`, `refused`, or `possible` with `--dry-run`.
    pub outcome: String,
    /// The obstacle, or what was seen last.
    pub reason: Option<String>,
    /// Whether the text is still in the composer.
    pub text_left: bool,
    /// Bytes of the text.
    pub bytes: usize,
    /// Number of times Enter was pressed.
    pub enters: usize,
    /// Milliseconds it took.
    pub took_ms: u64,
    /// The phases that it reached, in order.
    pub steps: Vec<StepOutput>,
}

/// A phase of an injection.
#[derive(Debug, JsonSchema, Serialize)]
pub struct StepOutput {
    /// `accepted`, `queued`, `written` or `submitted`.
    pub phase: String,
    /// Milliseconds since the injection began.
    pub after_ms: u64,
    /// Text or event that proves it.
    pub evidence: String,
}

/// Types a text into the one pane that `name` means. The receipt is an event in the log; the text is not in it.
pub fn into_pane(
    context: &Context,
    voice: &Voice,
    name: &str,
    text: &str,
    options: Options,
) -> Result<InjectOutput, CommandError> {
    let text = prepare(text).map_err(|error| CommandError::from_error(Exit::Usage, &error))?;
    let mut watcher = Watcher::open(context)?;
    let registry = watcher.look_twice(context)?;
    let found = named(&registry.panes, name);
    let [pane] = &*found else {
        return Err(not_one(name, &found, &registry.panes));
    };
    let sensor = watcher.sensor();
    let Some((socket, id, running)) = sensor.in_tmux(&pane.pane) else {
        let what = format!("{} is not in tmux, so no text can reach it", pane.pane);
        let hint = format!(
            "callosum mesh message send {} TEXT",
            pane.mesh_agent().unwrap_or("AGENT")
        );
        return Err(CommandError::new(Exit::No, what).hint(hint));
    };
    let rules = sensor.rules_of(running.program);
    let (Some(tmux), Some(rules)) = (sensor.tmux(), rules) else {
        return Err(CommandError::new(
            Exit::Environment,
            "tmux is not installed",
        ));
    };
    let locks = context.project.homes.injections();
    let is_dry = options.dry_run;
    let receipt = if let Some(wait_ms) = rate(context, &locks, pane, is_dry)? {
        refused(context, pane, text.as_str().len(), Reason::Rate { wait_ms })
    } else {
        let mut connection = Connection::open(tmux, &socket)
            .map_err(|error| CommandError::from_error(Exit::Environment, &error))?;
        let target = Target {
            pane: &id,
            running: &running,
            rules,
            locks: &locks,
        };
        let injection = Injection { text, options };
        let done = inject(
            &mut connection,
            &target,
            injection,
            &context.disk,
            &context.clock,
        );
        done.map_err(|error| match error {
            InjectError::Tmux(error) => CommandError::from_error(Exit::Environment, &error),
            InjectError::Lock(error) => store::disk_failed(&error),
        })?
    };
    if !is_dry {
        log(context, voice, pane, &receipt)?;
    }
    Ok(output(pane, receipt))
}

/// Says that a name means no pane, or several.
fn not_one(name: &str, found: &[&Pane], panes: &[Pane]) -> CommandError {
    if found.is_empty() {
        return unknown(name, panes);
    }
    let names: Vec<&str> = found.iter().map(|pane| pane.pane.as_str()).collect();
    let what = format!("`{name}` means several panes: {}", names.join(", "));
    CommandError::new(Exit::Usage, what).hint("callosum mesh panes")
}

/// Takes a token of the pane's rate. Returns the milliseconds to wait if there is none.
fn rate(
    context: &Context,
    folder: &Path,
    pane: &Pane,
    is_dry: bool,
) -> Result<Option<u64>, CommandError> {
    let failed = |error| store::disk_failed(&error);
    context.disk.create_private_dir(folder).map_err(failed)?;
    let file = rate_file(folder, pane);
    let bytes = context.disk.read_if_there(&file).map_err(failed)?;
    let now = context.clock.now();
    let known = bytes.and_then(|bytes| serde_json::from_slice::<Bucket>(&bytes).ok());
    let mut bucket = known.unwrap_or_else(|| Bucket::new(now));
    if let Err(wait) = bucket.take(now) {
        return Ok(Some(u64::try_from(wait.as_millis()).unwrap_or(u64::MAX)));
    }
    if !is_dry {
        let text = serde_json::to_vec(&bucket).map_err(CommandError::internal)?;
        context
            .disk
            .replace_unsynced(&file, &text, 0o600)
            .map_err(failed)?;
    }
    Ok(None)
}

fn rate_file(folder: &Path, pane: &Pane) -> PathBuf {
    folder.join(format!("rate-{}.json", pane.pid))
}

fn refused(context: &Context, pane: &Pane, bytes: usize, reason: Reason) -> Receipt {
    Receipt {
        pane: pane.pane.clone(),
        pid: pane.pid,
        bytes,
        at: context.clock.now(),
        steps: Vec::new(),
        enters: 0,
        took_ms: 0,
        outcome: Outcome::Refused {
            reason,
            text_left: false,
        },
    }
}

/// Logs the receipt.
fn log(
    context: &Context,
    voice: &Voice,
    pane: &Pane,
    receipt: &Receipt,
) -> Result<(), CommandError> {
    let mut payload = serde_json::to_value(receipt).map_err(CommandError::internal)?;
    payload["to"] = pane.mesh_agent().unwrap_or("unknown").into();
    payload["pane"] = pane.pane.as_str().into();
    let draft = Draft::read(&serde_json::json!({
        "type": TOPIC, "source": voice.agent, "session_id": voice.session_id,
        "pane_id": voice.pane_id, "cwd": voice.cwd, "payload": payload,
    }));
    let draft =
        draft.map_err(|faults| CommandError::because(Exit::Internal, "invalid event", &faults))?;
    let mut mesh = open::synced_anyway(context)?;
    let published = mesh.publish(draft, Durability::Logged);
    published.map_err(|error| open::explain(&error))?;
    Ok(())
}

fn output(pane: &Pane, receipt: Receipt) -> InjectOutput {
    let (outcome, reason, text_left) = match &receipt.outcome {
        Outcome::Submitted => ("submitted", None, false),
        Outcome::Unconfirmed { seen, text_left } => ("unconfirmed", Some(seen.clone()), *text_left),
        Outcome::Refused { reason, text_left } => ("refused", Some(reason.to_string()), *text_left),
        Outcome::Possible => ("possible", None, false),
    };
    let steps = receipt.steps.iter().map(|step| StepOutput {
        phase: format!("{:?}", step.phase).to_lowercase(),
        after_ms: step.after_ms,
        evidence: step.evidence.clone(),
    });
    InjectOutput {
        pane: pane.pane.clone(),
        runtime: pane.runtime.clone(),
        outcome: outcome.to_owned(),
        reason,
        text_left,
        bytes: receipt.bytes,
        enters: receipt.enters,
        took_ms: receipt.took_ms,
        steps: steps.collect(),
    }
}
