//! [`Whole`]: scout's answer with `--all` or `--section`, which the ledger has no room for.
//!
//! An entry's summary has at most 10,240 bytes. Scout is deterministic and reads a tree in well under a
//! second, so what did not fit is written again from the tree, checked like an answer, and printed. It is
//! not stored: the entry keeps the summary.

use callosum_executor::registry::EMBEDDED_ID;

use callosum_arbiter::delegation::{TaskReport, TaskStatus};
use callosum_citation::Review;
use callosum_citation::tokens::estimate;
use callosum_scout::{Kind, Limits, Survey};
use callosum_source::walk::{RelativePath, Scope};

use crate::context::Context;
use crate::delegate::options::DelegateOptions;
use crate::{CommandError, Exit};

/// An answer as `--all` or `--section` asks for it.
pub struct Whole {
    /// The answer.
    pub text: String,
    /// Its tokens, estimated.
    pub tokens: u64,
    /// Whether its citations hold.
    pub citations: Review,
}

impl Whole {
    /// Writes the answer to a task, if one of the options asks for more than its summary. Reads the
    /// part of the tree that the task is about.
    pub fn read(
        context: &Context,
        options: &DelegateOptions,
        task: &TaskReport,
    ) -> Result<Option<Self>, CommandError> {
        let TaskStatus::Committed { entry, .. } = &task.status else {
            return Ok(None);
        };
        if !is_asked_for(options) || entry.executor != EMBEDDED_ID {
            return Ok(None);
        }
        let kind = task.kind.unwrap_or_default();
        let paths = entry
            .metadata
            .get("paths")
            .and_then(|paths| paths.as_array());
        let paths = paths.into_iter().flatten().filter_map(|path| path.as_str());
        let paths = paths
            .map(RelativePath::parse)
            .collect::<Result<Vec<_>, _>>();
        let paths = paths.map_err(|error| CommandError::from_error(Exit::Usage, &error))?;
        let (disk, tree) = (&context.disk, context.tree());
        let survey = Survey::read_for(kind, disk, tree, &Scope::of(&paths), &mut |_| {})
            .map_err(|error| CommandError::from_error(Exit::Environment, &error))?;
        let limits = if options.all {
            Limits::ALL
        } else {
            Limits::SUMMARY
        };
        let digest = match &options.section {
            Some(section) => callosum_scout::digest_section(kind, section, &survey, limits)
                .map_err(|error| CommandError::from_error(Exit::Usage, &error))?,
            None => callosum_scout::digest(kind, &survey, limits),
        };
        Ok(Some(Self {
            tokens: estimate(&digest.text),
            citations: Review::of_text(disk, tree, &digest.text),
            text: digest.text,
        }))
    }
}

fn is_asked_for(options: &DelegateOptions) -> bool {
    options.all || options.section.is_some()
}

/// Refuses a section that the kind of digest does not have, before anything is started.
pub fn check_section(options: &DelegateOptions) -> Result<(), CommandError> {
    let Some(section) = &options.section else {
        return Ok(());
    };
    let kind = options.kind.unwrap_or_default();
    let known = kind.check_section(section);
    known.map_err(|error| {
        let option = match options.kind {
            None | Some(Kind::Scan) => String::new(),
            Some(_) => format!(" --kind {kind}"),
        };
        let first = kind.sections().first().copied().unwrap_or_default();
        CommandError::from_error(Exit::Usage, &error).hint(format!(
            "callosum delegate \"Map this repository\"{option} --section {first}"
        ))
    })
}

/// Refuses `--all` and `--section` for executors that write their own summaries.
pub fn check_executors(
    options: &DelegateOptions,
    executors: &[String],
) -> Result<(), CommandError> {
    let other = executors.iter().find(|id| *id != EMBEDDED_ID);
    match other {
        Some(id) if is_asked_for(options) => {
            let option = if options.all { "--all" } else { "--section" };
            let what = format!(
                "`{option}` needs the executor {EMBEDDED_ID}, whose answers have sections, but this task \
                 goes to {id}"
            );
            Err(CommandError::new(Exit::Usage, what).hint(format!("add --executor {EMBEDDED_ID}")))
        }
        _ => Ok(()),
    }
}
