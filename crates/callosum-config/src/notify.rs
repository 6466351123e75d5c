//! [`NotifySetting`]: means and time of a notification about an agent, `[mesh.notify]` of config.toml.

use jiff::{SignedDuration, civil::Time};
use toml::{Table, Value};

/// The keys of the table.
pub(crate) const KEYS: [&str; 5] = ["by", "command", "after", "on", "quiet"];

/// The kinds of notices.
const KINDS: [&str; 4] = ["blocked", "stuck", "usage-limited", "done"];

/// Longest time that an agent may be blocked before a notice: a day, in seconds.
const LONGEST: i64 = 24 * 3_600;

/// Most words of a command.
const MOST_WORDS: usize = 64;

/// Means and time of a person's notification.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotifySetting {
    /// The way.
    pub by: NotifyBy,
    /// Least time that an agent must be blocked.
    pub after: SignedDuration,
    /// The kinds of notices: `blocked`, `stuck`, `usage-limited`, `done`.
    pub on: Vec<String>,
    /// The hours without notices, if any, in local time.
    pub quiet: Option<(Time, Time)>,
}

/// A way to notify a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotifyBy {
    /// A command of the user's, as a program and its arguments.
    Command(Vec<String>),
    /// `notify-send`, on Linux desktops.
    NotifySend,
    /// `osascript`, on macOS.
    Osascript,
    /// An escape sequence to the terminal that shows `mesh panes --watch`.
    Osc9,
}

impl NotifySetting {
    /// Reads the table. `refuse` takes a key, its value and what is allowed.
    pub(crate) fn read(table: &Table, mut refuse: impl FnMut(&str, &Value, &str)) -> Option<Self> {
        let mut allowed = true;
        let mut fault = |key: &str, value: &Value, what: &str| {
            allowed = false;
            refuse(key, value, what);
        };
        let missing = Value::String(String::new());
        let words = table.get("command").map(|value| {
            let words = value
                .as_array()
                .map(|words| words.iter().map(Value::as_str).collect::<Option<Vec<_>>>());
            let words = words
                .flatten()
                .filter(|words| (1..=MOST_WORDS).contains(&words.len()));
            if words.is_none() {
                fault("command", value, "a list of a program and its arguments");
            }
            words
                .unwrap_or_default()
                .into_iter()
                .map(str::to_owned)
                .collect::<Vec<_>>()
        });
        let by = match table.get("by") {
            None => words.map(NotifyBy::Command),
            Some(value) => match value.as_str() {
                Some("command") => words.map(NotifyBy::Command),
                Some("notify-send") => Some(NotifyBy::NotifySend),
                Some("osascript") => Some(NotifyBy::Osascript),
                Some("osc9") => Some(NotifyBy::Osc9),
                _ => {
                    fault("by", value, "command, notify-send, osascript or osc9");
                    return None;
                }
            },
        };
        if by.is_none() {
            fault(
                "command",
                &missing,
                "a list of a program and its arguments, or another `by`",
            );
        }
        let after = table.get("after").map_or(Some(60), |value| {
            let seconds = value.as_str().and_then(seconds);
            let seconds = seconds.filter(|seconds| (1..=LONGEST).contains(seconds));
            if seconds.is_none() {
                fault("after", value, "a time from 1s to 24h, such as 60s or 5m");
            }
            seconds
        });
        let on = match table.get("on") {
            None => KINDS[..3].iter().map(|&kind| kind.to_owned()).collect(),
            Some(value) => {
                let kinds = value
                    .as_array()
                    .map(|kinds| kinds.iter().map(Value::as_str).collect::<Option<Vec<_>>>());
                let kinds = kinds
                    .flatten()
                    .filter(|kinds| kinds.iter().all(|kind| KINDS.contains(kind)));
                if kinds.is_none() {
                    fault(
                        "on",
                        value,
                        "a list of blocked, stuck, usage-limited and done",
                    );
                }
                kinds
                    .unwrap_or_default()
                    .into_iter()
                    .map(str::to_owned)
                    .collect()
            }
        };
        let quiet = table.get("quiet").and_then(|value| {
            let hours = value.as_str().and_then(|text| {
                let (from, to) = text.split_once('-')?;
                let time = |text: &str| Time::strptime("%H:%M", text.trim()).ok();
                Some((time(from)?, time(to)?))
            });
            if hours.is_none() {
                fault("quiet", value, "two times of day, such as 22:00-07:00");
            }
            hours
        });
        let (by, after) = (by?, after?);
        allowed.then_some(Self {
            by,
            after: SignedDuration::from_secs(after),
            on,
            quiet,
        })
    }
}

/// Reads `60s`, `5m`, `1h`.
fn seconds(text: &str) -> Option<i64> {
    let unit = text.chars().last()?;
    let number: i64 = text.strip_suffix(unit)?.parse().ok()?;
    let factor = match unit {
        's' => 1,
        'm' => 60,
        'h' => 3_600,
        _ => return None,
    };
    number.checked_mul(factor)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (Option<NotifySetting>, Vec<String>) {
        let table: Table = text.parse().unwrap();
        let mut faults = Vec::new();
        let setting = NotifySetting::read(&table, |key, _, allowed| {
            faults.push(format!("{key}: {allowed}"));
        });
        (setting, faults)
    }

    #[test]
    fn a_command_with_quiet_hours_is_read() {
        let (setting, faults) = read(
            "command = [\"ntfy\", \"publish\"]\nafter = \"5m\"\non = [\"blocked\"]\nquiet = \"22:00-07:00\"",
        );
        assert_eq!(faults, Vec::<String>::new());
        let setting = setting.unwrap();
        assert_eq!(
            setting.by,
            NotifyBy::Command(vec!["ntfy".to_owned(), "publish".to_owned()])
        );
        assert_eq!((setting.after.as_secs(), setting.on.len()), (300, 1));
        assert_eq!(setting.quiet.unwrap().0.to_string(), "22:00:00");
        let (desktop, _) = read("by = \"notify-send\"");
        assert_eq!(desktop.unwrap().on, ["blocked", "stuck", "usage-limited"]);
    }

    #[test]
    fn faults_name_the_key_and_what_is_allowed() {
        for (text, key) in [
            ("", "command"),
            ("command = \"ntfy\"", "command"),
            ("command = []", "command"),
            ("by = \"pigeon\"", "by"),
            ("by = \"osc9\"\nafter = \"0s\"", "after"),
            ("by = \"osc9\"\nafter = 60", "after"),
            ("by = \"osc9\"\non = [\"bored\"]", "on"),
            ("by = \"osc9\"\nquiet = \"at night\"", "quiet"),
        ] {
            let (setting, faults) = read(text);
            assert_eq!(setting, None, "{text}");
            assert!(
                faults.iter().any(|fault| fault.starts_with(key)),
                "{text}: {faults:?}"
            );
        }
    }
}
