//! A client whose model's server refuses, or breaks off.

use callosum_testkit::model::{Call, ScriptFault, ScriptTurn};
use serde_json::json;

use crate::{client::Client, install::Installed, stage::Stage};

/// CAL-ERR-2: what went wrong at the model's server is told in the same words by way of ACP.
pub(crate) fn names_faults_over_acp(client: &Client, installed: &Installed) {
    let agent = &client.agent;
    let stage = Stage::new(client, installed);
    stage.register_agent(agent);
    check_fault_of(
        &stage,
        "agent",
        ScriptFault::Unauthorized,
        "E001",
        "not logged in",
    );
    check_fault_of(
        &stage,
        "agent",
        ScriptFault::PromptTooLong,
        "E003",
        "prompt as too long",
    );
}

fn check_fault(
    client: &Client,
    installed: &Installed,
    fault: ScriptFault,
    code: &str,
    words: &str,
) {
    let stage = Stage::new(client, installed);
    stage.register();
    check_fault_of(&stage, client.name, fault, code, words);
}

fn check_fault_of(stage: &Stage<'_>, executor: &str, fault: ScriptFault, code: &str, words: &str) {
    let turns = [ScriptTurn {
        fault: Some(fault),
        ..ScriptTurn::default()
    }];
    let (ended, output) = stage.delegate_to(executor, &turns, None);
    assert_eq!(ended, 1, "{output:#}");
    assert_eq!(output["error"]["code"], code, "{output:#}");
    let said = output["error"]["message"].as_str().unwrap_or_default();
    assert!(said.contains(words), "{output:#}");
}

pub(crate) fn names_a_refused_key(client: &Client, installed: &Installed) {
    check_fault(
        client,
        installed,
        ScriptFault::Unauthorized,
        "E001",
        "not logged in",
    );
}

/// CAL-EXE-2: a key that nobody passed on is no crash: the variable is named with the line that passes it on, and nothing
/// is tried again; by way of ACP neither.
pub(crate) fn names_a_missing_key(client: &Client, installed: &Installed) {
    const KEY: &str = "_API_KEY";
    let mut names = client.environment.iter().map(|(name, _)| *name);
    let Some(key) = names.find(|name| name.ends_with(KEY)) else {
        // Its key stands in its settings.
        return;
    };
    let stage = Stage::new(client, installed);
    let acp = ["--protocol", "acp", "--command", client.agent.command];
    for (executor, more) in [(client.name, &[][..]), ("agent", &acp[..])] {
        stage.register_passing(executor, more, |name| !name.ends_with(KEY));
        let (ended, output) =
            stage.delegate_to(executor, &[ScriptTurn::text("All is well.")], None);
        assert_eq!(ended, 1, "{output:#}");
        assert_eq!(output["error"]["code"], "E001", "{output:#}");
        let said = output["error"]["message"].as_str().unwrap_or_default();
        assert!(said.contains("is not logged in"), "{output:#}");
        let hint = output["error"]["hint"].as_str().unwrap_or_default();
        let line = format!("callosum executor register {executor} --pass-env {key}");
        assert!(hint.ends_with(&line), "{output:#}");
    }
    let retries = stage.callosum().arguments(["audit", "query", "--json"]);
    let retries = retries.arguments(["--event", "retry"]).run().success();
    assert_eq!(retries.json()["records"], json!([]));
    assert_eq!(stage.server.heard().len(), 0);
}

pub(crate) fn names_a_prompt_that_is_too_long(client: &Client, installed: &Installed) {
    check_fault(
        client,
        installed,
        ScriptFault::PromptTooLong,
        "E003",
        "prompt as too long",
    );
}

/// One refusal for asking too often is not the end, whether the client or we try again.
pub(crate) fn outlives_a_rate_limit(client: &Client, installed: &Installed) {
    let stage = Stage::new(client, installed);
    stage.register();
    let mut turns = stage.answer("All is well.");
    turns[0].fault = Some(ScriptFault::RateLimit);
    turns[0].retry_after = Some(1);
    turns[0].times = Some(1);
    let (code, output) = stage.delegate(&turns);
    assert_eq!(code, 0, "{output:#}");
    assert_eq!(output["summary"], "All is well.");
    let heard = stage.server.heard();
    assert!(heard.iter().any(|heard| heard.status == 429));
}

/// CAL-ERR-1: what broke off behind a first call of the model is no answer, whether the client says so or
/// not, nor is the rest that a client has the model write then; by way of ACP neither.
pub(crate) fn takes_no_half_for_an_answer(client: &Client, installed: &Installed) {
    // opencode tries each cut stream again for more than a minute.
    let Some(shell) = &client.shell else {
        return;
    };
    let stage = Stage::new(client, installed);
    stage.register();
    let call = Call {
        name: shell.tool.to_owned(),
        input: json!({shell.key: "ls", "description": "list it"}),
        ..Call::default()
    };
    let turns = [
        ScriptTurn {
            calls: vec![call],
            ..ScriptTurn::text("Looking.")
        },
        ScriptTurn {
            cut: true,
            ..ScriptTurn::text("This is the first half of a")
        },
        ScriptTurn::text("and this is the rest of it."),
    ];
    stage.register_agent(&client.agent);
    for executor in [client.name, "agent"] {
        let (ended, output) = stage.delegate_once_to(executor, &turns);
        let half = output["summary"].as_str().unwrap_or_default();
        assert!(
            !half.contains("half") && !half.contains("rest"),
            "{output:#}"
        );
        assert_eq!(
            (ended, &output["error"]["code"]),
            (1, &json!("E003")),
            "{output:#}"
        );
    }
}

/// Most requests that a try may cost of which every answer breaks off.
const MOST_IN_VAIN: usize = 40;

/// CAL-ERR-3: where every answer of a model breaks off, a client is not let ask for ever, and what it has is no answer; by
/// way of ACP neither.
pub(crate) fn ends_where_every_answer_breaks_off(client: &Client, installed: &Installed) {
    let stage = Stage::new(client, installed);
    stage.register();
    stage.register_agent(&client.agent);
    let broken = ScriptTurn {
        cut: true,
        ..ScriptTurn::text("This is the first half of a sentence that never")
    };
    let turns = vec![broken; 2 * MOST_IN_VAIN];
    for executor in [client.name, "agent"] {
        let before = stage.server.heard().len();
        let (ended, output) = stage.delegate_once_to(executor, &turns);
        assert_eq!(
            (ended, &output["error"]["code"]),
            (1, &json!("E003")),
            "{output:#}"
        );
        let asked = stage.server.heard().len() - before;
        println!("{} as {executor}: asked {asked} times", client.name);
        assert!(asked <= MOST_IN_VAIN, "{asked}");
    }
}
