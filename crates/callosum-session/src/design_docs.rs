//! [`Session::designs`]: the documents next to the notes, which record intentions, and their
//! differences from the code and the beads.
//!
//! They are believed last (Seed LOA §2.2): the design documents first, `legacy/` after them. Only
//! what can be looked up is compared: citations in a document, and the beads that it names.

use std::path::PathBuf;

use callosum_host::{Disk, OpenHow, disk::EntryKind};

use crate::{
    bead::BeadId,
    divergence::Fork,
    evidence::{Evidence, Tree},
    source::Source,
    transaction::{Session, SessionError},
};

/// Folder of documents that are no longer maintained, next to the others.
const LEGACY: &str = "legacy";

/// Documents that are read, of each kind.
const MOST: usize = 200;

/// Files of another program that keeps beads in their folder: it may know beads that have no file.
const OF_BD: [&str; 3] = ["metadata.json", "issues.jsonl", "beads.db"];

/// Largest document that is read, in bytes.
const LARGEST: u64 = 2 * 1024 * 1024;

/// A document that states intentions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Design {
    /// Its name, from the root.
    pub name: String,
    /// [`Source::Design`] or [`Source::Legacy`].
    pub kind: Source,
    /// Text of the document.
    pub text: String,
}

/// The documents, and which were left out and why.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Designs {
    /// Those that were read, by their names.
    pub read: Vec<Design>,
    /// Documents that were not read, each with the reason.
    pub left: Vec<String>,
}

impl Session<'_> {
    /// Reads the Markdown files next to the notes, and those in `legacy/` there.
    pub fn designs(&self) -> Result<Designs, SessionError> {
        let zones = self.zones;
        let notes = zones.real(self.disk, &zones.notes())?;
        let beside = notes.parent().unwrap_or(&notes).to_owned();
        let legacy = zones.real(self.disk, &beside.join(LEGACY))?;
        let mut designs = Designs::default();
        for (folder, kind) in [(beside, Source::Design), (legacy, Source::Legacy)] {
            let mut files: Vec<PathBuf> = Vec::new();
            for entry in self.disk.list_dir(&folder)? {
                let path = folder.join(&entry.name);
                let is_markdown = path.extension().is_some_and(|end| end == "md");
                if entry.kind == EntryKind::File && is_markdown && path != notes {
                    files.push(path);
                }
            }
            files.sort();
            if files.len() > MOST {
                let (folder, more) = (zones.named(&folder), files.len() - MOST);
                designs
                    .left
                    .push(format!("{folder}: {more} more documents are not compared"));
            }
            for path in files.into_iter().take(MOST) {
                let name = zones.named(&path);
                match text_of(self.disk, &path)? {
                    Some(text) => designs.read.push(Design { name, kind, text }),
                    None => designs
                        .left
                        .push(format!("{name}: it is larger than {LARGEST} bytes")),
                }
            }
        }
        Ok(designs)
    }

    /// Returns the places where code or beads contradict the documents. If another program keeps
    /// beads too, its beads are not looked for.
    pub fn design_forks(
        &self,
        designs: &Designs,
        tree: &Tree<'_>,
    ) -> Result<Vec<Fork>, SessionError> {
        let beads = self.zones.real(self.disk, &self.zones.beads())?;
        let mut is_ours = true;
        for name in OF_BD {
            is_ours &= !self.disk.exists(&beads.join(name))?;
        }
        let mut forks = Vec::new();
        for design in &designs.read {
            forks.extend(stale(design, tree));
            for (line, id) in beads_in(&design.text) {
                if is_ours && !self.disk.exists(&self.beads().path(&id)?)? {
                    let name = &design.name;
                    let what = format!("{name}:{line} names {id}, but there is no such bead");
                    forks.push(fork(Source::Bead, design.kind, what));
                }
            }
        }
        Ok(forks)
    }
}

fn text_of(disk: &Disk, path: &std::path::Path) -> Result<Option<String>, SessionError> {
    let file = disk.open(path, OpenHow::READ)?;
    if file.size()? > LARGEST {
        return Ok(None);
    }
    Ok(Some(
        String::from_utf8_lossy(&file.read_all()?).into_owned(),
    ))
}

fn fork(wins: Source, loses: Source, what: String) -> Fork {
    Fork { wins, loses, what }
}

/// Returns the places that a document cites and that are not there, or not as it quotes them.
fn stale(design: &Design, tree: &Tree<'_>) -> Vec<Fork> {
    let mut forks = Vec::new();
    let mut line = 1;
    let mut counted = 0;
    for cited in callosum_citation::find(&design.text) {
        line += ends(&design.text[counted..cited.at.start]);
        counted = cited.at.start;
        let evidence = Evidence {
            path: cited.path,
            first: cited.first_line,
            last: cited.last_line,
            quote: cited.quote,
        };
        let wrong = match &evidence.quote {
            Some(_) => Some(tree.found(&evidence)).filter(|standing| !standing.holds()),
            None => tree.lines(&evidence).err(),
        };
        if let Some(standing) = wrong {
            let (name, place) = (&design.name, evidence.identifier());
            let what = format!("{name}:{line} cites {place}: {standing}");
            forks.push(fork(Source::Code, design.kind, what));
        }
    }
    forks
}

/// Returns the beads of our own naming that a text names, each once, with the line of the first
/// time.
fn beads_in(text: &str) -> Vec<(usize, BeadId)> {
    let mut found: Vec<(usize, BeadId)> = Vec::new();
    for (line, number) in text.lines().zip(1..) {
        if !line.contains("bd-") {
            continue;
        }
        let words = line.split(|c: char| !c.is_ascii_alphanumeric() && !"-._/".contains(c));
        let words = words.map(|word| word.trim_end_matches(['.', '-']));
        let ids = words.filter(|word| word.starts_with("bd-"));
        for id in ids.filter_map(BeadId::new) {
            if found.iter().all(|(_, known)| *known != id) {
                found.push((number, id));
            }
        }
    }
    found
}

fn ends(text: &str) -> usize {
    text.bytes().filter(|byte| *byte == b'\n').count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beads_are_found_by_their_names_once_each() {
        let text = "see bd-x7y8.\nand bd-1, bd-x7y8; a/bd-2.yaml `bd-3.1` bd- Bd-4\n";
        let found: Vec<(usize, String)> = beads_in(text)
            .into_iter()
            .map(|(line, id)| (line, id.to_string()))
            .collect();
        let of = |line: usize, id: &str| (line, id.to_owned());
        assert_eq!(found, [of(1, "bd-x7y8"), of(2, "bd-1"), of(2, "bd-3.1")]);
    }
}
