//! The integration parity checklist of Seed CALC §11: every capability for Claude Code, Codex and Gemini CLI.
//!
//! One test for each row, or for two that one act shows. Payloads are recorded from the real clients.

use callosum_testkit::{TestEnv, fakes};
use serde_json::{Value, json};

use super::lines;
use crate::{
    clients::with_clients,
    neighbours::{CLIENTS, context, tell},
    serving::daemon::Daemon,
};

/// The three clients of the checklist: name, agent, recorded beginning of a session, recorded end of a tool.
fn clients() -> impl Iterator<Item = (&'static str, &'static str, &'static str, &'static str)> {
    CLIENTS.into_iter().filter(|(client, ..)| *client != "qwen")
}

/// The moment of the tests' clock.
const NOW: &str = "2026-01-02T03:04:05Z";

/// CALC-PAR-1, row 1: a session begins with the agents that the pane registry has at work in its project.
#[test]
fn pane_registry_awareness() {
    for (client, _, begin, _) in clients() {
        let env = TestEnv::new();
        env.run(["mesh", "bridge"]).success();
        let pane = json!({
            "pane": "%7", "tty": null, "pid": 1, "session_id": "other", "project": "p", "cwd": env.project(),
            "last_prompt": "count the tests", "status": "active", "activity_state": "WORKING", "quadrant": null,
            "last_active": NOW, "agent": "codex", "runtime": "codex-cli", "state": "BLOCKED_ON_APPROVAL",
            "detail": null, "since": NOW, "resets_at": null, "resets": null, "has_draft": false, "evidence": [],
        });
        let registry = json!({"version": "1.0.0", "updated_at": NOW, "writer": 1, "panes": [pane]});
        let path = env.machine_home().join("pane_registry.json");
        env.write(path, registry.to_string());
        let told = context(&tell(&env, client, "session-start", begin), begin);
        let line = "codex-cli in pane %7, BLOCKED_ON_APPROVAL for 0 min: \"count the tests\"";
        assert!(told.contains(line), "{client}: {told}");
    }
}

/// CALC-PAR-1, rows 2 and 11: hooks publish the beginning and the end of a session to the event bus.
#[test]
fn event_publishing_and_session_reporting() {
    for (client, agent, begin, _) in clients() {
        let env = TestEnv::new();
        env.run(["mesh", "bridge"]).success();
        tell(&env, client, "session-start", begin);
        let mut end: Value = serde_json::from_str(begin).unwrap();
        end["hook_event_name"] = "SessionEnd".into();
        end["reason"] = "exit".into();
        tell(&env, client, "session-end", &end.to_string());
        let tail = [
            "mesh",
            "tail",
            "--since",
            "0",
            "--topic",
            "session.*",
            "--json",
        ];
        let events = lines(&env.run(tail).success().stdout);
        let topics: Vec<&Value> = events.iter().map(|event| &event["type"]).collect();
        assert_eq!(topics, ["session.start", "session.end"], "{client}");
        for event in &events {
            assert_eq!(event["source"], agent);
            assert_eq!(event["session_id"], end["session_id"]);
        }
    }
}

/// CALC-PAR-1, rows 3 and 4: an agent at work hears the bus between two calls, and its edit of the bridge file is an event
/// to which others listen.
#[test]
fn bus_subscription_and_bridge_file() {
    for (client, agent, begin, after_tool) in clients() {
        let env = TestEnv::new();
        let bridge = super::json(&env, &["bridge"])["path"].clone();
        let bridge = bridge.as_str().unwrap();
        tell(&env, client, "session-start", begin);
        let found = [
            "mesh",
            "discovery",
            "share",
            "the port is taken",
            "--as",
            "person",
        ];
        env.run(found).success();
        let told = context(&tell(&env, client, "post-tool-use", after_tool), after_tool);
        assert!(told.contains("the port is taken"), "{client}: {told}");
        // What it reads in the file is what the bus carried, and what it writes there others get.
        let mut file: Value = serde_json::from_str(&env.read(bridge)).unwrap();
        assert_eq!(file["discoveries"][0]["content"], "the port is taken");
        let own = json!({"content": "the cache is stale", "source": agent, "timestamp": NOW});
        file["discoveries"].as_array_mut().unwrap().push(own);
        file["last_writer"] = agent.into();
        env.write(bridge, file.to_string());
        tell(&env, client, "post-tool-use", after_tool);
        let tail = [
            "mesh",
            "tail",
            "--since",
            "0",
            "--topic",
            "calc.discovery",
            "--json",
        ];
        let events = lines(&env.run(tail).success().stdout);
        assert_eq!(events.len(), 2, "{client}");
        assert_eq!(events[1]["source"], agent);
        assert_eq!(events[1]["payload"]["content"], "the cache is stale");
    }
}

/// CALC-PAR-1, rows 5 and 10: a session begins with the active tasks for its agent, and with the memory files of its user.
#[test]
fn active_tasks_and_memory_files() {
    for (client, agent, begin, _) in clients() {
        let env = TestEnv::new();
        let memory = env.home().join("MEMORY.md");
        env.write(&memory, "prefer small commits\n");
        let source = "[[mesh.digest.sources]]\nname = \"memory\"\nfile = \"~/MEMORY.md\"\n";
        env.write(env.configuration(), source);
        let add = ["mesh", "task", "add", "Review the lexer", "--to", agent];
        env.run([&add[..], &["--id", "t", "--as", "person"]].concat())
            .success();
        let told = context(&tell(&env, client, "session-start", begin), begin);
        for part in [
            "\"Review the lexer\"",
            "callosum mesh task claim t",
            "memory (~/MEMORY.md): \"prefer small commits\"",
        ] {
            assert!(told.contains(part), "{client}: {part}: {told}");
        }
    }
}

/// CALC-PAR-1, CALC-L5-1, row 8: the hooks of each client are a heartbeat to `GET /health`, from the beginning of a session to
/// its end, and a later posted one counts too.
#[test]
fn graph_kernel_heartbeat() {
    let env = TestEnv::new();
    let daemon = Daemon::with(&env, &["--memory", "127.0.0.1:0"]);
    // The memory is off: who is alive does not depend on it.
    let heartbeats = || {
        let health = daemon.get("memory", "/health").with(200).body;
        let health: Value = serde_json::from_str(&health).unwrap();
        health["heartbeats"].clone()
    };
    assert_eq!(heartbeats(), json!({}));
    for (number, (client, agent, begin, _)) in CLIENTS.into_iter().enumerate() {
        tell(&env, client, "session-start", begin);
        let known = heartbeats();
        assert_eq!(known[agent], NOW, "{client}: {known}");
        assert_eq!(known.as_object().unwrap().len(), number + 1, "{known}");
    }
    for (client, agent, begin, after_tool) in CLIENTS {
        let session = serde_json::from_str::<Value>(begin).unwrap()["session_id"].clone();
        let mut event: Value = serde_json::from_str(after_tool).unwrap();
        event["session_id"] = session;
        event["cwd"] = env.project().display().to_string().into();
        let hook = env.callosum().arguments(["hook", client, "post-tool-use"]);
        let hook = hook.env("CALLOSUM_TEST_CLOCK", "2026-01-02T03:05:00Z");
        hook.input(event.to_string()).run();
        assert_eq!(heartbeats()[agent], "2026-01-02T03:05:00Z", "{client}");
    }
}

/// CALC-PAR-1, rows 6, 7 and 9: each client gets skills, commands and a server of tools in its own form, and the server
/// answers.
#[test]
fn skills_commands_and_tools() {
    for (client, files, settings) in [
        (
            "claude",
            [
                ".claude/skills/session-continuity/SKILL.md",
                ".claude/commands/ride.md",
            ],
            ".claude.json",
        ),
        (
            "codex",
            [
                ".agents/skills/session-continuity/SKILL.md",
                ".agents/skills/ride/SKILL.md",
            ],
            ".codex/config.toml",
        ),
        (
            "gemini",
            [
                ".agents/skills/session-continuity/SKILL.md",
                ".gemini/commands/ride.toml",
            ],
            ".gemini/settings.json",
        ),
    ] {
        let env = with_clients();
        env.run(["init", "--all", "--share", "--client", client])
            .success();
        for file in files {
            assert!(
                env.read(file).contains("callosum session"),
                "{client}: {file}"
            );
        }
        let registered = env.read(env.home().join(settings));
        let program = fakes::program("callosum").display().to_string();
        assert!(registered.contains(&program), "{client}: {registered}");
        assert!(registered.contains("mcp"), "{client}: {registered}");
        let version = json!({"protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": {"name": client, "version": "1"}});
        let asked = [
            json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": version}),
            json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
            json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"}),
        ];
        let asked = asked.map(|line| format!("{line}\n")).concat();
        let answers = lines(&env.callosum().arguments(["mcp"]).input(asked).run().stdout);
        let listed = answers.iter().find(|answer| answer["id"] == 2).unwrap();
        let tools = listed["result"]["tools"].as_array().unwrap();
        for tool in ["task", "message", "discovery", "lease"] {
            assert!(
                tools.iter().any(|known| known["name"] == tool),
                "{client}: {tool}"
            );
        }
    }
}
