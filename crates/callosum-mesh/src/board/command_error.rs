//! [`BoardError`]: reason for rejecting a command.

use jiff::Timestamp;

use super::Status;
use crate::{
    addressee::Addressee,
    agent::AgentName,
    quotation::{one_line, quoted},
};

/// Reason for rejecting a command.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BoardError {
    /// There is no such task.
    #[error("task `{task}` does not exist")]
    NoSuchTask {
        /// The id that was named.
        task: String,
    },
    /// There is no such message.
    #[error("message `{message}` does not exist")]
    NoSuchMessage {
        /// The id that was named.
        message: String,
    },
    /// The id of a new item is not valid.
    #[error("`{}` is not an id for {what}: use one word of at most 128 letters, digits, `.`, `_`, \
        `-`, `:`, `/`, `@` and `+`", .found.escape_debug())]
    NoId {
        /// Kind of item.
        what: &'static str,
        /// Its beginning.
        found: String,
    },
    /// The id of a new item looks like a secret, which is never stored.
    #[error("`{}` is not an id for {what}: it contains a secret, which is never stored", .found.escape_debug())]
    SecretId {
        /// Kind of item.
        what: &'static str,
        /// The id without the secret.
        found: String,
    },
    /// There is a task of this id already.
    #[error("task `{task}` already exists")]
    Taken {
        /// The id.
        task: String,
    },
    /// This id already exists with different content.
    #[error("{what} `{id}` already exists with different content")]
    SaysOther {
        /// Kind of item.
        what: &'static str,
        /// The id.
        id: String,
    },
    /// Another agent works on it.
    #[error("task `{task}` is claimed by {by} until {until}")]
    ClaimedBy {
        /// The task.
        task: String,
        /// The agent.
        by: AgentName,
        /// When its claim runs out.
        until: Timestamp,
    },
    /// Other machines see the task, and the fleet's server has not given it to this one.
    #[error(
        "task `{task}` is shared with other machines, and the fleet's server decides who claims it"
    )]
    Shared {
        /// The task.
        task: String,
    },
    /// The claim with this token has ended, and no one has taken the task since.
    #[error("task `{task}` went back to the queue, and claim {named} ended")]
    Lost {
        /// The task.
        task: String,
        /// The number that was named.
        named: u64,
    },
    /// The number that was named is not that of the claim or lease that holds now.
    #[error("{what} is now held under token {now}, not {named}: it was lost and taken again")]
    Stale {
        /// Task or file that is held.
        what: String,
        /// The number that was named.
        named: u64,
        /// The one that holds.
        now: u64,
    },
    /// It was left for another agent.
    #[error("task `{task}` is assigned to {agent}")]
    MeantFor {
        /// The task.
        task: String,
        /// The agent.
        agent: AgentName,
    },
    /// Others are to be complete before it.
    #[error("task `{task}` waits for {}", .needs.join(", "))]
    WaitsFor {
        /// The task.
        task: String,
        /// Tasks that it waits for.
        needs: Vec<String>,
    },
    /// Nothing is to be done for it any more.
    #[error("task `{task}` is {}", .status.as_str())]
    IsOver {
        /// The task.
        task: String,
        /// Final status.
        status: Status,
    },
    /// Another agent has completed it, with another result.
    #[error("task `{task}` is complete{}, and already has a result", .by.as_ref().map(|by| format!(": {by} did it")).unwrap_or_default())]
    DoneBy {
        /// The task.
        task: String,
        /// The agent, where it is known.
        by: Option<AgentName>,
    },
    /// The path to lease is not an absolute path of a file.
    #[error("`{path}` is not an absolute path of a file")]
    NoPath {
        /// Its beginning.
        path: String,
    },
    /// The path to lease is a folder. A lease on it would cover no file in it.
    #[error("`{path}` is a folder: a lease covers one file")]
    Folder {
        /// The folder.
        path: String,
    },
    /// Another agent works on the file.
    #[error("{by} works on {} until {until}{}", one_line(path), .why.as_ref().map(|why| format!(": {}", quoted(why))).unwrap_or_default())]
    LeasedBy {
        /// The file.
        path: String,
        /// The agent.
        by: AgentName,
        /// When its lease ends.
        until: Timestamp,
        /// Purpose of the lease.
        why: Option<String>,
    },
    /// No task waits for this agent.
    #[error("no task is waiting to be claimed")]
    NothingToDo,
    /// A task would wait for itself.
    #[error("task `{task}` would wait for itself: {}", .circle.join(" → "))]
    Circle {
        /// The task.
        task: String,
        /// The tasks that would wait for one another, each before what it needs; the first is also the last.
        circle: Vec<String>,
    },
    /// More than may be waited for.
    #[error("a task may need at most 64 others")]
    TooManyNeeds,
    /// A key of a task has a value that it cannot have.
    #[error("`{key}` of a task must be {wanted}")]
    NoValue {
        /// The key.
        key: String,
        /// Values that are allowed.
        wanted: &'static str,
    },
    /// No agent is configured for this category of tasks.
    #[error("there is no category {found} (allowed: {})", .allowed.join(", "))]
    NoCategory {
        /// Value that was found, as JSON.
        found: String,
        /// The categories that there are.
        allowed: Vec<String>,
    },
    /// The message is addressed to someone else.
    #[error("message `{message}` was sent to {to}")]
    NotTheirs {
        /// The message.
        message: String,
        /// To whom.
        to: Addressee,
    },
    /// The item belongs to another agent, so this one cannot take it back.
    #[error("{what} `{id}` does not belong to {by}, but to {}", .owners.iter().map(AgentName::as_str).collect::<Vec<_>>().join(" or "))]
    NotTheirsToTake {
        /// Kind of item.
        what: &'static str,
        /// Its id.
        id: String,
        /// Agent that tried.
        by: AgentName,
        /// Owners of the item.
        owners: Vec<AgentName>,
    },
    /// A task has no result to write to a file.
    #[error("task `{task}` {why}")]
    NoOutput {
        /// The task.
        task: String,
        /// The reason.
        why: &'static str,
    },
    /// Receipts for output files come from the program alone.
    #[error("only Callosum itself records the output file of task `{task}`")]
    NotYourReceipt {
        /// The task.
        task: String,
    },
    /// Only the program itself speaks in its own name.
    #[error("only Callosum itself may use the name `callosum`")]
    OurName,
    /// A task that must be complete first was canceled.
    #[error("task `{task}` needs {}, which was canceled and will never complete: change its \
        `needs` in the bridge file, or cancel it", .needs.join(", "))]
    NeedsWhatIsGone {
        /// The task.
        task: String,
        /// Tasks that were canceled.
        needs: Vec<String>,
    },
    /// A message is not dead.
    #[error("message `{message}` is not a dead letter")]
    NotDead {
        /// The message.
        message: String,
    },
    /// The message still cannot reach its recipient.
    #[error("message `{message}` remains a dead letter: {why}")]
    Unreachable {
        /// The message.
        message: String,
        /// Reason.
        why: String,
    },
    /// A message would wait for too long, or not at all.
    #[error("a message may wait 1 to 31,622,400 seconds, not {seconds}")]
    NoTtl {
        /// Requested lifetime.
        seconds: u64,
    },
    /// A text is empty.
    #[error("{what} is empty")]
    SaysNothing {
        /// Kind of text.
        what: &'static str,
    },
    /// A text is too long.
    #[error("{what} has {bytes} bytes, more than 32,768")]
    TooLong {
        /// Kind of text.
        what: &'static str,
        /// Its bytes.
        bytes: usize,
    },
    /// There are too many items that no one has taken yet.
    #[error(
        "the board is full: it has {count} {what} with {bytes} bytes (limits: 2,000, and \
         2,097,152 bytes)"
    )]
    Full {
        /// Of what.
        what: &'static str,
        /// So many there are.
        count: usize,
        /// Bytes of their words.
        bytes: usize,
    },
    /// There is no room for more of other keys in the bridge file.
    #[error("the other keys of the bridge file would have {bytes} bytes in total (limit: 262,144)")]
    TooManyFields {
        /// Bytes of all of them.
        bytes: usize,
    },
}
