//! `callosum mesh panes`: every agent in a terminal of this machine, and what it is doing.
//!
//! [`Watcher`] looks and keeps `pane_registry.json` true while no other process does. Start with [`look`].

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use callosum_agents::dialect::wait_until_reset;
use callosum_arbiter::delegation::time_zone;
use callosum_config::{Environment, Homes, MeshSettings, NotifyBy};
use callosum_host::process::{self, Cancel, Ending, Launch, Limits};
use callosum_host::watch::Watch;
use callosum_host::{Clock, Disk};
use callosum_panes::registry::{RegistryError, VERSION, Writer};
use callosum_panes::sensor::{ResetTime, Settings};
use callosum_panes::state::{Considered, Evidence};
use callosum_panes::tmux::Tmux;
use callosum_panes::{
    Delivery, Look, NoticeKind, Notifier, NotifySettings, Pane, Program, QuietHours, Registry,
    Route, RuleSet, Sensor, hook_event,
};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use schemars::JsonSchema;
use serde::Serialize;

use crate::context::Context;
use crate::{CommandError, Exit, store};

/// How long a single look waits before it looks again, to tell an idle agent from one between two redraws.
const AGAIN: Duration = Duration::from_millis(250);

/// Looks of a command that prints once.
const MOST_LOOKS: usize = 4;

/// A registry that is younger is as good as a look of one's own.
const FRESH: SignedDuration = SignedDuration::from_secs(2);

/// How long the program that notifies a person may take.
const DELIVERY: Duration = Duration::from_secs(10);

/// How long the daemon waits before it tries again to become the registry's writer.
const RETRY: Duration = Duration::from_secs(30);

/// Longest wait before the daemon sees that it is to end.
const SLICE: Duration = Duration::from_secs(1);

/// Age at which the last event of a session is forgotten.
const FORGOTTEN: SignedDuration = SignedDuration::from_hours(7 * 24);

/// The program.
const TMUX: &str = "tmux";

/// `callosum mesh panes --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub struct PanesOutput {
    /// When the panes were looked at.
    pub updated_at: String,
    /// Process id of the process that looked.
    pub writer: u32,
    /// The agents, those in tmux first.
    pub panes: Vec<PaneOutput>,
    /// What could not be looked at, and why.
    pub notes: Vec<String>,
}

/// An agent in a terminal.
#[derive(Debug, JsonSchema, Serialize)]
pub struct PaneOutput {
    /// Name of the pane: `%3` in the default tmux server, `work:%3` in another, `pid:4711` outside tmux.
    pub pane: String,
    /// Its terminal.
    pub tty: Option<String>,
    /// Process id of the client.
    pub pid: u32,
    /// Session id, if the client or a hook has named it.
    pub session_id: Option<String>,
    /// Name of the project's folder.
    pub project: Option<String>,
    /// The folder that the client works in.
    pub cwd: Option<String>,
    /// The last prompt that a hook saw: one line, secrets masked, cut.
    pub last_prompt: Option<String>,
    /// `active` while the client runs, else `inactive`.
    pub status: String,
    /// The nearest of six states: `SESSION_ENDED`, `CONTEXT_EXHAUSTED`, `STUCK_ON_ERROR`, `TASK_COMPLETE`, `TRULY_IDLE`, `WORKING`.
    pub activity_state: String,
    /// Quarter of the tmux window: `top-left`, `top-right`, `bottom-left` or `bottom-right`.
    pub quadrant: Option<String>,
    /// When the screen or an event last changed.
    pub last_active: String,
    /// `claude`, `codex` or `gemini`.
    pub agent: String,
    /// `claude-code`, `codex-cli` or `gemini-cli`.
    pub runtime: String,
    /// The state: one of the six, `BLOCKED_ON_APPROVAL`, `USAGE_LIMITED` or `UNKNOWN`.
    pub state: String,
    /// More about the state.
    pub detail: Option<String>,
    /// Since when.
    pub since: String,
    /// When the account's limit ends.
    pub resets_at: Option<String>,
    /// The same in the client's words.
    pub resets: Option<String>,
    /// Whether a person has typed something and not sent it.
    pub has_draft: bool,
    /// Why the state is believed.
    pub evidence: Vec<EvidenceOutput>,
    /// Every signal and rule that was looked at; empty without `--explain`.
    pub considered: Vec<ConsideredOutput>,
}

/// A reason for a state.
#[derive(Debug, JsonSchema, Serialize)]
pub struct EvidenceOutput {
    /// Where it was seen: `process`, `hook`, `registry`, `title` or `screen`.
    pub signal: String,
    /// The rule or event that applied.
    pub rule: String,
    /// The text that matched.
    pub text: String,
}

/// A signal or rule that was looked at.
#[derive(Debug, JsonSchema, Serialize)]
pub struct ConsideredOutput {
    /// Where it looked.
    pub signal: String,
    /// The rule or event.
    pub rule: String,
    /// The state that it means, if it applied.
    pub state: Option<String>,
    /// Why it did not apply, or was not believed.
    pub because: String,
}

impl PaneOutput {
    /// Returns a pane for output, with what was considered if `is_explained`.
    pub fn of(pane: &Pane, is_explained: bool) -> Self {
        let considered: &[Considered] = if is_explained { &pane.considered } else { &[] };
        Self {
            pane: pane.pane.clone(),
            tty: pane.tty.clone(),
            pid: pane.pid,
            session_id: pane.session_id.clone(),
            project: pane.project.clone(),
            cwd: pane.cwd.as_ref().map(|cwd| cwd.display().to_string()),
            last_prompt: pane.last_prompt.clone(),
            status: pane.status.clone(),
            activity_state: pane.activity_state.name().to_owned(),
            quadrant: pane.quadrant.clone(),
            last_active: pane.last_active.to_string(),
            agent: pane.agent.clone(),
            runtime: pane.runtime.clone(),
            state: pane.state.name().to_owned(),
            detail: pane.detail.clone(),
            since: pane.since.to_string(),
            resets_at: pane.resets_at.map(|time| time.to_string()),
            resets: pane.resets.clone(),
            has_draft: pane.has_draft,
            evidence: pane.evidence.iter().map(EvidenceOutput::of).collect(),
            considered: considered.iter().map(ConsideredOutput::of).collect(),
        }
    }
}

impl EvidenceOutput {
    fn of(evidence: &Evidence) -> Self {
        Self {
            signal: evidence.signal.name().to_owned(),
            rule: evidence.rule.clone(),
            text: evidence.text.clone(),
        }
    }
}

impl ConsideredOutput {
    fn of(considered: &Considered) -> Self {
        Self {
            signal: considered.signal.name().to_owned(),
            rule: considered.rule.clone(),
            state: considered.state.map(|state| state.name().to_owned()),
            because: considered.because.clone(),
        }
    }
}

/// What a look needs to know of this machine.
pub struct Machine<'a> {
    /// The files of the machine.
    pub disk: &'a Disk,
    /// The environment of the process.
    pub environment: &'a Environment,
    /// The folders of state and configuration.
    pub homes: &'a Homes,
    /// Takes warnings, such as a rule file that cannot be used.
    pub warn: &'a dyn Fn(&str),
}

/// Looks at all panes, and writes the registry unless another process does.
#[derive(Debug)]
pub struct Watcher {
    disk: Disk,
    path: PathBuf,
    writer: Option<Writer>,
    sensor: Sensor,
    notifier: Option<Notifications>,
    /// The registry of an earlier process, which knows since when states have lasted.
    earlier: Option<Registry>,
}

impl Watcher {
    /// Opens the registry and prepares to look.
    pub fn open(context: &Context) -> Result<Self, CommandError> {
        let machine = Machine {
            disk: &context.disk,
            environment: &context.environment,
            homes: &context.project.homes,
            warn: &|what| context.report.warn(what, None),
        };
        Self::on(&machine, context.clock.now())
    }

    /// The same without a project.
    pub fn on(machine: &Machine<'_>, now: Timestamp) -> Result<Self, CommandError> {
        let path = machine.homes.pane_registry();
        let disk = machine.disk.clone();
        let writer = match Writer::take(&disk, &path) {
            Ok(writer) => writer,
            // A look needs no file, as in a sandbox that may not write.
            Err(RegistryError::Disk(error)) if error.is_denied() || error.is_read_only() => None,
            Err(error) => return Err(unusable(&error)),
        };
        let earlier = Registry::read(&disk, &path);
        let earlier = earlier.unwrap_or_else(|error| {
            (machine.warn)(&error.to_string());
            None
        });
        let earlier = earlier.filter(|registry| registry.is_believed(now));
        if writer.is_some() {
            let week_ago = now.checked_sub(FORGOTTEN).unwrap_or(Timestamp::MIN);
            // Old files only cost a read each, so a failure is nothing to report.
            drop(hook_event::sweep(
                &disk,
                &machine.homes.hook_events(),
                week_ago,
            ));
        }
        let notifier = Notifications::configured(machine);
        Ok(Self {
            notifier: notifier.filter(|_| writer.is_some()),
            sensor: Sensor::new(settings(machine), disk.clone()),
            disk,
            path,
            writer,
            earlier,
        })
    }

    /// Looks once, and writes what was found.
    pub fn look(&mut self, now: Timestamp) -> Result<(Registry, Look), CommandError> {
        let mut look = self.sensor.look(now);
        if let Some(earlier) = self.earlier.take() {
            self.sensor.resume(&earlier);
            look = self.sensor.look(now);
        }
        let registry = Registry {
            version: VERSION.to_owned(),
            updated_at: now,
            writer: std::process::id(),
            panes: look.panes.clone(),
            notes: look.notes.clone(),
        };
        if let Some(writer) = &self.writer {
            let mut stored = registry.clone();
            for pane in &mut stored.panes {
                pane.considered.clear();
            }
            let written = writer.write(&self.disk, &self.path, &stored);
            written.map_err(|error| unusable(&error))?;
        }
        if let Some(notifier) = &mut self.notifier {
            notifier.deliver(&registry.panes, now);
        }
        Ok((registry, look))
    }

    /// Returns the sensor, which knows where each pane is.
    pub fn sensor(&self) -> &Sensor {
        &self.sensor
    }

    /// Returns what is to be written to the terminal that shows the panes: notices by escape sequence.
    pub fn terminal_notices(&mut self) -> Vec<u8> {
        let notifier = self.notifier.as_mut();
        notifier
            .map(|notifier| std::mem::take(&mut notifier.to_terminal))
            .unwrap_or_default()
    }

    /// Looks until no change waits for another look: an agent between two redraws looks idle for a moment.
    pub fn look_twice(&mut self, context: &Context) -> Result<Registry, CommandError> {
        let (mut registry, mut look) = self.look(context.clock.now())?;
        for round in 1..MOST_LOOKS {
            let is_sure = round > 1 && !look.is_unsettled;
            if is_sure || look.panes.is_empty() {
                break;
            }
            thread::sleep(AGAIN);
            (registry, look) = self.look(context.clock.now())?;
        }
        Ok(registry)
    }
}

/// Notices about agents, and the way to the person.
#[derive(Debug)]
struct Notifications {
    notifier: Notifier,
    settings: NotifySettings,
    route: Route,
    environment: Vec<(OsString, OsString)>,
    is_in_tmux: bool,
    to_terminal: Vec<u8>,
}

impl Notifications {
    /// Returns the notifier that the user configured. A configuration that cannot be used is warned of.
    fn configured(machine: &Machine<'_>) -> Option<Self> {
        let setting = match MeshSettings::load(machine.disk, &machine.homes.user_config) {
            Ok(settings) => settings.notify?,
            Err(error) => {
                (machine.warn)(&format!("no notifications: {error}"));
                return None;
            }
        };
        let kinds = NoticeKind::ALL.into_iter();
        let environment = environment_of(machine);
        Some(Self {
            notifier: Notifier::new(),
            settings: NotifySettings {
                after: setting.after,
                on: kinds
                    .filter(|kind| setting.on.iter().any(|name| name == kind.name()))
                    .collect(),
                quiet: setting.quiet.map(|(from, to)| QuietHours { from, to }),
                zone: time_zone(machine.disk, &environment, None).unwrap_or(TimeZone::UTC),
            },
            route: match setting.by {
                NotifyBy::Command(words) => Route::Command(words),
                NotifyBy::NotifySend => Route::NotifySend,
                NotifyBy::Osascript => Route::Osascript,
                NotifyBy::Osc9 => Route::Osc9,
            },
            is_in_tmux: machine.environment.get("TMUX").is_some(),
            environment,
            to_terminal: Vec::new(),
        })
    }

    /// Delivers what is due. A program gets ten seconds on a thread of its own, so that no look waits for it.
    fn deliver(&mut self, panes: &[Pane], now: Timestamp) {
        for notice in self.notifier.update(panes, now, &self.settings) {
            match self.route.delivery(&notice, self.is_in_tmux) {
                None => {}
                Some(Delivery::Write(bytes)) => self.to_terminal.extend(bytes),
                Some(Delivery::Run { argv, env }) => {
                    let mut words = argv.into_iter();
                    let Some(program) = words.next() else {
                        continue;
                    };
                    let mut environment = self.environment.clone();
                    environment.extend(
                        env.into_iter()
                            .map(|(name, value)| (name.into(), value.into())),
                    );
                    let launch = Launch {
                        program: program.into(),
                        arguments: words.map(OsString::from).collect(),
                        folder: "/".into(),
                        environment,
                        input: Vec::new(),
                        limits: Limits {
                            quiet: None,
                            total: Some(DELIVERY),
                            output_bytes: 64 * 1024,
                            error_bytes: 4 * 1024,
                        },
                    };
                    let started = thread::Builder::new().spawn(move || run_notifier(&launch));
                    if let Err(error) = started {
                        tracing::warn!(%error, "the notifier did not start");
                    }
                }
            }
        }
    }
}

/// Runs the program that notifies a person. What fails is in the log: nobody waits for the answer.
fn run_notifier(launch: &Launch) {
    let program = launch.program.display();
    let run = Cancel::new()
        .map_err(|error| error.to_string())
        .and_then(|cancel| {
            process::run(launch, &cancel, &mut |_, _| {}).map_err(|error| error.to_string())
        });
    match run {
        Ok(run) if run.ending == Ending::Exited(0) => {}
        Ok(run) => {
            let error = String::from_utf8_lossy(&run.error);
            tracing::warn!(%program, ending = ?run.ending, error = error.trim(), "the notifier failed");
        }
        Err(error) => tracing::warn!(%program, error, "the notifier did not start"),
    }
}

/// Keeps the registry true until `cancel`, for the daemon.
///
/// Looks four times a second while an agent works. When none does, looks come less often, up to five minutes apart, and
/// the next event of a hook wakes it. If another process writes the registry, it waits for its turn.
pub fn keep(machine: &Machine<'_>, clock: &Clock, cancel: &Cancel) {
    let events = machine.homes.hook_events();
    let mut watcher = None;
    let mut quiet: u32 = 0;
    while !cancel.is_cancelled() {
        let now = clock.now();
        let mut pause = RETRY;
        if watcher.is_none() {
            let opened = Watcher::on(machine, now);
            let opened = opened.map_err(|error| (machine.warn)(&error.one_line()));
            watcher = opened.ok().filter(|watcher| watcher.writer.is_some());
        }
        if let Some(open) = &mut watcher {
            match open.look(now) {
                Ok((_, look)) => {
                    let is_busy = look.is_busy() || look.is_unsettled || !look.changed.is_empty();
                    quiet = if is_busy { 0 } else { quiet.saturating_add(1) };
                    pause = pause_after(quiet);
                }
                Err(error) => {
                    (machine.warn)(&error.one_line());
                    watcher = None;
                }
            }
        }
        wait(&events, pause, cancel);
    }
}

/// Returns the pause after so many looks at which no agent was at work: four looks a second, then one a second for
/// half a minute, then from 30 s up to 300 s (Seed CALC §4, layer 4).
fn pause_after(quiet: u32) -> Duration {
    match quiet {
        0 => Duration::from_millis(250),
        1..=30 => Duration::from_secs(1),
        31..=34 => Duration::from_secs(30 << (quiet - 31)),
        _ => Duration::from_mins(5),
    }
}

/// Waits until the time is over, a hook notes an event, or the daemon ends.
fn wait(events: &Path, pause: Duration, cancel: &Cancel) {
    if pause < SLICE {
        drop(cancel.wait_for(pause));
        return;
    }
    let mut watch = Watch::of(&[events]).ok();
    let until = Instant::now() + pause;
    while !cancel.is_cancelled() {
        let left = until.saturating_duration_since(Instant::now()).min(SLICE);
        if left.is_zero() {
            return;
        }
        let is_woken = match &mut watch {
            Some(watch) => watch.wait(left).is_ok_and(|changes| !changes.is_empty()),
            // The folder comes with the first event.
            None => cancel.wait_for(left).unwrap_or(true),
        };
        if is_woken {
            return;
        }
    }
}

/// Returns every agent on this machine: from the registry if another process keeps it, else by looking.
pub fn look(context: &Context, is_explained: bool) -> Result<Registry, CommandError> {
    let mut watcher = Watcher::open(context)?;
    let now = context.clock.now();
    let kept = watcher.earlier.take_if(|earlier| {
        let is_fresh = earlier.age(now).is_some_and(|age| age <= FRESH);
        watcher.writer.is_none() && is_fresh && !is_explained
    });
    match kept {
        Some(registry) => Ok(registry),
        None => watcher.look_twice(context),
    }
}

/// Returns the panes that a person means: by name, process id, terminal, agent, project, or the beginning of a session's id.
pub fn named<'p>(panes: &'p [Pane], name: &str) -> Vec<&'p Pane> {
    let exact = |pane: &&Pane| {
        pane.pane == name
            || pane.pid.to_string() == name
            || pane.tty.as_deref() == Some(name)
            || pane.session_id.as_deref() == Some(name)
    };
    let found: Vec<&Pane> = panes.iter().filter(exact).collect();
    // A pane whose client has ended and was started again is listed twice.
    let is_running = |pane: &&&Pane| pane.status == "active";
    let running: Vec<&Pane> = found.iter().filter(is_running).copied().collect();
    if !running.is_empty() {
        return running;
    }
    if !found.is_empty() {
        return found;
    }
    // `%3` alone names a pane of any server.
    let by_id = |pane: &&Pane| name.starts_with('%') && pane.pane.ends_with(&format!(":{name}"));
    let by_words = |pane: &&Pane| {
        let is_session = |session: &String| name.len() >= 6 && session.starts_with(name);
        by_id(pane)
            || pane.agent == name
            || pane.runtime == name
            || pane.mesh_agent() == Some(name)
            || pane.project.as_deref() == Some(name)
            || pane.session_id.as_ref().is_some_and(is_session)
    };
    let is_active = |pane: &&Pane| pane.status == "active";
    panes.iter().filter(is_active).filter(by_words).collect()
}

/// Says that there is no such pane, and which there are.
pub fn unknown(name: &str, panes: &[Pane]) -> CommandError {
    let what = if panes.is_empty() {
        format!("there is no pane `{name}`: no agent runs in a terminal of this machine")
    } else {
        let names: Vec<&str> = panes.iter().map(|pane| pane.pane.as_str()).collect();
        format!("there is no pane `{name}` (panes: {})", names.join(", "))
    };
    CommandError::new(Exit::Usage, what).hint("callosum mesh panes")
}

/// Returns where to look on this machine.
fn settings(machine: &Machine<'_>) -> Settings {
    let environment = machine.environment;
    let homes = machine.homes;
    let claude = environment.path("CLAUDE_CONFIG_DIR");
    let claude = claude.unwrap_or_else(|| environment.at_home(".claude"));
    let temporary = environment.path("TMUX_TMPDIR");
    let temporary = temporary.unwrap_or_else(|| PathBuf::from("/tmp"));
    Settings {
        tmux: tmux(environment).map(|program| Tmux {
            program,
            folder: "/".into(),
        }),
        sockets: temporary.join(format!("tmux-{}", callosum_host::disk::user())),
        // `$TMUX` is `SOCKET,PID,SESSION`.
        current_socket: environment.get("TMUX").and_then(|value| {
            let value = value.to_str()?;
            Some(PathBuf::from(value.split(',').next()?))
        }),
        claude_sessions: Some(claude.join("sessions")),
        hook_events: homes.hook_events(),
        rules: rules(machine, &homes.pane_rules()),
        reset_time: reset_time(machine),
    }
}

/// Returns tmux's file in `$PATH`, if it is installed.
fn tmux(environment: &Environment) -> Option<PathBuf> {
    let folders = environment.get("PATH")?;
    let mut files = std::env::split_paths(folders)
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(TMUX));
    files.find(|file| file.is_file())
}

/// Returns the rules of each client: the user's own first. A file that cannot be used is warned of and left out.
fn rules(machine: &Machine<'_>, folder: &Path) -> Vec<(Program, RuleSet)> {
    let listed = machine.disk.list_dir(folder).unwrap_or_default();
    let mut files: Vec<PathBuf> = listed
        .into_iter()
        .map(|entry| folder.join(entry.name))
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "toml")
        })
        .collect();
    files.sort();
    let mut own = Vec::new();
    for file in files {
        let name = file.display().to_string();
        let text = machine.disk.read(&file).map_err(|error| error.to_string());
        let read = text.and_then(|bytes| {
            let text = String::from_utf8(bytes).map_err(|error| format!("{name}: {error}"))?;
            RuleSet::read(&name, &text).map_err(|error| error.to_string())
        });
        match read {
            Ok(rules)
                if Program::ALL
                    .iter()
                    .any(|program| program.agent() == rules.client) =>
            {
                own.push(rules);
            }
            Ok(rules) => {
                let allowed = Program::ALL.map(Program::agent).join(", ");
                let what = format!("{name}: `client` is {} (allowed: {allowed})", rules.client);
                (machine.warn)(&what);
            }
            Err(what) => (machine.warn)(&what),
        }
    }
    let all = Program::ALL.into_iter().filter_map(|program| {
        let mut rules = RuleSet::built_in(program.agent())?;
        for own in own.iter().rev().filter(|own| own.client == program.agent()) {
            rules = rules.with_first(own.clone());
        }
        Some((program, rules))
    });
    all.collect()
}

/// Returns the reader of times such as `3pm`, in the time zone of this machine.
fn reset_time(machine: &Machine<'_>) -> ResetTime {
    let disk = machine.disk.clone();
    let environment = environment_of(machine);
    ResetTime(Arc::new(move |words, now| {
        let zone = |name: Option<&str>| time_zone(&disk, &environment, name);
        let left = wait_until_reset(words, now, &zone)?;
        now.checked_add(left).ok()
    }))
}

fn environment_of(machine: &Machine<'_>) -> Vec<(OsString, OsString)> {
    let variables = machine.environment.iter();
    variables
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}

/// Says that the registry cannot be used.
fn unusable(error: &RegistryError) -> CommandError {
    match error {
        RegistryError::Disk(error) => store::disk_failed(error),
        RegistryError::Format { .. } => CommandError::new(Exit::Environment, error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_come_less_often_the_longer_nothing_happens() {
        let pauses: Vec<u64> = [1, 30, 31, 32, 33, 34, 35, 9_999]
            .map(|quiet| pause_after(quiet).as_secs())
            .into();
        assert_eq!(pauses, [1, 1, 30, 60, 120, 240, 300, 300]);
        assert_eq!(pause_after(0), Duration::from_millis(250));
    }
}
