//! Pages in the place of the list: the details of an item, and the keys.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span, Text};
use ratatui::widgets::{Paragraph, Widget as _, Wrap};

use super::Palette;
use crate::app::{App, Tone, command_line, keys_of};

/// The keys, each with its effect.
const KEYS: [(&str, &str); 15] = [
    ("1 2 3, Tab", "show Now, Tasks or Guard"),
    ("j k, arrows", "move"),
    ("PgUp PgDn", "move by a page"),
    ("g G", "first or last item"),
    ("/", "filter: all words, in any case"),
    ("Esc", "clear the filter and the message"),
    ("Enter", "details and commands of the item"),
    ("a", "approve a call; retry a message; resolve a conflict"),
    ("d", "deny a call; drop a message; cancel a task (asks)"),
    ("o", "allow the command once"),
    ("m", "message to the agent"),
    ("r", "refresh now"),
    ("?", "this page"),
    ("q, Ctrl-C", "quit"),
    ("", "Each item shows the command line that does the same."),
];

/// Draws everything about the selected item, with the command lines that act on it.
pub(super) fn details(buffer: &mut Buffer, area: Rect, app: &App, offset: u16, palette: Palette) {
    let Some(item) = app.selected() else {
        let line = Line::styled("this item is gone", palette.tone(Tone::Dim));
        page(buffer, area, Text::from(line), offset);
        return;
    };
    let label = |label: &str| Span::styled(format!("{label:<12} "), palette.tone(Tone::Dim));
    let mut lines: Vec<Line<'_>> = Vec::new();
    for (name, text) in &item.details {
        lines.push(Line::from_iter([label(name), Span::raw(text.as_str())]));
    }
    lines.push(Line::default());
    let keys = keys_of(item);
    for command in &item.commands {
        let key = keys.iter().find(|(_, name)| *name == command.name);
        let key = key.map_or_else(String::new, |(key, _)| format!("key {key}"));
        let line = format!("$ {}", command_line(&command.argv));
        lines.push(Line::from_iter([label(&key), Span::raw(line)]));
    }
    page(buffer, area, Text::from(lines), offset);
}

/// Draws the keys.
pub(super) fn help(buffer: &mut Buffer, area: Rect, offset: u16, palette: Palette) {
    let lines = KEYS.iter().map(|(key, effect)| {
        Line::from_iter([
            Span::styled(format!("{key:<12} "), palette.title()),
            Span::raw(*effect),
        ])
    });
    page(buffer, area, lines.collect(), offset);
}

/// Draws wrapped text, scrolled by at most as many rows as leave one on the screen.
fn page(buffer: &mut Buffer, area: Rect, text: Text<'_>, offset: u16) {
    let page = Paragraph::new(text).wrap(Wrap { trim: false });
    page.scroll((offset, 0)).render(area, buffer);
}
