//! `callosum session sync`: takes the session files of another project, through its MCP server.

use std::collections::HashMap;
use std::ffi::OsString;
use std::time::Duration;

use callosum_executor::transport::{
    Resource, ResourceError, ResourceQuery, ResourceServer, read_resources,
};
use callosum_redact::secrets::mask_command;
use callosum_session::sync::{
    INDEX, LeftOut, MOST_PARTS, Named, NewDecision, Offer, Pulled, Received,
};
use callosum_session::trajectory::Agent;
use schemars::JsonSchema;
use serde::Serialize;

use crate::context::Context;
use crate::session::{explain, repos, session, tell_mended};
use crate::{CommandError, Exit, shell_word};

/// Longest silence of the other side, unless the person names another.
pub const USUAL_QUIET: Duration = Duration::from_mins(1);

/// Longest time of a sync.
const LONGEST: Duration = Duration::from_mins(30);

/// The other project.
#[derive(Clone, Copy, Debug)]
pub enum SyncSource<'s> {
    /// A project of this machine.
    Path(&'s str),
    /// A command that starts its server.
    Command(&'s [OsString]),
}

/// Wishes of the person.
#[derive(Clone, Copy, Debug)]
pub struct SyncOptions<'s> {
    /// The other project.
    pub source: SyncSource<'s>,
    /// Whether nothing is to be written.
    pub dry_run: bool,
    /// Longest silence of the other side.
    pub quiet: Duration,
}

/// `callosum session sync --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub struct SyncOutput {
    /// The other project: its root, or the command.
    pub from: String,
    /// Whether nothing was written.
    pub dry_run: bool,
    /// Whether any file changed, or would.
    pub changed: bool,
    /// Decisions that are new in the notes.
    pub decisions: Vec<SyncDecisionOutput>,
    /// Decisions that the other side removed or renamed.
    pub removed: Vec<SyncDecisionOutput>,
    /// Whether the notes changed.
    pub notes_changed: bool,
    /// Beads that are new or changed.
    pub beads: Vec<SyncBeadOutput>,
    /// Records that are new.
    pub records: Vec<SyncRecordsOutput>,
    /// Values that both sides changed differently; ours stay.
    pub conflicts: Vec<SyncNoteOutput>,
    /// Values of beads that differ there because they changed here.
    pub differing: Vec<SyncNoteOutput>,
    /// Other values of theirs that gave way, and lines that were left out.
    pub notices: Vec<SyncNoteOutput>,
    /// Files that were not taken.
    pub left_out: Vec<SyncNoteOutput>,
}

/// A decision of the notes.
#[derive(Debug, JsonSchema, Serialize)]
pub struct SyncDecisionOutput {
    /// When it was made.
    pub ts: String,
    /// Its title.
    pub title: String,
}

/// A bead.
#[derive(Debug, JsonSchema, Serialize)]
pub struct SyncBeadOutput {
    /// Its id.
    pub id: String,
    /// `added` or `changed`.
    pub change: String,
    /// The keys whose values changed; none of a new one.
    pub keys: Vec<String>,
}

/// Records of an agent and a day.
#[derive(Debug, JsonSchema, Serialize)]
pub struct SyncRecordsOutput {
    /// The agent.
    pub agent: String,
    /// The day.
    pub day: String,
    /// Their number.
    pub count: usize,
}

/// Something about a file.
#[derive(Debug, JsonSchema, Serialize)]
pub struct SyncNoteOutput {
    /// The file, from the root.
    pub file: String,
    /// The finding.
    pub what: String,
}

impl From<NewDecision> for SyncDecisionOutput {
    fn from(NewDecision { ts, title }: NewDecision) -> Self {
        Self { ts, title }
    }
}

impl From<Named> for SyncNoteOutput {
    fn from(Named { file, what }: Named) -> Self {
        Self { file, what }
    }
}

impl From<LeftOut> for SyncNoteOutput {
    fn from(LeftOut { file, why }: LeftOut) -> Self {
        Self { file, what: why }
    }
}

impl SyncOutput {
    fn new(from: String, dry_run: bool, pulled: Pulled) -> Self {
        let changed = pulled.changes_anything();
        let beads = pulled.beads.into_iter().map(|bead| SyncBeadOutput {
            change: if bead.is_new { "added" } else { "changed" }.to_owned(),
            id: bead.id,
            keys: bead.keys,
        });
        let records = pulled.records.into_iter().map(|new| SyncRecordsOutput {
            agent: new.agent,
            day: new.day,
            count: new.records,
        });
        Self {
            from,
            dry_run,
            changed,
            decisions: pulled.decisions.into_iter().map(Into::into).collect(),
            removed: pulled.removed.into_iter().map(Into::into).collect(),
            notes_changed: pulled.notes_changed,
            beads: beads.collect(),
            records: records.collect(),
            conflicts: pulled.conflicts.into_iter().map(Into::into).collect(),
            differing: pulled.differing.into_iter().map(Into::into).collect(),
            notices: pulled.notices.into_iter().map(Into::into).collect(),
            left_out: pulled.left.into_iter().map(Into::into).collect(),
        }
    }
}

/// Takes the session files of another project, or shows what would be taken.
///
/// Everything is read before anything is written. The command comes from the person alone: no file
/// of a project names one.
pub fn sync(context: &Context, options: &SyncOptions<'_>) -> Result<SyncOutput, CommandError> {
    let self_program = std::env::current_exe().map_err(|error| {
        let what = "cannot find the path of this program";
        CommandError::because(Exit::Environment, what, &error)
    })?;
    let (from, command) = match options.source {
        SyncSource::Path(path) => {
            let zones = repos::other(context, path)?;
            let arguments = ["-C".into(), zones.tree.into_os_string(), "mcp".into()];
            let command = (self_program.clone().into_os_string(), arguments.into());
            (zones.root.display().to_string(), command)
        }
        SyncSource::Command([]) => {
            return Err(CommandError::new(Exit::Usage, "no command was given"));
        }
        SyncSource::Command([program, arguments @ ..]) => {
            let words = [program].into_iter().chain(arguments);
            let words = words.map(|word| shell_word(&word.to_string_lossy()));
            let line = words.collect::<Vec<_>>().join(" ");
            let command = (program.clone(), arguments.to_vec());
            (mask_command(&line).text, command)
        }
    };
    let zones = context.zones();
    let session = session(context, &zones, Agent::default());
    let environment = context.environment.iter();
    let server = ResourceServer {
        self_program,
        command,
        folder: context.folder.clone(),
        environment: environment
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect(),
        quiet: options.quiet,
        total: LONGEST.max(options.quiet),
    };
    let query = ResourceQuery {
        index: INDEX.to_owned(),
        known: session
            .known_parts(&from)
            .map_err(|error| explain(&error))?,
        most: MOST_PARTS,
    };
    context.report.detail(&format!("reading {from}"));
    let resources = read_resources(&server, query, &context.cancel)
        .map_err(|error| not_read(&from, options, &error))?;
    let received = received(&from, resources)?;
    let pulled = if options.dry_run {
        session.preview(&from, &received)
    } else {
        session.hold().and_then(|held| {
            tell_mended(context, &held);
            held.pull(&from, &received)
        })
    };
    let pulled = pulled.map_err(|error| explain(&error))?;
    Ok(SyncOutput::new(from, options.dry_run, pulled))
}

/// Returns the offer among the resources, with their contents.
fn received(from: &str, resources: Vec<Resource>) -> Result<Received, CommandError> {
    let mut contents: HashMap<String, String> = HashMap::new();
    for Resource { uri, text } in resources {
        contents.entry(uri).or_insert(text);
    }
    let index = contents.remove(INDEX).unwrap_or_default();
    let offer = Offer::read(&index).map_err(|error| {
        let what = format!("cannot sync from `{from}`");
        CommandError::because(Exit::No, what, &error).hint("nothing was changed")
    })?;
    Ok(Received { offer, contents })
}

fn not_read(from: &str, options: &SyncOptions<'_>, error: &ResourceError) -> CommandError {
    let exit = match error {
        ResourceError::Cancelled => Exit::Interrupted,
        ResourceError::Spawn(_) => Exit::Environment,
        _ => Exit::No,
    };
    let what = format!("cannot sync from `{from}`");
    let error_shown = CommandError::because(exit, what, error);
    match (error, options.source) {
        (ResourceError::Quiet { .. }, SyncSource::Command(_)) => error_shown.hint(
            "nothing was changed; the command must not ask for a password, and must start `callosum mcp`",
        ),
        _ => error_shown.hint("nothing was changed"),
    }
}
