//! [`Keys`]: reads keys from the bytes of a terminal.

/// Something that was typed, or the terminal's answer.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Key {
    Enter,
    Clear,
    Letter(char),
    Paste(String),
    /// The answer to a question for the cursor's position.
    Position,
    Other(u8),
}

#[derive(Default)]
pub(crate) struct Keys {
    buffer: Vec<u8>,
}

const BEGIN: &[u8] = b"\x1b[200~";
const END: &[u8] = b"\x1b[201~";

impl Keys {
    pub(crate) fn read(&mut self, bytes: &[u8]) -> Vec<Key> {
        self.buffer.extend_from_slice(bytes);
        let mut keys = Vec::new();
        while let Some((key, length)) = next(&self.buffer) {
            self.buffer.drain(..length);
            keys.push(key);
        }
        keys
    }
}

/// Returns the first key and its length, if all of it is there.
fn next(bytes: &[u8]) -> Option<(Key, usize)> {
    let first = *bytes.first()?;
    match first {
        0x0d => Some((Key::Enter, 1)),
        0x15 => Some((Key::Clear, 1)),
        0x1b if bytes.starts_with(BEGIN) => {
            let rest = &bytes[BEGIN.len()..];
            let end = rest.windows(END.len()).position(|window| window == END)?;
            let text = String::from_utf8_lossy(&rest[..end]).replace('\r', "\n");
            Some((Key::Paste(text), BEGIN.len() + end + END.len()))
        }
        0x1b if BEGIN.starts_with(bytes) => None,
        0x1b if bytes.get(1) == Some(&b'[') => {
            let end = bytes
                .iter()
                .skip(2)
                .position(|byte| (0x40..0x7f).contains(byte))?;
            let key = if bytes[end + 2] == b'R' {
                Key::Position
            } else {
                Key::Other(first)
            };
            Some((key, end + 3))
        }
        0x20..0x7f => Some((Key::Letter(char::from(first)), 1)),
        _ => Some((Key::Other(first), 1)),
    }
}
