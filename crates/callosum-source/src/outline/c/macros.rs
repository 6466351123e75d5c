//! Macros before a declaration, which hide it from a grammar that knows nothing of them:
//! `API const char *name(void);`, `JNIEXPORT void JNICALL f()`, `Q_OBJECT` on a line of its own.

/// Most words of a declaration before its name is over; no one writes as many.
const MAX_WORDS: usize = 12;

/// Words that begin a declaration: a macro before them says nothing of its type.
const OPENERS: [&str; 18] = [
    "class",
    "enum",
    "explicit",
    "extern",
    "friend",
    "inline",
    "namespace",
    "private",
    "protected",
    "public",
    "signed",
    "static",
    "struct",
    "template",
    "typedef",
    "union",
    "unsigned",
    "virtual",
];

/// Words of a declaration that are neither its type nor its name.
const QUALIFIERS: [&str; 12] = [
    "auto",
    "const",
    "constexpr",
    "explicit",
    "extern",
    "friend",
    "inline",
    "register",
    "static",
    "typedef",
    "virtual",
    "volatile",
];

/// Statements that a word in capitals may follow.
const STATEMENTS: [&str; 8] = [
    "case", "delete", "else", "goto", "new", "return", "sizeof", "throw",
];

/// Returns their positions, in order.
pub(super) fn before_declarations(text: &str) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let (mut at, mut in_comment) = (0, false);
    for line in text.split_inclusive('\n') {
        if !in_comment && !line.trim().is_empty() {
            let head = Head::at(text, at);
            let macros = head.macros().into_iter();
            found.extend(macros.map(|(start, word)| (start, start + word.len())));
        }
        in_comment = ends_in_comment(line, in_comment);
        at += line.len();
    }
    // A declaration that runs over lines has a head on each.
    found.sort_unstable();
    found.dedup();
    found
}

/// Whether a block comment is open at the end of a line.
fn ends_in_comment(line: &str, mut open: bool) -> bool {
    let mut quote = None;
    let mut bytes = line.bytes().peekable();
    while let Some(byte) = bytes.next() {
        let next = bytes.peek().copied();
        match (byte, next) {
            (b'*', Some(b'/')) if open => open = false,
            _ if open => continue,
            (b'\\', _) => {}
            (b'"' | b'\'', _) => {
                match quote {
                    None => quote = Some(byte),
                    Some(mark) if mark == byte => quote = None,
                    Some(_) => {}
                }
                continue;
            }
            (b'/', Some(b'/')) if quote.is_none() => return false,
            (b'/', Some(b'*')) if quote.is_none() => open = true,
            _ => continue,
        }
        bytes.next();
    }
    open
}

/// The words that a declaration begins with, up to the sign that ends them.
struct Head<'t> {
    /// Each with its place.
    words: Vec<(usize, &'t str)>,
    end: Option<u8>,
}

impl<'t> Head<'t> {
    fn at(text: &'t str, start: usize) -> Self {
        let bytes = text.as_bytes();
        let (mut words, mut at) = (Vec::new(), start);
        while let Some(byte) = bytes.get(at).copied() {
            let word = text.get(at..).map_or("", word);
            if !word.is_empty() {
                if words.len() == MAX_WORDS {
                    break;
                }
                words.push((at, word));
                at += word.len();
            } else if byte.is_ascii_whitespace() || !words.is_empty() && matches!(byte, b'*' | b'&')
            {
                at += 1;
            } else if text[at..].starts_with("\"C\"") && words.last().is_some_and(is_extern) {
                at += "\"C\"".len();
            } else {
                let end = Some(byte);
                return Self { words, end };
            }
        }
        Self { words, end: None }
    }

    /// The words that are macros before a declaration.
    fn macros(&self) -> Vec<(usize, &'t str)> {
        let words = &self.words;
        let leads_nowhere = |(_, word): &(usize, &str)| STATEMENTS.contains(word);
        if words.len() < 2 || words.iter().any(leads_nowhere) {
            return Vec::new();
        }
        let opener = words
            .iter()
            .rposition(|(_, word)| OPENERS.contains(word))
            .unwrap_or(0);
        let mut macros: Vec<_> = words[..opener]
            .iter()
            .filter(|(_, word)| shouts(word))
            .copied()
            .collect();
        let (_, first) = words[opener];
        let rest = match first {
            "class" | "struct" | "union" | "enum" | "namespace" | "template" => &[],
            _ if matches!(self.end, Some(b'(' | b';' | b'=' | b'[' | b',')) => {
                before_type(&words[opener..words.len() - 1])
            }
            _ => &[],
        };
        macros.extend(rest.iter().filter(|(_, word)| shouts(word)));
        macros
    }
}

/// Returns the words among these that leave at least one for the type; a type in capitals is the
/// last word.
fn before_type<'w, 't>(words: &'w [(usize, &'t str)]) -> &'w [(usize, &'t str)] {
    let is_type = |word: &(usize, &str)| !QUALIFIERS.contains(&word.1);
    if words.iter().any(|word| is_type(word) && !shouts(word.1)) {
        return words;
    }
    let last = words.iter().rposition(is_type).unwrap_or(0);
    &words[..last]
}

/// The word that a text begins with.
fn word(text: &str) -> &str {
    let end = text
        .find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
        .unwrap_or(text.len());
    let word = &text[..end];
    if word.starts_with(|c: char| c.is_ascii_digit()) {
        ""
    } else {
        word
    }
}

/// Whether a word is in capitals, as macros are; `ZSTDLIBv07_API` is one too.
fn shouts(word: &str) -> bool {
    let is_upper = |byte: u8| byte.is_ascii_uppercase();
    word.len() > 2
        && word.bytes().any(is_upper)
        && (!word.bytes().any(|byte| byte.is_ascii_lowercase()) || word.ends_with("_API"))
}

fn is_extern(word: &(usize, &str)) -> bool {
    word.1 == "extern"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let found: Vec<_> = before_declarations(text)
            .into_iter()
            .map(|(start, end)| &text[start..end])
            .collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn words_in_capitals_before_a_type_are_macros() {
        check("SHOP_API const char *name(void);", &["SHOP_API"]);
        check("SHOPv2_API shop_t *open(void);", &["SHOPv2_API"]);
        check("SHOP_API\nshop_t *\nopen(void);", &["SHOP_API"]);
        check(
            "JNIEXPORT void JNICALL f(int a);",
            &["JNIEXPORT", "JNICALL"],
        );
        check("static FORCE_INLINE int f(void)", &["FORCE_INLINE"]);
        check("SHOP_API UINT32 f(void);", &["SHOP_API"]);
        check("extern \"C\" SHOP_API int f(void);", &["SHOP_API"]);
        check("BEGIN_DECLS\n\nextern int a;", &["BEGIN_DECLS"]);
        check("  Q_OBJECT\n public:", &["Q_OBJECT"]);
    }

    #[test]
    fn types_values_and_prose_in_capitals_are_none() {
        for text in [
            "UINT32 size(void);",
            "static FILE *open(void);",
            "struct DIR dir;",
            "struct DIR *open(void);",
            "const BOOL seen = 1;",
            "return FOO (x);",
            "enum { ONE,\n TWO };",
            "FIRST + SECOND;",
            "/* IT IS PROVIDED\nAS IS TO YOU (ALL);\n*/",
            "// SHOP_API int f(void);",
        ] {
            check(text, &[]);
        }
    }

    #[test]
    fn a_quote_does_not_open_a_comment() {
        check("char *a = \"/*\";\nSHOP_API int f(void);", &["SHOP_API"]);
        check(
            "char a = '\\'';/*\n*/\nSHOP_API int f(void);",
            &["SHOP_API"],
        );
    }
}
