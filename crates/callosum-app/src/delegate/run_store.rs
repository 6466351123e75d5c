//! [`Runs`]: the detached delegations of a project, as files in the machine's state folder.
//!
//! A run is a folder: `ticket.json` (the request in short), `request.json` (the whole request, until the run is over),
//! `lock` (held by the process that does the work, so that its death is seen), `begun`, `cancel` (someone asked it to
//! end) and `output.json`. Start with [`Runs::state`].

use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use callosum_host::Disk;
use callosum_host::lock::{FileLock, LockError, LockFile};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::context::Context;
use crate::{CommandError, Exit, disk_errors};

/// Time that a run may take until its process holds the lock, before it counts as killed.
const BEGINS_WITHIN: Duration = Duration::from_secs(30);

/// Time that the process of a run waits for its lock. Others hold it for moments to check whether
/// the run is alive.
const LOCK_WITHIN: Duration = Duration::from_secs(10);

/// Retention of a run's result.
const KEPT_FOR: Duration = Duration::from_hours(7 * 24);

/// Number of checks of a lock that is held: another process may only hold it to check as well.
const LOOKS: u32 = 3;

/// The runs of a project.
#[derive(Debug)]
pub struct Runs {
    disk: Disk,
    folder: PathBuf,
    now: Timestamp,
}

/// Facts about a run that are known from its beginning.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Ticket {
    /// Its id.
    pub run: String,
    /// When it was ordered.
    pub created_at: Timestamp,
    /// The executor that was named.
    pub executor: Option<String>,
    /// The beginning of the prompt, its secrets masked.
    pub prompt: String,
}

/// The state of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunState {
    /// Its process was started and does not hold the lock yet.
    Starting,
    /// Its process works.
    Running,
    /// Every task was answered.
    Succeeded,
    /// A task failed, or nothing could be run.
    Failed,
    /// It was cancelled.
    Cancelled,
    /// Its process ended without a result.
    Killed,
}

impl RunState {
    /// Its name in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Starting => "starting",
            Self::Running => "running",
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
            Self::Killed => "killed",
        }
    }

    /// Whether it has ended.
    pub fn is_over(self) -> bool {
        !matches!(self, Self::Starting | Self::Running)
    }
}

impl Runs {
    /// The runs of the project.
    pub fn new(context: &Context) -> Self {
        Self {
            disk: context.disk.clone(),
            folder: context.project.homes.detached_runs(context.state()),
            now: context.clock.now(),
        }
    }

    /// Creates a run with its request; `false` if there is one of this id already.
    pub fn create(&self, ticket: &Ticket, request: &[u8]) -> Result<bool, CommandError> {
        self.disk.create_private_dir(&self.folder).map_err(failed)?;
        let folder = self.folder.join(&ticket.run);
        if !self.disk.create_private_dir(&folder).map_err(failed)? {
            return Ok(false);
        }
        let bytes = serde_json::to_vec_pretty(ticket).map_err(CommandError::internal)?;
        for (name, bytes) in [("request.json", request), ("ticket.json", &bytes)] {
            self.disk
                .replace(&folder.join(name), bytes, 0o600)
                .map_err(failed)?;
        }
        Ok(true)
    }

    /// Takes the lock of a run for the process that does the work, and returns the request.
    pub fn begin(&self, run: &str) -> Result<(FileLock, Vec<u8>), CommandError> {
        let lock = LockFile::private()
            .acquire(&self.disk, &self.file(run, "lock")?, LOCK_WITHIN)
            .map_err(|error: LockError| CommandError::from_error(Exit::Environment, &error))?;
        if self
            .disk
            .exists(&self.file(run, "begun")?)
            .map_err(failed)?
        {
            let what = format!("the run `{run}` has already started");
            return Err(CommandError::new(Exit::Usage, what));
        }
        self.disk
            .replace(&self.file(run, "begun")?, b"", 0o600)
            .map_err(failed)?;
        let request = self
            .disk
            .read(&self.file(run, "request.json")?)
            .map_err(failed)?;
        Ok((lock, request))
    }

    /// Stores the result of a run and removes the request.
    pub fn end(&self, run: &str, output: &[u8]) -> Result<(), CommandError> {
        self.disk
            .replace(&self.file(run, "output.json")?, output, 0o600)
            .map_err(failed)?;
        self.disk
            .remove_file(&self.file(run, "request.json")?)
            .map_err(failed)?;
        Ok(())
    }

    /// Asks a run to end.
    pub fn ask_to_end(&self, run: &str) -> Result<(), CommandError> {
        self.disk
            .replace(&self.file(run, "cancel")?, b"", 0o600)
            .map_err(failed)
    }

    /// Whether someone asked a run to end.
    pub fn is_asked_to_end(&self, run: &str) -> Result<bool, CommandError> {
        self.disk.exists(&self.file(run, "cancel")?).map_err(failed)
    }

    /// Returns all runs, the last one first.
    pub fn all(&self) -> Result<Vec<Ticket>, CommandError> {
        if !self.disk.exists(&self.folder).map_err(failed)? {
            return Ok(Vec::new());
        }
        let listed = self.disk.list_dir(&self.folder).map_err(failed)?;
        let mut all = Vec::new();
        for entry in listed {
            let Some(name) = entry.name.to_str().filter(|name| is_id(name)) else {
                continue;
            };
            // One that is just being created has no ticket yet.
            all.extend(self.ticket_if_there(name)?);
        }
        all.sort_by(|one, other| {
            let key = |ticket: &Ticket| (ticket.created_at, ticket.run.clone());
            key(other).cmp(&key(one))
        });
        Ok(all)
    }

    /// Returns the ticket of a run.
    pub fn ticket(&self, run: &str) -> Result<Ticket, CommandError> {
        self.ticket_if_there(run)?.ok_or_else(|| unknown(run))
    }

    fn ticket_if_there(&self, run: &str) -> Result<Option<Ticket>, CommandError> {
        let file = self.file(run, "ticket.json")?;
        let Some(bytes) = self.disk.read_if_there(&file).map_err(failed)? else {
            return Ok(None);
        };
        let ticket = serde_json::from_slice(&bytes).map_err(|error| {
            let what = format!("cannot read `{}`", file.display());
            CommandError::because(Exit::Environment, what, &error)
        })?;
        Ok(Some(ticket))
    }

    /// Returns the result of a run, as `delegate --json` prints it, if it has one.
    pub fn output(&self, run: &str) -> Result<Option<Value>, CommandError> {
        let file = self.file(run, "output.json")?;
        let Some(bytes) = self.disk.read_if_there(&file).map_err(failed)? else {
            return Ok(None);
        };
        serde_json::from_slice(&bytes).map(Some).map_err(|error| {
            let what = format!("cannot read `{}`", file.display());
            CommandError::because(Exit::Environment, what, &error)
        })
    }

    /// Returns the state of a run.
    pub fn state(&self, ticket: &Ticket) -> Result<RunState, CommandError> {
        let run = &ticket.run;
        if let Some(output) = self.output(run)? {
            return Ok(outcome(&output));
        }
        if self.is_held(run)? {
            return Ok(RunState::Running);
        }
        // It may have ended between the two looks.
        if let Some(output) = self.output(run)? {
            return Ok(outcome(&output));
        }
        let age = self.now.duration_since(ticket.created_at);
        let is_young = Duration::try_from(age).unwrap_or_default() < BEGINS_WITHIN;
        let has_begun = self
            .disk
            .exists(&self.file(run, "begun")?)
            .map_err(failed)?;
        if is_young && !has_begun {
            return Ok(RunState::Starting);
        }
        Ok(RunState::Killed)
    }

    /// Whether a process holds the lock of a run.
    fn is_held(&self, run: &str) -> Result<bool, CommandError> {
        let file = self.file(run, "lock")?;
        if !self.disk.exists(&file).map_err(failed)? {
            return Ok(false);
        }
        for look in 1..=LOOKS {
            let lock = LockFile::private().try_acquire(&self.disk, &file);
            if lock.map_err(failed)?.is_some() {
                return Ok(false);
            }
            if look < LOOKS {
                thread::sleep(Duration::from_millis(3));
            }
        }
        Ok(true)
    }

    /// Removes runs that ended a week ago or earlier.
    pub fn remove_old(&self) -> Result<(), CommandError> {
        for ticket in self.all()? {
            let age = self.now.duration_since(ticket.created_at);
            let is_old = Duration::try_from(age).unwrap_or_default() > KEPT_FOR;
            if !is_old || !self.state(&ticket)?.is_over() {
                continue;
            }
            let folder = self.folder.join(&ticket.run);
            for entry in self.disk.list_dir(&folder).map_err(failed)? {
                self.disk
                    .remove_file(&folder.join(entry.name))
                    .map_err(failed)?;
            }
            self.disk.remove_dir(&folder).map_err(failed)?;
        }
        Ok(())
    }

    fn file(&self, run: &str, name: &str) -> Result<PathBuf, CommandError> {
        if !is_id(run) {
            return Err(unknown(run));
        }
        Ok(self.folder.join(run).join(name))
    }
}

/// Whether a text may be a run's id: no id leads to another folder.
fn is_id(text: &str) -> bool {
    let is_of_id = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    (1..=64).contains(&text.len()) && text.bytes().all(is_of_id)
}

fn unknown(run: &str) -> CommandError {
    let what = format!(
        "no detached run `{}` in this project",
        run.escape_debug().take(64).collect::<String>()
    );
    CommandError::new(Exit::Usage, what).hint("callosum executor runs")
}

fn failed(error: callosum_host::DiskError) -> CommandError {
    disk_errors::disk_failed(&error)
}

/// The state that a result implies: the state of its worst task.
fn outcome(output: &Value) -> RunState {
    let tasks = output["tasks"].as_array();
    let all = tasks.map_or(std::slice::from_ref(output), Vec::as_slice);
    let statuses: Vec<&str> = all
        .iter()
        .map(|task| task["status"].as_str().unwrap_or("error"))
        .collect();
    let refused = tasks.is_some() && !output["error"].is_null();
    if statuses.contains(&"cancelled") {
        RunState::Cancelled
    } else if refused || statuses.iter().any(|status| *status != "success") {
        RunState::Failed
    } else {
        RunState::Succeeded
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn runs(folder: &std::path::Path, now: &str) -> Runs {
        Runs {
            disk: Disk::real(),
            folder: folder.to_owned(),
            now: now.parse().unwrap(),
        }
    }

    fn ticket(run: &str) -> Ticket {
        Ticket {
            run: run.to_owned(),
            created_at: "2026-11-02T10:00:00Z".parse().unwrap(),
            executor: None,
            prompt: "map it".to_owned(),
        }
    }

    /// A run is starting, running while its process lives, and killed if that ended without a result.
    #[test]
    fn a_run_whose_process_ended_without_a_result_is_killed() {
        let folder = tempfile::tempdir().unwrap();
        let soon = runs(folder.path(), "2026-11-02T10:00:01Z");
        let ticket = ticket("a-1");
        assert!(soon.create(&ticket, b"{}").unwrap());
        assert!(
            !soon.create(&ticket, b"{}").unwrap(),
            "no id is given twice"
        );
        assert_eq!(soon.state(&ticket).unwrap(), RunState::Starting);
        let later = runs(folder.path(), "2026-11-02T10:01:00Z");
        assert_eq!(later.state(&ticket).unwrap(), RunState::Killed);
        let (lock, request) = soon.begin("a-1").unwrap();
        assert_eq!(request, b"{}");
        assert_eq!(later.state(&ticket).unwrap(), RunState::Running);
        drop(lock);
        assert_eq!(soon.state(&ticket).unwrap(), RunState::Killed);
        assert!(soon.begin("a-1").is_err(), "no run is done twice");
        soon.end("a-1", b"{\"status\": \"success\"}").unwrap();
        assert_eq!(soon.state(&ticket).unwrap(), RunState::Succeeded);
        assert_eq!(soon.all().unwrap().len(), 1);
        let in_a_week = runs(folder.path(), "2026-11-10T10:00:01Z");
        in_a_week.remove_old().unwrap();
        assert!(in_a_week.all().unwrap().is_empty());
    }

    #[test]
    fn the_state_of_several_tasks_is_that_of_the_worst() {
        let of = |statuses: &[&str]| {
            let tasks: Vec<Value> = statuses.iter().map(|it| json!({"status": it})).collect();
            outcome(&json!({"tasks": tasks, "error": null}))
        };
        assert_eq!(of(&["success", "success"]), RunState::Succeeded);
        assert_eq!(of(&["success", "error"]), RunState::Failed);
        assert_eq!(of(&["error", "cancelled"]), RunState::Cancelled);
        let refused = json!({"tasks": [], "error": {"message": "no"}});
        assert_eq!(outcome(&refused), RunState::Failed);
        assert_eq!(outcome(&json!({"status": "error"})), RunState::Failed);
    }

    /// No id leads out of the folder of the runs.
    #[test]
    fn an_id_is_no_path() {
        let folder = tempfile::tempdir().unwrap();
        let all = runs(folder.path(), "2026-11-02T10:00:01Z");
        for id in ["", "..", "../x", "a/b", "A", "é", &"a".repeat(65)] {
            assert!(all.ticket(id).is_err(), "{id}");
        }
    }
}
