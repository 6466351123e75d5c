//! From arguments, or a task file, to tasks whose paths and links are known to lead somewhere.

use std::path::{Component, Path, PathBuf};

use callosum_arbiter::task_file::{Defaults, TaskPlace};
use callosum_arbiter::truncate::excerpt;
use callosum_arbiter::{Link, Scope, Submission, Task, task_file};
use callosum_ledger::{Reader, TaskId};

use crate::context::Context;
use crate::delegate::options::DelegateOptions;
use crate::{CommandError, Exit, task_prefix};

/// The name of the only task of a command line in its submission.
const ONLY: &str = "task";

/// Reads what is to be done. Nothing is written and nothing is started.
pub fn read(
    context: &Context,
    options: &DelegateOptions,
    ledger: &Reader,
) -> Result<Submission, CommandError> {
    let defaults = Defaults {
        kind: options.kind,
        executor: options.executor.clone(),
        priority: options.priority.unwrap_or_default(),
        mode: options.mode,
    };
    let submission = match &options.tasks {
        Some(file) => from_file(context, (file, options), &defaults, ledger)?,
        None => from_arguments(context, options, defaults, ledger)?,
    };
    for (at, task) in submission.tasks().iter().enumerate() {
        let asking = Asking::of(options, at, task);
        for path in &task.paths {
            check_in_tree(context, path).map_err(|error| asking.blamed(error))?;
        }
    }
    Ok(submission)
}

/// The source of a request: a task of a file, or `None` for a command line.
pub struct Asking<'a>(Option<(&'a Path, TaskPlace)>);

impl<'a> Asking<'a> {
    /// The task at this place of the submission that the arguments led to.
    pub fn of(options: &'a DelegateOptions, at: usize, task: &Task) -> Self {
        Self(options.tasks.as_deref().map(|file| {
            let place = TaskPlace {
                number: at + 1,
                id: Some(excerpt(&task.local_id)),
            };
            (file, place)
        }))
    }

    /// The same error, with file and task named where there is a file.
    pub fn blamed(&self, error: CommandError) -> CommandError {
        match &self.0 {
            Some((file, place)) => error.in_place(&format!("`{}`, {place}", file.display())),
            None => error,
        }
    }
}

/// Whether a path from the root leads to something of the tree.
fn check_in_tree(context: &Context, path: &str) -> Result<(), CommandError> {
    let tree = context.tree();
    if below(Path::new(path)).is_none() {
        return Err(leaves_the_tree(Path::new(path), tree));
    }
    let path_in_tree = tree.join(path);
    if !context.disk.exists(&path_in_tree).map_err(unusable)? {
        let what = format!("`{path}` does not exist in `{}`", tree.display());
        return Err(CommandError::new(Exit::Usage, what));
    }
    // A link on the way may lead elsewhere though every name looks harmless.
    let real = context.disk.canonicalize(&path_in_tree).map_err(unusable)?;
    let tree = context.disk.canonicalize(tree).map_err(unusable)?;
    if !real.starts_with(&tree) {
        return Err(leaves_the_tree(Path::new(path), &tree));
    }
    Ok(())
}

fn from_file(
    context: &Context,
    (file, options): (&Path, &DelegateOptions),
    defaults: &Defaults,
    ledger: &Reader,
) -> Result<Submission, CommandError> {
    let bytes = match &options.stdin {
        Some(bytes) if file == Path::new("-") => bytes.clone(),
        _ => context
            .disk
            .read(&context.folder.join(file))
            .map_err(unusable)?,
    };
    let in_ledger = |id: &TaskId| ledger.find(id).is_ok_and(|found| found.is_some());
    task_file::read(file, &bytes, defaults, &in_ledger)
        .map_err(|error| CommandError::from_error(Exit::Usage, &error))
}

fn from_arguments(
    context: &Context,
    options: &DelegateOptions,
    defaults: Defaults,
    ledger: &Reader,
) -> Result<Submission, CommandError> {
    let prompt = prompt(options)?;
    let mut paths: Vec<String> = Vec::new();
    for path in &options.paths {
        let path = from_root(context, path)?;
        if !paths.contains(&path) {
            paths.push(path);
        }
    }
    let links = options
        .links
        .iter()
        .map(|text| ledger_link(text, ledger))
        .collect::<Result<_, _>>()?;
    let scope = if options.paths.is_empty() {
        Scope::Repo
    } else {
        Scope::Module
    };
    let task = Task {
        kind: defaults.kind,
        executor: defaults.executor,
        priority: defaults.priority,
        mode: defaults.mode,
        paths,
        links,
        scope,
        plan_call: options.plan_call.clone(),
        ..Task::new(ONLY, prompt)
    };
    Submission::single(task).map_err(|error| CommandError::from_error(Exit::Usage, &error))
}

/// Returns the prompt, which is standard input if it is `-`.
pub fn prompt(options: &DelegateOptions) -> Result<String, CommandError> {
    let prompt = match (options.prompt.as_deref(), &options.stdin) {
        (Some("-"), Some(bytes)) => String::from_utf8(bytes.clone()).map_err(|error| {
            CommandError::because(Exit::Usage, "the prompt is not UTF-8", &error)
        })?,
        (Some(prompt), _) => prompt.to_owned(),
        (None, _) => String::new(),
    };
    if prompt.trim().is_empty() {
        return Err(CommandError::new(Exit::Usage, "the prompt is empty")
            .hint("callosum delegate \"Map this repository\""));
    }
    Ok(prompt)
}

fn ledger_link(text: &str, ledger: &Reader) -> Result<Link, CommandError> {
    let id = task_prefix::entry_id(ledger, text)?;
    match ledger.find(&id) {
        Ok(Some(_)) => Ok(Link::Ledger(id)),
        Ok(None) => {
            let what =
                format!("cannot link to `{id}`: no such entry in the ledger or its archives");
            Err(CommandError::new(Exit::Usage, what).hint("callosum ledger query"))
        }
        Err(error) => Err(CommandError::from_error(Exit::Environment, &error)),
    }
}

/// A path as given, relative to where the command runs, as it is called from the tree's root.
fn from_root(context: &Context, path: &Path) -> Result<String, CommandError> {
    let tree = context
        .disk
        .canonicalize(context.tree())
        .map_err(unusable)?;
    let full = context.folder.join(path);
    let real = context.disk.canonicalize(&full).map_err(|error| {
        let what = format!("`{}` does not exist", path.display());
        CommandError::because(Exit::Usage, what, &error)
    })?;
    let inside = real
        .strip_prefix(&tree)
        .map_err(|_| leaves_the_tree(path, &tree))?;
    let inside = inside.to_str().ok_or_else(|| {
        CommandError::new(Exit::Usage, format!("`{}` is not UTF-8", path.display()))
    })?;
    Ok(if inside.is_empty() {
        ".".to_owned()
    } else {
        inside.to_owned()
    })
}

/// The path without `.`; `None` where it is absolute or climbs.
fn below(path: &Path) -> Option<PathBuf> {
    path.components()
        .filter(|part| *part != Component::CurDir)
        .map(|part| {
            if let Component::Normal(name) = part {
                Some(name)
            } else {
                None
            }
        })
        .collect()
}

fn leaves_the_tree(path: &Path, tree: &Path) -> CommandError {
    let what = format!("`{}` is not inside `{}`", path.display(), tree.display());
    CommandError::new(Exit::Usage, what)
}

fn unusable(error: callosum_host::DiskError) -> CommandError {
    let exit = if error.is_absent() {
        Exit::Usage
    } else {
        Exit::Environment
    };
    CommandError::from_error(exit, &error)
}
