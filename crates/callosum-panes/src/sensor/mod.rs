//! [`Sensor`]: looks at every agent on this machine, again and again.
//!
//! One look lists the panes of each tmux server, reads the screens that belong to clients, and joins them with the
//! table of processes, the files of hooks and those of Claude Code. Twelve panes cost about 2 ms.

mod known;
mod servers;
mod sources;

use std::{
    collections::HashMap,
    fmt,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

use callosum_host::{Disk, process::table};
use jiff::Timestamp;

use self::{
    known::{Captured, ClientPane, Known},
    servers::{Listed, Server},
    sources::Sources,
};
use crate::{
    claude_sessions::ClaudeSession,
    pane::Pane,
    program::{Processes, Program, Running},
    registry::Registry,
    rule::RuleSet,
    state::State,
    tmux::{Tmux, TmuxPane, is_default},
};

/// Time for which a table of processes is used, unless a pane's program changes.
const PROCESSES: Duration = Duration::from_secs(5);

/// Interval at which clients are looked up in the table of processes.
const ENDED: Duration = Duration::from_secs(1);

/// Time for which an agent that has ended is still listed.
const MOURNED: jiff::SignedDuration = jiff::SignedDuration::from_secs(600);

/// Places that a sensor reads.
#[derive(Clone, Debug)]
pub struct Settings {
    /// tmux, if it is installed.
    pub tmux: Option<Tmux>,
    /// Folder of tmux's sockets: `/tmp/tmux-UID`.
    pub sockets: PathBuf,
    /// Socket of the server that this process runs in.
    pub current_socket: Option<PathBuf>,
    /// Folder of Claude Code's session files.
    pub claude_sessions: Option<PathBuf>,
    /// Folder of the hooks' files.
    pub hook_events: PathBuf,
    /// The rules of each client.
    pub rules: Vec<(Program, RuleSet)>,
    /// Reads the moment at which a limit ends.
    pub reset_time: ResetTime,
}

/// Returns the moment at which a limit ends, from the client's words and now.
#[derive(Clone)]
pub struct ResetTime(pub Arc<ReadTime>);

/// A function that reads a moment from words.
pub type ReadTime = dyn Fn(&str, Timestamp) -> Option<Timestamp> + Send + Sync;

impl Settings {
    /// Returns the rules of a client.
    fn rules_of(&self, program: Program) -> Option<&RuleSet> {
        let mut rules = self.rules.iter();
        rules
            .find(|(known, _)| *known == program)
            .map(|(_, rules)| rules)
    }
}

impl fmt::Debug for ResetTime {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("ResetTime")
    }
}

/// Result of one look.
#[derive(Clone, Debug)]
pub struct Look {
    /// Every agent, those in tmux first.
    pub panes: Vec<Pane>,
    /// Places that could not be read, each with the reason.
    pub notes: Vec<String>,
    /// Panes whose state is another one than at the last look.
    pub changed: Vec<String>,
    /// Whether a change waits for another look.
    pub is_unsettled: bool,
}

impl Look {
    /// Whether an agent is at work, so that the next look should come soon.
    pub fn is_busy(&self) -> bool {
        self.panes
            .iter()
            .any(|pane| matches!(pane.state, State::Working | State::BlockedOnApproval))
    }
}

/// Looks at agents and remembers what it saw.
#[derive(Debug)]
pub struct Sensor {
    settings: Settings,
    disk: Disk,
    servers: HashMap<PathBuf, Server>,
    processes: Processes,
    processes_at: Option<Instant>,
    /// When it was last looked up whether clients have ended.
    ended_at: Option<Instant>,
    /// Program in each pane, by server and pane.
    clients: HashMap<(PathBuf, String), Client>,
    /// Every client with a terminal, as the table of processes had them.
    with_terminal: Vec<Running>,
    known: HashMap<ClientPane, Known>,
    sources: Sources,
}

/// Program in a pane of tmux.
#[derive(Debug)]
struct Client {
    /// The process that the pane started.
    pid: u32,
    /// Name of the program in the foreground.
    command: String,
    /// The client, if there is one.
    running: Option<Running>,
    /// Whether it had ended at this look.
    has_ended: bool,
}

impl Sensor {
    /// Returns a sensor that has not looked yet.
    pub fn new(settings: Settings, disk: Disk) -> Self {
        Self {
            settings,
            disk,
            servers: HashMap::new(),
            processes: Processes::default(),
            processes_at: None,
            ended_at: None,
            clients: HashMap::new(),
            with_terminal: Vec::new(),
            known: HashMap::new(),
            sources: Sources::default(),
        }
    }

    /// Takes over since when the states of a registry have lasted, for agents that are in the same state now.
    pub fn resume(&mut self, registry: &Registry) {
        for known in self.known.values_mut() {
            let pane = registry
                .panes
                .iter()
                .find(|pane| pane.pane == known.pane.pane && pane.pid == known.pane.pid);
            if let Some(pane) = pane {
                known.resume(pane);
            }
        }
    }

    /// Looks at everything once.
    pub fn look(&mut self, now: Timestamp) -> Look {
        let mut notes = Vec::new();
        let listed = self.list(&mut notes);
        self.read_processes(&listed);
        let mut seen = Vec::new();
        let mut changed = Vec::new();
        let mut in_tmux = Vec::new();
        for Listed {
            socket,
            snapshot,
            early,
        } in listed
        {
            let clients = self.clients_of(&socket, &snapshot.panes);
            let read = (snapshot.screens, early);
            let mut screens = self.screens(&socket, &clients, read, &mut notes);
            self.color(&socket, &clients, &mut screens, &mut notes);
            for (client, screen) in clients.into_iter().zip(screens) {
                in_tmux.push(client.running.process.pid);
                if self.update(
                    &client.place,
                    Some(client.pane),
                    &client.running,
                    screen,
                    now,
                ) {
                    changed.push(client.place.name());
                }
                seen.push(client.place);
            }
        }
        for running in self.outside_tmux(&in_tmux) {
            let place = ClientPane::outside_tmux(&running);
            let why = match self.settings.tmux {
                Some(_) => "not in tmux, so the screen cannot be read",
                None => "tmux is not installed, so the screen cannot be read",
            };
            let why = why.to_owned();
            if self.update(&place, None, &running, Err(why), now) {
                changed.push(place.name());
            }
            seen.push(place);
        }
        self.end_others(&seen, now, &mut changed);
        let mut panes: Vec<&Known> = self.known.values().collect();
        panes.sort_by_cached_key(|known| known.order());
        Look {
            is_unsettled: panes.iter().any(|known| known.tracker.is_unsettled()),
            panes: panes.into_iter().map(|known| known.pane.clone()).collect(),
            notes,
            changed,
        }
    }

    /// Returns where a pane of tmux is, by its name from the last look: the server, its id there, and the client in it.
    pub fn in_tmux(&self, name: &str) -> Option<(PathBuf, String, Running)> {
        self.clients
            .iter()
            .find_map(|((socket, id), Client { running, .. })| {
                let is_it = pane_name(socket, &self.settings.sockets, id) == name;
                Some((
                    socket.clone(),
                    id.clone(),
                    running.clone().filter(|_| is_it)?,
                ))
            })
    }

    /// Returns the client in a pane of this name at the last look, in tmux or elsewhere.
    pub fn client(&self, name: &str) -> Option<Running> {
        if let Some((_, _, running)) = self.in_tmux(name) {
            return Some(running);
        }
        let pid = name.strip_prefix("pid:")?.parse().ok();
        let mut clients = self.with_terminal.iter();
        clients
            .find(|running| Some(running.process.pid) == pid)
            .cloned()
    }

    /// Returns the session file of a client at the last look. A launcher's client may be a process below it.
    pub fn claude_session(&self, running: &Running) -> Option<ClaudeSession> {
        self.sources.about(running, &self.processes).session
    }

    /// Returns where this sensor looks.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Returns the rules of a client.
    pub fn rules_of(&self, program: Program) -> Option<&RuleSet> {
        self.settings.rules_of(program)
    }

    /// Returns how tmux is started, if it is installed.
    pub fn tmux(&self) -> Option<&Tmux> {
        self.settings.tmux.as_ref()
    }

    /// Finds the clients that have ended since the last look. Once a second, a process that waits for its parent, or has
    /// the id of another one, is found too: reading its entry costs 15 µs.
    fn find_ended(&mut self) {
        let is_thorough = self.ended_at.is_none_or(|at| at.elapsed() >= ENDED);
        if is_thorough {
            self.ended_at = Some(Instant::now());
        }
        for client in self.clients.values_mut() {
            client.has_ended = client.running.as_ref().is_some_and(|running| {
                let process = &running.process;
                if !is_thorough {
                    return client.has_ended || is_gone(process.pid);
                }
                let now = table::entry(process.pid);
                now.is_none_or(|now| now.started != process.started || now.has_ended)
            });
        }
    }

    /// Finds the client in each pane. The table of processes is read again when it is old or a pane's program changed.
    fn read_processes(&mut self, listed: &[Listed]) {
        let is_same = |pane: &TmuxPane, known: &Client| {
            known.pid == pane.pid && known.command == pane.command && !known.has_ended
        };
        let all = listed.iter().flat_map(|server| {
            let panes = server.snapshot.panes.iter();
            panes.map(|pane| ((server.socket.clone(), pane.id.clone()), pane))
        });
        let all: HashMap<(PathBuf, String), &TmuxPane> = all.collect();
        let is_known = all.len() == self.clients.len()
            && all.iter().all(|(key, pane)| {
                self.clients
                    .get(key)
                    .is_some_and(|known| is_same(pane, known))
            });
        let is_recent = self.processes_at.is_some_and(|at| at.elapsed() < PROCESSES);
        if is_known && is_recent {
            return;
        }
        self.processes = Processes::read();
        self.processes_at = Some(Instant::now());
        let own = self.processes.clients(table::arguments).into_iter();
        self.with_terminal = own
            .filter(|running| table::is_own(running.process.pid))
            .collect();
        self.clients = all
            .into_iter()
            .map(|(key, pane)| {
                let running = (!pane.is_dead)
                    .then(|| self.processes.client_below(pane.pid, table::arguments))
                    .flatten();
                let client = Client {
                    pid: pane.pid,
                    command: pane.command.clone(),
                    running,
                    has_ended: false,
                };
                (key, client)
            })
            .collect();
    }

    /// Returns this user's clients that have a terminal and are in none of these panes.
    fn outside_tmux(&self, in_tmux: &[u32]) -> Vec<Running> {
        let is_elsewhere = |running: &&Running| {
            let process = &running.process;
            let is_below = |above: &u32| self.processes.is_below(process.pid, *above);
            !in_tmux.contains(&process.pid)
                && !is_gone(process.pid)
                && !in_tmux.iter().any(is_below)
        };
        self.with_terminal
            .iter()
            .filter(is_elsewhere)
            .cloned()
            .collect()
    }

    /// Takes up what was seen of one client. Returns whether its state changed.
    fn update(
        &mut self,
        place: &ClientPane,
        pane: Option<&TmuxPane>,
        running: &Running,
        screen: Result<Captured, String>,
        now: Timestamp,
    ) -> bool {
        let about = self.sources.about(running, &self.processes);
        let known = self.known.remove(place);
        let seen = known::Seen {
            pane,
            running,
            rules: self.settings.rules_of(running.program),
            screen,
            about,
            reset_time: &self.settings.reset_time,
            now,
        };
        let (known, is_changed) = match known {
            Some(mut known) => {
                let is_changed = known.update(place, seen);
                (known, is_changed)
            }
            None => (Known::new(place, seen, &self.disk), true),
        };
        self.known.insert(place.clone(), known);
        is_changed
    }

    /// Marks agents that were not seen as ended, and forgets those that ended long ago.
    fn end_others(&mut self, seen: &[ClientPane], now: Timestamp, changed: &mut Vec<String>) {
        for (place, known) in &mut self.known {
            if !seen.contains(place) && known.end(now) {
                changed.push(place.name());
            }
        }
        self.known.retain(|_, known| {
            known.pane.state != State::SessionEnded
                || now.duration_since(known.pane.since) < MOURNED
        });
    }
}

/// Whether there is no process with an id.
fn is_gone(pid: u32) -> bool {
    let pid = i32::try_from(pid).ok();
    let pid = pid.and_then(rustix::process::Pid::from_raw);
    pid.is_some_and(|pid| rustix::process::test_kill_process(pid) == Err(rustix::io::Errno::SRCH))
}

/// Returns the name of a pane: `%3` in the default server, `work:%3` in another.
pub(crate) fn pane_name(socket: &Path, folder: &Path, id: &str) -> String {
    if is_default(socket, folder) {
        return id.to_owned();
    }
    let server = socket.file_name().unwrap_or_default().to_string_lossy();
    format!("{server}:{id}")
}
