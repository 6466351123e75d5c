//! The state that `bd` has of a bead, and the changes sent to it, if `bd` is in use.
//!
//! Our own files are read and written regardless of `bd`: its failures are reported as warnings.

use std::collections::HashMap;

use callosum_session::bead::{Bead, BeadId, BeadUpdate, NewBead, STATUSES, is_closed};
use callosum_session::{LockedSession, SessionError};

use crate::bead::diff::ForkOutput;
use crate::bead::{nobody, unchanged, uncreated};
use crate::beads_cli::{Bd, BdError, Issue};
use crate::context::Context;
use crate::session::session;
use crate::{CommandError, Exit};

fn bd(context: &Context) -> Option<Bd<'_>> {
    Bd::of(
        &context.disk,
        &context.environment,
        context.sessions(),
        &context.cancel,
    )
}

fn warn(context: &Context, error: &BdError) {
    let what = CommandError::from_error(Exit::Environment, error).one_line();
    context.report.warn(&what, None);
}

/// Lists the tasks that `bd` reports as ready; empty if `bd` is not used.
pub fn ready(context: &Context) -> Vec<Issue> {
    let Some(bd) = bd(context) else {
        return Vec::new();
    };
    bd.ready().unwrap_or_else(|error| {
        warn(context, &error);
        Vec::new()
    })
}

/// Compares a bead with its task in `bd`. Title, status and priority are `bd`'s own.
pub fn forks(context: &Context, id: &BeadId, bead: &Bead) -> Vec<ForkOutput> {
    let Some(bd) = bd(context) else {
        return Vec::new();
    };
    match bd.show(id.as_str()) {
        Ok(Some(issue)) => differing(id, bead, &issue),
        Ok(None) => Vec::new(),
        Err(error) => {
            warn(context, &error);
            Vec::new()
        }
    }
}

/// Compares these beads with their tasks in `bd`. Asks about the current one; the others are
/// compared with the tasks that `bd` lists as ready.
pub fn forks_of(
    context: &Context,
    beads: &[(String, Bead)],
    current: Option<&BeadId>,
) -> Vec<ForkOutput> {
    if beads.is_empty() {
        return Vec::new();
    }
    let ready = ready(context);
    let ready: HashMap<&str, &Issue> = ready.iter().map(|one| (one.id.as_str(), one)).collect();
    let of_one = |(id, bead): &(String, Bead)| {
        let id = BeadId::new(id)?;
        if current == Some(&id) {
            return Some(forks(context, &id, bead));
        }
        Some(differing(&id, bead, ready.get(id.as_str())?))
    };
    beads.iter().filter_map(of_one).flatten().collect()
}

/// A bead that `bd` knows; nothing where it does not, or is not used.
pub fn known(context: &Context, id: &BeadId) -> Option<Issue> {
    let shown = bd(context)?.show(id.as_str());
    shown.unwrap_or_else(|error| {
        warn(context, &error);
        None
    })
}

/// Makes our own file of a bead that `bd` alone has, before something is written into it: decisions and
/// hand-offs stand in ours. Nothing where there is a file, or `bd` does not know it either.
pub fn adopt(context: &Context, held: &LockedSession<'_>, id: &BeadId) -> Result<(), CommandError> {
    let zones = context.zones();
    let session = session(context, &zones, nobody());
    if !matches!(session.bead(id), Err(SessionError::NoBead { .. })) {
        return Ok(());
    }
    let Some(issue) = known(context, id) else {
        return Ok(());
    };
    let new = NewBead {
        id: Some(id.clone()),
        title: issue.title,
        kind: "task".to_owned(),
        priority: issue.priority,
        needs: Vec::new(),
    };
    held.create_bead(&new, String::new)
        .map_err(|error| uncreated(&error))?;
    let status = BeadUpdate {
        status: Some(issue.status).filter(|status| STATUSES.contains(&status.as_str())),
        ..BeadUpdate::default()
    };
    held.update_bead(id, &status)
        .map_err(|error| unchanged(&error))?;
    let file = session.zones.named(&session.zones.beads().join(id.file()));
    context.report.say(&format!("created {file} from `bd`"));
    Ok(())
}

/// Tells `bd` what was decided or handed off.
pub fn tell(context: &Context, id: &BeadId, words: &str) {
    let Some(bd) = bd(context) else { return };
    let known = bd.show(id.as_str());
    let result = match known {
        Ok(Some(_)) => bd.note(id.as_str(), words),
        Ok(None) => Ok(()),
        Err(error) => Err(error),
    };
    if let Err(error) = result {
        warn(context, &error);
    }
}

/// Makes a new bead in `bd` too, of what is its own, unless it knows one of this id.
pub fn create(context: &Context, id: &BeadId, new: &NewBead) {
    let Some(bd) = bd(context) else { return };
    let fields = [
        ("--title", new.title.clone()),
        ("--type", new.kind.clone()),
        ("--priority", new.priority.to_string()),
    ];
    let made = bd.show(id.as_str()).and_then(|known| match known {
        Some(_) => Ok(()),
        None => bd.create(id.as_str(), &fields),
    });
    if let Err(error) = made {
        warn(context, &error);
    }
}

/// Makes in `bd` the changes to a bead that it knows, of what is its own: title, status, priority,
/// who does it.
pub fn change(context: &Context, id: &BeadId, update: &BeadUpdate) {
    let Some(bd) = bd(context) else { return };
    let closes = update.status.as_deref().is_some_and(is_closed);
    let status = update.status.clone().filter(|_| !closes);
    let priority = update.priority.map(|priority| priority.to_string());
    let changes: Vec<(&str, String)> = [
        ("--title", update.title.clone()),
        ("--status", status),
        ("--priority", priority),
        ("--assignee", update.assignee.clone()),
    ]
    .into_iter()
    .filter_map(|(option, value)| Some((option, value?)))
    .collect();
    if changes.is_empty() && !closes {
        return;
    }
    let made = bd.show(id.as_str()).and_then(|known| {
        if known.is_none() {
            return Ok(());
        }
        if !changes.is_empty() {
            bd.update(id.as_str(), &changes)?;
        }
        if closes {
            bd.close(id.as_str())
        } else {
            Ok(())
        }
    });
    if let Err(error) = made {
        warn(context, &error);
    }
}

fn differing(id: &BeadId, bead: &Bead, issue: &Issue) -> Vec<ForkOutput> {
    let mut forks = Vec::new();
    let mut fork = |what: String| {
        forks.push(ForkOutput {
            trusted_source: "bd".to_owned(),
            stale_source: "bead".to_owned(),
            what,
        });
    };
    if issue.title != bead.title {
        fork(format!("the title of {id} is \"{}\"", issue.title));
    }
    let is_other = issue.status != bead.status
        && !(is_closed(&issue.status) && is_closed(&bead.status))
        && !issue.status.is_empty();
    if is_other {
        fork(format!("{id} is {}", issue.status));
    }
    if issue.priority != bead.priority {
        fork(format!("the priority of {id} is {}", issue.priority));
    }
    forks
}

#[cfg(test)]
mod tests {
    use super::*;

    /// LOA-TRUTH-1: the fields that `bd` owns are compared, and any word for closed counts as
    /// closed.
    #[test]
    fn what_bd_owns_is_compared() {
        let id = BeadId::new("bd-1").unwrap();
        let bead = Bead {
            title: "T".to_owned(),
            status: "done".to_owned(),
            priority: 1,
            ..Bead::default()
        };
        let mut issue = Issue {
            id: "bd-1".to_owned(),
            title: "T".to_owned(),
            status: "closed".to_owned(),
            priority: 1,
        };
        assert_eq!(differing(&id, &bead, &issue).len(), 0);
        issue.status = "open".to_owned();
        issue.title = "U".to_owned();
        issue.priority = 0;
        let lines: Vec<String> = differing(&id, &bead, &issue)
            .iter()
            .map(ForkOutput::line)
            .collect();
        assert_eq!(
            lines,
            [
                "bd overrides bead: the title of bd-1 is \"U\"\n",
                "bd overrides bead: bd-1 is open\n",
                "bd overrides bead: the priority of bd-1 is 0\n",
            ]
        );
    }
}
