//! [`compare`]: level of the change between two manifests of a capability, by variance.
//!
//! Arguments are contravariant: a new version must take all that the old one took. Answers are
//! covariant: it may answer nothing that the old one never answered. Effects, permissions and trust
//! that widen are a major change, even if the schemas are the same. A function of the two manifests
//! alone; [`accepted`](super::accepted) decides what follows from it.

use std::fmt;

use callosum_plan::Schema;
use serde::{Deserialize, Serialize};

use super::{
    manifest::{Manifest, Quotas, Unheld},
    version::SemanticVersion,
};

/// Parts of two schemas that are compared at most. A schema of 16 KiB takes some thousand.
const COMPARISON_WORK: u64 = 1 << 20;

/// Level of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ChangeLevel {
    /// Nothing changed.
    Same,
    /// Only texts for readers changed.
    Patch,
    /// Every earlier call and every use of its answer still holds, and nothing is permitted that was not.
    Minor,
    /// An earlier call may fail, an answer may be another than before, or it may do more than it might.
    Major,
}

/// One thing that changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangeReason {
    /// Level of the change.
    pub level: ChangeLevel,
    /// Description of the change, without a final period.
    pub text: String,
}

/// Difference between a manifest and the one before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Descriptions of the changes, the farthest first.
    pub reasons: Vec<ChangeReason>,
}

impl Change {
    /// Returns how far it goes: as far as the farthest of its reasons.
    pub fn level(&self) -> ChangeLevel {
        let levels = self.reasons.iter().map(|reason| reason.level);
        levels.max().unwrap_or(ChangeLevel::Same)
    }

    /// Returns the texts of the reasons that make it as far as it is.
    pub fn decisive(&self) -> Vec<&str> {
        let level = self.level();
        let decisive = self.reasons.iter().filter(|reason| reason.level == level);
        decisive.map(|reason| reason.text.as_str()).collect()
    }

    fn note(&mut self, level: ChangeLevel, text: impl Into<String>) {
        self.reasons.push(ChangeReason {
            level,
            text: text.into(),
        });
    }

    fn note_if(&mut self, has_changed: bool, level: ChangeLevel, text: &str) {
        if has_changed {
            self.note(level, text);
        }
    }
}

/// Compares two manifests of one capability.
///
/// Costs at most some hundred milliseconds for the largest schemas that are kept, and microseconds for most. Schemas that are too
/// large to compare count as a major change, and so does a keyword of a server's schema that is not understood and differs.
pub fn compare(old: &Manifest, new: &Manifest) -> Change {
    let mut change = Change {
        reasons: Vec::new(),
    };
    compare_arguments(old, new, &mut change);
    compare_answers(old, new, &mut change);
    compare_permissions(old, new, &mut change);
    compare_quotas(&old.quotas, &new.quotas, &mut change);
    compare_texts(old, new, &mut change);
    // A stable sort, so that the same two manifests always give the same list.
    change
        .reasons
        .sort_by_key(|reason| std::cmp::Reverse(reason.level));
    change
}

fn compare_arguments(old: &Manifest, new: &Manifest, change: &mut Change) {
    match excluded(&new.input, &old.input) {
        Some((place, what)) => {
            let text = format!("its arguments{place} no longer take {what}");
            change.note(ChangeLevel::Major, text);
        }
        None if old.input.as_str() != new.input.as_str() => {
            let text = match excluded(&old.input, &new.input) {
                Some((place, what)) => format!("its arguments{place} also take {what}"),
                None => "the type of its arguments is written differently".to_owned(),
            };
            change.note(ChangeLevel::Minor, text);
        }
        None => {}
    }
    compare_unheld("arguments", &old.unheld, &new.unheld, change);
}

fn compare_answers(old: &Manifest, new: &Manifest, change: &mut Change) {
    match excluded(&old.output, &new.output) {
        Some((place, what)) => {
            let text = format!("its answers{place} may now be {what}");
            change.note(ChangeLevel::Major, text);
        }
        None if old.output.as_str() != new.output.as_str() => {
            let text = match excluded(&new.output, &old.output) {
                Some((place, what)) => format!("its answers{place} are never {what} now"),
                None => "the type of its answers is written differently".to_owned(),
            };
            change.note(ChangeLevel::Minor, text);
        }
        None => {}
    }
    compare_unheld("answers", &old.unheld_output, &new.unheld_output, change);
}

/// The first thing that a type takes and `of` does not: its place, to put behind a noun, and what it is.
fn excluded(of: &Schema, other: &Schema) -> Option<(String, String)> {
    let excluded = of.first_excluded(other, COMPARISON_WORK)?;
    let place = match excluded.place.as_str() {
        "" => String::new(),
        place => format!(" at `{place}`"),
    };
    Some((place, excluded.what))
}

fn compare_unheld(of: &str, old: &Unheld, new: &Unheld, change: &mut Change) {
    if old == new {
        return;
    }
    let keywords: Vec<String> = old
        .keywords
        .union(&new.keywords)
        .map(|keyword| format!("`{keyword}`"))
        .collect();
    let keywords = keywords.join(", ");
    let text = format!("the schema of its {of} cannot be compared: {keywords} changed");
    change.note(ChangeLevel::Major, text);
}

fn compare_permissions(old: &Manifest, new: &Manifest, change: &mut Change) {
    for effect in new.effects.difference(&old.effects) {
        let text = format!("it has the effect `{effect}` now");
        change.note(ChangeLevel::Major, text);
    }
    for effect in old.effects.difference(&new.effects) {
        let text = format!("it no longer has the effect `{effect}`");
        change.note(ChangeLevel::Minor, text);
    }
    for field in old.sensitive_fields.difference(&new.sensitive_fields) {
        let text = format!("the sensitive field `{field}` is no longer withheld from it");
        change.note(ChangeLevel::Major, text);
    }
    for field in new.sensitive_fields.difference(&old.sensitive_fields) {
        let text = format!("the sensitive field `{field}` is withheld from it now");
        change.note(ChangeLevel::Minor, text);
    }
    let moved = |what: &str, from: &dyn fmt::Display, to: &dyn fmt::Display| {
        format!("{what} changes from {from} to {to}")
    };
    if old.trust_tier != new.trust_tier {
        let level = if new.trust_tier > old.trust_tier {
            ChangeLevel::Major
        } else {
            ChangeLevel::Minor
        };
        let text = moved("its trust tier", &old.trust_tier, &new.trust_tier);
        change.note(level, text);
    }
    if old.sensitivity != new.sensitivity {
        // Answers that count as less sensitive may go further than they might.
        let level = if new.sensitivity < old.sensitivity {
            ChangeLevel::Major
        } else {
            ChangeLevel::Minor
        };
        let text = moved(
            "the sensitivity of its answers",
            &old.sensitivity,
            &new.sensitivity,
        );
        change.note(level, text);
    }
    if old.kind != new.kind {
        let text = moved("its kind", &old.kind, &new.kind);
        change.note(ChangeLevel::Major, text);
    }
    if old.provenance != new.provenance {
        let text = moved("its provider", &old.provenance, &new.provenance);
        change.note(ChangeLevel::Major, text);
    }
    let by_key = "whether a call can be repeated under its key changes";
    change.note_if(
        old.answers_by_key != new.answers_by_key,
        ChangeLevel::Major,
        by_key,
    );
}

fn compare_quotas(old: &Quotas, new: &Quotas, change: &mut Change) {
    let has_changed = old != new;
    change.note_if(
        has_changed,
        ChangeLevel::Minor,
        "its limits for one run changed",
    );
}

fn compare_texts(old: &Manifest, new: &Manifest, change: &mut Change) {
    change.note_if(
        old.name != new.name,
        ChangeLevel::Patch,
        "its name for people changed",
    );
    change.note_if(
        old.description != new.description,
        ChangeLevel::Patch,
        "its description changed",
    );
    change.note_if(
        old.skills != new.skills,
        ChangeLevel::Patch,
        "its skills changed",
    );
    if old.version == new.version {
        return;
    }
    let versions = [old, new].map(|manifest| SemanticVersion::stated(&manifest.version));
    let text = format!(
        "its provider states version {} instead of {}",
        new.version, old.version
    );
    let level = match versions {
        [Some(old), Some(new)] if new < old => ChangeLevel::Major,
        _ => ChangeLevel::Patch,
    };
    change.note(level, text);
}

impl ChangeLevel {
    /// Returns its word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::Patch => "patch",
            Self::Minor => "minor",
            Self::Major => "major",
        }
    }
}

impl fmt::Display for ChangeLevel {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}
