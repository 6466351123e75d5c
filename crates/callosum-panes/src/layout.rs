//! [`Layout`]: position of a client's composer on a screen, and the regions around it.
//!
//! The composer is the box into which a person types. A client that shows a dialog hides it, so its
//! presence distinguishes a real dialog from prose that looks like one.

use regex::Regex;

use crate::{rule::Region, screen::Screen};

/// Appearance of a client's composer.
#[derive(Clone, Debug)]
pub struct Composer {
    /// Matches its first line.
    pub line: Regex,
    /// Matches its first line in a mode in which Enter sends no prompt, such as a shell mode. All of it is a draft.
    pub mode: Option<Regex>,
    /// Matches the line above it, if there is always one.
    pub above: Option<Regex>,
    /// Matches the line that ends it. Without it, the composer is the lines up to the next blank one.
    pub below: Option<Regex>,
    /// Matches a prompt that was sent, in the conversation above.
    pub prompt: Option<Regex>,
    /// Matches the client's own words in an empty composer, if they are not drawn dim.
    pub placeholder: Option<Regex>,
    /// Matches a line below it, if prompts that were sent are drawn alike.
    pub footer: Option<Regex>,
    /// Its first line is among so many last non-blank lines of the screen.
    pub within: usize,
}

/// Position and contents of the composer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Layout {
    /// The composer, if it is on the screen.
    pub composer: Option<ComposerLines>,
}

/// Lines of the composer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ComposerLines {
    /// Index of the line after the last prompt that was sent and is still on the screen, else 0.
    pub turn: usize,
    /// Index of the line above which the conversation ends.
    pub top: usize,
    /// Index of its first line.
    pub first: usize,
    /// Index of the line after its last.
    pub end: usize,
    /// Index of the line at which the footer begins.
    pub footer: usize,
    /// All text in it, be it a draft or a placeholder.
    pub text: String,
    /// Text that a person has typed and not sent. Dim text is the client's placeholder and does not
    /// count.
    pub draft: String,
}

impl Layout {
    /// Finds the composer, from the bottom up.
    pub fn find(screen: &Screen, composer: Option<&Composer>) -> Self {
        let place = composer.and_then(|composer| {
            let lines = screen.bottom(composer.within);
            lines
                .into_iter()
                .rev()
                .find_map(|first| place(screen, composer, first))
        });
        Self { composer: place }
    }

    /// Returns the indexes of a region's last `count` non-blank lines. The title has none.
    pub fn region(&self, screen: &Screen, region: Region, count: usize) -> Vec<usize> {
        let within = |from: usize, to: usize| {
            let mut lines = screen.last_of(to, count);
            lines.retain(|index| *index >= from);
            lines
        };
        match (region, &self.composer) {
            (Region::Bottom, _) => screen.bottom(count),
            (Region::Screen, _) => screen.bottom(usize::MAX),
            (Region::Above, Some(place)) => within(0, place.top),
            (Region::Composer, Some(place)) => within(place.first, place.end),
            (Region::Footer, Some(place)) => within(place.footer, screen.lines.len()),
            (Region::Turn, Some(place)) => within(place.turn, place.top),
            (Region::Title, _) | (_, None) => Vec::new(),
        }
    }
}

/// Returns the composer that begins at a line, if one does.
fn place(screen: &Screen, composer: &Composer, first: usize) -> Option<ComposerLines> {
    let text = |index: usize| screen.lines.get(index).map(|line| line.text.as_str());
    let line = text(first)?;
    let is_mode = composer
        .mode
        .as_ref()
        .is_some_and(|mode| mode.is_match(line));
    let sign = if is_mode {
        0
    } else {
        composer.line.find(line)?.end()
    };
    let top = match &composer.above {
        Some(above) => {
            let top = first.checked_sub(1)?;
            above.is_match(text(top)?).then_some(top)?
        }
        None => first,
    };
    let mut rest = first + 1..screen.lines.len();
    let (end, footer) = if let Some(below) = &composer.below {
        let end = rest.find(|index| text(*index).is_some_and(|text| below.is_match(text)))?;
        (end, end + 1)
    } else {
        let last = rest.end;
        let end = rest.find(|index| screen.lines[*index].is_blank());
        (end.unwrap_or(last), end.unwrap_or(last))
    };
    if let Some(pattern) = &composer.footer {
        let mut below = screen.lines.get(footer..)?.iter();
        below.find(|line| pattern.is_match(&line.text))?;
    }
    let is_placeholder = |text: &str| {
        let placeholder = composer.placeholder.as_ref();
        placeholder.is_some_and(|placeholder| placeholder.is_match(text))
    };
    let sent = |index: &usize| {
        let prompt = composer.prompt.as_ref();
        prompt.is_some_and(|prompt| text(*index).is_some_and(|text| prompt.is_match(text)))
    };
    let turn = (0..top).rev().find(sent).map_or(0, |index| index + 1);
    let mut draft = String::new();
    let mut whole = String::new();
    for index in first..end {
        let bright = screen.lines[index].bright();
        whole.push_str(
            screen.lines[index]
                .text
                .get(if index == first { sign } else { 0 }..)
                .unwrap_or_default()
                .trim(),
        );
        let typed = if index == first {
            // The prompt's sign is drawn in its own color, so it may be cut where the dim text begins.
            bright.get(sign.min(bright.len())..).unwrap_or_default()
        } else {
            bright.as_str()
        };
        if index > first && !typed.trim().is_empty() && !draft.is_empty() {
            draft.push('\n');
        }
        draft.push_str(typed.trim());
    }
    // The cursor is on the first letter of a placeholder, and draws it inverted instead of dim.
    let is_under_cursor = draft.chars().count() == 1 && screen.lines[first].has_dim();
    if is_under_cursor || is_placeholder(&draft) {
        draft.clear();
    }
    Some(ComposerLines {
        turn,
        top,
        first,
        end,
        footer,
        text: whole,
        draft,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn boxed() -> Composer {
        let pattern = |text: &str| Regex::new(text).unwrap();
        Composer {
            line: pattern("^> ?"),
            above: Some(pattern("^-{3,}")),
            below: Some(pattern("^-{3,}")),
            prompt: Some(pattern("^> ")),
            placeholder: Some(pattern("^Type here$")),
            footer: None,
            mode: Some(pattern("^!")),
            within: 6,
        }
    }

    fn layout(text: &str) -> (Screen, Layout) {
        let screen = Screen::read(text.as_bytes(), None);
        let layout = Layout::find(&screen, Some(&boxed()));
        (screen, layout)
    }

    #[test]
    fn the_composer_is_between_its_lines_and_the_footer_below() {
        let (screen, layout) = layout("answer\n\n----\n> first\n  second\n----\n  ? help\n\n");
        let place = layout.composer.clone().unwrap();
        assert_eq!(
            (place.top, place.first, place.end, place.footer),
            (2, 3, 5, 6)
        );
        assert_eq!(place.draft, "first\nsecond");
        assert_eq!(layout.region(&screen, Region::Above, 5), [0]);
        assert_eq!(
            layout.region(&screen, Region::Title, 5),
            Vec::<usize>::new()
        );
        assert_eq!(layout.region(&screen, Region::Composer, 5), [3, 4]);
        assert_eq!(layout.region(&screen, Region::Footer, 5), [6]);
    }

    #[test]
    fn the_turn_begins_after_the_last_prompt() {
        let (screen, layout) = layout("> one\nold\n> two\nnew\n\nnewer\n----\n>\n----");
        assert_eq!(layout.region(&screen, Region::Turn, 9), [3, 5]);
        assert_eq!(layout.region(&screen, Region::Turn, 1), [5]);
        assert_eq!(layout.region(&screen, Region::Above, 9), [0, 1, 2, 3, 5]);
    }

    #[test]
    fn a_placeholder_is_no_draft() {
        let (_, layout) = layout("----\n> \u{1b}[2mTry this\u{1b}[0m\n----\n");
        assert_eq!(layout.composer.unwrap().draft, "");
        assert_eq!(
            self::layout("----\n> Type here\n----\n")
                .1
                .composer
                .unwrap()
                .draft,
            ""
        );
    }

    #[test]
    fn a_quoted_prompt_far_above_is_no_composer() {
        let text = "----\n> old\n----\na\nb\nc\nd\ne\nf";
        assert_eq!(layout(text).1.composer, None);
        assert_eq!(layout("> not in a box\n----").1.composer, None);
        assert_eq!(layout("----\n> without an end\n").1.composer, None);
    }

    #[test]
    fn a_mode_in_which_enter_sends_no_prompt_counts_as_a_draft() {
        assert_eq!(layout("----\n!\n----").1.composer.unwrap().draft, "!");
    }

    #[test]
    fn a_sent_prompt_that_is_drawn_alike_has_no_footer() {
        let composer = Composer {
            footer: Some(Regex::new("help").unwrap()),
            ..boxed()
        };
        let place = |text: &str| {
            let screen = Screen::read(text.as_bytes(), None);
            Layout::find(&screen, Some(&composer)).composer
        };
        assert_eq!(place("----\n> sent\n----\nYes or no?"), None);
        assert!(place("----\n> typed\n----\n? help").is_some());
    }

    #[test]
    fn without_an_end_line_a_blank_line_ends_it() {
        let composer = Composer {
            above: None,
            below: None,
            ..boxed()
        };
        let screen = Screen::read(b"x\n> one\n  two\n\n  footer", None);
        let place = Layout::find(&screen, Some(&composer)).composer.unwrap();
        assert_eq!((place.top, place.end, place.footer), (1, 3, 3));
        assert_eq!(place.draft, "one\ntwo");
    }
}
