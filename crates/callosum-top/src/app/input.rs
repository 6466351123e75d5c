//! Keys: what each of them does in each mode.

use super::{Action, App, Key, LineEditor, Mode, View, command_line};
use crate::overview::Command;

/// Commands that `a` runs, the first that an item has.
const APPROVES: [&str; 4] = ["approve", "retry", "resolve", "resume"];

/// Commands that `d` runs, after a question.
const DENIES: [&str; 3] = ["deny", "drop", "cancel"];

/// Rows of details or help that one press of a page key scrolls.
const SCROLL_PAGE: u16 = 10;

impl App {
    /// Takes a key, and returns what is to be done.
    pub fn press(&mut self, key: Key) -> Option<Action> {
        if key == Key::Interrupt {
            return self.quit();
        }
        match std::mem::take(&mut self.mode) {
            Mode::List => self.press_in_list(key),
            Mode::Details(offset) => self.press_in_text(key, offset, Mode::Details),
            Mode::Help(offset) => self.press_in_text(key, offset, Mode::Help),
            Mode::Filter(editor) => self.press_in_filter(key, editor),
            Mode::Message(editor, command) => self.press_in_message(key, editor, command),
            Mode::Confirm(question, action) => self.press_in_question(key, question, action),
        }
    }

    /// Takes text that was pasted: into the line that is edited. A list takes no paste as keys.
    pub fn paste(&mut self, text: &str) {
        if let Mode::Filter(editor) | Mode::Message(editor, _) = &mut self.mode {
            for letter in text.chars() {
                let letter = if letter.is_control() { ' ' } else { letter };
                editor.press(Key::Char(letter));
            }
            self.rebuild();
        }
    }

    fn press_in_list(&mut self, key: Key) -> Option<Action> {
        let page = isize::try_from(self.page).unwrap_or(isize::MAX);
        match key {
            Key::Char('q') => return self.quit(),
            Key::Char('1') => self.show(View::Now),
            Key::Char('2') => self.show(View::Tasks),
            Key::Char('3') => self.show(View::Guard),
            Key::Tab => self.show(View::ALL[(self.view.index() + 1) % 3]),
            Key::BackTab => self.show(View::ALL[(self.view.index() + 2) % 3]),
            Key::Char('j') | Key::Down => self.step(1),
            Key::Char('k') | Key::Up => self.step(-1),
            Key::PageDown => self.step(page),
            Key::PageUp => self.step(-page),
            Key::Char('g') | Key::Home => self.selections[self.view.index()].first(&self.entries),
            Key::Char('G') | Key::End => self.selections[self.view.index()].last(&self.entries),
            Key::Char('r') => return Some(Action::Refresh),
            Key::Char('/') => {
                self.mode = Mode::Filter(self.filters[self.view.index()].clone());
            }
            Key::Char('?') => self.mode = Mode::Help(0),
            Key::Enter if self.selected().is_some() => self.mode = Mode::Details(0),
            Key::Esc => {
                self.status.clear();
                self.filters[self.view.index()] = LineEditor::default();
                self.rebuild();
            }
            Key::Char(letter) => return self.act(letter),
            _ => {}
        }
        None
    }

    fn press_in_text(&mut self, key: Key, offset: u16, mode: fn(u16) -> Mode) -> Option<Action> {
        let offset = match key {
            Key::Char('j') | Key::Down => offset.saturating_add(1),
            Key::Char('k') | Key::Up => offset.saturating_sub(1),
            Key::PageDown => offset.saturating_add(SCROLL_PAGE),
            Key::PageUp => offset.saturating_sub(SCROLL_PAGE),
            Key::Char('g') | Key::Home => 0,
            Key::Esc | Key::Enter | Key::Char('q' | '?') => return None,
            Key::Char(letter @ ('a' | 'd' | 'o' | 'm')) => return self.act(letter),
            _ => offset,
        };
        self.mode = mode(offset);
        None
    }

    fn press_in_filter(&mut self, key: Key, mut editor: LineEditor) -> Option<Action> {
        match key {
            Key::Enter => self.filters[self.view.index()] = editor,
            Key::Esc => self.filters[self.view.index()] = LineEditor::default(),
            key => {
                editor.press(key);
                self.mode = Mode::Filter(editor);
            }
        }
        self.rebuild();
        if self.selected().is_none() {
            self.selections[self.view.index()].first(&self.entries);
        }
        None
    }

    fn press_in_message(
        &mut self,
        key: Key,
        mut editor: LineEditor,
        command: Command,
    ) -> Option<Action> {
        match key {
            Key::Esc => {
                "no message was sent".clone_into(&mut self.status);
                None
            }
            Key::Enter => {
                let text = editor.text().trim();
                if text.is_empty() {
                    "an empty message is not sent".clone_into(&mut self.status);
                    return None;
                }
                let mut argv = command.argv;
                argv.pop();
                argv.push(text.to_owned());
                self.start(argv)
            }
            key => {
                editor.press(key);
                self.mode = Mode::Message(editor, command);
                None
            }
        }
    }

    fn press_in_question(&mut self, key: Key, question: String, action: Action) -> Option<Action> {
        match (key, action) {
            (Key::Char('y' | 'Y'), Action::Run(argv)) => self.start(argv),
            (Key::Char('y' | 'Y'), action) => Some(action),
            (Key::Char('n' | 'N' | 'q') | Key::Esc, _) => {
                "nothing was done".clone_into(&mut self.status);
                None
            }
            (_, action) => {
                self.mode = Mode::Confirm(question, action);
                None
            }
        }
    }

    /// Does what a letter means for the selected item.
    fn act(&mut self, letter: char) -> Option<Action> {
        let names: &[&str] = match letter {
            'a' => &APPROVES,
            'd' => &DENIES,
            'o' => &["allow-once"],
            'm' => &["message"],
            _ => return None,
        };
        let Some(item) = self.selected() else {
            "nothing is selected: j and k move".clone_into(&mut self.status);
            return None;
        };
        let Some(command) = item.command(names).cloned() else {
            self.status =
                format!("`{letter}` does nothing for this item: Enter shows its commands");
            return None;
        };
        match letter {
            'd' => {
                let question = format!("{}: {}?", command.name, command_line(&command.argv));
                self.mode = Mode::Confirm(question, Action::Run(command.argv));
                None
            }
            'm' => {
                self.mode = Mode::Message(LineEditor::default(), command);
                None
            }
            _ => self.start(command.argv),
        }
    }

    /// Starts a command, unless the same one runs.
    fn start(&mut self, argv: Vec<String>) -> Option<Action> {
        let line = command_line(&argv);
        if !self.running.insert(argv.clone()) {
            self.status = format!("still running: {line}");
            return None;
        }
        self.status = format!("running: {line}");
        Some(Action::Run(argv))
    }

    /// Quits; asks first while commands run.
    fn quit(&mut self) -> Option<Action> {
        let is_asked = matches!(&self.mode, Mode::Confirm(_, Action::Quit));
        let count = self.running.len();
        if count == 0 || is_asked {
            return Some(Action::Quit);
        }
        let commands = if count == 1 { "command" } else { "commands" };
        let question = format!("cancel {count} running {commands} and quit?");
        self.mode = Mode::Confirm(question, Action::Quit);
        None
    }

    fn show(&mut self, view: View) {
        self.view = view;
        self.rebuild();
    }

    fn step(&mut self, by: isize) {
        self.selections[self.view.index()].step(&self.entries, by);
    }
}

/// Returns the keys that act on an item, each with the name of its command.
pub(crate) fn keys_of(item: &super::Item) -> Vec<(char, &str)> {
    let keys: [(char, &[&str]); 4] = [
        ('a', &APPROVES),
        ('d', &DENIES),
        ('o', &["allow-once"]),
        ('m', &["message"]),
    ];
    let keys = keys.into_iter().filter_map(|(key, names)| {
        let command = item.command(names)?;
        Some((key, command.name.as_str()))
    });
    keys.collect()
}
