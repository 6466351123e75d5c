//! [`merged`]: a session's file as two branches have it, as one.
//!
//! Git's own merge goes by lines, and what two branches add stands at the same place: it is a conflict, or, where the lines of
//! both are taken, entries torn apart. Start with [`Kind`], which files are known, [`sides`], for a file in which git has
//! left its marks, and [`OpenMerge`], for one in which it may have left none.

use std::collections::HashSet;

use crate::{
    bead::{BeadId, BeadMergeError, Sheet, SheetError, merged as merged_beads},
    notes::Notes,
    trajectory::records,
};

/// What kind of file it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `NOTES.md`.
    Notes,
    /// A trajectory.
    Trajectory,
    /// A bead.
    Bead,
}

impl Kind {
    /// The kind of the file of this path; `None` where it is none of a session.
    pub fn of(path: &str) -> Option<Self> {
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        match folder.rsplit('/').next().unwrap_or_default() {
            _ if name == "NOTES.md" => Some(Self::Notes),
            "trajectory" => name.strip_suffix(".jsonl").map(|_| Self::Trajectory),
            // Other programs keep files of their own beside beads.
            ".beads" => BeadId::of_file(name).map(|_| Self::Bead),
            _ => None,
        }
    }
}

/// Why two files cannot be made one. Neither is changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MergeError {
    /// One is no bead, or both changed what only a person can tell.
    #[error(transparent)]
    Bead(#[from] BeadMergeError),
    /// One has the marks of a merge that nobody has finished.
    #[error("a side has a merge that nobody has finished")]
    Unfinished,
    /// One is no text in UTF-8.
    #[error("a side is no text in UTF-8")]
    NotText,
    /// What one side wrote would be lost.
    #[error("`{line}` would be lost")]
    Lost {
        /// The line.
        line: String,
    },
}

/// A file in which git has not ended a merge: the three that it keeps of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenMerge {
    /// The file, from the root.
    pub file: String,
    /// What both sides come from; nothing where both made the file.
    pub base: Option<Vec<u8>>,
    /// Our side.
    pub ours: Vec<u8>,
    /// Their side.
    pub theirs: Vec<u8>,
}

/// What is left to do in a file in which git has not ended a merge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Left {
    /// Nothing: what theirs has is in it, or a person has decided.
    Nothing,
    /// To write this, which has both sides.
    Write(Vec<u8>),
    /// To decide what only a person can tell.
    Decide(MergeError),
}

impl OpenMerge {
    /// What is left to do where this stands there, without marks of git.
    pub(crate) fn left(&self, there: &[u8]) -> Left {
        let Some(kind) = Kind::of(&self.file) else {
            return Left::Nothing;
        };
        if kind == Kind::Trajectory {
            let known: HashSet<&[u8]> = there.split(|byte| *byte == b'\n').collect();
            if self
                .theirs
                .split(|byte| *byte == b'\n')
                .all(|line| known.contains(line))
            {
                return Left::Nothing;
            }
        }
        match merged(kind, self.base.as_deref(), there, &self.theirs) {
            Ok(made) if made == there => Left::Nothing,
            Ok(made) => Left::Write(made),
            Err(error) if there == self.ours => Left::Decide(error),
            Err(_) => Left::Nothing,
        }
    }
}

/// Our file with what theirs has beside it; `base` is what both came from, where that is known.
pub fn merged(
    kind: Kind,
    base: Option<&[u8]>,
    ours: &[u8],
    theirs: &[u8],
) -> Result<Vec<u8>, MergeError> {
    if sides(ours).is_some() || sides(theirs).is_some() {
        return Err(MergeError::Unfinished);
    }
    match kind {
        Kind::Notes => {
            let read = |bytes: &[u8]| Notes::read(bytes.to_vec());
            let was = base.map(read);
            let made = Notes::merged(was.as_ref(), &read(ours), &read(theirs));
            // Without a base nobody knows who wrote what; who asks for that keeps both sides.
            match base.and_then(|base| lost(base, theirs, made.bytes())) {
                Some(line) => Err(MergeError::Lost { line }),
                None => Ok(made.bytes().to_vec()),
            }
        }
        Kind::Trajectory => Ok(merged_records(ours, theirs)),
        Kind::Bead => {
            let read = |bytes: &[u8]| {
                let text = std::str::from_utf8(bytes).map_err(|_| MergeError::NotText)?;
                let sheet: Result<Sheet, SheetError> = Sheet::read(text);
                sheet.map_err(|error| MergeError::Bead(error.into()))
            };
            // One that both made has no base.
            let base = base.filter(|base| !base.is_empty()).map(read).transpose()?;
            let made = merged_beads(base.as_ref(), &read(ours)?, &read(theirs)?)?;
            Ok(made.text().as_bytes().to_vec())
        }
    }
}

/// Both sides without what they came from, and the first line of theirs that has no place there.
pub(crate) fn taken(
    kind: Kind,
    ours: &[u8],
    theirs: &[u8],
) -> Result<(Vec<u8>, Option<String>), MergeError> {
    let made = merged(kind, None, ours, theirs)?;
    let lost = match kind {
        Kind::Notes => lost(b"", theirs, &made),
        Kind::Trajectory | Kind::Bead => None,
    };
    Ok((made, lost))
}

/// The first line that their side wrote and that is not in what was made of both. Of what stands in Active Context one
/// value counts, and is no loss.
fn lost(base: &[u8], theirs: &[u8], made: &[u8]) -> Option<String> {
    fn lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
        bytes.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii)
    }
    let known: HashSet<&[u8]> = lines(base).chain(lines(made)).collect();
    let is_field = |line: &[u8]| line.starts_with(b"- **");
    let mut written = lines(theirs).filter(|line| !line.is_empty() && !is_field(line));
    let line = written.find(|line| !known.contains(line))?;
    Some(String::from_utf8_lossy(line).into_owned())
}

/// Both sides in one file with git's marks around where they differ, for a person to finish.
pub fn marked(ours: &[u8], theirs: &[u8]) -> Vec<u8> {
    fn lines(bytes: &[u8]) -> Vec<&[u8]> {
        bytes.split_inclusive(|byte| *byte == b'\n').collect()
    }
    let (ours, theirs) = (lines(ours), lines(theirs));
    let alike = |(a, b): &(&&[u8], &&[u8])| a == b;
    let before = ours.iter().zip(&theirs).take_while(alike).count();
    let rest = ours[before..]
        .iter()
        .rev()
        .zip(theirs[before..].iter().rev());
    let behind = rest.take_while(alike).count();
    let mut made = ours[..before].concat();
    let mut side = |mark: &str, lines: &[&[u8]]| {
        made.extend_from_slice(mark.as_bytes());
        made.extend_from_slice(&lines.concat());
        if !made.ends_with(b"\n") {
            made.push(b'\n');
        }
    };
    side("<<<<<<< ours\n", &ours[before..ours.len() - behind]);
    side("=======\n", &theirs[before..theirs.len() - behind]);
    made.extend_from_slice(b">>>>>>> theirs\n");
    made.extend_from_slice(&ours[ours.len() - behind..].concat());
    made
}

/// Our side and theirs of a file in which git has left the marks of a merge; `None` where there are none, or one never ends.
pub fn sides(bytes: &[u8]) -> Option<[Vec<u8>; 2]> {
    /// Where a line stands.
    #[derive(PartialEq)]
    enum At {
        Common,
        Ours,
        Base,
        Theirs,
    }
    let mut sides = [Vec::new(), Vec::new()];
    let mut at = At::Common;
    let mut is_marked = false;
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        let text = line.trim_ascii_end();
        let next = match at {
            At::Common if text.starts_with(b"<<<<<<< ") => At::Ours,
            At::Ours if text.starts_with(b"||||||| ") => At::Base,
            At::Ours | At::Base if text == b"=======" => At::Theirs,
            At::Theirs if text.starts_with(b">>>>>>> ") => At::Common,
            _ => {
                if matches!(at, At::Common | At::Ours) {
                    sides[0].extend_from_slice(line);
                }
                if matches!(at, At::Common | At::Theirs) {
                    sides[1].extend_from_slice(line);
                }
                continue;
            }
        };
        is_marked = true;
        at = next;
    }
    (is_marked && at == At::Common).then_some(sides)
}

/// The line, counted from 1, in which git has left the first mark of a merge, also where the marks do not go together.
pub(crate) fn first_mark(bytes: &[u8]) -> Option<usize> {
    let is_mark = |line: &[u8]| line.starts_with(b"<<<<<<< ") || line.starts_with(b">>>>>>> ");
    let at = bytes.split(|byte| *byte == b'\n').position(is_mark)?;
    Some(at + 1)
}

/// The records of both, each once. What one side claimed since its last hand-off stands behind the hand-offs of both, so that
/// it goes on counting.
fn merged_records(ours: &[u8], theirs: &[u8]) -> Vec<u8> {
    fn lines(bytes: &[u8]) -> Vec<&[u8]> {
        let lines = bytes.split(|byte| *byte == b'\n');
        lines.filter(|line| !line.trim_ascii().is_empty()).collect()
    }
    /// How many of the lines end with the last hand-off.
    fn ended(lines: &[&[u8]]) -> usize {
        let is_handoff = |line: &&[u8]| {
            let records = records(line).records;
            records
                .first()
                .is_some_and(|record| record.phase() == "session_handoff")
        };
        lines
            .iter()
            .rposition(is_handoff)
            .map_or(0, |last| last + 1)
    }
    let (ours, theirs) = (lines(ours), lines(theirs));
    let shared = ours.iter().zip(&theirs).take_while(|(a, b)| a == b).count();
    let (prefix, ours) = ours.split_at(shared);
    let known: HashSet<&[u8]> = ours.iter().copied().collect();
    // Lines of a record that spreads over several may be alike.
    let is_new = |line: &&&[u8]| !(line.starts_with(b"{\"") && known.contains(**line));
    let theirs: Vec<&[u8]> = theirs[shared..].iter().filter(is_new).copied().collect();
    let (ours_over, ours_since) = ours.split_at(ended(ours));
    let (theirs_over, theirs_since) = theirs.split_at(ended(&theirs));
    let mut made = Vec::new();
    for line in [prefix, ours_over, theirs_over, ours_since, theirs_since].concat() {
        made.extend_from_slice(line);
        made.push(b'\n');
    }
    made
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: &str = "# Notes\n\n## Session Continuity\n\n### Active Context\n- **Current Bead**: bd-1\n- **Last Checkpoint**: \
                        none\n\n### Lightweight Identifiers\n| Identifier | Purpose | Last Verified |\n|---|---|---|\n\n### Decision \
                        Log\n\n#### 2026-01-01T00:00:00Z - Old\n**Decision**: Old\n\n### Pending Questions\n- [ ] why?\n\n## Blockers\nnone\n";

    fn entry(ts: &str, words: &str) -> String {
        format!("#### 2026-01-02T{ts}Z - {words}\n**Decision**: {words}\n**Rationale**: x\n\n")
    }

    fn with(entries: &[String]) -> String {
        BASE.replace("### Pending", &format!("{}### Pending", entries.concat()))
    }

    fn notes(base: Option<&str>, ours: &str, theirs: &str) -> String {
        let base = base.map(str::as_bytes);
        let made = merged(Kind::Notes, base, ours.as_bytes(), theirs.as_bytes()).unwrap();
        String::from_utf8(made).unwrap()
    }

    fn titles(text: &str) -> Vec<String> {
        let notes = Notes::read(text.as_bytes().to_vec());
        notes
            .decisions()
            .into_iter()
            .map(|made| made.title)
            .collect()
    }

    /// LOA-FMT-1, LOA-GRD-1: the entries of both branches are there whole and in order of time, those of one second too; what one
    /// side changed is changed, and what both wrote elsewhere is there.
    #[test]
    fn the_notes_of_two_branches_have_the_entries_of_both() {
        let ours = with(&[
            entry("03:00:01", "A"),
            entry("03:00:05", "Same second, ours"),
        ])
        .replace("none\n\n### Light", "2026-01-02T03:00:06Z\n\n### Light")
        .replace("## Blockers\nnone\n", "## Blockers\nnone\nours waits\n");
        let theirs = with(&[
            entry("03:00:03", "B"),
            entry("03:00:05", "Same second, theirs"),
        ])
        .replace(
            "**Decision**: Old\n",
            "**Decision**: Old\n**Rationale**: said later\n",
        )
        .replace("- [ ] why?\n", "- [ ] why?\n- [ ] and how?\n")
        .replace(
            "|---|---|---|\n",
            "|---|---|---|\n| ${PROJECT_ROOT}/a.rs:1 | B | 03:00:04Z |\n",
        )
        .replace(
            "## Blockers\nnone\n",
            "## Blockers\nnone\ntheirs waits\n\n## Later\nmore\n",
        );
        for base in [Some(BASE), None] {
            let made = notes(base, &ours, &theirs);
            assert_eq!(
                titles(&made),
                ["Old", "A", "B", "Same second, ours", "Same second, theirs"],
                "{made}"
            );
            for said in [
                "- **Last Checkpoint**: 2026-01-02T03:00:06Z\n",
                "- [ ] and how?\n",
                "| ${PROJECT_ROOT}/a.rs:1 | B | 03:00:04Z |\n",
                "ours waits\n",
                "theirs waits\n",
                "## Later\nmore\n",
            ] {
                assert_eq!(made.matches(said).count(), 1, "{said} in {made}");
            }
            assert_eq!(
                made.contains("**Rationale**: said later\n"),
                base.is_some(),
                "{made}"
            );
            assert_eq!(
                notes(base, &made, &theirs),
                made,
                "made again, it changes nothing"
            );
            assert_eq!(notes(Some(BASE), &made, BASE), made);
        }
        assert_eq!(
            notes(Some(BASE), BASE, &ours).matches("ours waits").count(),
            1
        );
    }

    /// LOA-BEAD-1: files of other programs are none of ours, wherever they stand.
    #[test]
    fn what_kind_a_file_is_its_path_tells() {
        for (path, kind) in [
            ("loa-grimoire/NOTES.md", Some(Kind::Notes)),
            (
                "loa-grimoire/a2a/trajectory/implementing-tasks-2026-01-02.jsonl",
                Some(Kind::Trajectory),
            ),
            (".beads/bd-1.yaml", Some(Kind::Bead)),
            ("sub/.beads/bd-1.yaml", Some(Kind::Bead)),
            (".beads/issues.jsonl", None),
            (".beads/config.yaml", None),
            ("data/bd-1.yaml", None),
            ("data/x.jsonl", None),
            ("bd-1.yaml", None),
        ] {
            assert_eq!(Kind::of(path), kind, "{path}");
        }
    }

    /// LOA-FMT-1: a section of text that one branch alone changed is as that branch has it.
    #[test]
    fn a_section_that_one_branch_changed_is_as_it_has_it() {
        let changed = BASE.replace("## Blockers\nnone\n", "## Blockers\nwaits\n");
        let ours = with(&[entry("03:00:01", "A")]);
        for (ours, theirs) in [(&ours, &changed), (&changed, &ours)] {
            let made = notes(Some(BASE), ours, theirs);
            assert!(made.ends_with("## Blockers\nwaits\n"), "{made}");
            assert_eq!(titles(&made), ["Old", "A"]);
        }
    }

    /// LOA-FMT-1: the marks that git leaves are taken apart into both sides.
    #[test]
    fn the_sides_of_a_conflict_are_found() {
        let torn = b"a\n<<<<<<< HEAD\nb\n||||||| 1\nx\n=======\nc\n>>>>>>> o\nd\n<<<<<<< HEAD\r\n=======\r\ne\n>>>>>>> o\n";
        let [ours, theirs] = sides(torn).unwrap();
        assert_eq!(
            (&*ours, &*theirs),
            (&b"a\nb\nd\n"[..], &b"a\nc\nd\ne\n"[..])
        );
        assert_eq!(sides(b"a\n=======\nb\n"), None);
        assert_eq!(sides(b"<<<<<<< HEAD\na\n"), None);
        let refused = merged(Kind::Notes, None, torn, b"");
        assert_eq!(refused, Err(MergeError::Unfinished));
    }

    /// LOA-TRJ-1, LOA-GRD-1: records are there once each, and a hand-off of one branch ends no claim of the other.
    #[test]
    fn claims_of_one_branch_stand_behind_the_hand_off_of_the_other() {
        let cite = |of: &str| format!("{{\"phase\":\"cite\",\"claim\":\"{of}\"}}\n");
        let over = "{\"phase\":\"session_handoff\"}\n";
        let base = cite("old");
        let ended = format!("{base}{}{over}", cite("ours"));
        let going = format!("{base}{}", cite("theirs"));
        let wanted = format!("{ended}{}", cite("theirs"));
        for (ours, theirs) in [(&ended, &going), (&going, &ended)] {
            let made = merged(Kind::Trajectory, None, ours.as_bytes(), theirs.as_bytes());
            assert_eq!(String::from_utf8(made.unwrap()).unwrap(), wanted);
        }
    }

    /// LOA-FMT-1: what no rule brings together is lost by neither: a person finishes the merge, with both before them.
    #[test]
    fn what_would_be_lost_is_left_to_a_person() {
        let row = |purpose: &str| {
            let row = format!("|---|---|---|\n| ${{PROJECT_ROOT}}/a.rs:1 | {purpose} | x |\n");
            BASE.replace("|---|---|---|\n", &row)
        };
        let above = |words: &str| BASE.replace("# Notes\n", &format!("# Notes\n{words}\n"));
        for (ours, theirs, line) in [
            (row("ours"), row("theirs"), "| theirs | x |"),
            (above("We deploy."), above("On Tuesdays only."), "Tuesdays"),
        ] {
            let made = merged(
                Kind::Notes,
                Some(BASE.as_bytes()),
                ours.as_bytes(),
                theirs.as_bytes(),
            );
            match made {
                Err(MergeError::Lost { line: lost }) => assert!(lost.contains(line), "{lost}"),
                Err(error) => panic!("{error}"),
                // Both may well be there.
                Ok(made) => assert!(String::from_utf8(made).unwrap().contains(line)),
            }
            let both = marked(ours.as_bytes(), theirs.as_bytes());
            let [left, right] = sides(&both).unwrap();
            assert_eq!((left, right), (ours.into_bytes(), theirs.into_bytes()));
        }
    }
}
