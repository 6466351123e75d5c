//! The tier with the real clients: pinned versions of the coding agents themselves, in a clean
//! home, without a network, against a model server of our own.
//!
//! ```text
//! cargo test -p callosum --features real-clients --test real-clients [-- CLIENT… CASE…]
//! ```
//!
//! It has no harness but [`main`], for two reasons: what cannot be installed is skipped and counted,
//! which the usual harness cannot say; and everything but installing runs in a network namespace
//! that has loopback only, for which the program starts itself once more. What is deliberately not
//! here: how a client's output is read, which recorded outputs show faster.

#![expect(
    clippy::disallowed_methods,
    reason = "a test starts npm and itself in the developer's own environment"
)]
#![expect(clippy::unwrap_used, reason = "what a test cannot unwrap has failed")]
#![expect(clippy::print_stdout, reason = "this program is its own test harness")]

/// What is tried with each client.
mod cases;
/// The clients: versions, how they are pointed at a server, how they are asked.
mod client;
mod conflicts;
/// Tasks that are handed to them.
mod delegations;
/// What goes wrong at a model's server.
mod faults;
/// Goals that they plan and vote on.
mod goals;
/// The guard in front of their tools.
mod guarding;
/// Installing them, once, under `target/`.
mod install;
/// One text with instructions for all of them.
mod instructions;
mod interventions;
/// A client among others.
mod neighbours;
/// A client in a tmux pane.
mod panes;
/// A session of a client, and the next one.
mod sessions;
/// Where all of it takes place.
mod stage;

use std::{
    panic,
    path::Path,
    process::{Command, ExitCode},
    sync::Mutex,
    thread,
    time::Instant,
};

use crate::{cases::Case, client::Client, install::Installed};

/// The argument with which the program starts itself without a network.
const INSIDE: &str = "--inside";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let wanted: Vec<&str> = arguments
        .iter()
        .filter(|argument| !argument.starts_with('-'))
        .map(String::as_str)
        .collect();
    let clients: Vec<&Client> = client::ALL
        .iter()
        .filter(|client| names_none_of(&wanted, |name| name == client.name, is_client))
        .collect();
    let cases: Vec<&Case> = cases::ALL
        .iter()
        .filter(|(case, _)| {
            names_none_of(&wanted, |name| case.contains(name), |name| !is_client(name))
        })
        .collect();
    let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("real-clients");
    if arguments.iter().any(|argument| argument == "--list") {
        return ExitCode::SUCCESS;
    }
    if arguments.first().is_none_or(|first| first != INSIDE) {
        for client in &clients {
            if let Err(reason) = install::install(client, &cache) {
                println!("{}: cannot be installed: {reason}", client.name);
            }
        }
        if let Some(code) = without_network(&wanted) {
            return code;
        }
        println!("no network namespace can be made here; the clients run with the network");
    }
    let all = run_all(&clients, &cases, &cache);
    println!("\ntest result: {all}");
    if all.failed == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

fn is_client(name: &str) -> bool {
    client::ALL.iter().any(|client| client.name == name)
}

/// Whether something is among the words, or no word is of its kind.
fn names_none_of(
    words: &[&str],
    means: impl Fn(&str) -> bool,
    is_of_kind: impl Fn(&str) -> bool,
) -> bool {
    let mut of_kind = words.iter().filter(|word| is_of_kind(word)).peekable();
    of_kind.peek().is_none() || of_kind.any(|word| means(word))
}

/// Starts this program once more where only loopback is up; `None` where that cannot be done.
fn without_network(wanted: &[&str]) -> Option<ExitCode> {
    let itself = std::env::current_exe().ok()?;
    // What root may do, and what anybody may where user namespaces are allowed.
    let apart = [&["--net"][..], &["--net", "--map-root-user"]]
        .into_iter()
        .find(|options| {
            let loopback = shell_apart(options, "ip link set lo up").output();
            loopback.is_ok_and(|output| output.status.success())
        })?;
    let status = shell_apart(apart, "ip link set lo up && exec \"$0\" \"$@\"")
        .args([itself.as_os_str(), INSIDE.as_ref()])
        .args(wanted)
        .status()
        .ok()?;
    Some(if status.success() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

fn shell_apart(options: &[&str], script: &str) -> Command {
    let mut unshare = Command::new("unshare");
    unshare.args(options).args(["sh", "-c", script]);
    unshare
}

/// How many went how.
#[derive(Default)]
struct Tally {
    passed: usize,
    failed: usize,
    skipped: usize,
}

impl std::ops::AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped += other.skipped;
    }
}

impl std::fmt::Display for Tally {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self {
            passed,
            failed,
            skipped,
        } = self;
        let word = if *failed == 0 { "ok" } else { "FAILED" };
        write!(
            f,
            "{word}. {passed} passed; {failed} failed; {skipped} skipped"
        )
    }
}

/// Tries all clients, as many at a time as there are processors.
fn run_all(clients: &[&Client], cases: &[&Case], cache: &Path) -> Tally {
    let at_a_time = thread::available_parallelism().map_or(1, usize::from);
    let waiting = Mutex::new(clients.iter());
    let next = || waiting.lock().unwrap().next();
    thread::scope(|scope| {
        let workers: Vec<_> = (0..at_a_time)
            .map(|_| {
                scope.spawn(|| {
                    let mut tally = Tally::default();
                    while let Some(client) = next() {
                        tally += run_client(client, cases, cache);
                    }
                    tally
                })
            })
            .collect();
        let mut all = Tally::default();
        for worker in workers {
            all += worker.join().unwrap();
        }
        all
    })
}

fn run_client(client: &Client, cases: &[&Case], cache: &Path) -> Tally {
    let mut tally = Tally::default();
    let installed = match Installed::find(client, cache) {
        Ok(installed) => installed,
        Err(reason) => {
            for (case, _) in cases {
                println!("test {}::{case} ... skipped, {reason}", client.name);
                tally.skipped += 1;
            }
            return tally;
        }
    };
    for (case, run) in cases {
        let begun = Instant::now();
        let ended = panic::catch_unwind(|| run(client, &installed));
        let seconds = begun.elapsed().as_secs_f64();
        // What went wrong stands above, where the panic said it.
        let word = if ended.is_ok() {
            tally.passed += 1;
            "ok"
        } else {
            tally.failed += 1;
            "FAILED"
        };
        println!("test {}::{case} ... {word} ({seconds:.1} s)", client.name);
    }
    tally
}
