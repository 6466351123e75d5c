//! [`resolve`]: the resolution of a contested file. Pure.

use callosum_mesh::conflict::ConflictSide;
use callosum_session::merge::merged_lines;

/// The versions of a contested file.
#[derive(Clone, Copy, Debug)]
pub struct Known<'a> {
    /// Before both edits.
    pub base: Option<&'a [u8]>,
    /// After the first agent's last edit.
    pub first: Option<&'a [u8]>,
    /// After the second agent's last edit.
    pub second: Option<&'a [u8]>,
    /// The side whose change an edit from an older version may have dropped. The file descends from the other side's version.
    pub dropped: Option<ConflictSide>,
    /// On disk; `None` if there is no file.
    pub disk: Option<&'a [u8]>,
}

/// The resolution that a person or agent asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// Merge both changes. Keeps the file if it has both.
    Merge,
    /// Leave the file as it is.
    Keep,
    /// Write one side's version over it.
    Take(ConflictSide),
}

/// The result of a resolution for the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It stays as it is.
    Kept,
    /// It becomes these bytes, the merge of both changes.
    Merged(Vec<u8>),
    /// It becomes these bytes, one side's version.
    Taken(Vec<u8>),
}

/// The reason why nothing was resolved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ResolveError {
    /// Both changed the same lines.
    #[error("both agents changed the same lines, so there is no merge without a choice")]
    SameLines,
    /// A version is missing.
    #[error("a version of the file was not recorded, so both changes cannot be compared")]
    NotRecorded,
    /// The file is not text.
    #[error("the file is not UTF-8 text, so it cannot be merged")]
    NotText,
    /// The file is gone.
    #[error("the file does not exist")]
    Gone,
}

impl<'a> Known<'a> {
    fn version(&self, place: ConflictSide) -> Option<&'a [u8]> {
        match place {
            ConflictSide::First => self.first,
            ConflictSide::Second => self.second,
        }
    }
}

/// Decides what the file becomes.
///
/// # Errors
/// Returns the [`ResolveError`] if the choice cannot be made from what is known. Nothing is to be written then.
pub fn resolve(choice: Choice, known: &Known<'_>) -> Result<Outcome, ResolveError> {
    match choice {
        Choice::Keep => Ok(Outcome::Kept),
        Choice::Take(place) => {
            let version = known.version(place).ok_or(ResolveError::NotRecorded)?;
            Ok(if known.disk == Some(version) {
                Outcome::Kept
            } else {
                Outcome::Taken(version.to_vec())
            })
        }
        Choice::Merge => merge(known),
    }
}

fn merge(known: &Known<'_>) -> Result<Outcome, ResolveError> {
    let disk = known.disk.ok_or(ResolveError::Gone)?;
    let Some(dropped) = known.dropped else {
        return Ok(Outcome::Kept);
    };
    let text = |bytes| std::str::from_utf8(bytes).map_err(|_| ResolveError::NotText);
    let base = text(known.base.ok_or(ResolveError::NotRecorded)?)?;
    let dropped = text(known.version(dropped).ok_or(ResolveError::NotRecorded)?)?;
    let now = text(disk)?;
    let merged = merged_lines(base, dropped, now).ok_or(ResolveError::SameLines)?;
    Ok(if merged == now {
        Outcome::Kept
    } else {
        Outcome::Merged(merged.into_bytes())
    })
}

/// Whether a change of one side is missing from the file; `None` if that is not known.
pub fn is_lost(known: &Known<'_>) -> Option<bool> {
    match merge(known) {
        Ok(Outcome::Kept) => Some(false),
        Ok(_) | Err(ResolveError::SameLines) => Some(true),
        Err(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: &str = "a\nb\nc\nd\ne\n";

    fn known<'a>(
        first: &'a str,
        second: &'a str,
        disk: &'a str,
        dropped: Option<ConflictSide>,
    ) -> Known<'a> {
        Known {
            base: Some(BASE.as_bytes()),
            first: Some(first.as_bytes()),
            second: Some(second.as_bytes()),
            dropped,
            disk: Some(disk.as_bytes()),
        }
    }

    fn merged(known: &Known<'_>) -> Result<String, ResolveError> {
        Ok(match resolve(Choice::Merge, known)? {
            Outcome::Kept => "kept".to_owned(),
            Outcome::Merged(bytes) | Outcome::Taken(bytes) => String::from_utf8(bytes).unwrap(),
        })
    }

    /// CALC-FUT-1: a change that an edit from an older version dropped comes back, and nothing else changes.
    #[test]
    fn a_dropped_change_comes_back_and_a_kept_one_stays() {
        let (first, second) = ("A\nb\nc\nd\ne\n", "a\nb\nc\nd\nE\n");
        let both = "A\nb\nc\nd\nE\n";
        let stale = known(first, second, second, Some(ConflictSide::First));
        assert_eq!(merged(&stale).unwrap(), both);
        assert_eq!(is_lost(&stale), Some(true));
        let fixed = known(first, second, both, Some(ConflictSide::First));
        assert_eq!(merged(&fixed).unwrap(), "kept");
        assert_eq!(is_lost(&fixed), Some(false));
        // Work after the conflict stays.
        let later = known(
            first,
            second,
            "a\nb\nc\nd\nE\nf\n",
            Some(ConflictSide::First),
        );
        assert_eq!(merged(&later).unwrap(), "A\nb\nc\nd\nE\nf\n");
        let aware = known(first, "x\nb\nc\nd\ne\n", "x\nb\nc\nd\ne\n", None);
        assert_eq!(merged(&aware).unwrap(), "kept");
    }

    #[test]
    fn what_cannot_be_merged_is_refused() {
        let (first, second) = ("A\nb\nc\nd\ne\n", "X\nb\nc\nd\ne\n");
        let same = known(first, second, second, Some(ConflictSide::First));
        assert_eq!(merged(&same), Err(ResolveError::SameLines));
        assert_eq!(is_lost(&same), Some(true));
        let unknown = Known {
            first: None,
            ..same
        };
        assert_eq!(merged(&unknown), Err(ResolveError::NotRecorded));
        assert_eq!(is_lost(&unknown), None);
        let gone = Known { disk: None, ..same };
        assert_eq!(merged(&gone), Err(ResolveError::Gone));
        let binary = Known {
            first: Some(b"\xff"),
            ..same
        };
        assert_eq!(merged(&binary), Err(ResolveError::NotText));
        assert_eq!(
            resolve(Choice::Take(ConflictSide::First), &binary),
            Ok(Outcome::Taken(b"\xff".to_vec()))
        );
        assert_eq!(
            resolve(Choice::Take(ConflictSide::First), &unknown),
            Err(ResolveError::NotRecorded)
        );
        assert_eq!(
            resolve(Choice::Take(ConflictSide::Second), &same),
            Ok(Outcome::Kept)
        );
        assert_eq!(resolve(Choice::Keep, &unknown), Ok(Outcome::Kept));
    }
}
