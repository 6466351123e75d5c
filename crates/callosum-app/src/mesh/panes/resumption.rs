//! [`Resumption`]: sends "continue" to an agent after its account's limit has ended.
//!
//! Once per limit: a file of the machine names the resets that were used, and a reset is written there before the text
//! is sent. So neither a second process nor a restart sends it again, and a crash in between sends nothing.

use std::collections::HashSet;
use std::path::PathBuf;
use std::thread;

use callosum_config::{Environment, Homes};
use callosum_host::lock::LockFile;
use callosum_host::{Clock, Disk, Ids};
use callosum_mesh::Author;
use callosum_mesh::agent::AgentName;
use callosum_panes::inject::{Injection, Options, Receipt, prepare};
use callosum_panes::resume::{Reset, due};
use callosum_panes::sensor::Settings;
use callosum_panes::{Pane, Sensor};
use jiff::{SignedDuration, Timestamp};

use super::Machine;
use crate::mesh::inject::Injector;
use crate::{CommandError, disk_errors};

/// The text.
const CONTINUE: &str = "continue";

/// Name of the program in events.
const OWN: &str = "callosum";

/// Cause of a text that was sent, in its receipt.
const CAUSE: &str = "resume-after-limit";

/// Age at which a reset is forgotten. No limit lasts longer.
const FORGOTTEN: SignedDuration = SignedDuration::from_hours(14 * 24);

/// Means to send texts, and what was sent already.
#[derive(Clone, Debug)]
pub(super) struct Resumption {
    disk: Disk,
    clock: Clock,
    environment: Environment,
    homes: Homes,
    settings: Settings,
    already: HashSet<Reset>,
}

impl Resumption {
    pub(super) fn new(machine: &Machine<'_>, settings: Settings, clock: &Clock) -> Self {
        Self {
            disk: machine.disk.clone(),
            clock: clock.clone(),
            environment: machine.environment.clone(),
            homes: machine.homes.clone(),
            settings,
            already: HashSet::new(),
        }
    }

    /// Starts a thread for each pane whose limit has ended. Returns immediately.
    pub(super) fn update(&mut self, panes: &[Pane], now: Timestamp) {
        for pane in due(panes, &self.already, now) {
            let Some(reset) = Reset::awaited_by(pane) else {
                continue;
            };
            self.already.insert(reset.clone());
            match self.record(&reset, now) {
                Ok(true) => {}
                Ok(false) => continue,
                Err(error) => {
                    tracing::warn!(error = error.one_line(), "the agent is not resumed");
                    continue;
                }
            }
            let (own, pane) = (self.clone(), pane.clone());
            let started = thread::Builder::new().spawn(move || match own.send(&pane) {
                Ok(Some(receipt)) => {
                    tracing::info!(pane = pane.pane, outcome = ?receipt.outcome, "resumed");
                }
                Ok(None) => tracing::info!(pane = pane.pane, "no route to a limited agent"),
                Err(error) => {
                    tracing::warn!(error = error.one_line(), "the agent is not resumed");
                }
            });
            if let Err(error) = started {
                tracing::warn!(%error, "the agent is not resumed");
            }
        }
    }

    fn file(&self) -> PathBuf {
        self.homes.injections().join("resumes.json")
    }

    /// Writes down that a reset is used. Returns whether it was not before.
    fn record(&self, reset: &Reset, now: Timestamp) -> Result<bool, CommandError> {
        let failed = |error| disk_errors::disk_failed(&error);
        let disk = &self.disk;
        disk.create_private_dir(&self.homes.injections())
            .map_err(failed)?;
        let file = self.file();
        let lock = LockFile::private().try_acquire(disk, &file.with_extension("lock"));
        let Some(_lock) = lock.map_err(failed)? else {
            // Another process records one in this moment: it sees the same panes.
            return Ok(false);
        };
        let bytes = disk.read_if_there(&file).map_err(failed)?;
        let known = bytes.and_then(|bytes| serde_json::from_slice::<Vec<Reset>>(&bytes).ok());
        let mut resets = known.unwrap_or_default();
        if resets.iter().any(|known| known.is_same(reset)) {
            return Ok(false);
        }
        resets.retain(|known| now.duration_since(known.resets_at) < FORGOTTEN);
        resets.push(reset.clone());
        let text = serde_json::to_vec(&resets).map_err(CommandError::internal)?;
        disk.replace(&file, &text, 0o600).map_err(failed)?;
        Ok(true)
    }

    /// Sends the text by the client's mailbox or by tmux, and logs the receipt.
    fn send(&self, pane: &Pane) -> Result<Option<Receipt>, CommandError> {
        let ids = Ids::random();
        let injector = Injector {
            disk: &self.disk,
            clock: &self.clock,
            ids: &ids,
            environment: &self.environment,
            homes: &self.homes,
        };
        let mut sensor = Sensor::new(self.settings.clone(), self.disk.clone());
        sensor.look(self.clock.now());
        let injection = Injection {
            text: prepare(CONTINUE).map_err(CommandError::internal)?,
            options: Options {
                after_limit: true,
                ..Options::default()
            },
        };
        let receipt = match injector.mailbox(&sensor, pane) {
            Some(mut mailbox) => injector
                .by_mailbox(&sensor, pane, &injection, mailbox.as_mut())?
                .ok(),
            None => None,
        };
        let place = sensor.in_tmux(&pane.pane);
        let receipt = match (receipt, place) {
            (Some(receipt), _) => Some(receipt),
            (None, Some(place)) => Some(injector.by_tmux(&sensor, &place, &injection)?),
            (None, None) => None,
        };
        if let Some(receipt) = &receipt {
            let own: AgentName = OWN.parse().map_err(CommandError::internal)?;
            let to = pane.mesh_agent().unwrap_or("unknown");
            let voice = Author::of(own);
            injector.log(&voice, (to, &pane.pane), receipt, Some(CAUSE))?;
        }
        Ok(receipt)
    }
}
