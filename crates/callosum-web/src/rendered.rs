//! [`Rendered`]: HTML that templates insert as it is.

use std::fmt;

use serde::Serialize;

use crate::markdown;

/// HTML that this crate has made. What is from elsewhere is escaped in it.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Rendered(pub(crate) String);

impl Rendered {
    /// Renders a text in Markdown.
    pub(crate) fn markdown(text: &str) -> Self {
        Self(markdown::render(text))
    }
}

impl fmt::Display for Rendered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

// It is the output of a template or of the Markdown renderer, which escape what is from elsewhere.
impl askama::filters::HtmlSafe for Rendered {}
