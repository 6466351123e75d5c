//! [`Watcher`]: the example `watch` with streams of the test's choice.

use std::{
    collections::HashMap,
    ffi::OsString,
    fmt::Write as _,
    fs::File,
    io::{Read as _, pipe},
    os::{fd::OwnedFd, unix::process::ExitStatusExt as _},
    path::PathBuf,
    process::{Child, Command, Stdio},
    thread::{self, JoinHandle},
};

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

/// The example, which `cargo test` builds with the tests, unless it is given `--test` or `--tests`.
pub(crate) fn example() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let folder = test.parent().unwrap().parent().unwrap();
    let example = folder.join("examples/watch");
    assert!(example.is_file(), "build the example `watch` first");
    example
}

/// The settings of a watcher.
pub(crate) struct Setup {
    pub(crate) mode: &'static str,
    pub(crate) tap: &'static str,
    pub(crate) filter: &'static str,
    /// Words before the watcher's own, for example of a shell that ignores a signal.
    pub(crate) before: Vec<OsString>,
}

impl Setup {
    pub(crate) fn new(mode: &'static str) -> Self {
        Self {
            mode,
            tap: "count",
            filter: "none",
            before: Vec::new(),
        }
    }

    pub(crate) fn start(self, words: &[&str], streams: [OwnedFd; 3]) -> Watcher {
        let folder = tempfile::tempdir().unwrap();
        let mut all = self.before;
        all.push(example().into());
        all.extend([self.mode, self.tap, self.filter].map(OsString::from));
        all.push(folder.path().join("report").into());
        all.extend(words.iter().map(OsString::from));
        let [stdin, stdout, stderr] = streams;
        let child = Command::new(&all[0])
            .args(&all[1..])
            .stdin(Stdio::from(stdin))
            .stdout(Stdio::from(stdout))
            .stderr(Stdio::from(stderr))
            .spawn()
            .unwrap();
        Watcher { child, folder }
    }

    /// Runs to the end on three pipes with this input.
    pub(crate) fn run(self, words: &[&str], input: &[u8]) -> Outcome {
        let (read_input, write_input) = pipe().unwrap();
        let (output, write_output) = pipe().unwrap();
        let (error, write_error) = pipe().unwrap();
        let watcher = self.start(
            words,
            [read_input.into(), write_output.into(), write_error.into()],
        );
        let input = input.to_vec();
        let typist = thread::spawn(move || {
            let mut end = File::from(OwnedFd::from(write_input));
            // The program may end before it reads everything.
            drop(std::io::Write::write_all(&mut end, &input));
        });
        let (output, error) = (read_all(output.into()), read_all(error.into()));
        let (code, report) = watcher.finish();
        typist.join().unwrap();
        Outcome {
            code,
            report,
            output: output.join().unwrap(),
            error: error.join().unwrap(),
        }
    }
}

/// Reads an end on a thread of its own until it closes.
pub(crate) fn read_all(end: OwnedFd) -> JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        File::from(end).read_to_end(&mut bytes).unwrap();
        bytes
    })
}

/// Reads until `text` was read.
pub(crate) fn read_until(end: &mut File, text: &str) -> String {
    let mut bytes = Vec::new();
    while !bytes.ends_with(text.as_bytes()) {
        let mut byte = [0];
        end.read_exact(&mut byte).unwrap_or_else(|error| {
            panic!("{error} after {:?}", String::from_utf8_lossy(&bytes));
        });
        bytes.push(byte[0]);
    }
    String::from_utf8(bytes).unwrap()
}

pub(crate) struct Watcher {
    pub(crate) child: Child,
    folder: TempDir,
}

impl Watcher {
    pub(crate) fn pid(&self) -> Pid {
        Pid::from_raw(self.child.id().cast_signed()).unwrap()
    }

    pub(crate) fn send(&self, signal: Signal) {
        kill_process(self.pid(), signal).unwrap();
    }

    /// Waits for the end and returns its code, negative for a signal, and its report.
    pub(crate) fn finish(mut self) -> (i32, Report) {
        let status = self.child.wait().unwrap();
        let code = status.code().unwrap_or_else(|| -status.signal().unwrap());
        let text = std::fs::read_to_string(self.folder.path().join("report")).unwrap_or_default();
        let lines = text.lines().filter_map(|line| line.split_once('='));
        let lines = lines.map(|(name, value)| (name.to_owned(), value.to_owned()));
        (code, Report(lines.collect()))
    }
}

/// The result of a run.
pub(crate) struct Outcome {
    pub(crate) code: i32,
    pub(crate) report: Report,
    pub(crate) output: Vec<u8>,
    pub(crate) error: Vec<u8>,
}

impl Outcome {
    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.output).unwrap()
    }
}

/// The values that the example writes at its end.
pub(crate) struct Report(HashMap<String, String>);

impl Report {
    pub(crate) fn text(&self, name: &str) -> &str {
        &self.0[name]
    }

    pub(crate) fn number(&self, name: &str) -> u64 {
        self.0[name].parse().unwrap()
    }
}

/// The example's hash over all that its tap saw.
pub(crate) fn hash(bytes: &[u8]) -> String {
    let hash = bytes.iter().fold(0_u64, |hash, byte| {
        hash.wrapping_mul(31).wrapping_add(u64::from(*byte))
    });
    format!("{hash:x}")
}

/// Bytes of every value in no order that a text or a terminal would have.
pub(crate) fn noise(length: usize) -> Vec<u8> {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u8
    };
    std::iter::repeat_with(next).take(length).collect()
}

/// Ends the process whose number is the first line of `output`.
pub(crate) fn end_process(output: &[u8]) {
    let line = output.split(|byte| *byte == b'\n').next().unwrap();
    let pid = std::str::from_utf8(line).unwrap().trim().parse().unwrap();
    // It may have ended by the closed stream.
    let _ = kill_process(Pid::from_raw(pid).unwrap(), Signal::KILL);
}

/// The output of `seq` up to `last`.
pub(crate) fn numbers(last: u32) -> String {
    (1..=last).fold(String::new(), |mut text, number| {
        writeln!(text, "{number}").unwrap();
        text
    })
}
