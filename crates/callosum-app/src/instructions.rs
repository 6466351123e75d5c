//! One text with instructions for all coding agents: `AGENTS.md`, and what makes each client read it.
//!
//! Start with [`enter`], for `init --instructions`, and [`remove`], for `uninstall`; [`Reading`] is what `doctor` shows. Measured
//! with a scripted model server: Codex 0.171, Qwen Code 0.24.4 and opencode 1.18 read `AGENTS.md` by themselves; Claude
//! Code 2.1.332 only if there is no `CLAUDE.md`, and older versions not at all; Gemini CLI 0.61 only if its settings name it.
//! What was added is recorded in `$CALLOSUM_HOME/instructions`, so that exactly that is removed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use callosum_client::registration::{ApplyMode, Change, RegisterError, Scope};
use callosum_executor::client::Client;
use callosum_host::{Disk, DiskError};
use callosum_session::Zones;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::context::Context;
use crate::{CommandError, Exit, client_settings, disk_errors};

/// The file that all clients are to read.
pub const AGENTS: &str = "AGENTS.md";

/// First line of a new file.
const HEADING: &str = "# Instructions for coding agents\n";

/// The version of the record.
const FORMAT: u32 = 1;

/// The way in which a client comes to read `AGENTS.md`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// By itself, in addition to its own file, if it has one.
    Itself(Option<&'static str>),
    /// By an import line in one of its own files, the first that exists.
    Import(&'static [&'static str]),
    /// By its settings, which then name this file as well.
    Setting(&'static str),
}

impl Reading {
    /// Returns how this client comes to read it.
    pub fn find(client: &Client) -> Self {
        match client.program {
            "claude" => Self::Import(&["CLAUDE.md", ".claude/CLAUDE.md"]),
            "gemini" => Self::Setting("GEMINI.md"),
            "qwen" => Self::Itself(Some("QWEN.md")),
            _ => Self::Itself(None),
        }
    }
}

/// File with instructions that a client reads, and the change that was made for that.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct InstructionsOutput {
    /// The client; `all` for `AGENTS.md` itself.
    pub client: String,
    /// The file, from the root.
    pub file: String,
    /// `created`, `added`, `unchanged`, `read` (by the client itself), `removed`, `deleted`, `kept` (someone changed it) or `failed`.
    pub change: String,
    /// Reason of the failure.
    pub note: Option<String>,
}

/// Text that was added to a tree.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Additions {
    format: u32,
    /// The files that were created, with their text.
    #[serde(default)]
    created: BTreeMap<String, String>,
    /// Text that was added to the end of files.
    #[serde(default)]
    added: BTreeMap<String, String>,
}

impl InstructionsOutput {
    fn new(client: &str, file: &str, change: &str) -> Self {
        Self {
            client: client.to_owned(),
            file: file.to_owned(),
            change: change.to_owned(),
            note: None,
        }
    }

    fn failed(client: &str, file: &str, note: String) -> Self {
        Self {
            note: Some(note),
            ..Self::new(client, file, "failed")
        }
    }

    /// Prints one line of what was done, or would be.
    pub fn tell(&self, context: &Context, would: bool) {
        let Self {
            client,
            file,
            change,
            note,
        } = self;
        let is_or = |done: &str, planned: &str| {
            if would {
                planned.to_owned()
            } else {
                done.to_owned()
            }
        };
        let line = match change.as_str() {
            "created" => format!("{file}: {}", is_or("created", "would be created")),
            "added" => {
                let verb = is_or("added to", "would be added to");
                format!("{client}: {AGENTS} {verb} {file}")
            }
            "read" => format!("{client}: reads {file}"),
            "removed" => {
                let verb = is_or("removed from", "would be removed from");
                format!("Callosum's line {verb} {file}")
            }
            "deleted" => format!("{file}: {}", is_or("removed", "would be removed")),
            "kept" => format!("{file}: kept, because it was edited"),
            "failed" => {
                let what = format!("{client}: {}", note.as_deref().unwrap_or_default());
                context.report.warn(&what, None);
                return;
            }
            _ => format!("{client}: {file} already names {AGENTS}"),
        };
        context.report.say(&line);
    }
}

/// Creates `AGENTS.md` if it is missing, and has each client read it. Returns what was done, and the names of settings
/// files that were created.
pub fn enter(
    context: &Context,
    clients: &[&'static Client],
    doing: ApplyMode,
) -> Result<(Vec<InstructionsOutput>, Vec<String>), CommandError> {
    let failed = |error: DiskError| disk_errors::disk_failed(&error);
    let tree = context.tree();
    let mut record = Record::open(context).map_err(failed)?;
    let mut outputs = Vec::new();
    let is_there = context
        .disk
        .stat(&tree.join(AGENTS))
        .map_err(failed)?
        .is_some();
    if is_there {
        outputs.push(InstructionsOutput::new("all", AGENTS, "unchanged"));
    } else {
        outputs.push(InstructionsOutput::new("all", AGENTS, "created"));
        record.create(AGENTS, HEADING, doing).map_err(failed)?;
    }
    let mut settings = Vec::new();
    for client in clients {
        let program = client.program;
        let output = match Reading::find(client) {
            Reading::Itself(_) => InstructionsOutput::new(program, AGENTS, "read"),
            Reading::Import(names) => {
                import(context, program, names, &mut record, doing).map_err(failed)?
            }
            Reading::Setting(own) => {
                let output = name_in_settings(context, client, own, doing)?;
                let is_new = context
                    .disk
                    .stat(&tree.join(&output.file))
                    .map_err(failed)?
                    .is_some();
                let is_created = output.note.as_deref() == Some("created") && is_new;
                settings.extend(is_created.then(|| format!("/{}", output.file)));
                InstructionsOutput {
                    note: output.note.filter(|note| note != "created"),
                    ..output
                }
            }
        };
        outputs.push(output);
    }
    outputs.retain(|output| output.client != "all" || output.change != "unchanged");
    Ok((outputs, settings))
}

/// Adds the import line to the client's own file.
fn import(
    context: &Context,
    program: &str,
    names: &[&str],
    record: &mut Record<'_>,
    doing: ApplyMode,
) -> Result<InstructionsOutput, DiskError> {
    let (disk, tree) = (&context.disk, context.tree());
    let mut name = names[0];
    for other in names {
        if disk.exists(&tree.join(other))? {
            name = other;
            break;
        }
    }
    let Ok(path) = real(disk, tree, name) else {
        let note = format!("{name} is a link that leads out of the project and was not changed");
        return Ok(InstructionsOutput::failed(program, name, note));
    };
    if path == tree.join(AGENTS) {
        return Ok(InstructionsOutput::new(program, name, "unchanged"));
    }
    let line = import_line(name);
    let Some(bytes) = disk.read_if_there(&path)? else {
        record.create(name, &format!("{line}\n"), doing)?;
        return Ok(InstructionsOutput::new(program, name, "created"));
    };
    let text = String::from_utf8_lossy(&bytes);
    if imports(&text) {
        return Ok(InstructionsOutput::new(program, name, "unchanged"));
    }
    let gap = match text.as_ref() {
        "" => "",
        text if text.ends_with("\n\n") => "",
        text if text.ends_with('\n') => "\n",
        _ => "\n\n",
    };
    record.append(name, &path, &bytes, &format!("{gap}{line}\n"), doing)?;
    Ok(InstructionsOutput::new(program, name, "added"))
}

/// Has the project's settings of a client name `AGENTS.md`. The note `created` says that there were none.
fn name_in_settings(
    context: &Context,
    client: &'static Client,
    own: &str,
    doing: ApplyMode,
) -> Result<InstructionsOutput, CommandError> {
    let program = client.program;
    let Some(place) = client_settings::place(context, client, Scope::Project) else {
        return Ok(InstructionsOutput::new(program, AGENTS, "read"));
    };
    let file = place.path.strip_prefix(context.tree());
    let file = file.unwrap_or(&place.path).display().to_string();
    let existed = context
        .disk
        .exists(&place.path)
        .map_err(|error| disk_errors::disk_failed(&error))?;
    let homes = &context.project.homes;
    if doing == ApplyMode::Write {
        homes
            .create_machine(&context.disk)
            .map_err(|error| disk_errors::disk_failed(&error))?;
    }
    let registrar = client_settings::registrar(context);
    Ok(match registrar.register_context_files(&place, own, doing) {
        Ok(Change::Unchanged) => InstructionsOutput::new(program, &file, "unchanged"),
        Ok(_) => InstructionsOutput {
            note: (!existed).then(|| "created".to_owned()),
            ..InstructionsOutput::new(program, &file, "added")
        },
        Err(error) => InstructionsOutput::failed(program, &file, one_line(&error)),
    })
}

fn one_line(error: &RegisterError) -> String {
    CommandError::from_error(Exit::Environment, error).one_line()
}

/// Removes what [`enter`] added to files of the tree, but for settings, which are unregistered with everything else.
pub fn remove(context: &Context, doing: ApplyMode) -> Result<Vec<InstructionsOutput>, DiskError> {
    let (disk, tree) = (&context.disk, context.tree());
    let record = Record::open(context)?;
    let mut outputs = Vec::new();
    for (name, added) in &record.added.added {
        let Ok(path) = real(disk, tree, name) else {
            continue;
        };
        let Some(bytes) = disk.read_if_there(&path)? else {
            continue;
        };
        // What others wrote since may be behind it.
        let at = (0..bytes.len())
            .rev()
            .find(|at| bytes[*at..].starts_with(added.as_bytes()));
        let Some(at) = at else {
            outputs.push(InstructionsOutput::new("all", name, "kept"));
            continue;
        };
        if doing == ApplyMode::Write {
            let left = [&bytes[..at], &bytes[at + added.len()..]].concat();
            disk.rewrite(&path, &left, 0o644)?;
        }
        outputs.push(InstructionsOutput::new("all", name, "removed"));
    }
    for (name, text) in &record.added.created {
        let path = tree.join(name);
        let Some(bytes) = disk.read_if_there(&path)? else {
            continue;
        };
        if bytes != text.as_bytes() {
            outputs.push(InstructionsOutput::new("all", name, "kept"));
            continue;
        }
        if doing == ApplyMode::Write {
            disk.remove_file(&path)?;
        }
        outputs.push(InstructionsOutput::new("all", name, "deleted"));
    }
    if doing == ApplyMode::Write {
        disk.remove_file(&record.path)?;
    }
    Ok(outputs)
}

/// Returns whether a text imports `AGENTS.md`.
pub fn imports(text: &str) -> bool {
    let mut words = text.split_whitespace();
    words.any(|word| {
        let path = word
            .strip_prefix('@')
            .map(|path| path.trim_start_matches("./"));
        path.is_some_and(|path| path == AGENTS || path == "../AGENTS.md")
    })
}

/// Returns the line that imports `AGENTS.md` into the file of this name.
fn import_line(name: &str) -> String {
    let up = "../".repeat(name.matches('/').count());
    format!("@{up}{AGENTS}")
}

/// Returns the file behind a name in the tree; fails if a link leads out of it.
pub fn real(disk: &Disk, tree: &Path, name: &str) -> Result<PathBuf, callosum_session::ZoneError> {
    let zones = Zones {
        tree: tree.to_owned(),
        root: tree.to_owned(),
    };
    zones.real(disk, &tree.join(name))
}

/// The additions to a tree, with the place of their record.
struct Record<'c> {
    context: &'c Context,
    path: PathBuf,
    added: Additions,
}

impl<'c> Record<'c> {
    fn open(context: &'c Context) -> Result<Self, DiskError> {
        let path = context.project.homes.instructions(context.tree());
        let bytes = context.disk.read_if_there(&path)?;
        let added: Option<Additions> = bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok());
        Ok(Self {
            context,
            path,
            added: added
                .filter(|added| added.format == FORMAT)
                .unwrap_or_default(),
        })
    }

    /// Creates a file of the tree.
    fn create(&mut self, name: &str, text: &str, doing: ApplyMode) -> Result<(), DiskError> {
        if doing == ApplyMode::Tell {
            return Ok(());
        }
        self.added.created.insert(name.to_owned(), text.to_owned());
        self.keep()?;
        let path = self.context.tree().join(name);
        self.context
            .disk
            .create(&path, text.as_bytes(), 0o644)
            .map(drop)
    }

    /// Adds to the end of a file of the tree, which has these bytes.
    fn append(
        &mut self,
        name: &str,
        path: &Path,
        bytes: &[u8],
        text: &str,
        doing: ApplyMode,
    ) -> Result<(), DiskError> {
        if doing == ApplyMode::Tell {
            return Ok(());
        }
        self.added.added.insert(name.to_owned(), text.to_owned());
        self.keep()?;
        let disk = &self.context.disk;
        disk.rewrite(path, &[bytes, text.as_bytes()].concat(), 0o644)
    }

    /// Keeps what was added, before it is: what is recorded and not there does no harm.
    fn keep(&mut self) -> Result<(), DiskError> {
        let disk = &self.context.disk;
        self.added.format = FORMAT;
        self.context.project.homes.create_machine(disk)?;
        if let Some(folder) = self.path.parent() {
            disk.create_private_dir(folder)?;
        }
        let mut bytes = serde_json::to_vec_pretty(&self.added).unwrap_or_default();
        bytes.push(b'\n');
        disk.replace(&self.path, &bytes, 0o600)
    }
}
