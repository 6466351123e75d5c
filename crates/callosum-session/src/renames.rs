//! [`LockedSession::follow_moves`]: updates the citations of decisions whose cited file was moved.
//!
//! Start with [`RenameHistory`], the project's history of renames, and [`Finder`], which finds one
//! file. Nothing is searched unless a cited file is missing. A file counts as moved if git says so,
//! or if exactly one new file has the same content. Another file that only resembles a deleted one
//! does not.

use std::{cell::OnceCell, collections::BTreeMap, fmt};

use callosum_source::walk::{Scope, SourceTree};

use crate::{
    claim_scope::ClaimScope,
    decide::DecideError,
    evidence::{Evidence, EvidenceStatus, Tree},
    fingerprints::{Fingerprint, Fingerprints},
    grounding::{Claim, ClaimKind, Grounding},
    rename_history::{HistorySource, RenameHistory},
    transaction::{LockedSession, Session, SessionError},
};

/// Most missing files that are looked for at once.
const MOST_FILES: usize = 64;

/// Most renames of one file that are followed.
const MOST_RENAMES: usize = 8;

/// A cited file that was moved. Displays as `src/a.rs moved to src/b.rs`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FileMove {
    /// Its path before, from the root of the tree.
    pub from: String,
    /// Its path now.
    pub to: String,
}

impl fmt::Display for FileMove {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} moved to {}", self.from, self.to)
    }
}

/// Finds missing files.
struct Finder<'f> {
    session: &'f Session<'f>,
    tree: &'f Tree<'f>,
    history: &'f dyn RenameHistory,
    fingerprints: Fingerprints,
    /// The files that may be a moved one, with their sizes.
    candidates: OnceCell<Vec<(String, u64)>>,
}

impl Finder<'_> {
    /// Returns the current place of a missing file.
    fn find(&self, file: &str) -> Option<String> {
        let mut at = file.to_owned();
        for _ in 0..MOST_RENAMES {
            let committed = self.history.committed(&at);
            let next = match &committed {
                // It is missing, and the last commit has it: changes in older commits do not count.
                Some(_) => self.history.staged(&at),
                None => None,
            };
            let next = next.or_else(|| self.same_content(&at, committed.as_deref()));
            let next = match committed {
                Some(_) => next,
                None => next.or_else(|| self.history.renamed(&at)),
            }?;
            if self.tree.has(&next) {
                return Some(next);
            }
            at = next;
        }
        None
    }

    /// Returns the only new file with the content that the file had.
    fn same_content(&self, file: &str, committed: Option<&[u8]>) -> Option<String> {
        let known = self.fingerprints.get(file).into_iter();
        let known: Vec<Fingerprint> = known.chain(committed.map(Fingerprint::new)).collect();
        if known.is_empty() {
            return None;
        }
        let candidates = self.candidates.get_or_init(|| self.candidates());
        let root = &self.session.zones.tree;
        let is_same = |(path, len): &&(String, u64)| {
            let has_size = known.iter().any(|known| known.len == *len);
            let read = || self.session.disk.read_at_most(&root.join(path), *len).ok();
            let is_known = |content: Vec<u8>| known.contains(&Fingerprint::new(&content));
            path != file && has_size && read().is_some_and(is_known)
        };
        let mut same = candidates.iter().filter(is_same);
        let (first, further) = (same.next(), same.next());
        first
            .filter(|_| further.is_none())
            .map(|(path, _)| path.clone())
    }

    fn candidates(&self) -> Vec<(String, u64)> {
        let (disk, root) = (self.session.disk, &self.session.zones.tree);
        if let Some(files) = self.history.uncommitted() {
            let sized = files.into_iter().filter_map(|path| {
                let stat = disk.stat(&root.join(&path)).ok()??;
                Some((path, stat.len))
            });
            sized.collect()
        } else {
            let listed = SourceTree::read(disk, root, &Scope::default());
            let files = listed.map(|tree| tree.files).unwrap_or_default();
            files
                .into_iter()
                .map(|file| (file.path, file.bytes))
                .collect()
        }
    }
}

/// Returns the paths that a claim cites and that are missing, if the claim can be anchored again: it is a decision, and
/// every place that it names can be looked up.
fn missing<'c>(claim: &'c Claim, standings: &'c [EvidenceStatus]) -> impl Iterator<Item = &'c str> {
    let is_followed =
        claim.kind == ClaimKind::Citation && claim.unread == 0 && claim.decision.is_some();
    let cited = claim.evidence.iter().zip(standings);
    let missing =
        cited.filter(move |(_, standing)| is_followed && **standing == EvidenceStatus::MissingFile);
    missing.map(|(cited, _)| cited.path.as_str())
}

/// Returns the citation at the file's new path, if its quote holds there.
fn anchored(old: &Evidence, to: &str, tree: &Tree<'_>) -> Option<Evidence> {
    let new = Evidence {
        path: to.to_owned(),
        ..old.clone()
    };
    let new = match tree.stand(&new) {
        EvidenceStatus::Verified => new,
        EvidenceStatus::Moved { line } => Evidence {
            first: line,
            last: line.saturating_add(old.last.saturating_sub(old.first)),
            ..new
        },
        _ => return None,
    };
    new.written().is_some().then_some(new)
}

impl<'s> LockedSession<'s> {
    /// Has checks and hand-offs that are made from now on follow moved files by this history.
    pub fn set_history(&mut self, history: &'s dyn RenameHistory) {
        self.history = HistorySource(Some(history));
    }

    /// Updates citations of moved files, if the claims since the last hand-off cite files that are
    /// missing.
    pub fn follow_moves(&self, whose: ClaimScope) -> Result<Vec<FileMove>, SessionError> {
        let session = &self.session;
        let read = session.since_handoff(whose)?;
        let tree = Tree::new(session.disk, &session.zones.tree);
        self.follow(&Grounding::of(&read, &tree))
    }

    /// The same for claims that were looked up.
    pub(crate) fn follow(&self, grounding: &Grounding) -> Result<Vec<FileMove>, SessionError> {
        let session = &self.session;
        let Some(history) = self.history.0 else {
            return Ok(Vec::new());
        };
        let claims = grounding.claims.iter();
        let mut files: Vec<&str> = claims
            .flat_map(|found| missing(&found.claim, &found.standings))
            .collect();
        files.sort_unstable();
        files.dedup();
        if files.is_empty() {
            return Ok(Vec::new());
        }
        let tree = Tree::new(session.disk, &session.zones.tree);
        let finder = Finder {
            session,
            tree: &tree,
            history,
            fingerprints: session.fingerprints(),
            candidates: OnceCell::new(),
        };
        let files = files.into_iter().take(MOST_FILES);
        let found: BTreeMap<&str, String> = files
            .filter_map(|file| Some((file, finder.find(file)?)))
            .collect();
        let mut moved = Vec::new();
        for of_claim in &grounding.claims {
            let claim = &of_claim.claim;
            let missing: Vec<&str> = missing(claim, &of_claim.standings).collect();
            let mut replaced = Vec::new();
            for old in &claim.evidence {
                let to = found.get(old.path.as_str());
                let to = to.filter(|_| missing.contains(&old.path.as_str()));
                let new = to.and_then(|to| anchored(old, to, &tree));
                replaced.extend(new.map(|new| (old.clone(), new)));
            }
            if replaced.is_empty() {
                continue;
            }
            match self.anchor_again(claim, &replaced) {
                Ok(true) => moved.extend(replaced.into_iter().map(|(old, new)| FileMove {
                    from: old.path,
                    to: new.path,
                })),
                Err(DecideError::Session(error)) => return Err(error),
                // A person has marked it, or no entry has the name now.
                Ok(false) | Err(_) => {}
            }
        }
        moved.sort();
        moved.dedup();
        Ok(moved)
    }
}
