//! Runs that are killed anywhere and gone on with come to what they come to undisturbed.

use proptest::prelude::*;

use super::machine::{ENDLESS, Machine};
use crate::run::RunEnd;

/// Expressions that come to integers, and call on the way.
fn expressions(with_failures: bool) -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        (0..50_i64).prop_map(|number| number.to_string()),
        (0..50_i64).prop_map(|number| format!("(call :work.adds {number})")),
    ];
    leaf.prop_recursive(4, 24, 3, move |inner| {
        let pair = (inner.clone(), inner.clone());
        let caught = if with_failures {
            "work.fails"
        } else {
            "work.adds"
        };
        let flaky = if with_failures {
            "work.flaky"
        } else {
            "work.adds"
        };
        prop_oneof![
            inner
                .clone()
                .prop_map(|one| format!("(call :work.adds {one})")),
            pair.clone()
                .prop_map(|(one, other)| format!("(+ {one} {other})")),
            pair.clone()
                .prop_map(|(one, other)| format!("(let [x {one}] (+ x {other}))")),
            pair.clone()
                .prop_map(|(one, other)| format!("(reduce + 0 (step-parallel {one} {other}))")),
            inner.clone().prop_map(|one| format!(
                "(reduce + 0 (map (fn [x] (call :work.adds (+ x {one}))) [1 2]))"
            )),
            pair.clone().prop_map(move |(one, other)| format!(
                "(try (call :{caught} {one}) (catch e {other}))"
            )),
            inner.clone().prop_map(move |one| format!(
                "(step :again {{:retries {{:max 1}}}} (+ 0 (call :{flaky} {one})))"
            )),
            pair.prop_map(|(one, other)| format!("(if (even? {one}) {other} (call :work.adds 1))")),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    /// CCOS-RTFS-2: for capabilities that answer by key, a run that is killed anywhere, and its
    /// continuation killed too, comes to the same value, with the same effects in the same order, each
    /// once.
    #[test]
    fn a_killed_run_comes_to_the_same(
        source in expressions(true),
        kills in prop::collection::vec(0..60_usize, 1..4),
    ) {
        let undisturbed = Machine::new(&source, true, 1);
        let expected = undisturbed.process(ENDLESS).unwrap();
        let machine = Machine::new(&source, true, 1);
        for steps in kills {
            drop(machine.process(steps));
        }
        let end = machine.process(ENDLESS).unwrap();
        prop_assert_eq!(plain(&end), plain(&expected));
        prop_assert_eq!(machine.effects(), undisturbed.effects());
    }

    /// CCOS-RTFS-2: the same where branches run at once, but for the order among them.
    #[test]
    fn a_killed_run_with_branches_at_once_comes_to_the_same(
        source in expressions(true),
        kill in 0..60_usize,
    ) {
        let undisturbed = Machine::new(&source, true, 3);
        let expected = undisturbed.process(ENDLESS).unwrap();
        let machine = Machine::new(&source, true, 3);
        drop(machine.process(kill));
        let end = machine.process(ENDLESS).unwrap();
        prop_assert_eq!(plain(&end), plain(&expected));
        prop_assert_eq!(sorted(machine.effects()), sorted(undisturbed.effects()));
    }

    /// CCOS-RTFS-2: where capabilities do not answer by key, a call whose outcome is not known stops
    /// the run at a person, and nothing is done twice.
    #[test]
    fn a_call_of_unknown_outcome_is_a_persons(
        source in expressions(false),
        kill in 0..60_usize,
    ) {
        let undisturbed = Machine::new(&source, false, 1);
        let expected = undisturbed.process(ENDLESS).unwrap();
        let machine = Machine::new(&source, false, 1);
        drop(machine.process(kill));
        let mut end = machine.process(ENDLESS).unwrap();
        if let RunEnd::Paused(keys) = &end {
            prop_assert_eq!(keys.len(), 1);
            machine.settle(keys[0]);
            end = machine.process(ENDLESS).unwrap();
        }
        prop_assert_eq!(plain(&end), plain(&expected));
        // Other branches go on while one waits.
        prop_assert_eq!(sorted(machine.effects()), sorted(undisturbed.effects()));
    }
}

fn sorted(mut effects: Vec<String>) -> Vec<String> {
    effects.sort();
    effects
}

/// An end without the places of failures, which a run that is over does not keep.
fn plain(end: &RunEnd) -> String {
    match end {
        RunEnd::Completed(value) => value.to_string(),
        RunEnd::Failed(failure) => failure.to_string(),
        other => format!("{other:?}"),
    }
}
