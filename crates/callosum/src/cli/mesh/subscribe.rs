//! Arguments and output of `callosum mesh subscribe`.
//!
//! The use case is [`callosum_app::mesh::subscribe`].

use std::io::BufRead as _;
use std::path::PathBuf;
use std::sync::mpsc;
use std::sync::mpsc::Receiver;
use std::thread;
use std::time::{Duration, Instant};

use callosum_app::mesh::open;
use callosum_app::mesh::subscribe::{
    Acceptance, BATCH, FIRST_PAUSE, KEEP, LINES, LONGEST_PAUSE, LOOK, notice, state_failed,
};
use callosum_app::mesh::subscription::{MOST_PENDING, Subscription, SubscriptionError};
use callosum_app::{CommandError, Exit};
use callosum_daemon::{Listening, ServerMessage, hand_in};
use callosum_mesh::event::{Draft, Event, LONGEST, UnreadValue, read_value};
use callosum_mesh::journal::{Cursor, Durability, JournalError};
use callosum_mesh::topic::Pattern;
use callosum_mesh::{Mesh, MeshError};
use clap::Args;
use serde_json::Value;

use super::author_args::SpeakerArgs;
use super::tail;
use crate::cli::context::Context;

/// Stream events until Ctrl-C, from now or from a saved position
///
/// Reads from the daemon if one is running, and from the files otherwise. It switches between them without missing an
/// event. With --state, a restart continues at the saved position.
///
/// With --publish, each line of standard input is published as one event in JSON. Events that cannot be published yet
/// wait, and are saved in the state file too.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum mesh subscribe --topic 'calc.**' --state /tmp/calc.json
  $ callosum mesh subscribe --json --since 17")]
pub(crate) struct SubscribeArgs {
    /// Only topics that match PATTERN (may be repeated)
    ///
    /// `*` matches one part of a topic, `**` any number of parts.
    #[arg(long, value_name = "PATTERN")]
    topic: Vec<Pattern>,
    /// Start after this cursor, unless the state file has a position
    #[arg(long, value_name = "CURSOR")]
    since: Option<Cursor>,
    /// Save the position and the waiting events in this file
    #[arg(long, value_name = "FILE")]
    state: Option<PathBuf>,
    /// Publish events from standard input, one JSON object per line
    #[arg(long)]
    publish: bool,
    #[command(flatten)]
    speaker: SpeakerArgs,
}

pub(super) fn run(context: &Context, args: &SubscribeArgs) -> Result<(), CommandError> {
    let mut mesh = open::synced_anyway(context)?;
    let path = args.state.as_ref().map(|path| context.folder.join(path));
    let own = Subscription::open(&context.disk, path).map_err(|error| state_failed(&error))?;
    let since = own.cursor.clone().or_else(|| args.since.clone());
    let cursor = match since {
        Some(cursor) => cursor,
        None => Cursor {
            seq: mesh.board().map_err(|error| open::explain(&error))?.seq,
            origin: Some(mesh.journal().origin().to_owned()),
        },
    };
    let mut subscriber = Subscriber {
        context,
        args,
        mesh,
        own,
        cursor,
        lines: args.publish.then(lines).transpose()?,
        kept: None,
        is_waiting_for_room: false,
        held: None,
    };
    // If the state cannot be written, the error comes before any event.
    subscriber.own.cursor = Some(subscriber.cursor.clone());
    subscriber
        .own
        .keep()
        .map_err(|error| state_failed(&error))?;
    let ended = subscriber.work();
    // However it ended, what was shown is not shown again.
    subscriber.kept = None;
    subscriber.is_waiting_for_room = false;
    let kept = subscriber.keep();
    if subscriber.is_waiting_for_room {
        let what = "cannot write the state: the disk is full; the last events will be received \
            again, and events not yet published are lost";
        let full = CommandError::new(Exit::Environment, what);
        // What it ended for besides; nothing where only its reader has gone.
        let besides = ended.err().map(|error| error.one_line());
        return Err(match besides.filter(|words| !words.is_empty()) {
            Some(words) => full.cause(words),
            None => full,
        });
    }
    kept?;
    ended
}

/// The lines of standard input, read by a thread of its own: nothing else can be done while one is waited for.
fn lines() -> Result<Receiver<String>, CommandError> {
    let (sender, receiver) = mpsc::sync_channel(LINES);
    let reading = thread::Builder::new().spawn(move || {
        let lines = std::io::stdin().lock().lines();
        for line in lines.map_while(Result::ok) {
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    reading.map_err(|error| {
        let what = "cannot read standard input";
        CommandError::because(Exit::Environment, what, &error)
    })?;
    Ok(receiver)
}

struct Subscriber<'c> {
    context: &'c Context,
    args: &'c SubscribeArgs,
    mesh: Mesh,
    own: Subscription,
    cursor: Cursor,
    lines: Option<Receiver<String>>,
    /// When the state was last written down.
    kept: Option<Instant>,
    /// Whether it could not be written because the disk is full: it is tried again, and the state
    /// in memory is used until then.
    is_waiting_for_room: bool,
    /// Until when nothing is tried that was refused for now.
    held: Option<Instant>,
}

impl Subscriber<'_> {
    fn work(&mut self) -> Result<(), CommandError> {
        let mut pause = FIRST_PAUSE;
        while !self.context.cancel.is_cancelled() {
            let folder = self.mesh.folder().to_owned();
            match Listening::begin(&folder, &self.args.topic, &self.cursor) {
                Ok(listening) => {
                    pause = FIRST_PAUSE;
                    self.hear(listening)?;
                }
                Err(_) => self.follow_files(pause)?,
            }
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
        Ok(())
    }

    /// Shows what the daemon tells, until it is gone.
    fn hear(&mut self, mut listening: Listening) -> Result<(), CommandError> {
        while !self.context.cancel.is_cancelled() {
            self.publish()?;
            match listening.next_event() {
                Ok(Some(event)) => {
                    self.show(&event)?;
                    self.keep_sometimes()?;
                }
                Ok(None) => self.keep()?,
                // It is tried again; until then the files have the same events.
                Err(_) => return Ok(()),
            }
        }
        Ok(())
    }

    fn show(&mut self, event: &ServerMessage) -> Result<(), CommandError> {
        if !event.data.is_empty() {
            let unread = |error: serde_json::Error| {
                let what = "cannot parse what the daemon sent";
                CommandError::because(Exit::Environment, what, &error)
            };
            if event.kind.is_empty() {
                let event: Event = serde_json::from_str(&event.data).map_err(unread)?;
                tail::show(self.context, &event)?;
            } else {
                let data: Value = serde_json::from_str(&event.data).map_err(unread)?;
                if let Some(notice) = notice(&event.kind, &data) {
                    tail::tell(self.context, &notice)?;
                }
            }
        }
        if let Ok(cursor) = event.cursor.parse() {
            self.cursor = cursor;
        }
        Ok(())
    }

    /// Shows what the files tell, for so long.
    fn follow_files(&mut self, pause: Duration) -> Result<(), CommandError> {
        let failed = |error| open::explain(&MeshError::Journal(error));
        if !self
            .mesh
            .is_in_place()
            .map_err(|error| open::explain(&error))?
        {
            self.mesh = open::mesh_again(self.context)?;
        }
        let mut reader = self.mesh.journal().read_after(&self.cursor);
        let began = Instant::now();
        loop {
            self.publish()?;
            let batch = reader.next_batch(BATCH).map_err(failed)?;
            for notice in &batch.notices {
                tail::tell(self.context, notice)?;
            }
            for event in &batch.events {
                let mut topics = self.args.topic.iter();
                let is_wanted = topics.len() == 0 || topics.any(|one| one.matches(&event.topic));
                if is_wanted {
                    tail::show(self.context, event)?;
                }
            }
            self.cursor = reader.cursor();
            if batch.events.is_empty() {
                self.keep()?;
                if began.elapsed() >= pause || self.context.cancel.is_cancelled() {
                    return Ok(());
                }
                thread::sleep(LOOK);
            } else {
                self.keep_sometimes()?;
            }
        }
    }

    /// Reads new events, and publishes them as far as the receiver accepts them.
    fn publish(&mut self) -> Result<(), CommandError> {
        let mut is_new = false;
        if let Some(lines) = &self.lines {
            while self.own.pending.len() < MOST_PENDING
                && let Ok(line) = lines.try_recv()
            {
                if let Some(event) = self.read(&line) {
                    self.own.pending.push_back(event);
                    is_new = true;
                }
            }
        }
        if is_new {
            // Before the attempt: a process that is killed now repeats it later.
            self.kept = None;
            self.keep()?;
        }
        if self.held.is_some_and(|until| Instant::now() < until) {
            return Ok(());
        }
        self.held = None;
        while let Some(event) = self.own.pending.front().cloned() {
            match self.tell(&event) {
                Acceptance::Yes => {}
                Acceptance::Never(reason) => {
                    let what = format!("an event was not published: {reason}");
                    self.context.report.warn(&what, None);
                }
                Acceptance::Later => {
                    self.held = Some(Instant::now() + LONGEST_PAUSE.min(Duration::from_secs(1)));
                    return Ok(());
                }
            }
            self.own.pending.pop_front();
            self.kept = None;
        }
        Ok(())
    }

    /// A line as an event with an id, by which a second copy is known as one.
    fn read(&self, line: &str) -> Option<Value> {
        if line.trim().is_empty() {
            return None;
        }
        let voice = self.args.speaker.voice(self.context);
        let mut event = match read_value(line) {
            Ok(event) if line.len() <= LONGEST => event,
            Ok(_) => return self.refuse("the event is too large (limit: 65,536 bytes)"),
            Err(UnreadValue::NoJson(error)) => {
                return self.refuse(&format!("invalid JSON: {error}"));
            }
            Err(error) => return self.refuse(&error.to_string()),
        };
        if let Some(members) = event.as_object_mut() {
            members
                .entry("source")
                .or_insert_with(|| voice.agent.as_str().into());
            let id = self.context.ids.uuid_v4();
            members.entry("id").or_insert_with(|| id.into());
        }
        match Draft::read(&event) {
            Ok(_) => Some(event),
            Err(faults) => self.refuse(&faults.to_string()),
        }
    }

    fn refuse(&self, reason: &str) -> Option<Value> {
        let what = format!("ignoring a line of standard input: {reason}");
        self.context.report.warn(&what, None);
        None
    }

    /// Passes an event to the daemon, or to the files if there is none.
    fn tell(&mut self, event: &Value) -> Acceptance {
        match hand_in(self.mesh.folder(), event) {
            Ok((200, _)) => Acceptance::Yes,
            // It took too long to say, for now.
            Ok((408, _)) => Acceptance::Later,
            Ok((400..=413, answer)) => {
                let reason = answer["error"].as_str().unwrap_or_default();
                Acceptance::Never(reason.to_owned())
            }
            // Temporarily unable to accept; or gone after it got the event, which it may have
            // processed.
            Ok(_) => Acceptance::Later,
            Err(_) => {
                let Ok(draft) = Draft::read(event) else {
                    return Acceptance::Never("not an event".to_owned());
                };
                match self.mesh.publish(draft, Durability::Logged) {
                    Ok(_) => Acceptance::Yes,
                    Err(
                        error @ (MeshError::Refused(_)
                        | MeshError::Faults(_)
                        | MeshError::Journal(
                            JournalError::Reused { .. } | JournalError::TooLong { .. },
                        )),
                    ) => Acceptance::Never(error.to_string()),
                    Err(_) => Acceptance::Later,
                }
            }
        }
    }

    fn keep_sometimes(&mut self) -> Result<(), CommandError> {
        let is_due = self.kept.is_none_or(|at| at.elapsed() >= KEEP);
        if is_due { self.keep() } else { Ok(()) }
    }

    /// Writes the cursor, if it has changed. On a full disk it goes on, and writes when there is
    /// room.
    fn keep(&mut self) -> Result<(), CommandError> {
        let is_news = self.own.cursor.as_ref() != Some(&self.cursor)
            || self.kept.is_none()
            || self.is_waiting_for_room;
        if !is_news {
            return Ok(());
        }
        self.own.cursor = Some(self.cursor.clone());
        let kept = self.own.keep();
        self.kept = Some(Instant::now());
        match kept {
            Ok(()) => self.is_waiting_for_room = false,
            Err(SubscriptionError::Disk(error)) if error.is_full() => {
                if !self.is_waiting_for_room {
                    let what = "cannot write the state: the disk is full; keeping it in memory \
                        until it can be written";
                    self.context.report.warn(what, None);
                }
                self.is_waiting_for_room = true;
            }
            Err(error) => return Err(state_failed(&error)),
        }
        Ok(())
    }
}
