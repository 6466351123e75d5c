//! Arguments and output of `callosum undo`.
//!
//! The use case is [`callosum_app::undo`].

mod select;

use std::collections::BTreeMap;

use callosum_app::agreement::Agreement;
use callosum_app::disk_errors::disk_failed;
use callosum_app::undo::output::{EntryOutput, FileOutput, UndoListOutput, UndoOutput};
use callosum_app::undo::select::{Selection, contents_of};
use callosum_app::undo::{LARGEST, short, write};
use callosum_app::{CommandError, Exit, many, snapshot};
use callosum_client::undo::{Call, FilePlan, FileState, History, Step, UndoLog, observe, plan};
use callosum_redact::terminal_escape::on_one_line;
use callosum_snapshot::{Retention, Store};
use clap::Args;

use self::select::select;
use super::agreement;
use super::context::Context;
use crate::ui::Table;

/// Undo the changes of an agent's last turn
///
/// Prints the files and lines that would change, and asks for confirmation. Restores only these files; run `callosum
/// undo` again to reverse it. A turn begins with each prompt. If the agent asks the guard, undo covers the files that
/// file tools wrote, and the changes of commands that the guard takes a snapshot for. Skips a file that someone else
/// changed since.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum undo
  $ callosum undo --dry-run
  $ callosum undo --agent claude --limit 3
  $ callosum undo --list
  $ callosum undo 3f2a91c4 --yes")]
pub(crate) struct UndoArgs {
    /// Beginning of an id in --list: the turn or undo to undo [default: the last]
    #[arg(value_name = "ID", conflicts_with_all = ["list", "limit"])]
    id: Option<String>,
    /// Only changes by this agent: claude, codex, gemini or qwen
    #[arg(long, value_name = "AGENT")]
    agent: Option<String>,
    /// Only changes of this session, by the beginning of its id
    #[arg(long, value_name = "SESSION")]
    session: Option<String>,
    /// Undo the last N calls of the agent instead of its last turn
    #[arg(short = 'n', long, value_name = "N", conflicts_with = "list", value_parser = clap::value_parser!(u16).range(1..))]
    limit: Option<u16>,
    /// List entries that can be undone, newest first
    #[arg(long)]
    list: bool,
    /// Print what would change, and change nothing
    #[arg(long, conflicts_with = "list")]
    dry_run: bool,
    /// Also restore files that someone else changed since
    #[arg(long, conflicts_with = "list")]
    force: bool,
    /// Do not ask for confirmation
    #[arg(short, long, conflicts_with = "list")]
    yes: bool,
}

pub(super) fn run(context: &Context, args: &UndoArgs) -> Result<(), CommandError> {
    let store = snapshot::store(context)?;
    let folder = context.project.homes.snapshots_of(store.tree());
    let log = UndoLog::new(&context.disk, &folder, Retention::default().age);
    let lines = log.read().map_err(|error| disk_failed(&error))?;
    let history = History::of(lines);
    if args.list {
        return list(context, args, &history);
    }
    let mut selection = select(args, history)?;
    callosum_app::undo::select::resolve(context, &store, &mut selection)?;
    undo(context, args, &store, &log, &selection)
}

fn undo(
    context: &Context,
    args: &UndoArgs,
    store: &Store,
    log: &UndoLog,
    selection: &Selection,
) -> Result<(), CommandError> {
    let history = &selection.history;
    let mut read: BTreeMap<String, Vec<u8>> = BTreeMap::new();
    let mut plans = plan(history, &selection.calls, |path| {
        match observe(&context.disk, &store.tree().join(path), LARGEST) {
            Ok((state, bytes)) => {
                read.extend(bytes.map(|bytes| (path.to_owned(), bytes)));
                state
            }
            Err(error) => FileState::unknown(error.to_string()),
        }
    });
    let before = |plan: &FilePlan| contents_of(log, selection, plan);
    for plan in &mut plans {
        let is_file = matches!(plan.before, FileState::File { .. });
        if is_file && plan.step != Step::Same && before(plan).is_none() {
            plan.step = Step::NotKept("its earlier content is gone".to_owned());
        }
    }
    let is_agreed = callosum_app::agreement::is_given(context, args.yes);
    let can_ask = !is_agreed && !args.dry_run && agreement::can_ask(context);
    let is_done = |plan: &FilePlan| match plan.step {
        Step::Restore => true,
        // The person who is asked has seen it.
        Step::Unverified => args.force || can_ask,
        Step::Conflict(_) => args.force && !plan.now.is_unknown(),
        Step::Same | Step::NotKept(_) => false,
    };
    let done: Vec<&FilePlan> = plans.iter().filter(|plan| is_done(plan)).collect();
    let mut output = UndoOutput {
        id: selection.id.clone(),
        agent: selection.agent.clone(),
        session: selection.session.clone(),
        calls: selection.calls.len(),
        files: plans
            .iter()
            .map(|plan| FileOutput::of(plan, is_done(plan)))
            .collect(),
        not_recorded: selection.more(),
        undo: None,
        patch: None,
    };
    if !context.ui.json || args.dry_run {
        let patch = done.iter().map(|plan| {
            let now = read.get(&plan.path).map(Vec::as_slice);
            callosum_app::undo::diff::unified(
                &plan.path,
                (&plan.now, now),
                (&plan.before, before(plan)),
            )
        });
        let patch: String = patch.collect();
        if !context.ui.json {
            tell(context, selection, &output)?;
            context.ui.foreign(&patch)?;
        }
        output.patch = args.dry_run.then_some(patch);
    }
    let is_whole = plans.iter().all(|plan| match plan.step {
        Step::Same => true,
        _ => is_done(plan),
    });
    if done.is_empty() || args.dry_run {
        if context.ui.json {
            context.ui.json_data(&output)?;
        } else if done.is_empty() {
            context.report.say("nothing to restore");
        }
        return ended(context, selection, &plans, is_whole);
    }
    if !is_agreed {
        let question = format!("restore {}?", many(done.len() as u64, "file"));
        match agreement::ask(context, &question)? {
            Agreement::Yes => {}
            Agreement::No => return Err(CommandError::told(Exit::No)),
            Agreement::CannotAsk => {
                if context.ui.json {
                    context.ui.json_data(&output)?;
                }
                let what = "nothing was undone: there is no terminal to confirm on";
                let hint = format!("callosum undo {} --yes", selection.words());
                return Err(CommandError::new(Exit::No, what).hint(hint));
            }
        }
    }
    let (id, failed) = write(context, (store, log), selection, &done, &read)?;
    output.undo = Some(id.clone());
    for file in &mut output.files {
        if let Some(reason) = failed.get(&file.path) {
            "failed".clone_into(&mut file.change);
            file.reason = Some(reason.clone());
        }
    }
    if context.ui.json {
        context.ui.json_data(&output)?;
    } else {
        let restored = done.len() - failed.len();
        let files = many(restored as u64, "file");
        context.report.say(&format!("restored {files}"));
        context
            .report
            .hint(&format!("undo this with: callosum undo {}", short(&id)));
        for (path, reason) in &failed {
            let what = format!("`{}` was not restored: {reason}", on_one_line(path));
            context.report.warn(&what, None);
        }
    }
    if !failed.is_empty() {
        return Err(CommandError::told(Exit::No));
    }
    ended(context, selection, &plans, is_whole)
}

/// Says what was left out, which makes the answer no.
fn ended(
    context: &Context,
    selection: &Selection,
    plans: &[FilePlan],
    is_whole: bool,
) -> Result<(), CommandError> {
    if is_whole {
        return Ok(());
    }
    let can_force = plans.iter().any(|plan| {
        matches!(plan.step, Step::Unverified | Step::Conflict(_)) && !plan.now.is_unknown()
    });
    if can_force && !context.ui.json {
        context.report.hint(&format!(
            "restore them all the same: callosum undo {} --force",
            selection.words()
        ));
    }
    Err(CommandError::told(Exit::No))
}

/// Prints the paths, and what becomes of each.
fn tell(context: &Context, selection: &Selection, output: &UndoOutput) -> Result<(), CommandError> {
    let session = output.session.as_deref().map_or(String::new(), |session| {
        format!(", session {}", on_one_line(&short(session)))
    });
    context.report.say(&format!(
        "{} of {}{session}, id {}:",
        selection.what,
        on_one_line(&output.agent),
        short(&selection.id)
    ));
    let mut table = Table::new(&["change", "file", "why"]);
    for file in &output.files {
        table.row([
            file.change.clone(),
            on_one_line(&file.path),
            on_one_line(file.reason.as_deref().unwrap_or_default()),
        ]);
    }
    context.ui.data(&table.render())?;
    if output.not_recorded > 0 {
        let more = many(output.not_recorded as u64, "more file");
        context.report.warn(
            &format!("{more} changed but not recorded"),
            Some("callosum snapshot list"),
        );
    }
    Ok(())
}

fn list(context: &Context, args: &UndoArgs, history: &History) -> Result<(), CommandError> {
    let entries = history.entries(args.agent.as_deref(), args.session.as_deref());
    let entries = entries.iter().rev().map(|entry| {
        let calls: Vec<&Call> = entry.calls.iter().map(|at| &history.calls[*at]).collect();
        EntryOutput::of(entry, &calls)
    });
    let entries: Vec<EntryOutput> = entries.collect();
    if context.ui.json {
        return context.ui.json_data(&UndoListOutput { entries });
    }
    if entries.is_empty() {
        context.report.say("nothing to undo");
        return Ok(());
    }
    let mut table = Table::new(&["id", "when", "agent", "calls", "files", "not kept", "what"]);
    for entry in &entries {
        let state = if entry.is_undone { "(undone) " } else { "" };
        table.row([
            short(&entry.id),
            entry.at.clone(),
            on_one_line(&entry.agent),
            entry.calls.to_string(),
            entry.files.len().to_string(),
            entry.not_kept.len().to_string(),
            format!("{state}{}", on_one_line(&entry.label)),
        ]);
    }
    context.ui.data(&table.render())?;
    for file in entries.iter().flat_map(|entry| &entry.not_kept) {
        let path = on_one_line(&file.path);
        context.report.say(&format!(
            "content not stored: {path} ({})",
            on_one_line(&file.reason)
        ));
    }
    Ok(())
}
