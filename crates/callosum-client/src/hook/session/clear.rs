//! The gate before a clear: shut while `callosum session check` says no.

use std::{
    error::Error,
    path::{Path, PathBuf},
    time::Duration,
};

use callosum_redact::terminal_escape::untagged;
use callosum_session::{
    ClaimScope, Config,
    checkpoint::{Checked, Outcome},
    grounding::Threshold,
    one_line,
    trajectory::Agent,
};

use super::{HookInput, Problem, SessionProject};
use crate::hook::answer::{Answer, Reply};

/// Longest wait for another session's step.
const PATIENCE: Duration = Duration::from_secs(2);

/// Most lines of reasons in an answer.
const MOST_LINES: usize = 12;

/// The folder that an event says that it happens in.
pub(in crate::hook) fn folder_of_event(event: &[u8]) -> Option<PathBuf> {
    HookInput::read(event).folder
}

/// Returns whether a context may be cleared in this folder, or in the folder of this process if
/// none is given.
pub(in crate::hook) fn may_clear(client: &str, folder: Option<&Path>) -> Answer {
    let ground = match SessionProject::find(folder) {
        Ok(Some(ground)) => ground,
        Ok(None) => return Answer::Pass,
        Err(unfound) => {
            unfound.tell(client, "pre-clear");
            return Answer::Deny(unknown(&unfound.problem));
        }
    };
    match checked(&ground) {
        Ok(checked) if checked.permits() => Answer::Pass,
        Ok(checked) => Answer::Deny(reasons(&checked)),
        Err(problem) => {
            ground.tell(client, "pre-clear", &HookInput::default(), &problem);
            Answer::Deny(unknown(&problem))
        }
    }
}

/// Returns the answer if the check exceeded its time limit.
pub(in crate::hook) fn unchecked_in(time: Duration) -> Answer {
    let what = format!(
        "Decisions could not be checked within {} s. See `callosum session check`; after \
         `callosum session handoff` only later decisions are checked",
        time.as_secs()
    );
    Answer::Deny(what)
}

/// Returns the reply to a shadowed `/clear`: whether the context may be cleared, and by which
/// command. The reply blocks it either way, since typed text can only reach the model.
pub(super) fn typed(client: &str, folder: Option<&Path>) -> Reply {
    let text = match may_clear(client, folder) {
        Answer::Pass => "Nothing prevents it: /new clears the context.".to_owned(),
        Answer::Ask(reason) | Answer::Deny(reason) => format!("Not cleared. {reason}"),
    };
    Reply {
        stderr: format!("{text}\n"),
        exit: 2,
        ..Reply::default()
    }
}

fn checked(ground: &SessionProject) -> Result<Checked, Problem> {
    let session = ground.session(Agent::default());
    let renames = ground.renames();
    let mut held = session.hold_within(PATIENCE)?;
    // Of nothing, nothing is missing: what was committed is looked at.
    let healed = if ground.is_lost {
        held.heal(&ground.committed())?
    } else {
        held.heal_torn_notes(&ground.committed())?
    };
    held.note_healed(&healed)?;
    held.look_for_merges(&ground.committed())?;
    held.set_history(&renames);
    let config = Config::load(&session)?;
    Ok(held.check(&config, &Threshold::default(), ClaimScope::Everyone)?)
}

fn reasons(checked: &Checked) -> String {
    let blocking = checked.steps.iter();
    let blocking = blocking.filter(|step| step.outcome == Outcome::Blocked);
    let mut lines: Vec<String> = blocking
        .flat_map(|step| step.said.iter().map(|line| untagged(&one_line(line))))
        .collect();
    if lines.len() > MOST_LINES {
        let more = lines.len() - MOST_LINES;
        lines.truncate(MOST_LINES);
        lines.push(format!("and {more} more: callosum session check"));
    }
    lines.join("\n")
}

fn unknown(problem: &Problem) -> String {
    let mut words = format!("cannot tell whether decisions have evidence: {problem}");
    if let Some(cause) = problem.source() {
        words = format!("{words}: {cause}");
    }
    untagged(&one_line(&format!("{words} (callosum session check)")))
}
