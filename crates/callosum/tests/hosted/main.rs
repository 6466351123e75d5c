//! Models of hosted providers, in a build that asks them, played by a server that follows a script.
//!
//! A test program of its own, so that a build with the feature does not build all other tests again.

#[path = "../it/two_languages.rs"]
mod two_languages;

use callosum_testkit::{
    Output, TestEnv,
    model::{ModelServer, ScriptFault, ScriptTurn, Usage},
};
use serde_json::Value;

use crate::two_languages::two_languages;

const CANARY: &str = "sesame-open-4711-canary";

/// What each provider is asked, below which path, and where that is in the end.
const PROVIDERS: [(&str, &str, &str); 3] = [
    ("anthropic", "/v1", "/v1/messages"),
    (
        "gemini",
        "/v1beta",
        "/v1beta/models/scripted-model:streamGenerateContent",
    ),
    ("openai", "/v1", "/v1/chat/completions"),
];

fn run(env: &TestEnv, arguments: &[&str]) -> Output {
    let run = env.callosum().arguments(arguments);
    run.env("MODEL_KEY", CANARY).env("CAL_RETRY_MAX", "0").run()
}

fn with_providers() -> (TestEnv, ModelServer) {
    let env = two_languages();
    let server = ModelServer::start();
    for (provider, path, _) in PROVIDERS {
        let endpoint = format!("{}{path}", server.url());
        let model = format!("{provider}::scripted-model");
        let register = ["executor", "register", provider, "--protocol", "hosted"];
        let more = [
            "--model",
            &model,
            "--endpoint",
            &endpoint,
            "--api-key-env",
            "MODEL_KEY",
        ];
        let bounds = ["--timeout", "30s"];
        run(&env, &[&register[..], &more, &bounds].concat()).success();
    }
    (env, server)
}

fn play(env: &TestEnv, executor: &str, turn: ScriptTurn, code: i32) -> Value {
    let prompt = format!("Map it. {}", ScriptTurn::script(&[turn]));
    let delegate = ["delegate", &prompt, "--executor", executor, "--json"];
    run(env, &delegate).ended_with(code).json()
}

/// CAL-EXE-2, CAL-COM-1: each provider is asked in its own interface, with the key that the entry
/// names and the tree's material, and its answer and tokens are in the ledger.
#[test]
fn providers_are_asked_in_their_own_interfaces() {
    let (env, server) = with_providers();
    // The handshake is free.
    assert!(server.heard().is_empty());
    for (provider, _, path) in PROVIDERS {
        let turn = ScriptTurn {
            usage: Some(Usage {
                input: 100,
                output: 20,
                cached: 0,
            }),
            pieces: Some(3),
            ..ScriptTurn::text("It adds: `mod sum;` [src/main.rs:3].")
        };
        let output = play(&env, provider, turn, 0);
        assert_eq!(output["summary"], "It adds: `mod sum;` [src/main.rs:3].");
        assert_eq!(output["tokens_used"], 120, "{output}");
        let asked = server.heard().pop().unwrap();
        assert!(asked.path.starts_with(path), "{}", asked.path);
        assert!(asked.authorized && asked.streamed, "{provider}");
        assert!(asked.body.to_string().contains("3: mod sum;"), "{provider}");
    }
    let listed = env.run(["executor", "list", "--json"]).success().stdout;
    assert!(listed.contains("key in MODEL_KEY"), "{listed}");
    let grep = env.program("/bin/grep".into());
    let found = grep.arguments(["-rl", CANARY, &env.folder().to_string_lossy()]);
    assert_eq!(found.run().stdout, "");
}

/// CAL-ERR-1, CAL-ERR-2, CAL-ERR-3: each way of failing has its code and its cause in words.
#[test]
fn a_provider_that_fails_is_told_with_code_and_cause() {
    let (env, _server) = with_providers();
    let fault = |fault: ScriptFault, text: &str| ScriptTurn {
        fault: Some(fault),
        ..ScriptTurn::text(text)
    };
    let soon = ScriptTurn {
        retry_after: Some(1),
        times: Some(1),
        ..fault(ScriptFault::RateLimit, "It adds numbers.")
    };
    let late = ScriptTurn {
        retry_after: Some(20),
        ..fault(ScriptFault::RateLimit, "slow down")
    };
    let cut = ScriptTurn {
        cut: true,
        ..ScriptTurn::text("one two three four")
    };
    let cases = [
        (
            fault(ScriptFault::Unauthorized, "bad key"),
            "E001",
            "is not logged in",
        ),
        (late, "E002", "which is lifted in 20 s"),
        (fault(ScriptFault::Overloaded, "busy"), "E002", "overloaded"),
        (
            fault(ScriptFault::PromptTooLong, "prompt is too long"),
            "E003",
            "rejected the prompt as too long",
        ),
        (cut, "E003", "was cut off in the middle of its answer"),
    ];
    for (provider, ..) in PROVIDERS {
        for (turn, code, says) in &cases {
            run(&env, &["executor", "check", provider]).success();
            let output = play(&env, provider, turn.clone(), 1);
            assert_eq!(output["error"]["code"], *code, "{provider}: {output}");
            let message = output["error"]["message"].as_str().unwrap();
            assert!(message.contains(says), "{provider}: {message}");
        }
        run(&env, &["executor", "check", provider]).success();
        // A limit that is lifted soon is waited for, as often as there may be further tries.
        let prompt = format!(
            "Map it. {}",
            ScriptTurn::script(std::slice::from_ref(&soon))
        );
        let delegate = env
            .callosum()
            .arguments(["delegate", &prompt, "--executor", provider, "--json"])
            .env("MODEL_KEY", CANARY)
            .env("CAL_RETRY_MAX", "1");
        let output = delegate.run().success().json();
        assert_eq!(output["summary"], "It adds numbers.", "{provider}");
    }
}

/// LOA-SEC-1: a key comes from the variable that the entry names, goes over https or to this
/// machine only, and a name alone is nobody's.
#[test]
fn what_cannot_be_asked_is_refused() {
    let env = two_languages();
    let register = [
        "executor",
        "register",
        "m",
        "--protocol",
        "hosted",
        "--model",
    ];
    let keyed = ["--api-key-env", "MODEL_KEY"];
    let refused = |more: &[&str], code: i32, says: &str| {
        let ended = run(&env, &[&register[..], more].concat()).ended_with(code);
        assert!(ended.stderr.contains(says), "{}", ended.stderr);
    };
    refused(&["anthropic::x"], 2, "--api-key-env ANTHROPIC_API_KEY");
    let clear = ["anthropic::x", "--endpoint", "http://models.example.org"];
    refused(
        &[&clear[..], &keyed].concat(),
        2,
        "a key is only sent over https",
    );
    refused(
        &[&["claude-x"], &keyed[..]].concat(),
        1,
        "does not start with a known provider",
    );
    let unset = ["anthropic::x", "--api-key-env", "NO_SUCH_KEY"];
    refused(&unset, 1, "missing environment variable NO_SUCH_KEY");
}
