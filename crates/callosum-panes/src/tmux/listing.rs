//! [`TmuxPane`]: a line of `list-panes`.

use std::path::PathBuf;

/// Separates the values of a line. Numbers come first, so that a name with this sign in it moves nothing but names.
const SEPARATOR: char = '\u{241f}';

/// The values that are asked for, in order.
const FIELDS: [&str; 21] = [
    "pane_id",
    "pane_pid",
    "pane_tty",
    "pane_dead",
    "pane_in_mode",
    "pane_input_off",
    "alternate_on",
    "cursor_x",
    "cursor_y",
    "pane_width",
    "pane_height",
    "pane_left",
    "pane_top",
    "window_width",
    "window_height",
    "pane_active",
    "window_activity",
    "session_name",
    "pane_current_command",
    "pane_current_path",
    "pane_title",
];

/// The values that change from look to look. tmux looks each one up among all of its options first, which costs it 2 µs
/// for a pane, so that a list of these takes a fifth of the time.
const BRIEF: [&str; 3] = ["pane_id", "pane_height", "pane_title"];

/// Letters of a title that are kept. A program may set one of any length.
const LONGEST_TITLE: usize = 400;

/// A pane as tmux lists it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TmuxPane {
    /// Id such as `%3`, for as long as the server lives.
    pub id: String,
    /// The process that the pane started, mostly a shell.
    pub pid: u32,
    /// Its terminal.
    pub tty: String,
    /// Whether its process has ended and the pane is kept.
    pub is_dead: bool,
    /// Whether a person scrolls in it (copy mode), so that keys do not reach the program.
    pub is_in_mode: bool,
    /// Whether a person has switched its input off.
    pub is_input_off: bool,
    /// Whether the program uses the alternate screen.
    pub is_alternate: bool,
    /// Column and row of the cursor.
    pub cursor: (u16, u16),
    /// Width and height in cells.
    pub size: (u16, u16),
    /// Column and row of its corner in the window.
    pub corner: (u16, u16),
    /// Width and height of the window.
    pub window: (u16, u16),
    /// Whether it is the active pane of its window.
    pub is_active: bool,
    /// Unix time of the window's last output.
    pub activity: i64,
    /// Name of the session.
    pub session: String,
    /// Name of the program in the foreground. Unreliable: a client may show as `node`.
    pub command: String,
    /// Folder of the program in the foreground.
    pub folder: PathBuf,
    /// The title that the program set.
    pub title: String,
}

/// Returns the format for `list-panes -F`.
pub(super) fn format() -> String {
    format_of(&FIELDS)
}

/// Returns the format of a list with the values only that change from look to look.
pub(super) fn brief_format() -> String {
    format_of(&BRIEF)
}

fn format_of(fields: &[&str]) -> String {
    let fields: Vec<String> = fields.iter().map(|field| format!("#{{{field}}}")).collect();
    fields.join(&SEPARATOR.to_string())
}

/// A line of a list with the values only that change from look to look.
pub(super) struct Brief {
    pub(super) id: String,
    height: u16,
    title: String,
}

impl Brief {
    /// Brings a pane up to date.
    pub(super) fn apply(self, pane: &TmuxPane) -> TmuxPane {
        TmuxPane {
            size: (pane.size.0, self.height),
            title: self.title,
            ..pane.clone()
        }
    }
}

/// Reads a line of a brief list, or `None` if it has another form.
pub(super) fn read_brief(line: &[u8]) -> Option<Brief> {
    let line = String::from_utf8_lossy(line);
    let mut values = line.splitn(BRIEF.len(), SEPARATOR);
    Some(Brief {
        id: read_id(values.next()?)?,
        height: values.next()?.parse().ok()?,
        title: cut(values.next()?),
    })
}

fn read_id(text: &str) -> Option<String> {
    let number = text.strip_prefix('%')?;
    number.parse::<u32>().ok()?;
    Some(text.to_owned())
}

fn cut(title: &str) -> String {
    title.chars().take(LONGEST_TITLE).collect()
}

/// Reads a line of the list, or `None` if it has another form.
pub(super) fn read(line: &[u8]) -> Option<TmuxPane> {
    let line = String::from_utf8_lossy(line);
    let mut values = line.splitn(FIELDS.len(), SEPARATOR);
    let mut text = || values.next();
    let id = read_id(text()?)?;
    let pid = text()?.parse().ok()?;
    let tty = text()?.to_owned();
    let flag = |value: &str| !matches!(value, "" | "0");
    let is_dead = flag(text()?);
    let is_in_mode = flag(text()?);
    let is_input_off = flag(text()?);
    let is_alternate = flag(text()?);
    let mut pair = || Some((text()?.parse().ok()?, text()?.parse().ok()?));
    let cursor = pair()?;
    let size = pair()?;
    let corner = pair()?;
    let window = pair()?;
    let is_active = flag(text()?);
    let activity = text()?.parse().unwrap_or_default();
    let session = text()?.to_owned();
    let command = text()?.to_owned();
    let folder = PathBuf::from(text()?);
    let title = cut(text()?);
    Some(TmuxPane {
        id,
        pid,
        tty,
        is_dead,
        is_in_mode,
        is_input_off,
        is_alternate,
        cursor,
        size,
        corner,
        window,
        is_active,
        activity,
        session,
        command,
        folder,
        title,
    })
}

impl TmuxPane {
    /// Returns the quarter of the window in which the pane's center is: `top-left`, `bottom-right`. A pane as large as
    /// the window is `top-left` (Seed CALC §4, layer 4).
    pub fn quadrant(&self) -> &'static str {
        let is_second = |corner: u16, size: u16, window: u16| {
            // Twice the center, so that nothing is rounded.
            u32::from(corner) * 2 + u32::from(size) > u32::from(window) + 1
        };
        let right = is_second(self.corner.0, self.size.0, self.window.0);
        let low = is_second(self.corner.1, self.size.1, self.window.1);
        match (low, right) {
            (false, false) => "top-left",
            (false, true) => "top-right",
            (true, false) => "bottom-left",
            (true, true) => "bottom-right",
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn line(title: &str) -> String {
        let values = [
            "%3",
            "42",
            "/dev/pts/1",
            "0",
            "1",
            "0",
            "1",
            "5",
            "6",
            "80",
            "24",
            "0",
            "0",
            "161",
            "24",
            "1",
            "1795956227",
            "main",
            "node",
            "/home/dev/shop",
            title,
        ];
        values.join(&SEPARATOR.to_string())
    }

    #[test]
    fn a_line_is_read() {
        let pane = read(line("⠂ Fix").as_bytes()).unwrap();
        assert_eq!(
            (pane.id.as_str(), pane.pid, pane.size),
            ("%3", 42, (80, 24))
        );
        assert!(!pane.is_dead && pane.is_in_mode && pane.is_alternate && pane.is_active);
        assert_eq!(
            (pane.title.as_str(), pane.quadrant()),
            ("⠂ Fix", "top-left")
        );
    }

    #[test]
    fn a_hostile_title_stays_a_title() {
        let title = format!("a{SEPARATOR}b|c");
        assert_eq!(read(line(&title).as_bytes()).unwrap().title, title);
        let long = read(line(&"x".repeat(1 << 20)).as_bytes()).unwrap();
        assert_eq!(long.title.len(), LONGEST_TITLE);
        assert!(read(b"no pane").is_none());
        assert!(read(line("").replace("%3", "3; kill-server").as_bytes()).is_none());
        assert_eq!(read(line("").as_bytes()).unwrap().title, "");
    }

    #[test]
    fn a_brief_line_brings_a_pane_up_to_date() {
        let pane = read(line("old").as_bytes()).unwrap();
        let title = format!("a{SEPARATOR}b");
        let brief = format!("%3{SEPARATOR}12{SEPARATOR}{title}");
        let now = read_brief(brief.as_bytes()).unwrap().apply(&pane);
        let expected = TmuxPane {
            size: (80, 12),
            title,
            ..pane
        };
        assert_eq!(now, expected);
        assert!(read_brief(brief.replace("%3", "$3").as_bytes()).is_none());
        assert!(read_brief(b"%3").is_none());
    }

    #[test]
    fn a_quadrant_is_where_the_center_is() {
        let mut pane = read(line("").as_bytes()).unwrap();
        pane.corner = (81, 0);
        assert_eq!(pane.quadrant(), "top-right");
        pane.window = (161, 49);
        pane.corner = (81, 25);
        assert_eq!(pane.quadrant(), "bottom-right");
        pane.corner = (0, 25);
        assert_eq!(pane.quadrant(), "bottom-left");
        (pane.corner, pane.size) = ((0, 0), pane.window);
        assert_eq!(pane.quadrant(), "top-left");
    }
}
