//! The lines that an undo would change, as a unified diff.

use std::fmt::Write as _;

use callosum_client::undo::FileState;
use similar::TextDiff;

/// Larger files are named and not compared, in bytes.
const LARGEST: usize = 1024 * 1024;

/// Time limit for one file.
const PATIENCE: std::time::Duration = std::time::Duration::from_millis(500);

/// Returns the diff from what a file holds now to what it is to hold.
pub fn unified(
    path: &str,
    (now, now_bytes): (&FileState, Option<&[u8]>),
    (before, before_bytes): (&FileState, Option<Vec<u8>>),
) -> String {
    let name = |state: &FileState, side: &str| match state {
        FileState::Absent => "/dev/null".to_owned(),
        _ => format!("{side}/{path}"),
    };
    let (from, to) = (name(now, "a"), name(before, "b"));
    let (old, new) = (
        content(now, now_bytes),
        content(before, before_bytes.as_deref()),
    );
    let mut text = format!("diff --callosum a/{path} b/{path}\n");
    if let (FileState::File { mode: old, .. }, FileState::File { mode: new, .. }) = (now, before)
        && old != new
    {
        let _ = write!(text, "old mode {old:o}\nnew mode {new:o}\n");
    }
    let is_text = |bytes: &[u8]| bytes.len() <= LARGEST && !bytes.contains(&0);
    let texts = (
        std::str::from_utf8(&old).ok().filter(|_| is_text(&old)),
        std::str::from_utf8(&new).ok().filter(|_| is_text(&new)),
    );
    if let (Some(old), Some(new)) = texts {
        let mut config = TextDiff::configure();
        let diff = config.timeout(PATIENCE).diff_lines(old, new);
        text.push_str(&diff.unified_diff().header(&from, &to).to_string());
    } else {
        let (old, new) = (old.len(), new.len());
        let _ = writeln!(
            text,
            "{from} and {to} are binary or large: {old} to {new} bytes"
        );
    }
    text
}

fn content(state: &FileState, bytes: Option<&[u8]>) -> Vec<u8> {
    match state {
        FileState::Link { target } => format!("link to {target}\n").into_bytes(),
        _ => bytes.unwrap_or_default().to_vec(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(mode: u32) -> FileState {
        FileState::File {
            sum: String::new(),
            mode,
        }
    }

    #[test]
    fn the_diff_shows_lines_modes_links_and_that_a_file_goes() {
        let text = unified(
            "a.txt",
            (&file(0o644), Some(b"one\ntwo\n")),
            (&file(0o755), Some(b"one\n2\n".to_vec())),
        );
        assert!(text.contains("old mode 644\nnew mode 755\n"), "{text}");
        assert!(text.contains("--- a/a.txt\n+++ b/a.txt\n"), "{text}");
        assert!(text.contains("-two\n+2\n"), "{text}");
        let text = unified(
            "b",
            (&file(0o644), Some(b"x\n")),
            (&FileState::Absent, None),
        );
        assert!(text.contains("+++ /dev/null\n"), "{text}");
        let text = unified(
            "c",
            (&file(0o644), Some(b"\0")),
            (&file(0o644), Some(b"\0\0".to_vec())),
        );
        assert!(text.contains("1 to 2 bytes"), "{text}");
        let link = FileState::Link {
            target: "a.txt".to_owned(),
        };
        let text = unified("d", (&FileState::Absent, None), (&link, None));
        assert!(text.contains("+link to a.txt\n"), "{text}");
    }
}
