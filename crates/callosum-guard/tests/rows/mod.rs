//! The rows of the corpus, and the place in which their commands are taken to run.

use std::path::Path;

use callosum_guard::{Decision, Facts};
use serde::Deserialize;

/// A command and what the guard says to it.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Row {
    pub(crate) id: String,
    pub(crate) command: String,
    pub(crate) expect: Decision,
}

/// What steers the guard and plans, where it stands unless a user says otherwise.
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

/// All rows, file by file in the order of their names.
pub(crate) fn rows() -> Vec<Row> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
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
