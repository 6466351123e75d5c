//! Runs on pipes.

use std::{fs::File, io::pipe, os::fd::OwnedFd};

use crate::watcher::{Setup, end_process, hash, noise, read_all, read_until};

/// CAKE-WATCH-1: bytes pass unchanged in both directions, text or not, and the tap sees the same.
#[test]
fn binary_bytes_pass_unchanged() {
    let bytes = noise(3_000_000);
    let outcome = Setup::new("pipes").run(&["cat"], &bytes);
    assert_eq!(outcome.code, 0);
    assert!(outcome.output == bytes);
    assert_eq!(outcome.report.text("tap"), "finished");
    if outcome.report.number("skipped") == 0 {
        assert_eq!(outcome.report.text("hash"), hash(&bytes));
    }
}

#[test]
fn standard_output_and_error_stay_apart() {
    let script = "echo one; echo two >&2; exit 3";
    let outcome = Setup::new("pipes").run(&["sh", "-c", script], b"");
    assert_eq!(outcome.code, 3);
    assert_eq!(outcome.output, b"one\n");
    assert_eq!(outcome.error, b"two\n");
    assert_eq!(outcome.report.number("stdout"), 4);
    assert_eq!(outcome.report.number("stderr"), 4);
}

/// With `2>&1` the lines of both keep their order, which two pipes would lose.
#[test]
fn merged_streams_keep_their_order() {
    let (output, write_output) = pipe().unwrap();
    let (input, _) = pipe().unwrap();
    let error = write_output.try_clone().unwrap();
    let script = "for n in 1 2 3 4 5 6 7 8 9; do echo $n; echo $n >&2; done";
    let watcher = Setup::new("pipes").start(
        &["sh", "-c", script],
        [input.into(), write_output.into(), error.into()],
    );
    let output = read_all(output.into());
    let (_, report) = watcher.finish();
    let output = String::from_utf8(output.join().unwrap()).unwrap();
    let lines: Vec<&str> = output.lines().collect();
    let expected = "1 1 2 2 3 3 4 4 5 5 6 6 7 7 8 8 9 9";
    assert_eq!(lines.join(" "), expected);
    assert_eq!(report.number("merged"), 36);
}

#[test]
fn exit_codes_and_signals_of_the_program_are_ours() {
    let code = |words: &[&str]| Setup::new("pipes").run(words, b"").code;
    assert_eq!(code(&["true"]), 0);
    assert_eq!(code(&["sh", "-c", "exit 255"]), 255);
    assert_eq!(code(&["sh", "-c", "kill -9 $$"]), 137);
    assert_eq!(code(&["no-such-program-anywhere"]), 127);
    assert_eq!(code(&["/"]), 126);
}

#[test]
fn a_reader_that_leaves_ends_the_program_as_on_a_plain_pipe() {
    let (output, write_output) = pipe().unwrap();
    let (input, _) = pipe().unwrap();
    let (_error, write_error) = pipe().unwrap();
    let watcher = Setup::new("pipes").start(
        &["yes"],
        [input.into(), write_output.into(), write_error.into()],
    );
    let mut output = File::from(OwnedFd::from(output));
    read_until(&mut output, "y\ny\n");
    drop(output);
    let (code, report) = watcher.finish();
    assert_eq!(code, 141, "128 and SIGPIPE");
    assert_eq!(report.text("error"), "");
}

#[test]
fn a_full_disk_is_reported() {
    let (input, _) = pipe().unwrap();
    let (_error, write_error) = pipe().unwrap();
    let full = File::options().write(true).open("/dev/full").unwrap();
    let watcher =
        Setup::new("pipes").start(&["yes"], [input.into(), full.into(), write_error.into()]);
    let (code, report) = watcher.finish();
    assert_eq!(code, 141);
    assert!(report.text("error").contains("No space left"));
}

/// A process that the program left behind holds the pipes open. Without a bound the run would last as long as it.
#[test]
fn a_grandchild_that_holds_the_pipe_does_not_hold_the_run() {
    let script = "sleep 3600 & echo $!";
    let outcome = Setup::new("pipes").run(&["sh", "-c", script], b"");
    end_process(&outcome.output);
    assert_eq!(outcome.code, 0);
}

/// The same for one that never stops printing, so that there is no silence to wait for.
#[test]
fn a_grandchild_that_prints_forever_does_not_hold_the_run() {
    let script = "yes & echo $! >&2";
    let outcome = Setup::new("pipes").run(&["sh", "-c", script], b"");
    assert_eq!(outcome.code, 0);
    assert!(outcome.output.starts_with(b"y\ny\n"));
}

/// All that the program wrote before its exit arrives, although a grandchild keeps the pipe open.
#[test]
fn bytes_before_the_exit_arrive_though_a_grandchild_holds_the_pipe() {
    let script = "sleep 3600 2>&1 & echo $!; head -c 900000 /dev/zero | tr '\\0' x";
    let outcome = Setup::new("pipes").run(&["sh", "-c", script], b"");
    end_process(&outcome.output);
    assert_eq!(outcome.code, 0);
    let start = outcome
        .output
        .iter()
        .position(|byte| *byte == b'x')
        .unwrap();
    assert!(outcome.output[start..] == b"x".repeat(900_000));
}

/// CAKE-WATCH-1: 200 MB without a line end pass in less than 30 MB of memory.
#[test]
fn memory_is_bounded_on_an_endless_line() {
    let (output, write_output) = pipe().unwrap();
    let (input, _) = pipe().unwrap();
    let (_error, write_error) = pipe().unwrap();
    let watcher = Setup::new("pipes").start(
        &["head", "-c", "200000000", "/dev/zero"],
        [input.into(), write_output.into(), write_error.into()],
    );
    let copied = std::io::copy(&mut File::from(OwnedFd::from(output)), &mut std::io::sink());
    let (code, report) = watcher.finish();
    assert_eq!((code, copied.unwrap()), (0, 200_000_000));
    let (seen, skipped) = (report.number("stdout"), report.number("skipped"));
    assert_eq!(seen + skipped, 200_000_000);
    assert_eq!(skipped, report.number("reported_skipped"));
    assert!(
        report.number("memory") < 30_000,
        "{}",
        report.text("memory")
    );
}

#[test]
fn the_end_of_input_reaches_the_program() {
    let outcome = Setup::new("pipes").run(&["wc", "-c"], b"no line end");
    assert_eq!(outcome.text().trim(), "11");
}
