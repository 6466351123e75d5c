//! [`Order`]: what somebody wants done to the board; and whether it may be.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use serde_json::{Map, Value};

use super::{Board, Deed, LEASE, Lease, Receipt, Refusal, Session, Status, Task};
use crate::{
    agent::{AgentName, US},
    mesh::Voice,
};

/// How long a claim holds that is not claimed anew.
pub const CLAIM: SignedDuration = SignedDuration::from_mins(30);

/// How long a message waits to be handed over that does not say how long.
pub const MESSAGE_TTL: SignedDuration = SignedDuration::from_hours(7 * 24);

/// Longest that a message may wait, in seconds: a year.
const LONGEST_TTL: u64 = 366 * 24 * 60 * 60;

/// Most bytes of a prompt, a message or a discovery.
const LONGEST: usize = 32 * 1024;

/// Most tasks that one waits for.
const MOST_NEEDS: usize = 64;

/// A task that is to be left.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NewTask {
    /// Its id.
    pub id: String,
    /// Who is to do it; anybody where nobody is named.
    pub assigned_to: Option<AgentName>,
    /// How urgent: the smallest number comes first.
    pub priority: Option<i64>,
    /// What is to be done.
    pub prompt: String,
    /// Where the result is to be written.
    pub output_file: Option<String>,
    /// Tasks that are to be complete before.
    pub needs: Vec<String>,
    /// Who left it, where it is not who gives the order.
    pub created_by: Option<AgentName>,
    /// Whatever else somebody wrote.
    pub other: Map<String, Value>,
}

/// What somebody wants done.
#[derive(Clone, Debug, PartialEq)]
pub enum Order {
    /// Leave a task.
    Add(NewTask),
    /// Work on a task. One that is named, or the most urgent that this agent may claim.
    Claim {
        /// The task; whichever is next where none is named.
        task: Option<String>,
        /// Also where it was left for another agent.
        anyway: bool,
    },
    /// Give a task back to the queue.
    Release {
        /// The task.
        task: String,
        /// Why.
        reason: String,
        /// Also where another agent has claimed it.
        anyway: bool,
        /// The number of the claim that is given back, where it is known.
        token: Option<u64>,
    },
    /// Say that a task is done.
    Complete {
        /// The task.
        task: String,
        /// What came of it.
        result: Option<String>,
        /// Also where another agent has claimed it.
        anyway: bool,
        /// The number of the claim under which it was done, where it is known.
        token: Option<u64>,
    },
    /// Take a task back.
    Cancel {
        /// The task.
        task: String,
        /// Why.
        reason: String,
    },
    /// Describe a task anew.
    Change {
        /// The task.
        task: String,
        /// Keys of the bridge file, with what they are to be.
        set: Map<String, Value>,
    },
    /// Send a message.
    Send {
        /// Its id.
        id: String,
        /// To whom.
        to: AgentName,
        /// What it says.
        content: String,
        /// The message that it answers.
        reply_to: Option<String>,
        /// Seconds after which it is a dead letter, unless it was handed over before; [`MESSAGE_TTL`] where it is not said.
        ttl_seconds: Option<u64>,
    },
    /// Take a message a step further.
    Move {
        /// The message.
        message: String,
        /// How far it has come.
        receipt: Receipt,
        /// What shows it.
        evidence: Option<String>,
    },
    /// Have a dead message delivered again.
    Retry {
        /// The message.
        message: String,
    },
    /// Tell all what was found.
    Share {
        /// Its id.
        id: String,
        /// What was found.
        content: String,
    },
    /// Tell a discovery no longer.
    Forget {
        /// The discovery.
        discovery: String,
    },
    /// Say that one works on a file.
    Lease {
        /// The file, absolute.
        path: String,
        /// What for.
        why: Option<String>,
        /// Also where another agent does.
        anyway: bool,
    },
    /// Say that one works on a file no longer.
    Unlease {
        /// The file.
        path: String,
        /// Also where it is another agent's lease.
        anyway: bool,
        /// The number of the lease, where it is known.
        token: Option<u64>,
    },
    /// Set another key of the bridge file, or take it away.
    SetField {
        /// The key.
        key: String,
        /// Its value.
        value: Option<Value>,
    },
}

impl Board {
    /// What an order comes to, by whom and when it is given; nothing where it is so already.
    ///
    /// A claim is compared and set: of two agents that claim the same task one is refused, since
    /// orders are decided one after the other, each on what the last has left.
    pub fn decide(
        &self,
        order: Order,
        voice: &Voice,
        now: Timestamp,
    ) -> Result<Vec<Deed>, Refusal> {
        let by = &voice.agent;
        super::id::check(&order)?;
        Ok(match order {
            Order::Add(task) => self.add(task)?,
            Order::Claim { task, anyway } => {
                vec![self.claim(task.as_deref(), anyway, voice, now)?]
            }
            Order::Release {
                task,
                reason,
                anyway,
                token,
            } => {
                let known = self.held(&task, voice, anyway, token, now)?;
                let is_claimed = known.status == Status::InProgress;
                let deed = Deed::TaskReleased { task, reason };
                is_claimed.then_some(deed).into_iter().collect()
            }
            Order::Complete {
                task,
                result,
                anyway,
                token,
            } => {
                let known = self.held(&task, voice, anyway, token, now)?;
                let is_new = known.status != Status::Complete
                    || (result.is_some() && known.result != result);
                let by = by.clone();
                let deed = Deed::TaskCompleted { task, by, result };
                is_new.then_some(deed).into_iter().collect()
            }
            Order::Cancel { task, reason } => {
                let is_over = self.known(&task)?.status.is_over();
                let deed = Deed::TaskCancelled { task, reason };
                (!is_over).then_some(deed).into_iter().collect()
            }
            Order::Change { task, set } => self.change(task, set)?,
            Order::Send {
                id,
                to,
                content,
                reply_to,
                ttl_seconds,
            } => {
                said("a message", &content)?;
                if self.message(&id).is_some() {
                    return Ok(Vec::new());
                }
                let is_known = by.as_str() == US || self.has_heard_of(&to);
                let dead = Deed::MessageMoved {
                    message: id.clone(),
                    receipt: Receipt::Dead,
                    evidence: Some(format!("nobody named {to} was heard of on this machine")),
                };
                let sent = Deed::MessageSent {
                    id,
                    to,
                    content,
                    reply_to,
                    ttl_seconds,
                    expires: Some(expires(now, ttl_seconds)?),
                };
                let dead = (!is_known).then_some(dead);
                std::iter::once(sent).chain(dead).collect()
            }
            Order::Move {
                message,
                receipt,
                evidence,
            } => self.further(message, receipt, evidence, by)?,
            Order::Retry { message } => {
                let known = self.known_message(&message)?;
                if known.receipt != Some(Receipt::Dead) {
                    return Err(Refusal::NotDead { message });
                }
                let expires = Some(expires(now, known.ttl_seconds)?);
                vec![Deed::MessageRetried { message, expires }]
            }
            Order::Share { id, content } => {
                said("a discovery", &content)?;
                let is_new = self.discoveries.iter().all(|known| known.id != id);
                let id = Some(id);
                let deed = Deed::Discovered { id, content };
                is_new.then_some(deed).into_iter().collect()
            }
            Order::Forget { discovery } => {
                let is_there = self.discoveries.iter().any(|known| known.id == discovery);
                let deed = Deed::DiscoveryRemoved { discovery };
                is_there.then_some(deed).into_iter().collect()
            }
            Order::Lease { path, why, anyway } => {
                self.leasable(&path, anyway, voice, now)?;
                let until = now + LEASE;
                vec![Deed::LeaseTaken { path, until, why }]
            }
            Order::Unlease {
                path,
                anyway,
                token,
            } => {
                self.leasable(&path, anyway, voice, now)?;
                let known = self.leases.iter().find(|lease| lease.path == path);
                if let Some(known) = known {
                    same(&path, token, known.token)?;
                }
                let deed = Deed::LeaseReleased { path };
                known.is_some().then_some(deed).into_iter().collect()
            }
            Order::SetField { key, value } => {
                let is_new = self.fields.get(&key) != value.as_ref();
                let deed = Deed::FieldSet { key, value };
                is_new.then_some(deed).into_iter().collect()
            }
        })
    }

    /// The claims that have run out by now, given back.
    pub fn run_out(&self, now: Timestamp) -> Vec<Deed> {
        let claimed = self
            .tasks
            .iter()
            .filter(|task| task.status == Status::InProgress);
        claimed
            .filter_map(|task| {
                let claim = task.claim.as_ref()?;
                (claim.until <= now).then(|| Deed::TaskReleased {
                    task: task.id.clone(),
                    reason: format!("the claim of {} ran out", claim.by),
                })
            })
            .collect()
    }

    /// What a session leaves behind that has ended: its claims and leases, given back, and what it was handed and
    /// has not seen, to be handed over again.
    pub fn left_by(&self, session: &Session) -> Vec<Deed> {
        let is_theirs = |agent: &AgentName, session_id: Option<&String>| {
            session_id.is_some_and(|id| session.is(agent, id))
        };
        let claimed = self.tasks.iter().filter(|task| {
            let claim = task.claim.as_ref();
            task.status == Status::InProgress
                && claim.is_some_and(|claim| is_theirs(&claim.by, claim.session_id.as_ref()))
        });
        let claimed = claimed.map(|task| Deed::TaskReleased {
            task: task.id.clone(),
            reason: format!("the session of {} that had claimed it ended", session.agent),
        });
        let leases = self.leases.iter();
        let leases = leases.filter(|lease| is_theirs(&lease.by, lease.session_id.as_ref()));
        let leases = leases.map(|lease| Deed::LeaseReleased {
            path: lease.path.clone(),
        });
        // What it was handed and never showed to have seen waits for another.
        let unseen = self.messages.iter().filter(|message| {
            message.receipt == Some(Receipt::Delivered)
                && is_theirs(&message.to, message.session_id.as_ref())
        });
        let unseen = unseen.map(|message| Deed::MessageRetried {
            message: message.id.clone(),
            expires: message.expires,
        });
        claimed.chain(leases).chain(unseen).collect()
    }

    /// The messages that nobody was handed in time, as dead letters.
    pub fn expired(&self, now: Timestamp) -> Vec<Deed> {
        let waiting = self.messages.iter();
        let waiting = waiting.filter(|message| message.receipt.is_none());
        let late = waiting.filter(|message| message.expires.is_some_and(|expires| expires <= now));
        late.map(|message| Deed::MessageMoved {
            message: message.id.clone(),
            receipt: Receipt::Dead,
            evidence: Some(format!(
                "{} was not there to be handed it in time",
                message.to
            )),
        })
        .collect()
    }

    /// Who keeps an agent of this session from a file, at this time.
    pub fn holder(
        &self,
        path: &str,
        agent: &AgentName,
        session_id: Option<&str>,
        now: Timestamp,
    ) -> Option<&Lease> {
        self.leases
            .iter()
            .find(|lease| lease.path == path && lease.holds_against(agent, session_id, now))
    }

    fn leasable(
        &self,
        path: &str,
        anyway: bool,
        voice: &Voice,
        now: Timestamp,
    ) -> Result<(), Refusal> {
        if !path.starts_with('/') || path.len() > 4096 {
            return Err(Refusal::NoPath {
                path: path.chars().take(200).collect(),
            });
        }
        match self.holder(path, &voice.agent, voice.session_id.as_deref(), now) {
            Some(lease) if !anyway => Err(Refusal::LeasedBy {
                path: path.to_owned(),
                by: lease.by.clone(),
                until: lease.until,
                why: lease.why.clone(),
            }),
            _ => Ok(()),
        }
    }

    fn known(&self, id: &str) -> Result<&Task, Refusal> {
        self.task(id).ok_or_else(|| Refusal::NoSuchTask {
            task: id.to_owned(),
        })
    }

    fn known_message(&self, id: &str) -> Result<&super::Message, Refusal> {
        self.message(id).ok_or_else(|| Refusal::NoSuchMessage {
            message: id.to_owned(),
        })
    }

    /// A task that this agent may finish or give back: its own, or one that nobody has.
    fn held(
        &self,
        id: &str,
        voice: &Voice,
        anyway: bool,
        token: Option<u64>,
        now: Timestamp,
    ) -> Result<&Task, Refusal> {
        let task = self.known(id)?;
        if task.status == Status::Cancelled {
            return Err(Refusal::IsOver {
                task: id.to_owned(),
                status: task.status,
            });
        }
        let claim = task.claim.as_ref();
        let Some(claim) = claim.filter(|_| task.status == Status::InProgress) else {
            return match token {
                // Who names a claim that is gone has lost the task, whoever does it next.
                Some(named) if task.status == Status::Pending => Err(Refusal::Lost {
                    task: id.to_owned(),
                    named,
                }),
                _ => Ok(task),
            };
        };
        if claim.holds_against(voice, now) && !anyway {
            return Err(Refusal::ClaimedBy {
                task: id.to_owned(),
                by: claim.by.clone(),
                until: claim.until,
            });
        }
        same(&format!("task `{id}`"), token, claim.token)?;
        Ok(task)
    }

    fn add(&self, task: NewTask) -> Result<Vec<Deed>, Refusal> {
        said("a task", &task.prompt)?;
        if self.task(&task.id).is_some() {
            return Err(Refusal::Taken { task: task.id });
        }
        if task.needs.len() > MOST_NEEDS {
            return Err(Refusal::TooManyNeeds);
        }
        // What it needs is there already, so that no circle can arise here.
        for need in &task.needs {
            self.known(need)?;
        }
        Ok(vec![Deed::TaskAdded {
            id: task.id,
            assigned_to: task.assigned_to,
            priority: task.priority.unwrap_or(5),
            prompt: task.prompt,
            output_file: task.output_file,
            needs: task.needs,
            created_by: task.created_by,
            other: task.other,
        }])
    }

    fn claim(
        &self,
        task: Option<&str>,
        anyway: bool,
        voice: &Voice,
        now: Timestamp,
    ) -> Result<Deed, Refusal> {
        let by = &voice.agent;
        let until = now + CLAIM;
        let claimed = |task: &Task| Deed::TaskClaimed {
            task: task.id.clone(),
            by: by.clone(),
            until,
        };
        let Some(id) = task else {
            return self
                .next_for(by, now)
                .map(claimed)
                .ok_or(Refusal::NothingToDo);
        };
        let task = self.known(id)?;
        if task.status.is_over() {
            return Err(Refusal::IsOver {
                task: id.to_owned(),
                status: task.status,
            });
        }
        if let Some(claim) = &task.claim
            && claim.holds_against(voice, now)
        {
            return Err(Refusal::ClaimedBy {
                task: id.to_owned(),
                by: claim.by.clone(),
                until: claim.until,
            });
        }
        if let Some(meant) = &task.assigned_to
            && meant != by
            && !anyway
        {
            return Err(Refusal::MeantFor {
                task: id.to_owned(),
                agent: meant.clone(),
            });
        }
        let needs: Vec<String> = self.waits_for(task).map(str::to_owned).collect();
        if !needs.is_empty() {
            return Err(Refusal::WaitsFor {
                task: id.to_owned(),
                needs,
            });
        }
        Ok(claimed(task))
    }

    /// The most urgent task that an agent may begin now: the smallest priority, then the oldest.
    pub fn next_for(&self, by: &AgentName, now: Timestamp) -> Option<&Task> {
        let is_free = |task: &&Task| {
            let is_open = match task.status {
                Status::Pending => true,
                Status::InProgress => task.claim.as_ref().is_some_and(|claim| claim.until <= now),
                Status::Complete | Status::Cancelled => false,
            };
            is_open
                && task.assigned_to.as_ref().is_none_or(|meant| meant == by)
                && self.waits_for(task).next().is_none()
        };
        let free = self.tasks.iter().filter(is_free);
        free.min_by_key(|task| task.priority)
    }

    fn change(&self, task: String, set: Map<String, Value>) -> Result<Vec<Deed>, Refusal> {
        let known = self.known(&task)?;
        for (key, value) in &set {
            let wanted = match key.as_str() {
                "assigned_to" if is_name(value) || value.is_null() => continue,
                "assigned_to" => "the name of an agent, or null",
                "priority" if value.is_i64() => continue,
                "priority" => "a whole number",
                "prompt"
                    if value
                        .as_str()
                        .is_some_and(|text| said("a task", text).is_ok()) =>
                {
                    continue;
                }
                "prompt" => "a text of 1 to 32,768 bytes",
                "output_file" | "result" if value.is_string() || value.is_null() => continue,
                "output_file" | "result" => "a text, or null",
                "needs" => {
                    let needs: Option<Vec<String>> = serde_json::from_value(value.clone()).ok();
                    let needs = needs.filter(|needs| needs.len() <= MOST_NEEDS);
                    let Some(needs) = needs else {
                        return Err(Refusal::NoValue {
                            key: key.clone(),
                            wanted: "a list of at most 64 ids of tasks",
                        });
                    };
                    for need in &needs {
                        self.known(need)?;
                        if self.leads_to(need, &task) {
                            return Err(Refusal::Circle {
                                task,
                                need: need.clone(),
                            });
                        }
                    }
                    continue;
                }
                "id" | "status" | "created_by" | "created_at" | "completed_at" => {
                    "left as it is: no change of a task sets it"
                }
                _ => continue,
            };
            return Err(Refusal::NoValue {
                key: key.clone(),
                wanted,
            });
        }
        let set: Map<String, Value> = set
            .into_iter()
            .filter(|(key, value)| known.value(key) != *value)
            .collect();
        let is_new = !set.is_empty();
        let deed = Deed::TaskChanged { task, set };
        Ok(is_new.then_some(deed).into_iter().collect())
    }

    /// Whether one task is another, or waits for it over any number of others.
    fn leads_to(&self, from: &str, to: &str) -> bool {
        let mut seen = Vec::new();
        let mut left = vec![from];
        while let Some(id) = left.pop() {
            if id == to {
                return true;
            }
            if !seen.contains(&id) {
                seen.push(id);
                let needs = self.task(id).map(|task| task.needs.as_slice());
                left.extend(needs.unwrap_or_default().iter().map(String::as_str));
            }
        }
        false
    }

    fn further(
        &self,
        message: String,
        receipt: Receipt,
        evidence: Option<String>,
        by: &AgentName,
    ) -> Result<Vec<Deed>, Refusal> {
        let known = self.known_message(&message)?;
        if receipt == Receipt::Acked && known.to != *by {
            return Err(Refusal::NotTheirs {
                message,
                to: known.to.clone(),
            });
        }
        // It never goes back. A dead one is raised by trying again, or by whom it was for: that agent is there.
        let is_read = known.receipt == Some(Receipt::Dead) && receipt == Receipt::Acked;
        let is_further = is_read || known.receipt.is_none_or(|reached| reached < receipt);
        let deed = Deed::MessageMoved {
            message,
            receipt,
            evidence,
        };
        Ok(is_further.then_some(deed).into_iter().collect())
    }
}

impl Task {
    /// What a key of the bridge file is.
    pub fn value(&self, key: &str) -> Value {
        match key {
            "id" => self.id.clone().into(),
            "assigned_to" => self.assigned_to.as_ref().map(AgentName::as_str).into(),
            "status" => self.status.as_str().into(),
            "priority" => self.priority.into(),
            "prompt" => self.prompt.clone().into(),
            "output_file" => self.output_file.clone().into(),
            "created_by" => self.created_by.as_str().into(),
            "created_at" => self.created_at.to_string().into(),
            "completed_at" => self.completed_at.clone().into(),
            "needs" => self.needs.clone().into(),
            "result" => self.result.clone().into(),
            _ => self.other.get(key).cloned().unwrap_or_default(),
        }
    }
}

/// Fails where a number is named and is not the one that holds.
fn same(what: &str, named: Option<u64>, now: u64) -> Result<(), Refusal> {
    match named {
        Some(named) if named != now => Err(Refusal::Stale {
            what: what.to_owned(),
            named,
            now,
        }),
        _ => Ok(()),
    }
}

fn is_name(value: &Value) -> bool {
    let name = value.as_str().map(str::parse::<AgentName>);
    name.is_some_and(|name| name.is_ok())
}

/// When a message becomes a dead letter.
fn expires(now: Timestamp, ttl_seconds: Option<u64>) -> Result<Timestamp, Refusal> {
    let Some(seconds) = ttl_seconds else {
        return Ok(now + MESSAGE_TTL);
    };
    if !(1..=LONGEST_TTL).contains(&seconds) {
        return Err(Refusal::NoTtl { seconds });
    }
    Ok(now + Duration::from_secs(seconds))
}

fn said(what: &'static str, text: &str) -> Result<(), Refusal> {
    if text.trim().is_empty() {
        Err(Refusal::SaysNothing { what })
    } else if text.len() > LONGEST {
        Err(Refusal::TooLong {
            what,
            bytes: text.len(),
        })
    } else {
        Ok(())
    }
}
