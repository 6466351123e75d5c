//! Claims on tasks that several machines share: each is a key of the server that is compared and set.
//!
//! The fencing token of a claim is the revision of the change that made it. Revisions only grow, so of two claims the later
//! has the larger token, and each machine's board refuses what comes under a smaller one. A claim ends by the server's
//! clock: no clock of a machine decides.
//!
//! Start with [`acquire`]. Without a server no one claims a shared task: of two machines that cannot see each other, each
//! would have it.

use std::fmt::Write as _;

use jiff::SignedDuration;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::{KeyEntry, Names, Server, ServerError};

/// Times that a change is tried again after another machine's.
const MOST_TRIES: usize = 16;

/// Key whose change shows the server's time.
const CLOCK: &str = "clock";

/// State of a task, as the server has it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct SharedTask {
    /// The task.
    pub task: String,
    /// The log in which it was added; empty if that log has not said so to this server yet.
    pub home: String,
    /// Progress.
    pub state: State,
    /// Fencing token of the last claim; 0 if it is the revision of the key itself.
    pub token: u64,
    /// Agent that has or had it.
    pub holder: Option<Holder>,
    /// Seconds after the last change for which a claim holds.
    pub seconds: u64,
}

/// Progress of a shared task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// No agent works on it.
    Free,
    /// An agent works on it.
    Claimed,
    /// It is done.
    Complete,
    /// It was canceled.
    Cancelled,
}

/// Agent on a machine.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct Holder {
    /// The log of the machine.
    pub origin: String,
    /// Names of the person and the machine.
    #[serde(flatten)]
    pub names: Names,
    /// The agent.
    pub agent: String,
    /// Its session.
    pub session_id: Option<String>,
}

/// Outcome of a claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Acquired {
    /// This agent has the task, under this fencing token.
    Token(u64),
    /// Another agent has it.
    Held(Holder),
    /// It is complete or was canceled.
    Over(State),
}

/// Outcome of the end or the renewal of a claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Settled {
    /// The server has it.
    Done,
    /// The claim had ended, and this agent has the task since.
    Lost(Option<Holder>),
}

/// Returns the key of a task. Ids of tasks have letters that keys do not.
pub fn key_of(task: &str) -> String {
    let hash = Sha256::digest(task);
    hash[..16].iter().fold("task.".to_owned(), |mut key, byte| {
        let _ = write!(key, "{byte:02x}");
        key
    })
}

/// State of a task with its place on the server.
struct Known {
    entry: KeyEntry,
    task: SharedTask,
}

impl Known {
    fn token(&self) -> u64 {
        match self.task.token {
            0 => self.entry.revision,
            token => token,
        }
    }

    /// Whether a claim holds at the server's time.
    fn holds(&self, server: &mut dyn Server) -> Result<bool, ServerError> {
        if self.task.state != State::Claimed {
            return Ok(false);
        }
        let revision = server.put(CLOCK, Vec::new())?;
        let clock = server.entry(CLOCK)?;
        // Another machine may have looked at the clock since, which is later.
        let clock = clock.filter(|clock| clock.revision >= revision);
        let Some(clock) = clock else { return Ok(true) };
        let lifetime = SignedDuration::from_secs(self.task.seconds.cast_signed());
        Ok(clock.changed.duration_since(self.entry.changed) < lifetime)
    }
}

fn read(server: &mut dyn Server, key: &str) -> Result<Option<Known>, ServerError> {
    let Some(entry) = server.entry(key)? else {
        return Ok(None);
    };
    let task = serde_json::from_slice(&entry.value).map_err(|error| ServerError::Failed {
        reason: format!("the key `{key}` cannot be read: {error}"),
    })?;
    Ok(Some(Known { entry, task }))
}

fn write(
    server: &mut dyn Server,
    key: &str,
    revision: u64,
    task: &SharedTask,
) -> Result<Option<u64>, ServerError> {
    let value = serde_json::to_vec(task).unwrap_or_default();
    server.set(key, revision, value)
}

fn busy(task: &str) -> ServerError {
    ServerError::Failed {
        reason: format!("other machines changed task `{task}` {MOST_TRIES} times in a row"),
    }
}

/// Makes tasks known to the server before other machines see them. Returns those whose id another log has given away before:
/// two tasks with one id are not shared.
pub fn register<'t>(
    server: &mut dyn Server,
    tasks: impl Iterator<Item = (&'t str, State)>,
    home: &str,
) -> Result<Vec<String>, ServerError> {
    let (ids, keys): (Vec<&str>, Vec<(String, Vec<u8>)>) = tasks
        .map(|(task, state)| {
            let new = SharedTask {
                task: task.to_owned(),
                home: home.to_owned(),
                state,
                token: 0,
                holder: None,
                seconds: 0,
            };
            let value = serde_json::to_vec(&new).unwrap_or_default();
            (task, (key_of(task), value))
        })
        .unzip();
    let created = server.create(keys)?;
    let mut taken = Vec::new();
    for (task, is_new) in ids.into_iter().zip(created) {
        if !is_new && !is_at_home(server, task, home)? {
            taken.push(task.to_owned());
        }
    }
    Ok(taken)
}

/// Whether a task that the server knows was added in this log. A claim of another machine may have come first, after the
/// server had lost its keys: then the log is recorded, and the claim holds.
fn is_at_home(server: &mut dyn Server, task: &str, home: &str) -> Result<bool, ServerError> {
    let key = key_of(task);
    for _ in 0..MOST_TRIES {
        let Some(known) = read(server, &key)? else {
            return Ok(true);
        };
        if !known.task.home.is_empty() {
            return Ok(known.task.home == home);
        }
        let token = match known.task.state {
            State::Free => known.task.token,
            _ => known.token(),
        };
        let at_home = SharedTask {
            home: home.to_owned(),
            token,
            ..known.task
        };
        if write(server, &key, known.entry.revision, &at_home)?.is_some() {
            return Ok(true);
        }
    }
    Err(busy(task))
}

/// Claims a task for an agent, for so long by the server's clock. `fence` is the highest token that this machine's board
/// has seen.
///
/// The agent that has it already keeps its token, unless its board shows the claim under `fence` as ended. The token of a
/// new claim is above every earlier one, also if the server has lost changes and counts them again.
pub fn acquire(
    server: &mut dyn Server,
    task: &str,
    holder: &Holder,
    fence: u64,
    is_ended: bool,
    lifetime: SignedDuration,
) -> Result<Acquired, ServerError> {
    let key = key_of(task);
    for _ in 0..MOST_TRIES {
        let known = read(server, &key)?;
        let mut token = 0;
        let floor = known
            .as_ref()
            .map_or(fence, |known| fence.max(known.token()));
        if let Some(known) = &known {
            if matches!(known.task.state, State::Complete | State::Cancelled) {
                return Ok(Acquired::Over(known.task.state));
            }
            let other = known.task.holder.as_ref();
            let is_own = other == Some(holder) && known.task.state == State::Claimed;
            if is_own {
                token = known.token();
            } else if known.holds(server)?
                && let Some(other) = other
            {
                return Ok(Acquired::Held(other.clone()));
            }
            if is_ended && token == fence {
                token = 0;
            }
        }
        let home = known.as_ref().map(|known| known.task.home.clone());
        let claimed = SharedTask {
            task: task.to_owned(),
            home: home.unwrap_or_default(),
            state: State::Claimed,
            token,
            holder: Some(holder.clone()),
            seconds: lifetime.as_secs().unsigned_abs(),
        };
        let revision = known.as_ref().map_or(0, |known| known.entry.revision);
        let Some(revision) = write(server, &key, revision, &claimed)? else {
            continue;
        };
        if token > 0 {
            return Ok(Acquired::Token(token));
        }
        if revision > floor {
            return Ok(Acquired::Token(revision));
        }
        let token = floor + 1;
        let above = SharedTask { token, ..claimed };
        if write(server, &key, revision, &above)?.is_some() {
            return Ok(Acquired::Token(token));
        }
    }
    Err(busy(task))
}

/// Ends or renews the claim of a log under a fencing token: `state` is the new state of the task. Does nothing if the
/// server knows already.
pub fn settle(
    server: &mut dyn Server,
    task: &str,
    origin: &str,
    token: u64,
    state: State,
) -> Result<Settled, ServerError> {
    let key = key_of(task);
    for _ in 0..MOST_TRIES {
        let Some(known) = read(server, &key)? else {
            return Ok(Settled::Lost(None));
        };
        let is_own = known
            .task
            .holder
            .as_ref()
            .is_some_and(|holder| holder.origin == origin);
        if known.token() != token || !is_own {
            return Ok(Settled::Lost(known.task.holder));
        }
        if known.task.state == state && state != State::Claimed {
            return Ok(Settled::Done);
        }
        if known.task.state != State::Claimed {
            return Ok(Settled::Lost(known.task.holder));
        }
        let settled = SharedTask {
            state,
            token,
            ..known.task
        };
        if write(server, &key, known.entry.revision, &settled)?.is_some() {
            return Ok(Settled::Done);
        }
    }
    Err(busy(task))
}

/// Records that a task without a claim was canceled or completed before it was shared. An agent that works on it may
/// complete it all the same.
pub fn close(server: &mut dyn Server, task: &str, state: State) -> Result<(), ServerError> {
    let key = key_of(task);
    for _ in 0..MOST_TRIES {
        let Some(known) = read(server, &key)? else {
            return Ok(());
        };
        if known.task.state != State::Free {
            return Ok(());
        }
        let token = known.task.token;
        let closed = SharedTask {
            state,
            token,
            ..known.task
        };
        if write(server, &key, known.entry.revision, &closed)?.is_some() {
            return Ok(());
        }
    }
    Err(busy(task))
}
