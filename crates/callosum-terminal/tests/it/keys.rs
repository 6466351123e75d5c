//! Keys that make signals, and filters of what is typed.

use crate::{
    caller_terminal::CallerTerminal,
    watcher::{Setup, read_until},
};

/// CAKE-SHIM-2: Ctrl-C and Ctrl-\ are the program's, as bytes that its own terminal turns into signals.
#[test]
fn keys_that_make_signals_reach_the_program() {
    for (key, code) in [(b'\x03', 130), (b'\x1c', 131)] {
        let mut terminal = CallerTerminal::open();
        let script = "ulimit -c 0; echo ready; exec sleep 3600";
        let watcher = Setup::new("pty").start(&["sh", "-c", script], terminal.streams());
        read_until(&mut terminal.person, "ready");
        terminal.press(&[key]);
        assert_eq!(watcher.finish().0, code);
    }
}

#[test]
fn every_byte_reaches_a_program_in_raw_mode() {
    let mut terminal = CallerTerminal::open();
    let script = "stty raw -echo; echo ready; head -c 256 | od -An -v -tu1";
    let watcher = Setup::new("pty").start(&["sh", "-c", script], terminal.streams());
    read_until(&mut terminal.person, "ready");
    let keys: Vec<u8> = (0..=255).collect();
    terminal.press(&keys);
    let screen = terminal.read_rest();
    watcher.finish();
    let screen = String::from_utf8(screen.join().unwrap()).unwrap();
    let numbers: Vec<u8> = screen
        .split_whitespace()
        .map(|word| word.parse().unwrap())
        .collect();
    assert_eq!(numbers, keys);
}

/// CAKE-SHIM-2: a filter replaces what is typed, shows text of its own, and knows who reads the keys.
#[test]
fn a_filter_changes_what_is_typed() {
    let mut terminal = CallerTerminal::open();
    let mut setup = Setup::new("pty");
    setup.filter = "upper";
    let script = "stty -echo; echo ready; read line; echo \"got $line\"";
    let watcher = setup.start(&["sh", "-c", script], terminal.streams());
    read_until(&mut terminal.person, "ready\r\n");
    terminal.press(b"quiet\r");
    let screen = terminal.read_rest();
    let (_, report) = watcher.finish();
    let screen = String::from_utf8(screen.join().unwrap()).unwrap();
    assert!(screen.contains("got QUIET"), "{screen}");
    assert!(screen.contains("<6 true>"), "{screen}");
    assert_eq!(report.text("filter_panicked"), "false");
}

#[test]
fn a_panic_of_the_filter_lets_keys_pass() {
    let mut terminal = CallerTerminal::open();
    let mut setup = Setup::new("pty");
    setup.filter = "broken";
    let script = "stty -echo; echo ready; read line; echo \"got $line\"";
    let watcher = setup.start(&["sh", "-c", script], terminal.streams());
    read_until(&mut terminal.person, "ready\r\n");
    terminal.press(b"quiet\r");
    let screen = terminal.read_rest();
    let (_, report) = watcher.finish();
    assert_eq!(screen.join().unwrap(), b"got quiet\r\n");
    assert_eq!(report.text("filter_panicked"), "true");
}
