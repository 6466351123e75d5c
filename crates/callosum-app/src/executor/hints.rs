//! Hints after a failed handshake.
//!
//! Pure, except for a check whether a path exists that the executor could not see.

use std::path::Path;

use callosum_arbiter::suggest::nearest;
use callosum_executor::client::Client;
use callosum_executor::handshake::HandshakeFault;
use callosum_executor::http::Endpoint;
use callosum_executor::output_format::ClientError;
use callosum_executor::protocol::{AnswerError, Unreadable};
use callosum_executor::registry::{Executor, Kind};
use callosum_executor::runner::RunError;
use callosum_executor::transport::Transport;
use callosum_host::process::SpawnError;
use callosum_sandbox::Policy;

use crate::context::Context;
use crate::executor::register_command::registration_line;
use crate::{CommandError, Exit};

/// The option that names a tool's argument for the prompt.
const ARGUMENT: &str = "--argument";

/// A line that answers the prompt `ping`.
const PONG: &str = r#"{"summary": "pong", "tokens_used": 0, "status": "success"}"#;

/// A line that answers the prompt `capabilities`.
const ABLE: &str =
    r#"{"capabilities": {"prompt_input": true, "json_output": true, "checksum_support": false}}"#;

/// Folders of the system that every sandbox shows.
const SEEN: [&str; 9] = [
    "/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc", "/dev", "/proc", "/tmp",
];

/// Returns a hint about a fault, if there is a better one than to try again.
pub fn advice(context: &Context, executor: &Executor, fault: &HandshakeFault) -> Option<String> {
    match fault {
        HandshakeFault::TooOld { .. }
        | HandshakeFault::NoOption { .. }
        | HandshakeFault::NoVersion => mending(executor, fault),
        HandshakeFault::NotOffered { named, offered } => offering(executor, named, offered),
        HandshakeFault::Run(RunError::Unconfined { advice, .. }) => advice.clone(),
        HandshakeFault::Run(RunError::Spawn { .. }) if Client::behind(executor).is_some() => {
            mending(executor, fault)
        }
        HandshakeFault::Run(RunError::Spawn {
            source: SpawnError::NotFound { program },
            ..
        }) => Some(format!(
            "install `{}` or put its folder into PATH, then: callosum executor check {}",
            program.display(),
            executor.id
        )),
        HandshakeFault::Run(
            RunError::Crashed { complaint, .. }
            | RunError::Quiet { complaint, .. }
            | RunError::Deadline { complaint, .. },
        ) => mending(executor, fault).or_else(|| showing(context, executor, complaint)),
        HandshakeFault::Run(RunError::Client {
            fault: of_client,
            complaint,
            ..
        }) if matches!(**of_client, ClientError::NotSpoken { .. }) => {
            mending(executor, fault).or_else(|| showing(context, executor, complaint))
        }
        HandshakeFault::Run(RunError::Client { advice, .. })
            if Client::behind(executor).is_some() =>
        {
            let named = mending(executor, fault).or_else(|| advice.clone());
            named.or_else(|| looking(executor))
        }
        HandshakeFault::Run(RunError::Client { fault, .. })
            if matches!(**fault, ClientError::Unreachable { .. }) =>
        {
            reaching(executor)
        }
        HandshakeFault::Run(RunError::Client { fault, .. })
            if executor.tool.is_some() && fault.to_string().contains(ARGUMENT) =>
        {
            let unnamed = Executor {
                argument: None,
                ..executor.clone()
            };
            Some(format!("{} {ARGUMENT} NAME", registration_line(&unnamed)))
        }
        // A server of tools waits for its own protocol, says nothing to a request of JSON, and ends.
        HandshakeFault::Answer(AnswerError::Unreadable(Unreadable::Empty))
            if executor.kind == Kind::Cli && Client::behind(executor).is_none() =>
        {
            let line = registration_line(executor);
            let form = answering(executor, "ping", PONG);
            Some(format!(
                "if it is an MCP server: {line} --protocol mcp, with --tool NAME if one of its tools takes \
                 a prompt; otherwise {form}"
            ))
        }
        HandshakeFault::Answer(_) if speaks_the_protocol(executor) => {
            Some(answering(executor, "ping", PONG))
        }
        HandshakeFault::Description(_)
        | HandshakeFault::Lacks { .. }
        | HandshakeFault::NoChecksum
            if speaks_the_protocol(executor) =>
        {
            Some(answering(executor, "capabilities", ABLE))
        }
        _ => None,
    }
}

/// Whether it is a program of the user's own that has to speak our protocol.
fn speaks_the_protocol(executor: &Executor) -> bool {
    executor.kind == Kind::Cli
        && !executor.is_embedded()
        && executor.dialect().is_none()
        && Transport::of(executor).is_none()
}

/// Returns a hint about the reply that a step of the handshake expects.
fn answering(executor: &Executor, prompt: &str, line: &str) -> String {
    format!(
        "make it answer the prompt `{prompt}` with one line of JSON: {line} \
         (docs/formats/executor-protocol.md, Handshake), then: callosum executor check {}",
        executor.id
    )
}

/// Returns a hint to start, install or connect the server that could not be reached.
fn reaching(executor: &Executor) -> Option<String> {
    let then = format!("then: callosum executor check {}", executor.id);
    let Some(endpoint) = &executor.endpoint else {
        let words = shlex::split(&executor.command_template)?;
        let program = words.first()?;
        return Some(format!(
            "install `{program}` or put its folder into PATH, {then}"
        ));
    };
    let is_here = Endpoint::parse(endpoint, false).is_ok_and(|endpoint| endpoint.is_loopback());
    Some(match Transport::of(executor) {
        Some(Transport::Ollama) if is_here => {
            format!("start it with `ollama serve`, {then}")
        }
        _ if is_here => format!("start the server at {endpoint}, {then}"),
        _ => format!("make sure that this machine can reach {endpoint}, {then}"),
    })
}

/// Returns a hint about a path that the sandbox has to show, for an executor that ended because it
/// lacks something.
fn showing(context: &Context, executor: &Executor, complaint: &str) -> Option<String> {
    if executor.confinement == Some(Policy::Off) {
        return None;
    }
    let home = Path::new(context.environment.get("HOME")?);
    let is_there = |path: &Path| context.disk.exists(path).unwrap_or(false);
    let in_tree = |path: &Path| is_there(&context.tree().join(path));
    if let Some(missing) = missing_argument(executor, complaint, in_tree) {
        return Some(format!(
            "`{missing}` does not exist in `{}`; after you create it: callosum executor check {}",
            context.tree().display(),
            executor.id
        ));
    }
    // What the template itself names comes first: a program may word its complaint in any way.
    let outside = |path: &Path| !path.starts_with(context.tree()) && is_there(path);
    let folder =
        unseen_argument(executor, home, outside).or_else(|| unseen(complaint, home, is_there));
    let hint = folder.map(|folder| readable(executor, folder));
    hint.or_else(|| looking(executor)).or_else(|| {
        Some(format!(
            "the sandbox lets it read only the project and the system; to add a path: {} --allow-read PATH",
            registration_line(executor)
        ))
    })
}

/// Returns the remedy for a coding agent whose message names a cause.
fn mending(executor: &Executor, fault: &HandshakeFault) -> Option<String> {
    let message = CommandError::from_error(Exit::No, fault).one_line();
    Client::behind(executor)?.mending(executor, &message)
}

/// Returns a hint for a coding agent whose message names no cause.
fn looking(executor: &Executor) -> Option<String> {
    Some(Client::behind(executor)?.looking(executor))
}

/// The same entry with a model or tool that its server has: what was probably meant, or the first.
fn offering(executor: &Executor, named: &str, offered: &[String]) -> Option<String> {
    let meant = nearest(named, offered.iter().map(String::as_str));
    let other = meant.or(offered.first().map(String::as_str))?.to_owned();
    let mut mended = executor.clone();
    if mended.tool.is_some() {
        mended.tool = Some(other);
    } else {
        mended.model = Some(other);
    }
    Some(registration_line(&mended))
}

/// Returns a file that the template names and the program complains about, and that does not exist
/// in the project.
fn missing_argument(
    executor: &Executor,
    complaint: &str,
    is_there: impl Fn(&Path) -> bool,
) -> Option<String> {
    let words = shlex::split(&executor.command_template)?;
    let mut words = words.into_iter().skip(1);
    words.find(|word| {
        let is_path = word.contains('/') && !word.starts_with(['-', '/']) && !word.contains('{');
        is_path && complaint.contains(word.as_str()) && !is_there(Path::new(word))
    })
}

/// The folder of a file that the template hands its program, and that lies neither in what the system
/// consists of nor in what the entry shows.
fn unseen_argument(
    executor: &Executor,
    home: &Path,
    is_there: impl Fn(&Path) -> bool,
) -> Option<String> {
    let words = shlex::split(&executor.command_template)?;
    let path = words.iter().skip(1).map(Path::new).find(|path| {
        let is_shown = |folder: &str| path.starts_with(folder) && folder != "/tmp";
        path.is_absolute() && is_there(path) && !SEEN.into_iter().any(is_shown)
    })?;
    let folder = path.parent()?.to_str()?;
    let folder = match path.parent()?.strip_prefix(home) {
        Ok(within) if within.as_os_str().is_empty() => return None,
        Ok(within) => format!("~/{}/", within.to_str()?),
        Err(_) => format!("{folder}/"),
    };
    (!executor.readable.contains(&folder)).then_some(folder)
}

/// Returns the folder of an existing path that a complaint names, in the home folder or outside the
/// system's folders. A confined program does not see it.
fn unseen(complaint: &str, home: &Path, is_there: impl Fn(&Path) -> bool) -> Option<String> {
    let around = |c: char| c.is_whitespace() || "'\"`:;,()[]".contains(c);
    complaint.split(around).find_map(|word| {
        let path = Path::new(word);
        if !path.is_absolute() || !is_there(path) {
            return None;
        }
        if let Ok(within) = path.strip_prefix(home) {
            return Some(format!("~/{}/", within.iter().next()?.to_str()?));
        }
        if SEEN.iter().any(|seen| path.starts_with(seen)) {
            return None;
        }
        let mut parts = path.iter().skip(1).filter_map(|part| part.to_str());
        Some(format!("/{}/{}/", parts.next()?, parts.next()?))
    })
}

/// Returns the command that registers the executor with read access to that folder.
fn readable(executor: &Executor, folder: String) -> String {
    let mut mended = executor.clone();
    mended.readable.push(folder);
    registration_line(&mended)
}

#[cfg(test)]
mod tests {
    use callosum_executor::protocol::{parse_answer, parse_capabilities};

    use super::*;

    #[test]
    fn a_path_below_the_home_that_is_there_is_one_that_was_not_seen() {
        let home = Path::new("/home/u");
        let there = |path: &Path| path == Path::new("/home/u/.pyenv/libexec/pyenv");
        let message = "/home/u/.pyenv/shims/x: line 2: /home/u/.pyenv/libexec/pyenv: No such file";
        assert_eq!(unseen(message, home, there).as_deref(), Some("~/.pyenv/"));
        assert_eq!(unseen("/home/u/.gone/x: No such file", home, there), None);
        assert_eq!(unseen("/usr/lib/x: No such file", home, |_| true), None);
        let elsewhere = unseen("/opt/py/libexec/x: No such file", home, |_| true);
        assert_eq!(elsewhere.as_deref(), Some("/opt/py/"));
        let executor = Executor::cli("py", "python3 -c 'x'");
        let line = readable(&executor, "~/.pyenv/".to_owned());
        let expected =
            r#"callosum executor register py --command "python3 -c 'x'" --allow-read ~/.pyenv/"#;
        assert_eq!(line, expected);
    }

    #[test]
    fn a_file_that_the_template_names_is_not_seen_unless_it_is_shown() {
        let home = Path::new("/home/u");
        let of = |template: &str, readable: &[&str]| {
            let mut executor = Executor::cli("py", template);
            executor.readable = readable.iter().map(ToString::to_string).collect();
            unseen_argument(&executor, home, |_| true)
        };
        assert_eq!(of("python3 /srv/x/y.py", &[]).as_deref(), Some("/srv/x/"));
        assert_eq!(
            of("python3 '/tmp/a b/y.py'", &[]).as_deref(),
            Some("/tmp/a b/")
        );
        assert_eq!(of("python3 /home/u/t/y.py", &[]).as_deref(), Some("~/t/"));
        assert_eq!(of("python3 /home/u/t/y.py", &["~/t/"]), None);
        // A program's own folder is shown, and the system.
        assert_eq!(of("/srv/x/y.py --x", &[]), None);
        assert_eq!(of("cat /etc/hosts", &[]), None);
        assert_eq!(of("cat x", &[]), None);
    }

    /// CAL-EXE-1: the lines that are shown pass the handshake, and the guide has them too.
    #[test]
    fn the_lines_that_are_shown_are_answers() {
        let able = parse_capabilities(ABLE.as_bytes()).unwrap().capabilities;
        assert!(able.prompt_input && able.json_output);
        parse_answer(PONG.as_bytes(), able).unwrap();
        let guide = include_str!("../../../../docs/guide.md");
        assert!(guide.contains(PONG) && guide.contains(ABLE));
    }

    /// CAL-EXE-1: a model that its server does not have is replaced by one that it has.
    #[test]
    fn what_a_server_does_not_have_is_replaced_by_what_it_has() {
        let executor = Executor::http("local", "http://127.0.0.1:1", "qwen33");
        let offered = ["llama".to_owned(), "qwen3".to_owned()];
        let line = offering(&executor, "qwen33", &offered).unwrap();
        assert!(line.contains("--model qwen3"), "{line}");
        let line = offering(&executor, "gemma", &offered).unwrap();
        assert!(line.contains("--model llama"), "{line}");
        assert_eq!(offering(&executor, "gemma", &[]), None);
    }
}
