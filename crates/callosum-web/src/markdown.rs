//! Markdown of agents, rendered as HTML that runs nothing and loads nothing.

use pulldown_cmark::{CowStr, Event, HeadingLevel, Options, Parser, Tag, TagEnd, html};

/// Most bytes of a text that are rendered.
const LONGEST: usize = 256 * 1024;

/// Returns the level that a heading has on a page, whose own headings take the first two.
fn below(level: HeadingLevel) -> HeadingLevel {
    match level {
        HeadingLevel::H1 => HeadingLevel::H3,
        HeadingLevel::H2 => HeadingLevel::H4,
        HeadingLevel::H3 => HeadingLevel::H5,
        HeadingLevel::H4 | HeadingLevel::H5 | HeadingLevel::H6 => HeadingLevel::H6,
    }
}

/// Renders Markdown. HTML in it is shown as text, an image as its description, and a link leads only to `http` and `https`.
pub(crate) fn render(text: &str) -> String {
    let end = text.floor_char_boundary(LONGEST.min(text.len()));
    let mut links: Vec<bool> = Vec::new();
    let options =
        Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let events = Parser::new_ext(&text[..end], options).filter_map(|event| match event {
        Event::Html(html) | Event::InlineHtml(html) => Some(Event::Text(html)),
        Event::Start(Tag::Image { .. }) => Some(Event::Text(CowStr::Borrowed("[image: "))),
        Event::End(TagEnd::Image) => Some(Event::Text(CowStr::Borrowed("]"))),
        Event::Start(Tag::Link { ref dest_url, .. }) => {
            let is_web = dest_url.starts_with("https://") || dest_url.starts_with("http://");
            links.push(is_web);
            is_web.then_some(event)
        }
        Event::End(TagEnd::Link) => links.pop().unwrap_or(false).then_some(event),
        Event::Start(Tag::Heading {
            level,
            id,
            classes,
            attrs,
        }) => Some(Event::Start(Tag::Heading {
            level: below(level),
            id,
            classes,
            attrs,
        })),
        Event::End(TagEnd::Heading(level)) => Some(Event::End(TagEnd::Heading(below(level)))),
        event => Some(event),
    });
    let mut rendered = String::new();
    html::push_html(&mut rendered, events);
    rendered
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn nothing_in_markdown_runs_or_loads() {
        let rendered = render(
            "# A <b>title</b>\n<script>alert(1)</script>\n![x](http://evil.example/a.png) \
             [bad](javascript:alert(1)) [good](https://example.com)\n\n`code`",
        );
        assert!(rendered.contains("&lt;script&gt;"), "{rendered}");
        for wrong in ["<script", "<b>", "<img", "javascript:"] {
            assert!(!rendered.contains(wrong), "{wrong}: {rendered}");
        }
        assert!(
            rendered.contains("<a href=\"https://example.com\">good</a>"),
            "{rendered}"
        );
        assert!(rendered.contains("<code>code</code>"), "{rendered}");
        assert!(rendered.starts_with("<h3>A &lt;b&gt;title"), "{rendered}");
    }

    proptest! {
        #[test]
        fn no_text_makes_an_element_that_loads(text in "[-<>a-z\"'=()\\[\\]!:/ `#\n]{0,80}") {
            let rendered = render(&format!("{text}<script>{text}"));
            prop_assert!(!rendered.contains("<script") && !rendered.contains("<img"));
        }
    }
}
