//! The clients that `init`, `uninstall` and `doctor` handle, and the places of their settings.
//!
//! This file has the part with arguments and output; the rest is [`callosum_app::client_settings`].

use callosum_app::client_settings::with_tilde;
use callosum_app::{CommandError, Exit};
use callosum_client::registration::Scope;
use callosum_executor::client::Client;
use callosum_executor::discover::find_in_path;
use callosum_executor::output_format::Dialect;
use clap::ValueEnum;

use super::context::Context;

/// A client whose settings can name hooks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ClientName {
    /// Claude Code
    Claude,
    /// Codex
    Codex,
    /// Gemini CLI
    Gemini,
    /// Qwen Code
    Qwen,
    /// opencode
    Opencode,
}

/// Returns the name that its makers give a client.
pub(super) fn label(client: &'static Client) -> &'static str {
    label_of(client.program)
}

/// Returns the same for a client's program; the program's own name if no client has it.
pub(super) fn label_of(program: &str) -> &str {
    let named = ClientName::value_variants().iter();
    let mut named = named.filter(|name| name.client().program == program);
    named.next().map_or(program, |name| name.label())
}

impl ClientName {
    pub(super) fn client(self) -> &'static Client {
        let dialect = match self {
            Self::Claude => Dialect::Claude,
            Self::Codex => Dialect::Codex,
            Self::Gemini => Dialect::Gemini,
            Self::Qwen => Dialect::Qwen,
            Self::Opencode => Dialect::Opencode,
        };
        Client::of(dialect).expect("each of them is a client")
    }

    /// Returns the name that its makers give the client.
    pub(super) const fn label(self) -> &'static str {
        match self {
            Self::Claude => "Claude Code",
            Self::Codex => "Codex",
            Self::Gemini => "Gemini CLI",
            Self::Qwen => "Qwen Code",
            Self::Opencode => "opencode",
        }
    }

    /// The variables by which the client finds its own files.
    pub(super) const fn folder_variables(self) -> &'static [&'static str] {
        match self {
            Self::Claude => &["CLAUDE_CONFIG_DIR"],
            Self::Codex => &["CODEX_HOME"],
            Self::Gemini => &[
                "GEMINI_CLI_HOME",
                "GEMINI_CLI_TRUSTED_FOLDERS_PATH",
                "GEMINI_CLI_SYSTEM_SETTINGS_PATH",
            ],
            Self::Qwen => &["QWEN_HOME", "QWEN_CODE_SYSTEM_SETTINGS_PATH"],
            Self::Opencode => &["XDG_CONFIG_HOME"],
        }
    }
}

/// The installed clients whose settings can name hooks.
pub(super) fn installed(context: &Context) -> Vec<&'static Client> {
    let path = context.environment.get("PATH").unwrap_or_default();
    let found = find_in_path(&context.disk, path);
    let of = |name: &ClientName| {
        let client = name.client();
        let mut programs = found.iter().map(|found| found.known.program);
        programs
            .any(|program| program == client.program)
            .then_some(client)
    };
    ClientName::value_variants().iter().filter_map(of).collect()
}

/// Fails if a variable that names a client's folder begins with `~`, which only a shell expands: the client and `init` would
/// use a folder named `~` below wherever they were started.
pub(super) fn check_folders(context: &Context, clients: &[ClientName]) -> Result<(), CommandError> {
    for name in clients {
        for variable in name.folder_variables() {
            if let Some(value) = with_tilde(context, variable) {
                let program = name.client().program;
                let what = format!(
                    "`{variable}` is `{value}`: the shell did not expand `~`, so {program} would use a \
                     folder named `~`"
                );
                let home = value.strip_prefix('~').unwrap_or_default();
                return Err(CommandError::new(Exit::Environment, what)
                    .hint(format!("export {variable}=\"$HOME{home}\"")));
            }
        }
    }
    Ok(())
}

/// Settings that a command works on, as an option names them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum ScopeName {
    /// The user's own settings, which hold in every folder
    #[default]
    User,
    /// The project's settings, in its root
    Project,
}

impl From<ScopeName> for Scope {
    fn from(name: ScopeName) -> Self {
        match name {
            ScopeName::User => Self::User,
            ScopeName::Project => Self::Project,
        }
    }
}
