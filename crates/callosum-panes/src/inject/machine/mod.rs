//! [`Machine`]: decides what to do next in an injection. Pure: it gets observations and returns actions.
//!
//! A caller looks, asks [`Machine::next`], does what it returns, and reports a paste or an Enter that was really sent
//! ([`Machine::pasted`], [`Machine::entered`]). An action that was not carried out is asked for again after the next
//! look, if the screen still allows it.

mod observation;
#[cfg(test)]
mod tests;

use std::time::Duration;

pub use self::observation::{Action, Observation, View};
use super::{Injection, Outcome, Phase, Reason, Step, sent, text::squash};
use crate::state::State;

/// Characters at the end of a text that must be visible if the composer scrolls.
const TAIL: usize = 40;

/// Content of the composer, as far as this injection is concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Content {
    /// It is not on the screen.
    Hidden,
    Empty,
    /// All of the text.
    Whole,
    /// A marker of a pasted text.
    Marker,
    /// The end of the text. The composer may have scrolled.
    Tail,
    /// A part of the text that may still grow.
    Part,
    Foreign,
}

impl Content {
    const fn is_ours(self) -> bool {
        matches!(self, Self::Whole | Self::Marker | Self::Tail)
    }
}

#[derive(Clone, Debug)]
enum Stage {
    /// Nothing was typed.
    Untouched,
    /// The text was pasted.
    Pasted { at: Duration },
    /// Enter was pressed.
    Entered { at: Duration },
    /// Ctrl-U is to be pressed, or was.
    Clearing {
        at: Option<Duration>,
        outcome: Outcome,
    },
}

/// An injection in progress.
#[derive(Clone, Debug)]
pub struct Machine {
    injection: Injection,
    stage: Stage,
    steps: Vec<Step>,
    enters: usize,
    /// The view before the first Enter.
    before: Option<View>,
    /// Since when the same obstacle has been seen without a break.
    obstacle: Option<(Reason, Duration)>,
    /// Number of looks in a row that allowed the next action, or proved the submission.
    agreeing: u32,
    /// Since when the end of the text has been all that is visible.
    tail_since: Option<Duration>,
    last: String,
}

/// Looks that must agree before anything is typed or believed. One alone may show a half-drawn screen.
const AGREEING: u32 = 2;

impl Machine {
    /// Returns the machine of an injection at its beginning.
    pub fn new(injection: Injection) -> Self {
        let bytes = injection.text.as_str().len();
        let mut machine = Self {
            injection,
            stage: Stage::Untouched,
            steps: Vec::new(),
            enters: 0,
            before: None,
            obstacle: None,
            agreeing: 0,
            tail_since: None,
            last: "nothing".to_owned(),
        };
        machine.note(Phase::Accepted, Duration::ZERO, &format!("{bytes} bytes"));
        machine
    }

    /// Returns the phases that were reached.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// Returns how many times Enter was pressed.
    pub const fn enters(&self) -> usize {
        self.enters
    }

    /// Whether the text was pasted.
    pub const fn has_pasted(&self) -> bool {
        !matches!(self.stage, Stage::Untouched)
    }

    /// Takes up that the text was pasted.
    pub fn pasted(&mut self, at: Duration) {
        self.stage = Stage::Pasted { at };
        self.agreeing = 0;
        self.obstacle = None;
    }

    /// Takes up that Enter was pressed.
    pub fn entered(&mut self, at: Duration) {
        self.stage = Stage::Entered { at };
        self.enters += 1;
        self.agreeing = 0;
        self.obstacle = None;
    }

    /// Takes up that Ctrl-U was pressed.
    pub fn cleared(&mut self, now: Duration) {
        if let Stage::Clearing { at, .. } = &mut self.stage {
            *at = Some(now);
        }
    }

    /// Returns what to do after a look.
    pub fn next(&mut self, seen: &Observation) -> Action {
        let content = self.content(seen);
        self.last = describe(seen, content);
        let action = match self.stage.clone() {
            Stage::Untouched => self.before_paste(seen, content),
            Stage::Pasted { at } => self.before_enter(seen, content, at),
            Stage::Entered { at } => self.after_enter(seen, content, at),
            Stage::Clearing { at, outcome } => self.clearing(seen, content, at, outcome),
        };
        match action {
            Action::Done(outcome) => self.finish(seen, content, outcome),
            // Also an action that could not be carried out again and again.
            _ if seen.elapsed >= self.injection.options.timing.total => {
                Action::Done(self.timeout(content))
            }
            other => other,
        }
    }

    /// Returns the end of an injection that cannot look any more.
    pub fn break_off(&self, why: &str) -> Outcome {
        match self.stage {
            Stage::Untouched => Outcome::Refused {
                reason: Reason::Unreadable,
                text_left: false,
            },
            _ => Outcome::Unconfirmed {
                seen: why.to_owned(),
                text_left: true,
            },
        }
    }

    fn before_paste(&mut self, seen: &Observation, content: Content) -> Action {
        let options = &self.injection.options;
        if let Some(sign) = self.injection.text.command().filter(|_| !options.commands) {
            return refuse(Reason::Command { sign }, false);
        }
        let obstacle = self
            .obstacle(seen)
            .or_else(|| (content != Content::Empty).then_some(Reason::Draft));
        if let Some(reason) = self.lasting(obstacle, seen.elapsed) {
            return refuse(reason, false);
        }
        if !self.agrees(self.obstacle.is_none()) {
            return Action::Wait;
        }
        let state = seen
            .view
            .as_ref()
            .map(|view| view.state.name())
            .unwrap_or_default();
        self.note(
            Phase::Queued,
            seen.elapsed,
            &format!("{state} with an empty composer"),
        );
        if self.injection.options.dry_run {
            return Action::Done(Outcome::Possible);
        }
        Action::Paste
    }

    fn before_enter(&mut self, seen: &Observation, content: Content, at: Duration) -> Action {
        let obstacle = self.obstacle(seen);
        if matches!(
            obstacle,
            Some(Reason::CopyMode | Reason::InputOff | Reason::Unreadable)
        ) {
            // A person may stop scrolling. Nothing can go wrong until then.
            self.agreeing = 0;
            return Action::Wait;
        }
        let foreign = (content == Content::Foreign).then_some(Reason::Draft);
        if let Some(reason) = self.lasting(obstacle.or(foreign), seen.elapsed) {
            return refuse(reason, true);
        }
        let is_visible = self.obstacle.is_none() && self.is_visible(content, seen.elapsed);
        if self.agrees(is_visible) {
            self.note(
                Phase::Written,
                seen.elapsed,
                &format!("the composer {}", words(content)),
            );
            if self.before.is_none() {
                self.before.clone_from(&seen.view);
            }
            return Action::PressEnter;
        }
        if !is_visible && self.obstacle.is_none() && seen.elapsed >= at + self.timing_echo() {
            return Action::Done(self.unconfirmed(content));
        }
        Action::Wait
    }

    fn after_enter(&mut self, seen: &Observation, content: Content, at: Duration) -> Action {
        if !seen.is_client_there {
            return Action::Done(Outcome::Unconfirmed {
                seen: "the client ended after Enter".to_owned(),
                text_left: false,
            });
        }
        let proof = self.proof(seen, content);
        let obstacle = self.obstacle(seen);
        if let Some(proof) = proof {
            if self.agrees(true) {
                self.note(Phase::Submitted, seen.elapsed, proof);
                return Action::Done(Outcome::Submitted);
            }
            return Action::Wait;
        }
        let waits = &self.injection.options.timing.confirm;
        let wait = waits
            .get(self.enters.saturating_sub(1))
            .copied()
            .unwrap_or_default();
        let longest = waits.last().copied().unwrap_or_default();
        let is_last = self.enters >= waits.len();
        if content.is_ours() && obstacle.is_none() {
            if seen.elapsed < at + wait {
                self.agreeing = 0;
                return Action::Wait;
            }
            if is_last {
                return Action::Done(self.unconfirmed(content));
            }
            return if self.agrees(true) {
                Action::PressEnter
            } else {
                Action::Wait
            };
        }
        self.agreeing = 0;
        // A dialog that has opened since hides the proof; the text may still be behind it.
        let is_hidden = content == Content::Hidden || obstacle.is_some();
        if !is_hidden && seen.elapsed >= at + longest.max(wait) {
            return Action::Done(self.unconfirmed(content));
        }
        Action::Wait
    }

    /// Returns the proof that the client took the text.
    fn proof(&self, seen: &Observation, content: Content) -> Option<&'static str> {
        let view = seen.view.as_ref()?;
        let before = self.before.as_ref()?;
        let is_more = view.mentions > before.mentions
            || (self.is_collapsible() && view.markers > before.markers);
        let is_dialog = content == Content::Hidden && view.state == State::BlockedOnApproval;
        if is_more && content == Content::Empty {
            return Some("the composer is empty and the conversation has the text");
        }
        if is_more && is_dialog {
            return Some("the conversation has the text, and a dialog opened after it");
        }
        let began = view.state == State::Working && before.state != State::Working;
        if began && content == Content::Empty {
            return Some("the composer is empty and the client works");
        }
        None
    }

    fn clearing(
        &mut self,
        seen: &Observation,
        content: Content,
        at: Option<Duration>,
        outcome: Outcome,
    ) -> Action {
        let is_clear = self.obstacle(seen).is_none();
        match at {
            None if content == Content::Whole && is_clear => Action::ClearLine,
            None => Action::Done(outcome),
            Some(_) if content == Content::Empty => Action::Done(without_text(outcome)),
            Some(at) if seen.elapsed >= at + self.timing_echo() => Action::Done(outcome),
            Some(_) => Action::Wait,
        }
    }

    /// Ends, or first removes a text that was left.
    fn finish(&mut self, seen: &Observation, content: Content, outcome: Outcome) -> Action {
        let is_left = matches!(
            outcome,
            Outcome::Unconfirmed {
                text_left: true,
                ..
            } | Outcome::Refused {
                text_left: true,
                ..
            }
        );
        let draft = seen.view.as_ref().and_then(|view| view.draft.as_deref());
        let is_one_line = draft.is_some_and(|draft| !draft.contains('\n'))
            && !self.injection.text.as_str().contains('\n');
        let may_clear = self.injection.options.cleanup
            && !matches!(self.stage, Stage::Clearing { .. })
            && is_left
            && is_one_line
            && content == Content::Whole
            && Self::can_type(seen);
        if !may_clear {
            return Action::Done(outcome);
        }
        self.stage = Stage::Clearing { at: None, outcome };
        Action::ClearLine
    }

    /// Whether a key would reach the composer.
    fn can_type(seen: &Observation) -> bool {
        let state = seen.view.as_ref().map(|view| view.state);
        seen.is_client_there
            && !seen.is_in_mode
            && !seen.is_input_off
            && state.is_some_and(|state| state.takes_prompt() || state == State::Working)
    }

    /// Returns what forbids typing, apart from the draft.
    fn obstacle(&self, seen: &Observation) -> Option<Reason> {
        if !seen.is_client_there {
            return Some(Reason::ProgramChanged);
        }
        if seen.is_in_mode {
            return Some(Reason::CopyMode);
        }
        if seen.is_input_off {
            return Some(Reason::InputOff);
        }
        let Some(view) = &seen.view else {
            return Some(Reason::Unreadable);
        };
        let detail = || view.detail.clone();
        match view.state {
            State::BlockedOnApproval => Some(Reason::Dialog { detail: detail() }),
            State::Unknown => Some(Reason::Overlay { detail: detail() }),
            _ if view.draft.is_none() => Some(Reason::Overlay { detail: detail() }),
            State::TaskComplete | State::TrulyIdle => None,
            State::Working if self.injection.options.while_working => None,
            State::UsageLimited if self.injection.options.after_limit => None,
            state => Some(Reason::NotReady { state }),
        }
    }

    /// Returns an obstacle that counts: at once if it cannot be a half-drawn screen, else after it has lasted.
    fn lasting(&mut self, obstacle: Option<Reason>, now: Duration) -> Option<Reason> {
        let Some(reason) = obstacle else {
            self.obstacle = None;
            return None;
        };
        let is_certain = matches!(
            reason,
            Reason::Dialog { .. } | Reason::CopyMode | Reason::InputOff | Reason::ProgramChanged
        );
        let since = self.obstacle.as_ref().map_or(now, |(_, since)| *since);
        self.obstacle = Some((reason.clone(), since));
        let has_lasted = now >= since + self.injection.options.timing.settle;
        (is_certain || has_lasted).then_some(reason)
    }

    /// Counts looks in a row that agree. Returns whether they are enough.
    fn agrees(&mut self, agrees: bool) -> bool {
        self.agreeing = if agrees { self.agreeing + 1 } else { 0 };
        self.agreeing >= AGREEING
    }

    fn content(&self, seen: &Observation) -> Content {
        let Some(draft) = seen.view.as_ref().and_then(|view| view.draft.as_ref()) else {
            return Content::Hidden;
        };
        let draft = squash(draft);
        let text = self.injection.text.squashed();
        let tail = text
            .char_indices()
            .rev()
            .nth(TAIL - 1)
            .map_or(0, |(at, _)| at);
        if draft.is_empty() {
            Content::Empty
        } else if draft == text {
            Content::Whole
        } else if self.is_collapsible() && sent::is_marker(&draft) {
            Content::Marker
        } else if text.ends_with(&draft) && draft.len() >= text.len() - tail {
            Content::Tail
        } else if text.contains(&draft) {
            Content::Part
        } else {
            Content::Foreign
        }
    }

    /// Whether the composer shows enough of the text. Its end alone must stay for a while, since a client that echoes
    /// piece by piece shows it for a moment, too.
    fn is_visible(&mut self, content: Content, now: Duration) -> bool {
        if content != Content::Tail {
            self.tail_since = None;
            return content.is_ours();
        }
        let since = *self.tail_since.get_or_insert(now);
        now >= since + self.injection.options.timing.settle
    }

    fn is_collapsible(&self) -> bool {
        sent::is_collapsible(&self.injection.text)
    }

    fn timing_echo(&self) -> Duration {
        self.injection.options.timing.echo
    }

    fn timeout(&self, content: Content) -> Outcome {
        match (&self.stage, &self.obstacle) {
            (Stage::Untouched, obstacle) => {
                let reason = obstacle.as_ref().map(|(reason, _)| reason.clone());
                Outcome::Refused {
                    reason: reason.unwrap_or(Reason::Unreadable),
                    text_left: false,
                }
            }
            (Stage::Clearing { outcome, .. }, _) => outcome.clone(),
            _ => self.unconfirmed(content),
        }
    }

    fn unconfirmed(&self, content: Content) -> Outcome {
        Outcome::Unconfirmed {
            seen: self.last.clone(),
            // A text that is not visible may still arrive, unless it was submitted without proof.
            text_left: content != Content::Empty || self.enters == 0,
        }
    }

    fn note(&mut self, phase: Phase, after: Duration, evidence: &str) {
        // A step that is repeated because a paste or an Enter could not be sent is one step.
        if self.steps.iter().any(|step| step.phase == phase) {
            return;
        }
        self.steps.push(Step {
            phase,
            after_ms: u64::try_from(after.as_millis()).unwrap_or(u64::MAX),
            evidence: evidence.to_owned(),
        });
    }
}

const fn refuse(reason: Reason, text_left: bool) -> Action {
    Action::Done(Outcome::Refused { reason, text_left })
}

fn without_text(outcome: Outcome) -> Outcome {
    match outcome {
        Outcome::Unconfirmed { seen, .. } => Outcome::Unconfirmed {
            seen,
            text_left: false,
        },
        Outcome::Refused { reason, .. } => Outcome::Refused {
            reason,
            text_left: false,
        },
        other => other,
    }
}

const fn words(content: Content) -> &'static str {
    match content {
        Content::Hidden => "is not on the screen",
        Content::Empty => "is empty",
        Content::Whole => "holds the text",
        Content::Marker => "holds a marker of a pasted text",
        Content::Tail => "shows the end of the text",
        Content::Part => "holds a part of the text",
        Content::Foreign => "holds another text",
    }
}

fn describe(seen: &Observation, content: Content) -> String {
    let state = match &seen.view {
        Some(view) => view.state.name(),
        None => "unreadable",
    };
    format!("{state}; the composer {}", words(content))
}
