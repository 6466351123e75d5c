//! The three zones of a project, as `init` lays them and `doctor` looks at them.
//!
//! This file has the part with arguments and output; the rest is [`callosum_app::zone_report`].

use callosum_app::doctor::{Checks, Outcome};
use callosum_app::zone_report::lay;
use callosum_client::registration::ApplyMode;
use callosum_session::system::FileStatus;

use super::client_settings;
use super::context::Context;

/// Says which files of the system zone are not as we wrote them. A project without them is none
/// that something is wrong with.
pub(super) fn check(context: &Context, checks: &mut Checks) {
    const NAME: &str = "zones";
    let installed = client_settings::installed(context);
    let programs: Vec<&str> = installed.iter().map(|client| client.program).collect();
    let found = match lay(context, &programs, ApplyMode::Tell) {
        Ok(found) => found,
        Err(error) => {
            checks.add(NAME, Outcome::Warning, error.one_line(), None);
            return;
        }
    };
    let named = |wanted: FileStatus| -> Vec<&str> {
        let of = found.iter().filter(|found| found.standing == wanted);
        of.map(|found| found.path.as_str()).collect()
    };
    let (current, changed, outdated) = (
        named(FileStatus::Current),
        named(FileStatus::Changed),
        named(FileStatus::Outdated),
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
