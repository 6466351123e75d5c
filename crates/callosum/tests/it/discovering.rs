//! Finding executors that are installed here, or listen here.

use std::net::{Ipv4Addr, TcpListener};

use callosum_testkit::{
    fakes,
    model::{ModelServer, Options},
};
use serde_json::json;

use crate::projects::two_languages;

/// REQ-EXE-005: discovery finds what is installed and makes nobody active unasked.
#[test]
fn discovery_registers_what_is_installed() {
    let env = two_languages();
    let nothing = env.run(["executor", "discover", "--json"]).success().json();
    assert_eq!(nothing["found"], json!([]));
    let program = env.programs().join("claude");
    std::fs::copy("/bin/true", &program).unwrap();
    let found = env.run(["executor", "discover", "--json"]).success().json();
    assert_eq!(found["found"][0]["id"], "claude");
    assert_eq!(found["found"][0]["status"], "inactive");
    assert!(found["found"][0]["reason"].is_string());
    // Whoever was inactive is asked again, and says why it still is.
    let again = env.run(["executor", "discover", "--json"]).success().json();
    assert_eq!(again["found"][0]["registered_now"], false);
    let reason = again["found"][0]["reason"].as_str().unwrap();
    assert!(reason.contains("its handshake failed at"), "{reason}");
    let doctor = env.run(["doctor", "-v"]).stdout;
    assert!(doctor.contains(reason), "{doctor}");
}

/// CAL-EXE-1: a server of models that listens here is found, asked for its list alone, and active where it has one
/// model; which of several is run, a person says.
#[test]
fn discovery_finds_servers_of_models() {
    let env = two_languages();
    let one = ModelServer::start();
    let several = ModelServer::with(Options {
        models: vec!["small".to_owned(), "a large".to_owned()],
        ..Options::default()
    })
    .unwrap();
    let closed = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let gone = closed.local_addr().unwrap();
    drop(closed);
    let listed = format!(
        "openai={} ollama={} ollama=http://{gone}",
        one.url(),
        several.url(),
    );
    let discover = || {
        let run = env.callosum().arguments(["executor", "discover", "--json"]);
        let found = run.env("CALLOSUM_MODEL_SERVERS", &listed).run();
        found.success().json()["found"].clone()
    };
    let found = discover();
    let port = |server: &ModelServer| server.url().rsplit(':').next().unwrap().to_owned();
    let (first, second) = (
        format!("openai-{}", port(&one)),
        format!("ollama-{}", port(&several)),
    );
    assert_eq!(found.as_array().unwrap().len(), 2, "{found}");
    assert_eq!(found[0]["id"], first.as_str());
    assert_eq!(found[0]["status"], "active");
    assert_eq!(found[1]["id"], second.as_str());
    assert_eq!(found[1]["status"], "inactive");
    let asked = one.heard();
    assert!(asked.iter().all(|heard| heard.method == "GET"), "{asked:?}");
    let reason = found[1]["reason"].as_str().unwrap();
    let (_, line) = reason.split_once("choose one: ").unwrap();
    // Nobody chooses by asking once more.
    assert_eq!(discover()[1]["reason"], reason);
    let words = shlex::split(line).unwrap();
    env.run(&words[1..]).success();
    let again = discover();
    assert_eq!(again[1]["status"], "active", "{again}");
    assert_eq!(again[1]["registered_now"], false);
    let silent = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let silent = format!("openai=http://{}", silent.local_addr().unwrap());
    let run = env.callosum().arguments(["executor", "discover", "--json"]);
    let run = run.env("CALLOSUM_MODEL_SERVERS", silent);
    let run = run.without("CALLOSUM_TEST_PATIENCE").run().success();
    assert_eq!(run.json()["found"], json!([]));
    let unfit = env.callosum().arguments(["executor", "discover"]);
    let unfit = unfit.env("CALLOSUM_MODEL_SERVERS", "ollama=http://10.0.0.1:11434");
    let refused = unfit.run().ended_with(3).stderr;
    assert!(refused.contains("CALLOSUM_MODEL_SERVERS"), "{refused}");
    assert!(refused.contains("10.0.0.1"), "{refused}");
}

/// A server that is not there is told with what has it be there.
#[test]
fn a_server_that_is_not_there_is_told_with_what_starts_it() {
    let env = two_languages();
    let closed = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let url = format!("http://{}", closed.local_addr().unwrap());
    drop(closed);
    for (protocol, helps) in [
        ("ollama", "start it with `ollama serve`, then:".to_owned()),
        ("openai", format!("start the server at {url}, then:")),
    ] {
        let named = ["executor", "register", "m", "--model", "m", "--endpoint"];
        let named = named
            .into_iter()
            .chain([url.as_str(), "--protocol", protocol]);
        let refused = env.run(named).ended_with(1).stderr;
        assert!(refused.contains(&helps), "{refused}");
        assert!(refused.contains("callosum executor check m"), "{refused}");
    }
}

/// CAL-EXE-1: whoever is registered for a server already is not doubled.
#[test]
fn discovery_knows_a_server_by_the_name_that_a_person_gave_it() {
    let env = two_languages();
    let server = ModelServer::start();
    let register = ["executor", "register", "mine", "--model", "scripted-model"];
    env.run(register.into_iter().chain(["--endpoint", &server.url()]))
        .success();
    let run = env.callosum().arguments(["executor", "discover", "--json"]);
    let listed = format!("openai={}", server.url());
    let found = run.env("CALLOSUM_MODEL_SERVERS", listed).run();
    let found = found.success().json();
    assert_eq!(found["found"].as_array().unwrap().len(), 1, "{found}");
    assert_eq!(found["found"][0]["id"], "mine");
}

/// CAL-EXE-2: what speaks the Agent Client Protocol is found, and active once it has begun.
#[test]
fn discovery_finds_agents_that_speak_the_agent_client_protocol() {
    let env = two_languages();
    let adapter = env.programs().join("codex-acp");
    std::fs::copy(fakes::program("fake-acp"), adapter).unwrap();
    env.write(env.home().join(".codex/auth.json"), "{}");
    let told = env.run(["executor", "discover"]).success().stderr;
    assert!(told.contains("name no executor go to codex-acp"), "{told}");
    let found = env.run(["executor", "discover", "--json"]).success().json();
    assert_eq!(found["found"][0]["id"], "codex-acp", "{found}");
    assert_eq!(found["found"][0]["status"], "active", "{found}");
    let asked = ["delegate", "Map it.", "--executor", "codex-acp", "--json"];
    let output = env.run(asked).success().json();
    assert_eq!(output["tokens_used"], 120, "{output}");
}

/// CAL-EXE-1: an agent that nobody is logged in to is found, and takes no task away from `scout` that does not name it.
#[test]
fn what_nobody_is_logged_in_to_is_given_no_task_unasked() {
    let env = two_languages();
    std::fs::copy(fakes::program("fake-acp"), env.programs().join("codex-acp")).unwrap();
    let discovered = env.run(["executor", "discover"]).success();
    let told = &discovered.stderr;
    assert!(told.contains("name no executor go to scout"), "{told}");
    assert!(told.contains("hint: codex login"), "{told}");
    let found = &discovered.stdout;
    assert!(found.contains("no login found"), "{found}");
    let asked = env.run(["delegate", "Map it."]).success();
    let told = "no login for codex-acp was found; only tasks that name it go there";
    assert!(asked.stderr.contains(told), "{}", asked.stderr);
    let named = [
        "delegate",
        "Map it.",
        "--executor",
        "codex-acp",
        "--no-cache",
    ];
    let named = env.run(named).success();
    let told = "warning: codex-acp: no login found: ";
    assert!(named.stderr.contains(told), "{}", named.stderr);
    let discover = env.callosum().arguments(["executor", "discover"]);
    let discover = discover.env("OPENAI_API_KEY", "x").run().success();
    let passing = "--pass-env OPENAI_API_KEY";
    assert!(discover.stderr.contains(passing), "{}", discover.stderr);
}

/// CAL-EXE-1: what helps with several executors is told once.
#[test]
fn a_login_that_several_lack_is_told_once() {
    let env = two_languages();
    for adapter in ["claude-agent-acp", "claude-code-acp"] {
        std::fs::copy(fakes::program("fake-acp"), env.programs().join(adapter)).unwrap();
    }
    let discovered = env.run(["executor", "discover"]).success();
    let rows = discovered.stdout.matches("no login found");
    assert_eq!(rows.count(), 2, "{}", discovered.stdout);
    let hints = discovered.stderr.matches("hint: claude /login");
    assert_eq!(hints.count(), 1, "{}", discovered.stderr);
}
