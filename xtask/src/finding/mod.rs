//! `cargo xtask finding`: how much of what people look for is found among the first five.
//!
//! Each of the [`questions`] is asked in each way that there is. A question is answered where one of
//! the first five passages is of a file that its author named before anything was run. What is
//! deliberately not here: a verdict; the numbers go to `docs/performance.md` by hand.

mod questions;
mod speed;

pub(crate) use self::speed::speed;

use std::{fs, path::Path, process::ExitCode, time::Instant};

use callosum_host::Disk;
use callosum_search::{By, Index, Model, Query, Search};
use callosum_source::walk::{Scope, SourceTree};

use crate::{
    release_build::{concluded, target},
    repository::{ALL, fetch_model},
    say,
};

/// How many passages are looked at.
const FIRST: usize = 5;

/// Fetches the packages, asks everything, and prints a table for each.
pub(crate) fn finding() -> ExitCode {
    concluded(report_all())
}

fn report_all() -> Result<(), String> {
    let folder = target()?.join("finding");
    if folder.exists() {
        fs::remove_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    }
    let model = folder.join("model");
    if let Err(fault) = fetch_model(&model) {
        say(&format!("without a model: {fault}"));
    }
    for repository in ALL {
        let folder = folder.join(repository.name);
        let root = repository.fetch(&folder.join("fetched"))?;
        say(&format!("{} {}", repository.name, repository.version));
        let ways = [
            (By::Words, "words"),
            (By::Names, "names"),
            (By::All, "all, fused"),
        ];
        let index = folder.join("find.db");
        ask_all(repository.name, &root, &index, None, &ways)?;
        let model = Model::open(&Disk::real(), &model).map_err(|error| error.to_string())?;
        if model.is_some() {
            let ways = [
                (By::Meaning, "meaning"),
                (By::All, "all with meaning, fused"),
            ];
            ask_all(repository.name, &root, &index, model, &ways)?;
        }
    }
    Ok(())
}

fn ask_all(
    name: &str,
    root: &Path,
    index: &Path,
    model: Option<Model>,
    ways: &[(By, &str)],
) -> Result<(), String> {
    let disk = Disk::real();
    let tree = SourceTree::read(&disk, root, &Scope::WHOLE).map_err(|error| error.to_string())?;
    let begun = Instant::now();
    let index = Index::open(&disk, index).and_then(|index| index.with_model(model));
    let mut index = index.map_err(|error| error.to_string())?;
    let updated = index.update_tree(&disk, &tree, |_, _| {});
    let updated = updated.map_err(|error| error.to_string())?;
    let milliseconds = begun.elapsed().as_millis();
    say(&format!("{} files read in {milliseconds} ms", updated.read));
    let asked = questions::of(name);
    for (by, way) in ways {
        let (mut answered, mut missed) = (0, Vec::new());
        let begun = Instant::now();
        for (question, files) in asked {
            let search = Search {
                ask: Query::read(question),
                by: *by,
                section: None,
                scope: Scope::WHOLE,
                limit: FIRST,
                threshold: 0.0,
                together: None,
                proposals: Vec::new(),
            };
            let found = index.search(&disk, &tree, &search);
            let found = found.map_err(|error| error.to_string())?;
            let is_answer = |place: &str| files.iter().any(|file| place.ends_with(file));
            if found.iter().any(|found| is_answer(&found.place)) {
                answered += 1;
            } else {
                missed.push(*question);
            }
        }
        let each = begun.elapsed().as_secs_f64() * 1000.0 / asked.len() as f64;
        say(&format!(
            "{way:<24} {answered} of {}, {each:.1} ms each; missed: {}",
            asked.len(),
            missed.join("; ")
        ));
    }
    Ok(())
}
