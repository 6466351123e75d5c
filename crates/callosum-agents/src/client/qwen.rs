//! Qwen Code.

use super::{Client, Home, Login, Version};

pub(super) const CLIENT: Client = Client {
    program: "qwen",
    command_template: "qwen --output-format stream-json --json-schema {schema}",
    help: &["--help"],
    oldest: Version(0, 4, 0),
    passed: &["OPENAI_BASE_URL", "OPENAI_MODEL", "LANG"],
    set: &[("NO_BROWSER", "1"), ("NO_COLOR", "1")],
    home: Home {
        variable: None,
        folder: ".qwen",
    },
    login: Login {
        files: &["oauth_creds.json"],
        variables: &["OPENAI_API_KEY", "DASHSCOPE_API_KEY"],
        command: "qwen",
    },
    settings: "settings.json",
    transcripts: "tmp/*/chats/*.json*",
    hooks_to_trust: None,
};
