//! [`Client`]: a coding agent as this tier knows it. One table entry each.

use callosum_testkit::{Run, TestEnv, model::Call};
use serde_json::{Value, json};

/// A client, its version, and how it is pointed at a model server.
#[derive(Debug)]
pub(crate) struct Client {
    /// Its name, which is also its program's.
    pub(crate) name: &'static str,
    /// Its package in the npm registry, with the version.
    pub(crate) package: &'static str,
    /// What it says of its version.
    pub(crate) version: &'static str,
    /// Variables; `{url}` is the server's address. None of the keys is one.
    pub(crate) environment: &'static [(&'static str, &'static str)],
    /// Files below the home folder; `{url}` likewise.
    pub(crate) files: &'static [(&'static str, &'static str)],
    /// The arguments for one question, which follows them.
    pub(crate) arguments: &'static [&'static str],
    /// How the Agent Client Protocol is spoken with it.
    pub(crate) agent: Agent,
    /// The tool by which its model hands over an answer of a given form, where it is not text.
    pub(crate) answers_by: Option<&'static str>,
    /// The tool by which its model looks into a file, and what in its input says which: a path, or as `cmd` a command.
    pub(crate) looks_by: (&'static str, &'static str),
    /// How its model runs a command; `None` where no hook of its settings is asked before.
    pub(crate) shell: Option<Shell>,
}

/// How a client speaks the Agent Client Protocol, or what speaks it for one.
#[derive(Debug)]
pub(crate) struct Agent {
    /// What starts it.
    pub(crate) command: &'static str,
    /// The package of the program that does it, with the version, where that comes apart from the client.
    pub(crate) package: Option<&'static str>,
    /// Whether its model is asked again where a tool was refused; with others that ends the turn.
    pub(crate) outlives_refusal: bool,
}

/// How a client's model runs a command.
#[derive(Debug)]
pub(crate) struct Shell {
    /// The tool.
    pub(crate) tool: &'static str,
    /// Where in its input the command stands.
    pub(crate) key: &'static str,
    /// The arguments for one question, with which nobody else is asked.
    pub(crate) arguments: &'static [&'static str],
    /// The same, where what is run may write nothing; `None` where that was not tried.
    pub(crate) sandboxed: Option<&'static [&'static str]>,
    /// Variables that this takes.
    pub(crate) environment: &'static [(&'static str, &'static str)],
}

/// All of them, the slowest first, so that no one is waited for alone.
pub(crate) static ALL: &[Client] = &[
    Client {
        name: "gemini",
        package: "@google/gemini-cli@0.61.0",
        version: "0.61.0",
        environment: &[
            ("GEMINI_API_KEY", "none"),
            ("GOOGLE_GEMINI_BASE_URL", "{url}"),
            ("GEMINI_MODEL", "gemini-2.5-flash"),
            ("NO_BROWSER", "1"),
        ],
        files: &[(
            ".gemini/settings.json",
            r#"{"security": {"auth": {"selectedType": "gemini-api-key"}},
"general": {"enableAutoUpdate": false, "enableAutoUpdateNotification": false, "maxAttempts": 1},
"privacy": {"usageStatisticsEnabled": false}, "telemetry": {"enabled": false}}"#,
        )],
        arguments: &["--skip-trust", "-o", "json", "-p"],
        agent: Agent {
            command: "gemini --acp",
            package: None,
            outlives_refusal: true,
        },
        answers_by: None,
        looks_by: ("read_file", "file_path"),
        shell: Some(Shell {
            tool: "run_shell_command",
            key: "command",
            arguments: &["--approval-mode", "yolo", "-o", "json", "-p"],
            sandboxed: None,
            environment: &[("GEMINI_CLI_TRUST_WORKSPACE", "true")],
        }),
    },
    Client {
        name: "opencode",
        package: "opencode-ai@1.18.33",
        version: "1.18.33",
        environment: &[("OPENCODE_DISABLE_AUTOUPDATE", "true")],
        files: &[(
            ".config/opencode/opencode.json",
            r#"{"provider": {"scripted": {"npm": "@ai-sdk/openai-compatible",
"options": {"baseURL": "{url}/v1", "apiKey": "none"}, "models": {"scripted-model": {}}}},
"model": "scripted/scripted-model"}"#,
        )],
        arguments: &["run", "--format", "json"],
        agent: Agent {
            command: "opencode acp",
            package: None,
            outlives_refusal: false,
        },
        answers_by: None,
        looks_by: ("read", "filePath"),
        shell: None,
    },
    Client {
        name: "qwen",
        package: "@qwen-code/qwen-code@0.24.4",
        version: "0.24.4",
        environment: &[
            ("OPENAI_API_KEY", "none"),
            ("OPENAI_BASE_URL", "{url}/v1"),
            ("OPENAI_MODEL", "scripted-model"),
            ("NO_BROWSER", "1"),
        ],
        files: &[(
            ".qwen/settings.json",
            r#"{"security": {"auth": {"selectedType": "openai"}}, "general": {"enableAutoUpdate": false},
"privacy": {"usageStatisticsEnabled": false}, "telemetry": {"enabled": false}}"#,
        )],
        arguments: &["-o", "json", "-p"],
        agent: Agent {
            command: "qwen --acp",
            package: None,
            outlives_refusal: false,
        },
        answers_by: Some("structured_output"),
        looks_by: ("read_file", "file_path"),
        shell: Some(Shell {
            tool: "run_shell_command",
            key: "command",
            arguments: &["--approval-mode", "yolo", "-o", "json", "-p"],
            sandboxed: None,
            environment: &[],
        }),
    },
    Client {
        name: "claude",
        package: "@anthropic-ai/claude-code@2.1.332",
        version: "2.1.332",
        environment: &[
            ("ANTHROPIC_BASE_URL", "{url}"),
            ("ANTHROPIC_API_KEY", "none"),
            ("CLAUDE_CODE_MAX_RETRIES", "1"),
            ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
            ("DISABLE_AUTOUPDATER", "1"),
        ],
        files: &[],
        arguments: &["-p", "--output-format", "json"],
        agent: Agent {
            command: "claude-agent-acp",
            package: Some("@agentclientprotocol/claude-agent-acp@0.101.0"),
            outlives_refusal: true,
        },
        answers_by: Some("StructuredOutput"),
        looks_by: ("Read", "file_path"),
        shell: Some(Shell {
            tool: "Bash",
            key: "command",
            arguments: &["--allowedTools", "Bash", "--output-format", "json", "-p"],
            sandboxed: None,
            environment: &[],
        }),
    },
    Client {
        name: "codex",
        package: "@openai/codex@0.171.0",
        version: "0.171.0",
        environment: &[("SCRIPTED_API_KEY", "none")],
        files: &[(
            ".codex/config.toml",
            r#"model = "gpt-5.5"
model_provider = "scripted"
check_for_update_on_startup = false
[analytics]
enabled = false
[model_providers.scripted]
name = "scripted"
base_url = "{url}/v1"
env_key = "SCRIPTED_API_KEY"
wire_api = "responses"
request_max_retries = 1
stream_max_retries = 1
"#,
        )],
        arguments: &["exec", "--json", "--skip-git-repo-check"],
        agent: Agent {
            command: "codex-acp",
            package: Some("@agentclientprotocol/codex-acp@2.6.0"),
            outlives_refusal: true,
        },
        answers_by: None,
        looks_by: ("exec_command", "cmd"),
        shell: Some(Shell {
            tool: "exec_command",
            key: "cmd",
            arguments: &[
                "exec",
                "--json",
                "--skip-git-repo-check",
                "--sandbox",
                "danger-full-access",
                "--dangerously-bypass-hook-trust",
            ],
            sandboxed: Some(&[
                "exec",
                "--json",
                "--skip-git-repo-check",
                "--sandbox",
                "read-only",
                "--dangerously-bypass-hook-trust",
            ]),
            environment: &[],
        }),
    },
];

impl Shell {
    /// The call by which its model runs a command.
    pub(crate) fn call(&self, command: &str) -> Call {
        Call {
            name: self.tool.to_owned(),
            input: json!({self.key: command, "description": "as it was asked for"}),
            ..Call::default()
        }
    }
}

impl Client {
    /// What is installed for it.
    pub(crate) fn packages(&self) -> impl Iterator<Item = &'static str> {
        [self.package].into_iter().chain(self.agent.package)
    }

    /// The call by which its model calls a tool of our server.
    pub(crate) fn ours(&self, tool: &str, input: Value) -> Call {
        let (name, namespace) = match self.name {
            "codex" => (tool.to_owned(), Some("mcp__callosum".to_owned())),
            "gemini" => (format!("mcp_callosum_{tool}"), None),
            _ => (format!("mcp__callosum__{tool}"), None),
        };
        Call {
            name,
            namespace,
            input,
        }
    }

    /// Lays the client's own files into the home folder.
    pub(crate) fn settle(&self, env: &TestEnv, url: &str) {
        for (path, content) in self.files {
            env.write(env.home().join(path), content.replace("{url}", url));
        }
    }

    /// Adds the client's own variables.
    pub(crate) fn environment(&self, run: Run, url: &str) -> Run {
        let variables = self.environment.iter();
        variables.fold(run, |run, (name, value)| {
            run.env(name, value.replace("{url}", url))
        })
    }
}
