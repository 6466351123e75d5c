//! Limits on a run's resources, over all its processes and all its branches.

use callosum_plan::FailureKind;

use super::machine::{ENDLESS, Machine};
use crate::{kernel::RunCaps, run::RunEnd};

/// CCOS-GOV-1: the caps that a run was begun with hold for each process that goes on with it:
/// nothing is called beyond them, no matter where the processes before were killed.
#[test]
fn caps_hold_for_all_processes_of_a_run() {
    for kill in 0..16 {
        let source = "(map (fn [n] (call :work.adds n)) [1 2 3 4])";
        let machine = Machine {
            caps: RunCaps {
                tokens: Some(15),
                ..RunCaps::default()
            },
            ..Machine::new(source, true, 1)
        };
        drop(machine.process(kill));
        let RunEnd::Failed(failure) = machine.process(ENDLESS).unwrap() else {
            panic!("killed after {kill} steps, it is not bounded");
        };
        assert_eq!(failure.kind, FailureKind::BudgetExhausted);
        assert_eq!(machine.effects(), ["work.adds 1", "work.adds 2"], "{kill}");
    }
}

/// CCOS-GOV-1: calls that are begun together do not pass a cap together: each waits until it is known what the
/// others used.
#[test]
fn calls_of_branches_do_not_pass_a_cap_together() {
    let source = "(step-parallel (call :work.adds 1) (call :work.adds 2) (call :work.adds 3))";
    for (caps, made) in [
        (RunCaps::default(), 3),
        (
            RunCaps {
                tokens: Some(15),
                ..RunCaps::default()
            },
            2,
        ),
        (
            RunCaps {
                yields: Some(1),
                ..RunCaps::default()
            },
            1,
        ),
    ] {
        let machine = Machine {
            caps,
            ..Machine::new(source, true, 8)
        };
        let is_bounded = matches!(
            machine.process(ENDLESS).unwrap(),
            RunEnd::Failed(failure) if failure.kind == FailureKind::BudgetExhausted
        );
        assert_eq!(machine.effects().len(), made, "{caps:?}");
        assert_eq!(is_bounded, made < 3, "{caps:?}");
    }
}

/// CCOS-GOV-1: time is that of all calls, also of those that are made at once, and a call that it ends fails as
/// nothing that a plan could catch, whether it was alone or not.
#[test]
fn calls_that_the_runs_time_ends_are_caught_by_nothing() {
    for source in [
        "(step-parallel (call :work.waits 1) (call :work.waits 2) (call :work.waits 3))",
        "(try (call :work.waits 1) (catch e :caught))",
    ] {
        let machine = Machine {
            caps: RunCaps {
                milliseconds: Some(400),
                ..RunCaps::default()
            },
            ..Machine::new(source, true, 8)
        };
        let RunEnd::Failed(failure) = machine.process(ENDLESS).unwrap() else {
            panic!("{source} is not bounded");
        };
        assert_eq!(failure.kind, FailureKind::BudgetExhausted);
        assert_eq!(failure.message, "the run's budget of time is used up");
        assert!(failure.hint.unwrap().contains("`--timeout`"));
    }
}

/// CCOS-GOV-1: a step's own time is the plan's, which may catch that it is over, under a cap, too.
#[test]
fn a_steps_own_time_is_caught_under_a_cap() {
    let source = "(try (step :s {:timeout-ms 50} (call :work.waits 1)) (catch :Timeout e :caught))";
    let machine = Machine {
        caps: RunCaps {
            milliseconds: Some(60_000),
            ..RunCaps::default()
        },
        ..Machine::new(source, true, 8)
    };
    let end = machine.process(ENDLESS).unwrap();
    assert!(matches!(end, RunEnd::Completed(_)), "{end:?}");
}
