//! [`Command`]: change to the board that an author requests, with the checks that allow or reject it.

use std::time::Duration;

use callosum_redact::secrets::mask;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Map, Value};

use super::{
    Board, BoardError, Effect, LEASE, Receipt, Task,
    claim::{Holding, same},
};
use crate::{addressee::Addressee, agent::AgentName, author::Author};

/// Time that a message waits for delivery by default.
pub const MESSAGE_TTL: SignedDuration = SignedDuration::from_hours(7 * 24);

/// Longest that a message may wait, in seconds: a year.
const LONGEST_TTL: u64 = 366 * 24 * 60 * 60;

/// Most bytes of a prompt, a message or a discovery.
const LONGEST: usize = 32 * 1024;

/// Names that may cancel or remove anything: a person, and unidentified authors, such as someone
/// who edits the bridge file by hand.
const UNRULED: [&str; 2] = ["person", "unknown"];

/// Default priority of a task.
const USUAL_PRIORITY: i64 = 5;

/// Most tasks that one waits for.
pub(super) const MOST_NEEDS: usize = 64;

/// A task that is to be left.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NewTask {
    /// Its id.
    pub id: String,
    /// Agent to do it. Any agent if there is none.
    pub assigned_to: Option<AgentName>,
    /// Priority. Smaller numbers come first.
    pub priority: Option<i64>,
    /// Work to do.
    pub prompt: String,
    /// File for the result.
    pub output_file: Option<String>,
    /// Tasks that are to be complete before.
    pub needs: Vec<String>,
    /// Creator of the task, if it is not the author of the command.
    pub created_by: Option<AgentName>,
    /// Any other keys of the task.
    pub other: Map<String, Value>,
}

/// Change to the board that an author requests.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// Leave a task.
    Add(NewTask),
    /// Work on a task. One that is named, or the most urgent that this agent may claim.
    Claim {
        /// The task; whichever is next where none is named.
        task: Option<String>,
        /// Claim it even if it was assigned to another agent.
        anyway: bool,
        /// Fencing token from the fleet's server, without which a task that machines share is not claimed.
        fence: Option<u64>,
    },
    /// Give a task back to the queue.
    Release {
        /// The task.
        task: String,
        /// Reason for the release.
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
        /// Result of the work.
        result: Option<String>,
        /// Also where another agent has claimed it, was meant to do it, or has completed it.
        anyway: bool,
        /// The number of the claim under which it was done, where it is known.
        token: Option<u64>,
    },
    /// Record what became of an output file: an event from elsewhere, which is refused.
    SettleOutput {
        /// The task.
        task: String,
    },
    /// Take a task back.
    Cancel {
        /// The task.
        task: String,
        /// Reason for the cancellation.
        reason: String,
    },
    /// Changes keys of a task.
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
        to: Addressee,
        /// Text of the message.
        content: String,
        /// The message that it answers.
        reply_to: Option<String>,
        /// Seconds until the message becomes a dead letter, unless it is delivered before.
        /// [`MESSAGE_TTL`] by default.
        ttl_seconds: Option<u64>,
    },
    /// Take a message a step further.
    Move {
        /// The message.
        message: String,
        /// New receipt.
        receipt: Receipt,
        /// Evidence for the receipt.
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
        /// Text of the discovery.
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
        /// Purpose.
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
    /// Returns the effects of a command by this author at this time, or none if the board is in
    /// that state already.
    ///
    /// A claim is a compare-and-set: of two agents that claim the same task, one is rejected, since
    /// commands are decided one after the other, each on the board that the last one left.
    pub fn decide(
        &self,
        order: Command,
        voice: &Author,
        now: Timestamp,
    ) -> Result<Vec<Effect>, BoardError> {
        let by = &voice.agent;
        super::id::check(&order)?;
        Ok(match order {
            Command::Add(task) => {
                let is_ours = task.created_by.as_ref().is_some_and(AgentName::is_us);
                if is_ours && !by.is_us() {
                    return Err(BoardError::OurName);
                }
                // Events of the program itself repeat what an agent did, and that has its own
                // limits.
                if !by.is_us() && self.task(&task.id).is_none() {
                    self.room_for_task(&task)?;
                }
                self.add(task)?
            }
            Command::Claim {
                task,
                anyway,
                fence,
            } => {
                vec![self.claim(task.as_deref(), anyway, fence, voice, now)?]
            }
            Command::Release {
                task,
                reason,
                anyway,
                token,
            } => self.released(
                task,
                reason,
                &Holding {
                    voice,
                    anyway,
                    token,
                    now,
                },
            )?,
            Command::Complete {
                task,
                result,
                anyway,
                token,
            } => self.completed(
                task,
                result,
                &Holding {
                    voice,
                    anyway,
                    token,
                    now,
                },
            )?,
            Command::SettleOutput { task } => return Err(BoardError::NotYourReceipt { task }),
            Command::Cancel { task, reason } => self.cancelled(task, reason, voice, now)?,
            Command::Change { task, set } => {
                let deeds = self.change(task, set)?;
                if let [Effect::TaskChanged { task, set }] = deeds.as_slice()
                    && !by.is_us()
                {
                    self.room_for_change(self.known(task)?, set)?;
                }
                deeds
            }
            Command::Send {
                id,
                to,
                content,
                reply_to,
                ttl_seconds,
            } => {
                check_text("a message", &content)?;
                if let Some(known) = self.message(&id) {
                    if known.to == to && is_same(&known.content, &content) {
                        return Ok(Vec::new());
                    }
                    let what = "a message";
                    return Err(BoardError::SaysOther { what, id });
                }
                if !by.is_us() {
                    self.room_for_message(&content)?;
                }
                let obstacle = self.unreachable_reason(&to, now).filter(|_| !by.is_us());
                let dead = obstacle.map(|why| Effect::MessageMoved {
                    message: id.clone(),
                    receipt: Receipt::Dead,
                    evidence: Some(why),
                });
                let sent = Effect::MessageSent {
                    id,
                    to,
                    content,
                    reply_to,
                    ttl_seconds,
                    expires: Some(expires(now, ttl_seconds)?),
                };
                std::iter::once(sent).chain(dead).collect()
            }
            Command::Move {
                message,
                receipt,
                evidence,
            } => self.further(message, receipt, evidence, voice)?,
            Command::Retry { message } => {
                let known = self.known_message(&message)?;
                if known.receipt != Some(Receipt::Dead) {
                    return Err(BoardError::NotDead { message });
                }
                if let Some(why) = self.unreachable_reason(&known.to, now) {
                    return Err(BoardError::Unreachable { message, why });
                }
                if !by.is_us() {
                    self.room_for_message(&known.content)?;
                }
                let expires = Some(expires(now, known.ttl_seconds)?);
                vec![Effect::MessageRetried { message, expires }]
            }
            Command::Share { id, content } => {
                check_text("a discovery", &content)?;
                let known = self.discoveries.iter().find(|known| known.id == id);
                if let Some(known) = known {
                    if is_same(&known.content, &content) {
                        return Ok(Vec::new());
                    }
                    let what = "a discovery";
                    return Err(BoardError::SaysOther { what, id });
                }
                let id = Some(id);
                vec![Effect::Discovered { id, content }]
            }
            Command::Forget { discovery } => {
                let mut known = self.discoveries.iter();
                let Some(known) = known.find(|known| known.id == discovery) else {
                    return Ok(Vec::new());
                };
                takes_back("discovery", &discovery, by, &[Some(&known.source)])?;
                vec![Effect::DiscoveryRemoved { discovery }]
            }
            Command::Lease { path, why, anyway } => {
                self.leasable(&path, anyway, voice, now)?;
                let until = now + LEASE;
                vec![Effect::LeaseTaken { path, until, why }]
            }
            Command::Unlease {
                path,
                anyway,
                token,
            } => {
                self.leasable(&path, anyway, voice, now)?;
                let known = self.leases.iter().find(|lease| lease.path == path);
                if let Some(known) = known {
                    same(&path, token, known.token)?;
                }
                let deed = Effect::LeaseReleased { path };
                known.is_some().then_some(deed).into_iter().collect()
            }
            Command::SetField { key, value } => {
                let bytes = value.as_ref().map_or(0, |value| value.to_string().len());
                if bytes > LONGEST {
                    let what = "a key of the bridge file";
                    return Err(BoardError::TooLong { what, bytes });
                }
                if value.is_some() {
                    self.room_for_field(&key, bytes)?;
                }
                let is_new = self.fields.get(&key) != value.as_ref();
                let deed = Effect::FieldSet { key, value };
                is_new.then_some(deed).into_iter().collect()
            }
        })
    }

    /// Returns the undelivered messages that have expired, as dead letters. Notices of the program
    /// to one session are dropped instead.
    pub fn expired(&self, now: Timestamp) -> Vec<Effect> {
        let waiting = self.messages.iter();
        let waiting = waiting.filter(|message| message.receipt.is_none() && !message.is_foreign());
        let late = waiting.filter(|message| message.expires.is_some_and(|expires| expires <= now));
        late.map(|message| Effect::MessageMoved {
            message: message.id.clone(),
            receipt: if message.is_notice_to_session() {
                Receipt::Dropped
            } else {
                Receipt::Dead
            },
            evidence: Some(format!(
                "{} was not there to receive it in time",
                message.to
            )),
        })
        .collect()
    }

    pub(super) fn known(&self, id: &str) -> Result<&Task, BoardError> {
        self.task(id).ok_or_else(|| BoardError::NoSuchTask {
            task: id.to_owned(),
        })
    }

    fn known_message(&self, id: &str) -> Result<&super::Message, BoardError> {
        self.message(id).ok_or_else(|| BoardError::NoSuchMessage {
            message: id.to_owned(),
        })
    }

    fn add(&self, task: NewTask) -> Result<Vec<Effect>, BoardError> {
        check_text("a task", &task.prompt)?;
        if let Some(known) = self.task(&task.id) {
            // Who leaves it once more, not knowing whether it was left, finds it left.
            if is_left(known, &task) {
                return Ok(Vec::new());
            }
            return Err(BoardError::Taken { task: task.id });
        }
        if task.needs.len() > MOST_NEEDS {
            return Err(BoardError::TooManyNeeds);
        }
        if task.needs.contains(&task.id) {
            let circle = vec![task.id.clone(), task.id.clone()];
            let task = task.id;
            return Err(BoardError::Circle { task, circle });
        }
        // All other tasks that it needs exist already, so a longer cycle cannot arise here.
        for need in &task.needs {
            self.known(need)?;
        }
        Ok(vec![Effect::TaskAdded {
            id: task.id,
            assigned_to: task.assigned_to,
            priority: task.priority.unwrap_or(USUAL_PRIORITY),
            prompt: task.prompt,
            output_file: task.output_file,
            needs: task.needs,
            created_by: task.created_by,
            other: task.other,
        }])
    }

    fn further(
        &self,
        message: String,
        receipt: Receipt,
        evidence: Option<String>,
        voice: &Author,
    ) -> Result<Vec<Effect>, BoardError> {
        let known = self.known_message(&message)?;
        // Whose client does not say which session it is, is the agent all the same.
        let session = voice.session_id.as_ref().or(known.to.session.as_ref());
        let is_theirs = known.to.is(&voice.agent, session.map(String::as_str));
        let is_for_them = match receipt {
            Receipt::Delivered | Receipt::Seen | Receipt::Acked => is_theirs,
            // Only the board itself records that a message could not be delivered.
            Receipt::Dead => voice.agent.is_us(),
            Receipt::Dropped => {
                let owners = [Some(&known.from), Some(&known.to.agent)];
                takes_back("message", &message, &voice.agent, &owners)?;
                true
            }
        };
        if !is_for_them {
            return Err(BoardError::NotTheirs {
                message,
                to: known.to.clone(),
            });
        }
        // It never goes back. A dead one is raised by trying again, or by whom it was for: that agent is there.
        let is_read = known.receipt == Some(Receipt::Dead) && receipt == Receipt::Acked;
        let is_further = is_read || known.receipt.is_none_or(|reached| reached < receipt);
        let deed = Effect::MessageMoved {
            message,
            receipt,
            evidence,
        };
        Ok(is_further.then_some(deed).into_iter().collect())
    }
}

/// Fails if the agent is not an owner of the item: agents take back only what is theirs. A person
/// may take back anything, and an unidentified author is treated as a person.
pub(super) fn takes_back(
    what: &'static str,
    id: &str,
    by: &AgentName,
    owners: &[Option<&AgentName>],
) -> Result<(), BoardError> {
    let is_anybodys = by.is_us() || UNRULED.contains(&by.as_str());
    if is_anybodys || owners.contains(&Some(by)) {
        return Ok(());
    }
    let mut named: Vec<AgentName> = owners.iter().copied().flatten().cloned().collect();
    named.dedup();
    Err(BoardError::NotTheirsToTake {
        what,
        id: id.to_owned(),
        by: by.clone(),
        owners: named,
    })
}

/// When a message becomes a dead letter.
fn expires(now: Timestamp, ttl_seconds: Option<u64>) -> Result<Timestamp, BoardError> {
    let Some(seconds) = ttl_seconds else {
        return Ok(now + MESSAGE_TTL);
    };
    if !(1..=LONGEST_TTL).contains(&seconds) {
        return Err(BoardError::NoTtl { seconds });
    }
    Ok(now + Duration::from_secs(seconds))
}

/// Whether a task is the one that is to be left, in the same words.
fn is_left(known: &Task, task: &NewTask) -> bool {
    let place = (known.output_file.as_deref(), task.output_file.as_deref());
    let is_same_place = match place {
        (Some(known), Some(place)) => is_same(known, place),
        (known, place) => known == place,
    };
    is_same(&known.prompt, &task.prompt)
        && is_same_place
        && known.assigned_to == task.assigned_to
        && known.priority == task.priority.unwrap_or(USUAL_PRIORITY)
        && known.needs == task.needs
        && known.other == task.other
}

/// Whether a text is one that is kept, in which secrets are masked.
fn is_same(kept: &str, text: &str) -> bool {
    kept == text || kept == mask(text).text
}

pub(super) fn check_text(what: &'static str, text: &str) -> Result<(), BoardError> {
    if text.trim().is_empty() {
        Err(BoardError::SaysNothing { what })
    } else if text.len() > LONGEST {
        Err(BoardError::TooLong {
            what,
            bytes: text.len(),
        })
    } else {
        Ok(())
    }
}
