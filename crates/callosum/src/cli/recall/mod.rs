//! Arguments and output of `callosum recall`.
//!
//! The use case is [`callosum_app::recall`].

use std::fmt::Write as _;

use callosum_app::recall::output::{
    ErrorOutput, FixOutput, HistoryOutput, RecallChangeOutput, RecallListOutput, RecallShowOutput,
    RecallSimilarOutput, SimilarOutput,
};
use callosum_app::recall::{MOST_EXPORTED, failed, named, open, project, short};
use callosum_app::{CommandError, Exit, many};
use callosum_intervention::knowledge::PersonalFix;
use callosum_intervention::recall::{RecallDb, Signature, THRESHOLD};
use callosum_redact::secrets::mask;
use callosum_redact::terminal_escape::on_one_line;
use clap::{ArgGroup, Args, Subcommand};

use super::context::Context;
use crate::ui::{Table, shown_time};

/// List errors that agents hit in this project, and their fixes
///
/// Callosum records every error in the output of an agent's command for 24 hours, with secrets masked. When the same
/// command succeeds later, the commands and edits in between are stored as its fix. The fix is offered to every agent
/// of this project that hits the error again.
#[derive(Debug, Subcommand)]
pub(crate) enum RecallCommand {
    /// List errors, latest first
    #[command(after_long_help = "\
Examples:
  $ callosum recall list
  $ callosum recall list --type ModuleNotFoundError --limit 5 --json")]
    List(ListArgs),
    /// Show an error with its fixes and messages
    #[command(after_long_help = "\
Examples:
  $ callosum recall show 3f2a91
  $ callosum recall show 3f2a91 --json")]
    Show(ShowArgs),
    /// Find recorded errors that are similar to a text or another error
    #[command(after_long_help = "\
Examples:
  $ callosum recall similar \"ModuleNotFoundError: No module named 'requests'\"
  $ callosum recall similar 3f2a91 --threshold 0.7")]
    Similar(SimilarArgs),
    /// Remove an error with its fixes, or all errors of this project
    #[command(after_long_help = "\
Examples:
  $ callosum recall forget 3f2a91
  $ callosum recall forget --all")]
    Forget(ForgetArgs),
    /// Print errors with their fixes as JSON lines
    #[command(after_long_help = "\
Examples:
  $ callosum recall export > recall.jsonl")]
    Export,
    /// Record whether a fix or a message helped
    ///
    /// ID is the number of a fix, or the id of a message, as `callosum recall show` prints them. A fix that failed more
    /// often than it worked is no longer offered.
    #[command(after_long_help = "\
Examples:
  $ callosum recall outcome 12 --worked
  $ callosum recall outcome 12 --failed")]
    Outcome(OutcomeArgs),
    /// Record a fix for an error, offered before learned ones
    #[command(after_long_help = "\
Examples:
  $ callosum recall fix 3f2a91 --run 'uv add requests'
  $ callosum recall fix 3f2a91 --run 'make deps' --note 'the lock file is generated'")]
    Fix(FixArgs),
}

#[derive(Args, Debug)]
pub(crate) struct ListArgs {
    /// Only errors of this type
    #[arg(long = "type", value_name = "TYPE")]
    error_type: Option<String>,
    /// Print at most N errors
    #[arg(short = 'n', long, value_name = "N", default_value_t = 20)]
    limit: u32,
    /// List the errors of all projects on this machine
    #[arg(long)]
    all_projects: bool,
}

#[derive(Args, Debug)]
pub(crate) struct ShowArgs {
    /// Beginning of the error's signature
    #[arg(value_name = "SIGNATURE")]
    signature: String,
}

#[derive(Args, Debug)]
pub(crate) struct SimilarArgs {
    /// Text of an error, or the beginning of a signature
    #[arg(value_name = "TEXT|SIGNATURE")]
    text: String,
    /// Lowest similarity, from 0 to 1
    #[arg(long, value_name = "SHARE", default_value_t = THRESHOLD)]
    threshold: f64,
    /// Print at most N errors
    #[arg(short = 'n', long, value_name = "N", default_value_t = 10)]
    limit: usize,
}

#[derive(Args, Debug)]
#[command(group = ArgGroup::new("which").required(true))]
pub(crate) struct ForgetArgs {
    /// Beginning of the error's signature
    #[arg(value_name = "SIGNATURE", group = "which")]
    signature: Option<String>,
    /// Remove all records of this project
    #[arg(long, group = "which")]
    all: bool,
}

#[derive(Args, Debug)]
#[command(group = ArgGroup::new("result").required(true))]
pub(crate) struct OutcomeArgs {
    /// Number of a fix, or id of a message
    #[arg(value_name = "ID")]
    id: String,
    /// The fix or message helped
    #[arg(long, group = "result")]
    worked: bool,
    /// The fix or message did not help
    #[arg(long, group = "result")]
    failed: bool,
}

#[derive(Args, Debug)]
pub(crate) struct FixArgs {
    /// Beginning of the error's signature
    #[arg(value_name = "SIGNATURE")]
    signature: String,
    /// Command that fixes the error; may be given several times
    #[arg(long, value_name = "CMD", required = true)]
    run: Vec<String>,
    /// Note to print with the fix
    #[arg(long, value_name = "TEXT")]
    note: Option<String>,
}

/// Runs `callosum recall`.
pub(super) fn run(context: &Context, command: &RecallCommand) -> Result<(), CommandError> {
    let database = open(context)?;
    match command {
        RecallCommand::List(args) => list(context, &database, args),
        RecallCommand::Show(args) => show(context, &database, args),
        RecallCommand::Similar(args) => similar(context, &database, args),
        RecallCommand::Forget(args) => forget(context, &database, args),
        RecallCommand::Export => export(context, &database),
        RecallCommand::Outcome(args) => outcome(context, &database, args),
        RecallCommand::Fix(args) => fix(context, &database, args),
    }
}

fn list(context: &Context, database: &RecallDb, args: &ListArgs) -> Result<(), CommandError> {
    let project = project(context);
    let project = (!args.all_projects).then_some(&*project);
    let errors = database
        .list(project, args.error_type.as_deref(), args.limit)
        .map_err(failed)?;
    if context.ui.json {
        let errors = errors.into_iter().map(ErrorOutput::from).collect();
        return context.ui.json_data(&RecallListOutput { errors });
    }
    if errors.is_empty() {
        context.report.say("no errors are recorded");
        return Ok(());
    }
    let mut table = Table::new(&["error", "type", "place", "seen", "last", "message"]);
    for error in &errors {
        table.row([
            short(&error.error_signature),
            on_one_line(&error.error_type),
            on_one_line(error.file_path.as_deref().unwrap_or_default()),
            error.occurrence_count.to_string(),
            shown_time(&error.last_seen),
            on_one_line(&error.message),
        ]);
    }
    context.ui.page(&table.render())
}

fn show(context: &Context, database: &RecallDb, args: &ShowArgs) -> Result<(), CommandError> {
    let error = named(context, database, &args.signature)?;
    let fixes = database
        .fixes(&error.error_signature, &error.project)
        .map_err(failed)?;
    let history = database
        .history(&error.error_type, &error.project)
        .map_err(failed)?;
    let interventions = database
        .interventions(&error.error_signature, &error.project)
        .map_err(failed)?;
    if context.ui.json {
        return context.ui.json_data(&RecallShowOutput {
            error: error.into(),
            fixes: fixes.into_iter().map(FixOutput::from).collect(),
            interventions: interventions.into_iter().map(Into::into).collect(),
            history: HistoryOutput::from(history),
        });
    }
    let mut text = String::new();
    let _ = writeln!(
        text,
        "{}: {}",
        on_one_line(&error.error_type),
        on_one_line(&error.message)
    );
    if let Some(file) = &error.file_path {
        let _ = writeln!(text, "  file      {}", on_one_line(file));
    }
    let _ = writeln!(text, "  signature {}", error.error_signature);
    let _ = writeln!(
        text,
        "  seen      {}, last {} by {}",
        many(u64::from(error.occurrence_count), "time"),
        shown_time(&error.last_seen),
        on_one_line(&error.last_client)
    );
    let _ = writeln!(text, "  command   {}", on_one_line(&error.last_command));
    for fix in &fixes {
        let mut parts: Vec<String> = fix
            .commands
            .iter()
            .map(|command| format!("run `{}`", on_one_line(command)))
            .collect();
        parts.extend(
            fix.files
                .iter()
                .map(|file| format!("change {}", on_one_line(file))),
        );
        let _ = writeln!(
            text,
            "  fix {:<5} {} (worked {}, failed {}{}{})",
            fix.id,
            parts.join(", "),
            fix.worked,
            fix.failed,
            if fix.confirmed {
                ", confirmed by a person"
            } else {
                ""
            },
            if fix.is_offered() {
                ""
            } else {
                ", not offered"
            },
        );
        if let Some(note) = &fix.note {
            let _ = writeln!(text, "            {}", on_one_line(note));
        }
    }
    for sent in &interventions {
        let result = match sent.success {
            Some(true) => "helped",
            Some(false) => "did not help",
            None => "open",
        };
        let _ = writeln!(
            text,
            "  message {} to {}, {}: {} ({result})",
            sent.id,
            on_one_line(&sent.client),
            shown_time(&sent.at),
            on_one_line(&sent.text)
        );
    }
    context.ui.page(&text)
}

fn similar(context: &Context, database: &RecallDb, args: &SimilarArgs) -> Result<(), CommandError> {
    if !(0.0..=1.0).contains(&args.threshold) {
        return Err(CommandError::new(
            Exit::Usage,
            format!("`--threshold` is {} (allowed: 0 to 1)", args.threshold),
        ));
    }
    let is_signature = args.text.len() >= 4
        && args
            .text
            .trim_start_matches("sha256:")
            .bytes()
            .all(|byte| byte.is_ascii_hexdigit());
    let normalized = if is_signature {
        let error = named(context, database, &args.text)?;
        database
            .normalized(&error.error_signature, &error.project)
            .map_err(failed)?
            .unwrap_or_default()
    } else {
        // `Type: message`, as most tools print it, is stored as `Type FILE message`.
        Signature::of_text(&args.text).normalized
    };
    let similar = database
        .similar(&normalized, args.threshold, args.limit)
        .map_err(failed)?;
    if context.ui.json {
        let similar = similar
            .into_iter()
            .map(|one| SimilarOutput {
                score: one.score,
                error: one.record.into(),
            })
            .collect();
        return context.ui.json_data(&RecallSimilarOutput { similar });
    }
    if similar.is_empty() {
        context.report.say("no similar errors");
        return Ok(());
    }
    let mut table = Table::new(&["score", "error", "type", "seen", "message"]);
    for one in &similar {
        table.row([
            format!("{:.2}", one.score),
            short(&one.record.error_signature),
            on_one_line(&one.record.error_type),
            one.record.occurrence_count.to_string(),
            on_one_line(&one.record.message),
        ]);
    }
    context.ui.page(&table.render())
}

fn forget(context: &Context, database: &RecallDb, args: &ForgetArgs) -> Result<(), CommandError> {
    let removed = if let Some(prefix) = &args.signature {
        let error = named(context, database, prefix)?;
        let was_there = database.forget(&error.error_signature, &error.project);
        usize::from(was_there.map_err(failed)?)
    } else {
        database.forget_project(&project(context)).map_err(failed)?
    };
    changed(
        context,
        RecallChangeOutput {
            changed: removed,
            fix: None,
        },
        &format!("removed {}", many(removed as u64, "error")),
    )
}

fn export(context: &Context, database: &RecallDb) -> Result<(), CommandError> {
    let project = project(context);
    let errors = database
        .list(Some(&project), None, MOST_EXPORTED)
        .map_err(failed)?;
    let mut text = String::new();
    for error in errors {
        let fixes = database
            .fixes(&error.error_signature, &project)
            .map_err(failed)?;
        let line = serde_json::json!({"error": error, "fixes": fixes});
        let _ = writeln!(text, "{line}");
    }
    context.ui.data(&text)
}

fn outcome(context: &Context, database: &RecallDb, args: &OutcomeArgs) -> Result<(), CommandError> {
    let now = context.clock.now();
    let fix = args.id.parse::<i64>().ok();
    let is_known = match fix {
        Some(id) => database.judge_fix(id, &project(context), args.worked),
        None => database.update_outcome(&args.id, args.worked, now),
    };
    if !is_known.map_err(failed)? {
        return Err(CommandError::new(
            Exit::Usage,
            format!("no fix or message of this project has the id `{}`", args.id),
        )
        .hint("callosum recall show SIGNATURE"));
    }
    let result = if args.worked {
        "worked"
    } else {
        "did not work"
    };
    changed(
        context,
        RecallChangeOutput { changed: 1, fix },
        &format!("recorded that {} {result}", args.id),
    )
}

fn fix(context: &Context, database: &RecallDb, args: &FixArgs) -> Result<(), CommandError> {
    let error = named(context, database, &args.signature)?;
    let normalized = database
        .normalized(&error.error_signature, &error.project)
        .map_err(failed)?
        .unwrap_or_default();
    // Every agent of the project reads it.
    let commands: Vec<String> = args.run.iter().map(|run| mask(run).text).collect();
    let note = args.note.as_ref().map(|note| mask(note).text);
    let fix = PersonalFix {
        signature: &error.error_signature,
        normalized: &normalized,
        error_type: &error.error_type,
        project: &error.project,
        commands: &commands,
        note: note.as_deref(),
    };
    let id = database
        .add_fix(&fix, context.clock.now())
        .map_err(failed)?;
    changed(
        context,
        RecallChangeOutput {
            changed: 1,
            fix: Some(id),
        },
        &format!("stored fix {id} of {}", short(&error.error_signature)),
    )
}

/// Prints what was changed.
fn changed(context: &Context, output: RecallChangeOutput, line: &str) -> Result<(), CommandError> {
    if context.ui.json {
        return context.ui.json_data(&output);
    }
    context.report.say(line);
    Ok(())
}
