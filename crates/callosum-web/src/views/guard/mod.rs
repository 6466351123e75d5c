//! The view *Guard*: decisions, what agents did after a refusal, permissions, and a box that explains a command.
//!
//! `decision` reads the log, `check` explains a command.

mod check;
mod decision;

use std::thread;

use askama::Template;
use serde::{Deserialize, Serialize};

use self::{
    check::Explained,
    decision::{Log, Row},
};
use super::answer::Answer;
use crate::{
    command::{Command, CommandFailure},
    form::{BadForm, Form},
    listing::Listing,
    visit::Visit,
};

/// Most decisions that are listed.
const MOST: &str = "500";

/// Decisions among which those after a refusal are looked for, if the list is filtered.
const MOST_FOLLOWING: &str = "2000";

/// Age of the oldest decision, if a person names no other. The days before are not read.
const SINCE: &str = "7d";

/// Verdicts that the log can be filtered by.
const VERDICTS: [&str; 6] = [
    "asked",
    "blocked",
    "allowed",
    "auto-allowed",
    "permitted",
    "revoked",
];

/// Life of a permission that one click gives: it also ends with the first command that uses it.
const TERM: &str = "10m";

/// `guard allow --list --json`, as far as it is shown.
#[derive(Deserialize)]
struct Permissions {
    permissions: Vec<Permission>,
}

#[derive(Deserialize, Serialize)]
struct Permission {
    id: String,
    pattern: String,
    scope: String,
    since: String,
    until: Option<String>,
    once: bool,
}

impl Permission {
    fn line(&self) -> String {
        revoke(&self.id).line()
    }
}

fn revoke(id: &str) -> Command {
    Command::new(&["guard", "revoke"]).values([id])
}

/// `guard rules --set --json`, as far as it is shown.
#[derive(Deserialize)]
struct Rules {
    rules: Vec<Rule>,
}

/// A rule whose decision a person has set.
#[derive(Deserialize, Serialize)]
struct Rule {
    id: String,
    decision: String,
    default: String,
    set_for: Option<String>,
    until: Option<String>,
    reason: String,
}

impl Rule {
    fn scope(&self) -> &str {
        self.set_for.as_deref().unwrap_or("user")
    }

    fn line(&self) -> String {
        to_default(self.scope() == "project", &self.id).line()
    }

    fn tone(&self) -> &'static str {
        match self.decision.as_str() {
            "block" => "bad",
            "ask" => "wait",
            _ => "ok",
        }
    }
}

/// Returns the command that removes the setting of a rule.
fn to_default(is_for_project: bool, id: &str) -> Command {
    let command = Command::new(&["guard", "rule"]);
    let command = if is_for_project {
        command.arg("--project")
    } else {
        command
    };
    command.values([id, "default"])
}

/// `guard auto-allow list --json`.
#[derive(Deserialize, Serialize)]
struct AutoAllow {
    enabled: bool,
    enabled_here: bool,
    programs: Vec<String>,
}

/// A choice of the filter.
#[derive(Serialize)]
struct Choice {
    value: &'static str,
    is_chosen: bool,
}

#[derive(Serialize, Template)]
#[template(path = "guard.html")]
struct GuardView {
    #[serde(skip)]
    base: String,
    #[serde(skip)]
    snapshots: String,
    decisions: Listing<Row>,
    verdicts: Vec<Choice>,
    rule: String,
    agent: String,
    since: String,
    line: String,
    permissions: Vec<Permission>,
    rules: Vec<Rule>,
    auto_allow: Option<AutoAllow>,
    check: String,
    explained: Option<Explained>,
}

/// Shows the view.
pub(crate) fn show(visit: &Visit) -> Result<Answer, CommandFailure> {
    let param = |key: &str| visit.param(key).unwrap_or_default().to_owned();
    let (agent, rule, check) = (param("agent"), param("rule"), param("check"));
    let since = visit.param("since").unwrap_or(SINCE).to_owned();
    let verdict = VERDICTS
        .into_iter()
        .find(|verdict| Some(*verdict) == visit.param("verdict"));
    let log = |most: &str| Command::new(&["guard", "log", "-n", most]).option("--since", &since);
    let mut wanted = log(MOST);
    if let Some(verdict) = verdict {
        wanted = wanted.option("--verdict", verdict);
    }
    if !rule.is_empty() {
        wanted = wanted.option("--rule", &rule);
    }
    let is_filtered = verdict.is_some() || !rule.is_empty();
    let (found, following, permissions, rules, auto_allow, explained) = thread::scope(|scope| {
        let found = scope.spawn(|| visit.ask_or_report::<Log>(&wanted));
        let following = scope.spawn(|| {
            let all = is_filtered.then(|| visit.ask_or_report::<Log>(&log(MOST_FOLLOWING)));
            all.flatten()
        });
        let permissions = scope.spawn(|| {
            visit.ask_or_report::<Permissions>(&Command::new(&["guard", "allow", "--list"]))
        });
        let rules = scope
            .spawn(|| visit.ask_or_report::<Rules>(&Command::new(&["guard", "rules", "--set"])));
        let explained = scope.spawn(|| check::explained(visit, &check));
        let auto_allow =
            visit.ask_or_report::<AutoAllow>(&Command::new(&["guard", "auto-allow", "list"]));
        (
            found.join().ok().flatten(),
            following.join().ok().flatten(),
            permissions.join().ok().flatten(),
            rules.join().ok().flatten(),
            auto_allow,
            explained.join().ok().flatten(),
        )
    });
    let found = found.map_or(Vec::new(), |log| log.decisions);
    let following = following.map(|log| log.decisions);
    let mut rows = decision::rows(&found, following.as_deref());
    rows.retain(|row| row.is_of(&agent));
    let verdicts = VERDICTS.into_iter().map(|value| Choice {
        value,
        is_chosen: Some(value) == verdict,
    });
    Answer::of(&GuardView {
        base: visit.href("guard"),
        snapshots: visit.href("snapshots"),
        decisions: Listing::new(visit, rows, Row::text),
        verdicts: verdicts.collect(),
        rule,
        agent,
        since,
        line: wanted.line(),
        permissions: permissions.map_or(Vec::new(), |found| found.permissions),
        rules: rules.map_or(Vec::new(), |found| found.rules),
        auto_allow,
        check,
        explained,
    })
}

/// Returns the command that permits a command once, for a short time.
fn allow_once(pattern: &str) -> Command {
    Command::new(&["guard", "allow", "--once"])
        .option("--for", TERM)
        .values([pattern])
}

/// Returns the command that makes a blocking rule ask a person in this project, for a short time.
fn ask_for_a_while(rule: &str) -> Command {
    Command::new(&["guard", "rule", "--project"])
        .option("--for", TERM)
        .values([rule, "ask"])
}

/// Returns the command that a form means.
pub(crate) fn act(action: &str, form: &Form) -> Result<Command, BadForm> {
    match action {
        "allow" => Ok(allow_once(form.required("pattern")?)),
        "ask" => Ok(ask_for_a_while(form.required("rule")?)),
        "revoke" => Ok(revoke(form.required("id")?)),
        "default" => {
            let scope = form.one_of("scope", &["user", "project"], "user, project")?;
            Ok(to_default(scope == "project", form.required("rule")?))
        }
        "auto-allow-off" => Ok(Command::new(&["guard", "auto-allow", "off"])),
        _ => Err(BadForm::Action(action.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::test_site::{HOSTILE, TestSite, arguments, assert_harmless};

    fn decided(second: u32, session: &str, verdict: &str, command: &str) -> Value {
        json!({
            "timestamp": format!("2026-01-02T09:00:{second:02}Z"), "client": "claude", "verdict": verdict,
            "rule": "git.push-force", "reason": "rewrites history", "command": command,
            "alternative": "git push --force-with-lease", "session_id": session, "paths": [], "permitted": [],
            "auto_allowed": false, "snapshot_missing": [], "configuration": [], "snapshot_id": "0123",
        })
    }

    fn site() -> TestSite {
        let log = [
            decided(1, "one", "asked", "git push --force"),
            decided(2, "two", "allowed", "ls --of-another-session"),
            decided(3, "one", "allowed", "git push --force-with-lease"),
            decided(4, "one", "blocked", &format!("rm -rf / # {HOSTILE}")),
            decided(5, "one", "asked", "cd a && git reset --hard"),
        ];
        let step = |command: &str, decision: &str| json!({"depth": 0, "via": "", "command": command, "evaluated_rules": [{"rule": "git.reset-hard", "decision": decision}]});
        TestSite::new(&[
            ("guard log", json!({ "decisions": log })),
            (
                "guard allow --list",
                json!({"permissions": [
                    {"id": "3f2a", "pattern": HOSTILE, "scope": "project", "since": "2026-01-02T09:00:00Z", "once": true},
                ]}),
            ),
            (
                "guard rules --set",
                json!({"rules": [
                    {"id": "git.clean", "decision": "allow", "default": "ask", "set_for": "project", "fixed": false, "reason": HOSTILE},
                ]}),
            ),
            (
                "guard auto-allow list",
                json!({"enabled": true, "enabled_here": true, "programs": ["make test *"]}),
            ),
            (
                "guard explain",
                json!({
                    "verdict": {"command": "x", "decision": "ask", "rule": "git.reset-hard", "reason": HOSTILE, "understood": 100, "open": []},
                    "steps": [step("cd a", "allow"), step("git reset --hard", "ask")], "deletes": ["a.txt"], "overwrites": [],
                }),
            ),
        ])
    }

    #[test]
    fn a_refusal_shows_what_the_agent_did_next_in_the_same_session() {
        let (json, faults) = site().json("guard", &[]);
        assert!(faults.is_empty(), "{faults:?}");
        let rows = json["decisions"]["rows"].as_array().unwrap();
        assert_eq!(
            rows[0]["command"], "cd a && git reset --hard",
            "newest first"
        );
        let first = rows.last().unwrap();
        let next: Vec<_> = first["next"]
            .as_array()
            .unwrap()
            .iter()
            .map(|next| next["command"].as_str().unwrap().to_owned())
            .collect();
        assert_eq!(next[0], "git push --force-with-lease");
        assert!(
            !next.iter().any(|command| command.contains("another")),
            "{next:?}"
        );
        assert_eq!(
            rows[3]["next"],
            json!([]),
            "an allowed command is no refusal"
        );
    }

    #[test]
    fn only_a_plain_command_that_a_person_was_asked_about_is_allowed_by_one_click() {
        let (json, _) = site().json("guard", &[]);
        let rows = json["decisions"]["rows"].as_array().unwrap();
        let can: Vec<_> = rows
            .iter()
            .map(|row| row["can_allow"].as_bool().unwrap())
            .collect();
        assert_eq!(can, [false, false, false, false, true]);
        let html = site().html("guard", &[]);
        assert_harmless(&html);
        assert!(
            html.contains("guard?check=cd%20a%20%26%26%20git%20reset%20--hard"),
            "{html}"
        );
        assert!(
            html.contains("guard allow --once &#39;--for=10m&#39;")
                || html.contains("guard allow --once"),
            "{html}"
        );
    }

    #[test]
    fn filters_are_passed_to_the_command_and_agents_are_filtered_here() {
        let site = site();
        let query = [
            ("verdict", "blocked"),
            ("rule", "-x"),
            ("since", "2h"),
            ("agent", "codex"),
        ];
        let (json, _) = site.json("guard", &query);
        assert_eq!(json["decisions"]["of"], 0);
        let lines = site.lines();
        for line in [
            "guard log -n 500 --since=2h --verdict=blocked --rule=-x",
            "guard log -n 2000 --since=2h",
        ] {
            assert!(lines.contains(&line.to_owned()), "{line}: {lines:?}");
        }
        let (json, _) = site.json("guard", &[("verdict", "--help")]);
        assert_eq!(json["decisions"]["of"], 5);
        assert!(
            site.lines()
                .contains(&"guard log -n 500 --since=7d".to_owned())
        );
    }

    #[test]
    fn a_checked_command_shows_its_steps_and_permits_the_one_that_asks() {
        let site = site();
        let html = site.html("guard", &[("check", "--strictness=minimal")]);
        assert_harmless(&html);
        assert!(html.contains("a.txt"), "{html}");
        assert!(
            html.contains("name=\"pattern\" value=\"git reset --hard\""),
            "{html}"
        );
        assert!(!html.contains("name=\"pattern\" value=\"cd a\""), "{html}");
        let lines = site.lines();
        assert!(
            lines.contains(&"guard explain -- --strictness=minimal".to_owned()),
            "{lines:?}"
        );
    }

    #[test]
    fn forms_of_the_guard_run_fixed_commands() {
        assert_eq!(
            arguments("guard", "allow", &[("pattern", "--scope=user\nx")]).unwrap(),
            [
                "guard",
                "allow",
                "--once",
                "--for=10m",
                "--",
                "--scope=user\nx"
            ]
        );
        assert_eq!(
            arguments("guard", "ask", &[("rule", "--set")]).unwrap(),
            [
                "guard",
                "rule",
                "--project",
                "--for=10m",
                "--",
                "--set",
                "ask"
            ]
        );
        assert_eq!(
            arguments("guard", "revoke", &[("id", "-x")]).unwrap(),
            ["guard", "revoke", "--", "-x"]
        );
        assert_eq!(
            arguments(
                "guard",
                "default",
                &[("rule", "--for"), ("scope", "project")]
            )
            .unwrap(),
            ["guard", "rule", "--project", "--", "--for", "default"]
        );
        assert!(arguments("guard", "default", &[("rule", "a"), ("scope", "--yes")]).is_err());
        assert_eq!(
            arguments("guard", "auto-allow-off", &[]).unwrap(),
            ["guard", "auto-allow", "off"]
        );
        assert!(arguments("guard", "test", &[]).is_err());
    }
}
