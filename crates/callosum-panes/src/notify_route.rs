//! [`Route`]: builds the program call or the bytes that bring a [`Notice`] to a person.
//!
//! No text of a notice is ever part of a shell command or a script: a prompt may come from anywhere. Nothing runs here.

use callosum_redact::terminal_escape::on_one_line;

use crate::notify::{Notice, cut};

/// Most characters in an OSC 9 notification.
const OSC_9_LENGTH: usize = 200;

/// AppleScript that shows its arguments. The text is an argument, so quotes in it mean nothing.
const SCRIPT: [&str; 3] = [
    "on run argv",
    "display notification (item 2 of argv) with title (item 1 of argv)",
    "end run",
];

/// A way to deliver notices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Route {
    /// A program and its arguments, from the settings. The notice is in its environment.
    Command(Vec<String>),
    /// `notify-send`, on a desktop that follows the freedesktop.org specification.
    NotifySend,
    /// `osascript`, on macOS.
    Osascript,
    /// The OSC 9 sequence, which iTerm2, kitty, WezTerm, Ghostty and others show.
    Osc9,
}

/// The act that delivers a notice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// Run a program, without a shell.
    Run {
        /// The program and its arguments. Never empty.
        argv: Vec<String>,
        /// Variables to add to the environment.
        env: Vec<(&'static str, String)>,
    },
    /// Write bytes to the person's terminal.
    Write(Vec<u8>),
}

impl Route {
    /// Builds the delivery of a notice, or `None` if the command is empty.
    ///
    /// `in_tmux` means that the terminal is a pane of tmux. tmux then needs `allow-passthrough on` (since tmux 3.3).
    pub fn delivery(&self, notice: &Notice, in_tmux: bool) -> Option<Delivery> {
        let title = on_one_line(&notice.title);
        let text = on_one_line(&notice.text);
        match self {
            Self::Command(argv) => {
                let is_usable = argv.first().is_some_and(|program| !program.is_empty());
                is_usable.then(|| Delivery::Run {
                    argv: argv.clone(),
                    env: vec![
                        ("CALLOSUM_TITLE", title),
                        ("CALLOSUM_TEXT", text),
                        ("CALLOSUM_PANE", on_one_line(&notice.pane)),
                        ("CALLOSUM_STATE", notice.state.name().to_owned()),
                    ],
                })
            }
            Self::NotifySend => {
                let argv = ["notify-send", "--app-name=callosum", "--"];
                Some(run(argv, [title, notify_send_body(&text)]))
            }
            Self::Osascript => {
                let [first, second, third] = SCRIPT;
                let argv = ["osascript", "-e", first, "-e", second, "-e", third];
                // osascript stops reading options at its first argument, so only the title could become an option.
                let title = if title.starts_with('-') {
                    format!(" {title}")
                } else {
                    title
                };
                Some(run(argv, [title, text]))
            }
            Self::Osc9 => Some(Delivery::Write(osc_9(notice, in_tmux))),
        }
    }
}

/// Joins the fixed arguments and the notice's.
fn run<const N: usize>(fixed: [&str; N], notice: [String; 2]) -> Delivery {
    Delivery::Run {
        argv: fixed
            .into_iter()
            .map(ToOwned::to_owned)
            .chain(notice)
            .collect(),
        env: Vec::new(),
    }
}

/// Escapes a text for the body of `notify-send`.
///
/// `notify-send` expands C escapes such as `\033` in the body, and the desktop reads the result as markup.
fn notify_send_body(text: &str) -> String {
    let mut body = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        match character {
            '\\' => body.push_str("\\\\"),
            '&' => body.push_str("&amp;"),
            '<' => body.push_str("&lt;"),
            '>' => body.push_str("&gt;"),
            other => body.push(other),
        }
    }
    body
}

/// Builds the OSC 9 sequence of `title: text`.
fn osc_9(notice: &Notice, in_tmux: bool) -> Vec<u8> {
    let mut line = format!("{}: {}", notice.title, notice.text);
    line.retain(|character| !character.is_control());
    // This escapes the marks that turn the direction of writing.
    let mut line = cut(&on_one_line(&line), OSC_9_LENGTH);
    // ConEmu, Windows Terminal and Ghostty read `9;4;…` as a progress bar, and other numbers as other commands.
    if line.starts_with(|first: char| first.is_ascii_digit()) {
        line = cut(&format!(" {line}"), OSC_9_LENGTH);
    }
    let sequence = format!("\x1b]9;{line}\x07");
    if !in_tmux {
        return sequence.into_bytes();
    }
    let inner = sequence.replace('\x1b', "\x1b\x1b");
    format!("\x1bPtmux;{inner}\x1b\\").into_bytes()
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use proptest::prelude::*;

    use super::*;
    use crate::{notify::NoticeKind, state::State};

    fn notice(title: &str, text: &str) -> Notice {
        Notice {
            pane: "work:%3".to_owned(),
            kind: NoticeKind::Blocked,
            state: State::BlockedOnApproval,
            since: Timestamp::UNIX_EPOCH,
            title: title.to_owned(),
            text: text.to_owned(),
        }
    }

    fn argv(route: &Route, notice: &Notice) -> Vec<String> {
        match route.delivery(notice, false) {
            Some(Delivery::Run { argv, env }) => {
                assert!(env.is_empty());
                argv
            }
            other => panic!("{other:?}"),
        }
    }

    fn written(notice: &Notice, in_tmux: bool) -> String {
        match Route::Osc9.delivery(notice, in_tmux) {
            Some(Delivery::Write(bytes)) => String::from_utf8(bytes).unwrap(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_command_gets_the_notice_in_its_environment_only() {
        let command = vec!["sh".to_owned(), "-c".to_owned(), "echo hi".to_owned()];
        let sent = Route::Command(command.clone())
            .delivery(&notice("t", "$(rm -rf ~); `id`\0\n"), false)
            .unwrap();
        let env = [
            ("CALLOSUM_TITLE", "t"),
            ("CALLOSUM_TEXT", r"$(rm -rf ~); `id`\0\n"),
            ("CALLOSUM_PANE", "work:%3"),
            ("CALLOSUM_STATE", "BLOCKED_ON_APPROVAL"),
        ];
        let env = env.map(|(name, value)| (name, value.to_owned())).to_vec();
        assert_eq!(sent, Delivery::Run { argv: command, env });
    }

    #[test]
    fn an_empty_command_delivers_nothing() {
        for command in [Vec::new(), vec![String::new()]] {
            let route = Route::Command(command);
            assert_eq!(route.delivery(&notice("t", "x"), false), None);
        }
    }

    #[test]
    fn notify_send_reads_no_options_escapes_or_markup_from_the_text() {
        let argv = argv(
            &Route::NotifySend,
            &notice("--help", r"<img src=x> & \033[2J"),
        );
        let end = argv.iter().position(|argument| argument == "--").unwrap();
        assert_eq!(
            argv[end + 1..],
            ["--help", r"&lt;img src=x&gt; &amp; \\033[2J"]
        );
    }

    #[test]
    fn osascript_gets_the_text_as_arguments() {
        let text = "\" & (do shell script \"id\") & \"";
        let argv = argv(&Route::Osascript, &notice("-e", text));
        assert_eq!(argv[7..], [" -e", text]);
        assert!(argv[..7].iter().all(|argument| !argument.contains("id\"")));
        assert_eq!((argv[1].as_str(), argv[2].as_str()), ("-e", "on run argv"));
    }

    #[test]
    fn osc_9_is_one_sequence() {
        let one = notice("Codex needs approval", "pane %1");
        assert_eq!(
            written(&one, false),
            "\x1b]9;Codex needs approval: pane %1\x07"
        );
        assert_eq!(
            written(&one, true),
            "\x1bPtmux;\x1b\x1b]9;Codex needs approval: pane %1\x07\x1b\\"
        );
    }

    #[test]
    fn osc_9_is_stripped_of_control_characters() {
        let line = written(&notice("t", "a\x1b[2J\x07\u{9c}b\n\u{202e}"), false);
        assert_eq!(line, "\x1b]9;t: a[2Jb\\u{202e}\x07");
    }

    #[test]
    fn osc_9_is_cut_to_200_letters() {
        let line = written(&notice("t", &"ä".repeat(500)), false);
        assert_eq!(line.chars().count(), 200 + "\x1b]9;\x07".len());
    }

    #[test]
    fn osc_9_never_begins_with_the_number_of_a_command() {
        assert_eq!(
            written(&notice("4;1;50", "x"), false),
            "\x1b]9; 4;1;50: x\x07"
        );
    }

    proptest! {
        #[test]
        fn osc_9_holds_no_control_character_but_its_own(title: String, text: String) {
            let line = written(&notice(&title, &text), false);
            let inner = line.strip_prefix("\x1b]9;").unwrap().strip_suffix('\x07').unwrap();
            prop_assert!(!inner.contains(char::is_control));
            prop_assert!(inner.chars().count() <= OSC_9_LENGTH);
            let wrapped = written(&notice(&title, &text), true);
            prop_assert_eq!(wrapped.matches('\x1b').count(), 4);
        }

        #[test]
        fn no_text_reaches_the_fixed_arguments(title: String, text: String) {
            for route in [Route::NotifySend, Route::Osascript] {
                let plain = argv(&route, &notice("a", "b"));
                let argv = argv(&route, &notice(&title, &text));
                prop_assert_eq!(plain.len(), argv.len());
                prop_assert_eq!(&plain[..plain.len() - 2], &argv[..argv.len() - 2]);
                prop_assert!(!argv.concat().contains(char::is_control));
            }
        }
    }
}
