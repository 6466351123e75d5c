//! [`Server`]: all that this crate asks of a server, so that decisions are tested without one.

use std::time::Duration;

use jiff::Timestamp;

/// Message that a stream has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredMessage {
    /// Its place in the stream.
    pub sequence: u64,
    /// Its contents.
    pub body: Vec<u8>,
}

/// Outcome of a publication.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Published {
    /// The stream has it at this place.
    At(u64),
    /// Another message of the subject came before it.
    Conflict,
}

/// Message that a consumer got. It comes again unless it is acknowledged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// Its place in the stream.
    pub sequence: u64,
    /// Its subject.
    pub subject: String,
    /// Its contents.
    pub body: Vec<u8>,
}

/// Value of a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyEntry {
    /// Number of the change, which grows with each change of any key.
    pub revision: u64,
    /// The value.
    pub value: Vec<u8>,
    /// Time of the change, by the server's clock.
    pub changed: Timestamp,
}

/// Place of a machine in the stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// The last place up to which this machine has acknowledged every message.
    pub through: u64,
    /// Number of messages that it has not acknowledged.
    pub pending: u64,
}

/// A stream, a consumer of it and a key-value bucket: those of one machine in one workspace.
pub trait Server {
    /// Returns the last message of a subject.
    fn last(&mut self, subject: &str) -> Result<Option<StoredMessage>, ServerError>;

    /// Returns the first message of a subject at this place of the stream or after it.
    fn next(&mut self, subject: &str, from: u64) -> Result<Option<StoredMessage>, ServerError>;

    /// Publishes a message if the last message of the subject is at `after` (0: if there is none). A message with the id of
    /// one before is not stored again.
    fn publish(
        &mut self,
        subject: &str,
        id: &str,
        after: u64,
        body: Vec<u8>,
    ) -> Result<Published, ServerError>;

    /// Returns messages that were not acknowledged yet, in the order of the stream. Waits at most this long for the first.
    fn pull(&mut self, most: usize, wait: Duration) -> Result<Vec<Delivery>, ServerError>;

    /// Acknowledges messages of the last pull, and waits until the server knows.
    fn acknowledge(&mut self, sequences: &[u64]) -> Result<(), ServerError>;

    /// Has a message of the last pull delivered again soon.
    fn retry(&mut self, sequence: u64) -> Result<(), ServerError>;

    /// Returns the value of a key.
    fn entry(&mut self, key: &str) -> Result<Option<KeyEntry>, ServerError>;

    /// Sets a key if its last change is `revision` (0: if it has no value). Returns the new revision; `None` if someone else
    /// changed it.
    fn set(&mut self, key: &str, revision: u64, value: Vec<u8>)
    -> Result<Option<u64>, ServerError>;

    /// Sets keys that have no value yet, all at once. Returns of each whether it was set.
    fn create(&mut self, keys: Vec<(String, Vec<u8>)>) -> Result<Vec<bool>, ServerError> {
        let created = keys.into_iter().map(|(key, value)| {
            let revision = self.set(&key, 0, value)?;
            Ok(revision.is_some())
        });
        created.collect()
    }

    /// Sets a key, with any value before.
    fn put(&mut self, key: &str, value: Vec<u8>) -> Result<u64, ServerError>;

    /// Returns the keys that begin with this text and a dot.
    fn keys(&mut self, prefix: &str) -> Result<Vec<String>, ServerError>;

    /// Returns how far this machine is in the stream.
    fn progress(&mut self) -> Result<Progress, ServerError>;

    /// Removes what the server keeps for this machine: its consumer and its presence. Its events stay.
    fn leave(&mut self) -> Result<(), ServerError>;

    /// Version of the server.
    fn version(&self) -> String;

    /// Number of servers that keep each event.
    fn replicas(&self) -> usize;
}

/// Error of a server or the connection.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ServerError {
    /// No server answers.
    #[error("no server answers at {servers}: {reason}")]
    Unreachable {
        /// The addresses.
        servers: String,
        /// The fault.
        reason: String,
    },
    /// The server does not accept the credentials, or the machine may not do this.
    #[error("the server refuses this machine: {reason}")]
    Refused {
        /// The fault.
        reason: String,
    },
    /// The server does not have what the workspace needs.
    #[error("the server has no workspace `{workspace}`: {reason}")]
    NoWorkspace {
        /// The workspace.
        workspace: String,
        /// The fault.
        reason: String,
    },
    /// The server is older than this crate needs.
    #[error("the server is NATS {found}; 2.11 or newer is needed")]
    Old {
        /// Its version.
        found: String,
    },
    /// The server answered with something else.
    #[error("the server failed: {reason}")]
    Failed {
        /// The fault.
        reason: String,
    },
}

impl ServerError {
    /// Whether the server refuses the credentials: to ask again at once would change nothing.
    pub fn is_refusal(&self) -> bool {
        matches!(self, Self::Refused { .. })
    }
}
