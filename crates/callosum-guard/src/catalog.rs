//! The list of rules: what a person can look up, and set to another level.
//!
//! Start with [`rules`]. Ids are persisted in logs and in the levels that people set, so they keep their meaning;
//! [`current_id`] translates the ids of earlier versions.

use std::collections::BTreeMap;

use crate::{
    protect,
    rule::{GENERAL, Severity, TOOLS},
    text_patterns,
};

/// A rule as people see it in a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RuleSummary {
    /// Its id, such as `git.reset-hard`.
    pub id: &'static str,
    /// Severity of a match, before strictness and levels.
    pub severity: Severity,
    /// The reason that the agent reads when the rule stops a command.
    pub reason: &'static str,
}

/// Earlier ids and today's.
const RENAMED: [(&str, &str); 25] = [
    ("callosum.configure", "self.change-config"),
    ("callosum.end", "self.stop-process"),
    ("callosum.forget", "self.prune-snapshots"),
    ("callosum.govern", "self.approve-plan"),
    ("callosum.permit", "self.change-permissions"),
    ("callosum.trust", "self.trust-repository"),
    ("callosum.unask", "self.remove-prompt"),
    ("callosum.ungate", "self.remove-gate"),
    ("callosum.unhook", "self.remove-hooks"),
    ("callosum.unhooked", "self.bypass-hooks"),
    ("callosum.unhooked-codex", "self.bypass-hooks-codex"),
    ("callosum.vouch", "self.settle-call"),
    ("code.hidden-verb", "code.dynamic-command"),
    ("contents.emptied", "file.truncate"),
    ("gh.set-aside", "gh.archive"),
    ("hosted.take-down", "hosted.unpublish"),
    ("launch.certificates", "deploy.certificates"),
    ("launch.service", "deploy.app"),
    ("launch.store", "deploy.app-store"),
    ("npm.mark", "npm.deprecate"),
    ("package.generations", "package.remove-generations"),
    ("rm.listed", "rm.from-list"),
    ("rm.maybe-vital", "rm.possibly-vital"),
    ("rm.named", "rm.by-name"),
    ("upload.handed", "upload.secret-argument"),
];

/// Rules that keep an agent from lifting every other rule. No level below theirs is accepted.
const FIXED: [&str; 11] = [
    "protect.hooks",
    "protect.state",
    "self.approve-plan",
    "self.bypass-hooks",
    "self.bypass-hooks-codex",
    "self.change-config",
    "self.change-permissions",
    "self.remove-hooks",
    "self.remove-prompt",
    "self.trust-repository",
    "state.sealed",
];

/// Returns every built-in rule once, sorted by id. Of a rule with several tools, the most severe counts.
pub fn rules() -> Vec<RuleSummary> {
    let of_tools = TOOLS
        .iter()
        .flat_map(|tools| tools.iter())
        .chain([&GENERAL])
        .flat_map(|tool| tool.rules)
        .map(|rule| (rule.id, rule.severity, rule.reason));
    let of_paths = protect::OBJECTIONS
        .iter()
        .map(|one| (one.id, one.severity, one.reason));
    let mut rules: BTreeMap<&str, RuleSummary> = BTreeMap::new();
    for (id, severity, reason) in of_tools.chain(of_paths).chain(text_patterns::RULES) {
        let summary = RuleSummary {
            id,
            severity,
            reason,
        };
        let known = rules.entry(id).or_insert(summary);
        if severity == Severity::Block {
            *known = summary;
        }
    }
    rules.into_values().collect()
}

/// Returns today's id for one that an earlier version wrote; any other id as it is.
pub fn current_id(id: &str) -> &str {
    let renamed = RENAMED.iter().find(|(earlier, _)| *earlier == id);
    renamed.map_or(id, |(_, current)| current)
}

/// Whether no one may lower this rule: with less, an agent could lift every other rule.
pub fn is_fixed(id: &str) -> bool {
    FIXED.contains(&id)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CAKE-SHIM-1: ids are persisted, so each earlier id leads to a rule that exists, and no list names one twice.
    #[test]
    fn every_earlier_and_every_fixed_id_leads_to_a_rule() {
        let ids: Vec<&str> = rules().iter().map(|rule| rule.id).collect();
        for (earlier, current) in RENAMED {
            assert!(ids.contains(&current), "{current}");
            assert!(!ids.contains(&earlier), "{earlier}");
            assert_eq!(current_id(earlier), current);
        }
        for id in FIXED {
            assert!(ids.contains(&id), "{id}");
        }
        assert!(ids.is_sorted());
        assert_eq!(current_id("git.reset-hard"), "git.reset-hard");
    }
}
