//! One text with instructions that each client reads, after `init --instructions` and without it.

use callosum_testkit::model::ScriptTurn;

use crate::{client::Client, install::Installed, stage::Stage};

/// A word that is in AGENTS.md alone, and one that is in the client's own file.
const COMMON: &str = "heliotrope";
const OWN: &str = "vermilion";

/// Returns whether the model was sent each of the two words.
fn is_sent(stage: &Stage<'_>) -> (bool, bool) {
    let before = stage.server.heard().len();
    let arguments = stage.client.arguments.iter();
    // Gemini CLI reads settings of a project in a trusted folder alone.
    let arguments = arguments.filter(|argument| **argument != "--skip-trust");
    let client = stage.client().env("GEMINI_CLI_TRUST_WORKSPACE", "true");
    let prompt = format!(
        "Say what is there. {}",
        ScriptTurn::script(&[ScriptTurn::text("done")])
    );
    client
        .arguments(arguments)
        .arguments([prompt])
        .run()
        .success();
    let heard = stage.server.heard();
    let bodies = heard[before..].iter();
    let bodies = bodies.map(|heard| serde_json::to_string(&heard.body).unwrap());
    let all: String = bodies.collect();
    (all.contains(COMMON), all.contains(OWN))
}

/// Beside a file of its own, a client reads `AGENTS.md` once it was told to, and both as long as that holds.
pub(crate) fn reads_one_text(client: &Client, installed: &Installed) {
    let stage = Stage::new(client, installed);
    let own = match client.name {
        "claude" => Some("CLAUDE.md"),
        "gemini" => Some("GEMINI.md"),
        "qwen" => Some("QWEN.md"),
        _ => None,
    };
    stage
        .env
        .write("AGENTS.md", format!("The word is {COMMON}.\n"));
    if let Some(own) = own {
        stage.env.write(own, format!("The color is {OWN}.\n"));
    }
    let by_itself = !matches!(client.name, "claude" | "gemini");
    assert_eq!(is_sent(&stage), (by_itself, own.is_some()));
    let init = ["init", "--instructions", "--client", client.name];
    stage.callosum().arguments(init).run().success();
    assert_eq!(is_sent(&stage), (true, own.is_some()));
    stage.callosum().arguments(["uninstall"]).run().success();
    assert_eq!(is_sent(&stage), (by_itself, own.is_some()));
}
