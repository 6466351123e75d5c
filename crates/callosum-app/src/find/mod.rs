//! `callosum find`: passages of the tree and of the project's stored texts, by words and names.
//!
//! [`documents`] gathers the stored texts; [`ck`] asks another program, if one is configured;
//! [`render`] prints.

pub mod ck;
pub mod documents;
pub mod render;

pub use self::ck::{CkOutput, find as configured_ck};

use std::path::Path;

use callosum_redact::secrets;
use callosum_search::{By, Index, IndexError, Model, Proximity, Query, Search, SearchHit, TREE};
use callosum_source::walk::{RelativePath, Scope, SourceTree, WalkError};
use schemars::JsonSchema;
use serde::Serialize;

use crate::context::Context;
use crate::report::Progress;
use crate::{CommandError, Exit, many};

/// `callosum find --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub struct FindOutput {
    /// Hits, the best first.
    pub found: Vec<FoundOutput>,
    /// Result of `ck`; null if it is not configured, or was not asked.
    pub ck: Option<CkOutput>,
}

/// A passage, as `--json` and `--jsonl` have it.
#[derive(Debug, JsonSchema, Serialize)]
pub struct FoundOutput {
    /// `tree`, `decision`, `notes`, `bead` or `ledger`.
    pub collection: String,
    /// The file's path from the root, the decision's time, the bead's or the task's id.
    pub path: String,
    /// Its first line, from 1.
    pub first_line: u32,
    /// Its last line.
    pub last_line: u32,
    /// Kind of the hit: `function`, `method`, `type`, `interface`, `constant`, `macro`, `module`,
    /// `section` or `lines`.
    pub kind: String,
    /// Its name; empty where it has none.
    pub name: String,
    /// Name of the container.
    pub container: Option<String>,
    /// Share of the query that it matches, from 0 to 1, reduced by up to a quarter of that by rank.
    pub score: f64,
    /// All of it.
    pub text: String,
}

/// Passages of the tree alone that have at least this much of what is looked for, so much of it in one
/// place.
pub fn in_tree(
    context: &Context,
    query: &str,
    (threshold, together): (f64, Proximity),
    limit: usize,
) -> Result<Answer, CommandError> {
    let mut search = Search {
        ask: asked(query)?,
        by: By::All,
        section: None,
        scope: Scope::WHOLE,
        limit,
        threshold,
        together: Some(together),
        proposals: Vec::new(),
    };
    let mut answer = searched(context, &mut search)?;
    answer.found.retain(|found| found.collection == TREE);
    Ok(answer)
}

/// Result of a search.
pub struct Answer {
    /// The passages, the best first.
    pub found: Vec<SearchHit>,
    /// Report about `ck`, if it was asked.
    pub ck: Option<CkOutput>,
}

/// Scope and size of a search, as an agent asks for them.
pub struct Narrowing<'a> {
    /// The files and folders; none is all.
    pub paths: &'a [String],
    /// Most passages.
    pub limit: usize,
    /// Whether each passage is shown as a whole.
    pub whole: bool,
}

/// Returns passages of the tree and of stored texts, each as a text, the best first.
pub fn passages(
    context: &Context,
    query: &str,
    narrowing: &Narrowing<'_>,
) -> Result<Vec<String>, CommandError> {
    let mut search = Search {
        ask: asked(query)?,
        by: By::All,
        section: None,
        scope: scope(narrowing.paths)?,
        limit: narrowing.limit,
        threshold: 0.0,
        together: None,
        proposals: Vec::new(),
    };
    let found = searched(context, &mut search)?.found;
    let shown = |found| render::passage(found, &search.ask, narrowing.whole);
    Ok(found.iter().map(shown).collect())
}

/// Searches. A damaged index is built again from scratch.
pub fn searched(context: &Context, search: &mut Search) -> Result<Answer, CommandError> {
    let (proposals, ck) = ck::ask(context, search)?;
    search.proposals = proposals;
    let found = match look(context, search) {
        Err(IndexOrTree::Index(error)) if error.is_damage() => {
            let file = file(context);
            Index::anew(&context.disk, &file).map_err(|error| unusable(&error))?;
            look(context, search)
        }
        looked => looked,
    };
    let found = found.map_err(|error| match error {
        IndexOrTree::Index(IndexError::Cancelled) | IndexOrTree::Tree(WalkError::Cancelled) => {
            CommandError::new(Exit::Interrupted, "the search was interrupted")
        }
        IndexOrTree::Index(error) => unusable(&error),
        IndexOrTree::NoModel(error) => error,
        IndexOrTree::Tree(error) => {
            let exit = match error {
                WalkError::NotThere { .. } | WalkError::Leaves { .. } => Exit::Usage,
                WalkError::NotAFolder { .. } | WalkError::Disk(_) | WalkError::Cancelled => {
                    Exit::Environment
                }
            };
            CommandError::because(exit, "cannot search the tree", &error)
        }
    })?;
    Ok(Answer {
        found: found.into_iter().map(without_secrets).collect(),
        ck,
    })
}

/// Masks secrets in what a passage shows; its lines keep their numbers.
fn without_secrets(found: SearchHit) -> SearchHit {
    let mask = |text: String| secrets::mask_in_place(&text).text;
    SearchHit {
        name: mask(found.name),
        container: found.container.map(mask),
        text: mask(found.text),
        ..found
    }
}

/// Parses a query, which must have a word.
pub fn asked(query: &str) -> Result<Query, CommandError> {
    let ask = Query::read(query);
    if ask.units.is_empty() {
        let what = "the query contains no words";
        return Err(
            CommandError::new(Exit::Usage, what).hint("callosum find \"where is the config read\"")
        );
    }
    Ok(ask)
}

/// Converts a path that a person typed to one from the root. As a shell completes it, it is
/// relative to the current folder or absolute; it is relative to the root if it only exists there.
pub fn from_root(context: &Context, path: &str) -> String {
    let root = context.tree();
    let is_there = |path: &Path| context.disk.exists(path).unwrap_or(false);
    let here = context.folder.join(path);
    match here.strip_prefix(root).ok().and_then(Path::to_str) {
        Some(below) if is_there(&here) || !is_there(&root.join(path)) => below.to_owned(),
        _ => path.to_owned(),
    }
}

/// Returns the scope of a search below these paths.
pub fn scope(paths: &[String]) -> Result<Scope, CommandError> {
    let paths: Result<Vec<_>, _> = paths.iter().map(|path| RelativePath::parse(path)).collect();
    let paths = paths.map_err(|error| CommandError::from_error(Exit::Usage, &error))?;
    Ok(Scope::of(&paths))
}

enum IndexOrTree {
    Index(IndexError),
    Tree(WalkError),
    NoModel(CommandError),
}

impl From<IndexError> for IndexOrTree {
    fn from(error: IndexError) -> Self {
        Self::Index(error)
    }
}

fn file(context: &Context) -> std::path::PathBuf {
    context.project.homes.search_index(context.tree())
}

/// Opens the installed model. If it cannot be used, warns, and the search goes on without it,
/// unless only the model was asked.
fn model(context: &Context, by: By) -> Result<Option<Model>, IndexOrTree> {
    let folder = context.project.homes.model();
    let is_needed = by == By::Meaning;
    match Model::open(&context.disk, &folder) {
        Ok(None) if is_needed => {
            let hint = format!(
                "put model.safetensors and tokenizer.json into {}",
                folder.display()
            );
            let missing = CommandError::new(Exit::Environment, "no model is installed");
            Err(IndexOrTree::NoModel(missing.hint(hint)))
        }
        Ok(model) => Ok(model),
        Err(error) if is_needed => {
            let what = "cannot search by meaning";
            let unusable = CommandError::because(Exit::Environment, what, &error);
            Err(IndexOrTree::NoModel(unusable))
        }
        Err(error) => {
            let hint = format!("searched by words; see {}", folder.display());
            context.report.warn(&error.to_string(), Some(&hint));
            Ok(None)
        }
    }
}

/// Brings the index in line, and asks it.
fn look(context: &Context, search: &Search) -> Result<Vec<SearchHit>, IndexOrTree> {
    let progress = context.report.progress("scanning the tree");
    let read = |scope: &Scope| {
        SourceTree::read_for_search(&context.disk, context.tree(), scope, &context.cancel)
            .map_err(IndexOrTree::Tree)
    };
    let tree = read(&Scope::WHOLE)?;
    // A path that is not there is a mistake, not a part in which nothing is found.
    if !search.scope.paths.is_empty() {
        read(&search.scope)?;
    }
    let path = file(context);
    let kept = Index::open(&context.disk, &path).map_err(IndexOrTree::from);
    let found = match kept.and_then(|index| asked_of(context, search, &tree, index, &progress)) {
        // A sandbox, a mount that is read-only, a disk that is full.
        Err(IndexOrTree::Index(error)) if error.is_unwritable() => {
            context.report.detail(&format!(
                "searched in memory: cannot write the index {}",
                path.display()
            ));
            asked_of(context, search, &tree, Index::in_memory(&path)?, &progress)
        }
        found => found,
    };
    drop(progress);
    found
}

/// Brings an index in line, and asks it.
fn asked_of(
    context: &Context,
    search: &Search,
    tree: &SourceTree,
    index: Index,
    progress: &Progress,
) -> Result<Vec<SearchHit>, IndexOrTree> {
    let index = index.with_cancel(context.cancel.clone());
    let mut index = index.with_model(model(context, search.by)?)?;
    let updated = index.update_tree(&context.disk, tree, |done, all| {
        progress.now(format!("reading changed files: {done} of {all}"));
    })?;
    documents::update(context, &mut index, progress)?;
    if updated.read + updated.gone > 0 {
        context.report.detail(&format!(
            "{} read, {} gone",
            many(updated.read as u64, "file"),
            updated.gone
        ));
    }
    Ok(index.search(&context.disk, tree, search)?)
}

fn unusable(error: &IndexError) -> CommandError {
    CommandError::because(Exit::Environment, "cannot search", error)
}

/// Parses a share from 0 to 1.
pub fn share(text: &str) -> Result<f64, String> {
    let share = text.parse::<f64>().ok();
    share
        .filter(|share| (0.0..=1.0).contains(share))
        .ok_or_else(|| "expected a number from 0 to 1".to_owned())
}
