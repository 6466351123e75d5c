//! Screens of panes, read through a [`Connection`].
//!
//! Start with [`Connection::request`], which asks for the list of panes and for many screens in one write, and
//! [`Connection::receive`]. tmux runs the commands of one write one after the other, so list and screens fit together,
//! and a look costs one wait instead of one for each screen. Between the list and the screens, and after the last screen,
//! tmux prints a word that no program can know: a screen that imitates the protocol cannot speak for another pane.

use std::{
    collections::{HashMap, HashSet},
    fmt::Write as _,
    time::{Duration, Instant},
};

use super::{
    connection::{Answer, Connection, TmuxError},
    listing::{self, TmuxPane},
    reply::Lines,
};

/// Time for which a pane whose screen imitates the protocol is not read again.
const AVOIDED: Duration = Duration::from_secs(30);

/// Time for which most fields of a list are used: the program, the place in the window, the
/// process. Size and title are always requested.
const LISTED: Duration = Duration::from_secs(1);

/// Makes tmux send the replies so far, so that they are read while it works on the rest. It writes when its queue of
/// commands waits, and this one waits for a timer of 0 s.
const FLUSH: &str = "run-shell -d 0\n";

/// A pane whose screen is wanted.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// Its id.
    pub pane: String,
    /// First and last line to read with colors too, by index from 0.
    pub colors: Option<(usize, usize)>,
}

/// A request whose replies are on their way.
#[derive(Debug)]
pub struct Requested {
    word: String,
    is_brief: bool,
    wanted: Vec<Wanted>,
}

/// Panes of a server at one moment.
#[derive(Debug, Default)]
pub struct Snapshot {
    /// All of them, each once.
    pub panes: Vec<TmuxPane>,
    /// The screens that were read, by pane.
    pub screens: HashMap<String, CapturedScreen>,
}

/// Computes something from a screen while tmux reads others: the pane's id, and the text without colors. The screen may
/// turn out to imitate the protocol, and is then not in the [`Snapshot`].
pub type WhileReading<'a> = &'a mut dyn FnMut(&str, &[u8]);

/// A screen as tmux gave it.
#[derive(Clone, Debug, Default)]
pub struct CapturedScreen {
    /// All lines without colors.
    pub plain: Vec<u8>,
    /// The wanted lines with colors, and the index of the first.
    pub colored: Option<(usize, Vec<u8>)>,
}

/// A command that reads a pane.
struct Capture<'a> {
    pane: &'a str,
    /// First and last line to read with colors; the whole screen without colors if there are none.
    colors: Option<(usize, usize)>,
    /// Lines of the reply.
    lines: usize,
}

impl<'a> Capture<'a> {
    fn plain(pane: &'a TmuxPane) -> Self {
        Self {
            pane: &pane.id,
            colors: None,
            lines: usize::from(pane.size.1),
        }
    }

    fn colors(pane: &'a TmuxPane, first: usize, last: usize) -> Self {
        // tmux moves a line below the screen to the last one.
        let bottom = usize::from(pane.size.1).saturating_sub(1);
        Self {
            pane: &pane.id,
            colors: Some((first, last)),
            lines: last.min(bottom) + 1 - first.min(bottom),
        }
    }
}

/// Returns the index of the first of `count` screens that comes in a second part. A few screens are not worth it.
fn flush_before(count: usize) -> Option<usize> {
    (count >= 4).then(|| count.div_ceil(2))
}

/// Appends the command that reads a pane.
fn push_command(commands: &mut String, pane: &str, colors: Option<(usize, usize)>) {
    commands.push_str("capture-pane -p ");
    if let Some((first, last)) = colors {
        // A `String` takes any text.
        let _ = write!(commands, "-e -S {first} -E {last} ");
    }
    commands.push_str("-t ");
    commands.push_str(pane);
    commands.push('\n');
}

/// Appends the command that prints a word.
fn push_word(commands: &mut String, word: &str) {
    commands.push_str("display-message -p ");
    commands.push_str(word);
    commands.push('\n');
}

impl Connection {
    /// Asks for the list of panes and for screens, and does not wait. Pass the result to [`Self::receive`] before the
    /// next command; a request that is dropped costs one round trip more.
    pub fn request(&mut self, mut wanted: Vec<Wanted>) -> Result<Requested, TmuxError> {
        self.avoided.retain(|_, since| since.elapsed() < AVOIDED);
        wanted.retain(|wanted| !self.avoided.contains_key(&wanted.pane));
        let word = self.word()?;
        let listed = self.listed.as_ref();
        let is_brief = listed.is_some_and(|(at, _)| at.elapsed() < LISTED);
        let format = if is_brief {
            listing::brief_format()
        } else {
            listing::format()
        };
        let mut commands = format!("list-panes -a -F '{format}'\n");
        push_word(&mut commands, &word);
        let flush_before = flush_before(wanted.len());
        for (index, Wanted { pane, colors }) in wanted.iter().enumerate() {
            if Some(index) == flush_before {
                commands.push_str(FLUSH);
            }
            push_command(&mut commands, pane, None);
            if colors.is_some() {
                push_command(&mut commands, pane, *colors);
            }
        }
        push_word(&mut commands, &word);
        self.send(&commands)?;
        Ok(Requested {
            word,
            is_brief,
            wanted,
        })
    }

    /// Waits for the replies to a request. A pane that has gone has no screen, and neither has one that imitates the
    /// protocol. If a wanted pane is not in the list, no screen is read. Costs about 1 ms for twelve panes.
    pub fn receive(
        &mut self,
        requested: Requested,
        while_reading: WhileReading<'_>,
    ) -> Result<Snapshot, TmuxError> {
        let Requested {
            word,
            is_brief,
            wanted,
        } = requested;
        let lines = self.reply("list-panes")?;
        // A title cannot end the list, but a name of a program or folder can have several lines.
        if !self.is_word(&word)? {
            return Err(self.out_of_order());
        }
        let panes = if is_brief {
            let Some(panes) = self.brought_up_to_date(&lines) else {
                // A pane is new, so the whole list is needed.
                return Ok(Snapshot {
                    panes: self.list()?,
                    screens: HashMap::new(),
                });
            };
            panes
        } else {
            self.remember(distinct(&lines))
        };
        let mut snapshot = Snapshot {
            panes,
            screens: HashMap::new(),
        };
        let by_id: HashMap<&str, &TmuxPane> = snapshot
            .panes
            .iter()
            .map(|pane| (pane.id.as_str(), pane))
            .collect();
        let mut captures = Vec::with_capacity(wanted.len() * 2);
        let flush_before = flush_before(wanted.len());
        let mut flush = None;
        for (index, Wanted { pane, colors }) in wanted.iter().enumerate() {
            if Some(index) == flush_before {
                flush = Some(captures.len());
            }
            let Some(pane) = by_id.get(pane.as_str()) else {
                // The size is not known, so nothing tells where its screen ends.
                self.align()?;
                return Ok(snapshot);
            };
            captures.push(Capture::plain(pane));
            captures.extend(colors.map(|(first, last)| Capture::colors(pane, first, last)));
        }
        let read = self.read_captures(&captures, &word, flush, while_reading)?;
        for (capture, text) in captures.iter().zip(read) {
            let Some(text) = text else { continue };
            match capture.colors {
                None => {
                    let screen = CapturedScreen {
                        plain: text,
                        colored: None,
                    };
                    snapshot.screens.insert(capture.pane.to_owned(), screen);
                }
                Some((first, _)) => {
                    if let Some(screen) = snapshot.screens.get_mut(capture.pane) {
                        screen.colored = Some((first, text));
                    }
                }
            }
        }
        Ok(snapshot)
    }

    /// Lists the panes and no screens, for a first look.
    pub fn list(&mut self) -> Result<Vec<TmuxPane>, TmuxError> {
        let panes = self.panes()?;
        Ok(self.remember(panes))
    }

    fn remember(&mut self, panes: Vec<TmuxPane>) -> Vec<TmuxPane> {
        let by_id = panes.iter().map(|pane| (pane.id.clone(), pane.clone()));
        self.listed = Some((Instant::now(), by_id.collect()));
        panes
    }

    /// Returns the panes of a brief list, unless one of them is new.
    fn brought_up_to_date(&self, lines: &Lines) -> Option<Vec<TmuxPane>> {
        let (_, listed) = self.listed.as_ref()?;
        let mut known = HashSet::with_capacity(lines.count());
        let mut panes = Vec::with_capacity(lines.count());
        for brief in lines.iter().filter_map(listing::read_brief) {
            let pane = listed.get(&brief.id)?;
            if known.insert(pane.id.as_str()) {
                panes.push(brief.apply(pane));
            }
        }
        Some(panes)
    }

    /// Lists the panes of all sessions, each once. Costs about 1 ms for twelve.
    pub fn panes(&mut self) -> Result<Vec<TmuxPane>, TmuxError> {
        let lines = self.ask(&format!("list-panes -a -F '{}'", listing::format()))?;
        Ok(distinct(&lines))
    }

    /// Reads the screens of panes, without colors. `None` for a pane that has gone, was resized
    /// during the read, or imitates the protocol. Costs about 0.06 ms for each.
    pub fn screens(&mut self, panes: &[&TmuxPane]) -> Result<Vec<Option<Vec<u8>>>, TmuxError> {
        let captures = panes.iter().map(|pane| Capture::plain(pane));
        self.capture(captures.collect())
    }

    /// Reads some lines of panes with their colors, by index of the first and the last. `None` as for [`Self::screens`].
    ///
    /// Colors take tmux three times as long, so they are read where they count.
    pub fn colors(
        &mut self,
        lines: &[(&TmuxPane, usize, usize)],
    ) -> Result<Vec<Option<Vec<u8>>>, TmuxError> {
        let captures = lines
            .iter()
            .map(|(pane, first, last)| Capture::colors(pane, *first, *last));
        self.capture(captures.collect())
    }

    /// Returns whether a pane is not read because its screen imitates the protocol.
    pub fn avoids(&self, pane: &str) -> bool {
        self.avoided.contains_key(pane)
    }

    fn capture(&mut self, captures: Vec<Capture<'_>>) -> Result<Vec<Option<Vec<u8>>>, TmuxError> {
        self.avoided.retain(|_, since| since.elapsed() < AVOIDED);
        let count = captures.len();
        let (indexes, captures): (Vec<usize>, Vec<Capture<'_>>) = captures
            .into_iter()
            .enumerate()
            .filter(|(_, capture)| !self.avoided.contains_key(capture.pane))
            .unzip();
        let mut found = vec![None; count];
        if captures.is_empty() {
            return Ok(found);
        }
        let word = self.word()?;
        let mut commands = String::new();
        for capture in &captures {
            push_command(&mut commands, capture.pane, capture.colors);
        }
        push_word(&mut commands, &word);
        self.send(&commands)?;
        for (index, text) in
            indexes
                .into_iter()
                .zip(self.read_captures(&captures, &word, None, &mut |_, _| {})?)
        {
            found[index] = text;
        }
        Ok(found)
    }

    /// Reads the replies to captures, up to the word after them. `flush` is the index of the capture before which
    /// [`FLUSH`] was sent.
    fn read_captures(
        &mut self,
        captures: &[Capture<'_>],
        word: &str,
        flush: Option<usize>,
        while_reading: WhileReading<'_>,
    ) -> Result<Vec<Option<Vec<u8>>>, TmuxError> {
        let mut found = vec![None; captures.len()];
        let mut refused = HashSet::new();
        let mut suspects = Vec::new();
        for (index, capture) in captures.iter().enumerate() {
            let Capture { pane, lines, .. } = capture;
            if flush == Some(index)
                && !matches!(self.answer(Some((0, word)))?, Answer::Reply { .. })
            {
                suspects.extend(captures.get(index - 1).map(|capture| capture.pane));
                break;
            }
            match self.answer(Some((*lines, word)))? {
                Answer::Reply { is_ok: true, lines } => {
                    let text = lines.into_text();
                    if capture.colors.is_none() {
                        while_reading(pane, &text);
                    }
                    found[index] = Some(text);
                }
                Answer::Reply { is_ok: false, .. } => {
                    refused.insert(*pane);
                }
                Answer::Short => {
                    // Resized since it was listed. The replies up to the word went into its screen.
                    self.settle();
                    return Ok(found);
                }
                Answer::Stray => {
                    // The screen before, or this one, has more lines than a screen can have.
                    let before = index.checked_sub(1).and_then(|index| captures.get(index));
                    suspects.extend(before.map(|capture| capture.pane));
                    suspects.push(pane);
                    break;
                }
            }
        }
        if suspects.is_empty() {
            if self.is_word(word)? {
                self.settle();
                return Ok(found);
            }
            suspects.extend(captures.last().map(|capture| capture.pane));
        }
        // A screen can also imitate the refusal of a pane that has gone, and what follows it.
        suspects.extend(refused);
        for pane in suspects {
            self.avoided.insert(pane.to_owned(), Instant::now());
        }
        self.align()?;
        Ok(vec![None; captures.len()])
    }
}

/// Reads the lines of a list. A window that is linked to two sessions is listed twice.
fn distinct(lines: &Lines) -> Vec<TmuxPane> {
    let mut known = HashSet::with_capacity(lines.count());
    let mut panes = Vec::with_capacity(lines.count());
    for pane in lines.iter().filter_map(listing::read) {
        if known.insert(pane.id.clone()) {
            panes.push(pane);
        }
    }
    panes
}
