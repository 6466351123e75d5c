//! The size of the window, which the program's terminal must share.

use std::{
    thread::sleep,
    time::{Duration, Instant},
};

use rustix::process::Signal;

use crate::{
    caller_terminal::CallerTerminal,
    watcher::{Setup, read_until},
};

const REPORT_SIZES: &str =
    "trap 'stty size' WINCH; stty size; while ! read line; do :; done; echo end";

/// CAKE-SHIM-2: the program sees the caller's size from the start and each change.
#[test]
fn the_size_passes_through() {
    let mut terminal = CallerTerminal::open();
    terminal.resize(33, 101);
    let watcher = Setup::new("pty").start(&["sh", "-c", REPORT_SIZES], terminal.streams());
    read_until(&mut terminal.person, "33 101\r\n");
    terminal.resize(20, 66);
    watcher.send(Signal::WINCH);
    read_until(&mut terminal.person, "20 66\r\n");
    // A signal that arrives as the shell has read a line makes it drop that line, so there are more.
    terminal.press(b"\n\n\n");
    read_until(&mut terminal.person, "end\r\n");
    assert_eq!(watcher.finish().0, 0);
}

#[test]
fn without_a_terminal_the_size_is_a_common_one() {
    let outcome = Setup::new("pty").run(&["sh", "-c", "stty size"], b"");
    assert_eq!(outcome.text(), "24 80\n");
}

/// A window that is dragged sends a storm of signals. The program sees at most one size in 20 ms, and the last always.
#[test]
fn a_storm_of_sizes_ends_at_the_last() {
    let mut terminal = CallerTerminal::open();
    let watcher = Setup::new("pty").start(&["sh", "-c", REPORT_SIZES], terminal.streams());
    read_until(&mut terminal.person, "24 80\r\n");
    let begun = Instant::now();
    for columns in 100..=600 {
        terminal.resize(50, columns);
        watcher.send(Signal::WINCH);
        sleep(Duration::from_millis(1));
    }
    let screen = read_until(&mut terminal.person, "50 600\r\n");
    let most = begun.elapsed().as_millis() / 20 + 2;
    // A signal that arrives as the shell has read a line makes it drop that line, so there are more.
    terminal.press(b"\n\n\n");
    read_until(&mut terminal.person, "end\r\n");
    assert_eq!(watcher.finish().0, 0);
    let sizes = screen.lines().count() as u128;
    assert!(sizes <= most, "{sizes} sizes instead of {most}");
}
