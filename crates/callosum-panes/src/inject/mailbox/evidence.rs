//! [`Sighting`]: one look at everything that can prove a submission, and what two of them prove. Pure.

use std::fmt;

use jiff::Timestamp;

use crate::{
    hook_event::{self, HookEvent},
    inject::{Prepared, sent::PEER_MESSAGE},
    state::State,
};

/// Letters of the words that Claude Code puts after a message.
const AFTER_MESSAGE: &str = "Thiscamefrom";

/// One look at the places where a client shows that it took a text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sighting {
    /// The last event of a hook in the session.
    pub event: Option<HookEvent>,
    /// The state in the client's own file, and since when.
    pub status: Option<(State, Option<Timestamp>)>,
    /// Number of prompts on the screen that begin like the text. `None` without a screen.
    pub mentions: Option<usize>,
}

impl fmt::Display for Sighting {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.status {
            Some((state, _)) => write!(formatter, "its session file: {state}")?,
            None => formatter.write_str("no session file")?,
        }
        match &self.event {
            Some(event) => write!(formatter, "; last hook: {}", event.event)?,
            None => formatter.write_str("; no hook")?,
        }
        match self.mentions {
            Some(_) => formatter.write_str("; no new prompt on the screen"),
            None => formatter.write_str("; no screen"),
        }
    }
}

/// Returns the proof that the client took the text between two looks, if there is one.
pub fn submission(before: &Sighting, now: &Sighting, text: &Prepared) -> Option<String> {
    if let Some(proof) = hook(before, now, text) {
        return Some(proof);
    }
    if let (Some(earlier), Some(later)) = (before.mentions, now.mentions)
        && later > earlier
    {
        return Some("the conversation has the text".to_owned());
    }
    let (earlier, since) = before.status?;
    let (later, later_since) = now.status?;
    let began = earlier.takes_prompt() && later == State::Working && later_since > since;
    began.then(|| "the client's session file went from idle to busy".to_owned())
}

/// Returns the proof that a hook of the client got the text between two looks.
///
/// A file of a hook keeps the last prompt across later events, so the same prompt as before counts only if a prompt was
/// the last event.
pub fn hook(before: &Sighting, now: &Sighting, text: &Prepared) -> Option<String> {
    let event = now.event.as_ref()?;
    let earlier = before.event.as_ref();
    let is_new = earlier.is_none_or(|earlier| event.at > earlier.at);
    let is_other = earlier.is_none_or(|earlier| earlier.last_prompt != event.last_prompt);
    let prompt = event.last_prompt.as_deref().unwrap_or_default();
    (is_new && is_text(prompt, text) && (is_other || hook_event::is_prompt(&event.event)))
        .then(|| format!("the hook {} got the text", event.event))
}

/// Whether a stored prompt is the text, alone or in the words that Claude Code puts around a message.
fn is_text(prompt: &str, text: &Prepared) -> bool {
    let Some(sent) = hook_event::stored_prompt(text.as_str()) else {
        return false;
    };
    if prompt == sent {
        return true;
    }
    let Some(rest) = prompt.strip_prefix(PEER_MESSAGE) else {
        return false;
    };
    // The stored form is one line with escapes and cut, so only letters and digits are compared.
    let letters = |text: &str| -> String {
        let text = text.replace("\\n", " ").replace("\\t", " ");
        text.chars()
            .filter(|letter| letter.is_alphanumeric())
            .collect()
    };
    let (rest, sent) = (letters(rest), letters(&sent));
    if prompt.ends_with('…') && !rest.is_empty() && sent.starts_with(&rest) {
        return true;
    }
    let after = rest.strip_prefix(&sent).filter(|_| !sent.is_empty());
    after.is_some_and(|after| after.is_empty() || after.starts_with(AFTER_MESSAGE))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inject::prepare;

    fn event(name: &str, at: i64, prompt: &str) -> HookEvent {
        HookEvent {
            client: "claude".to_owned(),
            session_id: "s1".to_owned(),
            event: name.to_owned(),
            state: hook_event::state_of(name, "").unwrap(),
            at: Timestamp::from_second(at).unwrap(),
            pid: None,
            started: None,
            cwd: None,
            last_prompt: Some(prompt.to_owned()),
        }
    }

    fn by_hook(before: impl Into<Option<HookEvent>>, now: impl Into<Option<HookEvent>>) -> bool {
        let sighting = |event| Sighting {
            event,
            ..Sighting::default()
        };
        let text = prepare("go on").unwrap();
        hook(&sighting(before.into()), &sighting(now.into()), &text).is_some()
    }

    #[test]
    fn a_hook_that_got_the_text_is_proof() {
        let prompt = event("UserPromptSubmit", 9, "go on");
        assert!(by_hook(event("Stop", 5, "fix it"), prompt.clone()));
        assert!(by_hook(event("Stop", 5, "go on"), prompt.clone()));
        assert!(by_hook(None, prompt.clone()));
        // A turn that was over before the next look.
        assert!(by_hook(
            event("Stop", 5, "fix it"),
            event("Stop", 9, "go on")
        ));
        assert!(!by_hook(prompt.clone(), prompt));
    }

    #[test]
    fn a_later_event_of_an_earlier_prompt_is_no_proof() {
        let prompt = event("UserPromptSubmit", 5, "go on");
        assert!(!by_hook(prompt.clone(), event("Stop", 9, "go on")));
        assert!(!by_hook(
            prompt,
            event("UserPromptSubmit", 9, "something else")
        ));
        assert!(!by_hook(event("Stop", 5, "fix it"), None));
    }

    #[test]
    fn the_words_around_a_message_are_known() {
        let around = |text: &str| {
            let prompt = format!(
                "Another Claude session sent a message:\n{text}\n\nThis came from another Claude session, not typed"
            );
            hook_event::stored_prompt(&prompt).unwrap()
        };
        let long = "a long text with many words ".repeat(20);
        for text in ["go on", "two\nlines", long.as_str()] {
            assert!(is_text(&around(text), &prepare(text).unwrap()), "{text}");
        }
        for (prompt, text) in [
            ("go away", "go"),
            ("go", "go on"),
            ("go away", "a long text with many words"),
        ] {
            assert!(
                !is_text(&around(prompt), &prepare(text).unwrap()),
                "{prompt}"
            );
        }
        assert!(!is_text("please go on", &prepare("go on").unwrap()));
    }

    #[test]
    fn the_screen_and_the_session_file_are_proof_if_they_changed() {
        let text = prepare("go on").unwrap();
        let at = |second| Some(Timestamp::from_second(second).unwrap());
        let idle = Sighting {
            status: Some((State::TrulyIdle, at(1))),
            mentions: Some(1),
            ..Sighting::default()
        };
        let seen = Sighting {
            mentions: Some(2),
            ..idle.clone()
        };
        let busy = Sighting {
            status: Some((State::Working, at(2))),
            ..idle.clone()
        };
        let blocked = Sighting {
            status: Some((State::BlockedOnApproval, at(2))),
            ..idle.clone()
        };
        assert!(submission(&idle, &seen, &text).is_some());
        assert!(submission(&idle, &busy, &text).is_some());
        for (before, now) in [
            (&idle, &idle),
            (&seen, &idle),
            (&busy, &busy),
            (&idle, &blocked),
            (&idle, &Sighting::default()),
        ] {
            assert_eq!(submission(before, now, &text), None);
        }
        assert_eq!(
            idle.to_string(),
            "its session file: TRULY_IDLE; no hook; no new prompt on the screen"
        );
    }
}
