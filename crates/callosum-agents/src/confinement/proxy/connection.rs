//! [`Connection`]: what is told of one that an executor asked for.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

/// A connection that a confined executor asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Connection {
    /// The host, as it was asked for; empty where what was asked made no sense.
    pub host: String,
    /// The port.
    pub port: u16,
    /// What came of it.
    pub verdict: Verdict,
    /// Bytes that the executor sent.
    pub sent: u64,
    /// Bytes that it was sent.
    pub received: u64,
    /// How long it was open.
    pub elapsed: Duration,
}

/// What came of a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The entry names the host, and it was reached.
    Allowed,
    /// It was not to be, for this reason.
    Denied(String),
    /// It was to be, and could not be made, for this reason.
    Failed(String),
}

/// Where connections are told. Clones tell the same place.
#[derive(Clone, Debug, Default)]
pub struct Connections(Arc<Mutex<Vec<Connection>>>);

impl Connections {
    /// Tells one.
    pub fn tell(&self, connection: Connection) {
        self.all().push(connection);
    }

    /// Those that were told since the last time, in the order of their ends.
    pub fn take(&self) -> Vec<Connection> {
        std::mem::take(&mut *self.all())
    }

    fn all(&self) -> std::sync::MutexGuard<'_, Vec<Connection>> {
        // A list is whole whoever panicked beside it.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Verdict {
    /// Its name in the journal.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Allowed => "connected",
            Self::Denied(_) => "connection_denied",
            Self::Failed(_) => "connection_failed",
        }
    }

    /// Why not.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::Allowed => None,
            Self::Denied(reason) | Self::Failed(reason) => Some(reason),
        }
    }
}
