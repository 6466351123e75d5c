//! Signals to the watching process.

use std::{fs::File, io::pipe, os::fd::OwnedFd, path::Path};

use rustix::process::{Signal, WaitId, WaitIdOptions, waitid};

use crate::{
    caller_terminal::{CallerTerminal, is_same},
    watcher::{Setup, Watcher, end_process, example, read_until},
};

/// Starts on pipes, and returns what reads standard output.
fn start_on_pipes(setup: Setup, script: &str) -> (Watcher, File) {
    let (output, write_output) = pipe().unwrap();
    let (input, _) = pipe().unwrap();
    let null = File::options().write(true).open("/dev/null").unwrap();
    let watcher = setup.start(
        &["sh", "-c", script],
        [input.into(), write_output.into(), null.into()],
    );
    (watcher, File::from(OwnedFd::from(output)))
}

/// CAKE-SHIM-2: a signal to us alone is the program's, and its answer is ours.
#[test]
fn signals_to_us_reach_the_program() {
    for (name, signal) in [
        ("TERM", Signal::TERM),
        ("INT", Signal::INT),
        ("HUP", Signal::HUP),
        ("USR1", Signal::USR1),
    ] {
        let script =
            format!("trap 'echo got; exit 9' {name}; echo ready; while :; do sleep 0.02; done");
        for mode in ["pipes", "pty"] {
            let (watcher, mut output) = start_on_pipes(Setup::new(mode), &script);
            read_until(&mut output, "ready\n");
            watcher.send(signal);
            read_until(&mut output, "got\n");
            assert_eq!(watcher.finish().0, 9, "{name} {mode}");
        }
    }
}

#[test]
fn an_unhandled_signal_ends_both() {
    for mode in ["pipes", "pty"] {
        let script = "echo ready; exec sleep 3600";
        let (watcher, mut output) = start_on_pipes(Setup::new(mode), script);
        read_until(&mut output, "ready\n");
        watcher.send(Signal::TERM);
        assert_eq!(watcher.finish().0, 143, "{mode}");
    }
}

/// A caller that reads nothing blocks the pump. A signal must get through all the same, and after the program's end it
/// ends the run.
#[test]
fn signals_pass_while_the_caller_reads_nothing() {
    let (watcher, mut output) = start_on_pipes(Setup::new("pipes"), "echo $$; exec yes");
    let program = read_until(&mut output, "\n");
    // The first ends the program, the second the wait for the caller. A third could arrive after the run.
    watcher.send(Signal::TERM);
    let program = Path::new("/proc").join(program.trim());
    while program.exists() {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    watcher.send(Signal::TERM);
    assert_eq!(watcher.finish().0, 143);
    drop(output);
}

/// `nohup`: what we ignore from the start, the program ignores, too.
#[test]
fn an_ignored_signal_stays_ignored() {
    for mode in ["pipes", "pty"] {
        let mut setup = Setup::new(mode);
        setup.before = ["sh", "-c", "trap '' HUP; exec \"$@\"", "sh"]
            .map(Into::into)
            .into();
        let (watcher, mut output) = start_on_pipes(
            setup,
            "kill -HUP $$; kill -HUP $PPID; sleep 0.1; echo alive",
        );
        read_until(&mut output, "alive\n");
        assert_eq!(watcher.finish().0, 0, "{mode}");
    }
}

/// On pipes, a key of the caller's terminal reaches every process of our group, the program among them.
#[test]
fn a_key_on_pipes_reaches_the_program() {
    let mut terminal = CallerTerminal::open();
    let script = "trap 'exit 4' INT; echo ready; sleep 3600 & wait";
    let watcher = start_in_session(&terminal, &["sh", "-c", script]);
    read_until(&mut terminal.person, "ready\r\n");
    terminal.press(b"\x03");
    assert_eq!(watcher.finish().0, 4);
}

/// Passing that key on as well would press it twice, and many programs take a second Ctrl-C as a demand to quit without
/// cleaning up. The program here has left our group, so that it sees only what is passed on.
#[test]
fn a_key_on_pipes_is_not_passed_on() {
    let mut terminal = CallerTerminal::open();
    let script = "trap 'echo int' INT; trap 'echo usr' USR1; trap 'exit 4' TERM; echo ready; \
                  sleep 3600 & echo $!; while :; do wait; done";
    let watcher = start_in_session(&terminal, &["setsid", "sh", "-c", script]);
    read_until(&mut terminal.person, "ready\r\n");
    let sleeper = read_until(&mut terminal.person, "\r\n");
    terminal.press(b"\x03");
    // The terminal shows the key after it has sent the signal.
    read_until(&mut terminal.person, "^C");
    watcher.send(Signal::USR1);
    let seen = read_until(&mut terminal.person, "usr\r\n");
    watcher.send(Signal::TERM);
    let (code, _) = watcher.finish();
    end_process(sleeper.as_bytes());
    assert_eq!(code, 4);
    assert!(!seen.contains("int"), "{seen}");
}

/// Starts on pipes in a session of its own that the terminal controls.
fn start_in_session(terminal: &CallerTerminal, words: &[&str]) -> Watcher {
    let mut setup = Setup::new("pipes");
    setup.before = vec![example().into(), "__pty-child".into()];
    setup.start(words, terminal.streams())
}

/// CAKE-SHIM-2: stopped by its shell, the watching process gives the terminal back, and takes it again when continued.
#[test]
fn a_stop_gives_the_terminal_back() {
    let mut terminal = CallerTerminal::open();
    let before = terminal.settings();
    let mut setup = Setup::new("pty");
    // With a session of its own, it has a group that the system can stop.
    setup.before = vec![example().into(), "__pty-child".into()];
    let script = "echo ready; read line; echo \"got $line\"";
    let watcher = setup.start(&["sh", "-c", script], terminal.streams());
    read_until(&mut terminal.person, "ready\r\n");
    let raw = terminal.settings();
    assert!(!is_same(&before, &raw));
    watcher.send(Signal::TSTP);
    waitid(WaitId::Pid(watcher.pid()), WaitIdOptions::STOPPED).unwrap();
    assert!(is_same(&before, &terminal.settings()));
    terminal.resize(40, 90);
    watcher.send(Signal::CONT);
    while !is_same(&raw, &terminal.settings()) {
        std::thread::yield_now();
    }
    terminal.press(b"again\r");
    read_until(&mut terminal.person, "got again\r\n");
    assert_eq!(watcher.finish().0, 0);
}

/// If the caller's input is a file, its terminal still makes signals of keys, for every program in the foreground: here a
/// shell and the program that it waits for.
#[test]
fn a_key_beside_piped_input_reaches_the_foreground() {
    let mut terminal = CallerTerminal::open();
    let mut setup = Setup::new("pty");
    setup.before = vec![
        example().into(),
        "__pty-child".into(),
        "sh".into(),
        "-c".into(),
        "exec \"$@\" <&2 2>&1".into(),
        "sh".into(),
    ];
    // The inner shell reports that it is ready: a shell's fork may lose a signal before it becomes another program.
    let script = "trap 'echo int; exit 6' INT; sh -c 'echo ready; exec sleep 3600'; echo late";
    // The launcher needs the terminal as its input, so the pipe comes in as standard error.
    let (input, _write_input) = pipe().unwrap();
    let [stdin, stdout, _] = terminal.streams();
    let watcher = setup.start(&["sh", "-c", script], [stdin, stdout, input.into()]);
    read_until(&mut terminal.person, "ready\r\n");
    terminal.press(b"\x03");
    read_until(&mut terminal.person, "int\r\n");
    assert_eq!(watcher.finish().0, 6);
}
