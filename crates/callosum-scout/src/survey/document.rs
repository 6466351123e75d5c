//! Start of a document: its title, the first sentence of its prose, and the names in its examples.
//!
//! Reads Markdown and reStructuredText as far as needed to step over badges, tables of contents,
//! comments and code.

use std::collections::BTreeMap;

use callosum_source::outline::Note;

/// A document's title and first sentence.
pub(crate) fn title_and_first_sentence(text: &str) -> (Option<Note>, Option<Note>) {
    let mut title = None;
    let mut about = None;
    let mut state = State::Prose;
    let lines: Vec<&str> = text.lines().take(200).collect();
    for (at, line) in lines.iter().enumerate() {
        let number = at as u32 + 1;
        let trimmed = line.trim();
        state = match state {
            State::FrontMatter if trimmed == "---" => State::Prose,
            State::Fence if is_fence(trimmed) => State::Prose,
            State::Comment if trimmed.contains("-->") => State::Prose,
            State::Directive if !trimmed.is_empty() && !line.starts_with([' ', '\t']) => {
                State::Prose
            }
            kept => kept,
        };
        let was_closing = matches!(trimmed, "---") || is_fence(trimmed) || trimmed.contains("-->");
        match state {
            State::Prose => {}
            _ => continue,
        }
        if at == 0 && trimmed == "---" {
            state = State::FrontMatter;
        } else if trimmed.starts_with("<!--") && !trimmed.contains("-->") {
            state = State::Comment;
        } else if is_fence(trimmed) && !closes_fence(&lines[..at]) {
            state = State::Fence;
        } else if trimmed.starts_with(".. ") {
            state = State::Directive;
        } else if let Some(words) = heading(trimmed, lines.get(at + 1).map(|next| next.trim())) {
            if title.is_none() {
                title = Some(note(words, number));
            } else if about.is_some() {
                break;
            }
        } else if !was_closing && is_prose(trimmed) {
            about = Some(note(&sentence_from(&lines[at..]), number));
            break;
        }
    }
    (title, about)
}

/// Returns the names that a document's examples call, construct or access, each with the line of
/// its first use: these are the names that a new user sees first.
pub(crate) fn names_in_examples(text: &str) -> BTreeMap<Box<str>, u32> {
    let mut names = BTreeMap::new();
    let mut in_fence = false;
    for (number, line) in (1..).zip(text.lines()) {
        let trimmed = line.trim();
        if is_fence(trimmed) {
            in_fence = !in_fence;
        } else if in_fence {
            take_names(trimmed, number, &mut names);
        } else {
            // Between pairs of backticks.
            for code in line.replace("``", "`").split('`').skip(1).step_by(2) {
                take_names(code, number, &mut names);
            }
        }
    }
    names
}

/// Collects the names in a line of code that are before a bracket, or before or after a dot or
/// colons; or a name that is the whole line.
fn take_names(code: &str, number: u32, names: &mut BTreeMap<Box<str>, u32>) {
    let is_of_name = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
    let mut at = 0;
    while let Some(start) = code[at..].find(is_of_name).map(|start| at + start) {
        let end = code[start..].find(|c| !is_of_name(c));
        let end = end.map_or(code.len(), |end| start + end);
        let (before, name, after) = (&code[..start], &code[start..end], &code[end..]);
        let is_used = after.starts_with(['(', '<', '.', '{', '!'])
            || after.starts_with("::")
            || before.ends_with(['.', '@'])
            || before.ends_with("::")
            || name == code;
        if is_used && !name.starts_with(|c: char| c.is_ascii_digit()) {
            names.entry(name.into()).or_insert(number);
        }
        at = end;
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Prose,
    FrontMatter,
    Fence,
    Comment,
    Directive,
}

fn note(text: &str, line: u32) -> Note {
    Note {
        text: text.to_owned(),
        line,
    }
}

fn is_fence(line: &str) -> bool {
    line.starts_with("```") || line.starts_with("~~~")
}

/// Whether a fence after these lines closes one that they opened.
fn closes_fence(before: &[&str]) -> bool {
    before.iter().filter(|line| is_fence(line.trim())).count() % 2 == 1
}

fn heading<'t>(line: &'t str, next: Option<&str>) -> Option<&'t str> {
    if line.starts_with('#') {
        let words = line.trim_matches(['#', ' ']);
        return (!words.is_empty()).then_some(words);
    }
    let is_underline = |next: &str| {
        next.len() >= 3
            && next.chars().all(|c| "=-~^*#\"".contains(c))
            && next.chars().all(|c| next.starts_with(c))
    };
    let has_words = line.chars().any(char::is_alphabetic);
    (has_words && next.is_some_and(is_underline)).then_some(line)
}

/// A line that begins a paragraph of words: no badge, image, tag, list, table or code.
fn is_prose(line: &str) -> bool {
    let bare = line.trim_start_matches(['*', '_', '>', ' ']);
    if only_links(bare) {
        return false;
    }
    let words = without_links(bare);
    let letters = words.chars().filter(|c| c.is_alphabetic()).count();
    letters >= 12
        && words.split_whitespace().count() >= 3
        && !line.starts_with(['<', '|', '!', '-', '+', '=', ':', '{', '$'])
        && !(line.starts_with("* ") || line.starts_with("[!") || line.starts_with("    "))
}

/// Whether a line defines a link (`[name]: target`) or is an address with a label before it
/// (`Build Status: https://…`).
fn only_links(line: &str) -> bool {
    let is_address = |word: &str| word.contains("://") && !word.contains(char::is_whitespace);
    let labelled = line.rsplit_once(": ").is_some_and(|(label, target)| {
        is_address(target.trim().trim_matches(['<', '>'])) && label.split_whitespace().count() <= 5
    });
    let defines = line.starts_with('[')
        && line.split_once("]:").is_some_and(|(_, target)| {
            let mut words = target.split_whitespace();
            let goes_elsewhere = words.next().is_some_and(is_address);
            let title = words.next();
            goes_elsewhere || title.is_none_or(|title| title.starts_with(['"', '\'', '(']))
        });
    labelled || defines
}

/// The text without the addresses of its links; badges vanish.
fn without_links(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(open) = rest.find("](") {
        out.push_str(&rest[..open]);
        rest = rest[open..].split_once(')').map_or("", |(_, after)| after);
    }
    out.push_str(rest);
    without_tags(&out).replace(['[', ']', '`', '*'], "")
}

fn without_tags(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(open) = rest.find('<') {
        let Some(length) = rest[open..].find('>') else {
            break;
        };
        out.push_str(&rest[..open]);
        rest = &rest[open + length + 1..];
    }
    out.push_str(rest);
    out.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The first sentence of the paragraph that these lines begin with.
fn sentence_from(lines: &[&str]) -> String {
    let paragraph: Vec<&str> = lines
        .iter()
        .map(|line| line.trim())
        .take_while(|line| !line.is_empty() && !line.starts_with("</") && !line.starts_with("<br"))
        .take(8)
        .collect();
    let joined = without_links(&paragraph.join(" "));
    let joined = joined.trim_start_matches(['_', '>', ' ']);
    let end = joined
        .match_indices(". ")
        .map(|(at, _)| at + 1)
        .find(|end| !ends_in_abbreviation(&joined[..*end]));
    joined[..end.unwrap_or(joined.len())].to_owned()
}

fn ends_in_abbreviation(sentence: &str) -> bool {
    ["e.g.", "i.e.", "etc.", "vs.", "cf.", "approx."]
        .iter()
        .any(|short| sentence.ends_with(short))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, title: Option<(&str, u32)>, about: Option<(&str, u32)>) {
        let owned = |pair: Option<(&str, u32)>| pair.map(|(text, line)| note(text, line));
        assert_eq!(title_and_first_sentence(text), (owned(title), owned(about)));
    }

    #[test]
    fn names_in_examples_are_those_that_are_used() {
        let text = "# Zod\n\nCall `parse` on a schema, or ``safe_parse()``.\n\n```ts\nimport * as z from \"zod\";\n\
                    const User = z.object({\n  name: z.string(),\n});\nlet shelf = Shelf::new();\n```\n\nNot this( one.\n";
        let names = names_in_examples(text);
        let names: Vec<(&str, u32)> = names.iter().map(|(name, line)| (&**name, *line)).collect();
        let expected = [
            ("Shelf", 10),
            ("new", 10),
            ("object", 7),
            ("parse", 3),
            ("safe_parse", 3),
            ("string", 8),
            ("z", 7),
        ];
        assert_eq!(names, expected);
    }

    #[test]
    fn badges_and_tags_are_stepped_over() {
        check(
            "# jq\n\n[![CI](https://x/y.svg)](https://x)\n<p>logo</p>\n\nA processor for JSON on\nthe command line. It is small.\n",
            Some(("jq", 1)),
            Some(("A processor for JSON on the command line.", 6)),
        );
    }

    #[test]
    fn definitions_of_links_and_labelled_addresses_are_no_prose() {
        check(
            "# Serde\n\n[Build Status]: https://img.shields.io/serde-rs/json/ci.yml?branch=master\n\
             [actions page]: ./.github/workflows/main.yml \"All of the runs\"\n\
             Build Status of main: https://img.shields.io/serde-rs\n\nA way to read JSON in Rust.\n",
            Some(("Serde", 1)),
            Some(("A way to read JSON in Rust.", 7)),
        );
        check(
            "Read the guide at: https://x.y for what this is about\n",
            None,
            Some(("Read the guide at: https://x.y for what this is about", 1)),
        );
    }

    #[test]
    fn underlined_titles_and_directives_of_restructured_text_are_known() {
        check(
            "Flask\n=====\n\n.. image:: logo.png\n   :alt: x\n\nA small framework for the web.\n",
            Some(("Flask", 1)),
            Some(("A small framework for the web.", 7)),
        );
    }

    #[test]
    fn code_comments_and_front_matter_hold_no_prose() {
        check(
            "---\ntitle: this is not prose\n---\n<!--\nnor is this here\n-->\n```sh\nnor this code here\n```\nThis is the first sentence\n",
            None,
            Some(("This is the first sentence", 10)),
        );
    }

    #[test]
    fn nothing_is_found_in_nothing() {
        check("", None, None);
        check("- one\n- two\n", None, None);
    }
}
