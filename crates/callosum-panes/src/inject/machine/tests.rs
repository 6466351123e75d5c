//! Tests of the state machine, one observation after the other.

use super::*;
use crate::inject::{Options, prepare};

fn machine(options: Options) -> Machine {
    Machine::new(Injection {
        text: prepare("Fix the parser").unwrap(),
        options,
    })
}

fn seen(millis: u64, state: State, draft: Option<&str>, mentions: usize) -> Observation {
    Observation {
        elapsed: Duration::from_millis(millis),
        is_client_there: true,
        is_in_mode: false,
        is_input_off: false,
        view: Some(View {
            state,
            detail: None,
            draft: draft.map(str::to_owned),
            mentions,
            markers: 0,
        }),
    }
}

/// Returns a machine that has pasted at 100 ms.
fn pasted() -> Machine {
    let mut machine = machine(Options::default());
    assert_eq!(
        machine.next(&seen(0, State::TrulyIdle, Some(""), 0)),
        Action::Wait
    );
    assert_eq!(
        machine.next(&seen(50, State::TrulyIdle, Some(""), 0)),
        Action::Paste
    );
    machine.pasted(Duration::from_millis(100));
    machine
}

/// Returns a machine that has pressed Enter at 300 ms.
fn entered() -> Machine {
    let mut machine = pasted();
    let text = Some("Fix the parser");
    assert_eq!(
        machine.next(&seen(150, State::TrulyIdle, text, 0)),
        Action::Wait
    );
    assert_eq!(
        machine.next(&seen(200, State::TrulyIdle, text, 0)),
        Action::PressEnter
    );
    machine.entered(Duration::from_millis(300));
    machine
}

#[test]
fn a_submission_needs_two_looks_that_prove_it() {
    let mut machine = entered();
    let proof = seen(400, State::Working, Some(""), 0);
    assert_eq!(machine.next(&proof), Action::Wait);
    assert_eq!(machine.next(&proof), Action::Done(Outcome::Submitted));
    let phases: Vec<Phase> = machine.steps().iter().map(|step| step.phase).collect();
    assert_eq!(
        phases,
        [
            Phase::Accepted,
            Phase::Queued,
            Phase::Written,
            Phase::Submitted
        ]
    );
}

#[test]
fn a_dialog_after_the_paste_ends_it_before_enter() {
    let mut machine = pasted();
    let Action::Done(outcome) = machine.next(&seen(200, State::BlockedOnApproval, None, 0)) else {
        panic!("not an end");
    };
    let reason = Reason::Dialog { detail: None };
    assert_eq!(
        outcome,
        Outcome::Refused {
            reason,
            text_left: true
        }
    );
}

#[test]
fn a_lost_enter_is_repeated_three_times_and_then_unconfirmed() {
    let mut machine = entered();
    let mut now = 300;
    for _ in 0..10_000 {
        now += 50;
        match machine.next(&seen(now, State::TrulyIdle, Some("Fix the parser"), 0)) {
            Action::PressEnter => machine.entered(Duration::from_millis(now)),
            Action::Wait => {}
            Action::Done(outcome) => {
                assert!(matches!(
                    outcome,
                    Outcome::Unconfirmed {
                        text_left: true,
                        ..
                    }
                ));
                assert_eq!(machine.enters(), 3);
                return;
            }
            other => panic!("{other:?}"),
        }
    }
    panic!("no end");
}

#[test]
fn a_dialog_after_enter_gets_no_key() {
    let mut machine = entered();
    for now in (350..15_000).step_by(50) {
        let action = machine.next(&seen(now, State::BlockedOnApproval, None, 0));
        assert_eq!(action, Action::Wait);
    }
    let end = machine.next(&seen(15_000, State::BlockedOnApproval, None, 0));
    assert!(
        matches!(end, Action::Done(Outcome::Unconfirmed { .. })),
        "{end:?}"
    );
}

#[test]
fn nothing_is_typed_where_it_would_do_harm() {
    let cases = [
        seen(0, State::BlockedOnApproval, None, 0),
        seen(0, State::Unknown, None, 0),
        seen(0, State::Working, Some(""), 0),
        seen(0, State::TrulyIdle, Some("Half a thought"), 0),
        seen(0, State::UsageLimited, Some(""), 0),
        Observation {
            is_in_mode: true,
            ..seen(0, State::TrulyIdle, Some(""), 0)
        },
        Observation {
            is_input_off: true,
            ..seen(0, State::TrulyIdle, Some(""), 0)
        },
        Observation {
            is_client_there: false,
            ..seen(0, State::TrulyIdle, Some(""), 0)
        },
        Observation {
            view: None,
            ..seen(0, State::TrulyIdle, Some(""), 0)
        },
    ];
    for case in cases {
        let mut machine = machine(Options::default());
        let mut action = Action::Wait;
        for now in (0..1_000).step_by(50) {
            let elapsed = Duration::from_millis(now);
            action = machine.next(&Observation {
                elapsed,
                ..case.clone()
            });
            if action != Action::Wait {
                break;
            }
        }
        let is_refused = matches!(
            action,
            Action::Done(Outcome::Refused {
                text_left: false,
                ..
            })
        );
        assert!(is_refused, "{case:?}: {action:?}");
    }
}
