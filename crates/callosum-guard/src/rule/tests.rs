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
        let alternatives = rule
            .alternatives
            .iter()
            .filter(|one| !one.contains("{0") && !one.contains("{1"));
        for command in rule.spares.iter().chain(alternatives) {
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

/// CAKE-SHIM-1: whatever a rule catches has an alternative that passes, whatever its operands are.
#[test]
fn each_rule_has_an_alternative_to_all_that_it_catches() {
    let facts = Facts::of_a_project();
    let mut wrong = Vec::new();
    for rule in rules() {
        for command in rule.catches {
            let verdict = decide(command, &facts, &Policy::default());
            if verdict.decision == Decision::Allow {
                continue;
            }
            let Some(alternative) = &verdict.alternative else {
                wrong.push(format!("{}: none to {command}", rule.id));
                continue;
            };
            let allowed = decide(alternative, &facts, &Policy::default()).decision;
            if allowed != Decision::Allow || alternative.contains("..}") {
                wrong.push(format!("{}: {alternative} to {command}", rule.id));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// CAKE-SHIM-1: nobody who uses one tool is told of another that only stands in the same table.
#[test]
fn an_alternative_is_of_the_tool_that_is_used() {
    let facts = Facts::of_a_project();
    let mut wrong = Vec::new();
    for tool in TOOLS.iter().flat_map(|tools| tools.iter()) {
        for rule in tool.rules {
            for command in rule.catches {
                let verdict = decide(command, &facts, &Policy::default());
                let subject = verdict.subject.unwrap_or_default();
                let alternative = verdict.alternative.unwrap_or_default();
                let first = |text: &str| {
                    let word = text.split(' ').next().unwrap_or("");
                    crate::path::name(word).trim_end_matches(".exe").to_owned()
                };
                let (used, told) = (first(&subject), first(&alternative));
                let is_own = verdict.rule.as_deref() == Some(rule.id);
                if is_own && told != used && tool.names.contains(&told.as_str()) {
                    wrong.push(format!("{}: {alternative} to {command}", rule.id));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    for (command, alternative) in [
        ("az group delete -n g --yes", "az --help"),
        ("tofu destroy", "tofu plan -destroy"),
        ("podman volume rm db", "podman volume ls"),
        ("npm unpublish acme-utils", "npm view acme-utils"),
        ("mysql -e 'DROP TABLE t'", "mysql -e 'SHOW TABLES'"),
        ("find ~ -name node_modules -exec rm -rf {} +", "ls -la"),
    ] {
        let told = decide(command, &facts, &Policy::default()).alternative;
        assert_eq!(told.as_deref(), Some(alternative), "{command}");
    }
}

/// CAKE-SHIM-1: an alternative is about what the command is about, or changes nothing.
#[test]
fn an_alternative_is_about_what_is_stopped() {
    for (command, alternative) in [
        ("rm -rf ~/go", "ls -ld /home/u/go"),
        ("rm -rf \"../my notes\"", "ls -ld '../my notes'"),
        ("rm -rf /var/lib/docker \"$X\"", "ls -la"),
        ("rm -rf ~/*.iso", "ls -ld /home/u/*.iso"),
        (
            "python3 -c \"import shutil; shutil.rmtree('/home/u')\"",
            "ls -ld /home/u",
        ),
        ("git branch -D topic", "git branch -d topic"),
        ("git branch -D topic other", "git branch -d topic other"),
        ("git -C sub branch -D topic", "git branch -v"),
        ("cd sub && git branch -D topic", "git branch -v"),
        ("git branch -M topic main", "git branch -v"),
        (
            "git push -f origin topic",
            "git push --force-with-lease origin topic",
        ),
        ("git push origin +main", "git push --force-with-lease"),
        ("chmod 777 run.sh", "chmod u+rwx run.sh"),
        ("chmod 777 /etc/x", "ls -la"),
        ("shred -u 'a*'", "rm 'a*'"),
        ("shred -u ~/notes", "ls -ld /home/u/notes"),
        ("rm -rf cloned", "git -C cloned status"),
        ("rm -rf cloned src", "git status"),
        ("pkill node", "pgrep -fl node"),
        ("mkdir -m 777 out", "mkdir -m 755 out"),
        ("echo x > .git/config", "git status"),
        ("echo x > ~/notes", "mktemp -d"),
    ] {
        let verdict = decide(command, &Facts::of_a_project(), &Policy::default());
        assert!(verdict.decision > Decision::Allow, "{command}");
        assert_eq!(
            verdict.alternative.as_deref(),
            Some(alternative),
            "{command}"
        );
    }
    for (path, alternative) in [
        (".calrc", "callosum status"),
        (".claude/settings.json", "callosum doctor"),
        ("../other/x", "mktemp -d"),
    ] {
        let verdict = crate::decide_write(path, &Facts::of_a_project(), &Policy::default());
        assert_eq!(verdict.alternative.as_deref(), Some(alternative), "{path}");
    }
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
