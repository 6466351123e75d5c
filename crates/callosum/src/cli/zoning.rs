//! The three zones of a project, as `init` lays them and `doctor` looks at them.

use callosum_session::{
    system::{Standing, Surveyed, survey},
    trajectory::Agent,
};
use schemars::JsonSchema;
use serde::Serialize;

use super::{
    clients,
    context::Context,
    doctor::{Checks, Outcome},
    session,
};
use crate::ui::CommandError;
use callosum_client::registration::Doing;

/// A file of the zones that was there before.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub(crate) struct ZoneOutput {
    /// The file, from the root.
    pub(crate) path: String,
    /// `updated`, `extended`, `changed by someone`, `someone else's` or `outside of the project`;
    /// files in the last three states are not changed.
    pub(crate) standing: String,
}

/// Lays the zones, with what these clients have in forms of their own, or says how they stand.
pub(super) fn lay(
    context: &Context,
    clients: &[&str],
    doing: Doing,
) -> Result<Vec<Surveyed>, CommandError> {
    let zones = session::zones(context);
    let session = session::session(context, &zones, Agent::default());
    if doing == Doing::Tell {
        return survey(&session, clients).map_err(|error| session::explain(&error));
    }
    let held = session.hold().map_err(|error| session::explain(&error))?;
    session::tell_mended(context, &held);
    held.lay(clients).map_err(|error| session::explain(&error))
}

/// What is created.
pub(super) fn created(found: &[Surveyed]) -> impl Iterator<Item = &str> {
    found
        .iter()
        .filter(|found| found.standing == Standing::Missing)
        .map(|found| found.path.as_str())
}

/// What was there before and is not as it should be, or is not now.
pub(super) fn outputs(found: &[Surveyed]) -> Vec<ZoneOutput> {
    found
        .iter()
        .filter(|found| !matches!(found.standing, Standing::Missing | Standing::Current))
        .map(|found| ZoneOutput {
            path: found.path.clone(),
            standing: found.standing.to_string(),
        })
        .collect()
}

/// Tells of what was there before.
pub(super) fn tell(context: &Context, found: &[Surveyed]) {
    for found in found {
        let Surveyed { path, standing, .. } = found;
        match standing {
            Standing::Missing | Standing::Current => {}
            Standing::Outdated | Standing::Extended => {
                context.report.say(&format!("{path}: {standing}"));
            }
            Standing::Changed | Standing::Foreign | Standing::Outside => {
                context
                    .report
                    .warn(&format!("{path}: {standing}, not changed"), None);
            }
        }
    }
}

/// The names that git is to ignore: what is ours alone.
pub(super) fn ignored(found: &[Surveyed]) -> Vec<String> {
    let ours = found.iter().filter(|found| {
        matches!(
            found.standing,
            Standing::Missing | Standing::Current | Standing::Outdated
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

/// Says which files of the system zone are not as we wrote them. A project without them is none
/// that something is wrong with.
pub(super) fn check(context: &Context, checks: &mut Checks) {
    const NAME: &str = "zones";
    let installed = clients::installed(context);
    let programs: Vec<&str> = installed.iter().map(|client| client.program).collect();
    let found = match lay(context, &programs, Doing::Tell) {
        Ok(found) => found,
        Err(error) => {
            checks.add(NAME, Outcome::Warning, error.one_line(), None);
            return;
        }
    };
    let named = |wanted: Standing| -> Vec<&str> {
        let of = found.iter().filter(|found| found.standing == wanted);
        of.map(|found| found.path.as_str()).collect()
    };
    let (current, changed, outdated) = (
        named(Standing::Current),
        named(Standing::Changed),
        named(Standing::Outdated),
    );
    let is_laid = |path: &&str| path.starts_with(".claude/");
    if !changed.is_empty() {
        let what = format!("edited: {}", changed.join(" "));
        let what = format!("{what}; to get the original back, remove the file and run init");
        checks.add(
            NAME,
            Outcome::Warning,
            what,
            Some("callosum init --sessions"),
        );
    }
    if !outdated.is_empty() {
        let what = format!("from an older version: {}", outdated.join(" "));
        checks.add(
            NAME,
            Outcome::Warning,
            what,
            Some("callosum init --sessions"),
        );
    }
    if changed.is_empty() && outdated.is_empty() && current.iter().any(is_laid) {
        checks.add(NAME, Outcome::Ok, "unchanged since init", None);
    }
}
