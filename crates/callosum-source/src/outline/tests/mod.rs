//! Outlines, language by language: a source text in, what it says of itself out.

mod c;
mod go;
mod hostile;
mod java;
mod javascript;
mod python;
mod rust;

use std::fmt::Write;

use super::*;
use crate::language::Language;

/// An outline as text, one finding a line; references left out.
fn shown(path: &str, source: &str) -> String {
    let language = Language::of(std::path::Path::new(path)).unwrap();
    let outline = outline(language, path, source);
    let mut text = String::new();
    if let Some(about) = &outline.about {
        writeln!(text, "{}: about: {}", about.line, about.text).unwrap();
    }
    for import in &outline.imports {
        let names = import.names.join(", ");
        let names = if names.is_empty() {
            names
        } else {
            format!(" ({names})")
        };
        writeln!(
            text,
            "{}: {:?} {}{names}",
            import.line, import.kind, import.target
        )
        .unwrap();
    }
    for symbol in &outline.symbols {
        let container = symbol.container.as_ref().map(|name| format!("{name} . "));
        let about = symbol.about.as_ref().map(|about| format!(" -- {about}"));
        writeln!(
            text,
            "{}-{}: {}{}{:?} {}{}{}",
            symbol.line,
            symbol.last_line,
            if symbol.public { "pub " } else { "" },
            if symbol.test { "test " } else { "" },
            symbol.kind,
            container.unwrap_or_default(),
            symbol.name,
            about.unwrap_or_default(),
        )
        .unwrap();
    }
    for route in &outline.routes {
        let handler = route.handler.as_deref().unwrap_or("?");
        writeln!(
            text,
            "{}: {} {} -> {handler}",
            route.line, route.method, route.path
        )
        .unwrap();
    }
    for command in &outline.commands {
        let about = command.about.as_ref().map(|about| format!(" -- {about}"));
        writeln!(
            text,
            "{}: $ {}{}",
            command.line,
            command.name,
            about.unwrap_or_default()
        )
        .unwrap();
    }
    if let Some(line) = outline.entry_point {
        writeln!(text, "{line}: entry point").unwrap();
    }
    if outline.has_errors {
        writeln!(text, "has errors").unwrap();
    }
    text
}

/// The names that a source text mentions.
fn mentioned(path: &str, source: &str) -> String {
    let language = Language::of(std::path::Path::new(path)).unwrap();
    let references = outline(language, path, source).references;
    let names: Vec<_> = references
        .iter()
        .map(|found| format!("{}:{}", found.name, found.line))
        .collect();
    names.join(" ")
}
