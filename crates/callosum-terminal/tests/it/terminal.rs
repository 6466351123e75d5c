//! Runs under a pseudo-terminal.

use std::{
    fs::File,
    io::{Write as _, pipe},
    os::fd::OwnedFd,
};

use rustix::process::Signal;

use crate::{
    caller_terminal::{CallerTerminal, is_same},
    watcher::{Setup, end_process, hash, noise, numbers, read_all, read_until},
};

/// Runs to the end on a terminal of the test, and returns the code, the screen and whether the settings were restored.
fn run_on_terminal(setup: Setup, words: &[&str]) -> (i32, Vec<u8>, bool) {
    let terminal = CallerTerminal::open();
    let before = terminal.settings();
    let watcher = setup.start(words, terminal.streams());
    let program = terminal.program.try_clone().unwrap();
    let screen = terminal.read_rest();
    let (code, _) = watcher.finish();
    let after = rustix::termios::tcgetattr(&program).unwrap();
    drop(program);
    (code, screen.join().unwrap(), is_same(&before, &after))
}

/// CAKE-SHIM-2: the program has a terminal at all three streams and as its controlling terminal.
#[test]
fn the_program_has_a_terminal() {
    let script = "test -t 0 && test -t 1 && test -t 2 && echo yes > /dev/tty";
    let (code, screen, is_restored) = run_on_terminal(Setup::new("auto"), &["sh", "-c", script]);
    assert_eq!(String::from_utf8(screen).unwrap(), "yes\r\n");
    assert_eq!(code, 0);
    assert!(is_restored);
}

/// CAKE-SHIM-2: without a terminal, `auto` gives pipes.
#[test]
fn without_a_terminal_the_program_has_none() {
    let outcome = Setup::new("auto").run(&["sh", "-c", "test -t 1 || echo no"], b"");
    assert_eq!(outcome.text(), "no\n");
    assert_eq!(outcome.report.number("stdout"), 3);
}

/// The program's terminal turns a line feed into two bytes, as the caller's does; binary output is switched by `stty`.
#[test]
fn binary_bytes_pass_unchanged_through_terminals() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("noise");
    let bytes = noise(500_000);
    std::fs::write(&file, &bytes).unwrap();
    let script = format!("stty -opost; cat {}", file.display());
    let terminal = CallerTerminal::open();
    let watcher = Setup::new("pty").start(&["sh", "-c", &script], terminal.streams());
    let screen = terminal.read_rest();
    let (code, report) = watcher.finish();
    assert_eq!(code, 0);
    assert!(screen.join().unwrap() == bytes);
    if report.number("skipped") == 0 {
        assert_eq!(report.text("hash"), hash(&bytes));
    }
}

/// If the output goes to a file or a pipe, a terminal of ours must not change it.
#[test]
fn output_to_a_pipe_has_plain_line_ends() {
    let outcome = Setup::new("pty").run(&["seq", "100000"], b"");
    assert!(outcome.text() == numbers(100_000));
}

#[test]
fn a_redirected_standard_error_stays_apart() {
    let terminal = CallerTerminal::open();
    let (error, write_error) = pipe().unwrap();
    let [stdin, stdout, _] = terminal.streams();
    let script = "test -t 2 || echo apart >&2; echo screen";
    let watcher =
        Setup::new("pty").start(&["sh", "-c", script], [stdin, stdout, write_error.into()]);
    let error = read_all(error.into());
    let screen = terminal.read_rest();
    watcher.finish();
    assert_eq!(error.join().unwrap(), b"apart\n");
    assert_eq!(screen.join().unwrap(), b"screen\r\n");
}

#[test]
fn exit_codes_and_signals_of_the_program_are_ours() {
    let end = |words: &[&str]| {
        let (code, screen, is_restored) = run_on_terminal(Setup::new("pty"), words);
        assert!(is_restored);
        (code, String::from_utf8(screen).unwrap())
    };
    assert_eq!(end(&["sh", "-c", "exit 9"]).0, 9);
    assert_eq!(end(&["sh", "-c", "kill -TERM $$"]).0, 143);
    let (code, screen) = end(&["no-such-program-anywhere"]);
    assert_eq!(code, 127);
    assert!(screen.contains("cannot start the program"), "{screen}");
    assert_eq!(end(&["/"]).0, 126);
}

/// CAKE-SHIM-2: the terminal is raw while the program runs and restored after a signal ended it.
#[test]
fn the_terminal_is_restored_after_a_signal() {
    let terminal = CallerTerminal::open();
    let before = terminal.settings();
    let script = "echo ready; sleep 3600";
    let watcher = Setup::new("pty").start(&["sh", "-c", script], terminal.streams());
    let mut person = terminal.person.try_clone().unwrap();
    read_until(&mut person, "ready");
    assert!(!is_same(&before, &terminal.settings()));
    watcher.send(Signal::TERM);
    let (code, _) = watcher.finish();
    assert_eq!(code, 143);
    assert!(is_same(&before, &terminal.settings()));
}

/// A process that ignores the hang-up holds the terminal open after the program's exit.
#[test]
fn a_grandchild_that_holds_the_terminal_does_not_hold_the_run() {
    let script = "trap '' HUP; sleep 3600 & echo $!";
    let (code, screen, is_restored) = run_on_terminal(Setup::new("pty"), &["sh", "-c", script]);
    end_process(&screen);
    assert_eq!(code, 0);
    assert!(is_restored);
}

/// CAKE-SHIM-2: input from a file or a pipe ends for the program, also after a part of a line.
#[test]
fn the_end_of_input_reaches_the_program() {
    for input in ["", "one\ntwo\n", "one\ntwo"] {
        let outcome = Setup::new("pty").run(&["cat"], input.as_bytes());
        assert_eq!(outcome.text(), input);
        assert_eq!(outcome.code, 0);
    }
}

#[test]
fn a_closed_output_hangs_the_program_up() {
    let (output, write_output) = pipe().unwrap();
    let (_error, write_error) = pipe().unwrap();
    let (input, _write_input) = pipe().unwrap();
    let watcher = Setup::new("pty").start(
        &["yes"],
        [input.into(), write_output.into(), write_error.into()],
    );
    let mut output = File::from(OwnedFd::from(output));
    read_until(&mut output, "y\ny\n");
    drop(output);
    assert_eq!(watcher.finish().0, 129, "128 and SIGHUP");
}

#[test]
fn a_closed_terminal_hangs_the_program_up() {
    let terminal = CallerTerminal::open();
    let script = "echo ready; sleep 3600";
    let watcher = Setup::new("pty").start(&["sh", "-c", script], terminal.streams());
    let mut person = terminal.person.try_clone().unwrap();
    read_until(&mut person, "ready");
    drop(person);
    drop(terminal);
    assert_eq!(watcher.finish().0, 129);
}

/// A pasted text larger than every buffer between the caller and the program arrives whole.
#[test]
fn a_large_paste_arrives_whole() {
    let mut terminal = CallerTerminal::open();
    let script = "stty raw -echo; echo ready; head -c 300000 | cksum";
    let watcher = Setup::new("pty").start(&["sh", "-c", script], terminal.streams());
    let mut person = terminal.person.try_clone().unwrap();
    read_until(&mut person, "ready");
    let paste = noise(300_000);
    terminal.press(&paste);
    let screen = terminal.read_rest();
    assert_eq!(watcher.finish().0, 0);
    let mut expected = std::process::Command::new("cksum")
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    expected.stdin.take().unwrap().write_all(&paste).unwrap();
    let expected = expected.wait_with_output().unwrap().stdout;
    let expected = String::from_utf8(expected).unwrap();
    let screen = String::from_utf8(screen.join().unwrap()).unwrap();
    assert!(screen.contains(expected.trim()), "{screen}");
}
