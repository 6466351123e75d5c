//! The page of the daemon: runs commands of this program, and knows the projects of this machine.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use callosum_app::memory::known_projects;
use callosum_app::mesh::author_args::MARKS;
use callosum_app::{CommandError, Exit, config_errors, disk_errors};
use callosum_config::{Environment, Homes, PageSetting, Project, ProjectOverrides, Repositories};
use callosum_daemon::{ListenTarget, Page};
use callosum_host::process::table;
use callosum_host::process::{Cancel, Ending, Launch, Limits, run};
use callosum_host::{Disk, peer};
use callosum_web::{
    Command, CommandFailure, FormToken, Machine, Program, Proxy, Site, SiteSetting, Subject,
};
use serde_json::Value;

use super::Ground;

/// Longest time of a command that the page runs.
const PATIENCE: Duration = Duration::from_mins(1);

/// Most bytes that such a command prints.
const MOST_BYTES: usize = 64 * 1024 * 1024;

/// Most bytes of an error message.
const MOST_ERROR_BYTES: usize = 16 * 1024;

/// Most processes above a sender that are looked at.
const MOST_ANCESTORS: usize = 32;

/// Most projects that the page offers.
const MOST_PROJECTS: usize = 200;

/// Returns the page; `None` if it is not to be served.
pub(super) fn site(
    ground: &Ground,
    at: ListenTarget,
) -> Result<Option<Arc<dyn Page>>, CommandError> {
    if at == ListenTarget::Off {
        return Ok(None);
    }
    let program = std::env::current_exe().map_err(|error| {
        CommandError::because(
            Exit::Environment,
            "cannot find the path of this program",
            &error,
        )
    })?;
    let token = FormToken::open(&ground.disk, &ground.folder().join("page-token"));
    let setting = PageSetting::read(&ground.disk, &ground.homes, &ground.environment)
        .map_err(|error| CommandError::from_error(Exit::Environment, &error))?;
    let site = Site::new(SiteSetting {
        program: Arc::new(ThisProgram {
            program,
            environment: ground.environment.clone(),
        }),
        machine: Arc::new(ThisMachine {
            disk: ground.disk.clone(),
            environment: ground.environment.clone(),
            homes: ground.homes.clone(),
        }),
        token: token.map_err(|error| disk_errors::disk_failed(&error))?,
        proxy: setting.map(|PageSetting { host, token }| Proxy { host, token }),
        disk: ground.disk.clone(),
        clock: ground
            .environment
            .clock()
            .map_err(|error| config_errors::environment(&error))?,
        version: env!("CARGO_PKG_VERSION"),
    });
    Ok(Some(Arc::new(site)))
}

/// Returns the list of projects that the page was opened for.
fn opened<'d>(disk: &'d Disk, homes: &Homes) -> Repositories<'d> {
    Repositories::new(disk, homes.machine.join("page-projects"))
}

/// Offers the project of a folder on the page, before all others; returns its root.
///
/// A folder that neither git nor Callosum knows is not offered.
///
/// # Errors
/// If the folder cannot be read, or the list cannot be written.
pub(in crate::cli) fn offer(
    disk: &Disk,
    environment: &Environment,
    homes: &Homes,
    folder: &Path,
) -> Result<Option<PathBuf>, CommandError> {
    let project = Project::load(disk, environment, folder, &ProjectOverrides::default())
        .map_err(|error| config_errors::project(&error))?;
    let tree = project.roots.tree;
    let is_there = |path: &Path| disk.exists(path).unwrap_or_default();
    if !is_there(&tree.join(".git")) && !is_there(&project.places.ledger.ledger) {
        return Ok(None);
    }
    let clock = environment
        .clock()
        .map_err(|error| config_errors::environment(&error))?;
    let list = opened(disk, homes);
    let failed = |error| disk_errors::disk_failed(&error);
    homes.create_machine(disk).map_err(failed)?;
    // Again, so that it is the last one.
    list.forget(&tree).map_err(failed)?;
    list.remember(&tree, clock.now().to_string())
        .map_err(failed)?;
    Ok(Some(tree))
}

/// Runs this program as a person does.
struct ThisProgram {
    program: PathBuf,
    environment: Environment,
}

impl ThisProgram {
    /// Returns the environment of a command: an agent that started the daemon does not speak through the page.
    fn variables(&self) -> Vec<(OsString, OsString)> {
        let is_mark = |name: &std::ffi::OsStr| MARKS.iter().any(|(mark, ..)| name == *mark);
        let variables = self.environment.iter().filter(|(name, _)| !is_mark(name));
        variables
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect()
    }
}

impl Program for ThisProgram {
    fn run(&self, root: &Path, command: &Command) -> Result<Value, CommandFailure> {
        let failed = |error: &dyn std::fmt::Display| {
            CommandFailure::new(format!("cannot run `{}`: {error}", command.line()))
        };
        let mut arguments: Vec<OsString> = vec![
            "--json".into(),
            "--no-progress".into(),
            "--no-pager".into(),
            "-C".into(),
        ];
        arguments.push(root.into());
        arguments.extend(command.arguments().iter().map(OsString::from));
        let launch = Launch {
            program: self.program.clone(),
            arguments,
            folder: root.to_owned(),
            environment: self.variables(),
            input: Vec::new(),
            limits: Limits {
                quiet: None,
                total: Some(PATIENCE),
                output_bytes: MOST_BYTES,
                error_bytes: MOST_ERROR_BYTES,
            },
        };
        let cancel = Cancel::new().map_err(|error| failed(&error))?;
        let ran = run(&launch, &cancel, &mut |_, _| {}).map_err(|error| failed(&error))?;
        let exit = match ran.ending {
            Ending::Exited(code) => code,
            Ending::Deadline => return Err(failed(&"it took longer than a minute")),
            Ending::TooMuchOutput => return Err(failed(&"it printed more than 64 MB")),
            _ => return Err(failed(&"it was ended")),
        };
        let is_empty = ran.output.iter().all(u8::is_ascii_whitespace);
        match (exit, serde_json::from_slice::<Value>(&ran.output)) {
            (0, _) if is_empty => Ok(Value::Null),
            // `recall show` and `plan show` have a field `error` of their own.
            (0, Ok(value)) => Ok(value),
            (1 | 5, Ok(value))
                if value
                    .get("error")
                    .is_none_or(|error| error.get("message").is_none()) =>
            {
                Ok(value)
            }
            (0, Err(error)) => Err(failed(&error)),
            _ => Err(CommandFailure::printed(&ran.output, &ran.error, Some(exit))),
        }
    }
}

/// The projects of this machine.
struct ThisMachine {
    disk: Disk,
    environment: Environment,
    homes: Homes,
}

impl ThisMachine {
    fn project(&self, folder: &Path) -> Option<Project> {
        Project::load(
            &self.disk,
            &self.environment,
            folder,
            &ProjectOverrides::default(),
        )
        .ok()
    }
}

impl Machine for ThisMachine {
    fn projects(&self) -> Vec<PathBuf> {
        // The projects that the page was opened for come first, the last one before the others. A list that cannot be read
        // leaves the other one.
        let mut first = opened(&self.disk, &self.homes)
            .all()
            .unwrap_or_default()
            .known;
        first.sort_by(|one, other| other.since.cmp(&one.since));
        let mut roots: Vec<PathBuf> = first.into_iter().map(|known| known.root).collect();
        roots.extend(known_projects(&self.disk, &self.homes));
        let mut seen = BTreeSet::new();
        roots.retain(|root| root.is_absolute() && root.is_dir() && seen.insert(root.clone()));
        roots.truncate(MOST_PROJECTS);
        roots
    }

    fn watched(&self, root: &Path) -> Vec<(Subject, PathBuf)> {
        let mut watched = vec![
            (Subject::Mesh, self.homes.mesh().join("events")),
            (Subject::Mesh, self.homes.pane_registry()),
            (Subject::Journal, self.homes.journal()),
            (Subject::Recall, self.homes.recall()),
            (
                Subject::Recall,
                self.homes.recall().with_extension("db-wal"),
            ),
        ];
        if let Some(project) = self.project(root) {
            let ledger = &project.places.ledger;
            let sessions = &project.roots.sessions;
            let tree = &project.roots.tree;
            watched.extend(
                ledger
                    .audit_buffer
                    .clone()
                    .map(|buffer| (Subject::Journal, buffer)),
            );
            watched.extend([
                (Subject::Snapshots, self.homes.snapshots_of(tree)),
                (Subject::Journal, ledger.audit.clone()),
                (Subject::Ledger, ledger.hashlog.clone()),
                (Subject::Ledger, ledger.ledger.clone()),
                (Subject::Sessions, sessions.join("loa-grimoire")),
                (Subject::Sessions, sessions.join(".beads")),
            ]);
        }
        watched
    }

    fn agent_at(&self, (own, other): (SocketAddr, SocketAddr)) -> Option<String> {
        let mut pid = peer::process(own, other)?;
        // Each client marks the environment of what it starts. A program may drop the mark, but the shell above it keeps it.
        for _ in 0..MOST_ANCESTORS {
            let variables = table::variables(pid);
            let found = MARKS
                .iter()
                .find(|(mark, ..)| variables.iter().any(|name| name == mark));
            if let Some((_, agent, _)) = found {
                return Some((*agent).to_owned());
            }
            pid = table::entry(pid)?.parent;
        }
        None
    }
}
