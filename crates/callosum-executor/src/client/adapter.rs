//! [`Client::behind`]: finds the client of an executor, including one that speaks the Agent Client Protocol.
//!
//! Some clients speak it themselves, others through a program that drives them. Either way what
//! runs is the client: it has the same folders, hosts, variables and login.

use super::Client;
use crate::{output_format::Dialect, registry::Executor, template::Template, transport::Transport};

/// A program that speaks the protocol, its client, and its package.
type Speaker = (&'static str, Dialect, Option<&'static str>);

/// Programs that speak the protocol, whose client is behind them, and the package of those that come apart from it.
const ADAPTERS: [Speaker; 6] = [
    (
        "claude-agent-acp",
        Dialect::Claude,
        Some("@agentclientprotocol/claude-agent-acp"),
    ),
    (
        "claude-code-acp",
        Dialect::Claude,
        Some("@zed-industries/claude-code-acp"),
    ),
    (
        "codex-acp",
        Dialect::Codex,
        Some("@agentclientprotocol/codex-acp"),
    ),
    ("gemini", Dialect::Gemini, None),
    ("opencode", Dialect::Opencode, None),
    ("qwen", Dialect::Qwen, None),
];

/// Programs that run another one, which their first argument names.
const RUNNERS: [&str; 4] = ["bunx", "node", "npx", "pnpx"];

impl Client {
    /// Returns the client behind an executor, as far as its entry shows.
    pub fn behind(executor: &Executor) -> Option<&'static Self> {
        if let Some(dialect) = executor.dialect() {
            return Self::of(dialect);
        }
        let (_, dialect, _) = speaker(executor)?;
        Self::of(dialect)
    }

    /// Returns the package of the program that speaks for a client, if that is a separate one.
    pub(super) fn adapter_of(executor: &Executor) -> Option<&'static str> {
        let (_, _, package) = speaker(executor)?;
        package
    }
}

/// Finds the program that speaks the protocol in an executor.
fn speaker(executor: &Executor) -> Option<Speaker> {
    if Transport::of(executor) != Some(Transport::Acp) {
        return None;
    }
    let template = Template::parse(&executor.command_template).ok()?;
    let (program, arguments) = template.words().split_first()?;
    let program = program.rsplit('/').next()?;
    if !RUNNERS.contains(&program) {
        return adapted(program);
    }
    let named = arguments.iter().find(|word| !word.starts_with('-'))?;
    // A package with its version, or a file somewhere below its folder.
    named.split('/').find_map(adapted)
}

fn adapted(name: &str) -> Option<Speaker> {
    let bare = name.split('@').next()?;
    ADAPTERS.into_iter().find(|(known, _, _)| *known == bare)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::Acp;

    /// CAL-SEC-1: an agent is recognized by the program of its command, and not by its arguments.
    #[test]
    fn an_agent_is_known_by_its_program() {
        for (protocol, template, client) in [
            ("acp", "gemini --acp", Some("gemini")),
            ("acp", "/opt/bin/gemini --experimental-acp", Some("gemini")),
            ("acp", "qwen --acp", Some("qwen")),
            ("acp", "opencode acp", Some("opencode")),
            ("acp", "claude-code-acp", Some("claude")),
            (
                "acp",
                "npx -y @zed-industries/claude-code-acp@0.16.2",
                Some("claude"),
            ),
            ("acp", "npx @agentclientprotocol/codex-acp", Some("codex")),
            (
                "acp",
                "node tools/claude-agent-acp/dist/index.js",
                Some("claude"),
            ),
            ("acp", "other gemini", None),
            ("acp", "/opt/gemini/bin/other --acp", None),
            ("acp", "npx", None),
            ("acp", "'", None),
            ("claude", "anything -p", Some("claude")),
            ("text", "gemini", None),
        ] {
            let mut executor = Executor::cli("a", template);
            executor.protocol = Some(protocol.to_owned());
            let found = Client::behind(&executor).map(|client| client.program);
            assert_eq!(found, client, "{protocol} {template}");
        }
    }

    /// CAL-EXE-2: what a client is started by to speak the protocol is known to be that client.
    #[test]
    fn every_client_is_known_behind_its_own_way_to_speak_the_protocol() {
        for client in Dialect::ALL.into_iter().filter_map(Client::of) {
            let (Acp::Itself(template) | Acp::Through(template)) = client.acp;
            let mut executor = Executor::cli("a", template);
            executor.protocol = Some("acp".to_owned());
            let found = Client::behind(&executor).map(|client| client.program);
            assert_eq!(found, Some(client.program), "{template}");
        }
    }

    /// CAL-SEC-1: an agent has what its client is known to need, where its entry says nothing else.
    #[test]
    fn an_agent_has_what_its_client_needs() {
        let mut executor = Executor::cli("a", "codex-acp");
        executor.protocol = Some("acp".to_owned());
        executor.network = vec!["models.example:443".to_owned()];
        executor.grant_needs();
        assert_eq!(executor.writable, ["~/.codex/auth.json"]);
        assert_eq!(executor.network, ["models.example:443"]);
        let mut other = Executor::cli("a", "mystery --acp");
        other.protocol = Some("acp".to_owned());
        other.grant_needs();
        assert!(other.writable.is_empty() && other.network.is_empty());
    }
}
