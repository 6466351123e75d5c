//! Which files a patch in Codex's own form touches.
//!
//! The form is lines: `*** Add File: PATH`, `*** Update File: PATH`, `*** Delete File: PATH`, and
//! `*** Move to: PATH` behind an update. What a patch does to a file nobody here asks.

/// What stands before a path, at the beginning of a line.
const MARKS: [&str; 4] = [
    "*** Add File:",
    "*** Update File:",
    "*** Delete File:",
    "*** Move to:",
];

/// The paths that a patch names, in their order; none where it is no patch.
pub(crate) fn paths(patch: &str) -> Vec<String> {
    let named = |line: &str| {
        // Codex trims lines as well before it looks for a mark.
        let line = line.trim();
        let path = MARKS.iter().find_map(|mark| line.strip_prefix(mark))?;
        Some(path.trim().to_owned()).filter(|path| !path.is_empty())
    };
    patch.lines().filter_map(named).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_that_a_patch_touches_is_named() {
        let patch = "*** Begin Patch\r\n*** Add File: new file.txt\r\n+*** Add File: content\n\
                     *** Update File: a/b.rs\n*** Move to: ../c.rs\n@@\n-x\n+y\n\
                     *** Delete File: /etc/passwd\n*** End Patch";
        assert_eq!(
            paths(patch),
            ["new file.txt", "a/b.rs", "../c.rs", "/etc/passwd"]
        );
        assert_eq!(paths("*** Add File:\nls"), Vec::<String>::new());
    }
}
