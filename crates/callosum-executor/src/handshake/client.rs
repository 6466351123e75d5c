//! The handshake of a client: checks that need no model.
//!
//! The steps are the protocol's four: it answers `--version`, its own description of its options
//! has those that the template uses, its version is one whose output we read, and so it may be
//! active. Whether someone is logged in shows with the first task, or by `doctor`.

use std::time::Duration;

use callosum_host::process::Ending;

use super::steps::{Handshake, HandshakeFault, steps};
use crate::{
    client::{Client, Version},
    output_format::Dialect,
    registry::{Capabilities, Executor},
    runner::{
        Counting, ExecutionEnvironment, RunError, SpawnSpec, Timeouts, cause_of, hear_out,
        last_words, own_folder,
    },
    template::Template,
};

/// Longest time for each question: a client loads a whole runtime before its first output.
const ANSWER_WITHIN: Duration = Duration::from_secs(30);

/// Performs the handshake with a client: two short runs without a model.
pub(crate) fn handshake(
    dialect: Dialect,
    executor: &Executor,
    surroundings: &ExecutionEnvironment,
) -> Handshake {
    let client = Client::of(dialect);
    let mut version = None;
    let mut ping_elapsed = None;
    let ping = greet(executor, surroundings).map(|(found, elapsed)| {
        version = found;
        ping_elapsed = Some(elapsed);
    });
    let greeted = ping.is_ok();
    let described = match client {
        // One that is too old lacks options for that reason, and is mended by an update.
        Some(client) if greeted => Some(
            has_options(client, version, executor, surroundings).map_err(
                |fault| match recent_enough(Some(client), version) {
                    Err(old @ HandshakeFault::TooOld { .. }) => old,
                    _ => fault,
                },
            ),
        ),
        _ if greeted => Some(Ok(())),
        _ => None,
    };
    let validated = matches!(described, Some(Ok(()))).then(|| recent_enough(client, version));
    Handshake {
        steps: steps((ping, ping_elapsed), (described, None), validated),
        capabilities: Capabilities {
            prompt_input: true,
            json_output: true,
            filesystem_access: dialect != Dialect::Text,
            checksum_support: false,
        },
        version: version.map(|version| version.to_string()),
        tools: Vec::new(),
    }
}

/// Asks a client for its version: the health check, which costs nothing. Returns the time that it
/// took.
pub(crate) fn ping(
    executor: &Executor,
    surroundings: &ExecutionEnvironment,
) -> Result<Duration, HandshakeFault> {
    greet(executor, surroundings).map(|(_, elapsed)| elapsed)
}

fn greet(
    executor: &Executor,
    surroundings: &ExecutionEnvironment,
) -> Result<(Option<Version>, Duration), HandshakeFault> {
    let (output, elapsed) = say(executor, surroundings, &["--version"])?;
    Ok((Version::find(&output), elapsed))
}

/// Whether the client's description of its options has all that the template uses.
fn has_options(
    client: &Client,
    version: Option<Version>,
    executor: &Executor,
    surroundings: &ExecutionEnvironment,
) -> Result<(), HandshakeFault> {
    let template =
        Template::parse_for_client(&executor.command_template).map_err(RunError::from)?;
    let (help, _) = say(executor, surroundings, client.help)?;
    let missing = template
        .options()
        .into_iter()
        .find(|option| !mentions(&help, option));
    match missing {
        None => Ok(()),
        Some(option) => Err(HandshakeFault::NoOption {
            option: crate::sanitize::fit_shortly(option),
            version,
        }),
    }
}

/// Whether a description has an option as a word of its own.
fn mentions(help: &str, option: &str) -> bool {
    help.split(|c: char| c.is_whitespace() || matches!(c, ',' | '=' | '[' | ']' | '<' | '|' | '`'))
        .any(|word| word == option)
}

fn recent_enough(client: Option<&Client>, version: Option<Version>) -> Result<(), HandshakeFault> {
    match (client, version) {
        (Some(_), None) => Err(HandshakeFault::NoVersion),
        (Some(client), Some(found)) if found < client.oldest => Err(HandshakeFault::TooOld {
            found,
            oldest: client.oldest,
        }),
        _ => Ok(()),
    }
}

/// Runs the program of the template with other arguments, and returns its output: help may come on
/// either stream.
fn say(
    executor: &Executor,
    surroundings: &ExecutionEnvironment,
    arguments: &[&str],
) -> Result<(String, Duration), RunError> {
    let template = Template::parse_for_client(&executor.command_template)?;
    let mut command = template.program_alone(&surroundings.self_program);
    command.arguments.extend(arguments.iter().map(Into::into));
    let client = Client::behind(executor);
    let temporary = own_folder(executor, surroundings)?;
    let within = ANSWER_WITHIN.max(surroundings.slowest_handshake);
    let patience = Timeouts {
        quiet: within,
        total: Some(within),
    };
    let errand = SpawnSpec {
        passed: client.map_or(&[], |client| client.passed),
        set: client.map_or(&[], |client| client.set),
        ..SpawnSpec::plain(command)
    };
    let ended = hear_out(
        executor,
        errand,
        surroundings,
        &temporary,
        patience,
        &mut Counting::default(),
        &mut |_| {},
    )?;
    match ended.ending {
        Ending::Exited(0) => {
            let mut output = String::from_utf8_lossy(&ended.output).into_owned();
            output.push('\n');
            output.push_str(&String::from_utf8_lossy(&ended.error));
            Ok((output, ended.elapsed))
        }
        ending => {
            let complaint = match ended.complaint.trim() {
                "" => last_words(&ended.output),
                _ => ended.complaint,
            };
            Err(RunError::Crashed {
                executor: executor.id.clone(),
                ending,
                cause: cause_of(executor, &complaint),
                complaint,
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_option_is_looked_for_as_a_word() {
        let help =
            "  -p, --print   Print\n  --output-format <format>  (only with --print)\n  -o=json";
        for (option, there) in [
            ("-p", true),
            ("--output-format", true),
            ("-o", true),
            ("--output", false),
            ("--json-schema", false),
        ] {
            assert_eq!(mentions(help, option), there, "{option}");
        }
    }

    #[test]
    fn a_version_before_the_oldest_is_refused() {
        let client = Client::of(Dialect::Codex);
        assert!(recent_enough(client, Some(Version(0, 46, 0))).is_ok());
        let error = recent_enough(client, Some(Version(0, 45, 9))).unwrap_err();
        assert_eq!(
            error.to_string(),
            "its version is 0.45.9, but the oldest supported version is 0.46.0"
        );
        assert!(recent_enough(client, None).is_err());
        assert!(recent_enough(None, None).is_ok());
    }
}
