//! `callosum session`: memory that outlives an agent's context.

pub mod budget;
pub mod check;
pub mod checkpoint;
pub mod decide;
pub mod decisions;
pub mod ghost;
pub mod grounding;
pub mod handoff;
pub mod heal;
mod open;
pub mod recipient;
pub mod recover;
pub mod repos;
pub mod resolve;
mod session_errors;
pub mod status;
pub mod sync;

pub use self::budget::BudgetOutput;
pub use self::check::CheckpointOutput;
pub use self::checkpoint::SynthesisOutput;
pub use self::decide::{DecideOutput, bead_id, decide, decided_by, tell_bd_decided};
pub use self::decisions::DecisionsOutput;
pub use self::ghost::GhostOutput;
pub use self::grounding::{GroundingOutput, unknown};
pub use self::handoff::{HandoffOutput, tell_bd};
pub use self::heal::{HealOutput, heal_torn_notes, look_for_merges, renames};
pub use self::open::{mend, session, tell_mended};
pub use self::recover::{RecoverOptions, RecoverOutput, recover};
pub use self::repos::{ReposOutput, remember};
pub use self::resolve::ResolveOutput;
pub use self::session_errors::{explain, undecided};
pub use self::status::SessionStatusOutput;
pub use self::sync::SyncOutput;

use std::borrow::Cow;
use std::path::Path;

use callosum_arbiter::suggest::nearest;
use callosum_arbiter::truncate::excerpt;
use callosum_redact::secrets::Kind;
use callosum_redact::terminal_escape::harmless;
use callosum_session::evidence::{Evidence, ROOT_PREFIX, Relative};
use callosum_session::trajectory::Agent;
use callosum_session::{Config, FileMove, UnknownKey};

use crate::context::Context;
use crate::{CommandError, Exit};

/// A name as an agent's.
pub fn agent(name: &str) -> Result<Agent, CommandError> {
    Agent::new(name).map_err(|error| CommandError::from_error(Exit::Usage, &error))
}

/// Says which cited files were moved, and are cited where they are now.
pub fn say_moved(context: &Context, moved: &[FileMove]) {
    for moved in moved {
        context.report.say(&harmless(&moved.to_string()));
    }
}

/// Says what of the settings was not understood.
pub fn tell_faults(context: &Context, config: &Config) {
    for line in faults_of(config) {
        context.report.warn(&harmless(&line), None);
    }
}

/// Lists the faults of the settings, each with file and line. An unknown key is a fault only if it
/// looks like a misspelt one: others may be of other programs.
pub fn faults_of(config: &Config) -> impl Iterator<Item = String> {
    let faults = config.faults.iter();
    let faults = faults.map(|fault| format!(".loa.config.yaml:{}: {}", fault.line, fault.what));
    faults.chain(config.unknown.iter().filter_map(misspelt))
}

fn misspelt(key: &UnknownKey) -> Option<String> {
    let meant = nearest(&key.name, key.known().iter().copied())?;
    let (line, section) = (key.line, &key.section);
    let name = excerpt(&key.name);
    Some(format!(
        ".loa.config.yaml:{line}: unknown key `{section}{name}`, did you mean `{section}{meant}`?"
    ))
}

/// Says that secrets were taken out before anything was written.
pub fn tell_redacted(context: &Context, kinds: &[Kind]) {
    if kinds.is_empty() {
        return;
    }
    let mut names: Vec<&str> = kinds.iter().map(|kind| kind.name()).collect();
    names.sort_unstable();
    names.dedup();
    let what = format!("removed secrets before writing: {}", names.join(", "));
    context.report.warn(&what, None);
}

/// A place as a person types it: from the root, with or without `${PROJECT_ROOT}/`, or from the top of
/// the disk, where it is below the root; also as tools print one, `path:12:4` or `path#L12-L15`.
pub fn place(context: &Context, text: &str) -> Result<Evidence, CommandError> {
    let tree = context.tree();
    let below = Path::new(text).strip_prefix(tree).ok();
    let below = below.and_then(Path::to_str).unwrap_or(text);
    let named = Evidence::parse(&as_lines(below), Relative::Accepted).ok_or_else(|| {
        CommandError::new(
            Exit::Usage,
            format!("`{text}` does not name lines of a file"),
        )
        .hint("write `src/main.rs:12` or `src/main.rs:12-15`, relative to the root")
    })?;
    let is_there = |path: &Path| context.disk.exists(path).unwrap_or(false);
    let here = context.folder.join(&named.path);
    let here = here.strip_prefix(tree).ok().filter(|_| is_there(&here));
    match here.and_then(Path::to_str) {
        Some(here) if !is_there(&tree.join(&named.path)) => {
            let meant = Evidence {
                path: here.to_owned(),
                ..named.clone()
            };
            let meant = meant.identifier();
            let meant = meant.strip_prefix(ROOT_PREFIX).unwrap_or(&meant);
            let what = format!("there is no `{}` below the root", named.path);
            let hint = format!("paths are relative to the root: {meant}");
            Err(CommandError::new(Exit::No, what).hint(hint))
        }
        _ => Ok(named),
    }
}

/// A place without the column that tools print behind its line, and with its lines behind a colon.
fn as_lines(place: &str) -> Cow<'_, str> {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if let Some((path, lines)) = place.rsplit_once("#L") {
        let lines = lines.replace('L', "");
        return format!("{path}:{lines}").into();
    }
    let before = place
        .rsplit_once(':')
        .filter(|(_, column)| is_number(column));
    let line = before.and_then(|(before, _)| before.rsplit_once(':'));
    match (before, line) {
        (Some((before, _)), Some((_, line))) if is_number(line) => before.into(),
        _ => place.into(),
    }
}
