//! `cargo xtask token-efficiency`: what knowing a repository costs a controller, in tokens.
//!
//! Start with [`token_efficiency`]. For each [`Repository`], [`facts`] are planted in a
//! fresh copy, and each [`ways::Way`] is gone once. Fails if delegation saves less than [`LEAST`]. Method,
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

/// Fewest times that delegation must be cheaper than reading every file (Seed CAL §9.2).
const LEAST: u64 = 5;

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
    let mut costs = Vec::new();
    for way in Way::ALL {
        let reading = way.go(&ground)?;
        costs.push((way, reading.tokens()));
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
    if is_efficient(&costs) {
        Ok(())
    } else {
        Err(format!(
            "delegation is less than {LEAST} times cheaper than reading every file"
        ))
    }
}

/// Whether delegation costs at most a fifth of reading every file.
fn is_efficient(costs: &[(Way, u64)]) -> bool {
    let of = |wanted| {
        let mut costs = costs.iter();
        costs.find_map(|(way, tokens)| (*way == wanted).then_some(*tokens))
    };
    let (all, delegated) = (of(Way::EveryFile), of(Way::Callosum));
    all.zip(delegated)
        .is_some_and(|(all, delegated)| delegated.saturating_mul(LEAST) <= all)
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
    use super::{Way, grouped, is_efficient};

    /// CAL-PERF-1, REQ-PERF-001, REQ-TEST-003: the measurement fails below five times, or without both figures.
    #[test]
    fn less_than_five_times_is_not_efficient() {
        let costs = |all, delegated| [(Way::EveryFile, all), (Way::Callosum, delegated)];
        assert!(is_efficient(&costs(500, 100)));
        assert!(!is_efficient(&costs(499, 100)));
        assert!(!is_efficient(&costs(500, 100)[..1]));
    }

    #[test]
    fn thousands_are_parted() {
        assert_eq!(grouped(7), "7");
        assert_eq!(grouped(1234), "1,234");
        assert_eq!(grouped(1_234_567), "1,234,567");
    }
}
