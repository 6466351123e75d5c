//! [`Effect`]: change to the board that an event's type and payload describe.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::{Command, NewTask, OutputReceipt};
use crate::{
    addressee::Addressee,
    agent::AgentName,
    event::{Draft, Event},
};

/// Delivery state of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Receipt {
    /// A hook of the agent's client handed it over.
    Delivered,
    /// The agent continued after the delivery: its session has published an event since.
    Seen,
    /// The agent acknowledged it.
    Acked,
    /// It could not be delivered.
    Dead,
    /// A person, or its author, took it back.
    Dropped,
}

impl Receipt {
    /// Whether nothing is to be done for the message any more.
    pub fn is_over(self) -> bool {
        matches!(self, Self::Acked | Self::Dropped)
    }

    /// Its name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Delivered => "delivered",
            Self::Seen => "seen",
            Self::Acked => "acked",
            Self::Dead => "dead",
            Self::Dropped => "dropped",
        }
    }
}

/// Change that an event makes to the board. Its name is the event's type, and its fields are the
/// payload.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(tag = "type", content = "payload")]
pub enum Effect {
    /// A task was left (Seed CALC §4, layer 2).
    #[serde(rename = "calc.task_handoff")]
    TaskAdded {
        /// Its id.
        id: String,
        /// Agent to do it.
        #[serde(default)]
        assigned_to: Option<AgentName>,
        /// Priority.
        #[serde(default = "middle")]
        priority: i64,
        /// Work to do.
        prompt: String,
        /// File for the result.
        #[serde(default)]
        output_file: Option<String>,
        /// Tasks that are to be complete before.
        #[serde(default)]
        needs: Vec<String>,
        /// Creator of the task, if it is not the event's source.
        #[serde(default)]
        created_by: Option<AgentName>,
        /// Any other keys of the task.
        #[serde(default)]
        other: Map<String, Value>,
    },
    /// An agent works on a task.
    #[serde(rename = "calc.task.claimed")]
    TaskClaimed {
        /// The task.
        task: String,
        /// The agent.
        by: AgentName,
        /// Until when.
        #[serde(with = "crate::timestamp")]
        until: Timestamp,
        /// Fencing token of the claim, if machines share the task.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        fence: Option<u64>,
    },
    /// A task went back to the queue.
    #[serde(rename = "calc.task.released")]
    TaskReleased {
        /// The task.
        task: String,
        /// Reason for the release.
        reason: String,
        /// Fencing token of the claim, if machines share the task.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        fence: Option<u64>,
    },
    /// A task is done.
    #[serde(rename = "calc.task.completed")]
    TaskCompleted {
        /// The task.
        task: String,
        /// By whom.
        by: AgentName,
        /// Result of the work.
        #[serde(default)]
        result: Option<String>,
        /// Fencing token of the claim, if machines share the task.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        fence: Option<u64>,
    },
    /// The result of a task was written to its output file, or refused.
    #[serde(rename = "calc.task.output")]
    OutputSettled {
        /// The task.
        task: String,
        /// The receipt.
        #[serde(flatten)]
        receipt: OutputReceipt,
    },
    /// A task was taken back.
    #[serde(rename = "calc.task.cancelled")]
    TaskCancelled {
        /// The task.
        task: String,
        /// Reason for the cancellation.
        reason: String,
    },
    /// Keys of a task changed.
    #[serde(rename = "calc.task.changed")]
    TaskChanged {
        /// The task.
        task: String,
        /// The keys of the bridge file that changed, with what they are now.
        set: Map<String, Value>,
    },
    /// A message was sent.
    #[serde(rename = "calc.message")]
    MessageSent {
        /// Its id.
        id: String,
        /// To whom.
        to: Addressee,
        /// Text of the message.
        content: String,
        /// The message that it answers.
        #[serde(default)]
        reply_to: Option<String>,
        /// Seconds that it is worth handing over, where its author says so.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ttl_seconds: Option<u64>,
        /// Time at which it becomes a dead letter, unless it is delivered before. The board sets
        /// it.
        #[serde(
            default,
            skip_serializing_if = "Option::is_none",
            with = "crate::timestamp::optional"
        )]
        expires: Option<Timestamp>,
    },
    /// A message went a step further.
    #[serde(rename = "calc.message.receipt")]
    MessageMoved {
        /// The message.
        message: String,
        /// New receipt.
        receipt: Receipt,
        /// Evidence for the receipt: the hook that delivered the message, or the reason for a
        /// failed delivery.
        #[serde(default)]
        evidence: Option<String>,
    },
    /// A message waits to be delivered again.
    #[serde(rename = "calc.message.retried")]
    MessageRetried {
        /// The message.
        message: String,
        /// When it becomes a dead letter again; the board says it.
        #[serde(
            default,
            skip_serializing_if = "Option::is_none",
            with = "crate::timestamp::optional"
        )]
        expires: Option<Timestamp>,
    },
    /// Something was found out (Seed CALC §6, pattern 4).
    #[serde(rename = "calc.discovery")]
    Discovered {
        /// Its id.
        #[serde(default)]
        id: Option<String>,
        /// Text of the discovery.
        content: String,
    },
    /// A discovery was removed.
    #[serde(rename = "calc.discovery.removed")]
    DiscoveryRemoved {
        /// The discovery.
        discovery: String,
    },
    /// An agent works on a file.
    #[serde(rename = "calc.lease.taken")]
    LeaseTaken {
        /// The file, absolute.
        path: String,
        /// Until when.
        #[serde(with = "crate::timestamp")]
        until: Timestamp,
        /// Purpose of the lease.
        #[serde(default)]
        why: Option<String>,
    },
    /// An agent works on a file no longer.
    #[serde(rename = "calc.lease.released")]
    LeaseReleased {
        /// The file.
        path: String,
    },
    /// A key of the bridge file that is none of the lists has another value, or is gone.
    #[serde(rename = "calc.bridge.field")]
    FieldSet {
        /// The key.
        key: String,
        /// Its value.
        #[serde(default)]
        value: Option<Value>,
    },
}

/// The priority of a task whose author named none: between the seed's 1, and 9.
fn middle() -> i64 {
    5
}

impl Effect {
    /// Returns the effect of an event. Returns `None` if the event is about something else, or if
    /// its payload does not match its type.
    pub fn of(event: &Event) -> Option<Self> {
        (event.topic.class() == "calc").then_some(())?;
        let tagged = json!({ "type": event.topic, "payload": event.payload });
        let deed = serde_json::from_value(tagged).ok();
        deed.filter(super::id::is_named)
    }

    /// The order whose result it would be, for an event that came from elsewhere.
    pub(crate) fn into_order(self) -> Command {
        match self {
            Self::TaskAdded {
                id,
                assigned_to,
                priority,
                prompt,
                output_file,
                needs,
                created_by,
                other,
            } => Command::Add(NewTask {
                id,
                assigned_to,
                priority: Some(priority),
                prompt,
                output_file,
                needs,
                created_by,
                other,
            }),
            Self::TaskClaimed { task, .. } => Command::Claim {
                task: Some(task),
                anyway: false,
                fence: None,
            },
            Self::TaskReleased { task, reason, .. } => Command::Release {
                task,
                reason,
                anyway: false,
                token: None,
            },
            Self::TaskCompleted { task, result, .. } => Command::Complete {
                task,
                result,
                anyway: false,
                token: None,
            },
            Self::OutputSettled { task, .. } => Command::SettleOutput { task },
            Self::TaskCancelled { task, reason } => Command::Cancel { task, reason },
            Self::TaskChanged { task, set } => Command::Change { task, set },
            Self::MessageSent {
                id,
                to,
                content,
                reply_to,
                ttl_seconds,
                ..
            } => Command::Send {
                id,
                to,
                content,
                reply_to,
                ttl_seconds,
            },
            Self::MessageMoved {
                message,
                receipt,
                evidence,
            } => Command::Move {
                message,
                receipt,
                evidence,
            },
            Self::MessageRetried { message, .. } => Command::Retry { message },
            Self::Discovered { id, content } => Command::Share {
                id: id.unwrap_or_default(),
                content,
            },
            Self::DiscoveryRemoved { discovery } => Command::Forget { discovery },
            Self::LeaseTaken { path, why, .. } => Command::Lease {
                path,
                why,
                anyway: false,
            },
            Self::LeaseReleased { path } => Command::Unlease {
                path,
                anyway: false,
                token: None,
            },
            Self::FieldSet { key, value } => Command::SetField { key, value },
        }
    }

    /// The event that says so.
    pub(crate) fn draft(&self, source: &AgentName) -> Draft {
        let Ok(Value::Object(mut tagged)) = serde_json::to_value(self) else {
            unreachable!("a deed is written as an object")
        };
        let topic = tagged.remove("type");
        let topic = topic.and_then(|topic| topic.as_str()?.parse().ok());
        let payload = match tagged.remove("payload") {
            Some(Value::Object(payload)) => payload,
            _ => Map::new(),
        };
        Draft::new(topic.expect("a deed's name is a topic"), source.clone()).with_payload(payload)
    }
}
