//! Decisions of a person on a call: when they count, and how they differ from a capability's
//! answers.

use std::collections::BTreeSet;

use super::machine::{ENDLESS, Machine};
use crate::run::*;

/// CCOS-GOV-1: a record that a person approved a call is not enough: they did so where the run is carried on.
#[test]
fn an_approval_counts_where_it_was_given() {
    let machine = Machine::new("(call :work.adds 1)", true, 1);
    machine.process(ENDLESS).unwrap();
    let key = machine.state().unwrap().calls()[0].intended.key;
    let mut records = machine.records.lock().unwrap();
    let ruled = |record: &RunRecord| matches!(record, RunRecord::Ruled(_));
    let at = records.iter().position(ruled).unwrap();
    records.truncate(at + 1);
    if let RunRecord::Ruled(ruled) = &mut records[at] {
        ruled.ruling = RulingWord::Asked;
    }
    records.push(RunRecord::Decided(Decided {
        key,
        decision: DecisionWord::Approved,
        value: None,
    }));
    drop(records);
    let state = machine.state().unwrap();
    let approved = |grant: &Grant| {
        standing(&state, grant, BTreeSet::new(), &[], key)
            .decisions
            .len()
    };
    assert_eq!(approved(&Grant::default()), 0);
    let here = Grant {
        approved: BTreeSet::from([key]),
        ..Grant::default()
    };
    assert_eq!(approved(&here), 1);
}

/// CCOS-CHN-1: the chain distinguishes a person's statement from a capability's answer.
#[test]
fn an_answer_of_a_person_differs_from_one_that_was_made() {
    let mut words = Vec::new();
    for kill in 0..12 {
        let machine = Machine::new("(call :work.adds 1)", false, 1);
        drop(machine.process(kill));
        let was_done = !machine.effects().is_empty();
        let is_by_person = match machine.process(ENDLESS).unwrap() {
            RunEnd::Paused(keys) => {
                machine.settle(keys[0]);
                machine.process(ENDLESS).unwrap();
                was_done
            }
            _ => false,
        };
        let tree = tree_of(&machine.state().unwrap(), &[], false);
        let mut answers = tree.children[0].children.iter();
        let answer = answers.find(|node| node.kind == ActionKind::Answer);
        let answer = answer.or_else(|| tree.children[1].children.last()).unwrap();
        words.push(answer.standing.clone());
        assert_eq!(
            answer.standing,
            if is_by_person { "said" } else { "made" },
            "{kill}"
        );
    }
    assert!(words.contains(&"said".to_owned()), "{words:?}");
}
