//! `cargo xtask token-efficiency`: what knowing a repository costs a controller, in tokens.
//!
//! Start with [`token_efficiency`]. For each [`Repository`], [`facts`] are planted in a
//! fresh copy, and each [`ways::Way`] is gone once. What is deliberately not here: a verdict; method,
//! table and what follows stand in `docs/token-efficiency.md`.

mod facts;
mod ways;

use std::{
    fs,
    path::{Path, PathBuf},
    process::ExitCode,
};

use callosum_host::Disk;
use callosum_source::walk::{Scope, SourceTree};

use self::{
    facts::Kind,
    ways::{Ground, Way},
};
use crate::{
    release_build::with_release,
    repository::{ALL, Repository},
    say,
};

/// Builds the program, fetches the packages, and prints a table for each.
pub(crate) fn token_efficiency() -> ExitCode {
    with_release(|release| {
        let folder = release.target.join("token-efficiency");
        ALL.iter().try_for_each(|repository| {
            report(repository, &folder.join(repository.name), &release.callosum)
        })
    })
}

fn report(repository: &Repository, folder: &Path, callosum: &Path) -> Result<(), String> {
    if folder.exists() {
        fs::remove_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    }
    let root: PathBuf = repository.fetch(&folder.join("fetched"))?;
    let files = SourceTree::read(&Disk::real(), &root, &Scope::default());
    let files = files.map_err(|error| error.to_string())?;
    let facts = facts::plant(&root, repository.registry, &files)?;
    let ground = Ground {
        root: &root,
        registry: repository.registry,
        facts: &facts,
        callosum,
        home: folder,
    };
    say(&format!(
        "{} {}: {} files, {} facts planted\n",
        repository.name,
        repository.version,
        files.files.len(),
        facts.len()
    ));
    say(
        "| way | requests | controller's tokens | executors' tokens | offered | inside | tested | needed | imported | recall | tokens a fact |",
    );
    say("|---|---|---|---|---|---|---|---|---|---|---|");
    for way in Way::ALL {
        let reading = way.go(&ground)?;
        let told = facts.iter().filter(|fact| reading.tells(fact)).count();
        let mut cells = vec![
            way.name().to_owned(),
            reading.requests().to_string(),
            grouped(reading.tokens()),
            grouped(reading.executor),
        ];
        for kind in [
            Kind::Offered,
            Kind::Inside,
            Kind::Tested,
            Kind::Needed,
            Kind::Imported,
        ] {
            let of_kind = || facts.iter().filter(|fact| fact.kind == kind);
            let told = of_kind().filter(|fact| reading.tells(fact)).count();
            cells.push(format!("{told}/{}", of_kind().count()));
        }
        cells.push(format!("{} %", told * 100 / facts.len()));
        cells.push(match u64::try_from(told) {
            Ok(told) if told > 0 => grouped(reading.tokens() / told),
            _ => "none".to_owned(),
        });
        say(&format!("| {} |", cells.join(" | ")));
    }
    say("");
    Ok(())
}

/// A number with a comma at each thousand.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

#[cfg(test)]
mod tests {
    use super::grouped;

    #[test]
    fn thousands_are_parted() {
        assert_eq!(grouped(7), "7");
        assert_eq!(grouped(1234), "1,234");
        assert_eq!(grouped(1_234_567), "1,234,567");
    }
}
