//! Taps that are slow or broken, which the program must not notice.

use crate::watcher::{Setup, noise, numbers};

/// CAKE-WATCH-1: a tap that never returns delays no byte; what it does not see is counted, and the run ends without it.
#[test]
fn a_stuck_tap_delays_nothing_and_is_left_behind() {
    let bytes = noise(20_000_000);
    let mut setup = Setup::new("pipes");
    setup.tap = "stuck";
    let outcome = setup.run(&["cat"], &bytes);
    assert_eq!(outcome.code, 0);
    assert!(outcome.output == bytes);
    assert_eq!(outcome.report.text("tap"), "unfinished");
    // Two batches of 4 MiB at the most are not skipped: the one it is stuck in and the one that waits.
    assert!(outcome.report.number("skipped") > 11_000_000);
    assert!(outcome.report.number("memory") < 30_000);
}

/// CAKE-WATCH-1: a tap that panics disturbs neither the bytes nor the exit code, and prints nothing.
#[test]
fn a_panic_of_the_tap_disturbs_nothing() {
    let bytes = noise(1_000_000);
    let mut setup = Setup::new("pipes");
    setup.tap = "broken";
    let outcome = setup.run(&["sh", "-c", "cat; exit 5"], &bytes);
    assert_eq!(outcome.code, 5);
    assert!(outcome.output == bytes);
    assert_eq!(outcome.error, b"");
    assert_eq!(outcome.report.text("tap"), "broken tap");
}

#[test]
fn a_panic_of_the_tap_disturbs_no_terminal_either() {
    let mut setup = Setup::new("pty");
    setup.tap = "broken";
    let outcome = setup.run(&["seq", "50000"], b"");
    assert!(outcome.text() == numbers(50_000));
    assert_eq!(outcome.report.text("tap"), "broken tap");
}
