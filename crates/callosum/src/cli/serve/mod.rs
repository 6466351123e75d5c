//! Arguments and output of `callosum serve`.
//!
//! The use case is [`callosum_app::serve`].

mod detached;
mod memory;
pub(super) mod open;
pub(super) mod page;
mod status;
mod stop;

pub(super) use callosum_daemon::Serving as ServingOutput;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use std::{io, thread};

use callosum_app::mesh::{fleet, panes, unusable};
use callosum_app::model::serving;
use callosum_app::report::Reporter;
use callosum_app::serve::{LETS_GO, MENDING, Silent, elsewhere, failed, lines};
use callosum_app::{CommandError, Exit, config_errors, disk_errors, shell_word};
use callosum_client::presence::presence_source;
use callosum_config::{Environment, Homes, MatrixFile, SinkSetting};
use callosum_daemon::{
    Addresses, Instance, ListenTarget, Serving, Setting, ask, is_held, may_be_there, noted_pid,
    running, serve,
};
use callosum_host::Disk;
use callosum_host::process::Cancel;
use clap::{Args, Subcommand};
use serde::{Deserialize, Serialize};

use super::{guard, interrupt};
use crate::logging;
use crate::ui::Ui;

/// Serve the page, mesh events, a bus and metrics on this machine
///
/// Runs one daemon for this user and machine, on loopback only: a page for people at 127.0.0.1:8421, events at
/// 127.0.0.1:8600, the bus at 127.0.0.1:7890 and metrics at 127.0.0.1:9090. If a port is taken, the others are served, and a message names the program that has
/// it.
///
/// Everything also works without the daemon, on the same files. With it, subscribers receive events at once.
#[derive(Args, Debug)]
#[command(
    args_conflicts_with_subcommands = true,
    after_long_help = "\
Examples:
  $ callosum serve --detach --events 127.0.0.1:0 --bus 127.0.0.1:0 --metrics off --page 127.0.0.1:0
  $ callosum serve status
  $ callosum serve stop"
)]
pub(crate) struct ServeArgs {
    #[command(flatten)]
    how: HowArgs,
    #[command(subcommand)]
    command: Option<ServeCommand>,
}

#[derive(Debug, Subcommand)]
enum ServeCommand {
    /// Show what is served and where; exits with 1 if nothing is
    #[command(after_long_help = "\
Examples:
  $ callosum serve status
  $ callosum serve status --json")]
    Status,
    /// Stop the daemon; exits with 1 if none is running
    #[command(after_long_help = "\
Examples:
  $ callosum serve stop")]
    Stop,
}

#[derive(Args, Clone, Debug)]
struct HowArgs {
    /// Address of the events: a loopback address and port, or `off`
    #[arg(long, value_name = "ADDRESS")]
    events: Option<ListenTarget>,
    /// Address of the bus: a loopback address and port, or `off`
    #[arg(long, value_name = "ADDRESS")]
    bus: Option<ListenTarget>,
    /// Address of the metrics: a loopback address and port, or `off`
    #[arg(long, value_name = "ADDRESS")]
    metrics: Option<ListenTarget>,
    /// Address of the page for people: a loopback address and port, or `off`
    #[arg(long, value_name = "ADDRESS")]
    page: Option<ListenTarget>,
    /// Address of queries about past sessions, such as 127.0.0.1:8000: a loopback address and port, or `off`
    #[arg(long, value_name = "ADDRESS")]
    memory: Option<ListenTarget>,
    /// Limit each connection to N events per second
    #[arg(long, value_name = "N", default_value_t = RATE, value_parser = clap::value_parser!(u32).range(1..))]
    rate: u32,
    /// Run in the background, and return when everything answers
    #[arg(long)]
    detach: bool,
    /// Write a failure to this file and print nothing
    #[arg(long, value_name = "FILE", hide = true, conflicts_with = "detach")]
    failure_to: Option<PathBuf>,
}

/// Events per second that each connection may publish, unless another limit is given.
const RATE: u32 = 1000;

impl Default for HowArgs {
    fn default() -> Self {
        Self {
            events: None,
            bus: None,
            metrics: None,
            page: None,
            memory: None,
            rate: RATE,
            detach: true,
            failure_to: None,
        }
    }
}

/// The context of each command here.
struct Ground {
    ui: Ui,
    disk: Disk,
    environment: Environment,
    homes: Homes,
}

impl Ground {
    /// The folder of the log, and of what the daemon tells of itself.
    fn folder(&self) -> PathBuf {
        self.homes.mesh()
    }
}

/// Offers the project of this folder on the page. The daemon serves all the same if that fails.
fn offer_here(ground: &Ground) {
    let folder = std::env::current_dir();
    let Ok(folder) = folder else { return };
    let offered = page::offer(&ground.disk, &ground.environment, &ground.homes, &folder);
    if let Err(error) = offered {
        ground.ui.warn(
            &format!("the page does not show this folder: {}", error.one_line()),
            None,
        );
    }
}

pub(super) fn run(environment: Environment, args: &ServeArgs, ui: Ui) -> Result<(), CommandError> {
    let homes = Homes::find(&environment)
        .map_err(|error| CommandError::from_error(Exit::Environment, &error))?;
    let ground = Ground {
        ui,
        disk: Disk::real(),
        environment,
        homes,
    };
    match &args.command {
        Some(ServeCommand::Status) => status::run(&ground),
        Some(ServeCommand::Stop) => stop::run(&ground),
        None if args.how.detach => {
            offer_here(&ground);
            detached::run(&ground, &args.how)
        }
        None => {
            if args.how.failure_to.is_none() {
                offer_here(&ground);
            }
            let served = foreground(&ground, &args.how);
            match (&args.how.failure_to, served) {
                (Some(file), Err(error)) => {
                    Failure::of(&error).leave(&ground, file)?;
                    Err(error)
                }
                (_, served) => served,
            }
        }
    }
}

/// Returns the daemon's answer. If the folder has no files of one, they may just have been removed
/// under a running daemon, which restores them within moments.
fn asked(ground: &Ground, method: &str, path: &str) -> io::Result<serde_json::Value> {
    let folder = ground.folder();
    let began = Instant::now();
    loop {
        let answer = ask(&folder, method, path);
        let is_mending = began.elapsed() < MENDING
            && answer
                .as_ref()
                .is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
            && may_be_there(&ground.disk, &folder).unwrap_or_default();
        if !is_mending {
            return answer;
        }
        thread::sleep(Duration::from_millis(10));
    }
}

/// Returns a daemon that holds the lock and does not answer; `None` if there is none.
fn silent(ground: &Ground) -> Result<Option<Silent>, CommandError> {
    let (disk, folder) = (&ground.disk, ground.folder());
    let failed = |error| disk_errors::disk_failed(&error);
    let until = Instant::now() + LETS_GO;
    while is_held(disk, &folder).map_err(failed)? {
        if Instant::now() >= until {
            let pid = noted_pid(disk, &folder).map_err(failed)?;
            return Ok(Some(Silent { pid }));
        }
        thread::sleep(Duration::from_millis(10));
    }
    Ok(None)
}

/// Serves until it is asked to end.
fn foreground(ground: &Ground, how: &HowArgs) -> Result<(), CommandError> {
    let cancel = interrupt::watch()?;
    let addresses = addresses(&ground.environment, how)?;
    ground
        .homes
        .create_machine(&ground.disk)
        .map_err(|error| disk_errors::disk_failed(&error))?;
    let instance = Instance::begin(&ground.disk, &ground.folder())
        .map_err(|error| disk_errors::disk_failed(&error))?;
    let Some(instance) = instance else {
        return Err(served_already(ground));
    };
    if let Err(error) = logging::start(&ground.disk, &ground.environment) {
        ground
            .ui
            .warn(&format!("logging is off: {error}"), Some("callosum doctor"));
    }
    let explained = |error| config_errors::environment(&error);
    let (ui, is_watched) = (ground.ui, how.failure_to.is_none());
    let setting = Setting {
        disk: ground.disk.clone(),
        clock: ground.environment.clock().map_err(explained)?,
        ids: ground.environment.ids().map_err(explained)?,
        folder: ground.folder(),
        addresses,
        rate: how.rate,
        sinks: SinkSetting::read_all(&ground.disk, &ground.homes, &ground.environment).map_err(
            |error| {
                CommandError::from_error(Exit::Environment, &error).hint(edit_configuration(ground))
            },
        )?,
        models: serving(
            &ground.disk,
            &ground.homes,
            &ground.environment,
            &(Arc::new(ground.ui) as Arc<dyn Reporter>),
        )?,
        page: page::site(ground, addresses.page)?,
        memory: memory::sessions(ground, addresses.memory, &cancel),
        guard: Arc::new({
            let (disk, homes) = (ground.disk.clone(), ground.homes.clone());
            let environment = ground.environment.clone();
            let metrics = Mutex::new(guard::MachineMetrics::default());
            move || {
                let mut metrics = metrics.lock().unwrap_or_else(PoisonError::into_inner);
                let families = metrics.families(&disk, &homes, &environment);
                families.map_err(|error| error.one_line())
            }
        }),
        presence: presence_source(&ground.disk, &ground.homes),
        matrix: MatrixFile::open(&ground.disk, ground.homes.user_config.clone())
            .map_err(|error| unusable(&error).hint(edit_configuration(ground)))?,
        warn: Box::new(move |reason| {
            tracing::warn!(
                reason,
                "invalid configuration; still using the last valid one"
            );
            if is_watched {
                let what = format!("still using the last valid configuration: {reason}");
                ui.warn(&what, Some("callosum doctor"));
            }
        }),
        cancel,
    };
    let mut reported = Ok(());
    let pane_cancel = Cancel::new().map_err(CommandError::internal)?;
    let panes = {
        let (disk, homes) = (ground.disk.clone(), ground.homes.clone());
        let environment = ground.environment.clone();
        let (clock, cancel) = (setting.clock.clone(), pane_cancel.clone());
        let started = thread::Builder::new().spawn(move || {
            let machine = panes::Machine {
                disk: &disk,
                environment: &environment,
                homes: &homes,
                warn: &|reason| tracing::warn!(reason, "panes"),
            };
            panes::keep(&machine, &clock, &cancel);
        });
        // The rest of the daemon needs no panes.
        started
            .map_err(|error| tracing::warn!(%error, "panes are not looked at"))
            .ok()
    };
    // The rest of the daemon needs no other machine.
    let fleet = fleet::replicator(
        &ground.disk,
        &setting.clock,
        &setting.ids,
        &ground.homes,
        &ground.environment,
    );
    let fleet = fleet
        .map_err(|error| tracing::warn!(%error, "events of other machines are not received"))
        .ok()
        .flatten();
    let served = serve(instance, setting, |serving| {
        tracing::info!(pid = std::process::id(), "the daemon is serving");
        for unserved in &serving.unserved {
            let (what, address, reason) = (&unserved.what, &unserved.address, &unserved.reason);
            tracing::error!(%what, %address, %reason, "cannot serve an address");
        }
        if is_watched {
            reported = tell(ground, serving);
        }
    });
    drop(fleet);
    pane_cancel.cancel();
    if panes.is_some_and(|panes| panes.join().is_err()) {
        tracing::error!("the thread that looks at panes has failed");
    }
    match &served {
        Ok(()) => tracing::info!("the daemon has ended"),
        Err(error) => tracing::error!(%error, "the daemon failed"),
    }
    served.map_err(|error| failed(&error))?;
    reported
}

/// Returns the command that edits the user's configuration.
fn edit_configuration(ground: &Ground) -> String {
    format!(
        "${{EDITOR:-vi}} {}",
        shell_word(&ground.homes.user_config.to_string_lossy())
    )
}

/// The reason why a daemon that was started in the background does not serve: it has no terminal to
/// report to.
#[derive(Debug, Deserialize, Serialize)]
struct Failure {
    error: String,
    hint: Option<String>,
}

impl Failure {
    fn of(error: &CommandError) -> Self {
        Self {
            error: error.one_line(),
            hint: error.hint_text().map(str::to_owned),
        }
    }

    fn leave(&self, ground: &Ground, file: &Path) -> Result<(), CommandError> {
        let text = serde_json::to_vec(self).expect("it can be written as JSON");
        let left = ground.disk.replace_unsynced(file, &text, 0o600);
        left.map_err(|error| disk_errors::disk_failed(&error))
    }

    fn explained(self) -> CommandError {
        let error = CommandError::new(Exit::Environment, self.error);
        match self.hint {
            Some(hint) => error.hint(hint),
            None => error,
        }
    }
}

/// Returns the addresses: from the flag, else the variable, else the seed.
fn addresses(environment: &Environment, how: &HowArgs) -> Result<Addresses, CommandError> {
    let usual = Addresses::default();
    let wish = |flag: Option<ListenTarget>, variable: &str, usual: ListenTarget| {
        if let Some(wish) = flag {
            return Ok(wish);
        }
        let Some(value) = environment.get(variable) else {
            return Ok(usual);
        };
        let text = value.to_string_lossy();
        text.parse::<ListenTarget>().map_err(|error| {
            let what = format!("the variable {variable} is `{text}`");
            CommandError::because(Exit::Environment, what, &error)
        })
    };
    Ok(Addresses {
        events: wish(how.events, "CALLOSUM_EVENTS", usual.events)?,
        bus: wish(how.bus, "CALLOSUM_BUS", usual.bus)?,
        metrics: wish(how.metrics, "CALLOSUM_METRICS", usual.metrics)?,
        page: wish(how.page, "CALLOSUM_PAGE", usual.page)?,
        memory: wish(how.memory, "CALLOSUM_MEMORY", usual.memory)?,
    })
}

/// Says what is served, and warns of what is not.
fn tell(ground: &Ground, serving: &Serving) -> Result<(), CommandError> {
    let ui = ground.ui;
    for unserved in &serving.unserved {
        let what = format!(
            "cannot serve {} at {}: {}",
            unserved.what, unserved.address, unserved.reason
        );
        let hint = elsewhere(&unserved.what);
        ui.warn(&what, Some(&hint));
    }
    let sinks = SinkSetting::read_all(&ground.disk, &ground.homes, &ground.environment);
    // A fault of the configuration is the daemon's to tell.
    for sink in sinks.unwrap_or_default() {
        if sink.address.is_none() {
            let what = format!(
                "sink {} receives no events: ${} is not set",
                sink.name, sink.variable
            );
            let hint = format!(
                "callosum serve stop && {}=https://… callosum serve --detach",
                sink.variable
            );
            ui.warn(&what, Some(&hint));
        }
    }
    if ui.json {
        return ui.json_data(serving);
    }
    ui.data(&lines(serving))
}

fn served_already(ground: &Ground) -> CommandError {
    let who = running(&ground.folder());
    let serving = who
        .ok()
        .and_then(|who| serde_json::from_value::<Serving>(who["serving"].clone()).ok());
    let Some(Serving { pid, version, .. }) = serving else {
        return match silent(ground) {
            Ok(Some(silent)) => silent.explained(),
            Ok(None) => CommandError::new(Exit::Environment, "the daemon ended just now")
                .hint("callosum serve"),
            Err(error) => error,
        };
    };
    let what = format!("a daemon is already running: pid {pid}, version {version}");
    CommandError::new(Exit::Environment, what).hint("callosum serve stop")
}
