//! Codex.

use super::{
    Acp, Allowing, Asking, Client, Denying, Home, Hooks, InnerSandbox, KeysIn, Login,
    MessageTargets, Rewriting, TimeUnit, ToolServers, Version,
};

pub(super) const CLIENT: Client = Client {
    program: "codex",
    command_template: "codex exec --json --skip-git-repo-check --sandbox read-only \
                       --output-schema {schema_file} -",
    acp: Acp::Through("codex-acp"),
    help: &["exec", "--help"],
    oldest: Version(0, 46, 0),
    update: "npm install -g @openai/codex@latest",
    install: "npm install -g @openai/codex@latest",
    node: Some(16),
    passed: &["CODEX_HOME", "LANG"],
    set: &[("NO_COLOR", "1")],
    home: Home {
        variable: Some("CODEX_HOME"),
        folder: ".codex",
    },
    writes: &["~/.codex/auth.json"],
    reads: &[
        "~/.codex/config.toml",
        "~/.codex/hooks.json",
        "~/.codex/AGENTS.md",
        "~/.codex/prompts/",
        "~/.codex/rules/",
        "~/.codex/skills/",
    ],
    names_servers: &["~/.codex/config.toml"],
    keeps: &["~/.codex/"],
    copies: &[],
    hosts: &[
        "api.openai.com:443",
        "auth.openai.com:443",
        "chatgpt.com:443",
    ],
    // The last where a provider of one's own answers; where it is needed, that it is not reached is why the client fails.
    does_without: &["api.github.com:443", "github.com:443", "chatgpt.com:443"],
    servers: &[],
    login: Login {
        files: &["auth.json"],
        variables: &["CODEX_API_KEY", "OPENAI_API_KEY"],
        command: "codex login",
    },
    keys_in: KeysIn::ChosenProvider,
    settings: "config.toml",
    transcripts: &["sessions/*/*/*/rollout-*.jsonl"],
    records: &["sessions/*/*/*/rollout-*.jsonl"],
    recording: &[],
    hooks_to_trust: Some("hooks.json"),
    has_sandbox: true,
    // Bubblewrap, which may make no namespaces there.
    inner_sandbox: Some(InnerSandbox {
        options: &["--sandbox", "-s"],
        off: "danger-full-access",
        off_by_variable: ("INITIAL_AGENT_MODE", "agent-full-access"),
    }),
    tool_servers: Some(ToolServers {
        user: "config.toml",
        beside: false,
        project: ".codex/config.toml",
        typed: false,
    }),
    hooks: Some(Hooks {
        user: "hooks.json",
        project: ".codex/hooks.json",
        given: None,
        before_tool: "PreToolUse",
        // Only an answer at this event spares the prompt; one before the tool that allows it is an error to 0.171.
        deciding: &[("PermissionRequest", "permission-request")],
        on_failure: None,
        session: &[
            ("SessionStart", "session-start"),
            ("UserPromptSubmit", "user-prompt-submit"),
            ("PostToolUse", "post-tool-use"),
            ("Stop", "stop"),
            ("PreCompact", "pre-compact"),
            ("SessionEnd", "session-end"),
        ],
        gate: None,
        typed: None,
        names: false,
        time_unit: TimeUnit::Seconds,
        hurried: &[("SessionEnd", 3)],
        asking: Asking::Never,
        denying: Denying::ByExitCode,
        allowing: Allowing::AtPrompt("PermissionRequest"),
        rewriting: Rewriting::ByUpdatedInput,
        telling: MessageTargets {
            person: false,
            model: true,
        },
        silence: "",
        proven: Version(0, 171, 0),
        limits: "does not report what its model types into an open shell (`write_stdin`), so a \
             bare shell or interpreter is denied; skips a hook silently until a person has \
             trusted it in the terminal, and again after each change of the hook; cannot ask; \
             runs a tool whose hook is missing or times out",
    }),
};
