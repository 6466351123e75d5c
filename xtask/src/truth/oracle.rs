//! [`ask`]: the relations of a tree by its language's own tools.
//!
//! Each oracle is a script in `xtask/truth` that reads one JSON object from standard input: `root`,
//! `files` (paths from the root), `roots` (the folders that imports are looked up in), `conditions` and
//! `typescript` (the folder of that package). It prints one JSON object that is a [`Relations`].

use std::{
    collections::BTreeSet,
    io::Write as _,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use callosum_source::outline::Purpose;
use serde::Deserialize;
use serde_json::json;

use super::packages::{Client, Package, Tools};
use crate::command_of_the_developer;

/// A kind of relation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    /// A file and a file that it imports.
    Edge,
    /// A declaration and a file that names it.
    Use,
}

impl Kind {
    pub(super) const ALL: [Self; 2] = [Self::Edge, Self::Use];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Edge => "edges",
            Self::Use => "uses",
        }
    }
}

/// The relations of a tree.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Relations {
    pub(super) edges: Vec<Relation>,
    pub(super) uses: Vec<Relation>,
    /// Relations that neither side is judged by.
    #[serde(default)]
    pub(super) unsure: Vec<Relation>,
}

/// One relation.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub(super) struct Relation {
    /// The file that imports or uses.
    pub(super) from: String,
    /// The file that is imported or declares.
    pub(super) to: String,
    /// The declaration; none for an edge.
    #[serde(default)]
    pub(super) name: Option<String>,
    /// The first line in `from`.
    #[serde(default)]
    pub(super) line: u32,
    /// Whether only a type checker needs it.
    #[serde(default)]
    pub(super) purpose: When,
}

/// When a relation is needed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum When {
    #[default]
    Run,
    Types,
    Tests,
}

impl From<callosum_scout::Relation> for Relation {
    fn from(relation: callosum_scout::Relation) -> Self {
        let purpose = match relation.purpose {
            Purpose::Run => When::Run,
            Purpose::Types => When::Types,
            Purpose::Tests => When::Tests,
        };
        Self {
            from: relation.from,
            to: relation.to,
            name: relation.name,
            line: relation.line,
            purpose,
        }
    }
}

/// Runs the oracle of a package's language.
///
/// # Errors
///
/// The last words of the oracle, or how to get it.
pub(super) fn ask(
    package: &Package,
    root: &Path,
    files: &BTreeSet<String>,
    tools: &Tools,
    cache: &Path,
) -> Result<Relations, String> {
    let scripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("truth");
    let (program, mut command) = match package.client {
        Client::Pip => {
            let mut command = command_of_the_developer("python3");
            command.arg("-I").arg(scripts.join("relations.py"));
            ("python3", command)
        }
        Client::Npm => {
            let mut command = command_of_the_developer("node");
            command.arg(scripts.join("relations.cjs"));
            ("node", command)
        }
        Client::Apt => ("go", command_of_the_developer(go(&scripts, cache)?)),
    };
    let question = json!({
        "root": root,
        "files": files,
        "roots": package.roots,
        "conditions": package.conditions,
        "typescript": tools.typescript,
    });
    let answer = exchange(program, &mut command, &question.to_string())?;
    serde_json::from_str(&answer).map_err(|error| {
        format!(
            "{}: the oracle's answer is unreadable: {error}",
            package.name
        )
    })
}

/// Builds the oracle of Go and returns its path.
fn go(scripts: &Path, cache: &Path) -> Result<PathBuf, String> {
    let program = cache.join("go-relations");
    let mut build = command_of_the_developer("go");
    build.env("GO111MODULE", "off");
    build.env("GOCACHE", cache.join("go-cache"));
    build
        .arg("build")
        .arg("-o")
        .arg(&program)
        .arg("relations.go");
    build.current_dir(scripts);
    exchange("go", &mut build, "")?;
    Ok(program)
}

/// Starts a program, writes `input` to it, and returns what it prints.
fn exchange(program: &str, command: &mut Command, input: &str) -> Result<String, String> {
    command.stdin(Stdio::piped());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|error| {
        format!("cannot start {program}: {error}\nhint: install python3, nodejs and golang-go")
    })?;
    let mut stdin = child.stdin.take().ok_or("a child without standard input")?;
    let input = input.to_owned();
    let writer = std::thread::spawn(move || stdin.write_all(input.as_bytes()));
    let output = child
        .wait_with_output()
        .map_err(|error| format!("{program}: {error}"))?;
    let written = writer.join();
    if !output.status.success() {
        let words = String::from_utf8_lossy(&output.stderr).into_owned();
        return Err(format!("{program} ended with {}: {words}", output.status));
    }
    match written {
        Ok(Ok(())) => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        Ok(Err(error)) => Err(format!("{program}: {error}")),
        Err(_) => Err(format!("{program}: the writing thread panicked")),
    }
}
