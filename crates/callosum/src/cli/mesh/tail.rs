//! Arguments and output of `callosum mesh tail`.
//!
//! The use case is [`callosum_app::mesh::tail`].

use std::thread;

use callosum_app::CommandError;
use callosum_app::mesh::open;
use callosum_app::mesh::tail::{
    BATCH, EventsOutput, MOST_SHOWN, NoticeOutput, PAUSE, Since, since, unreadable,
};
use callosum_mesh::event::Event;
use callosum_mesh::journal::{Cursor, Notice, Reader};
use callosum_mesh::topic::Pattern;
use callosum_redact::terminal_escape::{in_json, on_one_line};
use clap::Args;
use jiff::Timestamp;

use crate::cli::context::Context;

/// Show events, oldest first
///
/// Prints the last ten events, unless --since or --limit is given. With --json, prints one object per line, as stored
/// in the log.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum mesh tail
  $ callosum mesh tail --topic 'calc.**' --since 1h
  $ callosum mesh tail --since 17 --json")]
pub(crate) struct TailArgs {
    /// Only topics that match PATTERN (may be repeated)
    ///
    /// `*` matches one part of a topic, `**` any number of parts.
    #[arg(long, value_name = "PATTERN")]
    topic: Vec<Pattern>,
    /// Only events after CURSOR, or since TIME: a date, a time (UTC) or an age (30m, 2h, 7d, 2w)
    #[arg(long, value_name = "CURSOR|TIME", value_parser = since)]
    since: Option<Since>,
    /// Print at most the last N events
    #[arg(
        short = 'n',
        long,
        value_name = "N",
        default_value = "10",
        conflicts_with = "since"
    )]
    limit: usize,
    /// Print new events until Ctrl-C
    #[arg(short, long)]
    follow: bool,
}

pub(super) fn run(context: &Context, args: &TailArgs) -> Result<(), CommandError> {
    let mut mesh = open::synced_anyway(context)?;
    let (cursor, not_before) = match &args.since {
        Some(Since::Cursor(cursor)) => (cursor.clone(), None),
        Some(Since::Time(moment)) => (Cursor::START, Some(moment.first(context.clock.now()))),
        None => (Cursor::START, None),
    };
    let mut reader = mesh.journal().read_after(&cursor);
    let is_any = if args.since.is_some() {
        pass_on(context, args, &mut reader, not_before)?
    } else {
        let mut last = std::collections::VecDeque::new();
        loop {
            let batch = reader.next_batch(BATCH).map_err(unreadable)?;
            if batch.events.is_empty() {
                break;
            }
            for event in batch
                .events
                .into_iter()
                .filter(|event| is_wanted(args, event))
            {
                last.push_back(event);
                if last.len() > args.limit {
                    last.pop_front();
                }
            }
        }
        for event in &last {
            show(context, event)?;
        }
        !last.is_empty()
    };
    if !is_any && !args.follow && !context.ui.json {
        context.report.say("no events");
    }
    while args.follow && !context.cancel.is_cancelled() {
        thread::sleep(PAUSE);
        let is_in_place = mesh.is_in_place();
        if !is_in_place.map_err(|error| open::explain(&error))? {
            // Another log has begun, which is reported, and read from its beginning.
            mesh = open::mesh_again(context)?;
            reader = mesh.journal().read_after(&reader.cursor());
        }
        pass_on(context, args, &mut reader, None)?;
    }
    Ok(())
}

/// Shows the events after the reader's place; returns `false` if there are none.
fn pass_on(
    context: &Context,
    args: &TailArgs,
    reader: &mut Reader,
    not_before: Option<Timestamp>,
) -> Result<bool, CommandError> {
    let mut is_any = false;
    loop {
        let batch = reader.next_batch(BATCH).map_err(unreadable)?;
        for notice in &batch.notices {
            tell(context, notice)?;
        }
        if batch.events.is_empty() || context.cancel.is_cancelled() {
            return Ok(is_any);
        }
        let is_new = |event: &&Event| not_before.is_none_or(|first| event.timestamp >= first);
        for event in batch.events.iter().filter(is_new) {
            if is_wanted(args, event) {
                is_any = true;
                show(context, event)?;
            }
        }
    }
}

fn is_wanted(args: &TailArgs, event: &Event) -> bool {
    args.topic.is_empty() || args.topic.iter().any(|topic| topic.matches(&event.topic))
}

pub(super) fn show(context: &Context, event: &Event) -> Result<(), CommandError> {
    if context.ui.json {
        let value = serde_json::to_value(event).map_err(CommandError::internal)?;
        return line(context, &EventsOutput::Event(value));
    }
    let payload = serde_json::to_string(&event.payload).unwrap_or_default();
    let payload = on_one_line(&payload);
    let mut shown: String = payload.chars().take(MOST_SHOWN).collect();
    if shown.len() < payload.len() {
        shown.push('…');
    }
    let Event {
        seq,
        timestamp,
        source,
        topic,
        ..
    } = event;
    let text = format!("{seq} {timestamp:.0} {source} {topic} {shown}\n");
    context.ui.read_by_all(&text)
}

pub(super) fn tell(context: &Context, notice: &Notice) -> Result<(), CommandError> {
    let (kind, message) = match notice {
        Notice::Reset { origin } => (
            "reset",
            format!(
                "the cursor is from another log, or past the end of this one, {origin}: reading \
                 from its beginning"
            ),
        ),
        Notice::Dropped { count } => ("dropped", format!("events no longer stored: {count}")),
        Notice::Damaged { count, path } => (
            "damaged",
            format!("lines that are not events: {count} of {}", path.display()),
        ),
    };
    if context.ui.json {
        let notice = NoticeOutput {
            notice: kind.to_owned(),
            message,
        };
        return line(context, &EventsOutput::Notice(notice));
    }
    context.report.warn(&message, None);
    Ok(())
}

fn line(context: &Context, output: &EventsOutput) -> Result<(), CommandError> {
    let text = serde_json::to_string(output).map_err(CommandError::internal)?;
    context.ui.foreign(&format!("{}\n", in_json(&text)))
}
