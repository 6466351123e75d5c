//! What is tried with each client, one function each.

use callosum_testkit::{
    Run, TestEnv,
    model::{Call, Fault, ModelServer, Options, Turn, Usage},
};
use serde_json::{Value, json};

use crate::{
    client::{Agent, Client},
    install::Installed,
    neighbours, sessions,
};

/// A case, by its name.
pub(crate) type Case = (&'static str, fn(&Client, &Installed));

/// All of them.
pub(crate) static ALL: &[Case] = &[
    ("is_the_pinned_version", is_the_pinned_version),
    ("answers_without_a_network", answers_without_a_network),
    (
        "fails_where_the_key_is_refused",
        fails_where_the_key_is_refused,
    ),
    ("delegates_and_counts", delegates_and_counts),
    (
        "reads_the_tree_where_it_is_held",
        reads_the_tree_where_it_is_held,
    ),
    (
        "obeys_no_settings_of_the_tree",
        obeys_no_settings_of_the_tree,
    ),
    ("speaks_acp", speaks_acp),
    ("names_faults_over_acp", names_faults_over_acp),
    ("names_a_refused_key", names_a_refused_key),
    (
        "names_a_prompt_that_is_too_long",
        names_a_prompt_that_is_too_long,
    ),
    ("outlives_a_rate_limit", outlives_a_rate_limit),
    ("takes_no_half_for_an_answer", takes_no_half_for_an_answer),
    (
        "retains_what_was_found_before",
        retains_what_was_found_before,
    ),
    (
        "stops_what_the_guard_is_against",
        stops_what_the_guard_is_against,
    ),
    ("tells_what_was_kept", tells_what_was_kept),
    ("is_known_to_ask_nobody", is_known_to_ask_nobody),
    ("carries_a_session_over", sessions::carries_a_session_over),
    (
        "picks_up_what_is_handed_over",
        sessions::picks_up_what_is_handed_over,
    ),
    ("works_with_the_others", neighbours::works_with_the_others),
    (
        "reaches_the_others_by_tools",
        neighbours::reaches_the_others_by_tools,
    ),
    (
        "reaches_the_others_from_a_sandbox",
        neighbours::reaches_the_others_from_a_sandbox,
    ),
    ("obeys_a_shadowed_clear", sessions::obeys_a_shadowed_clear),
    ("is_left_as_it_was", is_left_as_it_was),
];

/// A clean home with the client settled in it, and a server.
pub(crate) struct Stage<'a> {
    pub(crate) client: &'a Client,
    installed: &'a Installed,
    pub(crate) env: TestEnv,
    pub(crate) server: ModelServer,
}

impl<'a> Stage<'a> {
    pub(crate) fn new(client: &'a Client, installed: &'a Installed) -> Self {
        let env = TestEnv::new();
        let server = ModelServer::with(Options {
            // Agents ask for titles and summaries of their own; those have no tools.
            side_calls: true,
            ..Options::default()
        })
        .unwrap();
        client.settle(&env, &server.url());
        env.write("src/main.rs", "fn main() {}\n");
        env.git_init();
        Self {
            client,
            installed,
            env,
            server,
        }
    }

    /// The client itself, in its environment.
    pub(crate) fn client(&self) -> Run {
        self.dressed(self.env.program(self.installed.program.clone()))
    }

    /// Registers the client with the project, as a person would who has its keys in variables.
    fn register(&self) {
        self.register_as(self.client.name, &[]);
    }

    /// The same under a name of its own, with more arguments.
    fn register_as(&self, name: &str, more: &[&str]) {
        let names = self.client.environment.iter().map(|(name, _)| *name);
        let passed = names.flat_map(|name| ["--pass-env", name]);
        let url = self.server.url();
        let server = url.trim_start_matches("http://");
        self.callosum()
            .arguments(["executor", "register", name])
            .arguments(passed)
            .arguments(["--network", server])
            .arguments(more)
            .run()
            .success();
    }

    /// The same as an agent that speaks ACP, under the name `agent`.
    fn register_agent(&self, agent: &Agent) {
        let command = format!("{} {}", self.client.name, agent.argument);
        self.register_as("agent", &["--protocol", "acp", "--command", &command]);
    }

    /// Delegates a prompt with this script to the client.
    fn delegate(&self, turns: &[Turn]) -> (i32, Value) {
        self.delegate_linked(turns, None)
    }

    /// The same, with the entry of a task before it.
    fn delegate_linked(&self, turns: &[Turn], before: Option<&str>) -> (i32, Value) {
        self.delegate_to(self.client.name, turns, before)
    }

    fn delegate_to(&self, name: &str, turns: &[Turn], before: Option<&str>) -> (i32, Value) {
        let linked = before.map(|id| ["--link", id]).into_iter().flatten();
        let output = self.delegation(name, turns).arguments(linked).run();
        (output.code, output.json())
    }

    /// The same in one try.
    fn delegate_once_to(&self, name: &str, turns: &[Turn]) -> (i32, Value) {
        let output = self.delegation(name, turns).env("CAL_RETRY_MAX", "0").run();
        (output.code, output.json())
    }

    fn delegation(&self, name: &str, turns: &[Turn]) -> Run {
        let prompt = format!("Say what is there. {}", Turn::script(turns));
        self.callosum()
            .arguments(["delegate", &prompt, "--json"])
            .arguments(["--executor", name])
    }

    /// The turns by which a model answers in the form that the client asks for.
    fn answer(&self, summary: &str) -> Vec<Turn> {
        let usage = |input, output| {
            Some(Usage {
                input,
                output,
                cached: 0,
            })
        };
        let Some(tool) = self.client.answers_by else {
            return vec![Turn {
                usage: usage(5000, 300),
                ..Turn::text(summary)
            }];
        };
        let call = Call {
            name: tool.to_owned(),
            input: json!({"summary": summary}),
            ..Call::default()
        };
        vec![
            Turn {
                usage: usage(5000, 300),
                calls: vec![call],
                ..Turn::default()
            },
            Turn {
                usage: usage(0, 0),
                ..Turn::text("done")
            },
        ]
    }

    /// Our program, with the client in its `PATH` and environment.
    pub(crate) fn callosum(&self) -> Run {
        self.dressed(self.env.callosum())
    }

    fn dressed(&self, run: Run) -> Run {
        let path = format!(
            "{}:{}:/usr/bin:/bin",
            self.installed.node.display(),
            self.installed.program.parent().unwrap().display()
        );
        self.client
            .environment(run.env("PATH", path), &self.server.url())
    }
}

fn is_the_pinned_version(client: &Client, installed: &Installed) {
    let stage = Stage::new(client, installed);
    let said = stage.client().arguments(["--version"]).run().success();
    assert!(said.stdout.contains(client.version), "{}", said.stdout);
}

fn answers_without_a_network(client: &Client, installed: &Installed) {
    let stage = Stage::new(client, installed);
    let prompt = format!(
        "Answer. {}",
        Turn::script(&[Turn::text("the answer of the script")])
    );
    let said = stage
        .client()
        .arguments(client.arguments)
        .arguments([prompt])
        .run()
        .success();
    assert!(
        said.stdout.contains("the answer of the script"),
        "{}",
        said.stdout
    );
    let heard = stage.server.heard();
    assert!(heard.iter().any(|heard| heard.turn == Some(0)), "{heard:?}");
}

fn fails_where_the_key_is_refused(client: &Client, installed: &Installed) {
    let stage = Stage::new(client, installed);
    let refused = Turn {
        fault: Some(Fault::Unauthorized),
        ..Turn::default()
    };
    let said = stage
        .client()
        .arguments(client.arguments)
        .arguments([format!("Answer. {}", Turn::script(&[refused]))])
        .run();
    assert_ne!(said.code, 0, "{}", said.stdout);
    let words = said.stdout + &said.stderr;
    assert!(
        words.contains("401") || words.contains("API key"),
        "{words}"
    );
}

/// CAL-EXE-1: what the client says is the entry's summary, and what it counts are its tokens.
fn delegates_and_counts(client: &Client, installed: &Installed) {
    let stage = Stage::new(client, installed);
    stage.register();
    let summary = "One function, main [src/main.rs:1], which does nothing.";
    let (code, output) = stage.delegate(&stage.answer(summary));
    assert_eq!(code, 0, "{output:#}");
    let id = output["task_id"].as_str().unwrap();
    let entry = stage.env.run(["ledger", "show", id, "--json"]).success();
    let entry = entry.json();
    assert_eq!(entry["summary"], summary);
    assert_eq!(entry["executor"], client.name);
    let method = format!("reported by {}", client.name);
    assert_eq!(entry["metadata"]["token_method"], method, "{entry:#}");
    assert_eq!(entry["tokens_used"], 5300, "{entry:#}");
    stage.env.run(["ledger", "verify"]).success();
}

/// CAL-EXE-2, CAL-SEC-1: held as it is registered it sees the files that it is asked about.
fn reads_the_tree_where_it_is_held(client: &Client, installed: &Installed) {
    let stage = Stage::new(client, installed);
    let text = "fn main() { let seen_by_the_model = 1; }\n";
    stage.env.write("src/main.rs", text);
    stage.register();
    let (tool, key) = client.looks_by;
    let input = match key {
        "cmd" => "cat src/main.rs".to_owned(),
        _ => stage
            .env
            .project()
            .join("src/main.rs")
            .display()
            .to_string(),
    };
    let look = Turn {
        calls: vec![Call {
            name: tool.to_owned(),
            input: json!({key: input}),
            ..Call::default()
        }],
        ..Turn::default()
    };
    let summary = "One function, main [src/main.rs:1], which does nothing.";
    let turns = [vec![look], stage.answer(summary)].concat();
    let (code, output) = stage.delegate(&turns);
    assert_eq!(code, 0, "{output:#}");
    let heard = stage.server.heard();
    let mut told = heard.iter().map(|heard| heard.body.to_string());
    assert!(
        told.any(|body| body.contains("seen_by_the_model")),
        "{heard:#?}"
    );
}

/// REQ-SEC-001: a repository's own hooks and plugins are not run by who is asked about it, also where nothing holds it.
fn obeys_no_settings_of_the_tree(client: &Client, installed: &Installed) {
    let stage = Stage::new(client, installed);
    let marks = stage.env.folder().join("obeyed");
    let command = format!("cat >/dev/null; echo hook >> '{}'", marks.display());
    let hooks = json!([{"matcher": "*", "hooks": [{"type": "command", "command": command}]}]);
    let events = [
        "SessionStart",
        "UserPromptSubmit",
        "BeforeAgent",
        "BeforeModel",
        "Stop",
        "AfterAgent",
    ];
    let hooks: serde_json::Map<_, _> = events
        .iter()
        .map(|event| ((*event).to_owned(), hooks.clone()))
        .collect();
    let servers = json!({"mark": {"command": "sh", "args": ["-c", command]}});
    let settings = json!({"hooks": hooks, "mcpServers": servers}).to_string();
    for path in [
        ".claude/settings.json",
        ".claude/settings.local.json",
        ".gemini/settings.json",
        ".qwen/settings.json",
        ".codex/hooks.json",
        ".mcp.json",
    ] {
        stage.env.write(path, &settings);
    }
    stage
        .env
        .write(".codex/config.toml", "[features]\nhooks = true\n");
    let plugin = format!(
        "import fs from \"fs\";\nexport const Mark = async () => {{\n  fs.appendFileSync({:?}, \
         \"plugin\\n\");\n  return {{}};\n}};\n",
        marks.display().to_string()
    );
    stage.env.write(".opencode/plugin/mark.js", &plugin);
    stage.env.write(".opencode/plugins/mark.js", plugin);
    stage.register_as(client.name, &["--confinement", "off"]);
    let summary = "It has `fn main() {}` [src/main.rs:1].";
    let (code, said) = stage.delegate(&stage.answer(summary));
    assert_eq!(code, 0, "{said}");
    let obeyed = std::fs::read_to_string(&marks).ok();
    assert_eq!(obeyed, None);
}

/// CAL-COM-1: spoken to by the Agent Client Protocol it answers the same, and what it wants to write is
/// refused.
fn speaks_acp(client: &Client, installed: &Installed) {
    let Some(agent) = &client.agent else {
        return;
    };
    let stage = Stage::new(client, installed);
    stage.register_agent(agent);
    let usage = Usage {
        input: 5000,
        output: 300,
        cached: 0,
    };
    let summary = "One function, main [src/main.rs:1], which does nothing.";
    let mut turns = vec![Turn {
        usage: Some(usage),
        ..Turn::text(summary)
    }];
    if let Some(shell) = client.shell.as_ref().filter(|_| agent.outlives_refusal) {
        let call = Call {
            name: shell.tool.to_owned(),
            input: json!({shell.key: "touch made-by-agent", "description": "make it"}),
            ..Call::default()
        };
        let wants = Turn {
            calls: vec![call],
            ..Turn::text("Looking.")
        };
        turns.insert(0, wants);
    }
    let (code, output) = stage.delegate_to("agent", &turns, None);
    assert_eq!(code, 0, "{output:#}");
    assert_eq!(output["summary"], summary, "{output:#}");
    assert!(
        output["tokens_used"].as_u64().unwrap() >= 5300,
        "{output:#}"
    );
    assert!(!stage.env.project().join("made-by-agent").exists());
}

/// CAL-ERR-2: what went wrong at the model's server is told in the same words by way of ACP.
fn names_faults_over_acp(client: &Client, installed: &Installed) {
    let Some(agent) = &client.agent else {
        return;
    };
    let stage = Stage::new(client, installed);
    stage.register_agent(agent);
    check_fault_of(
        &stage,
        "agent",
        Fault::Unauthorized,
        "E001",
        "not logged in",
    );
    if !agent.shortens_prompts {
        check_fault_of(
            &stage,
            "agent",
            Fault::PromptTooLong,
            "E003",
            "prompt too long",
        );
    }
}

fn check_fault(client: &Client, installed: &Installed, fault: Fault, code: &str, words: &str) {
    let stage = Stage::new(client, installed);
    stage.register();
    check_fault_of(&stage, client.name, fault, code, words);
}

fn check_fault_of(stage: &Stage<'_>, executor: &str, fault: Fault, code: &str, words: &str) {
    let turns = [Turn {
        fault: Some(fault),
        ..Turn::default()
    }];
    let (ended, output) = stage.delegate_to(executor, &turns, None);
    assert_eq!(ended, 1, "{output:#}");
    assert_eq!(output["error"]["code"], code, "{output:#}");
    let said = output["error"]["message"].as_str().unwrap_or_default();
    assert!(said.contains(words), "{output:#}");
}

fn names_a_refused_key(client: &Client, installed: &Installed) {
    check_fault(
        client,
        installed,
        Fault::Unauthorized,
        "E001",
        "not logged in",
    );
}

fn names_a_prompt_that_is_too_long(client: &Client, installed: &Installed) {
    check_fault(
        client,
        installed,
        Fault::PromptTooLong,
        "E003",
        "prompt too long",
    );
}

/// One refusal for asking too often is not the end, whether the client or we try again.
fn outlives_a_rate_limit(client: &Client, installed: &Installed) {
    let stage = Stage::new(client, installed);
    stage.register();
    let mut turns = stage.answer("All is well.");
    turns[0].fault = Some(Fault::RateLimit);
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
fn takes_no_half_for_an_answer(client: &Client, installed: &Installed) {
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
        Turn {
            calls: vec![call],
            ..Turn::text("Looking.")
        },
        Turn {
            cut: true,
            ..Turn::text("This is the first half of a")
        },
        Turn::text("and this is the rest of it."),
    ];
    let mut executors = vec![client.name];
    if let Some(agent) = &client.agent {
        stage.register_agent(agent);
        executors.push("agent");
    }
    for executor in executors {
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

/// So many facts are found in a first session.
const FACTS: usize = 20;

/// REQ-PERF-002: what one session found stands word for word in what reaches the model first in
/// the next.
fn retains_what_was_found_before(client: &Client, installed: &Installed) {
    let stage = Stage::new(client, installed);
    stage.register();
    let facts: Vec<String> = (0..FACTS)
        .map(|number| format!("Store {number} keeps {} books.", 4_813 + 971 * number))
        .collect();
    let (code, output) = stage.delegate(&stage.answer(&facts.join("\n")));
    assert_eq!(code, 0, "{output:#}");
    let first = output["task_id"].as_str().unwrap();
    let heard_before = stage.server.heard().len();
    let (code, output) = stage.delegate_linked(&stage.answer("Nothing new."), Some(first));
    assert_eq!(code, 0, "{output:#}");
    let heard = stage.server.heard();
    let request = heard[heard_before..]
        .iter()
        .find(|heard| heard.method == "POST" && heard.turn == Some(0))
        .unwrap();
    let reached = serde_json::to_string(&request.body).unwrap();
    let retained = facts.iter().filter(|fact| reached.contains(*fact)).count();
    println!("{}: {retained} of {FACTS} facts retained", client.name);
    assert_eq!(retained, FACTS, "{reached}");
}

/// Has the client's model run a command in a dirty repository with the guard registered; gives all
/// that the model was told, and what was shown.
fn run_guarded(stage: &Stage<'_>, command: &str) -> Option<[String; 2]> {
    let shell = stage.client.shell.as_ref()?;
    let init = ["init", "--client", stage.client.name, "--json"];
    stage.callosum().arguments(init).run().success();
    let call = Call {
        name: shell.tool.to_owned(),
        input: json!({shell.key: command, "description": "run it"}),
        ..Call::default()
    };
    let turns = [
        Turn {
            calls: vec![call],
            ..Turn::default()
        },
        Turn::text("that was all"),
    ];
    stage
        .env
        .write("src/main.rs", "fn main() { hours_of_work() }\n");
    let client = stage
        .client()
        .arguments(shell.arguments)
        .arguments([format!("Do it. {}", Turn::script(&turns))]);
    let variables = shell.environment.iter();
    let client = variables.fold(client, |client, (name, value)| client.env(name, *value));
    let ended = client.run();
    let shown = format!("{}{}", ended.stdout, ended.stderr);
    for complaint in ["failed for event", "1 failed", "clamping"] {
        assert!(!shown.contains(complaint), "{shown}");
    }
    let heard = stage.server.heard();
    let told: Vec<String> = heard
        .iter()
        .map(|heard| serde_json::to_string(&heard.body).unwrap())
        .collect();
    assert!(told.len() > 1, "{}: {ended:?}", stage.client.name);
    Some([told.join("\n"), shown])
}

/// CAKE-SHIM-1, CAKE-ADP-1: the command does not run, and the model is told why; a harmless one
/// runs.
fn stops_what_the_guard_is_against(client: &Client, installed: &Installed) {
    let stage = Stage::new(client, installed);
    let head = stage.env.git(&["rev-parse", "HEAD"]);
    let Some([told, _]) = run_guarded(&stage, "git reset --hard") else {
        return;
    };
    assert!(told.contains("callosum guard, rule git"), "{told}");
    assert!(stage.env.read("src/main.rs").contains("hours_of_work"));
    let status = stage
        .env
        .git(&["status", "--porcelain", "--untracked-files=no"]);
    assert_eq!(status, " M src/main.rs\n");
    assert_eq!(stage.env.git(&["rev-parse", "HEAD"]), head);
    let stage = Stage::new(client, installed);
    run_guarded(&stage, "ls src > listed.txt");
    assert_eq!(stage.env.read("listed.txt"), "main.rs\n");
}

/// CAKE-SNAP-1: where a command takes away what only a snapshot holds, the model or the person is told how to go
/// back, as far as the client passes it on.
fn tells_what_was_kept(client: &Client, installed: &Installed) {
    let stage = Stage::new(client, installed);
    stage.env.write("notes.txt", "hours of work\n");
    let Some([told, shown]) = run_guarded(&stage, "rm notes.txt") else {
        return;
    };
    assert!(!stage.env.project().join("notes.txt").exists());
    let is_said = |text: &str| text.contains("callosum has kept notes.txt before this");
    // Claude Code shows it to the person in the terminal, and to whoever reads its stream.
    let expected = match client.name {
        "claude" | "codex" => (true, false),
        "gemini" => (false, true),
        _ => (false, false),
    };
    assert_eq!((is_said(&told), is_said(&shown)), expected, "{shown}");
}

/// CAKE-ADP-1: where the program is gone that is registered, the client runs what it is told to,
/// and `doctor` says so.
fn is_known_to_ask_nobody(client: &Client, installed: &Installed) {
    if client.shell.is_none() {
        return;
    }
    let stage = Stage::new(client, installed);
    let copy = stage.env.home().join("bin/callosum");
    std::fs::create_dir_all(copy.parent().unwrap()).unwrap();
    std::fs::copy(callosum_testkit::fakes::program("callosum"), &copy).unwrap();
    let init = ["init", "--client", client.name];
    let own = stage.dressed(stage.env.program(copy.clone()));
    own.arguments(init).run().success();
    let found = || {
        let said = stage.callosum().arguments(["doctor", "--json"]).run();
        let name = format!("guard of {}", client.name);
        let checks = said.json()["checks"].as_array().unwrap().clone();
        let mut checks = checks.into_iter().filter(|check| check["name"] == name);
        let check = checks.next().unwrap();
        (check["outcome"].clone(), check.to_string())
    };
    let (outcome, said) = found();
    assert_eq!(outcome, "ok", "{said}");
    std::fs::remove_file(&copy).unwrap();
    let (outcome, said) = found();
    assert_eq!(outcome, "failed", "{said}");
    assert!(said.contains("does not answer"), "{said}");
}

/// CAKE-ADP-1: its settings are the same bytes after `uninstall`, no file is left beside them, and
/// it works without the hook.
fn is_left_as_it_was(client: &Client, installed: &Installed) {
    let stage = Stage::new(client, installed);
    let beside = |stage: &Stage<'_>| -> Vec<std::ffi::OsString> {
        let files = client.files.iter();
        let folders =
            files.filter_map(|(path, _)| Some(stage.env.home().join(path).parent()?.to_owned()));
        let entries = folders.flat_map(|folder| std::fs::read_dir(folder).unwrap());
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        names
    };
    let settings = |stage: &Stage<'_>| -> Vec<String> {
        let files = client.files.iter();
        let paths = files.map(|(path, _)| stage.env.home().join(path));
        paths.map(|path| stage.env.read(path)).collect()
    };
    let before = (settings(&stage), beside(&stage));
    if client.shell.is_none() {
        return;
    }
    let init = ["init", "--client", client.name];
    stage.callosum().arguments(init).run().success();
    stage.callosum().arguments(["uninstall"]).run().success();
    assert_eq!((settings(&stage), beside(&stage)), before);
    answers_without_a_network(client, installed);
}
