//! [`Key`]: a key that a person pressed.

/// A key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    /// A letter, digit or sign.
    Char(char),
    /// The return key.
    Enter,
    /// The escape key.
    Esc,
    /// The tabulator.
    Tab,
    /// The tabulator with Shift.
    BackTab,
    /// Up arrow.
    Up,
    /// Down arrow.
    Down,
    /// Left arrow.
    Left,
    /// Right arrow.
    Right,
    /// Page up.
    PageUp,
    /// Page down.
    PageDown,
    /// Home.
    Home,
    /// End.
    End,
    /// Backspace.
    Backspace,
    /// Delete.
    Delete,
    /// Ctrl-C.
    Interrupt,
    /// Ctrl-U, which clears a line.
    ClearLine,
}
