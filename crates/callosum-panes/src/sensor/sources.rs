//! [`Sources`]: information about sessions from files, read again only when they may have changed.

use std::time::{Duration, Instant};

use callosum_host::Disk;

use super::Settings;
use crate::{
    claude_sessions::{self, ClaudeSession},
    hook_event::{self, HookEvent},
    program::{Processes, Program, Running},
};

/// Time for which the files of Claude Code are used. The client rewrites them in place, so their
/// folder does not change.
const CLAUDE: Duration = Duration::from_millis(500);

#[derive(Debug, Default)]
pub(super) struct Sources {
    events: Vec<HookEvent>,
    /// When the folder of events had changed last.
    events_of: Option<std::time::SystemTime>,
    sessions: Vec<ClaudeSession>,
    sessions_at: Option<Instant>,
}

/// Contents of files about one client.
#[derive(Clone, Debug, Default)]
pub(super) struct About {
    pub(super) event: Option<HookEvent>,
    pub(super) session: Option<ClaudeSession>,
}

impl Sources {
    pub(super) fn read(&mut self, disk: &Disk, settings: &Settings) {
        let folder = &settings.hook_events;
        // Each event replaces a file, which changes the folder.
        let changed = std::fs::metadata(folder)
            .and_then(|folder| folder.modified())
            .ok();
        if changed.is_none() || changed != self.events_of {
            self.events = hook_event::read_all(disk, folder);
            self.events_of = changed;
        }
        if let Some(folder) = &settings.claude_sessions
            && self.sessions_at.is_none_or(|at| at.elapsed() >= CLAUDE)
        {
            self.sessions = claude_sessions::sessions(disk, folder);
            self.sessions_at = Some(Instant::now());
        }
    }

    /// Returns what is known of a client: its session's file, and the last event of that session or process.
    pub(super) fn about(&self, running: &Running, processes: &Processes) -> About {
        let process = &running.process;
        let is_own = |pid: u32, started: Option<u64>| {
            let is_same = pid == process.pid && started.is_none_or(|at| at == process.started);
            // A client may run its hooks from a process below it.
            let is_child = processes.is_below(pid, process.pid)
                && processes
                    .get(pid)
                    .is_some_and(|child| Some(child.started) == started);
            if is_child {
                return true;
            }
            // A launcher may be the parent that a hook found.
            is_same
                || processes.get(pid).is_some_and(|_| {
                    processes.is_below(process.pid, pid)
                        && started != Some(process.started)
                        && processes.get(pid).is_some_and(|above| {
                            above.tty == process.tty && Some(above.started) == started
                        })
                })
        };
        let session = self.sessions.iter().find(|session| {
            running.program == Program::Claude && is_own(session.pid, Some(session.started))
        });
        let by_session = session.and_then(|session| {
            let mut events = self.events.iter();
            events.find(|event| event.session_id == session.session_id)
        });
        let by_process = || {
            let own = self.events.iter().filter(|event| {
                event
                    .pid
                    .is_some_and(|pid| event.started.is_some() && is_own(pid, event.started))
            });
            own.max_by_key(|event| event.at)
        };
        About {
            event: by_session.or_else(by_process).cloned(),
            session: session.cloned(),
        }
    }
}
