//! Files as people write them, right and wrong.

use super::{Config, ConfigError, InterventionMode};
use crate::{Decision, Facts, Policy, Strictness, decide};

/// The seed's own file.
const SEED: &str = r#"
version: "1.0"
strictness: balanced
escalation:
  max_strikes: 4
  cooldown_minutes: 5
  human_notification:
    enabled: false
    webhook: ""
performance:
  max_latency_ms: 300
  max_memory_mb: 1024
safety:
  require_confirmation: false
  audit_all_commands: true
"#;

fn problems(text: &str) -> Vec<String> {
    match Config::parse("cake_config.yaml", text) {
        Err(ConfigError::Invalid { problems, .. }) => {
            problems.iter().map(ToString::to_string).collect()
        }
        other => panic!("{other:?}"),
    }
}

/// CAKE-CFG-1: the seed's example is what holds without a file.
#[test]
fn the_seeds_example_is_the_default() {
    let read = Config::parse("cake_config.yaml", SEED).unwrap();
    assert_eq!(read.config, Config::default());
    assert!(read.unknown.is_empty());
}

/// CAKE-CFG-1: a value out of range is an error with the key, the value and the range.
#[test]
fn values_out_of_range_are_named_with_the_range() {
    for (from, to, problem) in [
        (
            "max_strikes: 4",
            "max_strikes: 11",
            "`escalation.max_strikes` is 11, expected a whole number from 1 to 10",
        ),
        (
            "max_strikes: 4",
            "max_strikes: 0",
            "`escalation.max_strikes` is 0, expected a whole number from 1 to 10",
        ),
        (
            "max_strikes: 4",
            "max_strikes: four",
            "`escalation.max_strikes` is \"four\", expected a whole number from 1 to 10",
        ),
        (
            "cooldown_minutes: 5",
            "cooldown_minutes: 61",
            "`escalation.cooldown_minutes` is 61, expected a whole number from 1 to 60",
        ),
        (
            "max_latency_ms: 300",
            "max_latency_ms: 49",
            "`performance.max_latency_ms` is 49, expected a whole number from 50 to 1000",
        ),
        (
            "max_memory_mb: 1024",
            "max_memory_mb: 4097",
            "`performance.max_memory_mb` is 4097, expected a whole number from 512 to 4096",
        ),
        (
            "strictness: balanced",
            "strictness: lax",
            "`strictness` is \"lax\", expected minimal, balanced or paranoid",
        ),
        (
            "version: \"1.0\"",
            "version: \"2.0\"",
            "`version` is \"2.0\", expected \"1.0\"",
        ),
        (
            "audit_all_commands: true",
            "audit_all_commands: sometimes",
            "`safety.audit_all_commands` is \"sometimes\", expected true or false",
        ),
        (
            "safety:",
            "worktrees: loose\nsafety:",
            "`worktrees` is \"loose\", expected strict or relaxed",
        ),
        (
            "enabled: false",
            "enabled: true",
            "`escalation.human_notification.webhook` is \"\", expected a URL that starts with https:// or http:// because notifications are enabled (or `desktop: true` without a URL)",
        ),
    ] {
        assert_eq!(problems(&SEED.replace(from, to)), [problem], "{to}");
    }
}

/// CAKE-CFG-1: one line reports the first problems, and the number of others.
#[test]
fn one_line_tells_the_first_problems_and_counts_the_others() {
    let text = "strictness: lax\nworktrees: 1\nescalation: {max_strikes: 0, cooldown_minutes: 0}\n\
                safety: []\nsnapshot: {max_size_gb: 0}\n";
    let line = Config::parse("cake_config.yaml", text).unwrap_err();
    let line = line.to_string();
    assert!(line.ends_with("; and 3 more"), "{line}");
    assert_eq!(line.matches("; ").count(), 3, "{line}");
}

/// CAKE-CFG-1: all problems are reported at once, and invalid YAML is reported as such.
#[test]
fn all_problems_are_reported_at_once() {
    assert_eq!(problems("strictness: lax\nsafety: 1\nrules: {}\n").len(), 3);
    assert_eq!(problems("[]").len(), 1);
    let broken = Config::parse("cake_config.yaml", "a: [1,\nb: }");
    assert!(
        matches!(broken, Err(ConfigError::NotYaml { .. })),
        "{broken:?}"
    );
    let twice = Config::parse("cake_config.yaml", &format!("{SEED}strictness: minimal\n"));
    assert!(
        matches!(twice, Err(ConfigError::NotYaml { .. })),
        "{twice:?}"
    );
    let large = Config::parse("cake_config.yaml", &"#".repeat(300_000));
    assert!(matches!(large, Err(ConfigError::TooLarge { .. })));
}

/// CAKE-CFG-1: a key that is not known is named with the keys around it.
#[test]
fn unknown_keys_are_named() {
    let text = SEED.replace("safety:", "colour: red\nsafety:\n  ask_twice: true");
    let read = Config::parse("cake_config.yaml", &text).unwrap();
    assert_eq!(read.unknown, ["colour", "safety.ask_twice"]);
}

/// CAKE-CFG-1: a key that is missing is as it is without a file, and in a project's file as the user has it.
#[test]
fn a_file_has_only_the_keys_that_someone_wants() {
    let parsed = |text: &str, base: &Config| Config::parse_over("x", text, base).unwrap().config;
    let none = Config::default();
    for text in ["", "# nothing yet\n", "version: \"1.0\"\n"] {
        assert_eq!(parsed(text, &none), none, "{text}");
    }
    let user = parsed(
        "strictness: minimal\nworktrees: relaxed\nescalation: {max_strikes: 9}\n",
        &none,
    );
    assert_eq!(user.strictness, Strictness::Minimal);
    assert_eq!(user.escalation.max_strikes, 9);
    assert_eq!(user.escalation.cooldown_minutes, 5);
    // A project that only adds a rule neither tightens nor loosens what the user has set.
    let rule = "rules: [{id: a.b, tools: [deploy], severity: ask, reason: people deploy}]\n";
    let project = parsed(rule, &user);
    assert_eq!(user.passes_over(&project), Vec::<&str>::new());
    let both = user.clone().tightened_by(&project);
    assert_eq!(both.rules.len(), 1);
    assert_eq!(
        Config {
            rules: Vec::new(),
            ..both
        },
        user
    );
    let strict = user
        .clone()
        .tightened_by(&parsed("worktrees: strict\n", &user));
    assert!(!strict.relaxed_worktrees);
    let loose = parsed("worktrees: relaxed\n", &none);
    assert_eq!(none.passes_over(&loose), ["worktrees"]);
    assert!(!none.clone().tightened_by(&loose).relaxed_worktrees);
}

/// CAKE-CFG-1: a project's file makes the guard stricter, and nothing else.
#[test]
fn a_projects_file_only_tightens() {
    let with = |from: &str, to: &str| {
        Config::parse("cake_config.yaml", &SEED.replace(from, to))
            .unwrap()
            .config
    };
    let user = Config::default();
    let lax = with("balanced", "minimal");
    assert_eq!(user.clone().tightened_by(&lax), user);
    let strict = with("balanced", "paranoid");
    assert_eq!(
        user.clone().tightened_by(&strict).strictness,
        Strictness::Paranoid
    );
    let loud = with(
        "enabled: false\n    webhook: \"\"",
        "enabled: true\n    webhook: https://x.io",
    );
    assert_eq!(user.clone().tightened_by(&loud).escalation.webhook, None);
    // The pause after an intervention: who waits longer lets more through.
    let pause = |minutes: &str| {
        with(
            "cooldown_minutes: 5",
            &format!("cooldown_minutes: {minutes}"),
        )
    };
    let cooldown = |project| {
        let both = user.clone().tightened_by(&project);
        (both.escalation.cooldown_minutes, user.passes_over(&project))
    };
    assert_eq!(cooldown(pause("1")), (1, vec![]));
    assert_eq!(
        cooldown(pause("60")),
        (5, vec!["escalation.cooldown_minutes"])
    );
    let elsewhere = with("safety:", "database:\n  path: /tmp/x.db\nsafety:");
    assert_eq!(
        user.clone().tightened_by(&elsewhere).database,
        user.database
    );
}

/// CAKE-SHIM-1: users write rules of the same form as the built-in ones.
#[test]
fn a_users_rule_looks_at_commands() {
    let text = format!(
        "{SEED}rules:\n  - id: my.deploy\n    tools: [deploy, deploy.sh]\n    when: [\"prod|live !--dry-run\"]\n    severity: block\n    reason: deploys are for people\n    alternative: deploy prod --dry-run\n"
    );
    let config = Config::parse("cake_config.yaml", &text).unwrap().config;
    let policy = config.policy(Vec::new());
    let by = |command: &str| decide(command, &Facts::default(), &policy);
    assert_eq!(by("env X=1 deploy prod").decision, Decision::Block);
    assert_eq!(by("env X=1 deploy prod").rule.as_deref(), Some("my.deploy"));
    assert_eq!(by("deploy prod --dry-run").decision, Decision::Allow);
    assert_eq!(by("echo deploy prod").decision, Decision::Allow);
    assert_eq!(by("./deploy.sh live").decision, Decision::Block);
    let wrong = format!("{SEED}rules:\n  - id: x\n");
    assert_eq!(problems(&wrong).len(), 1);
}

/// CAKE-SHIM-1: a user's rule that is not what its own commands say is refused, with its line.
#[test]
fn a_rule_whose_own_commands_do_not_hold_is_refused() {
    let rule = "rules:
  - id: my.other
    tools: [other]
    severity: ask
    reason: it is another
  - id: my.deploy
    tools: [deploy]
    takes: \"-e --env\"
    when: [\"prod|live !--dry-run\", \"--env=prod\"]
    severity: note
    reason: deploys are for people
    alternative: deploy prod --dry-run
    catches: [deploy prod, \"sudo deploy -e x live\", deploy --env prod]
    spares: [deploy test, deploy prod --dry-run, echo deploy prod]
";
    let text = format!("{SEED}{rule}");
    let config = Config::parse("cake_config.yaml", &text).unwrap().config;
    assert_eq!(config.rules[1].catches.len(), 3);
    let line = text.lines().position(|line| line.contains("my.deploy"));
    let line = line.unwrap() + 1;
    for (from, to, problem) in [
        (
            "[deploy prod,",
            "[deploy pord,",
            "`rules[1].catches[0]` is \"deploy pord\", expected a command that the rule catches",
        ),
        (
            "[deploy test,",
            "[deploy live,",
            "`rules[1].spares[0]` is \"deploy live\", expected a command that the rule does not catch",
        ),
        (
            "alternative: deploy prod --dry-run",
            "alternative: git reset --hard",
            "`rules[1].alternative` is \"git reset --hard\", expected a command that the guard allows",
        ),
        (
            "--env=prod\"]",
            "--env=prod\", \"x @nowhere\"]",
            "`rules[1].when[2]` is \"@nowhere\", expected operands, options, or a place such as @outside, each optionally preceded by !",
        ),
        (
            "[deploy]",
            "[./deploy]",
            "`rules[1].tools` is \"./deploy\", expected names of programs, without folders or arguments",
        ),
        (
            "id: my.deploy",
            "id: git.clean",
            "`rules[1].id` is \"git.clean\", expected a name that no other rule has, such as my.deploy",
        ),
    ] {
        let problems = problems(&text.replace(from, to));
        let expected = format!("line {line}: {problem}");
        assert!(problems.contains(&expected), "{problems:#?}");
        // With an invalid pattern, the commands that the rule then misses are not reported.
        if problem.contains("when[") {
            assert_eq!(problems, [expected]);
        }
    }
}

/// CAKE-CFG-1: a rule that catches its own alternative, or another's that catches its own, is a
/// problem of the file and not of its reader; and the guard goes on deciding.
#[test]
fn a_rule_that_catches_its_own_alternative_ends_nothing() {
    for severity in ["note", "ask", "block"] {
        let rule = |id: &str, tool: &str, alternative: &str| {
            format!(
                "  - {{id: {id}, tools: [{tool}], when: [\"push\"], severity: {severity}, reason: r, \
                 alternative: {alternative}, catches: [{tool} push], spares: [{tool} status]}}\n"
            )
        };
        let itself = rule("a.own", "deploy", "deploy push --dry-run");
        let circle = rule("a.one", "one", "two push") + &rule("a.two", "two", "one push");
        for rules in [itself, circle] {
            let parsed = Config::parse("cake_config.yaml", &format!("{SEED}rules:\n{rules}"));
            let Ok(parsed) = parsed else { continue };
            for strictness in [Strictness::Balanced, Strictness::Paranoid] {
                let policy = Policy {
                    strictness,
                    rules: parsed.config.rules.clone(),
                    ..Policy::default()
                };
                for command in ["deploy push", "one push", "two push"] {
                    let verdict = decide(command, &Facts::default(), &policy);
                    let is_paranoid = strictness == Strictness::Paranoid;
                    assert!(!is_paranoid || verdict.alternative.is_none(), "{verdict:?}");
                }
            }
        }
    }
    let own = "rules:\n  - {id: a.own, tools: [deploy], when: [push], severity: block, reason: r, \
               alternative: deploy push --dry-run, catches: [deploy push], spares: [deploy status]}\n";
    let problems = problems(&format!("{SEED}{own}"));
    let expected = "`rules[0].alternative` is \"deploy push --dry-run\", expected a command that the guard allows";
    assert!(
        problems.iter().any(|problem| problem.ends_with(expected)),
        "{problems:#?}"
    );
}

/// CAKE-CFG-1: the contents of a stranger's file move no cursor of the person who reads the
/// message.
#[test]
fn control_characters_are_never_reported() {
    let rule = "rules:\n  - {id: a, tools: [a], severity: \"\\e[2J\", reason: b}\n";
    for text in [
        SEED.replace("balanced", "\"\\e[2J\""),
        format!("{SEED}{rule}"),
        format!("{SEED}\"\\e[2J\": [unfinished"),
    ] {
        let error = Config::parse("cake_config.yaml", &text).unwrap_err();
        assert!(!error.to_string().contains('\u{1b}'), "{error}");
    }
    let unknown = Config::parse("x", &format!("{SEED}\"\\e[2J{}\": 1\n", "y".repeat(1000)));
    let unknown = unknown.unwrap().unknown.concat();
    assert!(
        !unknown.contains('\u{1b}') && unknown.len() < 700,
        "{unknown}"
    );
}

/// CAKE-CFG-1: of a file that is wrong somewhere, what makes the guard stricter still counts, and
/// nothing that would loosen it.
#[test]
fn what_is_left_of_a_broken_file_is_never_laxer_than_none() {
    let rule =
        "rules:\n  - {id: my.deploy, tools: [deploy], severity: block, reason: people do it}\n";
    for (strictness, left) in [
        ("paranoid", Strictness::Paranoid),
        ("minimal", Strictness::Balanced),
        ("lax", Strictness::Balanced),
    ] {
        let text = SEED
            .replace("balanced", strictness)
            .replace("max_strikes: 4", "max_strikes: 0");
        let error = Config::parse("cake_config.yaml", &format!("{text}{rule}")).unwrap_err();
        let left_of_it = error.stricter_part();
        assert_eq!(left_of_it.strictness, left);
        assert_eq!(left_of_it.rules.len(), 1);
        assert_eq!(left_of_it.escalation, Config::default().escalation);
    }
    for text in ["a: [", &"#".repeat(300_000)] {
        let error = Config::parse("cake_config.yaml", text).unwrap_err();
        assert_eq!(error.stricter_part(), Config::default());
    }
}

/// CAKE-CFG-1: a key in a project's file that does not count is reported; the seed's example has no
/// such key.
#[test]
fn what_a_project_may_not_say_is_named() {
    let user = Config::default();
    assert_eq!(user.passes_over(&Config::default()), [""; 0]);
    let text = SEED
        .replace("balanced", "minimal")
        .replace("audit_all_commands: true", "audit_all_commands: false");
    let project = Config::parse("cake_config.yaml", &text).unwrap().config;
    let named = user.passes_over(&project);
    assert_eq!(named, ["strictness", "safety.audit_all_commands"]);
    let both = user.clone().tightened_by(&project);
    assert_eq!(both, user);
}

/// CAKE-CFG-1, CAKE-CLS-1: interventions, thresholds and patterns are read; a project's file may add patterns and decides nothing else of them.
#[test]
fn interventions_are_the_users_and_patterns_add_up() {
    let text = "interventions: all\nclassifier:\n  min_confidence_percent: 50\n  medium_repeats: 2\n\
                patterns:\n  - {pattern: 'E\\d+', error_type: OwnError}\n";
    let user = Config::parse("cake_config.yaml", text).unwrap();
    assert!(user.unknown.is_empty());
    let user = user.config;
    assert_eq!(user.interventions.mode, InterventionMode::All);
    assert_eq!(user.interventions.min_confidence_percent, 50);
    assert_eq!(user.interventions.medium_repeats, 2);
    let text = "interventions: off\npatterns:\n  - {pattern: x, error_type: Other}\n";
    let project = Config::parse_over("p", text, &user).unwrap().config;
    assert_eq!(project.interventions.mode, InterventionMode::Off);
    assert!(user.passes_over(&project).contains(&"interventions"));
    let both = user.clone().tightened_by(&project);
    assert_eq!(both.interventions, user.interventions);
    let types: Vec<&str> = both
        .patterns
        .iter()
        .map(|pattern| &*pattern.error_type)
        .collect();
    assert_eq!(types, ["OwnError", "Other"]);
    assert_eq!(
        problems("interventions: loud\npatterns: [{pattern: x}]\n"),
        [
            "`interventions` is \"loud\", expected repeat, all or off",
            "`patterns[0]` is {\"pattern\":\"x\"}, expected pattern and error_type, both non-empty strings",
        ]
    );
}
