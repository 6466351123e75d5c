//! `init`, `uninstall` and `doctor`: our server of tools in the settings of coding agents.

use callosum_testkit::{TestEnv, fakes};
use serde_json::{Value, json};

use crate::clients::{before, settings, with_clients};

/// What stood in files that have no hooks of ours.
const CLAUDE: &str =
    "{\n  \"numStartups\": 3,\n  \"mcpServers\": { \"other\": {\"command\": \"o\"} }\n}";
const CODEX: &str = "model = \"gpt\" # mine\n\n[mcp_servers.other]\ncommand = \"o\"\n";

fn with_settings() -> TestEnv {
    let env = with_clients();
    env.write(env.home().join(".claude.json"), CLAUDE);
    env.write(env.home().join(".codex/config.toml"), CODEX);
    env
}

fn changes(output: &Value) -> Vec<(&str, &str)> {
    let servers = output["servers"].as_array().unwrap().iter();
    servers
        .map(|server| {
            let text = |name: &str| server[name].as_str().unwrap();
            (text("client"), text("change"))
        })
        .collect()
}

fn home(env: &TestEnv, path: &str) -> String {
    env.read(env.home().join(path))
}

fn json_of(env: &TestEnv, path: &str) -> Value {
    serde_json::from_str(&home(env, path)).unwrap()
}

const ALL: [&str; 4] = ["claude", "codex", "gemini", "qwen"];

/// Each client is told once, by the path of this very program, beside what it was told before; and
/// afterwards its files are what they were, byte for byte.
#[test]
fn clients_are_told_and_no_trace_is_left_afterwards() {
    let env = with_settings();
    let output = env
        .run(["init", "--all", "--share", "--json"])
        .success()
        .json();
    assert_eq!(changes(&output), ALL.map(|client| (client, "registered")));
    let program = fakes::program("callosum");
    let claude = json_of(&env, ".claude.json");
    let ours = json!({"type": "stdio", "command": program, "args": ["mcp"]});
    assert_eq!(claude["mcpServers"]["callosum"], ours);
    assert_eq!(claude["mcpServers"]["other"]["command"], "o");
    let qwen = json_of(&env, ".qwen/settings.json");
    let ours = json!({"command": program, "args": ["mcp"]});
    assert_eq!(qwen["mcpServers"]["callosum"], ours);
    assert!(home(&env, ".gemini/settings.json").contains("mcpServers"));
    let codex = home(&env, ".codex/config.toml");
    assert!(codex.starts_with(CODEX), "{codex}");
    let table = format!(
        "[mcp_servers.callosum]\ncommand = \"{}\"\n",
        program.display()
    );
    assert!(codex.contains(&table), "{codex}");
    // It gives a server few variables of its own.
    assert!(
        codex.contains("env_vars = [\"CALLOSUM_HOME\", \"CALLOSUM_CONFIG\"]"),
        "{codex}"
    );
    let again = env
        .run(["init", "--all", "--share", "--json"])
        .success()
        .json();
    assert_eq!(changes(&again), ALL.map(|client| (client, "unchanged")));
    assert_eq!(home(&env, ".codex/config.toml"), codex);
    let output = env.run(["uninstall", "--json"]).success().json();
    assert_eq!(
        changes(&output),
        ["claude", "codex"].map(|client| (client, "restored"))
    );
    assert_eq!(settings(&env), before());
    assert_eq!(home(&env, ".claude.json"), CLAUDE);
    assert_eq!(home(&env, ".codex/config.toml"), CODEX);
}

/// A file that was made for it goes with it.
#[test]
fn a_file_that_was_made_goes_again() {
    let env = with_clients();
    env.run(["init", "--all", "--share"]).success();
    assert!(env.home().join(".claude.json").exists());
    env.run(["uninstall"]).success();
    assert!(!env.home().join(".claude.json").exists());
    assert!(!env.home().join(".codex/config.toml").exists());
    assert_eq!(settings(&env), before());
}

#[test]
fn who_wants_no_server_gets_none() {
    let env = with_settings();
    let mut told = env
        .run(["init", "--all", "--share", "--dry-run", "--json"])
        .success()
        .json();
    assert_eq!(changes(&told), ALL.map(|client| (client, "registered")));
    let shown = env
        .run(["init", "--all", "--share", "--dry-run"])
        .success()
        .stderr;
    let line = "the MCP server would be registered in";
    assert_eq!(shown.matches(line).count(), 4, "{shown}");
    for without in [
        &[
            "init",
            "--guard",
            "--ledger",
            "--sessions",
            "--gate",
            "plugin",
            "--share",
            "--json",
        ][..],
        &["init", "--guard", "--gate", "plugin", "--json"],
        &["init", "--ledger", "--sessions", "--share", "--json"],
    ] {
        told = env.run(without).success().json();
        assert_eq!(told["servers"], json!([]), "{without:?}");
    }
    assert_eq!(home(&env, ".claude.json"), CLAUDE);
    assert_eq!(home(&env, ".codex/config.toml"), CODEX);
    assert!(!home(&env, ".gemini/settings.json").contains("mcpServers"));
}

/// What others write into the files afterwards stays, and nothing of ours does: also where hooks were
/// there first, others wrote, and the server came after.
#[test]
fn what_others_write_stays_and_nothing_of_ours_does() {
    let env = with_settings();
    env.run([
        "init",
        "--guard",
        "--ledger",
        "--sessions",
        "--gate",
        "plugin",
        "--share",
    ])
    .success();
    let path = env.home().join(".gemini/settings.json");
    let edited = env.read(&path).replace("gemini-api-key", "oauth");
    env.write(&path, edited);
    env.run(["init", "--all", "--share"]).success();
    let path = env.home().join(".claude.json");
    let edited = env
        .read(&path)
        .replace("\"numStartups\": 3", "\"numStartups\": 4");
    env.write(&path, edited);
    let path = env.home().join(".codex/config.toml");
    let edited = env.read(&path).replace("\"gpt\"", "\"other\"");
    env.write(
        &path,
        format!("{edited}\n[mcp_servers.callosum.env]\nA = \"b\"\n\n[tui]\nx = 1\n"),
    );
    env.run(["uninstall"]).success();
    assert_eq!(home(&env, ".claude.json"), CLAUDE.replace('3', "4"));
    let codex = CODEX.replace("\"gpt\"", "\"other\"");
    assert_eq!(
        home(&env, ".codex/config.toml"),
        format!("{codex}\n[tui]\nx = 1\n")
    );
    let gemini = home(&env, ".gemini/settings.json");
    assert!(!gemini.contains("callosum"), "{gemini}");
    assert!(gemini.contains("oauth"), "{gemini}");
}

/// A server of our name that is somebody else's is left, and who asked for theirs is told.
#[test]
fn a_server_of_somebody_else_is_left() {
    let env = with_settings();
    let theirs = "{\"mcpServers\": {\"callosum\": {\"command\": \"npx\", \"args\": [\"x\"]}}}";
    env.write(env.home().join(".claude.json"), theirs);
    let refused = env
        .run(["init", "--all", "--share", "--client", "claude"])
        .ended_with(3);
    assert!(
        refused.stderr.contains("is not an entry of Callosum"),
        "{}",
        refused.stderr
    );
    env.run(["uninstall"]).success();
    assert_eq!(home(&env, ".claude.json"), theirs);
}

/// In a project's own files it is named for everybody who works there.
#[test]
fn a_project_has_files_of_its_own() {
    let env = with_settings();
    let project = |client| {
        [
            "init", "--all", "--share", "--client", client, "--scope", "project",
        ]
    };
    env.run(project("claude")).success();
    env.run(project("codex")).success();
    let claude: Value = serde_json::from_str(&env.read(".mcp.json")).unwrap();
    assert_eq!(claude["mcpServers"]["callosum"]["args"], json!(["mcp"]));
    assert!(
        env.read(".codex/config.toml")
            .contains("[mcp_servers.callosum]")
    );
    assert_eq!(home(&env, ".claude.json"), CLAUDE);
    env.run(["uninstall"]).success();
    assert!(!env.project().join(".mcp.json").exists());
    assert!(!env.project().join(".codex").exists());
}

/// `doctor` starts what is registered, and says when nothing stands behind it any more.
#[test]
fn doctor_says_whether_the_server_answers() {
    let env = with_settings();
    let found = |client: &str| {
        let output = env.run(["doctor", "--json"]).json();
        let name = format!("tools of {client}");
        let checks = output["checks"].as_array().unwrap().clone();
        let check = checks
            .into_iter()
            .find(|check| check["name"] == name)
            .unwrap();
        (
            check["outcome"].clone(),
            check["found"].as_str().unwrap().to_owned(),
        )
    };
    env.run([
        "init",
        "--guard",
        "--ledger",
        "--sessions",
        "--gate",
        "plugin",
        "--share",
    ])
    .success();
    let (outcome, said) = found("codex");
    assert_eq!(outcome, "ok");
    assert!(said.contains("not registered"), "{said}");
    env.run(["init", "--all", "--share"]).success();
    for client in ALL {
        let (outcome, said) = found(client);
        assert_eq!(outcome, "ok", "{said}");
        assert!(said.contains("`callosum mcp` answers"), "{said}");
    }
    let path = env.home().join(".codex/config.toml");
    let program = fakes::program("callosum");
    let gone = env
        .read(&path)
        .replace(program.to_str().unwrap(), "/gone/callosum");
    env.write(&path, gone);
    let (outcome, said) = found("codex");
    assert_eq!(outcome, "failed");
    assert!(said.contains("/gone/callosum"), "{said}");
}
