//! Every rule held to what it says of itself.

use super::{GENERAL, Rule, TOOLS};
use crate::{Decision, Facts, Policy, decide, explain};

fn rules() -> impl Iterator<Item = &'static Rule> {
    TOOLS
        .iter()
        .flat_map(|tools| tools.iter())
        .chain([&GENERAL])
        .flat_map(|tool| tool.rules)
}

/// CAKE-SHIM-1: a rule catches what it says, passes what looks alike, and its alternative passes.
#[test]
fn each_rule_holds_what_it_says() {
    let policy = Policy {
        strictness: crate::Strictness::Paranoid,
        ..Policy::default()
    };
    let mut wrong = Vec::new();
    for rule in rules() {
        assert!(rule.catches.len() >= 3, "{}", rule.id);
        assert!(rule.spares.len() >= 3, "{}", rule.id);
        for command in rule.catches {
            // Under paranoid, so that a rule that only notes is heard too.
            let seen = explain(command, &Facts::of_a_project(), &policy);
            let looked = seen.steps.iter().flat_map(|step| &step.looked);
            let hit = looked
                .filter(|looked| looked.rule == rule.id)
                .any(|looked| looked.decision > Decision::Allow);
            if !hit {
                wrong.push(format!("{}: misses {command}", rule.id));
            }
        }
        for command in rule.spares.iter().chain(&rule.alternative) {
            let verdict = decide(command, &Facts::of_a_project(), &Policy::default());
            if verdict.decision != Decision::Allow {
                wrong.push(format!(
                    "{}: stops {command} by {:?}",
                    rule.id, verdict.rule
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// CAKE-SHIM-1: a pattern asks for no test that its tool does not have, since that would never hold.
#[test]
fn each_test_that_a_pattern_names_is_there() {
    let tools = TOOLS.iter().flat_map(|tools| tools.iter());
    for tool in tools.chain([&GENERAL]) {
        let patterns = tool.rules.iter().flat_map(|rule| rule.when);
        for word in patterns.flat_map(|pattern| pattern.split_whitespace()) {
            if let Some(name) = word.trim_start_matches('!').strip_prefix('&') {
                let mut tests = tool.tests.iter();
                assert!(
                    tests.any(|(known, _)| *known == name),
                    "{:?}: {word}",
                    tool.names
                );
            }
        }
    }
}

/// CAKE-SHIM-1: a rule is known by its name.
#[test]
fn no_two_rules_share_a_name() {
    let mut names: Vec<&str> = rules().map(|rule| rule.id).collect();
    names.sort_unstable();
    let count = names.len();
    names.dedup();
    assert_eq!(names.len(), count);
}
