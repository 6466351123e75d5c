//! [`Connection`]: what is told of one that an executor asked for.

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
pub struct Connections(Arc<Shared>);

/// What clones have in common.
#[derive(Debug, Default)]
struct Shared {
    told: Mutex<ConnectionQueue>,
    changed: Condvar,
    pulse: Heartbeat,
}

#[derive(Debug, Default)]
struct ConnectionQueue {
    /// Those that nobody has taken.
    all: Vec<Connection>,
    is_over: bool,
}

impl Connections {
    /// Tells one.
    pub fn tell(&self, connection: Connection) {
        self.told().all.push(connection);
        self.0.changed.notify_all();
    }

    /// Hands over each connection when it is told, until [`end`](Self::end). For a thread of its own, beside which
    /// nobody takes any.
    pub fn watch(&self, mut seen: impl FnMut(&Connection)) {
        let mut next = 0;
        let mut told = self.told();
        loop {
            let new: Vec<Connection> = told.all.iter().skip(next).cloned().collect();
            next += new.len();
            let is_over = told.is_over;
            drop(told);
            new.iter().for_each(&mut seen);
            if is_over {
                return;
            }
            told = self.told();
            while told.all.len() <= next && !told.is_over {
                let changed = self.0.changed.wait(told);
                told = changed.unwrap_or_else(PoisonError::into_inner);
            }
        }
    }

    /// Beats with all that comes from a host by way of one.
    pub(crate) fn pulse(&self) -> &Heartbeat {
        &self.0.pulse
    }

    /// Says that no more are to be watched for.
    pub fn end(&self) {
        self.told().is_over = true;
        self.0.changed.notify_all();
    }

    /// Those that were told since the last time, in the order of their ends.
    pub fn take(&self) -> Vec<Connection> {
        std::mem::take(&mut self.told().all)
    }

    fn told(&self) -> MutexGuard<'_, ConnectionQueue> {
        // A list is whole whoever panicked beside it.
        self.0.told.lock().unwrap_or_else(PoisonError::into_inner)
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
