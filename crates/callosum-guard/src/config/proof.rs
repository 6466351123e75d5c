//! Checks of a user's rule against its own examples, as a test does for the built-in rules.
//!
//! A rule that never holds protects no one, and is found out only when it should have held. So it
//! is refused if its patterns are invalid, or if its own commands contradict it.

use crate::{Decision, Facts, Policy, Severity, Strictness, UserRule, decide, explain, rule};

/// A fault of a rule: the key within it, the value there, and the expected value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ProofFault {
    pub(super) key: String,
    pub(super) value: String,
    pub(super) wanted: &'static str,
}

/// Limit on the commands of each kind that a rule may have.
const MOST: usize = 32;

/// Everything in which a rule is not what it says.
pub(super) fn faults(rule: &UserRule) -> Vec<ProofFault> {
    let mut faults = Vec::new();
    let fault = |key: String, value: &str, wanted: &'static str| ProofFault {
        key,
        value: value.to_owned(),
        wanted,
    };
    if rule.id.trim().is_empty() || rule::is_ours(&rule.id) {
        faults.push(fault(
            "id".to_owned(),
            &rule.id,
            "a name that no other rule has, such as my.deploy",
        ));
    }
    if rule.tools.is_empty() || rule.tools.iter().any(|tool| tool.contains(['/', ' '])) {
        faults.push(fault(
            "tools".to_owned(),
            &rule.tools.join(", "),
            "names of programs, without folders or arguments",
        ));
    }
    for (at, when) in rule.when.iter().enumerate() {
        if let Some(token) = when
            .split_whitespace()
            .find(|token| !rule::is_pattern(token))
        {
            faults.push(fault(
                format!("when[{at}]"),
                token,
                "operands, options, or a place such as @outside, each optionally preceded by !",
            ));
        }
    }
    // With an invalid pattern, the matches of the others mean nothing.
    if faults.iter().any(|fault| fault.key.starts_with("when")) {
        return faults;
    }
    if rule.catches.len().max(rule.spares.len()) > MOST {
        faults.push(fault(
            "catches".to_owned(),
            &rule.catches.len().to_string(),
            "at most 32 commands of each kind",
        ));
        return faults;
    }
    for (at, command) in rule.catches.iter().enumerate() {
        if !catches(rule, command) {
            faults.push(fault(
                format!("catches[{at}]"),
                command,
                "a command that the rule catches",
            ));
        }
    }
    for (at, command) in rule.spares.iter().enumerate() {
        if catches(rule, command) {
            faults.push(fault(
                format!("spares[{at}]"),
                command,
                "a command that the rule does not catch",
            ));
        }
    }
    if let Some(alternative) = &rule.alternative {
        let policy = with(rule, Strictness::Balanced);
        if decide(alternative, &facts(), &policy).decision != Decision::Allow {
            faults.push(fault(
                "alternative".to_owned(),
                alternative,
                "a command that the guard allows",
            ));
        }
    }
    faults
}

fn catches(rule: &UserRule, command: &str) -> bool {
    explain(command, &facts(), &with(rule, Strictness::Paranoid))
        .steps
        .iter()
        .flat_map(|step| &step.looked)
        .any(|looked| looked.rule == rule.id && looked.decision > Decision::Allow)
}

/// Returns a policy with the rule alone besides the built-in ones; at its highest severity, so that
/// a rule that only notes counts too.
fn with(rule: &UserRule, strictness: Strictness) -> Policy {
    let severity = match strictness {
        Strictness::Paranoid => Severity::Block,
        _ => rule.severity,
    };
    Policy {
        strictness,
        rules: vec![UserRule {
            severity,
            ..rule.clone()
        }],
        ..Policy::default()
    }
}

/// A project in a home folder, as the paths of a rule's commands are taken.
fn facts() -> Facts {
    Facts {
        cwd: Some("/home/user/project".to_owned()),
        home: Some("/home/user".to_owned()),
        root: Some("/home/user/project".to_owned()),
        git_dir: Some("/home/user/project/.git".to_owned()),
        ..Facts::default()
    }
}
