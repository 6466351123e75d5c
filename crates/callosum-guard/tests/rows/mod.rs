//! Rows of the corpus, and the project in which their commands run. Start at [`rows`].
//!
//! `corpus/README.md` describes the files and the fields of a row.

use std::path::Path;

use callosum_guard::{Decision, Facts};
use serde::Deserialize;

/// A command and its expected verdict.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Row {
    pub(crate) id: String,
    pub(crate) command: String,
    pub(crate) expect: Decision,
    /// Name of a program that a real run needs. Without it, the row is not proven.
    #[serde(default)]
    pub(crate) needs: Option<String>,
    /// Reason that no real run proves the row, which is then judged by reading.
    #[serde(default)]
    pub(crate) why: Option<String>,
    /// Name of the list of commands that the row came from.
    pub(crate) origin: String,
}

impl Row {
    /// Returns true if the row is judged by reading: it has a reason in `why`.
    pub(crate) fn is_read(&self) -> bool {
        self.why.is_some()
    }
}

/// Files that steer the guard and plans, in their default locations.
const KEPT: [&str; 6] = [
    "/home/u/.local/state/callosum",
    "/home/u/.config/callosum/config.toml",
    "/home/u/.config/callosum/cake_config.yaml",
    "/home/u/.config/callosum/constitution.cedar",
    "/home/u/.config/callosum/constitution.cedar.sig",
    "/home/u/.config/callosum/ck",
];

/// Returns the facts of a project in a home folder.
pub(crate) fn facts() -> Facts {
    Facts {
        cwd: Some("/home/u/p".to_owned()),
        home: Some("/home/u".to_owned()),
        root: Some("/home/u/p".to_owned()),
        git_dir: Some("/home/u/p/.git".to_owned()),
        kept: KEPT.map(str::to_owned).to_vec(),
        machine: Some(KEPT[0].to_owned()),
        ..Facts::default()
    }
}

/// Returns all rows, the dangerous ones first, in the order of files and lines.
///
/// Panics if a row is in the wrong folder, lacks its origin, has both `needs` and `why`, or is not
/// in the order of ids.
pub(crate) fn rows() -> Vec<Row> {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    let dangerous = rows_of(&corpus.join("dangerous"));
    let harmless = rows_of(&corpus.join("harmless"));
    for row in &dangerous {
        assert_ne!(row.expect, Decision::Allow, "{} is dangerous", row.id);
        assert!(!row.is_read() || row.needs.is_none(), "{}", row.id);
    }
    for row in &harmless {
        assert_eq!(row.expect, Decision::Allow, "{} is harmless", row.id);
        assert!(!row.is_read() && row.needs.is_none(), "{}", row.id);
    }
    let rows = [dangerous, harmless].concat();
    for row in &rows {
        assert!(!row.origin.is_empty(), "{} has an origin", row.id);
    }
    rows
}

/// Reads the files of one folder.
fn rows_of(folder: &Path) -> Vec<Row> {
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|end| end == "jsonl"))
        .collect();
    files.sort();
    files
        .iter()
        .flat_map(|path| {
            #[expect(clippy::disallowed_methods, reason = "a test reads its own corpus")]
            let text = std::fs::read_to_string(path).unwrap();
            let rows: Vec<Row> = text
                .lines()
                .map(|line| serde_json::from_str(line).unwrap())
                .collect();
            let is_sorted = rows.is_sorted_by(|one, other| one.id < other.id);
            assert!(is_sorted, "{} is in the order of ids", path.display());
            rows
        })
        .collect()
}
