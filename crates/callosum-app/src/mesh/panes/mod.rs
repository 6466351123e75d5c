//! `callosum mesh panes`: every agent in a terminal of this machine, and what it is doing.
//!
//! [`Watcher`] looks and keeps `pane_registry.json` true while no other process does. Start with [`look`].

mod notifications;
mod output;
mod resumption;

pub use self::output::{ConsideredOutput, EvidenceOutput, PaneOutput, PanesOutput};

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use callosum_arbiter::delegation::time_zone;
use callosum_config::{Environment, Homes, MeshSettings};
use callosum_executor::output_format::wait_until_reset;
use callosum_host::process::Cancel;
use callosum_host::watch::Watch;
use callosum_host::{Clock, Disk};
use callosum_panes::registry::{RegistryError, VERSION, Writer};
use callosum_panes::sensor::{ResetTime, Settings};
use callosum_panes::tmux::Tmux;
use callosum_panes::{Look, Pane, Program, Registry, RuleSet, Sensor, hook_event};
use jiff::{SignedDuration, Timestamp};

use self::notifications::Notifications;
use self::resumption::Resumption;
use crate::context::Context;
use crate::mesh::inject::program;
use crate::{CommandError, Exit, disk_errors};

/// Delay before a second look, so that an agent between two redraws does not count as idle.
const AGAIN: Duration = Duration::from_millis(250);

/// Looks of a command that prints once.
const MOST_LOOKS: usize = 4;

/// A registry that is younger is as good as a look of one's own.
const FRESH: SignedDuration = SignedDuration::from_secs(2);

/// Delay before the daemon tries to become the registry's writer again.
const RETRY: Duration = Duration::from_secs(30);

/// Longest wait before the daemon sees that it is to end.
const SLICE: Duration = Duration::from_secs(1);

/// Age at which the last event of a session is forgotten.
const FORGOTTEN: SignedDuration = SignedDuration::from_hours(7 * 24);

/// The program.
const TMUX: &str = "tmux";

/// Facts about this machine that a look needs.
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
    resumption: Option<Resumption>,
    /// The registry of an earlier process, which knows since when states have lasted.
    earlier: Option<Registry>,
}

impl Watcher {
    /// Opens the registry and prepares to look.
    pub fn open(context: &Context) -> Result<Self, CommandError> {
        Self::on(&machine_of(context, &warning(context)), context.clock.now())
    }

    /// The same for a caller that keeps looking. From now on it sends "continue" to each agent whose limit has ended,
    /// once per limit, if `resumes` or the user's configuration says so.
    pub fn open_to_watch(context: &Context, resumes: bool) -> Result<Self, CommandError> {
        let mut watcher = Self::open(context)?;
        let warn = warning(context);
        watcher.resume_after_limits(&machine_of(context, &warn), &context.clock, resumes);
        Ok(watcher)
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
            resumption: None,
            sensor: Sensor::new(settings_of(machine), disk.clone()),
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
        if let Some(resumption) = &mut self.resumption {
            resumption.update(&registry.panes, now);
        }
        Ok((registry, look))
    }

    fn resume_after_limits(&mut self, machine: &Machine<'_>, clock: &Clock, is_asked: bool) {
        let settings = MeshSettings::load(machine.disk, &machine.homes.user_config);
        // A configuration that cannot be used is warned of by the notifier.
        let is_configured = settings.is_ok_and(|settings| settings.resume_after_limit);
        self.resumption = (is_asked || is_configured)
            .then(|| Resumption::new(machine, settings_of(machine), clock));
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

    /// Looks once, or reads the registry if another process has just written it.
    ///
    /// # Errors
    /// If the registry cannot be written, as in [`Watcher::look`].
    pub fn look_or_read(&mut self, now: Timestamp) -> Result<Registry, CommandError> {
        if self.writer.is_none() {
            let registry = Registry::read(&self.disk, &self.path).ok().flatten();
            let fresh = registry.filter(|registry| is_fresh(registry, now));
            if let Some(fresh) = fresh {
                return Ok(fresh);
            }
        }
        Ok(self.look(now)?.0)
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
            if let Some(watcher) = &mut watcher {
                watcher.resume_after_limits(machine, clock, false);
            }
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

fn warning(context: &Context) -> impl Fn(&str) {
    |what| context.report.warn(what, None)
}

fn machine_of<'a>(context: &'a Context, warn: &'a dyn Fn(&str)) -> Machine<'a> {
    Machine {
        disk: &context.disk,
        environment: &context.environment,
        homes: &context.project.homes,
        warn,
    }
}

/// Whether a registry is as good as a look of one's own.
fn is_fresh(registry: &Registry, now: Timestamp) -> bool {
    registry.age(now).is_some_and(|age| age <= FRESH)
}

/// Returns every agent on this machine: from the registry if another process keeps it, else by looking.
pub fn look(context: &Context, is_explained: bool) -> Result<Registry, CommandError> {
    let mut watcher = Watcher::open(context)?;
    let now = context.clock.now();
    let kept = watcher
        .earlier
        .take_if(|earlier| watcher.writer.is_none() && is_fresh(earlier, now) && !is_explained);
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
fn settings_of(machine: &Machine<'_>) -> Settings {
    let environment = machine.environment;
    let homes = machine.homes;
    let claude = environment.path("CLAUDE_CONFIG_DIR");
    let claude = claude.unwrap_or_else(|| environment.at_home("~/.claude"));
    let temporary = environment.path("TMUX_TMPDIR");
    let temporary = temporary.unwrap_or_else(|| PathBuf::from("/tmp"));
    Settings {
        tmux: program(environment, TMUX).map(|program| Tmux {
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
        RegistryError::Disk(error) => disk_errors::disk_failed(error),
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
