//! Qwen Code.

use super::{
    Acp, Allowing, Asking, Client, Denying, Home, Hooks, KeysIn, Login, MessageTargets, Rewriting,
    TimeUnit, ToolServers, Version,
};

pub(super) const CLIENT: Client = Client {
    program: "qwen",
    // Settings of the tree are obeyed by it without a person's word; its own say which model answers all the same.
    command_template: "qwen --safe-mode --output-format stream-json --json-schema {schema}",
    acp: Acp::Itself("qwen --safe-mode --acp"),
    help: &["--help"],
    oldest: Version(0, 4, 0),
    update: "npm install -g @qwen-code/qwen-code@latest",
    install: "npm install -g @qwen-code/qwen-code@latest",
    node: Some(22),
    passed: &["OPENAI_BASE_URL", "OPENAI_MODEL", "LANG"],
    set: &[
        ("NO_BROWSER", "1"),
        ("NO_COLOR", "1"),
        // What it tells its makers of a run is nothing that an analysis needs, and goes to a host of its own.
        ("QWEN_USAGE_STATISTICS_ENABLED", "false"),
    ],
    home: Home {
        variable: None,
        folder: ".qwen",
    },
    writes: &["~/.qwen/oauth_creds.json"],
    reads: &[
        "~/.qwen/settings.json",
        "~/.qwen/QWEN.md",
        "~/.qwen/.env",
        "~/.qwen/installation_id",
        "~/.qwen/commands/",
        "~/.qwen/extensions/",
        "~/.qwen/skills/",
    ],
    names_servers: &["~/.qwen/settings.json", "~/.qwen/.env"],
    keeps: &["~/.qwen/"],
    copies: &[],
    hosts: &[
        "chat.qwen.ai:443",
        "dashscope.aliyuncs.com:443",
        "dashscope-intl.aliyuncs.com:443",
        "portal.qwen.ai:443",
    ],
    // Versions that know no such variable ask it all the same.
    does_without: &["gb4w8c3ygj-default-sea.rum.aliyuncs.com:443"],
    servers: &["OPENAI_BASE_URL"],
    login: Login {
        files: &["oauth_creds.json"],
        variables: &["OPENAI_API_KEY", "DASHSCOPE_API_KEY"],
        command: "qwen, in a terminal: it asks how to log in",
    },
    keys_in: KeysIn::DotEnv,
    settings: "settings.json",
    // The second is where versions before 0.24 had them.
    transcripts: &["projects/*/chats/*.jsonl", "tmp/*/chats/*.json*"],
    records: &[
        "projects/*/chats/*.jsonl",
        "tmp/*/chats/*.json*",
        "telemetry.log",
    ],
    recording: &[
        ("QWEN_TELEMETRY_ENABLED", "true"),
        ("QWEN_TELEMETRY_TARGET", "local"),
        ("QWEN_TELEMETRY_OUTFILE", "{own}/telemetry.log"),
        ("QWEN_TELEMETRY_LOG_PROMPTS", "false"),
    ],
    hooks_to_trust: None,
    has_sandbox: false,
    inner_sandbox: None,
    tool_servers: Some(ToolServers {
        user: "settings.json",
        beside: false,
        project: ".qwen/settings.json",
        typed: false,
    }),
    hooks: Some(Hooks {
        user: "settings.json",
        project: ".qwen/settings.json",
        given: None,
        before_tool: "PreToolUse",
        deciding: &[],
        on_failure: None,
        // `SessionEnd` and `PreCompact` fire in its terminal, and not with `-p`.
        session: &[
            ("SessionStart", "session-start"),
            ("UserPromptSubmit", "user-prompt-submit"),
            ("PostToolUse", "post-tool-use"),
            ("PostToolUseFailure", "post-tool-use-failure"),
            ("Stop", "stop"),
            ("PreCompact", "pre-compact"),
            ("SessionEnd", "session-end"),
        ],
        gate: None,
        typed: None,
        names: false,
        time_unit: TimeUnit::Milliseconds,
        hurried: &[],
        asking: Asking::Never,
        denying: Denying::ByExitCode,
        allowing: Allowing::Never,
        rewriting: Rewriting::Never,
        telling: MessageTargets {
            person: false,
            model: false,
        },
        silence: "",
        proven: Version(0, 24, 4),
        limits: "has not been seen to ask, so it denies instead; it is unknown whether hooks run \
             over ACP",
    }),
};
