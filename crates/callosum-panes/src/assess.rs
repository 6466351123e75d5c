//! [`assess`]: the state of an agent from everything that is known about it.
//!
//! A pure function. Signals are believed in the order of [`Signal`], with two exceptions that experience asks for:
//! what is drawn on the screen right now (a dialog, an error) is a fact that no earlier event can deny, and an event is
//! no longer believed once the screen has changed to something else after it. Clients run no hook when a person
//! interrupts them or rejects a permission.

use jiff::{SignedDuration, Timestamp};

use crate::{
    rule::Judgment,
    state::{Assessment, Considered, Evidence, Signal, State},
};

/// Time for which the end of a turn is news. After that the agent is idle.
pub const COMPLETE: SignedDuration = SignedDuration::from_secs(60);

/// Time after an event for which the screen may still show the old state. Clients draw within a few
/// hundred milliseconds.
const REDRAW: SignedDuration = SignedDuration::from_secs(1);

/// Facts about one agent.
#[derive(Clone, Debug)]
pub struct Facts<'a> {
    /// Now.
    pub now: Timestamp,
    /// Whether the client runs.
    pub process: ProcessFact,
    /// The last event that a hook of ours saw.
    pub hook: Option<Event<'a>>,
    /// State in the client's own file.
    pub registry: Option<Event<'a>>,
    /// Judgment of the rules on title and screen.
    pub screen: ScreenFact,
}

/// Whether a client runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProcessFact {
    /// It runs.
    Running,
    /// It has ended; the text says how that is known.
    Ended(String),
}

/// A state that a hook or the client reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event<'a> {
    /// The event, such as `Stop`.
    pub name: &'a str,
    /// The state that follows from it.
    pub state: State,
    /// When it happened.
    pub at: Timestamp,
}

/// Reading of the screen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScreenFact {
    /// It cannot be read; the text says why.
    None(String),
    /// It was read.
    Read {
        /// Judgment of the first matching rule, if one matches.
        judgment: Option<Judgment>,
        /// Time since which the rules have given this judgment.
        since: Timestamp,
        /// Every rule that was tried.
        considered: Vec<Considered>,
    },
}

/// Returns what the agent is doing, with the evidence and everything that was considered.
pub fn assess(facts: Facts<'_>) -> Assessment {
    if let ProcessFact::Ended(how) = &facts.process {
        let evidence = Evidence {
            signal: Signal::Process,
            rule: "process.ended".to_owned(),
            text: how.clone(),
        };
        return Assessment {
            evidence: vec![evidence],
            ..Assessment::new(State::SessionEnded)
        };
    }
    let (judgment, since, mut considered, unknown) = match facts.screen {
        ScreenFact::None(why) => (None, None, Vec::new(), why),
        ScreenFact::Read {
            judgment,
            since,
            considered,
        } => (
            judgment,
            Some(since),
            considered,
            "no rule matches this screen".to_owned(),
        ),
    };
    let judgment = judgment.as_ref();
    let events = [
        (Signal::Hook, facts.hook.as_ref()),
        (Signal::Registry, facts.registry.as_ref()),
    ];
    let mut believed = None;
    for (signal, event) in events {
        let Some(event) = event else { continue };
        let doubt = doubt(event, judgment, since, facts.now);
        considered.push(Considered {
            signal,
            rule: event.name.to_owned(),
            state: doubt.is_none().then_some(event.state),
            because: doubt.unwrap_or_default(),
        });
        if considered.last().is_none_or(|one| one.state.is_none()) {
            continue;
        }
        // The two are of one rank, so the newer counts. Both report the end of a turn, and the hook's word says more.
        let is_better = believed.is_none_or(|(_, known): (Signal, &Event<'_>)| {
            event.at > known.at && !(known.state.takes_prompt() && event.state.takes_prompt())
        });
        if is_better {
            believed = Some((signal, event));
        }
    }
    let mut assessment = match (believed, judgment) {
        (Some((signal, event)), judgment) => {
            let agrees = judgment.filter(|judgment| judgment.state == event.state);
            let own = Evidence {
                signal,
                rule: event.name.to_owned(),
                text: format!("at {}", event.at),
            };
            Assessment {
                detail: agrees.and_then(|judgment| judgment.detail.clone()),
                evidence: std::iter::once(own)
                    .chain(agrees.map(|judgment| judgment.evidence.clone()))
                    .collect(),
                ..Assessment::new(settled(event.state, event.at, facts.now))
            }
        }
        (None, Some(judgment)) => Assessment {
            detail: judgment.detail.clone(),
            resets: judgment.resets.clone(),
            evidence: vec![judgment.evidence.clone()],
            ..Assessment::new(settled(
                judgment.state,
                since.unwrap_or(facts.now),
                facts.now,
            ))
        },
        (None, None) => Assessment::unknown(unknown),
    };
    if assessment.state == State::TrulyIdle && considered.iter().any(is_complete) {
        assessment.evidence.push(Evidence {
            signal: Signal::Clock,
            rule: "clock.complete".to_owned(),
            text: format!("the turn ended more than {} s ago", COMPLETE.as_secs()),
        });
    }
    assessment.considered = considered;
    assessment
}

fn is_complete(considered: &Considered) -> bool {
    considered.state == Some(State::TaskComplete)
}

/// Returns why an event is not believed, or `None` if it is.
fn doubt(
    event: &Event<'_>,
    judgment: Option<&Judgment>,
    since: Option<Timestamp>,
    now: Timestamp,
) -> Option<String> {
    if event.at > now + REDRAW {
        return Some("its time is in the future".to_owned());
    }
    if event.state == State::SessionEnded {
        // `/clear` and `/new` end a session, and the client goes on.
        return Some("the client still runs".to_owned());
    }
    let (Some(judgment), Some(since)) = (judgment, since) else {
        return None;
    };
    if judgment.state == event.state {
        return None;
    }
    let shows = |what: &str| Some(format!("the screen {what} ({})", judgment.evidence.rule));
    match judgment.state {
        State::BlockedOnApproval => shows("shows a dialog"),
        State::UsageLimited | State::StuckOnError | State::ContextExhausted => (since + REDRAW
            >= event.at)
            .then(|| shows("shows an error"))
            .flatten(),
        // Work after a turn's end is background work, or the next turn.
        State::Working if event.state.takes_prompt() => shows("shows work"),
        // No hook reports that a person has answered, or that another hook did.
        _ if event.state == State::BlockedOnApproval && now > event.at + REDRAW => {
            shows("shows no dialog")
        }
        _ if since > event.at + REDRAW => shows("has changed since"),
        _ => None,
    }
}

/// Returns idle for a turn whose end is old.
fn settled(state: State, since: Timestamp, now: Timestamp) -> State {
    let is_old = now.duration_since(since) >= COMPLETE;
    if state == State::TaskComplete && is_old {
        State::TrulyIdle
    } else {
        state
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_second(1_000_000 + seconds).unwrap()
    }

    fn event(name: &str, state: State, seconds: i64) -> Event<'_> {
        Event {
            name,
            state,
            at: at(seconds),
        }
    }

    fn shows(state: State, since: i64) -> ScreenFact {
        ScreenFact::Read {
            judgment: Some(Judgment {
                state,
                detail: None,
                resets: None,
                evidence: Evidence {
                    signal: Signal::Screen,
                    rule: "rule".to_owned(),
                    text: String::new(),
                },
            }),
            since: at(since),
            considered: Vec::new(),
        }
    }

    fn facts<'a>(hook: impl Into<Option<Event<'a>>>, screen: ScreenFact) -> Facts<'a> {
        Facts {
            now: at(100),
            process: ProcessFact::Running,
            hook: hook.into(),
            registry: None,
            screen,
        }
    }

    fn state<'a>(hook: impl Into<Option<Event<'a>>>, screen: ScreenFact) -> State {
        assess(facts(hook, screen)).state
    }

    #[test]
    fn a_hook_comes_before_a_screen_that_has_not_been_drawn_again() {
        let working = event("UserPromptSubmit", State::Working, 99);
        assert_eq!(state(working, shows(State::TrulyIdle, 40)), State::Working);
        let stop = event("Stop", State::TaskComplete, 99);
        assert_eq!(
            state(stop, shows(State::TrulyIdle, 99)),
            State::TaskComplete
        );
    }

    #[test]
    fn a_turn_that_a_person_interrupted_ends_though_no_hook_ran() {
        let working = event("PreToolUse", State::Working, 90);
        let found = assess(facts(working, shows(State::TaskComplete, 95)));
        assert_eq!(found.state, State::TaskComplete);
        assert_eq!(
            found.considered.last().unwrap().state,
            None,
            "{:?}",
            found.considered
        );
    }

    #[test]
    fn a_reported_dialog_that_the_screen_does_not_show_is_over() {
        let asked = |seconds| event("PermissionRequest", State::BlockedOnApproval, seconds);
        let works = || shows(State::Working, 10);
        assert_eq!(state(asked(100), works()), State::BlockedOnApproval);
        assert_eq!(state(asked(90), works()), State::Working);
        let unread = || ScreenFact::None("not in tmux".to_owned());
        assert_eq!(state(asked(90), unread()), State::BlockedOnApproval);
    }

    #[test]
    fn a_dialog_on_the_screen_is_a_fact() {
        let working = event("PreToolUse", State::Working, 100);
        assert_eq!(
            state(working, shows(State::BlockedOnApproval, 10)),
            State::BlockedOnApproval
        );
        let stop = event("Stop", State::TaskComplete, 99);
        assert_eq!(
            state(stop, shows(State::BlockedOnApproval, 99)),
            State::BlockedOnApproval
        );
    }

    #[test]
    fn an_approval_that_was_given_unblocks() {
        let blocked = event("PermissionRequest", State::BlockedOnApproval, 90);
        assert_eq!(state(blocked, shows(State::Working, 95)), State::Working);
        let new = event("PermissionRequest", State::BlockedOnApproval, 99);
        assert_eq!(
            state(new, shows(State::Working, 90)),
            State::BlockedOnApproval
        );
    }

    #[test]
    fn the_newer_of_hook_and_session_file_counts() {
        let none = ScreenFact::None("not in tmux".to_owned());
        let mut facts = facts(event("UserPromptSubmit", State::Working, 50), none);
        facts.registry = Some(event("waiting", State::BlockedOnApproval, 60));
        assert_eq!(assess(facts.clone()).state, State::BlockedOnApproval);
        facts.registry = Some(event("busy", State::Working, 40));
        facts.hook = Some(event("Stop", State::TaskComplete, 90));
        assert_eq!(assess(facts.clone()).state, State::TaskComplete);
        facts.registry = Some(event("idle", State::TrulyIdle, 91));
        assert_eq!(
            assess(facts.clone()).state,
            State::TaskComplete,
            "the hook's word says more"
        );
    }

    #[test]
    fn background_work_after_a_turn_is_work() {
        let stop = event("Stop", State::TaskComplete, 90);
        assert_eq!(state(stop, shows(State::Working, 80)), State::Working);
    }

    #[test]
    fn an_error_of_the_last_turn_does_not_deny_a_new_one() {
        let stop = event("Stop", State::TaskComplete, 90);
        assert_eq!(
            state(stop, shows(State::StuckOnError, 90)),
            State::StuckOnError
        );
        let next = event("UserPromptSubmit", State::Working, 99);
        assert_eq!(state(next, shows(State::StuckOnError, 50)), State::Working);
    }

    #[test]
    fn the_end_of_a_turn_is_news_for_a_minute() {
        assert_eq!(
            state(None, shows(State::TaskComplete, 41)),
            State::TaskComplete
        );
        assert_eq!(
            state(None, shows(State::TaskComplete, 40)),
            State::TrulyIdle
        );
        let stop = event("Stop", State::TaskComplete, 30);
        assert_eq!(
            state(stop, ScreenFact::None("no tmux".to_owned())),
            State::TrulyIdle
        );
    }

    #[test]
    fn without_a_signal_nothing_is_guessed() {
        let none = assess(facts(None, ScreenFact::None("not in tmux".to_owned())));
        assert_eq!(
            (none.state, none.detail.as_deref()),
            (State::Unknown, Some("not in tmux"))
        );
        let new = ScreenFact::Read {
            judgment: None,
            since: at(0),
            considered: Vec::new(),
        };
        let new = assess(facts(None, new));
        assert_eq!(new.detail.as_deref(), Some("no rule matches this screen"));
    }

    #[test]
    fn a_reset_clock_makes_no_event_true() {
        let future = event("Stop", State::TaskComplete, 5_000);
        assert_eq!(state(future, shows(State::Working, 90)), State::Working);
        let none = ScreenFact::None("no tmux".to_owned());
        assert_eq!(state(future, none), State::Unknown);
    }

    #[test]
    fn a_session_that_ended_with_its_process_is_over() {
        let end = event("SessionEnd", State::SessionEnded, 99);
        assert_eq!(state(end, shows(State::TrulyIdle, 50)), State::TrulyIdle);
        let mut gone = facts(end, shows(State::TrulyIdle, 50));
        gone.process = ProcessFact::Ended("process 7 has ended".to_owned());
        assert_eq!(assess(gone).state, State::SessionEnded);
    }

    proptest::proptest! {
        #[test]
        fn a_dialog_is_never_idle(hook in 0_usize..9, age in 0_i64..200, since in 0_i64..200) {
            let hook = event("any", State::ALL[hook], 100 - age);
            let found = state(hook, shows(State::BlockedOnApproval, 100 - since));
            proptest::prop_assert_eq!(found, State::BlockedOnApproval);
        }
    }
}
