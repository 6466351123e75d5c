//! [`Palette`]: the style of each kind of text.

use ratatui::style::{Color, Modifier, Style};

use crate::app::Tone;

/// The style of each kind of text. Without colors, it uses bold and reversed text alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Palette {
    has_colors: bool,
}

impl Palette {
    /// Returns a palette with or without colors.
    pub const fn new(has_colors: bool) -> Self {
        Self { has_colors }
    }

    pub(super) fn tone(self, tone: Tone) -> Style {
        let style = Style::new();
        let color = match tone {
            Tone::Plain => return style,
            Tone::Dim => return style.add_modifier(Modifier::DIM),
            Tone::Good => Color::Green,
            Tone::Warn => Color::Yellow,
            Tone::Bad => Color::Red,
        };
        if self.has_colors {
            return style.fg(color);
        }
        match tone {
            Tone::Bad | Tone::Warn => style.add_modifier(Modifier::BOLD),
            _ => style,
        }
    }

    #[expect(
        clippy::unused_self,
        reason = "a title is bold in every palette; the caller does not have to know"
    )]
    pub(super) fn title(self) -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }

    #[expect(
        clippy::unused_self,
        reason = "a selection is reversed in every palette; the caller does not have to know"
    )]
    pub(super) fn selected(self) -> Style {
        Style::new().add_modifier(Modifier::REVERSED)
    }
}
