//! Messages generated for every label of the recorded outputs: all of them pass the gate.

#![expect(clippy::unwrap_used, reason = "what a test cannot unwrap has failed")]
#![expect(
    clippy::disallowed_methods,
    reason = "the recorded outputs are read as a test's own files"
)]

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

use callosum_diagnose::{ErrorEvent, Severity, StreamSource, error_type};
use callosum_intervention::{
    classify::{Project, suggest},
    operator::{Context, Fix, InterventionType, KnownFix, Message, Operator},
    voice::GateFacts,
};
use serde_json::Value;

const ROOT: &str = "/home/ana/shop";

/// Commands that a careful guard refuses.
fn allows(command: &str) -> bool {
    !["push --force", "rm ", "sudo", "reset --hard"]
        .iter()
        .any(|part| command.contains(part))
}

fn event(label: &Value, text: &str) -> Option<ErrorEvent> {
    let message = text
        .lines()
        .find(|line| line.to_lowercase().contains("error"))
        .unwrap_or(text.lines().next()?);
    Some(ErrorEvent {
        error_type: label["type"].as_str()?.to_owned(),
        file_path: label["file"].as_str().map(str::to_owned),
        line_number: label["line"].as_u64().map(|line| line as u32),
        message: message.to_owned(),
        code: None,
        module: None,
        test: None,
        severity: serde_json::from_value::<Severity>(label["severity"].clone()).ok()?,
        stream_source: StreamSource::Merged,
        timestamp: "2026-01-02T03:04:05Z".to_owned(),
        raw_output: text.chars().take(4000).collect(),
    })
}

/// Events of every label in the folder.
fn events() -> Vec<ErrorEvent> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../callosum-diagnose/tests/outputs");
    let mut events = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|found| found != "jsonl") {
            continue;
        }
        for line in fs::read_to_string(&path).unwrap().lines() {
            let row: Value = serde_json::from_str(line).unwrap();
            let text = row["text"].as_str().unwrap();
            let more = row["more"].as_array().cloned().unwrap_or_default();
            for label in std::iter::once(&row["expect"]).chain(&more) {
                events.extend(event(label, text));
                if let Some(alias) = label["alias"].as_str() {
                    let mut other = label.clone();
                    other["type"] = alias.into();
                    events.extend(event(&other, text));
                }
            }
        }
    }
    events
}

fn project() -> Project {
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    Project {
        files: names(&[
            "package.json",
            "node_modules",
            "Cargo.toml",
            "go.mod",
            "requirements.txt",
            "Gemfile",
            "composer.json",
            ".git",
        ]),
        programs: names(&[
            "pip", "npm", "npx", "cargo", "go", "bundle", "composer", "git", "pytest", "jest",
            "df", "ruff", "rubocop",
        ]),
    }
}

/// Builds a message and checks it with the gate as a stranger would.
fn build(operator: &Operator, context: &Context, exists: &dyn Fn(&str) -> bool) -> String {
    let surroundings = GateFacts {
        allows: &allows,
        exists,
        declares: &|_| false,
        event: None,
    };
    let built = operator.build_message(context, &surroundings).unwrap();
    assert_eq!(built.kind, InterventionType::Message, "{context:?}");
    assert!(built.attempts <= 3 && built.level == context.escalation_level);
    let text = built.message.unwrap();
    let verdict = operator.gate().check(
        &text,
        &GateFacts {
            event: Some(context.facts()),
            ..surroundings
        },
    );
    assert!(verdict.passed, "{text}: {verdict:?}");
    assert!(verdict.score >= 0.90 && verdict.reason == "Valid");
    assert_eq!(Message::parse(&text).unwrap().to_string(), text);
    text
}

/// CAKE-OP-1, CAKE-VOICE-1: over all recorded outputs, every message at every level passes, with and without a fix.
#[test]
fn every_message_for_the_recorded_outputs_passes() {
    let operator = Operator::built_in().unwrap();
    let project = project();
    let (mut messages, mut fixes, mut errors) = (0, 0, 0);
    let mut texts: BTreeMap<(String, u8), BTreeSet<String>> = BTreeMap::new();
    for event in events() {
        errors += 1;
        let suggested = suggest(&event, &project, &allows);
        fixes += usize::from(suggested.is_some());
        let suggested = suggested.map(|fix| fix.command);
        let fix = suggested.unwrap_or_else(|| "cargo check".to_owned());
        for level in 1..=4 {
            for root in [None, Some(ROOT)] {
                for fix in [None, Some(fix.as_str()), Some("git push --force")] {
                    let mut context = Context::of_event(&event);
                    context.escalation_level = level;
                    context.project_root = root.map(str::to_owned);
                    context.suggested_fix = fix.map(str::to_owned);
                    let exists = |file: &str| file == "requirements.txt" || file == "Cargo.toml";
                    let text = build(&operator, &context, &exists);
                    // A fix that may be named is named, and any other is not.
                    match fix {
                        Some(fix) if allows(fix) => assert!(text.contains(fix), "{text} of {fix}"),
                        _ => assert!(!text.contains("--force") && !text.contains("rm -rf")),
                    }
                    texts
                        .entry((event.error_type.clone(), level))
                        .or_default()
                        .insert(text);
                    messages += 1;
                }
            }
        }
    }
    assert!(errors > 650 && messages > 15_000, "{errors} and {messages}");
    assert!(fixes >= 40, "{fixes}");
    for ((name, level), own) in &texts {
        if let Some(next) = texts.get(&(name.clone(), level + 1)) {
            let both: Vec<&String> = own.intersection(next).collect();
            assert!(both.is_empty(), "{name} {level}: {both:?}");
        }
    }
}

/// CAKE-OP-1: every listed type and any class has messages at all levels, with and without place, test and fix.
#[test]
fn every_type_has_messages_with_and_without_each_value() {
    let operator = Operator::built_in().unwrap();
    let classes = [
        "PaymentDeclined",
        "bad_alloc",
        "Outer$Inner",
        "KeyError",
        "output",
        "not a class",
        "",
    ];
    for name in error_type::NAMES.into_iter().chain(classes) {
        for bits in 0..32_u8 {
            for level in 1..=4 {
                let has = |bit: u8| bits & (1 << bit) != 0;
                let context = Context {
                    error_type: name.to_owned(),
                    file_path: has(0).then(|| "src/cart.rs".to_owned()),
                    line_number: has(1).then_some(42),
                    error_message: String::new(),
                    escalation_level: level,
                    suggested_fix: has(2).then(|| "cargo check".to_owned()),
                    error_signature: String::new(),
                    previous_interventions: Vec::new(),
                    timestamp: String::new(),
                    test: has(3).then(|| "cart::tests::adds".to_owned()),
                    project_root: None,
                    known_fix: has(4).then(|| KnownFix {
                        fix: Fix::Edit("src/price.rs".to_owned()),
                        confirmed: true,
                        by: "codex".to_owned(),
                        when: "2026-01-02T03:04:05Z".to_owned(),
                    }),
                };
                let text = build(&operator, &context, &|_| has(0));
                // A known fix comes before a suggested one.
                assert_eq!(text.contains("cargo check"), has(2) && !has(4), "{text}");
                assert_eq!(text.contains("src/price.rs"), has(4), "{text}");
            }
        }
    }
}

/// CAKE-OP-1: the seed's own input gives the seed's own message; a known fix comes before a suggested one.
#[test]
fn the_seeds_input_gives_the_seeds_message() {
    let operator = Operator::built_in().unwrap();
    let mut context = Context::from_json(
        r#"{
            "error_type": "ImportError",
            "file_path": "/workspace/main.py",
            "line_number": 42,
            "error_message": "No module named 'requests'",
            "escalation_level": 1,
            "suggested_fix": "pip install requests",
            "error_signature": "sha256:abc123def456",
            "previous_interventions": [],
            "timestamp": "2024-01-15T10:30:00Z"
        }"#,
    )
    .unwrap();
    let exists = |file: &str| file == "requirements.txt";
    let first = build(&operator, &context, &exists);
    assert_eq!(
        first,
        "Operator (CAKE): Stop. Run pip install requests. See requirements.txt."
    );
    context.previous_interventions.push(first);
    assert_eq!(
        build(&operator, &context, &exists),
        "Operator (CAKE): Stop. Run pip install requests. See /workspace/main.py:42."
    );
    context.project_root = Some("/workspace/".to_owned());
    context.known_fix = serde_json::from_str(
        r#"{"command": "uv add requests", "confirmed": true, "by": "claude", "when": "2026-01-02T03:04:05Z"}"#,
    )
    .unwrap();
    assert_eq!(
        build(&operator, &context, &|_| false),
        "Operator (CAKE): Stop. Run uv add requests. See main.py:42."
    );
    context.known_fix = serde_json::from_str(r#"{"edit": "/workspace/app/net.py"}"#).unwrap();
    context.suggested_fix = None;
    assert_eq!(
        build(&operator, &context, &|_| false),
        "Operator (CAKE): Stop. Fix app/net.py. See known fix."
    );
}

/// CAKE-OP-2: a level or a line out of range is an error with the range, and so is a text of another form.
#[test]
fn a_context_out_of_range_names_the_range() {
    for (json, reason) in [
        (
            r#"{"error_type": "KeyError", "escalation_level": 5}"#,
            "from 1 to 4",
        ),
        (
            r#"{"error_type": "KeyError", "escalation_level": 0}"#,
            "from 1 to 4",
        ),
        (
            r#"{"error_type": "KeyError", "line_number": 0}"#,
            "at least 1",
        ),
        (
            r#"{"error_type": "KeyError", "line_number": -1}"#,
            "not an event",
        ),
        (r#"{"file_path": "x.py"}"#, "missing field `error_type`"),
        ("[", "not an event"),
    ] {
        let error = Context::from_json(json).unwrap_err().to_string();
        assert!(error.contains(reason), "{error}");
    }
    let context = Context::from_json(r#"{"error_type": "KeyError"}"#).unwrap();
    assert_eq!(context.escalation_level, 1);
}
