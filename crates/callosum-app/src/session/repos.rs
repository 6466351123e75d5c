//! `callosum session repos`: the projects of this machine that one session may name to another; and
//! what the other commands need of them.

use std::path::{Component, Path, PathBuf};

use callosum_config::{Repositories, Roots, place_sessions};
use callosum_session::Zones;
use schemars::JsonSchema;
use serde::Serialize;

use crate::context::Context;
use crate::session::heal;
use crate::{CommandError, Exit, disk_errors, shell_word};

/// `callosum session repos --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub struct ReposOutput {
    /// Those that are known, in the order of their roots.
    pub repositories: Vec<RepoOutput>,
    /// Files of the list that were not understood.
    pub unread: Vec<String>,
}

/// A project that is known.
#[derive(Debug, JsonSchema, Serialize)]
pub struct RepoOutput {
    /// Its root.
    pub root: String,
    /// When it was first known.
    pub since: String,
    /// `sessions` where sessions are kept there, `none` where not, `gone` where it is not there any more.
    pub state: String,
}

/// Removes a project from the list.
pub fn forget(context: &Context, path: &str) -> Result<(), CommandError> {
    // One that is gone can be forgotten too, by the path that it had.
    let root = Roots::find(&context.disk, &context.folder, Some(Path::new(path)));
    let root = root.map_or_else(
        |_| without_dots(&context.folder.join(path)),
        |roots| roots.state,
    );
    let was_known = list(context)
        .forget(&root)
        .map_err(|error| disk_errors::disk_failed(&error))?;
    if was_known {
        context.report.say(&format!("forgot {}", root.display()));
        return Ok(());
    }
    let what = format!("`{}` is not in the list", root.display());
    Err(CommandError::new(Exit::No, what).hint("callosum session repos"))
}

/// A path of what is not there, so that no link tells where `..` leads.
fn without_dots(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                plain.pop();
            }
            Component::CurDir => {}
            part => plain.push(part),
        }
    }
    plain
}

/// Returns the state of a listed project.
pub fn state(context: &Context, root: &Path) -> &'static str {
    let zones = Zones {
        tree: root.to_owned(),
        root: root.to_owned(),
    };
    match context.disk.exists(root) {
        Ok(true) if zones.are_used(&context.disk).unwrap_or(false) => "sessions",
        Ok(true) => "none",
        _ => "gone",
    }
}

/// Returns the list of projects.
pub fn list(context: &Context) -> Repositories<'_> {
    Repositories::new(&context.disk, context.project.homes.repositories())
}

/// Adds this project to the list of known ones. A failure must not stop anything else.
pub fn remember(context: &Context) {
    let now = context.clock.now().strftime("%Y-%m-%dT%H:%M:%SZ");
    if let Err(error) = list(context).remember(context.state(), now.to_string()) {
        let what = format!("other projects will not see this one: {error}");
        context.report.detail(&what);
    }
}

/// The project that was begun, where a folder within it is named that git or a file of ours takes for a root.
fn known_above(context: &Context, roots: Roots) -> Result<Roots, CommandError> {
    for root in roots.state.ancestors() {
        let is_known = list(context).know(root);
        if is_known.map_err(|error| disk_errors::disk_failed(&error))? {
            return Ok(if root == roots.state {
                roots
            } else {
                Roots {
                    tree: root.to_owned(),
                    sessions: root.to_owned(),
                    state: root.to_owned(),
                    foreign: Vec::new(),
                }
            });
        }
    }
    Ok(roots)
}

/// The zones of another project, which must be known, and have sessions.
pub fn other(context: &Context, path: &str) -> Result<Zones, CommandError> {
    let roots = known(context, path)?;
    let shown = roots.sessions.display().to_string();
    let zones = Zones {
        tree: roots.tree,
        root: roots.sessions,
    };
    let are_used = zones.are_used(&context.disk);
    if !are_used.map_err(|error| disk_errors::disk_failed(&error))? {
        let what = format!("`{shown}` has no sessions");
        return Err(CommandError::new(Exit::No, what).hint(begin(&shown)));
    }
    Ok(zones)
}

/// The same for a project that gets a delivery: if all of its committed files are lost, they are
/// repaired first.
pub fn receiving(context: &Context, path: &str) -> Result<Zones, CommandError> {
    let roots = known(context, path)?;
    let zones = Zones {
        tree: roots.tree.clone(),
        root: roots.sessions.clone(),
    };
    let are_used = zones.are_used(&context.disk);
    let are_used = are_used.map_err(|error| disk_errors::disk_failed(&error))?;
    if !are_used && roots.commit_sessions(&context.disk) {
        heal::heal_other(context, &zones)?;
    }
    other(context, path)
}

/// Returns the command that begins sessions there.
fn begin(shown: &str) -> String {
    format!("callosum -C {} init", shell_word(shown))
}

/// The roots of another project, with the folder of its session files.
fn roots_of(context: &Context, path: &str) -> Result<Roots, CommandError> {
    let roots = Roots::find(&context.disk, &context.folder, Some(Path::new(path)));
    let roots = roots.map_err(|error| {
        CommandError::from_error(Exit::Usage, &error).hint("callosum session repos")
    })?;
    let mut roots = known_above(context, roots)?;
    place_sessions(&context.disk, &context.project.homes, &mut roots);
    Ok(roots)
}

/// Another project that was begun on this machine.
pub fn known(context: &Context, path: &str) -> Result<Roots, CommandError> {
    let roots = roots_of(context, path)?;
    // A linked worktree with sessions of its own is another one.
    if roots.sessions == context.sessions() {
        let what = format!("`{path}` is this project itself");
        return Err(CommandError::new(Exit::Usage, what));
    }
    let shown = roots.sessions.display().to_string();
    let is_known = list(context).know(&roots.state);
    if !is_known.map_err(|error| disk_errors::disk_failed(&error))? {
        let what = format!("`{shown}` was not initialized on this machine");
        return Err(CommandError::new(Exit::Usage, what).hint(begin(&shown)));
    }
    Ok(roots)
}
