//! Access that a mode of `chmod` leaves to a file's readers.

use super::client_settings::SETTINGS;
use crate::analyze::value::Arg;

/// Options of `chmod` that are no mode.
const OPTIONS: [&str; 5] = ["-R", "-v", "-c", "-f", "-h"];

/// The mode that a command names, which may begin as an option does: `chmod -x f`.
pub(super) fn requested_mode(words: &[Arg]) -> Option<&str> {
    let mut words = words.iter().skip(1).map(|word| word.text.as_str());
    words.find(|word| {
        let letters = word.strip_prefix('-').unwrap_or("R");
        !word.starts_with("--")
            && (!word.starts_with('-') || letters.chars().any(|letter| "rwxXst".contains(letter)))
            && !OPTIONS.contains(word)
    })
}

/// Whether its owner can still read a file, and no one else can write it. For a client's folder and
/// what it runs, its owner must also be able to enter and run it.
pub(super) fn leaves(mode: &str, path: &str) -> bool {
    let mut parts = path.split('/');
    let is_clients = parts.any(|part| SETTINGS.iter().any(|(folder, _)| part == *folder));
    let is_data = [".json", ".toml", ".md"]
        .iter()
        .any(|end| path.ends_with(end));
    let is_only_read = !is_clients || is_data;
    if mode.bytes().all(|digit| matches!(digit, b'0'..=b'7')) {
        let digits = mode.as_bytes();
        let digit = |from_end: usize| {
            let at = digits.len().checked_sub(from_end);
            at.map_or(0, |at| digits[at] - b'0')
        };
        let owner = if is_only_read { 4 } else { 5 };
        return digit(3) & owner == owner && digit(2) & 2 == 0 && digit(1) & 2 == 0;
    }
    mode.split(',').all(|clause| {
        let Some(at) = clause.find(['+', '-', '=']) else {
            return false;
        };
        let (who, what) = clause.split_at(at);
        let (how, what) = what.split_at(1);
        let is_known = what.chars().all(|letter| "rwxXst".contains(letter));
        let is_for = |letter: char| who.is_empty() || who.contains(['a', letter]);
        let is_for_others = is_for('g') || is_for('o');
        let reads = what.contains('r');
        let enters = is_only_read || what.contains(['x', 'X']);
        is_known
            && match how {
                "-" => !(is_for('u') && (reads || what.contains('x') && !is_only_read)),
                // Without a name before it the mask of the process counts.
                "+" => who.is_empty() || !(is_for_others && what.contains('w')),
                _ => !(is_for('u') && !(reads && enters) || is_for_others && what.contains('w')),
            }
    })
}

#[cfg(test)]
mod tests {
    use super::leaves;

    /// CAKE-SHIM-1: a mode that takes reading away from a client differs from one that leaves it.
    #[test]
    fn a_mode_leaves_a_folder_readable_or_not() {
        for mode in [
            "755",
            "0700",
            "u+rwx",
            "a+rX",
            "go-rwx",
            "g-w",
            "u=rwx,go=rx",
            "+x",
            "-w",
        ] {
            assert!(leaves(mode, ".claude"), "{mode}");
        }
        for mode in [
            "000", "0", "644", "400", "777", "a-r", "-x", "u-x", "u=", "go+w", "a=x", "u=g",
        ] {
            assert!(!leaves(mode, ".claude"), "{mode}");
        }
        assert!(leaves("600", ".claude/settings.json") && leaves("a-x", ".claude/settings.json"));
        assert!(!leaves("600", ".claude/hooks/guard.sh") && !leaves("200", "settings.json"));
        assert!(leaves("600", ".ssh/config") && !leaves("666", ".bashrc"));
    }
}
