//! The terminal at standard output: its size.

/// The size of a terminal, in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Characters on a line.
    pub columns: u16,
    /// Lines on the screen.
    pub rows: u16,
}

/// Returns the size of the terminal at standard output. Returns none if standard output is no terminal, or one that does
/// not know its size, as serial consoles do.
pub fn size() -> Option<Size> {
    let size = rustix::termios::tcgetwinsize(rustix::stdio::stdout()).ok()?;
    let (columns, rows) = (size.ws_col, size.ws_row);
    (columns > 0 && rows > 0).then_some(Size { columns, rows })
}
