//! [`Notifications`]: notices about agents, delivered in the way that `[mesh.notify]` names.

use std::ffi::OsString;
use std::thread;
use std::time::Duration;

use callosum_arbiter::delegation::time_zone;
use callosum_config::{MeshSettings, NotifyBy};
use callosum_host::process::{self, Cancel, Ending, Launch, Limits};
use callosum_panes::{Delivery, NoticeKind, Notifier, NotifySettings, Pane, QuietHours, Route};
use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::{Machine, environment_of};

/// Timeout of the program that notifies a person.
const DELIVERY: Duration = Duration::from_secs(10);

/// Notices about agents, and the way to the person.
#[derive(Debug)]
pub(super) struct Notifications {
    notifier: Notifier,
    settings: NotifySettings,
    route: Route,
    environment: Vec<(OsString, OsString)>,
    is_in_tmux: bool,
    /// Bytes for the terminal that shows the panes.
    pub(super) to_terminal: Vec<u8>,
}

impl Notifications {
    /// Returns the notifier that the user configured. A configuration that cannot be used is warned of.
    pub(super) fn configured(machine: &Machine<'_>) -> Option<Self> {
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
    pub(super) fn deliver(&mut self, panes: &[Pane], now: Timestamp) {
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

/// Runs the program that notifies a person. Failures go to the log: no caller waits for the result.
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
