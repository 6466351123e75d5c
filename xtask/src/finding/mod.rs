//! `cargo xtask finding`: how much of what people look for is found among the first five.
//!
//! Each of the [`questions`] is asked in each way that there is. A question is answered where one of
//! the first five passages is of a file that its author named before anything was run. What is
//! deliberately not here: a verdict; the numbers go to `docs/performance.md` by hand.

mod questions;

use std::{fs, path::Path, process::ExitCode, time::Instant};

use callosum_host::Disk;
use callosum_search::{
    find::{Ask, By, Index, Search},
    walk::{Scope, SourceTree},
};

use crate::{repository::ALL, say};

/// How many passages are looked at.
const FIRST: usize = 5;

/// Fetches the packages, asks everything, and prints a table for each.
pub(crate) fn finding() -> ExitCode {
    match report_all() {
        Ok(()) => ExitCode::SUCCESS,
        Err(fault) => {
            say(&fault);
            ExitCode::FAILURE
        }
    }
}

fn report_all() -> Result<(), String> {
    let itself = std::env::current_exe().map_err(|error| error.to_string())?;
    let target = itself
        .ancestors()
        .nth(2)
        .ok_or("this program stands in no target folder")?;
    for repository in ALL {
        let folder = target.join("finding").join(repository.name);
        if folder.exists() {
            fs::remove_dir_all(&folder)
                .map_err(|error| format!("{}: {error}", folder.display()))?;
        }
        let root = repository.fetch(&folder.join("fetched"))?;
        say(&format!("{} {}", repository.name, repository.version));
        ask_all(repository.name, &root, &folder.join("find.db"))?;
    }
    Ok(())
}

fn ask_all(name: &str, root: &Path, index: &Path) -> Result<(), String> {
    let disk = Disk::real();
    let tree = SourceTree::read(&disk, root, &Scope::WHOLE).map_err(|error| error.to_string())?;
    let begun = Instant::now();
    let mut index = Index::open(&disk, index).map_err(|error| error.to_string())?;
    let updated = index.update_tree(&disk, &tree, |_, _| {});
    let updated = updated.map_err(|error| error.to_string())?;
    let milliseconds = begun.elapsed().as_millis();
    say(&format!("{} files read in {milliseconds} ms", updated.read));
    let asked = questions::of(name);
    for (by, way) in [
        (By::Words, "words"),
        (By::Names, "names"),
        (By::All, "all, fused"),
    ] {
        let (mut answered, mut missed) = (0, Vec::new());
        let begun = Instant::now();
        for (question, files) in asked {
            let search = Search {
                ask: Ask::read(question),
                by,
                section: None,
                scope: Scope::WHOLE,
                limit: FIRST,
                threshold: 0.0,
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
            "{way:<12} {answered} of {}, {each:.1} ms each; missed: {}",
            asked.len(),
            missed.join("; ")
        ));
    }
    Ok(())
}
