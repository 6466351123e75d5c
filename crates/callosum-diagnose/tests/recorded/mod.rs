//! The recorded outputs of `tests/outputs`, as rows.

use std::{fs, path::Path};

use serde_json::Value;

/// Returns every row with the name of its file.
pub(crate) fn rows() -> Vec<(String, Value)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/outputs");
    let mut rows = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path
            .extension()
            .is_none_or(|extension| extension != "jsonl")
        {
            continue;
        }
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let text = fs::read_to_string(&path).unwrap();
        rows.extend(
            text.lines()
                .map(|line| (name.clone(), serde_json::from_str(line).unwrap())),
        );
    }
    rows
}
