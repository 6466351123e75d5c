//! Folders of the clients, with the files in them that steer hooks: a table.

/// The folders of clients, and what in each steers their hooks, also by the beginning of its name.
pub(super) const SETTINGS: [(&str, &[&str]); 6] = [
    (
        ".claude",
        &[
            "settings*",
            "settings.json",
            "settings.local.json",
            "hooks",
            "plugins",
        ],
    ),
    (
        ".codex",
        &[
            "config.toml",
            "hooks.json",
            "hooks",
            "rules",
            "requirements.toml",
        ],
    ),
    (
        ".gemini",
        &["settings*", "settings.json", "hooks", "policies"],
    ),
    (".qwen", &["settings*", "settings.json", "hooks"]),
    (".opencode", &["plugin", "plugins"]),
    (".cursor", &["hooks.json", "hooks"]),
];
