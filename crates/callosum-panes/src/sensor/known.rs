//! [`Known`]: a sensor's knowledge about one client, from look to look.

use std::{
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use callosum_host::{Disk, process::table};
use jiff::Timestamp;

use super::{ResetTime, pane_name, sources::About};
use crate::{
    Layout,
    assess::{Event, Facts, ProcessFact, ScreenFact, assess},
    pane::Pane,
    program::Running,
    rule::{Judgment, RuleSet},
    screen::Screen,
    state::{Assessment, Considered, State},
    tmux::TmuxPane,
    tracker::Tracker,
};

/// Time for which the colors of a composer count while its text is the same. A person may type the
/// text of a placeholder.
const JUDGED: Duration = Duration::from_secs(1);

/// A client in a place. Another client in the same pane is another place.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct ClientPane {
    name: String,
    pid: u32,
    started: u64,
}

impl ClientPane {
    pub(super) fn in_tmux(socket: &Path, folder: &Path, pane: &str, running: &Running) -> Self {
        Self {
            name: pane_name(socket, folder, pane),
            pid: running.process.pid,
            started: running.process.started,
        }
    }

    pub(super) fn outside_tmux(running: &Running) -> Self {
        Self {
            name: format!("pid:{}", running.process.pid),
            pid: running.process.pid,
            started: running.process.started,
        }
    }

    pub(super) fn name(&self) -> String {
        self.name.clone()
    }
}

/// A screen as tmux gave it.
pub(super) struct Captured {
    /// Without colors.
    pub(super) plain: Vec<u8>,
    /// The composer's lines with colors, and the index of the first.
    pub(super) colored: Option<(usize, Vec<u8>)>,
    /// The lines of `plain`, if they are not those of the last look. The rules are asked only about these.
    pub(super) lines: Option<(Screen, Layout)>,
}

/// One look at a client.
pub(super) struct Seen<'a> {
    pub(super) pane: Option<&'a TmuxPane>,
    pub(super) running: &'a Running,
    pub(super) rules: Option<&'a RuleSet>,
    /// The screen, or why there is none.
    pub(super) screen: Result<Captured, String>,
    pub(super) about: About,
    pub(super) reset_time: &'a ResetTime,
    pub(super) now: Timestamp,
}

#[derive(Debug)]
pub(super) struct Known {
    pub(super) pane: Pane,
    pub(super) tracker: Tracker,
    reading: Reading,
}

/// Verdict of the rules on the last screen.
#[derive(Debug, Default)]
struct Reading {
    /// Title and screen, so that the rules are asked only about what has changed.
    title: String,
    plain: Vec<u8>,
    colored: Option<(usize, Vec<u8>)>,
    judgment: Option<Judgment>,
    considered: Vec<Considered>,
    since: Option<Timestamp>,
    has_draft: bool,
    /// First and last line of the composer, if it has a text.
    composer: Option<(usize, usize)>,
    /// The composer's text.
    text: String,
    /// The text of a composer whose colors were read last, and when.
    judged: Option<(String, Instant)>,
}

/// Reads the lines of a screen, unless they are those of the last look.
pub(super) fn lines(
    plain: &[u8],
    known: Option<&Known>,
    rules: Option<&RuleSet>,
) -> Option<(Screen, Layout)> {
    if known.is_some_and(|known| known.reading.plain == plain) {
        return None;
    }
    let rules = rules?;
    let screen = Screen::plain(plain);
    let layout = rules.layout(&screen);
    Some((screen, layout))
}

impl Captured {
    /// Returns the first and the last line that were read with colors.
    pub(super) fn colored_lines(&self) -> Option<(usize, usize)> {
        let (first, lines) = self.colored.as_ref()?;
        let count = lines.split(|byte| *byte == b'\n').count();
        Some((*first, first + count - 1))
    }

    /// Returns the first and the last line of the composer, if it has a text: only colors show whether that is a draft
    /// or a placeholder.
    pub(super) fn composer(&self, known: Option<&Known>) -> Option<(usize, usize)> {
        match &self.lines {
            Some((_, layout)) => lines_of(layout),
            None => known?.reading.composer,
        }
    }

    /// Whether the colors of the composer's text are known from an earlier look.
    pub(super) fn is_judged(&self, known: Option<&Known>) -> bool {
        known.is_some_and(|known| {
            let reading = &known.reading;
            let text = match &self.lines {
                Some((_, layout)) => text_of(layout),
                None => &reading.text,
            };
            let judged = reading.judged.as_ref();
            judged.is_some_and(|(judged, at)| judged == text && at.elapsed() < 2 * JUDGED)
        })
    }
}

fn text_of(layout: &Layout) -> &str {
    let place = layout.composer.as_ref();
    place.map_or("", |place| place.text.as_str())
}

fn lines_of(layout: &Layout) -> Option<(usize, usize)> {
    let place = layout.composer.as_ref()?;
    (!place.text.is_empty()).then_some((place.first, place.end.max(place.first + 1) - 1))
}

impl Known {
    /// Returns the first and the last line of the composer at the last look, if it had a text whose colors should be
    /// read again.
    pub(super) fn composer(&self) -> Option<(usize, usize)> {
        let judged = self.reading.judged.as_ref();
        let is_recent = judged.is_some_and(|(_, at)| at.elapsed() < JUDGED);
        self.reading.composer.filter(|_| !is_recent)
    }

    pub(super) fn new(place: &ClientPane, seen: Seen<'_>, disk: &Disk) -> Self {
        let Seen { running, now, .. } = seen;
        let cwd = table::folder(running.process.pid);
        let pane = Pane {
            pane: place.name(),
            tty: running.process.tty.clone(),
            pid: running.process.pid,
            session_id: None,
            project: cwd.as_deref().and_then(|folder| project(disk, folder)),
            cwd,
            last_prompt: None,
            status: "active".to_owned(),
            activity_state: State::Working,
            quadrant: None,
            last_active: now,
            agent: running.program.short().to_owned(),
            runtime: running.program.runtime().to_owned(),
            state: State::Unknown,
            detail: None,
            since: now,
            resets_at: None,
            resets: None,
            has_draft: false,
            evidence: Vec::new(),
            considered: Vec::new(),
        };
        let mut known = Self {
            pane,
            tracker: Tracker::new(Assessment::unknown("not looked at yet"), now),
            reading: Reading::default(),
        };
        let assessment = known.assess(seen);
        known.tracker = Tracker::new(assessment, now);
        known.publish();
        known
    }

    /// Takes up another look. Returns whether the state changed.
    pub(super) fn update(&mut self, _place: &ClientPane, seen: Seen<'_>) -> bool {
        let now = seen.now;
        let assessment = self.assess(seen);
        let is_changed = self.tracker.update(assessment, now);
        self.publish();
        is_changed
    }

    /// Takes over since when a state has lasted, from an earlier process that saw the same state.
    pub(super) fn resume(&mut self, earlier: &Pane) {
        let is_same = |state: State| {
            // A turn that ended becomes idle by the clock alone.
            state == earlier.state || state.takes_prompt() && earlier.state.takes_prompt()
        };
        let judged = self
            .reading
            .judgment
            .as_ref()
            .map(|judgment| judgment.state);
        if judged.is_some_and(is_same)
            && let Some(since) = &mut self.reading.since
        {
            *since = earlier.since.min(*since);
        }
        self.tracker.resume(earlier.state, earlier.since);
        if earlier.resets_at.is_some() && earlier.resets == self.pane.resets {
            self.pane.resets_at = earlier.resets_at;
        }
        self.pane.last_active = self
            .pane
            .last_active
            .min(earlier.last_active.max(earlier.since));
        self.pane.since = self.tracker.since();
    }

    /// Takes up that the client was not seen. Returns whether that is new.
    pub(super) fn end(&mut self, now: Timestamp) -> bool {
        let facts = Facts {
            now,
            process: ProcessFact::Ended(format!("process {} has ended", self.pane.pid)),
            hook: None,
            registry: None,
            screen: ScreenFact::None(String::new()),
        };
        let is_changed = self.tracker.update(assess(facts), now);
        self.publish();
        is_changed
    }

    /// Returns what panes are sorted by: those in tmux first, then by name as numbers.
    pub(super) fn order(&self) -> (bool, String, u32, u32) {
        let name = &self.pane.pane;
        let (server, id) = name.split_once('%').unwrap_or((name, ""));
        (
            name.starts_with("pid:"),
            server.to_owned(),
            id.parse().unwrap_or_default(),
            self.pane.pid,
        )
    }

    fn publish(&mut self) {
        self.pane.set(self.tracker.current(), self.tracker.since());
    }

    fn assess(&mut self, seen: Seen<'_>) -> Assessment {
        let Seen {
            about,
            now,
            reset_time,
            ..
        } = seen;
        if let Some(pane) = seen.pane {
            self.pane.quadrant = Some(pane.quadrant().to_owned());
        }
        let screen = self.read(seen.screen, seen.pane, seen.rules, now);
        let event = about.event.as_ref();
        let session = about.session.as_ref();
        self.pane.session_id = session
            .map(|session| session.session_id.clone())
            .or_else(|| event.map(|event| event.session_id.clone()));
        self.pane.last_prompt = event.and_then(|event| event.last_prompt.clone());
        if let Some(event) = event {
            self.pane.last_active = self.pane.last_active.max(event.at.min(now));
        }
        let status = session.and_then(|session| Some((session.state()?, session.since?)));
        let mut assessment = assess(Facts {
            now,
            process: ProcessFact::Running,
            hook: event.map(|event| Event {
                name: &event.event,
                state: event.state,
                at: event.at,
            }),
            registry: status.map(|(state, at)| Event {
                name: session
                    .and_then(|session| session.status.as_deref())
                    .unwrap_or_default(),
                state,
                at,
            }),
            screen,
        });
        if let Some(words) = &assessment.resets {
            // A length such as `in 3 hours` counts from the first look, and a time that has passed stays.
            let is_known =
                self.pane.resets.as_ref() == Some(words) && self.pane.resets_at.is_some();
            assessment.resets_at = if is_known {
                self.pane.resets_at
            } else {
                (reset_time.0)(words, now)
            };
        }
        assessment
    }

    /// Asks the rules about a screen, unless it is the one from the last look.
    fn read(
        &mut self,
        screen: Result<Captured, String>,
        pane: Option<&TmuxPane>,
        rules: Option<&RuleSet>,
        now: Timestamp,
    ) -> ScreenFact {
        let (screen, pane, rules) = match (screen, pane, rules) {
            (Ok(screen), Some(pane), Some(rules)) => (screen, pane, rules),
            (Err(why), _, _) => return ScreenFact::None(why),
            _ => return ScreenFact::None("there are no rules for this client".to_owned()),
        };
        let Captured {
            plain,
            colored,
            lines,
        } = screen;
        let reading = &mut self.reading;
        let is_same = lines.is_none()
            && (colored.is_none() || reading.colored == colored)
            && reading.title == pane.title;
        if reading.since.is_none() || !is_same {
            let (mut screen, mut layout) = lines.unwrap_or_else(|| {
                let screen = Screen::plain(&plain);
                let layout = rules.layout(&screen);
                (screen, layout)
            });
            reading.composer = lines_of(&layout);
            text_of(&layout).clone_into(&mut reading.text);
            let has_colors = colored
                .as_ref()
                .is_some_and(|(first, lines)| screen.color(*first, lines));
            if has_colors {
                layout = rules.layout(&screen);
                reading.judged = Some((reading.text.clone(), Instant::now()));
                reading.colored = colored;
            }
            reading.title.clone_from(&pane.title);
            reading.plain = plain;
            let (judgment, considered) = rules.judge(&pane.title, &screen, &layout);
            let state =
                |judgment: &Option<Judgment>| judgment.as_ref().map(|judgment| judgment.state);
            if reading.since.is_none() || state(&judgment) != state(&reading.judgment) {
                reading.since = Some(now);
            }
            // Lines that changed between the two reads say nothing, so the last word holds.
            if has_colors || reading.composer.is_none() {
                reading.has_draft = layout.composer.is_some_and(|place| !place.draft.is_empty());
            }
            (reading.judgment, reading.considered) = (judgment, considered);
            self.pane.last_active = now;
        } else if colored.is_some()
            && let Some((_, at)) = &mut reading.judged
        {
            *at = Instant::now();
        }
        self.pane.has_draft = reading.has_draft;
        ScreenFact::Read {
            judgment: reading.judgment.clone(),
            since: reading.since.unwrap_or(now),
            considered: reading.considered.clone(),
        }
    }
}

/// Returns the name of the nearest folder above with a `.git`, else of the folder itself.
fn project(disk: &Disk, folder: &Path) -> Option<String> {
    let is_root = |folder: &&Path| disk.exists(&folder.join(".git")).unwrap_or(false);
    let root = folder.ancestors().find(is_root);
    let root: PathBuf = root.unwrap_or(folder).to_owned();
    Some(root.file_name()?.to_string_lossy().into_owned())
}
