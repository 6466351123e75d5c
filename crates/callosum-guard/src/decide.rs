//! The decision: every command that would run is checked by every rule that applies to it.
//!
//! The strictest answer counts, of equals the first. Text that was not understood is never taken
//! for harmless: the verdict notes it, and if it has a dangerous word, a person is asked.

use crate::{
    analyze::{Analysis, Call, Subject, value::display_words},
    command_analysis::CommandAnalysis,
    data_loss,
    facts::Facts,
    harmless::{Relief, is_own_discard},
    link, overwrite,
    permission::Permission,
    policy::{CONFIRM, Policy, UserRule},
    protect,
    rule::{self, GENERAL, Strictness, Tool},
    secret_read,
    shell::ParseError,
    text_patterns,
    verdict::{Coverage, Decision, Explanation, RuleMatch, RuleTrace, Step, Verdict},
};

/// Decides over a command line.
///
/// Pure. Takes some microseconds for a usual command; work is bounded for any text.
pub fn decide(command: &str, facts: &Facts, policy: &Policy) -> Verdict {
    CommandAnalysis::of(command, facts).verdict(policy)
}

/// Decides, and lists every command that would run and every rule that looked.
pub fn explain(command: &str, facts: &Facts, policy: &Policy) -> Explanation {
    CommandAnalysis::of(command, facts).explain(policy)
}

impl CommandAnalysis {
    /// Decides over the line.
    pub fn verdict(&self, policy: &Policy) -> Verdict {
        let (verdict, alternatives) = judge(self, policy, None);
        with_alternative(verdict, alternatives, self.facts(), policy)
    }

    /// Decides, and lists every command that would run and every rule that was checked.
    pub fn explain(&self, policy: &Policy) -> Explanation {
        let mut steps = Vec::new();
        let (verdict, alternatives) = judge(self, policy, Some(&mut steps));
        let verdict = with_alternative(verdict, alternatives, self.facts(), policy);
        Explanation { verdict, steps }
    }
}

/// Adds the first alternative that the guard would allow as well: under `paranoid` it may allow
/// none. Alternatives of an alternative are never looked for, with any rules of a project.
fn with_alternative(
    verdict: Verdict,
    alternatives: Vec<String>,
    facts: &Facts,
    policy: &Policy,
) -> Verdict {
    if alternatives.is_empty() {
        return verdict;
    }
    let policy = Policy {
        permissions: Vec::new(),
        once: Vec::new(),
        confirm: false,
        ..policy.clone()
    };
    let is_allowed = |alternative: &String| {
        let alternative = CommandAnalysis::of(alternative, facts);
        judge(&alternative, &policy, None).0.decision == Decision::Allow
    };
    Verdict {
        alternative: alternatives.into_iter().find(is_allowed),
        ..verdict
    }
}

/// Limit on the reported files that may be lost.
const MOST_NAMED: usize = 64;

/// Decides, and returns the alternatives of the rule that counts, even those that the guard would
/// stop.
fn judge(
    command: &CommandAnalysis,
    policy: &Policy,
    mut steps: Option<&mut Vec<Step>>,
) -> (Verdict, Vec<String>) {
    let (found, facts) = (command.analysis(), command.facts());
    let linked;
    let facts = if found.links.is_empty() {
        facts
    } else {
        linked = link::with_made(facts, &found.links);
        &linked
    };
    let mut worst: Option<RuleMatch> = None;
    let mut opaque = 0usize;
    let mut named = 0usize;
    let mut destroys = false;
    let mut lost: Vec<String> = Vec::new();
    let mut overwrites: Vec<String> = Vec::new();
    let mut once: Vec<&Permission> = policy.once.iter().collect();
    let mut let_through: Vec<String> = Vec::new();
    let relief = Relief::find(command.text(), &found.calls, facts);
    for (at, call) in found.calls.iter().enumerate() {
        let mut step = steps.as_ref().map(|_| Step {
            depth: call.depth,
            via: call.via.clone(),
            command: display_words(&call.words),
            looked: Vec::new(),
        });
        if !call.words.is_empty() {
            named += 1;
            let subject = GENERAL.read(call, facts);
            opaque += usize::from(rule::is_opaque(&subject));
        }
        let allowed = policy
            .permissions
            .iter()
            .any(|permission| permission.covers(&call.words));
        let mut hits = Vec::new();
        look(call, facts, policy, &mut hits, step.as_mut());
        let held = hits.len();
        if let Some(relief) = &relief {
            hits.retain(|hit| !relief.lifts(at, &hit.rule));
        }
        if policy.relaxed_worktrees {
            hits.retain(|hit| !is_own_discard(call, &hit.rule, facts));
        }
        let is_harmless = hits.is_empty() && held > 0;
        let loses = !hits.is_empty()
            || !is_harmless && data_loss::loses(call, facts)
            || policy.strictness == Strictness::Minimal && data_loss::is_grave(call, facts);
        destroys |= loses;
        if loses {
            let named = data_loss::named(call, facts);
            for path in named.flat_map(|path| data_loss::with_places_before(path, &found.moves)) {
                if lost.len() < MOST_NAMED && !lost.contains(&path) {
                    lost.push(path);
                }
            }
        }
        for path in overwrite::written_over(call, facts) {
            if overwrites.len() < MOST_NAMED && !overwrites.contains(&path) {
                overwrites.push(path);
            }
        }
        hits.extend(secret_read::objection(call, facts, policy));
        let is_call = !call.words.is_empty() || !call.writes.is_empty();
        if hits.is_empty() && policy.confirm && is_call {
            hits.push(RuleMatch {
                decision: Decision::Ask,
                rule: CONFIRM.0.to_owned(),
                reason: CONFIRM.1.to_owned(),
                alternatives: Vec::new(),
                subject: display_words(&call.words),
            });
        }
        // A guess is not enough to block, nor is an action in a container or elsewhere on folders
        // that only look like this machine's.
        for hit in hits.iter_mut().filter(|_| call.guessed) {
            hit.decision = hit.decision.min(Decision::Ask);
        }
        let is_asked = hits.iter().any(|hit| hit.decision == Decision::Ask);
        let allowed = allowed || is_asked && lets_one_through(&mut once, &mut let_through, call);
        for hit in hits {
            if allowed && hit.decision == Decision::Ask {
                continue;
            }
            if worst
                .as_ref()
                .is_none_or(|worst| hit.decision > worst.decision)
            {
                worst = Some(hit);
            }
        }
        if let (Some(steps), Some(step)) = (steps.as_deref_mut(), step) {
            steps.push(step);
        }
    }
    let read = secret_read::redirection(found, facts, policy);
    for hit in text_patterns::objections(command.text(), found, policy)
        .into_iter()
        .chain(read)
    {
        if worst
            .as_ref()
            .is_none_or(|worst| hit.decision > worst.decision)
        {
            worst = Some(hit);
        }
    }
    let verdict = Verdict {
        coverage: coverage(found, named, opaque),
        destroys,
        overwrites,
        named: lost,
        ..Verdict::default()
    };
    match worst {
        Some(hit) => (
            Verdict {
                decision: hit.decision,
                rule: Some(hit.rule),
                reason: Some(hit.reason),
                subject: Some(hit.subject),
                ..verdict
            },
            hit.alternatives,
        ),
        None => (verdict, Vec::new()),
    }
}

/// Whether one of what is permitted for one command is for this one, which uses it up. A guess at a
/// command that was let through is the same command.
fn lets_one_through(
    once: &mut Vec<&Permission>,
    let_through: &mut Vec<String>,
    call: &Call,
) -> bool {
    let words = display_words(&call.words);
    if call.guessed && let_through.contains(&words) {
        return true;
    }
    let Some(at) = once.iter().position(|one| one.covers(&call.words)) else {
        return false;
    };
    once.remove(at);
    let_through.push(words);
    true
}

/// Lets every rule that is about a command look at it.
fn look(
    call: &Call,
    facts: &Facts,
    policy: &Policy,
    hits: &mut Vec<RuleMatch>,
    mut step: Option<&mut Step>,
) {
    let mut note = |rule: &str, decision: Decision| {
        if let Some(step) = step.as_deref_mut() {
            step.looked.push(RuleTrace {
                rule: rule.to_owned(),
                decision,
            });
        }
    };
    let subject = || match call.writes.first() {
        Some(write) if call.words.is_empty() => format!("> {}", write.path),
        _ => display_words(&call.words),
    };
    let mut tool_looks = |tool: &Tool| {
        let read = tool.read(call, facts);
        for rule in tool.rules {
            let holds = rule
                .when
                .iter()
                .any(|when| rule::matches(&read, when, tool.tests));
            let decision = if holds {
                policy.decision(rule.id, rule.severity)
            } else {
                Decision::Allow
            };
            note(rule.id, decision);
            if decision > Decision::Allow {
                hits.push(RuleMatch {
                    decision,
                    rule: rule.id.to_owned(),
                    reason: rule.reason.to_owned(),
                    alternatives: rule::alternatives(rule, tool, &read),
                    subject: subject(),
                });
            }
        }
    };
    // What a container or another machine does to its own files is not looked at here.
    if !call.words.is_empty() || !call.writes.is_empty() && !call.elsewhere {
        tool_looks(&GENERAL);
    }
    if !call.words.is_empty() {
        // A request for help does nothing else, unless the words are for another program.
        let only_helps = call.words.iter().skip(1).any(|word| {
            word.text == "--help"
                || word.text == "-h" && is_of_containers(call)
                || word.text == "-help" && matches!(call.name.as_str(), "terraform" | "tofu")
        }) && !runs_in_a_container(call);
        let is_passed = only_helps || rule::is_emulated(call) || rule::only_tells(call, facts);
        for tool in rule::tools(&call.name).filter(|_| !is_passed) {
            tool_looks(tool);
        }
        for rule in &policy.rules {
            if rule.tools.contains(&call.name) {
                let decision = by_user(rule, call, facts, policy);
                note(&rule.id, decision);
                if decision > Decision::Allow {
                    hits.push(RuleMatch {
                        decision,
                        rule: rule.id.clone(),
                        reason: rule.reason.clone(),
                        alternatives: rule.alternative.iter().cloned().collect(),
                        subject: display_words(&call.words),
                    });
                }
            }
        }
    }
    if call.elsewhere {
        return;
    }
    for (path, reach) in protect::writes(call, facts) {
        let facts = link::facts_of_entry(&call.name, &path, call.cwd.as_deref(), facts);
        if let Some(objection) = protect::objection_to(&path, call.cwd.as_deref(), &facts, reach) {
            let decision = policy.decision(objection.id, objection.severity);
            note(objection.id, decision);
            // A rule reports one of its paths, not each.
            let is_said = |hit: &RuleMatch| hit.rule == objection.id && hit.decision >= decision;
            if decision > Decision::Allow && !hits.iter().any(is_said) {
                hits.push(RuleMatch {
                    decision,
                    rule: objection.id.to_owned(),
                    reason: objection.reason.to_owned(),
                    alternatives: Vec::new(),
                    subject: if call.words.is_empty() {
                        format!("> {path}")
                    } else {
                        display_words(&call.words)
                    },
                });
            }
        }
    }
}

fn is_of_containers(call: &Call) -> bool {
    matches!(
        call.name.as_str(),
        "docker" | "podman" | "nerdctl" | "docker-compose"
    )
}

/// Whether the words of a command may be those of another one, in a container.
fn runs_in_a_container(call: &Call) -> bool {
    is_of_containers(call)
        && call
            .words
            .iter()
            .any(|word| matches!(word.text.as_str(), "run" | "exec" | "create"))
}

fn by_user(rule: &UserRule, call: &Call, facts: &Facts, policy: &Policy) -> Decision {
    let subject = Subject::new(call, &rule.takes, facts);
    let holds = rule.when.is_empty()
        || rule
            .when
            .iter()
            .any(|when| rule::matches(&subject, when, &[]));
    if holds {
        policy.decision(&rule.id, rule.severity)
    } else {
        Decision::Allow
    }
}

fn coverage(found: &Analysis, named: usize, opaque: usize) -> Coverage {
    let mut open: Vec<String> = Vec::new();
    for fault in &found.faults {
        open.push(
            match fault {
                ParseError::Unfinished => "an unterminated quote, substitution or compound command",
                ParseError::Unexpected => "unexpected syntax",
                ParseError::TooDeep => "nested too deeply",
                ParseError::TooMuch => "more than the guard checks",
            }
            .to_owned(),
        );
    }
    if opaque > 0 {
        open.push(format!(
            "commands that run something unknown: {opaque} of {named}"
        ));
    }
    let percent = ((named - opaque.min(named)) * 100)
        .checked_div(named)
        .unwrap_or(100) as u8;
    Coverage {
        percent: if found.faults.is_empty() {
            percent
        } else {
            percent.min(99)
        },
        open,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CAKE-CFG-1: who wants to be asked about everything is, but for what they have permitted; a
    /// block stays one.
    #[test]
    fn confirm_asks_about_every_allowed_command() {
        let permitted = crate::Permission::parse("ls *").unwrap();
        let policy = Policy {
            confirm: true,
            permissions: vec![permitted],
            ..Policy::default()
        };
        for (command, decision) in [
            ("cat x", Decision::Ask),
            ("ls -l", Decision::Allow),
            ("ls -l; cat x", Decision::Ask),
            ("> x", Decision::Ask),
            ("git reset --hard", Decision::Block),
            ("", Decision::Allow),
        ] {
            let verdict = decide(command, &Facts::default(), &policy);
            assert_eq!(verdict.decision, decision, "{command}");
        }
        let verdict = crate::decide_write("x", &Facts::default(), &policy);
        assert_eq!(verdict.rule.as_deref(), Some(CONFIRM.0));
    }

    /// CAKE-SHIM-1: what is permitted for one time is for one command, also within one line.
    #[test]
    fn what_is_for_one_time_lets_one_command_through() {
        let dropped = crate::Permission::parse("git stash drop").unwrap();
        let twice = Policy {
            once: vec![dropped.clone(), dropped.clone()],
            ..Policy::default()
        };
        let policy = Policy {
            once: vec![dropped],
            ..Policy::default()
        };
        for (command, decision) in [
            ("git stash drop", Decision::Allow),
            ("git stash list; git stash drop", Decision::Allow),
            ("git stash drop; git stash drop", Decision::Ask),
            (
                "python3 -c 'import os; os.system(\"git stash drop\")'",
                Decision::Allow,
            ),
        ] {
            let verdict = decide(command, &Facts::default(), &policy);
            assert_eq!(verdict.decision, decision, "{command}");
        }
        let verdict = decide("git stash drop; git stash drop", &Facts::default(), &twice);
        assert_eq!(verdict.decision, Decision::Allow);
    }

    /// CAKE-SHIM-1: a NUL in a command hides nothing.
    #[test]
    fn a_nul_hides_nothing() {
        for command in ["rm\0 -rf /", "\0git reset --ha\0rd"] {
            let verdict = decide(command, &Facts::default(), &Policy::default());
            assert_eq!(verdict.decision, Decision::Block, "{command:?}");
        }
    }
}
