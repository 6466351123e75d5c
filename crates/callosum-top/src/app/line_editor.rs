//! [`LineEditor`]: one line of text with a cursor.

use super::Key;

/// Most letters of a line. More are ignored, as from a paste by mistake.
const LONGEST: usize = 4_000;

/// One line of text with a cursor.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LineEditor {
    text: String,
    /// Byte offset of the cursor, between two letters.
    cursor: usize,
}

impl LineEditor {
    /// Returns a line with the cursor at its end.
    pub fn new(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            cursor: text.len(),
        }
    }

    /// Returns the text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the text before the cursor.
    pub fn before_cursor(&self) -> &str {
        &self.text[..self.cursor]
    }

    /// Changes the line by a key. Other keys than letters, arrows and the keys that delete do nothing.
    pub fn press(&mut self, key: Key) {
        match key {
            Key::Char(letter) => self.insert(letter),
            Key::Left => self.cursor = self.before(),
            Key::Right => self.cursor = self.after(),
            Key::Home => self.cursor = 0,
            Key::End => self.cursor = self.text.len(),
            Key::Backspace => {
                let before = self.before();
                self.text.replace_range(before..self.cursor, "");
                self.cursor = before;
            }
            Key::Delete => {
                let after = self.after();
                self.text.replace_range(self.cursor..after, "");
            }
            Key::ClearLine => *self = Self::default(),
            _ => {}
        }
    }

    fn insert(&mut self, letter: char) {
        if letter.is_control() || self.text.chars().count() >= LONGEST {
            return;
        }
        self.text.insert(self.cursor, letter);
        self.cursor += letter.len_utf8();
    }

    fn before(&self) -> usize {
        let mut letters = self.text[..self.cursor].char_indices();
        letters.next_back().map_or(0, |(at, _)| at)
    }

    fn after(&self) -> usize {
        let next = self.text[self.cursor..].chars().next();
        self.cursor + next.map_or(0, char::len_utf8)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn typed(keys: &[Key]) -> LineEditor {
        let mut editor = LineEditor::default();
        for key in keys {
            editor.press(*key);
        }
        editor
    }

    #[test]
    fn letters_are_put_in_and_deleted_at_the_cursor() {
        let keys = "aé字".chars().map(Key::Char).collect::<Vec<_>>();
        let mut editor = typed(&keys);
        editor.press(Key::Left);
        editor.press(Key::Char('x'));
        assert_eq!((editor.text(), editor.before_cursor()), ("aéx字", "aéx"));
        editor.press(Key::Backspace);
        editor.press(Key::Delete);
        assert_eq!((editor.text(), editor.before_cursor()), ("aé", "aé"));
        editor.press(Key::Home);
        editor.press(Key::Backspace);
        assert_eq!(editor.text(), "aé");
        editor.press(Key::Right);
        editor.press(Key::Right);
        editor.press(Key::Right);
        assert_eq!(editor.before_cursor(), "aé");
        editor.press(Key::ClearLine);
        assert_eq!(editor, LineEditor::default());
    }

    #[test]
    fn control_characters_and_endless_pastes_are_ignored() {
        let mut editor = typed(&[Key::Char('\u{1b}'), Key::Char('\n')]);
        assert_eq!(editor.text(), "");
        for _ in 0..LONGEST + 9 {
            editor.press(Key::Char('a'));
        }
        assert_eq!(editor.text().len(), LONGEST);
    }

    proptest! {
        #[test]
        fn no_key_moves_the_cursor_into_a_letter(keys in proptest::collection::vec(0_u8..9, 0..60)) {
            let keys = keys.into_iter().map(|key| match key {
                0 => Key::Left,
                1 => Key::Right,
                2 => Key::Home,
                3 => Key::End,
                4 => Key::Backspace,
                5 => Key::Delete,
                6 => Key::Char('字'),
                7 => Key::Char('\u{301}'),
                _ => Key::Char('a'),
            });
            let editor = typed(&keys.collect::<Vec<_>>());
            prop_assert!(editor.text().starts_with(editor.before_cursor()));
        }
    }
}
