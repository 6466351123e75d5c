//! [`Mutation`]: a small change that plants one bug in Rust code, and [`mutations`], all that a file has.
//!
//! The rules lean on rustfmt: binary operators have a space on each side, so `<` of a generic is none of them. Each
//! changes a value and keeps its type, but nothing is compiled here.

use super::code::code_only;

/// A change of one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mutation {
    /// The kind, in words: `< to <=`.
    pub(super) kind: &'static str,
    /// The line that changes, the first being 1.
    pub(super) line: usize,
    /// Byte offsets of what is replaced.
    from: usize,
    to: usize,
    replacement: String,
}

/// Binary operators, each with its replacement.
const OPERATORS: [(&str, &str, &str); 10] = [
    (" < ", " <= ", "< to <="),
    (" <= ", " < ", "<= to <"),
    (" > ", " >= ", "> to >="),
    (" >= ", " > ", ">= to >"),
    (" == ", " != ", "== to !="),
    (" != ", " == ", "!= to =="),
    (" + ", " - ", "+ to -"),
    (" - ", " + ", "- to +"),
    ("&& ", "|| ", "&& to ||"),
    ("|| ", "&& ", "|| to &&"),
];

/// Words that end no operand.
const KEYWORDS: [&str; 8] = [
    "move", "return", "in", "if", "while", "match", "else", "break",
];

impl Mutation {
    /// Returns the file with the bug.
    pub(super) fn applied(&self, text: &str) -> String {
        format!(
            "{}{}{}",
            &text[..self.from],
            self.replacement,
            &text[self.to..]
        )
    }
}

/// Returns every place in a file where a bug can be planted, in the order of the file.
pub(super) fn mutations(text: &str) -> Vec<Mutation> {
    let code = code_only(text);
    let lines: Vec<&str> = code.lines().collect();
    let swaps = swappable(&code);
    let mut found = Vec::new();
    let mut offset = 0;
    for (index, line) in lines.iter().enumerate() {
        // A bug in an assertion is one that the file itself explains.
        if !line.contains("assert") {
            let mut add = |kind, from: usize, to: usize, replacement: String| {
                found.push(Mutation {
                    kind,
                    line: index + 1,
                    from: offset + from,
                    to: offset + to,
                    replacement,
                });
            };
            operators(&lines, index, &mut add);
            negations(line, &mut add);
            ranges(line, &mut add);
            for name in &swaps {
                swapped(line, name, &mut add);
            }
        }
        // `lines` drops the break, which has two bytes in some files.
        offset += line.len();
        offset += usize::from(code[offset..].starts_with('\r'));
        offset += usize::from(code[offset..].starts_with('\n'));
    }
    found.sort_by_key(|mutation| (mutation.from, mutation.kind));
    found
}

type Add<'a> = dyn FnMut(&'static str, usize, usize, String) + 'a;

fn operators(lines: &[&str], index: usize, add: &mut Add<'_>) {
    let line = lines[index];
    for (operator, replacement, kind) in OPERATORS {
        let is_logical = !operator.starts_with(' ');
        if is_logical && is_near_let(lines, index) {
            continue;
        }
        for (at, _) in line.match_indices(operator) {
            let left = if is_logical && line[..at].trim().is_empty() {
                if index == 0 { "" } else { lines[index - 1] }
            } else {
                &line[..at]
            };
            let right = line[at + operator.len()..].trim_start();
            let is_sum = matches!(operator, " + " | " - ");
            if ends_operand(left, is_sum) && begins_operand(right, is_sum) {
                add(kind, at, at + operator.len(), replacement.to_owned());
            }
        }
    }
}

/// Returns whether a chain of conditions with `let` is around, where only `&&` compiles.
fn is_near_let(lines: &[&str], index: usize) -> bool {
    let around = &lines[index.saturating_sub(4)..(index + 5).min(lines.len())];
    around.iter().any(|line| {
        ["&& let ", "if let ", "while let "]
            .iter()
            .any(|word| line.contains(word))
    })
}

/// Returns whether text ends with an operand. That of a sum is no name of a type, as `A + B` is a bound.
fn ends_operand(left: &str, is_sum: bool) -> bool {
    let left = left.trim_end();
    let word = left
        .rsplit(|c: char| !c.is_alphanumeric() && c != '_')
        .next()
        .unwrap_or_default();
    if word.is_empty() {
        return left.ends_with([')', ']', '?']);
    }
    let is_bound = is_sum && is_type_name(word);
    !is_bound && !KEYWORDS.contains(&word)
}

fn begins_operand(right: &str, is_sum: bool) -> bool {
    let Some(first) = right.chars().next() else {
        return false;
    };
    let word: &str = right
        .split(|c: char| !c.is_alphanumeric() && c != '_')
        .next()
        .unwrap_or_default();
    if word.is_empty() {
        return first == '(' || (!is_sum && "&*!-".contains(first));
    }
    !(is_sum && is_type_name(word))
}

/// Returns whether a word is written as types are: `Send`, and not `LIMIT`.
fn is_type_name(word: &str) -> bool {
    word.starts_with(|c: char| c.is_uppercase())
        && (word.len() == 1 || word.contains(|c: char| c.is_lowercase()))
}

fn negations(line: &str, add: &mut Add<'_>) {
    for (at, _) in line.match_indices('!') {
        let before = line[..at].chars().next_back().unwrap_or(' ');
        let after = line[at + 1..].chars().next().unwrap_or(' ');
        let is_prefix = " (&|,".contains(before);
        if is_prefix && (after == '(' || after == '_' || after.is_lowercase()) {
            add("dropped !", at, at + 1, String::new());
        }
    }
}

/// Changes ranges that a loop or an index takes. Elsewhere, most types are those of one kind of range.
fn ranges(line: &str, add: &mut Add<'_>) {
    for (at, _) in line.match_indices("..") {
        let before = line[..at].chars().next_back().unwrap_or(' ');
        let is_after_value = before.is_alphanumeric() || ")]_".contains(before);
        let rest = &line[at + 2..];
        let (is_closed, end) = match rest.strip_prefix('=') {
            Some(end) => (true, end),
            None => (false, rest),
        };
        let first = end.chars().next().unwrap_or(' ');
        if is_after_value
            && takes_either_range(line, at)
            && (first.is_alphanumeric() || "(_".contains(first))
        {
            if is_closed {
                add("..= to ..", at, at + 3, "..".to_owned());
            } else {
                add(".. to ..=", at, at + 2, "..=".to_owned());
            }
        }
    }
}

/// Returns whether the range at a place is what a loop walks over, or an index.
fn takes_either_range(line: &str, at: usize) -> bool {
    let mut depth = 0_usize;
    for (open, letter) in line[..at].char_indices().rev() {
        match letter {
            ')' | ']' => depth += 1,
            '(' | '[' if depth > 0 => depth -= 1,
            '(' | '[' => {
                let before = line[..open].chars().next_back().unwrap_or(' ');
                let is_after_name = before.is_alphanumeric() || ")]_".contains(before);
                if letter == '[' || is_after_name {
                    return letter == '[' && is_after_name;
                }
            }
            _ => {}
        }
    }
    line.trim_start().starts_with("for ") && line[..at].contains(" in ")
}

/// Returns the functions of a file with exactly two parameters of one type, apart from `self`.
fn swappable(code: &str) -> Vec<String> {
    let mut names = Vec::new();
    for (at, _) in code.match_indices("fn ") {
        let rest = &code[at + 3..];
        let name: String = rest
            .chars()
            .take_while(|c| c.is_alphanumeric() || *c == '_')
            .collect();
        // The parameters of a generic function need more than this to be read.
        let Some(inner) = rest[name.len()..].strip_prefix('(').and_then(arguments) else {
            continue;
        };
        let types: Vec<&str> = inner
            .iter()
            .filter_map(|parameter| parameter.split_once(':').map(|(_, kind)| kind.trim()))
            .collect();
        if !name.is_empty() && types.len() == 2 && types[0] == types[1] {
            names.push(name);
        }
    }
    names.sort_unstable();
    names.dedup();
    names
}

/// Splits the text behind a parenthesis at its commas, up to the parenthesis that closes it.
fn arguments(rest: &str) -> Option<Vec<&str>> {
    let (mut depth, mut from) = (0_usize, 0);
    let mut parts = Vec::new();
    for (at, letter) in rest.char_indices() {
        match letter {
            '(' | '[' | '{' | '<' => depth += 1,
            ')' if depth == 0 => {
                parts.push(rest[from..at].trim());
                parts.retain(|part| !part.is_empty());
                return Some(parts);
            }
            ')' | ']' | '}' | '>' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.push(rest[from..at].trim());
                from = at + 1;
            }
            _ => {}
        }
    }
    None
}

fn swapped(line: &str, name: &str, add: &mut Add<'_>) {
    let call = format!("{name}(");
    for (at, _) in line.match_indices(&call) {
        let before = line[..at].chars().next_back().unwrap_or(' ');
        let is_whole = !before.is_alphanumeric() && before != '_' && !line[..at].ends_with("fn ");
        let from = at + call.len();
        let Some(parts) = arguments(&line[from..]) else {
            continue;
        };
        let is_simple = |part: &&str| {
            part.chars()
                .all(|c| c.is_alphanumeric() || "_.&".contains(c))
        };
        if let [first, second] = parts[..]
            && is_whole
            && first != second
            && parts.iter().all(is_simple)
        {
            let to = from + line[from..].find(')').unwrap_or_default();
            add("swapped arguments", from, to, format!("{second}, {first}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the kinds of the bugs in some lines, and the file with each.
    fn all(text: &str) -> Vec<(&'static str, String)> {
        let found = mutations(text);
        found
            .iter()
            .map(|mutation| (mutation.kind, mutation.applied(text)))
            .collect()
    }

    fn check(text: &str, expected: &[(&str, &str)]) {
        let found = all(text);
        let found: Vec<(&str, &str)> = found
            .iter()
            .map(|(kind, text)| (*kind, text.as_str()))
            .collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn each_rule_changes_one_expression() {
        check("if a < b {", &[("< to <=", "if a <= b {")]);
        check("if a >= b.len() {", &[(">= to >", "if a > b.len() {")]);
        check("let x = LIMIT + 1;", &[("+ to -", "let x = LIMIT - 1;")]);
        check("if f(a) && g {", &[("&& to ||", "if f(a) || g {")]);
        check("if !is_done(x) {", &[("dropped !", "if is_done(x) {")]);
        check("for i in 0..n {", &[(".. to ..=", "for i in 0..=n {")]);
        check(
            "let x = &text[a..b];",
            &[(".. to ..=", "let x = &text[a..=b];")],
        );
        check("for i in 1..=n {", &[("..= to ..", "for i in 1..n {")]);
        check(
            "fn area(w: u32, h: u32) -> u32 {}\nlet a = area(w, self.h);",
            &[(
                "swapped arguments",
                "fn area(w: u32, h: u32) -> u32 {}\nlet a = area(self.h, w);",
            )],
        );
        check("x\n    || y", &[("|| to &&", "x\n    && y")]);
    }

    #[test]
    fn what_is_no_expression_stays() {
        for text in [
            "fn f<T: Clone + Send>(x: Vec<T>) -> bool",
            "Box<dyn Fn() + Send + 'static>",
            "let f = || 1;",
            "spawn(move || work());",
            "println!(\"a < b\");",
            "// if a < b",
            "if let Some(x) = y && z {",
            "..Self::default()",
            "1..=9 => true,",
            "[first, ..]",
            "for i in walk(0..n) {",
            "let all = 0..n;",
            "assert!(a < b);",
            "#[cfg(test)]\nmod tests {\n    fn f() { if a < b {} }\n}",
            "fn f(a: u8, b: u16) {}\nf(x, y);",
        ] {
            check(text, &[]);
        }
    }

    #[test]
    fn lines_count_from_one_with_either_line_break() {
        for text in ["\n\nif a < b {}\n", "\r\n\r\nif a < b {}\r\n"] {
            let found = mutations(text);
            assert_eq!(found.len(), 1);
            assert_eq!(found[0].line, 3);
            assert!(found[0].applied(text).contains("a <= b"));
        }
    }
}
