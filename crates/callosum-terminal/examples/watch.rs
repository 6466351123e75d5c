//! Runs a program as `callosum watch` does. The tests and measurements of this crate use it.
//!
//! `watch MODE TAP FILTER REPORT PROGRAM [ARGUMENT]…`: MODE is `pty`, `pipes` or `auto`; TAP is `count`, `stuck` or
//! `broken`; FILTER is `none`, `upper` or `broken`; REPORT is a file for what the run returned, or `-` for none.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stderr,
    reason = "a program, not a library"
)]

use std::{ffi::OsString, io, process::ExitCode, thread, time::Duration};

use callosum_terminal::{
    CallerStreams, Exit, InputFilter, Mode, Reply, Run, Stream, Tap, TapEnd, TerminalState, child,
    run,
};

const LAUNCH: &str = "__pty-child";

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    let first = arguments.next().unwrap_or_default();
    if first == LAUNCH {
        let error = child::become_session_leader_and_exec(arguments);
        eprintln!("cannot start the program: {error}");
        return child::exit_code(&error).into();
    }
    match watch(&first.to_string_lossy(), arguments) {
        Ok(code) => code.into(),
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(125)
        }
    }
}

fn watch(mode: &str, mut arguments: impl Iterator<Item = OsString>) -> io::Result<u8> {
    let mut next = || {
        arguments
            .next()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned()
    };
    let (tap, filter, report) = (next(), next(), next());
    let tap = match tap.as_str() {
        "stuck" => Counter::Stuck,
        "broken" => Counter::Broken,
        _ => Counter::Sound(Count::default()),
    };
    let filter: Option<Box<dyn InputFilter>> = match filter.as_str() {
        "upper" => Some(Box::new(Upper)),
        "broken" => Some(Box::new(Broken)),
        _ => None,
    };
    let program = arguments.next().unwrap_or_default();
    let program = Run {
        program,
        arguments: arguments.collect(),
        folder: std::env::current_dir()?,
        environment: std::env::vars_os().collect(),
        launcher: vec![std::env::current_exe()?.into(), LAUNCH.into()],
    };
    let caller = CallerStreams::of_this_process()?;
    let mode = match mode {
        "pty" => Mode::Pty,
        "pipes" => Mode::Pipes,
        _ => Mode::suited_to(&caller),
    };
    match run(&program, mode, caller, tap, filter) {
        Ok(exit) => {
            if report != "-" {
                std::fs::write(report, describe(&exit))?;
            }
            Ok(exit.code())
        }
        Err(error) => {
            eprintln!("{error}");
            Ok(error.exit_code())
        }
    }
}

/// Writes one `name=value` per line.
fn describe(exit: &Exit<Counter>) -> String {
    let (tap, count) = match &exit.tap {
        TapEnd::Finished(Counter::Sound(count)) => ("finished".to_owned(), *count),
        TapEnd::Finished(_) => ("finished".to_owned(), Count::default()),
        TapEnd::Panicked(message) => (message.clone(), Count::default()),
        TapEnd::Unfinished => ("unfinished".to_owned(), Count::default()),
    };
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let memory = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let memory = memory
        .unwrap_or_default()
        .trim()
        .trim_end_matches(" kB")
        .to_owned();
    let error = exit
        .output_error
        .as_ref()
        .map_or(String::new(), ToString::to_string);
    format!(
        "code={}\nskipped={}\ntap={tap}\nstdout={}\nstderr={}\nmerged={}\nhash={:x}\nreported_skipped={}\nfilter_panicked={}\nerror={error}\nmemory={memory}\n",
        exit.code(),
        exit.skipped_bytes,
        count.stdout,
        count.stderr,
        count.merged,
        count.hash,
        count.skipped,
        exit.has_filter_panicked,
    )
}

#[derive(Clone, Copy, Default)]
struct Count {
    stdout: u64,
    stderr: u64,
    merged: u64,
    hash: u64,
    skipped: u64,
}

enum Counter {
    Sound(Count),
    Stuck,
    Broken,
}

impl Tap for Counter {
    fn output(&mut self, stream: Stream, bytes: &[u8]) {
        match self {
            Self::Sound(count) => {
                let length = bytes.len() as u64;
                match stream {
                    Stream::Stdout => count.stdout += length,
                    Stream::Stderr => count.stderr += length,
                    Stream::Merged => count.merged += length,
                }
                for byte in bytes {
                    count.hash = count.hash.wrapping_mul(31).wrapping_add(u64::from(*byte));
                }
            }
            Self::Stuck => thread::sleep(Duration::from_hours(1)),
            Self::Broken => panic!("broken tap"),
        }
    }

    fn skip(&mut self, _: Stream, bytes: u64) {
        if let Self::Sound(count) = self {
            count.skipped += bytes;
        }
    }
}

/// Sends capital letters, and shows how many bytes it saw.
struct Upper;

impl InputFilter for Upper {
    fn input(&mut self, bytes: &[u8], terminal: TerminalState, reply: &mut Reply) {
        reply.send(&bytes.to_ascii_uppercase());
        let note = format!("<{} {}>", bytes.len(), terminal.is_program_in_foreground);
        reply.show(note.as_bytes());
    }
}

struct Broken;

impl InputFilter for Broken {
    fn input(&mut self, _: &[u8], _: TerminalState, _: &mut Reply) {
        panic!("broken filter");
    }
}
