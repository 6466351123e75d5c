//! `callosum guard rules`: every rule of the guard, and what it decides here.

use callosum_config::{Reach, RuleLevel};
use callosum_guard::{Policy, Severity, rules};
use schemars::JsonSchema;
use serde::Serialize;

use crate::context::Context;
use crate::guard::gather_facts::permissions;
use crate::guard::rule::RuleOutput;
use crate::{CommandError, config_errors};

/// `callosum guard rules --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub struct RulesOutput {
    /// The rules, sorted by id.
    pub rules: Vec<RuleOutput>,
}

/// Returns every rule with what it decides here, sorted by id: the built-in ones and those of the configuration.
pub fn all(context: &Context, policy: &Policy) -> Result<Vec<RuleOutput>, CommandError> {
    let levels = permissions(context)
        .rule_levels(context.clock.now())
        .map_err(|error| config_errors::permit(&error))?;
    let own = policy.rules.iter();
    let own = own.map(|rule| (rule.id.as_str(), rule.severity, rule.reason.as_str()));
    let built_in = rules();
    let built_in = built_in
        .iter()
        .map(|rule| (rule.id, rule.severity, rule.reason));
    let mut all: Vec<RuleOutput> = built_in
        .chain(own)
        .map(|(id, severity, reason)| output(id, severity, reason, policy, &levels))
        .collect();
    all.sort_by(|one, other| one.id.cmp(&other.id));
    Ok(all)
}

fn output(
    id: &str,
    severity: Severity,
    reason: &str,
    policy: &Policy,
    levels: &[(Reach, RuleLevel)],
) -> RuleOutput {
    let default = severity.decision(policy.strictness);
    // The last one counts: a project's level comes after the user's.
    let set = levels
        .iter()
        .rfind(|(_, level)| callosum_guard::current_id(&level.rule) == id);
    RuleOutput {
        id: id.to_owned(),
        decision: set
            .map_or(default, |(_, level)| level.decision)
            .name()
            .to_owned(),
        default: default.name().to_owned(),
        set_for: set.map(|(reach, _)| reach.as_str().to_owned()),
        until: set
            .and_then(|(_, level)| level.until)
            .map(|until| until.to_string()),
        fixed: callosum_guard::is_fixed(id),
        reason: reason.to_owned(),
    }
}

/// Returns the id that someone who typed this probably meant: one that begins with it, else one that contains its last word.
pub fn suggested(id: &str, rules: &[RuleOutput]) -> Option<String> {
    let last = id.rsplit('.').next().unwrap_or(id);
    let begins = rules.iter().find(|rule| rule.id.starts_with(id));
    let contains = || rules.iter().find(|rule| rule.id.contains(last));
    let near = begins.or_else(contains).filter(|_| !last.is_empty());
    near.map(|rule| rule.id.clone())
}
