//! [`Connection`]: report of a connection that an executor asked for.

use std::{
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use callosum_host::process::Heartbeat;

/// A connection that a confined executor asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Connection {
    /// The host, as it was asked for; empty where what was asked made no sense.
    pub host: String,
    /// The port.
    pub port: u16,
    /// Outcome.
    pub verdict: Verdict,
    /// Bytes that the executor sent.
    pub sent: u64,
    /// Bytes that it was sent.
    pub received: u64,
    /// Time that it was open.
    pub elapsed: Duration,
}

/// Outcome of a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The entry names the host, and it was reached.
    Allowed,
    /// It was not to be, for this reason.
    Denied(String),
    /// It was to be, and could not be made, for this reason.
    Failed(String),
}

/// Queue of reported connections. Clones share the queue.
#[derive(Clone, Debug, Default)]
pub struct Connections(Arc<Shared>);

/// State that clones share.
#[derive(Debug, Default)]
struct Shared {
    queue: Mutex<ConnectionQueue>,
    changed: Condvar,
    pulse: Heartbeat,
}

#[derive(Debug, Default)]
struct ConnectionQueue {
    /// Connections that were not taken yet.
    all: Vec<Connection>,
    is_over: bool,
}

impl Connections {
    /// Reports a connection.
    pub fn tell(&self, connection: Connection) {
        self.queue().all.push(connection);
        self.0.changed.notify_all();
    }

    /// Passes each connection to `seen` as it is reported, until [`end`](Self::end). For a thread
    /// of its own; no other thread may take any in that time.
    pub fn watch(&self, mut seen: impl FnMut(&Connection)) {
        let mut next = 0;
        let mut queue = self.queue();
        loop {
            let new: Vec<Connection> = queue.all.iter().skip(next).cloned().collect();
            next += new.len();
            let is_over = queue.is_over;
            drop(queue);
            new.iter().for_each(&mut seen);
            if is_over {
                return;
            }
            queue = self.queue();
            while queue.all.len() <= next && !queue.is_over {
                let changed = self.0.changed.wait(queue);
                queue = changed.unwrap_or_else(PoisonError::into_inner);
            }
        }
    }

    /// Beats with all that comes from a host by way of one.
    pub fn pulse(&self) -> &Heartbeat {
        &self.0.pulse
    }

    /// Ends the reports: [`watch`](Self::watch) returns.
    pub fn end(&self) {
        self.queue().is_over = true;
        self.0.changed.notify_all();
    }

    /// Returns the connections reported since the last call, in the order of their ends.
    pub fn take(&self) -> Vec<Connection> {
        std::mem::take(&mut self.queue().all)
    }

    fn queue(&self) -> MutexGuard<'_, ConnectionQueue> {
        // The list is consistent even if another thread panicked.
        self.0.queue.lock().unwrap_or_else(PoisonError::into_inner)
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

    /// Returns the reason for a refusal or failure.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::Allowed => None,
            Self::Denied(reason) | Self::Failed(reason) => Some(reason),
        }
    }
}
