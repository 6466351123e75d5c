//! [`Notifier`]: decides when a pane is worth a notification.
//!
//! It reads no clock and delivers nothing: [`Route`](crate::notify_route::Route) builds the delivery. Time is the sum
//! of the forward steps between updates, so a clock that is set back delays a notice by one step and never repeats it.

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};

use callosum_redact::terminal_escape::on_one_line;
use jiff::{SignedDuration, Timestamp, civil::Time, tz::TimeZone};
use serde::{Deserialize, Serialize};

use crate::{pane::Pane, state::State};

/// Time for which a pane must be stuck or limited.
pub const STABLE: SignedDuration = SignedDuration::from_secs(10);

/// Length of the shortest turn whose end is worth a notice.
pub const TURN: SignedDuration = SignedDuration::from_secs(30);

/// Shortest time between two notices about one pane.
pub const DEBOUNCE: SignedDuration = SignedDuration::from_secs(30);

/// Time after which a pane that vanished is forgotten. A tmux server can miss a few looks.
pub const FORGOTTEN: SignedDuration = SignedDuration::from_mins(10);

/// Notices per pane that are remembered, so that none is repeated.
const REMEMBERED: usize = 64;

/// Most characters in a title.
const TITLE: usize = 80;

/// Most characters in a text.
const TEXT: usize = 300;

/// Most characters of one part of a text, such as the prompt.
const PART: usize = 100;

/// A reason for a notice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NoticeKind {
    /// A dialog has waited for a person for [`NotifySettings::after`].
    Blocked,
    /// The agent cannot go on: an error, or a full context window.
    Stuck,
    /// The account's limit is used up.
    UsageLimited,
    /// A turn of at least [`TURN`] has ended.
    Done,
}

impl NoticeKind {
    /// All kinds.
    pub const ALL: [Self; 4] = [Self::Blocked, Self::Stuck, Self::UsageLimited, Self::Done];

    /// Returns the name in settings and output, such as `usage-limited`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Blocked => "blocked",
            Self::Stuck => "stuck",
            Self::UsageLimited => "usage-limited",
            Self::Done => "done",
        }
    }
}

/// A daily period without notices. It includes its start and excludes its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QuietHours {
    /// The start.
    pub from: Time,
    /// The end. An end before the start is on the next day; an end equal to the start makes the period empty.
    pub to: Time,
}

impl QuietHours {
    /// Returns whether the period includes a time of day.
    pub fn contains(&self, time: Time) -> bool {
        if self.from <= self.to {
            self.from <= time && time < self.to
        } else {
            self.from <= time || time < self.to
        }
    }
}

/// A person's choice of notices.
#[derive(Clone, Debug)]
pub struct NotifySettings {
    /// Time for which a dialog must wait. Zero and less notify at once.
    pub after: SignedDuration,
    /// Kinds of notices. The end of a turn is not noted while its kind is missing here.
    pub on: BTreeSet<NoticeKind>,
    /// A period without notices.
    pub quiet: Option<QuietHours>,
    /// The time zone of the period.
    pub zone: TimeZone,
}

impl Default for NotifySettings {
    /// Returns settings that notify of every kind but [`NoticeKind::Done`], a dialog after 60 s, without quiet hours.
    fn default() -> Self {
        use NoticeKind::{Blocked, Stuck, UsageLimited};
        Self {
            after: SignedDuration::from_secs(60),
            on: BTreeSet::from([Blocked, Stuck, UsageLimited]),
            quiet: None,
            zone: TimeZone::UTC,
        }
    }
}

impl NotifySettings {
    /// Returns whether a moment is in the quiet hours.
    pub fn is_quiet(&self, now: Timestamp) -> bool {
        let time = self.zone.to_datetime(now).time();
        self.quiet.is_some_and(|quiet| quiet.contains(time))
    }
}

/// A message to a person about one pane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// Name of the pane, exactly as in [`Pane::pane`].
    pub pane: String,
    /// The reason.
    pub kind: NoticeKind,
    /// The pane's state.
    pub state: State,
    /// When the state began. For [`NoticeKind::Done`], when the turn ended.
    pub since: Timestamp,
    /// One line without control characters, such as `Claude Code needs approval`.
    pub title: String,
    /// One line without control characters: project, pane, duration, detail and prompt.
    pub text: String,
}

/// Follows panes over time, and returns each notice once.
#[derive(Clone, Debug, Default)]
pub struct Notifier {
    /// Time that has passed, by forward steps only.
    elapsed: SignedDuration,
    /// The clock at the last update.
    last: Option<Timestamp>,
    watches: HashMap<String, Watch>,
}

impl Notifier {
    /// Returns a notifier that knows no panes.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes all panes at one moment and returns the notices that are due.
    ///
    /// Call it at every look, in quiet hours too. A pane's notice is due once per state and start of that state. A
    /// notice that quiet hours or the debounce hold up comes afterward if it is still true.
    pub fn update(
        &mut self,
        panes: &[Pane],
        now: Timestamp,
        settings: &NotifySettings,
    ) -> Vec<Notice> {
        let step = self.last.map_or(SignedDuration::ZERO, |last| {
            forward(now.duration_since(last))
        });
        self.last = Some(now);
        self.elapsed = self.elapsed.saturating_add(step);
        let moment = Moment {
            now,
            elapsed: self.elapsed,
        };
        let is_quiet = settings.is_quiet(now);
        let mut names = HashSet::new();
        let mut notices = Vec::new();
        for pane in panes {
            if !names.insert(pane.pane.as_str()) {
                continue;
            }
            let watch = self
                .watches
                .entry(pane.pane.clone())
                .or_insert_with(|| Watch::new(pane, moment));
            watch.follow(pane, moment, settings);
            if is_quiet {
                continue;
            }
            if let Some(due) = watch.due(moment, settings) {
                watch.record(due.kind, due.since);
                watch.noticed = Some(moment.elapsed);
                notices.push(due.notice(pane));
            }
        }
        self.watches
            .retain(|_, watch| moment.elapsed.saturating_sub(watch.seen) < FORGOTTEN);
        notices
    }
}

/// The time of an update, by the clock and by [`Notifier::elapsed`].
#[derive(Clone, Copy, Debug)]
struct Moment {
    now: Timestamp,
    elapsed: SignedDuration,
}

impl Moment {
    /// Returns how long ago the clock showed `since`.
    fn age(self, since: Timestamp) -> SignedDuration {
        forward(self.now.duration_since(since))
    }
}

/// Returns the duration, or zero if it is negative.
fn forward(duration: SignedDuration) -> SignedDuration {
    duration.max(SignedDuration::ZERO)
}

/// The end of a turn that was long enough.
#[derive(Clone, Copy, Debug)]
struct Finish {
    at: Timestamp,
    worked: SignedDuration,
}

/// The history of one pane.
#[derive(Clone, Debug)]
struct Watch {
    /// The client. A pane can get another one.
    pid: u32,
    state: State,
    since: Timestamp,
    /// When the state began, in elapsed time. It may be negative.
    began: SignedDuration,
    /// Time that the client has worked in the current turn.
    worked: SignedDuration,
    finish: Option<Finish>,
    /// When the last notice was due, in elapsed time.
    noticed: Option<SignedDuration>,
    /// The last notices, by kind and start of the state.
    recorded: VecDeque<(NoticeKind, Timestamp)>,
    /// When the pane was last listed, in elapsed time.
    seen: SignedDuration,
    /// The same by the clock.
    seen_at: Timestamp,
}

impl Watch {
    fn new(pane: &Pane, moment: Moment) -> Self {
        let age = moment.age(pane.since);
        let is_working = pane.state == State::Working;
        Self {
            pid: pane.pid,
            state: pane.state,
            since: pane.since,
            began: moment.elapsed.saturating_sub(age),
            worked: if is_working {
                age
            } else {
                SignedDuration::ZERO
            },
            finish: None,
            noticed: None,
            recorded: VecDeque::new(),
            seen: moment.elapsed,
            seen_at: moment.now,
        }
    }

    /// Takes the pane as it is now.
    fn follow(&mut self, pane: &Pane, moment: Moment, settings: &NotifySettings) {
        if pane.pid != self.pid {
            *self = Self {
                noticed: self.noticed,
                ..Self::new(pane, moment)
            };
            return;
        }
        let step = forward(moment.elapsed.saturating_sub(self.seen));
        if pane.state != self.state || pane.since > self.since {
            self.change(pane, moment, step, settings);
        } else {
            if pane.state == State::Working {
                self.worked = self.worked.saturating_add(step);
            }
            if pane.since < self.since {
                self.backdate(pane.since, moment);
            }
        }
        self.seen = moment.elapsed;
        self.seen_at = moment.now;
    }

    /// Begins another state, or the same state from another start.
    fn change(
        &mut self,
        pane: &Pane,
        moment: Moment,
        step: SignedDuration,
        settings: &NotifySettings,
    ) {
        let age = moment.age(pane.since);
        if self.state == State::Working {
            // The old state lasted until the new one began, which is between the two looks.
            let until = forward(pane.since.duration_since(self.seen_at));
            self.worked = self.worked.saturating_add(until.min(step));
        }
        match pane.state {
            State::Working => {
                // The same state from a later start is another turn, whose predecessor ended between two looks.
                let goes_on = self.state != State::Working;
                let before = if goes_on {
                    self.worked
                } else {
                    SignedDuration::ZERO
                };
                self.worked = before.saturating_add(age.min(step));
                self.finish = None;
            }
            // A dialog is part of the turn.
            State::BlockedOnApproval => self.finish = None,
            // Nothing is known, so nothing is given up.
            State::Unknown => {}
            state if state.takes_prompt() => {
                if self.worked >= TURN && settings.on.contains(&NoticeKind::Done) {
                    self.finish = Some(Finish {
                        at: pane.since,
                        worked: self.worked,
                    });
                }
                self.worked = SignedDuration::ZERO;
            }
            _ => {
                self.finish = None;
                self.worked = SignedDuration::ZERO;
            }
        }
        self.state = pane.state;
        self.since = pane.since;
        self.began = moment.elapsed.saturating_sub(age);
    }

    /// Takes an earlier start of the same state, as after a registry was read. What was due is not due again.
    fn backdate(&mut self, since: Timestamp, moment: Moment) {
        let old = self.since;
        for kind in NoticeKind::ALL {
            if self.has_recorded(kind, old) {
                self.record(kind, since);
            }
        }
        self.since = since;
        let began = moment.elapsed.saturating_sub(moment.age(since));
        self.began = self.began.min(began);
    }

    /// Returns what the pane's person should be notified of now.
    fn due(&self, moment: Moment, settings: &NotifySettings) -> Option<Due> {
        let is_recent = |at| moment.elapsed.saturating_sub(at) < DEBOUNCE;
        if self.noticed.is_some_and(is_recent) {
            return None;
        }
        let lasted = moment.elapsed.saturating_sub(self.began);
        let (kind, wait) = match self.state {
            State::BlockedOnApproval => (NoticeKind::Blocked, settings.after),
            State::StuckOnError | State::ContextExhausted => (NoticeKind::Stuck, STABLE),
            State::UsageLimited => (NoticeKind::UsageLimited, STABLE),
            State::TaskComplete | State::TrulyIdle => (NoticeKind::Done, SignedDuration::ZERO),
            State::SessionEnded | State::Working | State::Unknown => return None,
        };
        let (since, duration) = if kind == NoticeKind::Done {
            let finish = self.finish?;
            (finish.at, finish.worked)
        } else {
            (self.since, lasted)
        };
        let is_due =
            settings.on.contains(&kind) && lasted >= wait && !self.has_recorded(kind, since);
        is_due.then_some(Due {
            kind,
            since,
            duration,
        })
    }

    fn has_recorded(&self, kind: NoticeKind, since: Timestamp) -> bool {
        self.recorded.contains(&(kind, since))
    }

    /// Remembers that a notice was due, and forgets the oldest of too many.
    fn record(&mut self, kind: NoticeKind, since: Timestamp) {
        if self.recorded.len() >= REMEMBERED {
            self.recorded.pop_front();
        }
        self.recorded.push_back((kind, since));
    }
}

/// A notice that is due.
#[derive(Clone, Copy, Debug)]
struct Due {
    kind: NoticeKind,
    since: Timestamp,
    /// Length of the state, or of the turn that ended.
    duration: SignedDuration,
}

impl Due {
    /// Writes the notice.
    fn notice(self, pane: &Pane) -> Notice {
        let happened = match self.kind {
            NoticeKind::Blocked => "needs approval",
            NoticeKind::Stuck if pane.state == State::ContextExhausted => {
                "has filled its context window"
            }
            NoticeKind::Stuck => "is stuck on an error",
            NoticeKind::UsageLimited => "has used up its limit",
            NoticeKind::Done => "has finished a turn",
        };
        let preposition = if self.kind == NoticeKind::Done {
            "after"
        } else {
            "for"
        };
        let mut parts = Vec::new();
        if let Some(project) = &pane.project {
            parts.push(part(project));
        }
        parts.push(format!("pane {}", part(&pane.pane)));
        parts.push(format!("{preposition} {}", duration(self.duration)));
        let mut text = parts.join(", ");
        let resets = pane.resets.as_ref();
        let resets = resets.filter(|_| self.kind == NoticeKind::UsageLimited);
        let more = [
            ("", pane.detail.as_ref()),
            ("resets: ", resets),
            ("prompt: ", pane.last_prompt.as_ref()),
        ];
        for (label, value) in more {
            if let Some(value) = value {
                text.push_str("; ");
                text.push_str(label);
                text.push_str(&part(value));
            }
        }
        Notice {
            pane: pane.pane.clone(),
            kind: self.kind,
            state: pane.state,
            since: self.since,
            title: cut(&format!("{} {happened}", client(pane)), TITLE),
            text: cut(&text, TEXT),
        }
    }
}

/// Returns the client's name as people know it.
fn client(pane: &Pane) -> String {
    match pane.agent.as_str() {
        "claude" => "Claude Code".to_owned(),
        "codex" => "Codex".to_owned(),
        "gemini" => "Gemini".to_owned(),
        other => part(other),
    }
}

/// Returns a part of a line, made harmless and short.
fn part(text: &str) -> String {
    cut(&on_one_line(text), PART)
}

/// Returns at most `most` characters, the last of them `…` if some are missing.
pub(crate) fn cut(text: &str, most: usize) -> String {
    if text.chars().nth(most).is_none() {
        return text.to_owned();
    }
    let kept: String = text.chars().take(most.saturating_sub(1)).collect();
    kept + "…"
}

/// Writes a duration in one or two units: `45 s`, `12 min`, `3 h 5 min`.
fn duration(duration: SignedDuration) -> String {
    let seconds = duration.as_secs();
    let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
    match (hours, minutes) {
        (0, 0) => format!("{seconds} s"),
        (0, _) => format!("{minutes} min"),
        (_, 0) => format!("{hours} h"),
        _ => format!("{hours} h {minutes} min"),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use jiff::civil::time;
    use proptest::{collection::vec, prelude::*, sample::select};

    use super::*;
    use crate::state::Assessment;

    /// A UTC midnight, so that seconds are times of day.
    const MIDNIGHT: i64 = 1_000_000_512_000 / 86_400_000 * 86_400;

    pub(crate) fn at(seconds: i64) -> Timestamp {
        Timestamp::from_second(MIDNIGHT + seconds).unwrap()
    }

    pub(crate) fn pane(state: State, since: i64) -> Pane {
        let mut pane = Pane {
            pane: "%1".to_owned(),
            tty: None,
            pid: 7,
            session_id: None,
            project: Some("callosum".to_owned()),
            cwd: None,
            last_prompt: Some("fix the tests".to_owned()),
            status: String::new(),
            activity_state: state,
            quadrant: None,
            last_active: at(since),
            agent: "claude".to_owned(),
            runtime: "claude-code".to_owned(),
            state,
            detail: None,
            since: at(since),
            resets_at: None,
            resets: None,
            has_draft: false,
            evidence: Vec::new(),
            considered: Vec::new(),
        };
        pane.set(&Assessment::new(state), at(since));
        pane
    }

    fn every_kind() -> NotifySettings {
        NotifySettings {
            on: NoticeKind::ALL.into(),
            ..NotifySettings::default()
        }
    }

    fn quiet(from: Time, to: Time) -> NotifySettings {
        NotifySettings {
            quiet: Some(QuietHours { from, to }),
            ..every_kind()
        }
    }

    /// Feeds one pane, as (time, state, since), and returns the time and kind of each notice.
    fn feed(settings: &NotifySettings, looks: &[(i64, State, i64)]) -> Vec<(i64, NoticeKind)> {
        let mut notifier = Notifier::new();
        let mut fired = Vec::new();
        for (now, state, since) in looks {
            for notice in notifier.update(&[pane(*state, *since)], at(*now), settings) {
                fired.push((*now, notice.kind));
            }
        }
        fired
    }

    use NoticeKind::{Blocked, Done, Stuck, UsageLimited};
    use State::{
        BlockedOnApproval, ContextExhausted, SessionEnded, StuckOnError, TaskComplete, TrulyIdle,
        Unknown, Working,
    };

    /// Returns a look each second of a state that began at the first one.
    fn each_second(state: State, from: i64, to: i64) -> Vec<(i64, State, i64)> {
        (from..to).map(|now| (now, state, from)).collect()
    }

    #[test]
    fn a_pane_blocked_for_60_s_fires_once_and_not_again_until_it_changes() {
        let mut looks = each_second(BlockedOnApproval, 0, 4_000);
        assert_eq!(feed(&NotifySettings::default(), &looks), [(60, Blocked)]);
        looks.extend(each_second(Working, 4_000, 4_010));
        looks.extend(each_second(BlockedOnApproval, 4_010, 5_000));
        let fired = feed(&NotifySettings::default(), &looks);
        assert_eq!(fired, [(60, Blocked), (4_070, Blocked)]);
    }

    #[test]
    fn a_dialog_that_was_answered_between_two_looks_is_another_one() {
        let looks = [
            (0, BlockedOnApproval, 0),
            (100, BlockedOnApproval, 0),
            (200, BlockedOnApproval, 150),
            (215, BlockedOnApproval, 150),
        ];
        let fired = feed(&NotifySettings::default(), &looks);
        assert_eq!(fired, [(100, Blocked), (215, Blocked)]);
    }

    #[test]
    fn a_pane_that_was_blocked_before_the_first_look_fires_at_it() {
        let looks = [(500, BlockedOnApproval, 0)];
        assert_eq!(feed(&NotifySettings::default(), &looks), [(500, Blocked)]);
    }

    #[test]
    fn a_dialog_without_a_wait_fires_at_once() {
        for after in [0, -5] {
            let settings = NotifySettings {
                after: SignedDuration::from_secs(after),
                ..NotifySettings::default()
            };
            assert_eq!(
                feed(&settings, &[(0, BlockedOnApproval, 0)]),
                [(0, Blocked)]
            );
        }
    }

    #[test]
    fn stuck_and_limited_panes_fire_after_10_s() {
        for (state, kind) in [
            (StuckOnError, Stuck),
            (ContextExhausted, Stuck),
            (State::UsageLimited, UsageLimited),
        ] {
            let looks = each_second(state, 0, 900);
            assert_eq!(feed(&NotifySettings::default(), &looks), [(10, kind)]);
            let short = each_second(state, 0, 10);
            assert_eq!(feed(&NotifySettings::default(), &short), []);
        }
    }

    #[test]
    fn other_states_never_fire() {
        for state in [SessionEnded, TaskComplete, TrulyIdle, Working, Unknown] {
            assert_eq!(feed(&every_kind(), &each_second(state, 0, 900)), []);
        }
    }

    #[test]
    fn the_end_of_a_turn_of_30_s_fires_at_once() {
        for end in [TaskComplete, TrulyIdle] {
            let mut looks = each_second(Working, 0, 30);
            looks.extend(each_second(end, 30, 90));
            assert_eq!(feed(&every_kind(), &looks), [(30, Done)]);
            assert_eq!(feed(&NotifySettings::default(), &looks), []);
        }
        let mut short = each_second(Working, 0, 29);
        short.extend(each_second(TaskComplete, 29, 90));
        assert_eq!(feed(&every_kind(), &short), []);
    }

    #[test]
    fn a_finished_turn_that_becomes_idle_fires_once() {
        let mut looks = each_second(Working, 0, 40);
        looks.extend(each_second(TaskComplete, 40, 100));
        looks.extend(each_second(TrulyIdle, 100, 200));
        assert_eq!(feed(&every_kind(), &looks), [(40, Done)]);
    }

    #[test]
    fn a_turn_counts_its_work_and_not_its_dialogs() {
        let mut looks = each_second(Working, 0, 20);
        looks.extend(each_second(BlockedOnApproval, 20, 70));
        looks.extend(each_second(Working, 70, 75));
        looks.extend(each_second(TaskComplete, 75, 90));
        assert_eq!(feed(&every_kind(), &looks), []);
        let mut looks = each_second(Working, 0, 20);
        looks.extend(each_second(BlockedOnApproval, 20, 70));
        looks.extend(each_second(Working, 70, 80));
        looks.extend(each_second(TaskComplete, 80, 90));
        assert_eq!(feed(&every_kind(), &looks), [(80, Done)]);
    }

    #[test]
    fn work_is_measured_to_the_start_of_the_next_state() {
        let looks = [(0, Working, 0), (600, TaskComplete, 10)];
        assert_eq!(feed(&every_kind(), &looks), []);
        let looks = [(0, Working, 0), (600, TaskComplete, 31)];
        assert_eq!(feed(&every_kind(), &looks), [(600, Done)]);
        let looks = [(5, Working, -60), (6, TaskComplete, 6)];
        assert_eq!(feed(&every_kind(), &looks), [(6, Done)]);
    }

    #[test]
    fn a_turn_that_began_between_two_looks_is_counted_from_its_start() {
        let looks = [
            (0, Working, 0),
            (20, Working, 0),
            (25, Working, 22),
            (40, TaskComplete, 40),
        ];
        assert_eq!(feed(&every_kind(), &looks), []);
    }

    #[test]
    fn work_is_not_counted_twice() {
        let looks = [
            (0, Working, 0),
            (20, BlockedOnApproval, 20),
            (21, Working, 0),
            (22, TaskComplete, 22),
        ];
        assert_eq!(feed(&every_kind(), &looks), []);
    }

    #[test]
    fn a_state_that_is_unknown_for_a_while_ends_no_turn() {
        let mut looks = each_second(Working, 0, 20);
        looks.extend(each_second(Unknown, 20, 25));
        looks.extend(each_second(Working, 25, 36));
        looks.extend(each_second(TaskComplete, 36, 90));
        assert_eq!(feed(&every_kind(), &looks), [(36, Done)]);
        let settings = quiet(time(0, 0, 0, 0), time(0, 10, 0, 0));
        looks.extend(each_second(Unknown, 90, 95));
        looks.extend(each_second(TrulyIdle, 95, 700));
        assert_eq!(feed(&settings, &looks), [(600, Done)]);
    }

    #[test]
    fn a_turn_that_ended_while_its_kind_was_off_stays_silent() {
        let mut notifier = Notifier::new();
        let off = NotifySettings::default();
        notifier.update(&[pane(Working, 0)], at(50), &off);
        notifier.update(&[pane(TaskComplete, 51)], at(51), &off);
        let late = notifier.update(&[pane(TaskComplete, 51)], at(52), &every_kind());
        assert_eq!(late, []);
    }

    #[test]
    fn an_earlier_start_under_a_clock_set_back_delays_nothing() {
        let mut looks = each_second(BlockedOnApproval, 0, 50);
        looks.extend((-1_000..-900).map(|now| (now, BlockedOnApproval, -5)));
        let fired = feed(&NotifySettings::default(), &looks);
        assert_eq!(fired, [(-989, Blocked)]);
    }

    #[test]
    fn a_kind_that_is_off_never_fires() {
        for kind in NoticeKind::ALL {
            let mut settings = every_kind();
            settings.on.remove(&kind);
            let mut looks = each_second(Working, 0, 40);
            let states = [
                TaskComplete,
                BlockedOnApproval,
                StuckOnError,
                State::UsageLimited,
            ];
            for (state, from) in states.into_iter().zip((40..).step_by(100)) {
                looks.extend(each_second(state, from, from + 100));
            }
            let fired = feed(&settings, &looks);
            assert_eq!(fired.len(), 3, "{fired:?}");
            assert!(fired.iter().all(|(_, other)| *other != kind), "{fired:?}");
        }
    }

    #[test]
    fn a_pane_fires_at_most_once_in_30_s() {
        let mut looks = each_second(Working, 0, 40);
        looks.extend(each_second(TaskComplete, 40, 45));
        looks.extend(each_second(StuckOnError, 45, 100));
        assert_eq!(feed(&every_kind(), &looks), [(40, Done), (70, Stuck)]);
    }

    #[test]
    fn a_flapping_pane_does_not_flood() {
        let settings = NotifySettings {
            after: SignedDuration::ZERO,
            ..every_kind()
        };
        let looks: Vec<_> = (0..300)
            .map(|now| match now % 2 {
                0 => (now, BlockedOnApproval, now),
                _ => (now, Working, now),
            })
            .collect();
        let fired = feed(&settings, &looks);
        assert_eq!(fired.len(), 10);
        assert!(fired.windows(2).all(|pair| pair[1].0 - pair[0].0 >= 30));
        assert_eq!(feed(&NotifySettings::default(), &looks), []);
    }

    #[test]
    fn quiet_hours_hold_notices_up_and_what_is_still_true_fires_once() {
        let settings = quiet(time(0, 0, 0, 0), time(0, 10, 0, 0));
        let looks = each_second(BlockedOnApproval, 0, 900);
        assert_eq!(feed(&settings, &looks), [(600, Blocked)]);
        let mut looks = each_second(BlockedOnApproval, 0, 590);
        looks.extend(each_second(Working, 590, 900));
        assert_eq!(feed(&settings, &looks), []);
    }

    #[test]
    fn a_turn_that_ended_in_quiet_hours_fires_if_its_client_still_waits() {
        let settings = quiet(time(0, 0, 0, 0), time(0, 10, 0, 0));
        let mut looks = each_second(Working, 0, 100);
        looks.extend(each_second(TaskComplete, 100, 160));
        looks.extend(each_second(TrulyIdle, 160, 900));
        assert_eq!(feed(&settings, &looks), [(600, Done)]);
    }

    #[test]
    fn quiet_hours_can_wrap_midnight() {
        let hours = QuietHours {
            from: time(22, 0, 0, 0),
            to: time(7, 0, 0, 0),
        };
        for (hour, minute, is_quiet) in [
            (21, 59, false),
            (22, 0, true),
            (0, 0, true),
            (6, 59, true),
            (7, 0, false),
        ] {
            assert_eq!(hours.contains(time(hour, minute, 0, 0)), is_quiet);
        }
        let empty = QuietHours {
            from: time(7, 0, 0, 0),
            to: time(7, 0, 0, 0),
        };
        assert!(!empty.contains(time(7, 0, 0, 0)));
    }

    #[test]
    fn quiet_hours_are_in_the_persons_time_zone() {
        let berlin = TimeZone::posix("CET-1CEST,M3.5.0,M10.5.0/3").unwrap();
        let settings = NotifySettings {
            zone: berlin,
            ..quiet(time(22, 0, 0, 0), time(7, 0, 0, 0))
        };
        for (moment, is_quiet) in [
            ("2026-01-10T20:59:59Z", false),
            ("2026-01-10T21:00:00Z", true),
            ("2026-07-10T20:00:00Z", true),
            ("2026-07-10T05:00:00Z", false),
        ] {
            assert_eq!(
                settings.is_quiet(moment.parse().unwrap()),
                is_quiet,
                "{moment}"
            );
        }
    }

    #[test]
    fn a_clock_set_back_never_fires_twice() {
        let mut looks = each_second(BlockedOnApproval, 0, 100);
        looks.extend((-3_600..3_600).map(|now| (now, BlockedOnApproval, 0)));
        assert_eq!(feed(&NotifySettings::default(), &looks), [(60, Blocked)]);
        // A state that starts earlier is the same one.
        looks.extend((3_600..4_000).map(|now| (now, BlockedOnApproval, -90)));
        assert_eq!(feed(&NotifySettings::default(), &looks), [(60, Blocked)]);
    }

    #[test]
    fn a_clock_set_back_never_blocks_for_good() {
        let mut looks = each_second(BlockedOnApproval, 0, 30);
        looks.extend((-100_000..-99_900).map(|now| (now, BlockedOnApproval, 0)));
        let fired = feed(&NotifySettings::default(), &looks);
        assert_eq!(fired, [(-99_969, Blocked)]);
        looks.extend(each_second(Working, -99_900, -99_880));
        looks.extend(each_second(StuckOnError, -99_880, -99_800));
        let fired = feed(&NotifySettings::default(), &looks);
        assert_eq!(fired, [(-99_969, Blocked), (-99_870, Stuck)]);
    }

    #[test]
    fn a_pane_that_vanished_for_a_moment_does_not_fire_again() {
        let mut notifier = Notifier::new();
        let settings = NotifySettings::default();
        let panes = [pane(BlockedOnApproval, 0)];
        assert_eq!(notifier.update(&panes, at(60), &settings).len(), 1);
        assert_eq!(notifier.update(&[], at(70), &settings), []);
        assert_eq!(notifier.update(&panes, at(300), &settings), []);
        assert_eq!(notifier.watches.len(), 1);
    }

    #[test]
    fn a_pane_that_vanished_is_forgotten() {
        let mut notifier = Notifier::new();
        let settings = NotifySettings::default();
        notifier.update(&[pane(BlockedOnApproval, 0)], at(60), &settings);
        notifier.update(&[], at(60 + FORGOTTEN.as_secs()), &settings);
        assert!(notifier.watches.is_empty());
    }

    #[test]
    fn panes_fire_independently_and_a_name_counts_once() {
        let mut notifier = Notifier::new();
        let other = Pane {
            pane: "work:%1".to_owned(),
            ..pane(StuckOnError, 0)
        };
        let panes = [pane(BlockedOnApproval, 0), other, pane(StuckOnError, 0)];
        let notices = notifier.update(&panes, at(100), &NotifySettings::default());
        let fired: Vec<_> = notices
            .iter()
            .map(|notice| (notice.pane.as_str(), notice.kind))
            .collect();
        assert_eq!(fired, [("%1", Blocked), ("work:%1", Stuck)]);
        let twice = [pane(Working, 0), pane(StuckOnError, 0)];
        let notices = Notifier::new().update(&twice, at(100), &NotifySettings::default());
        assert_eq!(notices, []);
    }

    #[test]
    fn another_client_in_a_pane_is_another_occurrence_with_the_same_debounce() {
        let mut notifier = Notifier::new();
        let settings = NotifySettings::default();
        let mut one = pane(BlockedOnApproval, 0);
        assert_eq!(notifier.update(&[one.clone()], at(100), &settings).len(), 1);
        one.pid = 8;
        assert_eq!(notifier.update(&[one.clone()], at(110), &settings), []);
        assert_eq!(notifier.update(&[one], at(130), &settings).len(), 1);
    }

    #[test]
    fn a_notice_names_client_project_pane_duration_detail_and_prompt() {
        let one = Pane {
            detail: Some("permission to use a tool".to_owned()),
            ..pane(BlockedOnApproval, 0)
        };
        let notices = Notifier::new().update(&[one], at(125), &NotifySettings::default());
        assert_eq!(notices[0].title, "Claude Code needs approval");
        assert_eq!(
            notices[0].text,
            "callosum, pane %1, for 2 min; permission to use a tool; prompt: fix the tests"
        );
        let limited = Pane {
            agent: "codex".to_owned(),
            resets: Some("3pm".to_owned()),
            last_prompt: None,
            ..pane(State::UsageLimited, 0)
        };
        let notices = Notifier::new().update(&[limited], at(3_900), &NotifySettings::default());
        assert_eq!(notices[0].title, "Codex has used up its limit");
        assert_eq!(
            notices[0].text,
            "callosum, pane %1, for 1 h 5 min; resets: 3pm"
        );
    }

    #[test]
    fn names_of_kinds_are_those_in_files() {
        for kind in NoticeKind::ALL {
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.name());
        }
    }

    /// A look of a machine whose clock does anything: seconds that pass, the state, and when it began.
    fn look() -> impl Strategy<Value = (i64, State, i64)> {
        let steps = prop_oneof![4 => 0..40_i64, 1 => -200..200_i64];
        (steps, select(State::ALL.to_vec()), 0..6_i64)
    }

    proptest! {
        #[test]
        fn no_occurrence_fires_twice(looks in vec(look(), 0..120), after in 0..90_i64) {
            let settings = NotifySettings {
                after: SignedDuration::from_secs(after),
                ..every_kind()
            };
            let (mut notifier, mut now, mut fired) = (Notifier::new(), 0, HashSet::new());
            for (step, state, since) in looks {
                now += step;
                let seen = pane(state, since * 50);
                for notice in notifier.update(std::slice::from_ref(&seen), at(now), &settings) {
                    prop_assert_eq!(notice.state, state);
                    prop_assert!(notice.kind == Done || notice.since == seen.since);
                    prop_assert!(fired.insert((notice.kind, notice.since)), "{notice:?}");
                }
            }
        }

        #[test]
        fn a_pane_waits_30_s_of_forward_time_between_notices(looks in vec(look(), 0..120)) {
            let settings = NotifySettings { after: SignedDuration::ZERO, ..every_kind() };
            let (mut notifier, mut now, mut passed) = (Notifier::new(), 0, 30);
            for (step, state, since) in looks {
                now += step;
                passed += step.max(0);
                if !notifier.update(&[pane(state, since * 50)], at(now), &settings).is_empty() {
                    prop_assert!(passed >= 30);
                    passed = 0;
                }
            }
        }

        #[test]
        fn quiet_hours_hold_every_notice_up(
            from in 0..1_440_i64,
            to in 0..1_440_i64,
            looks in vec((0..4_000_i64, select(State::ALL.to_vec())), 0..80),
        ) {
            let clock = |minutes: i64| time((minutes / 60) as i8, (minutes % 60) as i8, 0, 0);
            let settings = quiet(clock(from), clock(to));
            let (mut notifier, mut now) = (Notifier::new(), 0);
            for (step, state) in looks {
                now += step;
                let notices = notifier.update(&[pane(state, now - 100)], at(now), &settings);
                let minute = now / 60 % 1_440;
                let is_quiet = if from <= to {
                    (from..to).contains(&minute)
                } else {
                    !(to..from).contains(&minute)
                };
                prop_assert!(!is_quiet || notices.is_empty());
            }
        }

        #[test]
        fn a_blocked_pane_fires_once_however_the_clock_moves(
            before in vec(-5_000..5_000_i64, 0..30),
        ) {
            let settings = NotifySettings::default();
            let (mut notifier, mut now, mut count) = (Notifier::new(), 0, 0);
            for step in before.into_iter().chain([1; 61]) {
                now += step;
                count += notifier.update(&[pane(BlockedOnApproval, 0)], at(now), &settings).len();
            }
            prop_assert_eq!(count, 1);
        }

        #[test]
        fn a_notice_is_one_short_line_each(prompt: String, detail: String, agent: String) {
            let mut one = Pane { agent, detail: Some(detail), ..pane(StuckOnError, 0) };
            one.last_prompt = Some(prompt);
            one.project = None;
            for notice in Notifier::new().update(&[one], at(99), &every_kind()) {
                prop_assert!(!notice.title.contains(char::is_control));
                prop_assert!(!notice.text.contains(char::is_control));
                prop_assert!(notice.title.chars().count() <= TITLE);
                prop_assert!(notice.text.chars().count() <= TEXT);
            }
        }
    }
}
