//! Text that Callosum writes into files for agents, which a digest of a project ignores.
//!
//! Its folders and files at the root are left out by the walk. Left to do are files that others may
//! write in as well, such as `CLAUDE.md`, in which our text is a block between two marks.

use callosum_host::Disk;
use callosum_source::walk::SourceTree;

const BEGIN: &str = "<!-- callosum:begin -->";
const END: &str = "<!-- callosum:end -->";

/// The files at the root in which a block of ours may be.
const SHARED: [&str; 4] = ["AGENTS.md", "CLAUDE.md", "GEMINI.md", "QWEN.md"];

/// A file that holds nothing but our block is no larger, in bytes.
const LARGEST: u64 = 64 * 1024;

/// Leaves the files out of a tree that hold nothing but our block. Opens only files of these names.
pub(super) fn leave_out(disk: &Disk, tree: &mut SourceTree) {
    let root = tree.root.clone();
    tree.files.retain(|file| {
        if !SHARED.contains(&file.path.as_str()) || file.bytes > LARGEST {
            return true;
        }
        // A file that cannot be read stays, and is named as unreadable later.
        let Ok(bytes) = disk.read_at_most(&root.join(&file.path), LARGEST) else {
            return true;
        };
        let text = String::from_utf8_lossy(&bytes);
        !text.contains(BEGIN) || !blanked(&text).trim().is_empty()
    });
}

/// A text with the lines of our block emptied, so that all others keep their numbers.
pub(super) fn blanked(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut is_ours = false;
    for line in text.split_inclusive('\n') {
        is_ours |= line.trim() == BEGIN;
        if is_ours {
            out.extend(line.ends_with('\n').then_some('\n'));
        } else {
            out.push_str(line);
        }
        is_ours &= line.trim() != END;
    }
    out
}

#[cfg(test)]
mod tests {
    use crate::fixture::{survey, tree};

    const BLOCK: &str =
        "<!-- callosum:begin -->\n# Ours\n\nOur words are about agents.\n<!-- callosum:end -->\n";

    #[test]
    fn a_file_that_holds_only_our_block_is_not_read() {
        let own = tree(&[
            ("a.py", "x = 1\n"),
            ("CLAUDE.md", BLOCK),
            ("AGENTS.md", BLOCK),
        ]);
        assert_eq!(survey(own.path()).files_read(), 1);
        let deeper = tree(&[("a.py", "x = 1\n"), ("docs/CLAUDE.md", BLOCK)]);
        assert_eq!(survey(deeper.path()).files_read(), 2);
    }

    #[test]
    fn what_others_wrote_around_our_block_is_read_with_its_lines() {
        let text = format!("{BLOCK}\n# Theirs\n\nTheir words are about the shop.\n");
        let shared = tree(&[("CLAUDE.md", &text)]);
        let survey = survey(shared.path());
        let file = survey.file("CLAUDE.md").unwrap();
        let title = file.title.as_ref().unwrap();
        assert_eq!((title.text.as_str(), title.line), ("Theirs", 7));
        let about = file.about.as_ref().unwrap();
        assert_eq!(about.text, "Their words are about the shop.");
    }
}
