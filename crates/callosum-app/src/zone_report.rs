//! The three zones of a project, as `init` lays them and `doctor` looks at them.

use callosum_client::registration::ApplyMode;
use callosum_session::system::{FileStatus, Surveyed, survey};
use callosum_session::trajectory::Agent;
use schemars::JsonSchema;
use serde::Serialize;

use crate::context::Context;
use crate::{CommandError, session};

/// A file of the zones that was there before.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct ZoneOutput {
    /// The file, from the root.
    pub path: String,
    /// `updated`, `extended`, `changed by someone`, `someone else's` or `outside of the project`;
    /// files in the last three states are not changed.
    pub standing: String,
}

/// Lays the zones, with what these clients have in forms of their own, or says how they stand.
pub fn lay(
    context: &Context,
    clients: &[&str],
    doing: ApplyMode,
) -> Result<Vec<Surveyed>, CommandError> {
    let zones = context.zones();
    let session = session::session(context, &zones, Agent::default());
    if doing == ApplyMode::Tell {
        return survey(&session, clients).map_err(|error| session::explain(&error));
    }
    let held = session.hold().map_err(|error| session::explain(&error))?;
    session::tell_mended(context, &held);
    held.lay(clients).map_err(|error| session::explain(&error))
}

/// Lists the files that are created.
pub fn created(found: &[Surveyed]) -> impl Iterator<Item = &str> {
    found
        .iter()
        .filter(|found| found.standing == FileStatus::Missing)
        .map(|found| found.path.as_str())
}

/// Lists the files that existed and were not current, updated or not.
pub fn outputs(found: &[Surveyed]) -> Vec<ZoneOutput> {
    found
        .iter()
        .filter(|found| !matches!(found.standing, FileStatus::Missing | FileStatus::Current))
        .map(|found| ZoneOutput {
            path: found.path.clone(),
            standing: found.standing.to_string(),
        })
        .collect()
}

/// Tells of what was there before.
pub fn tell(context: &Context, found: &[Surveyed]) {
    for found in found {
        let Surveyed { path, standing, .. } = found;
        match standing {
            FileStatus::Missing | FileStatus::Current => {}
            FileStatus::Outdated | FileStatus::Extended => {
                let in_git = if is_tracked(context, path) {
                    "; git tracks it and will show it as changed"
                } else {
                    ""
                };
                context.report.say(&format!("{path}: {standing}{in_git}"));
            }
            FileStatus::Changed | FileStatus::Foreign | FileStatus::Outside => {
                context
                    .report
                    .warn(&format!("{path}: {standing}, not changed"), None);
            }
        }
    }
}

/// Returns whether git tracks a file of the zones.
fn is_tracked(context: &Context, path: &str) -> bool {
    let printed =
        session::heal::committed(context).git_with(&["ls-files", "-z", "--", path], Vec::new());
    printed.is_some_and(|names| !names.is_empty())
}

/// The names that git is to ignore: what is ours alone.
pub fn ignored(found: &[Surveyed]) -> Vec<String> {
    let ours = found.iter().filter(|found| {
        matches!(
            found.standing,
            FileStatus::Missing | FileStatus::Current | FileStatus::Outdated
        )
    });
    let mut names: Vec<String> = ours
        .map(|found| match found.path.split_once('/') {
            Some(("loa-grimoire", _)) => "/loa-grimoire/".to_owned(),
            _ => format!("/{}", found.path),
        })
        .collect();
    names.push("/.claude/checksums.json".to_owned());
    names.dedup();
    names
}
