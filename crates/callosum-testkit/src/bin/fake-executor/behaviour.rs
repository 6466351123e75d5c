//! Behavior of the fake on a request.

use std::{
    io::{self, Write},
    os::unix::process::CommandExt,
    path::Path,
    process::{ExitCode, Stdio},
    time::{Duration, Instant},
};

use callosum_host::Disk;
use callosum_json::canonical::{self, DuplicateKeys};
use serde_json::{Value, json};

use crate::{Arguments, complain};

/// Longest silence that `--silent` and `--hold` keep, so that nothing is left behind for ever.
const LONG: Duration = Duration::from_mins(10);

/// Bytes of a summary that is too long.
const TOO_LONG: usize = 20_000;

/// Longest prompt that is echoed whole, in bytes.
const ECHOED: usize = 4_000;

/// Reaction to a task.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Behaviour {
    Echo,
    Crash(u8),
    Abort,
    Silent,
    Slow(u64),
    Chatty(u64),
    Empty,
    Garbage,
    InvalidUtf8,
    Huge(u64),
    ErrorStatus,
    WrongChecksum,
    MalformedChecksum,
    NoChecksum,
    Long,
    AlwaysLong,
    Env,
    Context,
    Litter,
    Grandchild,
    Hold,
}

pub(crate) fn shake_hands(prompt: &str, checksum_support: bool) -> ExitCode {
    if prompt == "ping" {
        let pong = answer("pong");
        return say_json(&if checksum_support { signed(pong) } else { pong });
    }
    say_json(&json!({
        "capabilities": {
            "prompt_input": true,
            "json_output": true,
            "filesystem_access": true,
            "checksum_support": checksum_support,
        },
        "version": "1.0.0",
    }))
}

pub(crate) fn behave(behaviour: Behaviour, asked: &Arguments) -> ExitCode {
    match behaviour {
        Behaviour::Echo => say_json(&signed(answer(&echo(&asked.prompt)))),
        Behaviour::Crash(code) => {
            complain("crashing on purpose");
            ExitCode::from(code)
        }
        Behaviour::Abort => std::process::abort(),
        Behaviour::Silent => {
            std::thread::sleep(LONG);
            ExitCode::SUCCESS
        }
        Behaviour::Slow(millis) => {
            std::thread::sleep(Duration::from_millis(millis));
            say_json(&signed(answer(&echo(&asked.prompt))))
        }
        Behaviour::Chatty(millis) => {
            let until = Instant::now() + Duration::from_millis(millis);
            while Instant::now() < until {
                complain("still at it");
                std::thread::sleep(Duration::from_millis(20));
            }
            say_json(&signed(answer(&echo(&asked.prompt))))
        }
        Behaviour::Empty => ExitCode::SUCCESS,
        Behaviour::Garbage => say(b"Sure! Here is what I found:\n- nothing in particular\n"),
        Behaviour::InvalidUtf8 => say(b"{\"summary\": \"\xff\xfe\", \"tokens_used\": 0}"),
        Behaviour::Huge(bytes) => say_much(bytes),
        Behaviour::ErrorStatus => say_json(&json!({
            "error": "E001 the model went away",
            "status": "error",
            "task_id": asked.metadata["task_id"],
            "details": "on purpose",
        })),
        Behaviour::WrongChecksum => {
            let mut wrong = signed(answer("something else"));
            wrong["summary"] = echo(&asked.prompt).into();
            say_json(&wrong)
        }
        Behaviour::MalformedChecksum => {
            let mut malformed = answer(&echo(&asked.prompt));
            malformed["checksum"] = "0123".into();
            say_json(&malformed)
        }
        Behaviour::NoChecksum => say_json(&answer(&echo(&asked.prompt))),
        Behaviour::Long => {
            let bound = asked.metadata["context"]["max_summary_bytes"].as_u64();
            let bytes = bound.map_or(TOO_LONG, |bound| bound as usize / 2);
            say_json(&signed(answer(&words(bytes))))
        }
        Behaviour::AlwaysLong => say_json(&signed(answer(&words(TOO_LONG)))),
        Behaviour::Env => say_json(&signed(answer(&environment()))),
        Behaviour::Context => say_json(&signed(answer(&asked.metadata.to_string()))),
        Behaviour::Litter => litter(),
        Behaviour::Grandchild => leave_a_grandchild(asked),
        Behaviour::Hold => hold_for_a_minute(),
    }
}

pub(crate) fn hold_for_a_minute() -> ExitCode {
    std::thread::sleep(Duration::from_mins(1));
    ExitCode::SUCCESS
}

fn echo(prompt: &str) -> String {
    if prompt.len() <= ECHOED {
        return format!("asked: {prompt}");
    }
    let cut = prompt.floor_char_boundary(ECHOED);
    format!("asked ({} bytes): {}…", prompt.len(), &prompt[..cut])
}

fn words(bytes: usize) -> String {
    "much ado about nothing "
        .chars()
        .cycle()
        .take(bytes)
        .collect()
}

fn environment() -> String {
    let mut lines: Vec<String> = std::env::vars_os()
        .map(|(name, value)| format!("{}={}", name.display(), value.display()))
        .collect();
    lines.sort();
    lines.join("\n")
}

fn litter() -> ExitCode {
    let folder = std::env::vars_os().find(|(name, _)| name == "TMPDIR");
    let Some((_, folder)) = folder else {
        complain("there is no TMPDIR");
        return ExitCode::FAILURE;
    };
    let path = Path::new(&folder).join("nested/litter");
    let disk = Disk::real();
    let written = disk
        .create_dir_all(&Path::new(&folder).join("nested"))
        .and_then(|_| disk.replace(&path, b"litter", 0o600));
    match written {
        Ok(()) => say_json(&signed(answer(&path.display().to_string()))),
        Err(error) => {
            complain(&error.to_string());
            ExitCode::FAILURE
        }
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "the child must inherit standard output, which the house never lets happen"
)]
fn leave_a_grandchild(asked: &Arguments) -> ExitCode {
    let started = std::env::current_exe().and_then(|own| {
        std::process::Command::new(own)
            .arg("--hold")
            .stdin(Stdio::null())
            .process_group(0)
            .spawn()
    });
    if let Err(error) = started {
        complain(&error.to_string());
        return ExitCode::FAILURE;
    }
    say_json(&signed(answer(&echo(&asked.prompt))))
}

fn answer(summary: &str) -> Value {
    json!({"summary": summary, "tokens_used": summary.len() / 4, "status": "success"})
}

fn signed(mut answer: Value) -> Value {
    let bytes = answer.to_string();
    let checksum = canonical::checksum(bytes.as_bytes(), DuplicateKeys::Refused)
        .expect("an answer has a canonical form");
    answer["checksum"] = checksum.to_string().into();
    answer
}

fn say_json(value: &Value) -> ExitCode {
    say(format!("{value}\n").as_bytes())
}

fn say(bytes: &[u8]) -> ExitCode {
    match io::stdout().write_all(bytes) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

fn say_much(bytes: u64) -> ExitCode {
    let piece = vec![b'x'; 64 * 1024];
    let mut left = bytes;
    while left > 0 {
        let now = left.min(piece.len() as u64);
        if io::stdout().write_all(&piece[..now as usize]).is_err() {
            return ExitCode::FAILURE;
        }
        left -= now;
    }
    ExitCode::SUCCESS
}
