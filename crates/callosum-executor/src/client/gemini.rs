//! Gemini CLI.

use super::{
    Acp, Allowing, Asking, Client, Denying, Home, Hooks, KeysIn, Login, MessageTargets, Rewriting,
    TimeUnit, ToolServers, Version,
};

pub(super) const CLIENT: Client = Client {
    program: "gemini",
    // Without `--skip-trust` it refuses a folder that no one trusted; with it, no hook of the
    // project runs. Tools that only read are offered without an approval mode.
    command_template: "gemini --skip-trust --output-format stream-json",
    acp: Acp::Itself("gemini --acp"),
    help: &["--help"],
    oldest: Version(0, 12, 0),
    update: "npm install -g @google/gemini-cli@latest",
    install: "npm install -g @google/gemini-cli@latest",
    node: Some(20),
    passed: &[
        "GOOGLE_GEMINI_BASE_URL",
        "GEMINI_MODEL",
        "GOOGLE_CLOUD_PROJECT",
        "GOOGLE_CLOUD_LOCATION",
        "GOOGLE_GENAI_USE_VERTEXAI",
        "LANG",
    ],
    set: &[("NO_BROWSER", "1"), ("NO_COLOR", "1")],
    home: Home {
        variable: None,
        folder: ".gemini",
    },
    writes: &[
        "~/.gemini/oauth_creds.json",
        "~/.gemini/google_accounts.json",
    ],
    reads: &[
        "~/.gemini/settings.json",
        "~/.gemini/GEMINI.md",
        "~/.gemini/.env",
        "~/.gemini/installation_id",
        "~/.gemini/trustedFolders.json",
        "~/.gemini/commands/",
        "~/.gemini/extensions/",
    ],
    names_servers: &["~/.gemini/settings.json", "~/.gemini/.env"],
    keeps: &["~/.gemini/"],
    copies: &[],
    hosts: &[
        "cloudcode-pa.googleapis.com:443",
        "generativelanguage.googleapis.com:443",
        "oauth2.googleapis.com:443",
        "www.googleapis.com:443",
    ],
    does_without: &["play.googleapis.com:443"],
    servers: &["GOOGLE_GEMINI_BASE_URL"],
    login: Login {
        files: &["oauth_creds.json", "google_accounts.json"],
        variables: &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
        command: "gemini, in a terminal: it asks how to log in",
    },
    keys_in: KeysIn::DotEnv,
    settings: "settings.json",
    transcripts: &["tmp/*/chats/session-*.jsonl"],
    records: &["tmp/*/chats/session-*.jsonl", "telemetry.log"],
    // Its transcript has no reason for the end of an answer. Its other output changes some of the
    // reasons that its server sent. Nothing of this leaves the folder.
    recording: &[
        ("GEMINI_TELEMETRY_ENABLED", "true"),
        ("GEMINI_TELEMETRY_TARGET", "local"),
        ("GEMINI_TELEMETRY_OUTFILE", "{own}/telemetry.log"),
        ("GEMINI_TELEMETRY_LOG_PROMPTS", "true"),
        ("GEMINI_TELEMETRY_TRACES_ENABLED", "false"),
    ],
    hooks_to_trust: None,
    has_sandbox: false,
    inner_sandbox: None,
    tool_servers: Some(ToolServers {
        user: "settings.json",
        beside: false,
        project: ".gemini/settings.json",
        typed: false,
    }),
    hooks: Some(Hooks {
        user: "settings.json",
        project: ".gemini/settings.json",
        given: None,
        before_tool: "BeforeTool",
        deciding: &[],
        on_failure: None,
        // `PreCompress` fires before each request, even if nothing is compressed.
        session: &[
            ("SessionStart", "session-start"),
            ("BeforeAgent", "user-prompt-submit"),
            ("AfterTool", "post-tool-use"),
            ("AfterAgent", "stop"),
            // Only if a person asks for it: `Hooks::matcher`.
            ("PreCompress", "pre-compact"),
            ("SessionEnd", "session-end"),
        ],
        gate: None,
        typed: None,
        names: true,
        time_unit: TimeUnit::Milliseconds,
        hurried: &[],
        asking: Asking::Never,
        denying: Denying::ByDecision,
        allowing: Allowing::Never,
        rewriting: Rewriting::ByToolInput,
        telling: MessageTargets {
            person: true,
            model: false,
        },
        // Where standard output is empty it reads standard error.
        silence: "{}\n",
        proven: Version(0, 61, 0),
        limits: "runs no tool hooks over ACP, and none of a project that is only trusted with \
             `--skip-trust`; cannot ask; runs a tool whose hook times out",
    }),
};
