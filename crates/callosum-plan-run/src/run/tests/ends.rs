//! Ends of a run that is neither killed nor bounded: revoked, diverged, or with what can't be kept.

use std::sync::Mutex;

use callosum_plan::FailureKind;

use super::machine::{Book, ENDLESS, Life, Machine};
use crate::run::*;

/// CCOS-GOV-1: what is revoked while a run is under way is not called from then on.
#[test]
fn a_revocation_reaches_a_run_that_is_under_way() {
    let source = "(map (fn [n] (call :work.adds n)) [1 2 3])";
    let machine = Machine {
        revoked_after: 2,
        ..Machine::new(source, true, 1)
    };
    let RunEnd::Failed(failure) = machine.process(ENDLESS).unwrap() else {
        panic!("it went on");
    };
    assert_eq!(failure.kind, FailureKind::SecurityViolation);
    assert_eq!(machine.effects(), ["work.adds 1", "work.adds 2"]);
}

/// CCOS-RTFS-2: a value that is nested deeper than is kept ends a run as one that is too large does.
#[test]
fn a_value_that_can_not_be_kept_is_the_plans_own_failure() {
    let deep = Machine::new("(reduce (fn [a _] [a]) [] (range 200))", true, 1);
    let RunEnd::Failed(failure) = deep.process(ENDLESS).unwrap() else {
        panic!("it was kept");
    };
    assert_eq!(failure.kind, FailureKind::BudgetExhausted);
    let start = "the program's value is nested deeper than 128";
    assert!(failure.message.starts_with(start), "{}", failure.message);
}

/// CCOS-RTFS-2: if a plan does not do what it did when its answers were recorded, the error shows
/// both sides.
#[test]
fn a_plan_that_changed_is_a_divergence_with_both_sides() {
    let machine = Machine::new("(+ (call :work.adds 1) (call :work.adds 2))", true, 1);
    machine.process(ENDLESS).unwrap();
    machine
        .records
        .lock()
        .unwrap()
        .retain(|record| !matches!(record, RunRecord::Ended(_)));
    let changed = Machine {
        source: "(+ (call :work.adds 1) (call :work.adds 3))".to_owned(),
        records: Mutex::new(machine.records.lock().unwrap().clone()),
        ..Machine::new("1", true, 1)
    };
    let error = changed.process(ENDLESS).unwrap_err().to_string();
    assert!(
        error.contains("call 1") && error.contains("[2]") && error.contains("[3]"),
        "{error}"
    );
    assert!(changed.effects().is_empty());
}

/// CCOS-RTFS-2: no record of a run holds a secret: a plan that has one is refused before there is any.
#[test]
fn a_source_with_a_secret_is_refused_before_anything_is_recorded() {
    let secret = format!("ghp_{}", "a1B2".repeat(9));
    let machine = Machine::new(&format!("\"{secret}\""), true, 1);
    let book = Book {
        life: Life::of(ENDLESS),
        synced: &machine.records,
        waiting: Mutex::default(),
    };
    let refused = machine.begin(&book).unwrap_err().to_string();
    assert!(
        refused.contains("the plan") && !refused.contains(&secret),
        "{refused}"
    );
    assert!(machine.records.lock().unwrap().is_empty());
}
