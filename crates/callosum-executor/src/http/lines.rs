//! [`read_lines`]: a body line by line as it comes, within bounds.

use std::{io::Read, ops::ControlFlow};

use crate::output_format::{CUT_OFF, ErrorText, LARGEST_STREAM};

/// Longest line in bytes; a whole answer may stand on one.
const LONGEST_LINE: usize = 16 * 1024 * 1024;

/// Bytes that are read at once.
const PIECE: usize = 16 * 1024;

/// Whether to read on.
pub(crate) type Flow = Result<ControlFlow<()>, Broken>;

/// Reason why reading stopped early.
#[derive(Debug)]
pub(crate) enum Broken {
    /// There was more than an answer may have.
    TooMuch,
    /// For this reason.
    Because(ErrorText),
}

impl From<ErrorText> for Broken {
    fn from(complaint: ErrorText) -> Self {
        Self::Because(complaint)
    }
}

/// Hands on each line without its end, and `None` for each piece of a line that is not whole yet:
/// it, too, is a sign of life. Ends where `each` breaks.
pub(crate) fn read_lines(
    mut body: impl Read,
    each: &mut dyn FnMut(Option<&str>) -> Flow,
) -> Result<(), Broken> {
    let mut line = Vec::new();
    let mut piece = vec![0; PIECE];
    let mut total = 0;
    loop {
        let count = match body.read(&mut piece) {
            Ok(0) => break,
            Ok(count) => count,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(error) => {
                return Err(Broken::Because(ErrorText::of_kind(
                    CUT_OFF,
                    &error.to_string(),
                )));
            }
        };
        total += count;
        if total > LARGEST_STREAM {
            return Err(Broken::TooMuch);
        }
        for part in piece[..count].split_inclusive(|byte| *byte == b'\n') {
            line.extend_from_slice(part);
            if line.len() > LONGEST_LINE {
                return Err(Broken::TooMuch);
            }
            if part.ends_with(b"\n") {
                if hand_on(&line, each)?.is_break() {
                    return Ok(());
                }
                line.clear();
            } else if each(None)?.is_break() {
                return Ok(());
            }
        }
    }
    if !line.is_empty() {
        let _last = hand_on(&line, each)?;
    }
    Ok(())
}

fn hand_on(line: &[u8], each: &mut dyn FnMut(Option<&str>) -> Flow) -> Flow {
    let text =
        std::str::from_utf8(line).map_err(|_| ErrorText::unreadable("it is not UTF-8 text"))?;
    each(Some(text.trim_end_matches(['\n', '\r'])))
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Piecewise(Vec<u8>, usize);

    impl Read for Piecewise {
        fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
            let count = self.0.len().min(self.1);
            into[..count].copy_from_slice(&self.0[..count]);
            self.0.drain(..count);
            Ok(count)
        }
    }

    /// CAL-ERR-1: bytes that are no text are no answer.
    #[test]
    fn what_is_no_text_is_refused() {
        let read = read_lines(&b"a\nb\xff\n"[..], &mut |_| Ok(ControlFlow::Continue(())));
        assert!(matches!(read, Err(Broken::Because(_))), "{read:?}");
    }

    #[test]
    fn lines_are_whole_however_they_come() {
        let text = "a\r\n\nbä\nlast";
        for size in 1..=text.len() {
            let mut lines = Vec::new();
            read_lines(Piecewise(text.into(), size), &mut |line| {
                lines.extend(line.map(str::to_owned));
                Ok(ControlFlow::Continue(()))
            })
            .unwrap();
            assert_eq!(lines, ["a", "", "bä", "last"], "{size}");
        }
    }

    #[test]
    fn nothing_is_read_after_the_end() {
        let mut seen = 0;
        read_lines(&b"a\nb\nc\n"[..], &mut |_| {
            seen += 1;
            Ok(ControlFlow::Break(()))
        })
        .unwrap();
        assert_eq!(seen, 1);
    }

    /// CAL-ERR-1: a server that never ends its line does not fill the memory.
    #[test]
    fn what_never_ends_is_too_much() {
        let endless = std::io::repeat(b'x');
        let ended = read_lines(endless, &mut |_| Ok(ControlFlow::Continue(())));
        assert!(matches!(ended, Err(Broken::TooMuch)));
        let lines = std::io::repeat(b'\n');
        let ended = read_lines(lines, &mut |_| Ok(ControlFlow::Continue(())));
        assert!(matches!(ended, Err(Broken::TooMuch)));
    }
}
