//! Secrets in a text: found by their form, and masked.
//!
//! Start with [`mask`]. [`Kind`] lists what is recognised; what a form alone cannot tell from a
//! hash, an id or test data is left alone, unless it is given to a name such as `password`.

mod assigned;
mod form;
mod kind;

pub use self::kind::Kind;

/// A text without its secrets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Masked {
    /// The text, each secret replaced by `[secret: kind]`.
    pub text: String,
    /// What was found, in the order of the text.
    pub found: Vec<Kind>,
}

/// Replaces each secret that it recognises by `[secret: kind]`.
///
/// Linear in the length of the text. Masking twice is masking once.
pub fn mask(text: &str) -> Masked {
    let mut secrets = form::find(text);
    secrets.extend(assigned::find(text));
    // Where two overlap, the one that begins first has the better name, and both must go.
    secrets.sort_by_key(|(at, kind)| (at.start, usize::MAX - at.end, *kind));
    let mut masked = Masked {
        text: String::with_capacity(text.len()),
        found: Vec::new(),
    };
    let mut copied = 0;
    for (at, kind) in secrets {
        if at.start < copied {
            copied = copied.max(at.end);
            continue;
        }
        masked.text.push_str(&text[copied..at.start]);
        masked.text.push_str("[secret: ");
        masked.text.push_str(kind.name());
        masked.text.push(']');
        masked.found.push(kind);
        copied = at.end;
    }
    masked.text.push_str(&text[copied..]);
    masked
}

#[cfg(test)]
mod tests;
