//! [`Rendered`]: HTML that a template shows as it is.

use serde::Serialize;

use crate::markdown;

/// HTML in which this crate escaped what is from elsewhere.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Rendered(pub(crate) String);

impl Rendered {
    /// Renders Markdown of an agent.
    pub(crate) fn markdown(text: &str) -> Self {
        Self(markdown::render(text))
    }
}

impl std::fmt::Display for Rendered {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

// It comes from a template or from the renderer of Markdown, and both escape.
impl askama::filters::HtmlSafe for Rendered {}
