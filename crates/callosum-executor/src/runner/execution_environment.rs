//! [`ExecutionEnvironment`]: what a run gets from its caller.

use std::{ffi::OsString, path::PathBuf, sync::Arc, time::Duration};

use callosum_host::{Clock, Disk, process::Cancel};
use callosum_sandbox::{Connections, Reached};

use super::{
    limits::Timeouts,
    sandbox::{Confiner, LastTranscript},
};
use crate::registry::Executor;

/// Environment that an executor runs in.
#[derive(Clone, Debug)]
pub struct ExecutionEnvironment {
    /// The folder that it starts in: the tree that it is asked about.
    pub root: PathBuf,
    /// This program, for `{self}`.
    pub self_program: PathBuf,
    /// The environment from which some may be passed on.
    pub environment: Vec<(OsString, OsString)>,
    /// A private folder in which each run gets a folder of its own, removed afterwards.
    pub temporary: PathBuf,
    /// Confines executors as their entries require; without it they run with the caller's rights.
    pub confiner: Option<Arc<Confiner>>,
    /// Receives the connections that confined executors ask for.
    pub connections: Connections,
    /// Storage for the end of a sandboxed client's transcript, before its folder is removed.
    pub transcript: LastTranscript,
    /// Ends the run when asked.
    pub cancel: Cancel,
    /// Time limits of an executor whose entry sets none.
    pub patience: Timeouts,
    /// Least time for an answer to a handshake; zero if its own limits apply.
    pub slowest_handshake: Duration,
    /// Number of waits for a server that refuses for now, before its refusal is the answer.
    pub waits: u32,
    /// The longest time that a client may wait for rate limits in one run, all its waits added up.
    pub client_wait: Duration,
    /// The disk.
    pub disk: Disk,
    /// Decides whether a login that a sandboxed client renewed was about to expire.
    pub clock: Clock,
}

impl ExecutionEnvironment {
    /// Returns how far an executor that runs here is confined, as it is stored with its answer.
    pub fn reach(&self, executor: &Executor) -> Option<Reached> {
        match &self.confiner {
            Some(confiner) => confiner.reach(executor, &self.environment, &self.disk).ok(),
            None => Some(Reached::without_means(
                executor.confinement.unwrap_or_default(),
            )),
        }
    }
}
