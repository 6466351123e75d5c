//! [`Sink`]: a thread that passes events on to an outside recipient, from its last position.
//!
//! It reads the log as all readers do, from a cursor of its own that it keeps in `mesh/sinks/`. A
//! recipient that is down gets its events later, and delays no other. [`discord`](super::discord)
//! makes the text of a post.
//!
//! An event is delivered at least once: if the process is killed between a post and its cursor, the
//! same events are posted again.

use std::{
    io,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError, mpsc},
    thread,
    time::Duration,
};

use callosum_executor::http::{Posted, Webhook};
use callosum_host::Disk;
use callosum_mesh::journal::{Cursor, Journal, JournalError, Notice};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{broker, discord::Content};
use callosum_config::{SinkKind, SinkSetting};

/// Interval of looks at the log.
const LOOK: Duration = Duration::from_millis(250);

/// The shortest pause between two posts: Discord takes 30 a minute of each webhook.
const PACE: Duration = Duration::from_secs(2);

/// The pause after the first failure; each that follows doubles it.
const FIRST_PAUSE: Duration = Duration::from_secs(1);

/// The longest pause after a failure.
const LONGEST_PAUSE: Duration = Duration::from_mins(5);

/// The longest that a place may ask to be left alone.
const LONGEST_WAIT: Duration = Duration::from_hours(1);

/// Events that are read at once.
const BATCH: usize = 64;

/// So many events in a row may be refused by themselves; a place that refuses more takes none.
const FEW: u32 = 3;

/// Most characters of a recipient's answer in an error.
const LONGEST_REASON: usize = 200;

/// The state of a sink.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct SinkStatus {
    /// Its name in the configuration.
    pub name: String,
    /// Protocol of the sink: `discord`.
    pub kind: String,
    /// Whether it accepts events, except for a few that it refuses individually; false also if no event can be tried.
    pub healthy: bool,
    /// The last event that was sent to it, or that is not sent to it; empty if that is unknown.
    pub cursor: String,
    /// Messages that it took.
    pub messages: u64,
    /// Events in them.
    pub events: u64,
    /// Events that it refused by themselves, and that were passed over since it took one after them.
    pub passed_over: u64,
    /// Times that it took nothing.
    pub failures: u64,
    /// Reason for the last failure; null if the last delivery succeeded.
    pub reason: Option<String>,
}

/// The thread; asked to end when this is dropped, and not waited for: it may be in the middle of a post.
pub(super) struct Sink {
    status: Arc<Mutex<SinkStatus>>,
    _stop: mpsc::Sender<()>,
}

impl Sink {
    /// Begins to pass on what comes after the place's own cursor; what happens from now on, where it has none.
    pub(super) fn start(
        setting: SinkSetting,
        disk: Disk,
        folder: PathBuf,
        open: broker::Opener,
    ) -> io::Result<Self> {
        let SinkKind::Discord = setting.kind;
        let status = Arc::new(Mutex::new(SinkStatus {
            name: setting.name.clone(),
            kind: "discord".to_owned(),
            ..SinkStatus::default()
        }));
        let (stop, stopped) = mpsc::channel();
        let mut work = Work {
            file: folder.join("sinks").join(&setting.name),
            setting,
            disk,
            open,
            status: Arc::clone(&status),
            stopped,
            most: usize::MAX,
            failures: 0,
            refused: None,
            few: FEW,
        };
        thread::Builder::new().spawn(move || work.run())?;
        Ok(Self {
            status,
            _stop: stop,
        })
    }

    pub(super) fn status(&self) -> SinkStatus {
        let status = self.status.lock();
        status.unwrap_or_else(PoisonError::into_inner).clone()
    }
}

struct Work {
    setting: SinkSetting,
    disk: Disk,
    /// The file with the cursor.
    file: PathBuf,
    open: broker::Opener,
    status: Arc<Mutex<SinkStatus>>,
    stopped: mpsc::Receiver<()>,
    /// Most events of the next message: one, after a message was refused for what it says.
    most: usize,
    /// Failures since the last success.
    failures: u32,
    /// Events that were refused one by one since the last that was taken.
    refused: Option<Refused>,
    /// So many may be in a row until the place counts as one that takes nothing.
    few: u32,
}

/// Consecutive events that were each rejected.
struct Refused {
    /// Position of the first of them.
    from: Cursor,
    count: u32,
}

/// It is to end.
struct Over;

impl Work {
    fn run(&mut self) {
        while let Err(reason) = self.follow() {
            self.note(|status| {
                status.failures += 1;
                status.healthy = false;
                status.reason = Some(reason);
            });
            let pause = self.next_pause();
            if self.pause(pause).is_err() {
                return;
            }
        }
    }

    /// Passes on until it is to end, or something is in the way that is not the place's answer.
    fn follow(&mut self) -> Result<(), String> {
        let variable = &self.setting.variable;
        let address = self.setting.address.as_deref();
        let address = address.ok_or_else(|| format!("the variable {variable} is not set"))?;
        let webhook = Webhook::new(address).map_err(|error| {
            format!("the variable {variable} is not a valid webhook address: {error}")
        })?;
        let text_of = |error: JournalError| error.to_string();
        let mut journal = (self.open)().map_err(text_of)?;
        let mut cursor = self.cursor(&mut journal)?;
        self.refused = None;
        let healthy = self.failures == 0;
        self.note(|status| {
            status.cursor = cursor.to_string();
            status.healthy = healthy;
        });
        let mut tip = None;
        loop {
            if !journal.is_own().map_err(text_of)? {
                journal = (self.open)().map_err(text_of)?;
                tip = None;
            }
            let now = journal.tip().map_err(text_of)?;
            if tip.as_ref() != Some(&now) {
                while let Some(next) = self.pass_on(&journal, &webhook, &cursor)? {
                    if next.pause.is_some_and(|pause| self.pause(pause).is_err()) {
                        return Ok(());
                    }
                    cursor = next.cursor;
                }
                tip = Some(now);
            }
            if self.pause(LOOK).is_err() {
                return Ok(());
            }
        }
    }

    /// Returns the cursor of the recipient. If it has none yet, it gets the end of the log as its
    /// own.
    fn cursor(&self, journal: &mut Journal) -> Result<Cursor, String> {
        let bytes = self.disk.read_if_there(&self.file);
        let bytes = bytes.map_err(|error| error.to_string())?;
        let kept = bytes.and_then(|bytes| String::from_utf8(bytes).ok()?.trim().parse().ok());
        if let Some(kept) = kept {
            return Ok(kept);
        }
        let turn = journal.turn().map_err(|error| error.to_string())?;
        let end = turn.cursor();
        drop(turn);
        self.keep(&end)?;
        Ok(end)
    }

    fn keep(&self, cursor: &Cursor) -> Result<(), String> {
        let kept = match self.file.parent() {
            Some(folder) => self.disk.create_private_dir(folder).map(drop),
            None => Ok(()),
        };
        let text = cursor.to_string();
        let kept = kept.and_then(|()| {
            self.disk
                .replace_unsynced(&self.file, text.as_bytes(), 0o600)
        });
        kept.map_err(|error| error.to_string())
    }

    /// Posts the next message, if there is anything to tell; and says how to go on.
    fn pass_on(
        &mut self,
        journal: &Journal,
        webhook: &Webhook,
        from: &Cursor,
    ) -> Result<Option<Next>, String> {
        let (content, to, events) = self.gather(journal, from)?;
        if to == *from {
            return Ok(None);
        }
        if content.is_empty() {
            if self.refused.is_none() {
                self.passed(&to)?;
            }
            return Ok(Some(Next {
                cursor: to,
                pause: None,
            }));
        }
        let posted = webhook.post(&content.document());
        let posted = posted.map_err(|error| error.words)?;
        let Posted {
            status,
            after,
            words,
        } = posted;
        let after = after.map(|after| after.min(LONGEST_WAIT));
        if (200..300).contains(&status) {
            self.failures = 0;
            self.most = usize::MAX;
            self.few = FEW;
            let over = self.refused.take().map_or(0, |refused| refused.count);
            self.passed(&to)?;
            self.note(|status| {
                status.messages += 1;
                status.events += events as u64;
                status.passed_over += u64::from(over);
            });
            return Ok(Some(Next {
                cursor: to,
                pause: Some(after.unwrap_or_default().max(PACE)),
            }));
        }
        let words: String = words.chars().take(LONGEST_REASON).collect();
        tracing::warn!(status, %words, "a sink refused events");
        let is_of_content = matches!(status, 400 | 413 | 422);
        let count = self.refused.as_ref().map_or(0, |refused| refused.count);
        // A few that it refuses by themselves say nothing of the place, also where nothing comes after them.
        let is_of_events = is_of_content && (events > 1 || count + 1 < self.few);
        self.note(|state| {
            state.failures += 1;
            state.healthy &= is_of_events;
            state.reason = Some(format!("status {status}: {words}"));
        });
        if is_of_content && events <= 1 {
            return Ok(Some(self.refuse(from, to)));
        }
        self.most = if is_of_content { 1 } else { usize::MAX };
        let pause = after.unwrap_or_else(|| self.next_pause()).max(PACE);
        Ok(Some(Next {
            cursor: from.clone(),
            pause: Some(pause),
        }))
    }

    /// Returns the next step after one event alone was rejected for its contents: the event after
    /// it, since it would block all that follow. If the recipient rejects one after the other, the
    /// next step is the first of them again. The event is skipped for good once another is
    /// accepted.
    fn refuse(&mut self, from: &Cursor, to: Cursor) -> Next {
        self.most = 1;
        let refused = self.refused.get_or_insert_with(|| Refused {
            from: from.clone(),
            count: 0,
        });
        refused.count += 1;
        if refused.count < self.few {
            return Next {
                cursor: to,
                pause: Some(PACE),
            };
        }
        let first = refused.from.clone();
        self.refused = None;
        // Should it be the events after all, they are passed over the next time.
        self.few = self.few.saturating_mul(2);
        Next {
            cursor: first,
            pause: Some(self.next_pause().max(PACE)),
        }
    }

    /// The next message, the cursor after it, and how many events are in it.
    fn gather(&self, journal: &Journal, from: &Cursor) -> Result<(Content, Cursor, usize), String> {
        let mut reader = journal.read_after(from);
        let mut content = Content::default();
        let mut count = 0;
        let batch = reader
            .next_batch(BATCH)
            .map_err(|error| error.to_string())?;
        for notice in &batch.notices {
            let line = match notice {
                Notice::Reset { .. } => "a new event log has started".to_owned(),
                Notice::Dropped { count } => format!("events no longer stored: {count}"),
                Notice::Damaged { count, .. } => format!(
                    "lines of the log that are not events: \
                    {count}"
                ),
            };
            // They are few and short.
            content.add_line(&line);
        }
        let mut to = Cursor {
            origin: Some(journal.origin().to_owned()),
            seq: reader.cursor().seq,
        };
        if let Some(first) = batch.events.first() {
            to.seq = first.seq - 1;
        }
        for event in &batch.events {
            let mut topics = self.setting.topics.iter();
            if topics.any(|pattern| pattern.matches(&event.topic)) {
                if count >= self.most || !content.add(event) {
                    break;
                }
                count += 1;
            }
            to.seq = event.seq;
        }
        Ok((content, to, count))
    }

    /// Stores the cursor of the recipient.
    fn passed(&self, to: &Cursor) -> Result<(), String> {
        self.keep(to)?;
        self.note(|status| {
            status.cursor = to.to_string();
            status.healthy = true;
            status.reason = None;
        });
        Ok(())
    }

    fn next_pause(&mut self) -> Duration {
        let pause = FIRST_PAUSE * 2_u32.saturating_pow(self.failures.min(16));
        self.failures += 1;
        pause.min(LONGEST_PAUSE)
    }

    fn note(&self, change: impl FnOnce(&mut SinkStatus)) {
        let status = self.status.lock();
        change(&mut status.unwrap_or_else(PoisonError::into_inner));
    }

    fn pause(&self, pause: Duration) -> Result<(), Over> {
        match self.stopped.recv_timeout(pause) {
            Err(mpsc::RecvTimeoutError::Timeout) => Ok(()),
            Ok(()) | Err(mpsc::RecvTimeoutError::Disconnected) => Err(Over),
        }
    }
}

/// Next step after a post.
struct Next {
    cursor: Cursor,
    /// Before anything else is posted.
    pause: Option<Duration>,
}
