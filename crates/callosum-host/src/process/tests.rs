//! Children that behave badly, as real shell scripts.

use std::{ffi::OsString, path::PathBuf, time::Duration};

use rustix::process::{Pid, Signal, kill_process};

use super::*;

/// Longer than anything here takes on the slowest machine, and shorter than the children sleep that are to be ended.
const LONG: Duration = Duration::from_mins(5);

/// Returns the result of a try that needs an unknown amount of time: repeats it with more and more.
fn with_time_enough<T>(mut tried: impl FnMut(Duration) -> Option<T>) -> T {
    let mut patience = Duration::from_millis(100);
    loop {
        if let Some(done) = tried(patience) {
            return done;
        }
        assert!(patience < LONG, "no time is enough");
        patience *= 4;
    }
}

fn shell(script: &str) -> Launch {
    Launch {
        program: PathBuf::from("/bin/sh"),
        arguments: vec![OsString::from("-c"), OsString::from(script)],
        folder: PathBuf::from("/"),
        environment: vec![("PATH".into(), "/usr/bin:/bin".into())],
        input: Vec::new(),
        limits: Limits {
            quiet: Some(LONG),
            total: Some(LONG),
            output_bytes: 1 << 20,
            error_bytes: 16,
        },
    }
}

fn run_shell(launch: &Launch) -> Run {
    run(launch, &Cancel::new().unwrap(), &mut |_, _| {}).unwrap()
}

#[test]
fn a_child_sees_only_the_environment_it_was_given() {
    let run = run_shell(&shell(
        "env | cut -d= -f1 | grep -v -e PWD -e SHLVL -e '^_$'",
    ));
    assert_eq!(String::from_utf8_lossy(&run.output), "PATH\n");
    assert_eq!(run.ending, Ending::Exited(0));
}

#[test]
fn input_larger_than_any_pipe_comes_back_whole() {
    let mut launch = shell("cat");
    launch.input = (0..1_000_000_u32).map(|n| (n % 251) as u8).collect();
    assert_eq!(run_shell(&launch).output, launch.input);
}

#[test]
fn a_child_that_ignores_its_input_is_no_error() {
    let mut launch = shell("exec 0<&-; echo done");
    launch.input = vec![b'x'; 1_000_000];
    assert_eq!(run_shell(&launch).output, b"done\n");
}

#[test]
fn the_exit_code_and_the_end_of_standard_error_are_kept() {
    let run = run_shell(&shell(
        "echo a long complaint before the reason: no such key >&2; exit 7",
    ));
    assert_eq!(run.ending, Ending::Exited(7));
    assert_eq!(String::from_utf8_lossy(&run.error), "on: no such key\n");
}

/// CAL-ERR-2: silence is noticed, and ends the child's whole group.
#[test]
fn a_silent_child_is_ended_after_its_quiet_time() {
    let mut launch = shell("echo hello; sleep 6000");
    let output = with_time_enough(|patience| {
        launch.limits.quiet = Some(patience);
        let run = run_shell(&launch);
        assert_eq!(run.ending, Ending::Quiet);
        Some(run.output).filter(|output| !output.is_empty())
    });
    assert_eq!(output, b"hello\n");
}

#[test]
fn output_counts_as_life_until_the_total_deadline() {
    let mut launch = shell("while :; do echo tick; sleep 0.02; done");
    launch.limits.total = Some(Duration::from_millis(200));
    assert_eq!(run_shell(&launch).ending, Ending::Deadline);
}

#[test]
fn a_grandchild_that_keeps_the_pipe_open_causes_no_delay() {
    let launch = shell("setsid sleep 6000 & echo $!");
    let run = run_shell(&launch);
    assert_eq!(run.ending, Ending::Exited(0));
    assert!(run.elapsed < LONG);
    let pid: i32 = String::from_utf8_lossy(&run.output).trim().parse().unwrap();
    let _ = kill_process(Pid::from_raw(pid).unwrap(), Signal::KILL);
}

#[test]
fn more_output_than_allowed_ends_the_child() {
    let mut launch = shell("yes");
    launch.limits.output_bytes = 4096;
    let run = run_shell(&launch);
    assert_eq!(run.ending, Ending::TooMuchOutput);
    assert_eq!(run.output.len(), 4096);
}

/// CAL-ERR-2: noise on standard error is life, but not a way around the deadline.
#[test]
fn a_child_that_never_stops_complaining_meets_its_deadline() {
    let mut launch = shell("yes b >&2 & yes c >&2 & yes d >&2 & yes a >&2");
    with_time_enough(|patience| {
        launch.limits.total = Some(patience);
        let cancel = Cancel::new().unwrap();
        let mut lines = 0;
        let run = run(&launch, &cancel, &mut |_, bytes| {
            lines += String::from_utf8_lossy(bytes).lines().count();
        });
        assert_eq!(run.unwrap().ending, Ending::Deadline);
        (lines > 0).then_some(())
    });
}

#[test]
fn a_script_without_its_interpreter_and_a_missing_folder_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("script");
    crate::Disk::real()
        .replace(&script, b"#!/no/such/interpreter\n", 0o755)
        .unwrap();
    let mut launch = shell("");
    launch.program = script;
    let cancel = Cancel::new().unwrap();
    let error = run(&launch, &cancel, &mut |_, _| {}).unwrap_err();
    assert!(matches!(error, SpawnError::NoInterpreter { .. }), "{error}");
    launch.folder = folder.path().join("missing");
    let error = run(&launch, &cancel, &mut |_, _| {}).unwrap_err();
    assert!(matches!(error, SpawnError::NoFolder { .. }), "{error}");
}

#[test]
fn cancelling_ends_a_running_child() {
    let cancel = Cancel::new().unwrap();
    let asked = cancel.clone();
    let launch = shell("echo started; sleep 600");
    let run = run(&launch, &cancel, &mut |_, _| asked.cancel()).unwrap();
    assert_eq!(run.ending, Ending::Cancelled);
}

#[test]
fn a_missing_program_is_named() {
    let mut launch = shell("");
    launch.program = PathBuf::from("/no/such/program");
    let error = run(&launch, &Cancel::new().unwrap(), &mut |_, _| {}).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the program `/no/such/program` was not found"
    );
}

/// CAL-ERR-2: a program that the child waits for counts as alive as long as it runs. Programs that
/// the child started before, or never reported, are no excuse.
#[cfg(target_os = "linux")]
#[test]
fn a_program_that_is_waited_for_is_life() {
    let ended = |script: &str, waits: bool| {
        let mut launch = shell(script);
        launch.limits.quiet = Some(Duration::from_millis(700));
        let pulse = Heartbeat::default();
        let cancel = Cancel::new().unwrap();
        let run = run_with(&launch, &cancel, &pulse, &mut |_, bytes| {
            if bytes.starts_with(b"a tool") {
                pulse.waits_since(waits.then(std::time::Instant::now));
            } else {
                pulse.waits_since(None);
            }
        });
        run.unwrap().ending
    };
    let long = "sleep 0.5; echo; sleep 0.5; echo a tool; sleep 3; echo done";
    assert_eq!(ended(long, true), Ending::Exited(0));
    assert_eq!(ended(long, false), Ending::Quiet);
    let helper = "sleep 30 & sleep 0.5; echo; sleep 0.5; echo a tool; exec sleep 30";
    assert_eq!(ended(helper, true), Ending::Quiet);
    let over = "sleep 0.5; echo; sleep 0.5; echo a tool; sleep 1; exec sleep 30";
    assert_eq!(ended(over, true), Ending::Quiet);
}

/// CAL-ERR-2: bytes over a connection are a sign of life, also for a silent child.
#[cfg(target_os = "linux")]
#[test]
fn what_comes_to_a_silent_child_is_life() {
    use std::io::Write as _;

    let ended = |begins: &str, bytes: usize| {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let script =
            format!("{begins} bash -c 'exec 3<>/dev/tcp/127.0.0.1/{port}; cat <&3' >/dev/null");
        let mut launch = shell(&script);
        launch.limits.quiet = Some(Duration::from_millis(700));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let (mut far, _) = listener.accept().unwrap();
                for _ in 0..bytes {
                    far.write_all(b"x").unwrap();
                    std::thread::sleep(Duration::from_millis(300));
                }
                // A silent connection stays open until the child is gone.
                if bytes == 0 {
                    std::io::Read::read(&mut far, &mut [0]).unwrap_or_default();
                }
            });
            let ending = run_shell(&launch).ending;
            // If the child never came, this thread stops waiting for it.
            drop(std::net::TcpStream::connect(("127.0.0.1", port)));
            ending
        })
    };
    for begins in ["echo begun;", ""] {
        assert_eq!(ended(begins, 0), Ending::Quiet);
        if tcp_activity::tells() {
            assert_eq!(ended(begins, 6), Ending::Exited(0), "{begins}");
        }
    }
}
