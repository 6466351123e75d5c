//! [`json_object`]: the JSON object in a model's reply.
//!
//! Models put prose before it and a fence around it. What is not one object is refused, and never guessed.

use thiserror::Error;

/// Error of a reply without one usable object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum JsonReplyError {
    /// The reply has no text.
    #[error("the reply is empty")]
    Empty,
    /// There is no `{` in it.
    #[error("the reply has no JSON object")]
    NoObject,
    /// The object has no end.
    #[error("the JSON object in the reply is cut off")]
    CutOff,
    /// There are several objects, so nothing says which one is meant.
    #[error("the reply has several JSON objects")]
    Several,
}

/// Returns the text of the one JSON object in a reply. Costs one pass over the reply.
pub fn json_object(reply: &str) -> Result<&str, JsonReplyError> {
    if reply.trim().is_empty() {
        return Err(JsonReplyError::Empty);
    }
    let start = reply.find('{').ok_or(JsonReplyError::NoObject)?;
    let length = object_length(&reply[start..]).ok_or(JsonReplyError::CutOff)?;
    let rest = &reply[start + length..];
    // Prose may have a brace; an object has a key.
    let has_other = rest
        .match_indices('{')
        .any(|(at, _)| rest[at + 1..].trim_start().starts_with('"'));
    if has_other {
        return Err(JsonReplyError::Several);
    }
    Ok(&reply[start..start + length])
}

/// Returns how many bytes the object at the beginning has.
fn object_length(text: &str) -> Option<usize> {
    let (mut depth, mut in_text, mut is_escaped) = (0_usize, false, false);
    for (at, byte) in text.bytes().enumerate() {
        if in_text {
            match byte {
                _ if is_escaped => is_escaped = false,
                b'\\' => is_escaped = true,
                b'"' => in_text = false,
                _ => {}
            }
            continue;
        }
        match byte {
            b'"' => in_text = true,
            b'{' => depth += 1,
            b'}' => {
                depth -= 1;
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CCOS-LLM-2: prose and fences around an object are dropped, and nothing else is guessed.
    #[test]
    fn the_object_is_found_in_prose() {
        let object = "{\"a\": \"} \\\" {\", \"b\": {\"c\": 1}}";
        for reply in [
            object.to_owned(),
            format!("Here is the plan:\n```json\n{object}\n```\nAsk me (or {{me}}) anything."),
        ] {
            assert_eq!(json_object(&reply), Ok(object));
        }
        for (reply, error) in [
            ("  \n", JsonReplyError::Empty),
            ("I cannot do that.", JsonReplyError::NoObject),
            (
                "{\"version\": \"1.0\", \"plan_source\": \"(def",
                JsonReplyError::CutOff,
            ),
            ("{\"a\": 1} {\"a\": 2}", JsonReplyError::Several),
        ] {
            assert_eq!(json_object(reply), Err(error), "{reply}");
        }
    }
}
