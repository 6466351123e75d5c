//! Display of findings and failures: a message, its place in the source, a hint, in the way of
//! rustc.

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};

use crate::span::Span;

/// Whether a text is for a terminal that shows colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colours {
    /// Plain text.
    Plain,
    /// With terminal escapes.
    Styled,
}

/// Parts of a message that is to be shown.
pub(crate) struct Diagnostic<'a> {
    pub(crate) id: &'a str,
    pub(crate) message: &'a str,
    pub(crate) span: Option<Span>,
    pub(crate) hint: Option<&'a str>,
}

impl Diagnostic<'_> {
    /// Returns some lines, without a line end after the last.
    ///
    /// The library writes control characters of source and message as pictures of them.
    pub(crate) fn render(&self, source: &str, name: &str, colours: Colours) -> String {
        let title = Level::ERROR.primary_title(self.message).id(self.id);
        let mut group = match self.span {
            Some(span) => {
                let end = span.range().end.min(source.len());
                let start = span.range().start.min(end);
                title.element(
                    Snippet::source(source)
                        .path(name)
                        .annotation(AnnotationKind::Primary.span(start..end)),
                )
            }
            None => title.elements(Vec::<Snippet<'_, annotate_snippets::Annotation<'_>>>::new()),
        };
        if let Some(hint) = self.hint {
            group = group.element(Level::HELP.with_name("hint").message(hint));
        }
        let renderer = match colours {
            Colours::Plain => Renderer::plain(),
            Colours::Styled => Renderer::styled(),
        };
        renderer.render(&[group])
    }
}
