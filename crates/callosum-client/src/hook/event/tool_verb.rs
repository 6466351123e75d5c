//! [`ToolVerb`]: the operation on paths that the words of a tool's name describe.

use callosum_guard::tool_name::words;

use super::catalog::own_name;

/// An operation on paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ToolVerb {
    /// They are removed, with all that is in them.
    Remove,
    /// They are moved to another path.
    Move,
    /// They are copied to another path.
    Copy,
    /// They are written.
    Change,
}

const REMOVES: [&str; 16] = [
    "delete", "remove", "rmdir", "unlink", "trash", "erase", "purge", "rm", "del", "destroy",
    "wipe", "rimraf", "rmtree", "shred", "recycle", "discard",
];

const MOVES: [&str; 5] = ["move", "rename", "mv", "mov", "relocate"];

const COPIES: [&str; 3] = ["copy", "cp", "duplicate"];

/// Parts of a file: a tool that deletes or moves one of them writes the file.
const PARTS: [&str; 29] = [
    "line",
    "symbol",
    "comment",
    "import",
    "cell",
    "block",
    "section",
    "dependency",
    "package",
    "range",
    "match",
    "content",
    "contents",
    "character",
    "node",
    "property",
    "row",
    "column",
    "key",
    "entry",
    "field",
    "tag",
    "attribute",
    "method",
    "function",
    "class",
    "header",
    "heading",
    "value",
];

/// Parts of words that say that files are changed.
const CHANGES: [&str; 15] = [
    "write", "edit", "create", "delete", "remove", "move", "rename", "replace", "patch", "insert",
    "append", "update", "save", "copy", "truncate",
];

impl ToolVerb {
    /// Returns the operation of a tool with this name.
    pub(super) fn of(tool: &str) -> Option<Self> {
        // The part before the own name is the server's.
        let words = words(own_name(tool));
        let says = |known: &[&str]| words.iter().any(|word| known.contains(&word.as_str()));
        let is_about_part = words.iter().any(|word| {
            let one = word.strip_suffix('s').unwrap_or(word);
            PARTS.contains(&word.as_str()) || PARTS.contains(&one)
        });
        if !is_about_part {
            for (known, deed) in [
                (&REMOVES[..], Self::Remove),
                (&MOVES, Self::Move),
                (&COPIES, Self::Copy),
            ] {
                if says(known) {
                    return Some(deed);
                }
            }
        }
        let lower = tool.to_ascii_lowercase();
        let mut changes = CHANGES.iter();
        changes
            .any(|word| lower.contains(word))
            .then_some(Self::Change)
    }

    /// Returns the operation of a word in place of a command: `create`, `delete_file`. A word that
    /// may be a program, such as `rm`, has none.
    pub(super) fn of_verb(verb: &str) -> Option<Self> {
        let is_word = verb
            .bytes()
            .all(|byte| byte.is_ascii_alphabetic() || byte == b'_');
        let deed = is_word.then(|| Self::of(verb))?;
        let lower = verb.to_ascii_lowercase();
        deed.filter(|_| CHANGES.iter().any(|word| lower.contains(word)))
    }
}
