//! [`post`]: leaves a text in a client's own mailbox, and waits for the proof that the client took it.
//!
//! A mailbox needs no keys, so it works outside tmux and leaves a person's keyboard alone. It gives no receipt: Claude
//! Code's socket answers nothing, and `codex queue` exits with 0 before the text arrives. The proof comes from elsewhere
//! ([`evidence`]). A text that was left and is not proven is [`Outcome::Unconfirmed`]; the caller must not send it by
//! another route, or it could arrive twice.

pub mod claude_socket;
pub mod codex_queue;
pub mod evidence;

use std::{
    path::Path,
    time::{Duration, Instant},
};

use callosum_host::{Clock, Disk, lock::LockFile};

use self::evidence::Sighting;
use super::{
    DeliveryRoute, Injection, Outcome, Phase, Reason, Receipt, Step, lock, sent,
    tmux::{self, InjectError, Target},
};
use crate::{
    claude_sessions,
    hook_event::{self, HookEvent},
    program::Running,
    rule::RuleSet,
    state::State,
    tmux::Connection,
};

/// Least time that is left for the proof once a text was left.
const PROOF: Duration = Duration::from_secs(3);

/// Time to wait for a hook that is slower than the screen.
const HOOK: Duration = Duration::from_millis(500);

/// A client's own way to take a message.
pub trait Mailbox {
    /// Returns its name in receipts.
    fn route(&self) -> DeliveryRoute;

    /// Checks that it can be reached, and leaves nothing. Returns why not.
    fn check(&self) -> Result<(), String>;

    /// Leaves a text. Success means that it was left, not that the client took it.
    fn leave(&mut self, text: &str) -> Result<(), MailboxError>;
}

/// Reasons that a text was not left, as far as is known.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MailboxError {
    /// Nothing was left. Another route may be tried.
    #[error("{0}")]
    Unavailable(String),
    /// The text may have been left.
    #[error("{0}")]
    Interrupted(String),
}

/// A client, and the places where it shows that it took a text.
#[derive(Debug)]
pub struct Recipient<'a> {
    /// Name of the pane.
    pub name: &'a str,
    /// The client. An injection ends if another process takes its place.
    pub running: &'a Running,
    /// Its session, if that is known.
    pub session_id: Option<&'a str>,
    /// Its state at the last look. The screen, if there is one, is newer.
    pub state: State,
    /// Its screen, if it is in tmux.
    pub screen: Option<Screened<'a>>,
    /// Folder of Claude Code's session files, and the process id that names this session's file. A launcher's client has
    /// another one than the launcher.
    pub claude_session: Option<(&'a Path, u32)>,
    /// Folder of the hooks' files.
    pub hook_events: &'a Path,
    /// Folder of the locks. It is created.
    pub locks: &'a Path,
}

/// A pane whose screen can be read.
#[derive(Debug)]
pub struct Screened<'a> {
    /// Connection to its server.
    pub connection: &'a mut Connection,
    /// The pane, such as `%3`.
    pub pane: &'a str,
    /// The rules that read the client's screens.
    pub rules: &'a RuleSet,
}

/// The result of [`post`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Posted {
    /// The injection ended.
    Ended(Receipt),
    /// Nothing was left, for this reason. Another route may be tried.
    Unavailable(String),
}

/// Leaves a text in a mailbox and waits for the proof that the client took it.
///
/// The client must be as ready as for typed keys: a dialog, a page, a draft or another program refuses. Takes up to
/// [`Timing::total`](super::Timing::total), and three seconds more if the client was slow to get ready.
pub fn post(
    mut recipient: Recipient<'_>,
    mailbox: &mut dyn Mailbox,
    injection: &Injection,
    disk: &Disk,
    clock: &Clock,
) -> Result<Posted, InjectError> {
    if let Err(why) = mailbox.check() {
        return Ok(Posted::Unavailable(why));
    }
    let at = clock.now();
    let mut progress = Progress {
        began: Instant::now(),
        steps: Vec::new(),
    };
    let receipt = |progress: Progress, route: DeliveryRoute, outcome: Outcome| {
        Posted::Ended(Receipt {
            pane: recipient.name.to_owned(),
            pid: recipient.running.process.pid,
            route,
            bytes: injection.text.as_str().len(),
            at,
            took_ms: progress.elapsed_ms(),
            steps: progress.steps,
            enters: 0,
            outcome,
        })
    };
    let route = mailbox.route();
    disk.create_private_dir(recipient.locks)?;
    let path = recipient.lock_path();
    let Some(_lock) = LockFile::private().try_acquire(disk, &path)? else {
        let outcome = refused(Reason::InFlight);
        return Ok(receipt(progress, route, outcome));
    };
    let ready = recipient.ready(injection, &mut progress, disk)?;
    if ready != Outcome::Possible || injection.options.dry_run {
        return Ok(receipt(progress, route, ready));
    }
    let before = recipient.sight(injection, disk);
    match mailbox.leave(injection.text.as_str()) {
        Ok(()) => {}
        Err(MailboxError::Unavailable(why)) => return Ok(Posted::Unavailable(why)),
        Err(MailboxError::Interrupted(seen)) => {
            let outcome = unconfirmed(seen);
            return Ok(receipt(progress, route, outcome));
        }
    }
    progress.note(Phase::Written, &format!("the text is in {}", name(route)));
    let outcome = recipient.prove(&before, injection, &mut progress, disk);
    Ok(receipt(progress, route, outcome))
}

impl Recipient<'_> {
    fn lock_path(&self) -> std::path::PathBuf {
        match &self.screen {
            Some(screen) => lock::path(self.locks, screen.connection.socket(), screen.pane),
            None => lock::path_outside_tmux(self.locks, self.running.process.pid),
        }
    }

    /// Waits until the client would take a text. Returns [`Outcome::Possible`], or the obstacle.
    fn ready(
        &mut self,
        injection: &Injection,
        progress: &mut Progress,
        disk: &Disk,
    ) -> Result<Outcome, InjectError> {
        if let Some(screen) = &mut self.screen {
            let target = Target {
                pane: screen.pane,
                running: self.running,
                rules: screen.rules,
                locks: self.locks,
            };
            let checked = tmux::check(screen.connection, &target, injection, progress.began)?;
            progress.steps = checked.1;
            return Ok(checked.0);
        }
        progress.note(
            Phase::Accepted,
            &format!("{} bytes", injection.text.as_str().len()),
        );
        let options = &injection.options;
        if let Some(sign) = injection.text.command().filter(|_| !options.commands) {
            return Ok(refused(Reason::Command { sign }));
        }
        if !tmux::is_there(self.running) {
            return Ok(refused(Reason::ProgramChanged));
        }
        // The client's own word is newer than the last look, but a dialog that either knows of counts.
        let own = self.session(disk).and_then(|session| session.state());
        let state = match (self.state, own) {
            (State::BlockedOnApproval, _) | (_, None) => self.state,
            (_, Some(own)) => own,
        };
        let is_ready = match state {
            State::TaskComplete | State::TrulyIdle => true,
            State::Working => options.while_working,
            State::UsageLimited => options.after_limit,
            _ => false,
        };
        if is_ready {
            progress.note(
                Phase::Queued,
                &format!("{state}; the screen cannot be read"),
            );
            return Ok(Outcome::Possible);
        }
        Ok(refused(match state {
            State::BlockedOnApproval => Reason::Dialog { detail: None },
            state => Reason::NotReady { state },
        }))
    }

    fn session(&self, disk: &Disk) -> Option<claude_sessions::ClaudeSession> {
        let (folder, pid) = self.claude_session?;
        claude_sessions::session(disk, folder, pid)
    }

    fn hook_event(&self, disk: &Disk) -> Option<HookEvent> {
        let client = self.running.program.short();
        hook_event::last(disk, self.hook_events, client, self.session_id?)
    }

    /// Looks at everything that could prove a submission.
    fn sight(&mut self, injection: &Injection, disk: &Disk) -> Sighting {
        let session = self.session(disk);
        let event = self.hook_event(disk);
        let mentions = self.mentions(injection);
        Sighting {
            event,
            status: session.and_then(|session| Some((session.state()?, session.since))),
            mentions,
        }
    }

    /// Counts the prompts on the screen that are the text. A screen that cannot be read proves nothing.
    fn mentions(&mut self, injection: &Injection) -> Option<usize> {
        let screen = self.screen.as_mut()?;
        let target = Target {
            pane: screen.pane,
            running: self.running,
            rules: screen.rules,
            locks: self.locks,
        };
        let glance = tmux::look(screen.connection, &target, &injection.text, Instant::now());
        let view = glance.ok()?.observation.view?;
        let collapsed = sent::is_collapsible(&injection.text).then_some(view.markers);
        Some(view.mentions + collapsed.unwrap_or_default())
    }

    /// Waits for the proof.
    fn prove(
        &mut self,
        before: &Sighting,
        injection: &Injection,
        progress: &mut Progress,
        disk: &Disk,
    ) -> Outcome {
        let total = injection.options.timing.total;
        let until = (progress.began + total).max(Instant::now() + PROOF);
        let mut is_submitted = false;
        let mut hook_until = None;
        loop {
            let now = self.sight(injection, disk);
            if !is_submitted
                && let Some(proof) = evidence::submission(before, &now, &injection.text)
            {
                progress.note(Phase::Submitted, &proof);
                is_submitted = true;
                // Without hooks, none will come.
                let has_hooks = before.event.is_some();
                hook_until = Some(Instant::now() + if has_hooks { HOOK } else { Duration::ZERO });
            }
            if is_submitted && let Some(proof) = evidence::hook(before, &now, &injection.text) {
                progress.note(Phase::Seen, &proof);
                return Outcome::Submitted;
            }
            if hook_until.is_some_and(|until| Instant::now() >= until) {
                return Outcome::Submitted;
            }
            if !is_submitted && !tmux::is_there(self.running) {
                return unconfirmed("the client ended before it showed the text".to_owned());
            }
            if Instant::now() >= until {
                return unconfirmed(format!(
                    "nothing shows that the client took the text ({now})"
                ));
            }
            std::thread::sleep(tmux::LOOK);
        }
    }
}

/// Phases of an injection so far.
struct Progress {
    began: Instant,
    steps: Vec<Step>,
}

impl Progress {
    fn elapsed_ms(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    fn note(&mut self, phase: Phase, evidence: &str) {
        self.steps.push(Step {
            phase,
            after_ms: self.elapsed_ms(),
            evidence: evidence.to_owned(),
        });
    }
}

const fn refused(reason: Reason) -> Outcome {
    Outcome::Refused {
        reason,
        text_left: false,
    }
}

const fn unconfirmed(seen: String) -> Outcome {
    Outcome::Unconfirmed {
        seen,
        text_left: false,
    }
}

const fn name(route: DeliveryRoute) -> &'static str {
    match route {
        DeliveryRoute::ClaudeSocket => "the session's socket",
        DeliveryRoute::CodexQueue => "the queue of `codex queue`",
        DeliveryRoute::Hook | DeliveryRoute::Tmux => "the client",
    }
}
