//! The rows of the corpus, and the place in which their commands are taken to run.

use std::path::Path;

use callosum_guard::{Decision, Facts};
use serde::Deserialize;

/// A command and the guard's verdict on it.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Row {
    pub(crate) id: String,
    pub(crate) command: String,
    pub(crate) expect: Decision,
    /// The program without which it cannot be shown what it does.
    #[serde(default)]
    pub(crate) needs: Option<String>,
    /// Of a row that is judged by reading: why it is not shown what it does.
    #[serde(default)]
    pub(crate) why: Option<String>,
}

impl Row {
    /// Whether it is judged by reading, and stored apart.
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

/// A project in a home folder.
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

/// All rows, file by file in the order of their names: those that are proven or harmless, then
/// those that are judged by reading, each with its reason.
pub(crate) fn rows() -> Vec<Row> {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    let mut rows = rows_of(&corpus);
    let proven = rows.len();
    rows.extend(rows_of(&corpus.join("read")));
    for (at, row) in rows.iter().enumerate() {
        assert_eq!(row.is_read(), at >= proven, "{} is in its place", row.id);
        assert!(!row.is_read() || row.needs.is_none(), "{}", row.id);
    }
    rows
}

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
            text.lines()
                .map(|line| serde_json::from_str(line).unwrap())
                .collect::<Vec<Row>>()
        })
        .collect()
}
