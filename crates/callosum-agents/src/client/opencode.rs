//! opencode.

use super::{Client, Home, Login, Version};

pub(super) const CLIENT: Client = Client {
    program: "opencode",
    command_template: "opencode run --format json",
    help: &["run", "--help"],
    oldest: Version(1, 0, 0),
    passed: &[
        "OPENCODE_CONFIG",
        "OPENCODE_CONFIG_DIR",
        "XDG_CONFIG_HOME",
        "XDG_DATA_HOME",
        "XDG_CACHE_HOME",
        "LANG",
    ],
    set: &[("OPENCODE_DISABLE_AUTOUPDATE", "true"), ("NO_COLOR", "1")],
    home: Home {
        variable: None,
        folder: ".local/share/opencode",
    },
    writes: &["~/.local/share/opencode/auth.json"],
    reads: &[
        "~/.config/opencode/opencode.json",
        "~/.config/opencode/opencode.jsonc",
        "~/.config/opencode/config.json",
        "~/.config/opencode/AGENTS.md",
        "~/.config/opencode/agent/",
        "~/.config/opencode/agents/",
        "~/.config/opencode/command/",
        "~/.config/opencode/commands/",
        "~/.config/opencode/mode/",
        "~/.config/opencode/plugin/",
        "~/.config/opencode/plugins/",
        "~/.config/opencode/skill/",
        "~/.config/opencode/skills/",
        "~/.config/opencode/tool/",
        "~/.config/opencode/tools/",
        "~/.cache/opencode/node_modules/",
        "~/.cache/opencode/packages/",
    ],
    keeps: &[
        "~/.local/share/opencode/",
        "~/.local/state/opencode/",
        "~/.cache/opencode/",
        "~/.config/opencode/",
    ],
    copies: &[],
    hosts: &[
        "api.anthropic.com:443",
        "api.openai.com:443",
        "models.dev:443",
        "opencode.ai:443",
        "openrouter.ai:443",
    ],
    servers: &[],
    login: Login {
        files: &["auth.json"],
        variables: &["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "OPENROUTER_API_KEY"],
        command: "opencode auth login",
    },
    settings: "../../../.config/opencode/opencode.json",
    transcripts: "storage/message/*/*.json",
    hooks_to_trust: None,
    // Its hooks are plugins in JavaScript.
    tool_servers: None,
    hooks: None,
};
