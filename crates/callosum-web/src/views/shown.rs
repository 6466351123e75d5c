//! [`Shown`]: a view as tests look at it, and texts that a page must make harmless.

use serde_json::Value;

use crate::test_site::TestSite;

/// Text that a page must escape or make harmless in every field.
pub(crate) const HOSTILE: &str =
    "</td><script>alert(1)</script><img src=x onerror=alert(1)>\" ' & \u{202e}txt.exe \u{1b}[31m";

/// The same for a query of the address.
pub(crate) const HOSTILE_QUERY: &str = "</title><script>alert(1)</script>\" ' &";

/// An action, its fields, and the arguments that they mean.
pub(crate) type ActionCase = (
    &'static str,
    &'static [(&'static str, &'static str)],
    &'static [&'static str],
);

/// A view of a [`TestSite`].
pub(crate) struct Shown {
    pub(crate) html: String,
    pub(crate) json: Value,
    /// Failures above the view.
    pub(crate) faults: Vec<String>,
    /// Commands that ran for it, without quotes.
    pub(crate) asked: Vec<String>,
}

impl Shown {
    /// Renders a view, and checks that it has no text that a browser would take for an element of its own.
    pub(crate) fn of(site: &TestSite, view: &str, query: &[(&str, &str)]) -> Self {
        let before = site.lines().len();
        let html = site.html(view, query);
        let asked = site.lines().split_off(before);
        let (json, faults) = site.json(view, query);
        for wrong in ["<script>", "<img src=x", "\u{202e}", "\u{1b}"] {
            assert!(!html.contains(wrong), "{wrong}:\n{html}");
        }
        Self {
            html,
            json,
            faults,
            asked,
        }
    }

    /// Whether the HTML has a text.
    pub(crate) fn has(&self, text: &str) -> bool {
        self.html.contains(text)
    }
}
