//! [`Injector`]: sends a text to the client in a pane by its mailbox or by tmux, and logs the receipt.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use callosum_config::{Environment, Homes};
use callosum_host::{Clock, Disk, Ids};
use callosum_mesh::event::Draft;
use callosum_mesh::journal::Durability;
use callosum_mesh::{Author, mesh_store};
use callosum_panes::inject::mailbox::claude_socket::ClaudeSocket;
use callosum_panes::inject::mailbox::codex_queue::CodexQueue;
use callosum_panes::inject::mailbox::{Mailbox, Posted, Recipient, Screened, post};
use callosum_panes::inject::rate::Bucket;
use callosum_panes::inject::tmux::{InjectError, Target, inject};
use callosum_panes::inject::{DeliveryRoute, Injection, Outcome, Reason, Receipt};
use callosum_panes::program::Running;
use callosum_panes::tmux::Connection;
use callosum_panes::{Pane, Program, Sensor};

use super::SkippedOutput;
use crate::mesh::author_args::PERSON;
use crate::mesh::open;
use crate::{CommandError, Exit, disk_errors};

/// Topic of the event with the receipt.
const TOPIC: &str = "pane.inject";

/// Means to send texts.
pub(crate) struct Injector<'a> {
    pub(crate) disk: &'a Disk,
    pub(crate) clock: &'a Clock,
    pub(crate) ids: &'a Ids,
    pub(crate) environment: &'a Environment,
    pub(crate) homes: &'a Homes,
}

impl Injector<'_> {
    /// Takes a token of the pane's rate. Returns the refusal if there is none.
    pub(crate) fn rate(
        &self,
        pane: &Pane,
        injection: &Injection,
        route: DeliveryRoute,
    ) -> Result<Option<Receipt>, CommandError> {
        let failed = |error| disk_errors::disk_failed(&error);
        let folder = self.homes.injections();
        self.disk.create_private_dir(&folder).map_err(failed)?;
        let file = rate_file(&folder, pane);
        let bytes = self.disk.read_if_there(&file).map_err(failed)?;
        let now = self.clock.now();
        let known = bytes.and_then(|bytes| serde_json::from_slice::<Bucket>(&bytes).ok());
        let mut bucket = known.unwrap_or_else(|| Bucket::new(now));
        if let Err(wait) = bucket.take(now) {
            let wait_ms = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
            let reason = Reason::Rate { wait_ms };
            return Ok(Some(self.refusal(pane, injection, route, reason)));
        }
        if !injection.options.dry_run {
            let text = serde_json::to_vec(&bucket).map_err(CommandError::internal)?;
            self.disk
                .replace_unsynced(&file, &text, 0o600)
                .map_err(failed)?;
        }
        Ok(None)
    }

    /// Returns the receipt of an injection that was refused before it began.
    pub(crate) fn refusal(
        &self,
        pane: &Pane,
        injection: &Injection,
        route: DeliveryRoute,
        reason: Reason,
    ) -> Receipt {
        Receipt {
            pane: pane.pane.clone(),
            pid: pane.pid,
            route,
            bytes: injection.text.as_str().len(),
            at: self.clock.now(),
            steps: Vec::new(),
            enters: 0,
            took_ms: 0,
            outcome: Outcome::Refused {
                reason,
                text_left: false,
            },
        }
    }

    /// Returns the client's own mailbox, if it has one that is known.
    pub(crate) fn mailbox(&self, sensor: &Sensor, pane: &Pane) -> Option<Box<dyn Mailbox>> {
        let running = sensor.client(&pane.pane)?;
        match running.program {
            Program::Claude => {
                let session = sensor.claude_session(&running)?;
                Some(Box::new(ClaudeSocket::of(&session)?))
            }
            Program::Codex => Some(Box::new(CodexQueue {
                program: program(self.environment, "codex")?,
                thread: pane.session_id.clone()?,
                environment: self.variables(),
            })),
            Program::Gemini => None,
        }
    }

    fn variables(&self) -> Vec<(OsString, OsString)> {
        let variables = self.environment.iter();
        variables
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect()
    }

    /// Sends a text by the client's mailbox. A mailbox that took nothing is the error's inner value.
    pub(crate) fn by_mailbox(
        &self,
        sensor: &Sensor,
        pane: &Pane,
        injection: &Injection,
        mailbox: &mut dyn Mailbox,
    ) -> Result<Result<Receipt, SkippedOutput>, CommandError> {
        let route = mailbox.route();
        let skipped = |why: &str| Ok(Err(SkippedOutput::new(route, why.to_owned())));
        let Some(running) = sensor.client(&pane.pane) else {
            return skipped("the client has ended");
        };
        let place = sensor.in_tmux(&pane.pane);
        let mut connection = match (&place, sensor.tmux()) {
            (Some((socket, _, _)), Some(tmux)) => Some(
                Connection::open(tmux, socket)
                    .map_err(|error| CommandError::from_error(Exit::Environment, &error))?,
            ),
            _ => None,
        };
        let screen = match (&mut connection, &place, sensor.rules_of(running.program)) {
            (Some(connection), Some((_, id, _)), Some(rules)) => Some(Screened {
                connection,
                pane: id,
                rules,
            }),
            _ => None,
        };
        let folder = sensor.settings().claude_sessions.as_deref();
        let session = sensor.claude_session(&running);
        let recipient = Recipient {
            name: &pane.pane,
            running: &running,
            session_id: pane.session_id.as_deref(),
            state: pane.state,
            screen,
            claude_session: folder.zip(session.map(|session| session.pid)),
            hook_events: &self.homes.hook_events(),
            locks: &self.homes.injections(),
        };
        let posted = post(recipient, mailbox, injection, self.disk, self.clock);
        match posted.map_err(|error| failed(&error))? {
            Posted::Ended(receipt) => Ok(Ok(receipt)),
            Posted::Unavailable(why) => skipped(&why),
        }
    }

    /// Types a text into a pane of tmux.
    pub(crate) fn by_tmux(
        &self,
        sensor: &Sensor,
        (socket, id, running): &(PathBuf, String, Running),
        injection: &Injection,
    ) -> Result<Receipt, CommandError> {
        let rules = sensor.rules_of(running.program);
        let (Some(tmux), Some(rules)) = (sensor.tmux(), rules) else {
            return Err(CommandError::new(
                Exit::Environment,
                "tmux is not installed",
            ));
        };
        let mut connection = Connection::open(tmux, socket)
            .map_err(|error| CommandError::from_error(Exit::Environment, &error))?;
        let target = Target {
            pane: id,
            running,
            rules,
            locks: &self.homes.injections(),
        };
        let done = inject(
            &mut connection,
            &target,
            injection.clone(),
            self.disk,
            self.clock,
        );
        done.map_err(|error| failed(&error))
    }

    /// Logs a receipt, with the cause of an injection that no one asked for. The text is not in it.
    pub(crate) fn log(
        &self,
        voice: &Author,
        (to, name): (&str, &str),
        receipt: &Receipt,
        cause: Option<&str>,
    ) -> Result<(), CommandError> {
        let mut payload = serde_json::to_value(receipt).map_err(CommandError::internal)?;
        payload["to"] = to.into();
        payload["pane"] = name.into();
        if let Some(cause) = cause {
            payload["cause"] = cause.into();
        }
        let draft = Draft::read(&serde_json::json!({
            "type": TOPIC, "source": PERSON, "session_id": voice.session_id,
            "pane_id": voice.pane_id, "cwd": voice.cwd, "payload": payload,
        }));
        let mut draft = draft
            .map_err(|faults| CommandError::because(Exit::Internal, "invalid event", &faults))?;
        // Only the program itself may name itself as the source.
        draft.source = voice.agent.clone();
        let folder = self.homes.mesh();
        let mesh = mesh_store::open(self.disk, self.clock, self.ids, &folder);
        let mut mesh = mesh.map_err(|error| open::explain(&error))?;
        let published = mesh.publish(draft, Durability::Logged);
        published.map_err(|error| open::explain(&error))?;
        Ok(())
    }
}

fn failed(error: &InjectError) -> CommandError {
    match error {
        InjectError::Tmux(error) => CommandError::from_error(Exit::Environment, error),
        InjectError::Lock(error) => disk_errors::disk_failed(error),
    }
}

fn rate_file(folder: &Path, pane: &Pane) -> PathBuf {
    folder.join(format!("rate-{}.json", pane.pid))
}

/// Returns a program's file in the absolute folders of `$PATH`.
pub(crate) fn program(environment: &Environment, name: &str) -> Option<PathBuf> {
    let folders = environment.get("PATH")?;
    let mut files = std::env::split_paths(folders)
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(name));
    files.find(|file| file.is_file())
}
