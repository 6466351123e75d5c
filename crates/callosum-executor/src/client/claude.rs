//! Claude Code.

use super::{
    Acp, Allowing, Asking, Client, Denying, Home, Hooks, KeysIn, Login, MessageTargets, Rewriting,
    TimeUnit, ToolServers, Version,
};

pub(super) const CLIENT: Client = Client {
    program: "claude",
    // Reading inside the root needs no permission there, and what does is denied without a person. Settings of
    // the tree would be obeyed without one, too: their hooks are commands. Without the parts of a message it
    // writes nothing between the beginning of one and its end.
    command_template: "claude -p --setting-sources user --output-format stream-json --verbose \
                       --include-partial-messages --json-schema {schema}",
    acp: Acp::Through("claude-agent-acp"),
    help: &["--help"],
    oldest: Version(2, 0, 0),
    update: "claude update",
    install: "npm install -g @anthropic-ai/claude-code@latest",
    node: None,
    passed: &[
        "CLAUDE_CONFIG_DIR",
        "ANTHROPIC_BASE_URL",
        "ANTHROPIC_MODEL",
        "CLAUDE_CODE_USE_BEDROCK",
        "CLAUDE_CODE_USE_VERTEX",
        "LANG",
    ],
    set: &[
        // By itself it tries a refused login for two minutes; trying again is ours.
        ("CLAUDE_CODE_MAX_RETRIES", "2"),
        ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
        ("DISABLE_AUTOUPDATER", "1"),
    ],
    home: Home {
        variable: Some("CLAUDE_CONFIG_DIR"),
        folder: ".claude",
    },
    writes: &["~/.claude/.credentials.json"],
    reads: &[
        "~/.claude/settings.json",
        "~/.claude/CLAUDE.md",
        "~/.claude/rules/",
        "~/.claude/agents/",
        "~/.claude/commands/",
        "~/.claude/skills/",
        "~/.claude/plugins/",
    ],
    // Servers that apply everywhere are in the file next to its folder, the one that is copied.
    names_servers: &["~/.claude/settings.json"],
    keeps: &["~/.claude/", "~/.claude.json"],
    copies: &["~/.claude.json"],
    hosts: &[
        "api.anthropic.com:443",
        "claude.ai:443",
        "console.anthropic.com:443",
        "platform.claude.com:443",
    ],
    does_without: &[],
    servers: &["ANTHROPIC_BASE_URL"],
    login: Login {
        files: &[".credentials.json"],
        variables: &[
            "ANTHROPIC_API_KEY",
            "ANTHROPIC_AUTH_TOKEN",
            "CLAUDE_CODE_OAUTH_TOKEN",
        ],
        command: "claude /login",
    },
    keys_in: KeysIn::Helper,
    settings: "settings.json",
    transcripts: &["projects/*/*.jsonl"],
    records: &[],
    recording: &[],
    hooks_to_trust: None,
    has_sandbox: false,
    inner_sandbox: None,
    tool_servers: Some(ToolServers {
        user: ".claude.json",
        beside: true,
        project: ".mcp.json",
        typed: true,
    }),
    hooks: Some(Hooks {
        user: "settings.json",
        project: ".claude/settings.json",
        given: Some(["permissions", "additionalDirectories"]),
        before_tool: "PreToolUse",
        deciding: &[("PreSkillShellCommand", "pre-skill-shell-command")],
        on_failure: Some(("onFailure", "block")),
        session: &[
            ("SessionStart", "session-start"),
            ("UserPromptSubmit", "user-prompt-submit"),
            ("PostToolUse", "post-tool-use"),
            ("PostToolUseFailure", "post-tool-use-failure"),
            ("Stop", "stop"),
            ("PreCompact", "pre-compact"),
            ("SessionEnd", "session-end"),
        ],
        gate: Some(Version(2, 1, 330)),
        typed: Some(("UserPromptExpansion", "typed-command")),
        names: false,
        time_unit: TimeUnit::Seconds,
        hurried: &[],
        asking: Asking::ByAnswer,
        denying: Denying::ByPermission,
        allowing: Allowing::BeforeTool,
        rewriting: Rewriting::ByUpdatedInput,
        telling: MessageTargets {
            person: true,
            model: true,
        },
        silence: "",
        proven: Version(2, 1, 332),
        limits: "before 2.1.330 runs a tool whose hook is missing, crashes or times out; before \
             2.1.332 runs the shell lines of a skill that a person types without asking; denies \
             in `-p`, where no one can be asked; skips all hooks with `--bare` and `--safe-mode`",
    }),
};
