//! Objections to the text of a command as a whole, independent of the commands found in it: the
//! seed's patterns, and words that are dangerous if the text around them could not be read.

use std::sync::OnceLock;

use regex::RegexSet;

use crate::{
    analyze::Analysis,
    policy::Policy,
    rule::{Severity, Strictness},
    shell::ParseError,
    verdict::{Decision, RuleMatch},
};

/// The seed's six patterns (Seed CAKE §4).
const SIX: [&str; 6] = [
    r"git\s+reset\s+--hard",
    r"git\s+push\s+--force",
    r"rm\s+-rf\s+/",
    r"chmod\s+777",
    r"sudo\s+",
    r"docker.*--privileged",
];

fn six() -> &'static RegexSet {
    static SET: OnceLock<RegexSet> = OnceLock::new();
    SET.get_or_init(|| {
        #[expect(clippy::expect_used, reason = "constants, which a test compiles")]
        RegexSet::new(SIX).expect("the six patterns")
    })
}

/// The rules of this file: id, severity, and why.
pub(crate) const RULES: [(&str, Severity, &str); 3] = [
    (
        "text.pattern",
        Severity::Note,
        "the text matches a pattern of `strictness: paranoid`",
    ),
    (
        "text.bounds",
        Severity::Ask,
        "the command is too large or too deeply nested to be understood",
    ),
    (
        "text.unreadable",
        Severity::Ask,
        "part of the command could not be parsed, and it contains a dangerous word",
    ),
];

/// Words that are dangerous enough to ask about if the text around them was not understood.
const DANGEROUS: [&str; 30] = [
    "rm ",
    "rm\t",
    "rmdir",
    "reset --hard",
    "--force",
    "mkfs",
    "of=/dev",
    "sudo",
    "chmod",
    "chown",
    "--privileged",
    "shred",
    "wipefs",
    "/dev/sd",
    "/dev/nvme",
    "drop ",
    "truncate",
    "delete",
    "remove-item",
    "eval",
    "base64",
    "git clean",
    "rmtree",
    "shutdown",
    "reboot",
    "kill",
    "format-volume",
    "curl",
    "wget",
    "destroy",
];

/// Returns the objections to the text as a whole, independent of the commands found in it.
pub(crate) fn objections(command: &str, found: &Analysis, policy: &Policy) -> Vec<RuleMatch> {
    let mut hits = by_text(command, found, policy);
    for hit in &mut hits {
        if let Some(by_person) = policy.levels.get(&hit.rule) {
            hit.decision = *by_person;
        }
    }
    hits.retain(|hit| hit.decision > Decision::Allow);
    hits
}

fn by_text(command: &str, found: &Analysis, policy: &Policy) -> Vec<RuleMatch> {
    let mut hits = Vec::new();
    if policy.strictness == Strictness::Paranoid
        && let Some(at) = six().matches(command).iter().next()
    {
        hits.push(RuleMatch {
            decision: Decision::Block,
            rule: "text.pattern".to_owned(),
            reason: format!("the text matches `{}`", SIX[at]),
            alternatives: Vec::new(),
            subject: command.chars().take(200).collect(),
        });
    }
    if found.faults.contains(&ParseError::TooMuch) || found.faults.contains(&ParseError::TooDeep) {
        let decision = policy.on_budget.unwrap_or(Decision::Ask).max(Decision::Ask);
        hits.push(RuleMatch {
            decision,
            rule: "text.bounds".to_owned(),
            reason: "the command is too large or too deeply nested to be understood".to_owned(),
            alternatives: Vec::new(),
            subject: command.chars().take(200).collect(),
        });
    } else if !found.faults.is_empty() {
        let lower = command.to_ascii_lowercase();
        if DANGEROUS.iter().any(|word| lower.contains(word)) {
            hits.push(RuleMatch {
                decision: Severity::Ask.decision(policy.strictness).max(Decision::Ask),
                rule: "text.unreadable".to_owned(),
                reason: "part of the command could not be parsed, and it contains a dangerous word"
                    .to_owned(),
                alternatives: Vec::new(),
                subject: command.chars().take(200).collect(),
            });
        }
    }
    hits
}

#[cfg(test)]
mod tests {
    use super::six;

    /// CAKE-SHIM-1: the seed's six patterns are there as they are written.
    #[test]
    fn the_six_patterns_compile() {
        assert_eq!(six().len(), 6);
        assert!(six().is_match("git  reset --hard"));
    }
}
