//! [`Board`]: state after all events so far.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{
    Change, Claim, Discovery, ENDS, Effect, Lease, Message, Receipt, Session, Status, Task, session,
};
use crate::{
    addressee::Addressee,
    agent::{AgentName, US},
    event::Event,
};

/// Topic of the event that tasks are shared with other machines from now on.
pub const SHARED: &str = "calc.fleet.shared";

/// Topic of the event that they, or all tasks, are this machine's own again.
pub const UNSHARED: &str = "calc.fleet.unshared";

/// Topic of an event that came from another machine and was not taken in. It changes nothing.
pub const REFUSED: &str = "calc.fleet.refused";

/// Most agents that the board remembers as heard of.
const MOST_HEARD: usize = 512;

/// Most sessions that are named to who has named one that is not there.
const MOST_NAMED: usize = 5;

/// Names that accept messages before they were heard of: the clients that we know, and the person.
const KNOWN: [&str; 7] = [
    US,
    "claude-code",
    "codex",
    "gemini-cli",
    "qwen-code",
    "opencode",
    "person",
];

/// State after all events so far. Derived from the log, and built from it again if it is lost.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Board {
    /// The last event that it knows.
    pub seq: u64,
    /// The last event that changed anything of it.
    pub rev: u64,
    /// Author of that event.
    pub last_writer: Option<AgentName>,
    /// When, as it says.
    #[serde(with = "crate::timestamp")]
    pub last_updated: Timestamp,
    /// Tasks, in the order in which they were left.
    pub tasks: Vec<Task>,
    /// Messages, oldest first.
    pub messages: Vec<Message>,
    /// Discoveries, oldest first.
    pub discoveries: Vec<Discovery>,
    /// Leases on files. Some may have expired.
    pub leases: Vec<Lease>,
    /// Agents at work, the latest last, as far as their clients tell.
    pub sessions: Vec<Session>,
    /// Agents that have published any event.
    pub heard: BTreeSet<AgentName>,
    /// Every other key of the bridge file (Seed CALC §4: `active_evolution`, `account_state`).
    pub fields: BTreeMap<String, Value>,
}

impl Board {
    /// The task of this id.
    pub fn task(&self, id: &str) -> Option<&Task> {
        self.tasks.iter().find(|task| task.id == id)
    }

    /// The message of this id.
    pub fn message(&self, id: &str) -> Option<&Message> {
        self.messages.iter().find(|message| message.id == id)
    }

    /// Returns the tasks that this one needs and that were canceled, so that they will not be
    /// completed.
    pub fn gone_needs<'a>(&'a self, task: &'a Task) -> impl Iterator<Item = &'a str> {
        task.needs.iter().map(String::as_str).filter(|need| {
            let need = self.task(need);
            need.is_some_and(|need| need.status == Status::Cancelled)
        })
    }

    /// The tasks that have to be complete before this one is begun and are not.
    pub fn waits_for<'a>(&'a self, task: &'a Task) -> impl Iterator<Item = &'a str> {
        task.needs.iter().map(String::as_str).filter(|need| {
            let need = self.task(need);
            need.is_some_and(|need| need.status != Status::Complete)
        })
    }

    /// Whether this agent is one of the clients that we know, or has published any event on this
    /// machine.
    pub fn has_heard_of(&self, agent: &AgentName) -> bool {
        KNOWN.contains(&agent.as_str()) || self.heard.contains(agent)
    }

    /// Returns the agents that messages can be for: the clients that are always known, and those
    /// that were heard of.
    pub fn heard_of(&self) -> impl Iterator<Item = &str> {
        let known = KNOWN.iter().copied();
        known.chain(self.heard.iter().map(AgentName::as_str))
    }

    /// Returns the reason for which a message cannot reach this agent, or this session of it.
    /// `None` if it may.
    pub(super) fn unreachable_reason(&self, to: &Addressee, now: Timestamp) -> Option<String> {
        let Addressee { agent, session } = to;
        if !self.has_heard_of(agent) {
            return Some(format!("no agent named {agent} is known on this machine"));
        }
        let session = session.as_ref()?;
        let is_there = self.sessions.iter().any(|known| known.is(agent, session));
        if is_there || self.holds_something(agent, session, now) {
            return None;
        }
        let others = self.sessions.iter().rev();
        let others = others
            .filter(|known| known.agent == *agent)
            .take(MOST_NAMED);
        let others: Vec<&str> = others.map(|known| known.session_id.as_str()).collect();
        let there = if others.is_empty() {
            "none is active".to_owned()
        } else {
            format!("active: {}", others.join(", "))
        };
        Some(format!(
            "session {session} of {agent} is not active; {there}"
        ))
    }

    /// Whether this session has a lease or a claim that holds. Who has one is at work, whether its client tells of sessions or not.
    fn holds_something(&self, agent: &AgentName, session: &str, now: Timestamp) -> bool {
        let is_it = |by: &AgentName, of: Option<&str>| by == agent && of == Some(session);
        let mut leases = self.leases.iter().filter(|lease| lease.until > now);
        let mut claims = self.tasks.iter().filter_map(|task| task.claim_at(now));
        leases.any(|lease| is_it(&lease.by, lease.session_id.as_deref()))
            || claims.any(|claim| is_it(&claim.by, claim.session_id.as_deref()))
    }

    /// Takes an event in. Events that are about something else, or about what is not there, change
    /// nothing: each process comes to the same board by the same log.
    pub fn apply(&mut self, event: &Event) {
        if event.seq <= self.seq {
            return;
        }
        self.seq = event.seq;
        if !self.heard.contains(&event.source) && self.heard.len() < MOST_HEARD {
            self.heard.insert(event.source.clone());
        }
        if let Some(deed) = Effect::of(event) {
            self.rev = event.seq;
            self.last_writer = Some(event.source.clone());
            self.last_updated = event.timestamp;
            self.take(deed, event);
        } else {
            self.see(event);
        }
    }

    /// Takes in that a session begins or has ended. Nothing of it is shown in the bridge file.
    fn see(&mut self, event: &Event) {
        if let Some(begun) = Session::begun(event) {
            let is_known = |known: &Session| known.is(&begun.agent, &begun.session_id);
            self.sessions.retain(|known| !is_known(known));
            self.sessions.push(begun);
            let surplus = self.sessions.len().saturating_sub(session::MOST);
            self.sessions.drain(..surplus);
        } else if let (ENDS, Some(id)) = (event.topic.as_str(), &event.session_id) {
            self.sessions.retain(|known| !known.is(&event.source, id));
        } else if matches!(event.topic.as_str(), SHARED | UNSHARED)
            && event.source.is_us()
            && event.from.is_none()
        {
            self.share(event);
        }
    }

    fn take(&mut self, deed: Effect, event: &Event) {
        let rev = event.seq;
        let is_foreign = event.from.is_some();
        let machine = event.from.as_ref().map(|_| event.machine.clone());
        if is_foreign && !self.is_about_shared(&deed) {
            return;
        }
        match deed {
            Effect::TaskAdded {
                id,
                assigned_to,
                priority,
                prompt,
                output_file,
                needs,
                created_by,
                other,
            } => {
                if self.task(&id).is_none() {
                    self.tasks.push(Task {
                        id,
                        assigned_to,
                        status: Status::Pending,
                        priority,
                        prompt,
                        output_file,
                        created_in: match &created_by {
                            // Another's session is not the one that tells of it.
                            Some(by) if *by != event.source => None,
                            _ => event.session_id.clone(),
                        },
                        created_by: created_by.unwrap_or_else(|| event.source.clone()),
                        created_at: event.timestamp,
                        completed_at: None,
                        completed_by: None,
                        needs,
                        cwd: event.cwd.clone(),
                        claim: None,
                        queued_at: None,
                        result: None,
                        output: None,
                        other,
                        rev,
                        machine,
                        is_shared: is_foreign,
                        changes: BTreeMap::new(),
                        fence: 0,
                    });
                }
            }
            Effect::TaskClaimed {
                task,
                by,
                until,
                fence,
            } => self.with_task(&task, rev, |task| {
                let is_unfenced = is_foreign && fence.is_none();
                // A late renewal of a claim under which the task was completed.
                let is_late = fence == Some(task.fence) && task.status == Status::Complete;
                if is_unfenced || is_late || !task.accepts(fence) {
                    return;
                }
                let session_id = event.session_id.clone();
                let before = task.claim.take();
                let renewed = before.filter(|before| {
                    let is_held = task.status == Status::InProgress;
                    is_held && before.by == by && before.session_id == session_id
                });
                // Machines may learn of a cancellation and a claim in different orders.
                if task.status != Status::Cancelled || fence.is_none() {
                    task.status = Status::InProgress;
                }
                task.fence = fence.unwrap_or(task.fence);
                task.claim = Some(Claim {
                    by,
                    session_id,
                    since: renewed
                        .as_ref()
                        .map_or(event.timestamp, |renewed| renewed.since),
                    until,
                    token: fence.unwrap_or_else(|| renewed.map_or(rev, |renewed| renewed.token)),
                    machine: machine.clone(),
                });
            }),
            Effect::TaskReleased { task, fence, .. } => self.with_task(&task, rev, |task| {
                let is_over = fence.is_some() && task.status.is_over();
                if is_over || !task.accepts(fence) {
                    return;
                }
                task.status = Status::Pending;
                task.claim = None;
                task.queued_at = Some(event.timestamp.to_string());
            }),
            Effect::TaskCompleted {
                task,
                by,
                result,
                fence,
            } => {
                self.with_task(&task, rev, |task| {
                    if !task.accepts(fence) {
                        return;
                    }
                    task.fence = fence.unwrap_or(task.fence);
                    task.completed_by = Some(by);
                    task.status = Status::Complete;
                    task.completed_at = Some(event.timestamp.to_string());
                    task.result = result;
                    task.change_output();
                });
                self.forget_tasks();
            }
            Effect::OutputSettled { task, receipt } => {
                // No part of the task changes, so that its author gets no second notice of its completion.
                let task = self.tasks.iter_mut().find(|known| known.id == task);
                if let Some(task) = task {
                    task.output = Some(super::OutputReceipt {
                        at: Some(event.timestamp),
                        is_stale: false,
                        ..receipt
                    });
                }
            }
            Effect::TaskCancelled { task, .. } => {
                self.with_task(&task, rev, |task| {
                    if !task.is_shared || task.status != Status::Complete {
                        task.status = Status::Cancelled;
                    }
                });
                self.forget_tasks();
            }
            Effect::TaskChanged { task, set } => {
                let from = event.from.as_ref();
                let change = Change {
                    at: event.timestamp,
                    origin: from.map_or(&event.origin, |from| &from.origin).clone(),
                };
                self.with_task(&task, rev, |task| {
                    let set = task.latest(set, &change);
                    task.set(set);
                });
                self.forget_tasks();
            }
            Effect::MessageSent {
                id,
                to,
                content,
                reply_to,
                ttl_seconds,
                expires,
            } => {
                if self.message(&id).is_none() {
                    self.messages.push(Message {
                        id,
                        from: event.source.clone(),
                        from_session: event.session_id.clone(),
                        to,
                        content,
                        reply_to,
                        timestamp: event.timestamp,
                        receipt: None,
                        evidence: None,
                        ttl_seconds,
                        expires,
                        session_id: None,
                        cwd: event.cwd.clone(),
                        rev,
                        machine: machine.clone(),
                    });
                }
            }
            Effect::MessageMoved {
                message,
                receipt,
                evidence,
            } => {
                let found = self.messages.iter_mut().find(|known| known.id == message);
                let is_further = |found: &&mut Message| {
                    let is_read = receipt == Receipt::Acked && found.receipt == Some(Receipt::Dead);
                    is_read || found.receipt.is_none_or(|reached| reached < receipt)
                };
                if let Some(found) = found.filter(|found| !is_foreign || is_further(found)) {
                    found.receipt = Some(receipt);
                    found.evidence = evidence;
                    found.session_id = event.session_id.clone().or(found.session_id.take());
                    found.rev = rev;
                }
                self.forget_messages();
            }
            Effect::MessageRetried { message, expires } => {
                let found = self.messages.iter_mut().find(|known| known.id == message);
                if let Some(found) = found {
                    found.receipt = None;
                    found.evidence = None;
                    found.expires = expires;
                    found.rev = rev;
                }
            }
            Effect::Discovered { id, content } => {
                let id = id.unwrap_or_else(|| event.id.clone());
                if self.discoveries.iter().all(|known| known.id != id) {
                    self.discoveries.push(Discovery {
                        id,
                        content,
                        source: event.source.clone(),
                        session_id: event.session_id.clone(),
                        timestamp: event.timestamp,
                        cwd: event.cwd.clone(),
                        machine,
                        rev,
                    });
                }
                self.forget_discoveries();
            }
            Effect::DiscoveryRemoved { discovery } => {
                self.discoveries.retain(|known| known.id != discovery);
            }
            Effect::LeaseTaken { path, until, why } => {
                // Events of other machines do not take what this machine's agents have.
                let is_taken = |lease: &Lease| {
                    lease.path == path && !lease.is_foreign() && lease.until > event.timestamp
                };
                if is_foreign && self.leases.iter().any(is_taken) {
                    return;
                }
                let before = self.leases.iter().position(|lease| lease.path == path);
                let before = before.map(|at| self.leases.remove(at));
                let same = before.filter(|before| {
                    before.by == event.source && before.session_id == event.session_id
                });
                // Those that have ended go when another is taken, so that there are never many.
                self.leases.retain(|lease| lease.until > event.timestamp);
                self.leases.push(Lease {
                    path,
                    by: event.source.clone(),
                    session_id: event.session_id.clone(),
                    why,
                    since: same.as_ref().map_or(event.timestamp, |same| same.since),
                    until,
                    token: same.map_or(rev, |same| same.token),
                    machine: machine.clone(),
                });
            }
            Effect::LeaseReleased { path } => self
                .leases
                .retain(|lease| lease.path != path || is_foreign && !lease.is_foreign()),
            Effect::FieldSet { key, value } => {
                match value {
                    Some(value) => self.fields.insert(key, value),
                    None => self.fields.remove(&key),
                };
            }
        }
    }

    /// Whether an effect from another machine is about a task that it may change. An id that both machines gave away
    /// is a task of its own on each.
    fn is_about_shared(&self, deed: &Effect) -> bool {
        let (Effect::TaskClaimed { task, .. }
        | Effect::TaskReleased { task, .. }
        | Effect::TaskCompleted { task, .. }
        | Effect::TaskCancelled { task, .. }
        | Effect::TaskChanged { task, .. }) = deed
        else {
            return true;
        };
        self.task(task).is_some_and(|task| task.is_shared)
    }

    /// Takes in that tasks are shared with other machines, or are this machine's own again.
    fn share(&mut self, event: &Event) {
        let is_shared = event.topic.as_str() == SHARED;
        let named = event.payload.get("tasks").and_then(Value::as_array);
        for task in &mut self.tasks {
            let is_named = |named: &Vec<Value>| named.iter().any(|id| *id == *task.id);
            if named.is_none_or(is_named) && (named.is_some() || !is_shared) {
                task.is_shared = is_shared;
                // Another machine has it no longer, as far as this one sees.
                if !is_shared && task.claim.as_ref().is_some_and(Claim::is_foreign) {
                    task.claim = None;
                    if task.status == Status::InProgress {
                        task.status = Status::Pending;
                    }
                }
            }
        }
    }

    fn with_task(&mut self, id: &str, rev: u64, change: impl FnOnce(&mut Task)) {
        let task = self.tasks.iter_mut().find(|task| task.id == id);
        if let Some(task) = task {
            change(task);
            task.rev = rev;
        }
    }
}

impl Task {
    /// Sets keys by their names in the bridge file. What is no value of a key is passed over: who
    /// decided has looked at it.
    pub(super) fn set(&mut self, set: Map<String, Value>) {
        if set.contains_key("output_file") || set.contains_key("result") {
            self.change_output();
        }
        for (key, value) in set {
            match key.as_str() {
                "assigned_to" => self.assigned_to = serde_json::from_value(value).unwrap_or(None),
                "priority" => self.priority = value.as_i64().unwrap_or(self.priority),
                "prompt" => {
                    if let Value::String(prompt) = value {
                        self.prompt = prompt;
                    }
                }
                "output_file" => self.output_file = value.as_str().map(str::to_owned),
                "needs" => self.needs = serde_json::from_value(value).unwrap_or_default(),
                "result" => self.result = value.as_str().map(str::to_owned),
                _ if value.is_null() => {
                    self.other.shift_remove(&key);
                }
                _ => {
                    self.other.insert(key, value);
                }
            }
        }
    }
}
