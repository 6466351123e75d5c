//! A session of a client, from its first decision to the next session, which is told of it.

use callosum_testkit::model::{Call, ScriptTurn};

use crate::{client::Client, install::Installed, stage::Stage};

/// A word of the first prompt that stands in no file.
const MARK: &str = "heliotrope";

/// One question to a client, and what came of it.
pub(crate) struct Asked {
    /// Everything that its model was sent.
    pub(crate) heard: String,
    /// What the client printed.
    said: String,
}

/// Asks the client a question whose script runs these commands. `None` where no hook of its settings
/// is asked.
pub(crate) fn ask(
    stage: &Stage<'_>,
    more: &[&str],
    words: &str,
    commands: &[String],
) -> Option<Asked> {
    let shell = stage.client.shell.as_ref()?;
    let calls = commands.iter().map(|command| shell.call(command));
    ask_for(stage, more, words, calls.collect())
}

/// The same, whose script makes these calls.
pub(crate) fn ask_for(
    stage: &Stage<'_>,
    more: &[&str],
    words: &str,
    calls: Vec<Call>,
) -> Option<Asked> {
    let shell = stage.client.shell.as_ref()?;
    ask_with(stage, shell.arguments, more, words, calls)
}

/// The same, with other arguments than are usual.
pub(crate) fn ask_with(
    stage: &Stage<'_>,
    arguments: &[&str],
    more: &[&str],
    words: &str,
    calls: Vec<Call>,
) -> Option<Asked> {
    let shell = stage.client.shell.as_ref()?;
    let turns = calls.into_iter().map(|call| ScriptTurn {
        calls: vec![call],
        ..ScriptTurn::default()
    });
    let turns: Vec<ScriptTurn> = turns.chain([ScriptTurn::text("that was all")]).collect();
    let prompt = if words.starts_with('/') {
        words.to_owned()
    } else {
        format!("{words} {}", ScriptTurn::script(&turns))
    };
    let before = stage.server.heard().len();
    // The prompt's option is the last of the arguments.
    let (prompting, options) = arguments.split_last()?;
    let is_option = prompting.starts_with('-') && prompting.len() == 2;
    let client = stage
        .client()
        .arguments(if is_option { options } else { arguments });
    let client = client.arguments(more);
    let client = client
        .arguments(is_option.then_some(prompting))
        .arguments([prompt]);
    let variables = shell.environment.iter();
    let client = variables.fold(client, |client, (name, value)| client.env(name, *value));
    let ended = client.run();
    assert_eq!(ended.code, 0, "{words}: {ended:?}");
    let heard = stage.server.heard();
    let bodies = heard[before..].iter();
    let bodies = bodies.map(|heard| serde_json::to_string(&heard.body).unwrap());
    Some(Asked {
        heard: bodies.collect(),
        said: ended.stdout,
    })
}

/// Our program, as a shell names it.
pub(crate) fn program() -> String {
    let program = callosum_testkit::fakes::program("callosum");
    format!("'{}'", program.display())
}

fn callosum(words: &str) -> String {
    format!("{} session {words}", program())
}

/// The time under which a decision stands in the notes.
fn time_of(stage: &Stage<'_>, decision: &str) -> String {
    let notes = stage.env.read("loa-grimoire/NOTES.md");
    let mut lines = notes.lines().filter(|line| line.contains(decision));
    let line = lines.next().unwrap();
    let time = line.trim_start_matches('#').split_whitespace().next();
    time.unwrap().to_owned()
}

/// LOA-LIFE-1, LOA-HOOK-1, LOA-REC-1: work, decisions with and without evidence; a clear that is
/// refused where the client lets it be; evidence; a clear that passes; and the first request of the next
/// session says where things stand.
pub(crate) fn carries_a_session_over(client: &Client, installed: &Installed) {
    let stage = Stage::new(client, installed);
    let init = ["init", "--all", "--share", "--client", client.name];
    if client.shell.is_none() {
        return;
    }
    // The zones of Seed LOA §5.4: the script fills no share of a model's window.
    let zones = "attention_budget:\n  yellow: 5000\n  orange: 10000\n  red: 15000\n";
    stage.env.write(".loa.config.yaml", zones);
    stage.callosum().arguments(init).run().success();
    let has_gate = client.name == "claude";
    let on: &[&str] = if has_gate { &["--continue"] } else { &[] };
    let work = [
        callosum("decide 'Use one pool' --cite src/main.rs:1"),
        callosum("decide 'Retry for ever'"),
    ];
    ask(&stage, &[], &format!("Work on {MARK}."), &work).unwrap();
    stage.env.run(["session", "check"]).ended_with(1);
    if has_gate {
        let refused = ask(&stage, on, "/clear", &[]).unwrap();
        assert!(
            refused.said.contains("Not cleared. Cannot clear"),
            "{}",
            refused.said
        );
        assert!(refused.said.contains("Retry for ever"), "{}", refused.said);
    }
    let time = time_of(&stage, "Retry for ever");
    let cite = [callosum(&format!("cite {time} src/main.rs:1"))];
    let told = ask(&stage, on, "Show it.", &cite).unwrap().heard;
    let line = "Without evidence, 1 of 2 claims: Retry for ever (no evidence)";
    assert!(told.contains(line), "{told}");
    assert_eq!(told.contains(MARK), has_gate, "{told}");
    stage.env.run(["session", "check"]).success();
    if has_gate {
        let cleared = ask(&stage, on, "/clear", &[]).unwrap();
        assert!(!cleared.said.contains("Not cleared"), "{}", cleared.said);
    }
    let told = ask(&stage, on, "Go on.", &[]).unwrap().heard;
    for line in [
        "Session notes of this project",
        "Decided: Retry for ever (src/main.rs:1) [quote found]",
    ] {
        assert!(told.contains(line), "{line}: {told}");
    }
    assert!(
        !told.contains(MARK) && !told.contains("Without evidence"),
        "{told}"
    );
    let trajectory = "loa-grimoire/a2a/trajectory/implementing-tasks-2026-01-02.jsonl";
    let kept = stage.env.read(trajectory);
    assert!(kept.contains("\"phase\":\"delta_sync\""), "{kept}");
    // Qwen Code does not tell that a session ends.
    let is_told = client.name != "qwen";
    let is_handed_off = kept.contains("\"phase\":\"session_handoff\"");
    assert_eq!(is_handed_off, is_told, "{kept}");
}

/// LOA-FUT-1, LOA-CMD-1: what one agent hands over to a client is told to its next session, and to no other.
pub(crate) fn picks_up_what_is_handed_over(client: &Client, installed: &Installed) {
    let stage = Stage::new(client, installed);
    if client.shell.is_none() {
        return;
    }
    let init = ["init", "--all", "--share", "--client", client.name];
    stage.callosum().arguments(init).run().success();
    let handoff = ["session", "handoff", "--to", client.name, "--reason"];
    let handoff = handoff.into_iter().chain(["the pool is too small"]);
    stage.env.run(handoff).success();
    let told = ask(&stage, &[], "Begin.", &[]).unwrap().heard;
    // LOA-CMD-1: it has found the skill that was laid for it.
    let skill = "Record decisions, evidence and next steps so that they survive";
    assert!(told.contains(skill), "{told}");
    let line = "Handoff: by implementing-tasks at 2026-01-02T03:04:05Z: the pool is too small";
    assert!(told.contains(line), "{told}");
    let told = ask(&stage, &[], "Begin again.", &[]).unwrap().heard;
    assert!(!told.contains("Handoff"), "{told}");
    // The command that was laid for it. Codex has skills instead, and Gemini CLI takes a prompt in `-p` for text where it is told
    // something before it.
    if matches!(client.name, "claude" | "qwen") {
        let told = ask(&stage, &[], "/ride the pool", &[]).unwrap().heard;
        assert!(told.contains("Work on: the pool"), "{told}");
    }
}

/// LOA-HOOK-1: a `/clear` that is shadowed never reaches the model, nor clears anything.
pub(crate) fn obeys_a_shadowed_clear(client: &Client, installed: &Installed) {
    let stage = Stage::new(client, installed);
    if client.name != "claude" {
        return;
    }
    let init = [
        "init",
        "--all",
        "--gate",
        "shadow",
        "--share",
        "--client",
        client.name,
    ];
    let init = init.into_iter().chain(["--scope", "project"]);
    stage.callosum().arguments(init).run().success();
    stage
        .env
        .run(["session", "decide", "Retry for ever"])
        .success();
    ask(&stage, &[], &format!("Work on {MARK}."), &[]).unwrap();
    let refused = ask(&stage, &["--continue"], "/clear", &[]).unwrap();
    assert!(!refused.heard.contains(MARK), "{}", refused.heard);
    assert!(
        refused.said.contains("Not cleared. Cannot clear"),
        "{}",
        refused.said
    );
    let on = ask(&stage, &["--continue"], "Go on.", &[]).unwrap();
    assert!(on.heard.contains(MARK), "{}", on.heard);
}
