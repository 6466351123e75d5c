//! [`Form`]: the fields that a browser posts, read strictly.

/// Most characters of a field that a person types.
const LONGEST: usize = 64 * 1024;

/// Fields of a form.
#[derive(Clone, Debug, Default)]
pub(crate) struct Form(Vec<(String, String)>);

/// Reason for refusing a form.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum BadForm {
    /// The view has no such action.
    #[error("the page has no action `{0}`")]
    Action(String),
    /// A field is missing or empty.
    #[error("`{0}` is missing")]
    Missing(&'static str),
    /// A field occurs twice.
    #[error("`{0}` is given twice")]
    Twice(&'static str),
    /// A field is longer than allowed.
    #[error("`{0}` is too long (limit: 65,536 characters)")]
    TooLong(&'static str),
    /// A field has another value than the page offers.
    #[error("`{field}` is `{value}`; allowed: {allowed}")]
    Value {
        /// The field.
        field: &'static str,
        /// Its value.
        value: String,
        /// The values that the page offers.
        allowed: &'static str,
    },
}

impl Form {
    pub(crate) fn new(pairs: Vec<(String, String)>) -> Self {
        Self(pairs)
    }

    /// Returns a field that may be missing; `None` if it is missing or empty.
    pub(crate) fn optional(&self, name: &'static str) -> Result<Option<&str>, BadForm> {
        let mut found = self.0.iter().filter(|(key, _)| key == name);
        match (found.next(), found.next()) {
            (_, Some(_)) => Err(BadForm::Twice(name)),
            (Some((_, value)), None) if value.chars().count() > LONGEST => {
                Err(BadForm::TooLong(name))
            }
            (Some((_, value)), None) if !value.trim().is_empty() => Ok(Some(value)),
            _ => Ok(None),
        }
    }

    /// Returns a field that must be there.
    pub(crate) fn required(&self, name: &'static str) -> Result<&str, BadForm> {
        self.optional(name)?.ok_or(BadForm::Missing(name))
    }

    /// Returns a field that must be one of some words.
    pub(crate) fn one_of(
        &self,
        name: &'static str,
        words: &[&'static str],
        allowed: &'static str,
    ) -> Result<&'static str, BadForm> {
        let value = self.required(name)?;
        let found = words.iter().find(|&&word| word == value);
        found.copied().ok_or_else(|| BadForm::Value {
            field: name,
            value: value.to_owned(),
            allowed,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_read_strictly() {
        let pair = |key: &str, value: &str| (key.to_owned(), value.to_owned());
        let form = Form::new(vec![
            pair("to", "codex"),
            pair("empty", " "),
            pair("twice", "a"),
            pair("twice", "b"),
            pair("long", &"x".repeat(LONGEST + 1)),
        ]);
        assert_eq!(form.required("to"), Ok("codex"));
        assert_eq!(form.required("empty"), Err(BadForm::Missing("empty")));
        assert_eq!(form.optional("other"), Ok(None));
        assert_eq!(form.optional("twice"), Err(BadForm::Twice("twice")));
        assert_eq!(form.required("long"), Err(BadForm::TooLong("long")));
        assert_eq!(form.one_of("to", &["codex"], "codex"), Ok("codex"));
        assert!(form.one_of("to", &["claude"], "claude").is_err());
    }
}
