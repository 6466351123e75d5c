//! `callosum ledger checksum`: the canonical form of any JSON value, or its SHA-256.

use callosum_json::Checksum;

/// The line that `sha256sum` prints: where a name has a backslash or a line's end, they are
/// escaped and the line begins with a backslash, so that no name can feign a line.
pub fn line(checksum: Checksum, name: &str) -> String {
    if !name.contains(['\\', '\n', '\r']) {
        return format!("{checksum}  {name}\n");
    }
    let name = name
        .replace('\\', "\\\\")
        .replace('\n', "\\n")
        .replace('\r', "\\r");
    format!("\\{checksum}  {name}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_a_line_break_or_a_backslash_is_escaped_as_sha256sum_does() {
        let sum = Checksum::of(b"x");
        assert_eq!(line(sum, "a b.json"), format!("{sum}  a b.json\n"));
        assert_eq!(line(sum, "a\nb\\c"), format!("\\{sum}  a\\nb\\\\c\n"));
    }
}
