//! [`is_hidden`]: characters that make a text look different from its content.
//!
//! One table for both sides: a source that has one is refused, so text in the notation has them as
//! escapes. Characters that control terminals are among them.

/// Whether a character reorders or hides the text around it, or is obeyed where it should be shown.
///
/// A new line and a tab do neither. A carriage return alone does: some programs show a new line there, where a
/// comment goes on, and terminals write over the line.
pub(crate) fn is_hidden(c: char) -> bool {
    match c {
        '\n' | '\t' => false,
        '\u{ad}'
        | '\u{61c}'
        | '\u{180e}'
        | '\u{200b}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{2069}'
        | '\u{feff}'
        | '\u{fff9}'..='\u{fffb}'
        | '\u{e0000}'..='\u{e007f}' => true,
        _ => c.is_control(),
    }
}
