//! [`Judged`]: the guard's verdict on a call.

use callosum_guard::{Decision, Policy, Verdict, decide_read, decide_write};
use callosum_json::Checksum;
use callosum_redact::terminal_escape;
use jiff::Timestamp;

use super::{
    answer::Answer,
    event::{Action, Unreadable},
    gather_facts::CallContext,
};
use callosum_config::{Permissions, Permit, StateFileError};

/// The rule for an event that could not be read.
pub const UNREADABLE: &str = "hook.unreadable";

/// The rule for a question because no snapshot holds files that would be lost.
pub(super) const NOT_HELD: &str = "snapshot.not-held";

/// The rule by which Codex is kept from opening a shell that it types into unseen.
pub(super) const OPEN_SHELL: &str = "hook.open-shell";

/// The reason why a call is answered without a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Failure {
    /// It took too long.
    TooLate,
    /// This program failed.
    Defect,
}

/// The guard's verdict on a call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Judged {
    pub(super) verdict: Verdict,
    /// The permissions by which it is allowed, by their ids.
    pub(super) permitted: Vec<String>,
    /// Errors in the user's configuration, to report with the reason.
    pub(super) remarks: Vec<String>,
}

impl Judged {
    /// Returns the guard's verdict. For several files the strictest one counts.
    ///
    /// Permissions are only looked at if a person would be asked, and lift nothing else. A `call`
    /// with a fingerprint keeps the permissions that it used up when the client asks about it
    /// again.
    pub(super) fn of(
        action: &Action,
        place: &CallContext,
        now: Option<Timestamp>,
        call: Option<&Checksum>,
    ) -> Self {
        let policy = place.policy(Vec::new());
        let verdict = match action {
            Action::Shell(command) => place.analysis(command).verdict(&policy),
            Action::Write(paths) => {
                worst_of(paths, |path| decide_write(path, &place.facts, &policy))
            }
            Action::Read(paths) => worst_of(paths, |path| decide_read(path, &place.facts, &policy)),
            Action::Other => Verdict::default(),
        };
        let mut judged = Self {
            verdict,
            remarks: place.guard.broken.iter().map(ToString::to_string).collect(),
            ..Self::default()
        };
        if let (Decision::Ask, Action::Shell(command)) = (judged.verdict.decision, action)
            && let (Some(permissions), Some(now)) = (&place.permissions, now)
        {
            match permitted(command, place, (permissions, now), call) {
                Ok((verdict, ids)) => {
                    judged.verdict = verdict;
                    judged.permitted = ids;
                }
                Err(error) => judged.remarks.push(error.to_string()),
            }
        }
        judged
    }

    /// Returns the verdict for an event that cannot be read.
    pub(super) fn unreadable(error: &Unreadable) -> Self {
        let reason = format!("callosum cannot decide on this call: {error}");
        Self::undecided(UNREADABLE, reason)
    }

    /// Returns the verdict for a call that was not decided.
    pub(super) fn failed(failure: Failure) -> Self {
        let (rule, reason) = match failure {
            Failure::TooLate => (
                "hook.too-late",
                "callosum took too long to decide on this call",
            ),
            Failure::Defect => (
                "hook.defect",
                "callosum failed on this call because of a bug in callosum",
            ),
        };
        Self::undecided(rule, reason.to_owned())
    }

    fn undecided(rule: &str, reason: String) -> Self {
        Self {
            verdict: Verdict {
                decision: Decision::Ask,
                rule: Some(rule.to_owned()),
                reason: Some(reason),
                ..Verdict::default()
            },
            ..Self::default()
        }
    }

    /// Returns a question instead, for a client that opens a shell or interpreter and does not
    /// report what it types into it.
    pub(super) fn for_open_shell(mut self) -> Self {
        self.verdict.decision = Decision::Ask;
        self.verdict.rule = Some(OPEN_SHELL.to_owned());
        self.verdict.reason = Some(
            "callosum does not see what is typed into an open shell or interpreter".to_owned(),
        );
        self.verdict.alternative =
            Some("run it as one command, such as `bash -c 'COMMAND'` or `python3 FILE`".to_owned());
        self
    }

    /// Returns a question instead, because no snapshot holds files that would be lost.
    pub(super) fn without_snapshot(mut self, lost: &[String]) -> Self {
        self.verdict.decision = Decision::Ask;
        self.verdict.rule = Some(NOT_HELD.to_owned());
        self.verdict.reason = Some(format!(
            "no snapshot contains {}, and it would be lost; `callosum snapshot create` says why",
            lost.join(", ")
        ));
        self
    }

    /// Returns the answer, with the reason and the alternative for the reader.
    pub(super) fn answer(&self) -> Answer {
        match self.verdict.decision {
            Decision::Allow => Answer::Pass,
            Decision::Ask => Answer::Ask(self.words()),
            Decision::Block => Answer::Deny(self.words()),
        }
    }

    /// Returns the answer instead of a question if no one can be asked: a denial, and how to
    /// proceed.
    ///
    /// The advice is for the agent to pass on, not to follow: the guard blocks an agent that
    /// permits its own calls.
    pub(super) fn unasked(&self, action: &Action) -> Answer {
        let way = match (self.verdict.rule.as_deref(), action) {
            (Some(UNREADABLE | OPEN_SHELL), _) | (_, Action::Other) => "",
            // No permission holds for these.
            (_, Action::Write(_) | Action::Read(_)) | (Some(NOT_HELD), _) => {
                ". No one can be asked here, so it is denied; tell the user, who can do it by hand"
            }
            (_, Action::Shell(_)) => {
                ". No one can be asked here, so it is denied; tell the user, who alone can \
                 permit it, with `callosum guard allow` in their own terminal"
            }
        };
        Answer::Deny(format!("{}{way}", self.words()))
    }

    fn words(&self) -> String {
        let verdict = &self.verdict;
        let reason = verdict.reason.as_deref().unwrap_or("a rule forbids it");
        let mut words = reason.trim_end_matches('.').to_owned();
        if let Some(alternative) = &verdict.alternative {
            words.push_str(". Instead: ");
            words.push_str(alternative);
        }
        if let Some(rule) = &verdict.rule {
            words.push_str(" (callosum guard, rule ");
            words.push_str(rule);
            words.push(')');
        }
        for remark in &self.remarks {
            words.push_str(". Note: ");
            words.push_str(remark);
        }
        // A project's own rules say what they like, and clients pass it on as it comes.
        terminal_escape::untagged(&words.replace(char::is_control, " "))
    }
}

/// Number of attempts to use permissions while others use them up.
const TRIES: usize = 8;

/// The verdict over a command with what a person has permitted, and by which permissions it is
/// allowed, if it is; those that are for one time are used up then.
fn permitted(
    command: &str,
    place: &CallContext,
    (permissions, now): (&Permissions, Timestamp),
    call: Option<&Checksum>,
) -> Result<(Verdict, Vec<String>), StateFileError> {
    let decided = |permits: &[Permit]| {
        let (once, lasting): (Vec<_>, Vec<_>) = permits.iter().partition(|permit| permit.once);
        let patterns = |permits: Vec<&Permit>| {
            let patterns = permits.into_iter().map(|permit| permit.pattern.clone());
            patterns.collect::<Vec<_>>()
        };
        let policy = Policy {
            once: patterns(once),
            ..place.policy(patterns(lasting))
        };
        place.analysis(command).verdict(&policy)
    };
    let is_allowed = |verdict: &Verdict| verdict.decision == Decision::Allow;
    for _ in 0..TRIES {
        let mut needed: Vec<Permit> = permissions
            .holding(now)?
            .into_iter()
            .map(|(_, permit)| permit)
            .collect();
        // After what holds: another hook of the same call may use it up between these two looks.
        let used = call.map(|call| permissions.used_by(call, now));
        let used = used.transpose()?.unwrap_or_default();
        needed.extend(used.iter().cloned());
        let verdict = decided(&needed);
        if !is_allowed(&verdict) {
            return Ok((verdict, Vec::new()));
        }
        // What is for one time goes first, so that it is used up only if the command needs it; what this call has used up
        // already goes last.
        needed.sort_by_key(|permit| match (used.contains(permit), permit.once) {
            (false, true) => 0,
            (false, false) => 1,
            (true, _) => 2,
        });
        let mut at = 0;
        while at < needed.len() {
            let permit = needed.remove(at);
            if !is_allowed(&decided(&needed)) {
                needed.insert(at, permit);
                at += 1;
            }
        }
        let once = needed
            .iter()
            .filter(|permit| permit.once && !used.contains(permit));
        let once: Vec<&str> = once.map(|permit| permit.id.as_str()).collect();
        if once.is_empty() || permissions.use_up(&once, call, now)? {
            let ids = needed.into_iter().map(|permit| permit.id).collect();
            return Ok((verdict, ids));
        }
    }
    Ok((decided(&[]), Vec::new()))
}

/// Returns the strictest verdict on these paths.
fn worst_of(paths: &[String], verdict: impl Fn(&str) -> Verdict) -> Verdict {
    let verdicts = paths.iter().map(|path| verdict(path));
    let stricter = |worst: Verdict, next: Verdict| {
        if next.decision > worst.decision {
            next
        } else {
            worst
        }
    };
    verdicts.reduce(stricter).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CAKE-SHIM-1: the reason and the alternative are in the answer.
    #[test]
    fn the_words_hold_reason_alternative_and_rule() {
        let judged = Judged {
            verdict: Verdict {
                decision: Decision::Block,
                rule: Some("git.reset-hard".to_owned()),
                reason: Some("it throws\u{1b}changes away.".to_owned()),
                alternative: Some("git stash".to_owned()),
                ..Verdict::default()
            },
            ..Judged::default()
        };
        let words =
            "it throws changes away. Instead: git stash (callosum guard, rule git.reset-hard)";
        assert_eq!(judged.answer(), Answer::Deny(words.to_owned()));
        let unreadable = Judged::unreadable(&Unreadable::NotAnObject);
        let words = "callosum cannot decide on this call: the event is not a JSON object \
                     (callosum guard, rule hook.unreadable)";
        assert_eq!(unreadable.answer(), Answer::Ask(words.to_owned()));
    }
}
