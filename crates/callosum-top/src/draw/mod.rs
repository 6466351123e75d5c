//! [`draw()`]: the state of the dashboard, drawn on a screen of any size.
//!
//! From the top: the views, the list, the command line of the selected item, and a line for questions, results and keys. A
//! screen of fewer than four rows has the list alone.

mod overlay;
mod palette;

pub use self::palette::Palette;

use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};

use crate::app::{App, Entry, Mode, Tone, View, command_line, keys_of, text};

/// Rows of a screen below which it shows the list alone.
const LEAST_ROWS: u16 = 4;

/// Draws the dashboard.
pub fn draw(frame: &mut Frame<'_>, app: &App, palette: Palette) {
    let area = frame.area();
    if area.is_empty() {
        return;
    }
    let buffer = frame.buffer_mut();
    if area.height < LEAST_ROWS {
        list(buffer, area, app, palette);
        return;
    }
    let row = |from_bottom: u16| Rect {
        y: area.bottom().saturating_sub(from_bottom),
        height: 1,
        ..area
    };
    let body = Rect {
        y: area.y + 1,
        height: area.height - 3,
        ..area
    };
    tabs(buffer, Rect { height: 1, ..area }, app, palette);
    match &app.mode {
        Mode::Details(offset) => overlay::details(buffer, body, app, *offset, palette),
        Mode::Help(offset) => overlay::help(buffer, body, *offset, palette),
        _ => list(buffer, body, app, palette),
    }
    put(buffer, row(2), command(app, palette));
    let cursor = footer(buffer, row(1), app, palette);
    if let Some(cursor) = cursor {
        frame.set_cursor_position(cursor);
    }
}

/// Draws a line, cut at the right edge.
fn put(buffer: &mut Buffer, area: Rect, line: Line<'_>) {
    buffer.set_line(area.x, area.y, &line, area.width);
}

fn tabs(buffer: &mut Buffer, area: Rect, app: &App, palette: Palette) {
    let mut spans = vec![Span::styled("callosum top ", palette.title())];
    for (number, view) in (1..).zip(View::ALL) {
        let style = if view == app.view {
            palette.selected()
        } else {
            palette.tone(Tone::Dim)
        };
        spans.push(Span::styled(format!(" {number} {} ", view.name()), style));
    }
    let filter = app.filter();
    if !filter.is_empty() && !matches!(app.mode, Mode::Filter(_)) {
        let filter = format!(" /{}", text::safe(filter));
        spans.push(Span::styled(filter, palette.tone(Tone::Warn)));
    }
    let time = app.overview.at.split(['T', '.', 'Z']).nth(1).unwrap_or("");
    let running = match app.running.len() {
        0 => String::new(),
        count => format!("{count} running  "),
    };
    let place = format!("{running}{}  {time}", text::safe(&app.overview.project));
    let line = Line::from(spans);
    let used = line.width();
    put(buffer, area, line);
    let free = usize::from(area.width).saturating_sub(used + 2);
    let place = Line::styled(tail(&place, free), palette.tone(Tone::Dim));
    let width = u16::try_from(place.width()).unwrap_or(area.width);
    let x = area.right().saturating_sub(width);
    put(buffer, Rect { x, width, ..area }, place);
}

/// Returns the end of a text that has this width on a screen.
fn tail(text: &str, width: usize) -> String {
    let mut start = text.len();
    for (at, _) in text.char_indices().rev() {
        if Span::raw(&text[at..]).width() > width {
            break;
        }
        start = at;
    }
    text[start..].to_owned()
}

fn list(buffer: &mut Buffer, area: Rect, app: &App, palette: Palette) {
    let mut area = area;
    let faults = app.overview.faults.iter();
    // Faults are short of half the screen at most: the list matters more.
    for fault in faults.take(usize::from(area.height / 2)) {
        let line = format!("! {}", text::safe(fault));
        put(buffer, area, Line::styled(line, palette.tone(Tone::Bad)));
        area.y += 1;
        area.height -= 1;
    }
    if !app.has_data() {
        put(
            buffer,
            area,
            Line::styled("reading ...", palette.tone(Tone::Dim)),
        );
        return;
    }
    let (entries, height) = (app.entries(), usize::from(area.height));
    let top = top_row(app.anchor(), entries.len(), height);
    let selected = app.selected_row();
    let visible = entries.iter().enumerate().skip(top).take(height);
    for (y, (row, entry)) in (area.y..).zip(visible) {
        let area = Rect {
            y,
            height: 1,
            ..area
        };
        match entry {
            Entry::Heading(heading) => {
                put(
                    buffer,
                    area,
                    Line::styled(heading.as_str(), palette.title()),
                );
            }
            Entry::Item(item) => {
                let is_selected = selected == Some(row);
                let mark = if is_selected { "> " } else { "  " };
                let spans = item.spans.iter().enumerate().flat_map(|(at, span)| {
                    let gap = if at == 0 { mark } else { " " };
                    [
                        Span::raw(gap),
                        Span::styled(span.text.as_str(), palette.tone(span.tone)),
                    ]
                });
                put(buffer, area, spans.collect());
                if is_selected {
                    buffer.set_style(area, palette.selected());
                }
            }
        }
    }
}

/// Returns the first row that is drawn, so that the anchor is near the middle.
fn top_row(anchor: usize, rows: usize, height: usize) -> usize {
    let most = rows.saturating_sub(height);
    anchor.saturating_sub(height / 2).min(most)
}

/// Returns the line that does what the first command of the selected item does.
fn command<'a>(app: &App, palette: Palette) -> Line<'a> {
    let command = app.selected().and_then(|item| item.commands.first());
    let line = command.map(|command| format!("$ {}", command_line(&command.argv)));
    Line::styled(line.unwrap_or_default(), palette.tone(Tone::Dim))
}

/// Draws the last row, and returns the place of the cursor if a line is edited.
fn footer(buffer: &mut Buffer, area: Rect, app: &App, palette: Palette) -> Option<Position> {
    let edited = match &app.mode {
        Mode::Filter(editor) => Some(("/".to_owned(), editor)),
        Mode::Message(editor, command) => {
            let to = command.argv.iter().rev().nth(1);
            let to = to.map(|to| text::safe(to)).unwrap_or_default();
            Some((format!("to {to}: "), editor))
        }
        _ => None,
    };
    if let Some((prompt, editor)) = edited {
        let before = format!("{prompt}{}", text::safe(editor.before_cursor()));
        let after = text::safe(&editor.text()[editor.before_cursor().len()..]);
        // The cursor stays on the screen: the beginning of a long line is cut.
        let width = usize::from(area.width).saturating_sub(1);
        let before = tail(&before, width);
        let x = area.x + u16::try_from(Span::raw(&before).width()).unwrap_or(0);
        put(buffer, area, Line::raw(format!("{before}{after}")));
        return Some(Position { x, y: area.y });
    }
    let line = match &app.mode {
        Mode::Confirm(question, _) => {
            let style = palette.tone(Tone::Warn).add_modifier(Modifier::BOLD);
            Line::styled(format!("[y/n] {question}"), style)
        }
        _ if !app.status.is_empty() => {
            let is_failure = app.status.starts_with("failed");
            let tone = if is_failure { Tone::Bad } else { Tone::Good };
            Line::styled(app.status.as_str(), palette.tone(tone))
        }
        _ => keys(app, palette),
    };
    put(buffer, area, line);
    None
}

fn keys<'a>(app: &App, palette: Palette) -> Line<'a> {
    let mut words = Vec::new();
    for (key, name) in app.selected().map(keys_of).unwrap_or_default() {
        words.push(format!("{key} {}", text::safe(name)));
    }
    words.extend(["Enter details", "/ filter", "? keys", "q quit"].map(str::to_owned));
    let style = Style::new().patch(palette.tone(Tone::Dim));
    Line::styled(words.join("   "), style)
}

#[cfg(test)]
mod tests;
