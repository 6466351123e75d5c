//! XML reports: JUnit's, which most test runners write, and Checkstyle's.

use roxmltree::{Document, Node};

use super::scan::{
    bare_class, class_and_message, ends_any, is_exception, mentions_any, named, on_one_line, place,
    text,
};
use crate::{Severity, finding::Finding, window::Window};

/// Longest report, in bytes.
const LONGEST: usize = 2 * 1024 * 1024;

/// Reads reports of tests and of lints.
pub(super) fn read(lines: &Window<'_>, found: &mut Vec<Finding>) {
    if !(lines.has("<testsuite") || lines.has("<checkstyle")) {
        return;
    }
    let mut at = 0;
    while at < lines.len() {
        let line = text(lines, at).trim_start();
        let is_start = line.starts_with("<testsuite")
            || line.starts_with("<checkstyle")
            || (line.starts_with("<?xml") && mentions_any(line, &["<testsuite", "<checkstyle"]));
        if !is_start {
            at += 1;
            continue;
        }
        let close = if mentions_any(line, &["<testsuites"]) {
            "</testsuites>"
        } else if mentions_any(line, &["<checkstyle"]) {
            "</checkstyle>"
        } else {
            "</testsuite>"
        };
        let mut whole = String::new();
        let mut last = at;
        for (below, line) in lines.iter().enumerate().skip(at) {
            whole.push_str(line.text());
            whole.push('\n');
            last = below;
            if line.text().contains(close) || whole.len() > LONGEST {
                break;
            }
        }
        if let Some(end) = whole.rfind('>')
            && let Ok(document) = Document::parse(&whole[..=end])
        {
            for node in document.descendants() {
                match node.tag_name().name() {
                    "failure" | "error"
                        if node
                            .parent()
                            .is_some_and(|parent| parent.has_tag_name("testcase")) =>
                    {
                        found.push(case(node, at, last));
                    }
                    "error" => found.extend(checkstyle(node, at, last)),
                    _ => {}
                }
            }
        }
        at = last + 1;
    }
}

fn case(node: Node<'_, '_>, first: usize, last: usize) -> Finding {
    let parent = node.parent();
    let suite = parent.and_then(|parent| parent.parent());
    if suite.is_some_and(|suite| suite.attribute("package") == Some("org.eslint")) {
        let line = node
            .text()
            .and_then(|text| text.trim().strip_prefix("line "))
            .and_then(super::scan::number)
            .map(|(line, _)| line);
        let message = node.attribute("message").unwrap_or_default();
        let mut finding = Finding::new(
            first,
            last,
            "LintError",
            Severity::Medium,
            on_one_line(message),
        );
        if let Some(file) = suite.and_then(|suite| suite.attribute("name")) {
            finding = finding.at(file, line);
        }
        finding.code = parent
            .and_then(|parent| parent.attribute("name"))
            .map(|name| name.trim_start_matches("org.eslint.").to_owned());
        return finding;
    }
    let attribute = |name| parent.and_then(|parent| parent.attribute(name));
    let body: String = node
        .descendants()
        .filter_map(|node| node.is_text().then(|| node.text()).flatten())
        .collect();
    let message = node.attribute("message").unwrap_or_default();
    let head = if message.trim().is_empty() {
        // PHPUnit's text starts with the name of the test.
        let name = attribute("name").unwrap_or_default();
        body.trim()
            .lines()
            .find(|line| !line.trim().is_empty() && !line.trim().ends_with(name))
            .unwrap_or_default()
    } else {
        message.trim()
    };
    // `KeyError: 'x'` in the message, else the attribute.
    let class = class_and_message(head.lines().next().unwrap_or_default())
        .map(|(class, _)| class)
        .filter(|class| is_exception(class))
        .or_else(|| {
            // Mocha's text has the class below the message.
            body.lines().find_map(|line| {
                let (class, message) = class_and_message(line.trim())?;
                (message == head.trim() && is_exception(class)).then_some(class)
            })
        })
        .or_else(|| {
            node.attribute("type")
                .and_then(bare_class)
                .filter(|class| is_exception(class))
        });
    let is_assertion = class.is_none_or(|class| {
        matches!(
            class,
            "AssertionError"
                | "AssertionFailedError"
                | "ExpectationNotMetError"
                | "ExpectationFailedException"
                | "ComparisonFailure"
        )
    });
    let is_collected = message.starts_with("collection failure");
    let name = match class {
        Some(class) if !is_assertion => named(class),
        _ if is_collected => "TestError".into(),
        _ => "TestFailure".into(),
    };
    let severity = if is_collected {
        Severity::High
    } else {
        Severity::Medium
    };
    let mut finding = Finding::new(first, last, name, severity, on_one_line(head));
    let own_line = attribute("line").and_then(|line| line.parse().ok());
    if let Some((file, line)) = body_place(&body) {
        finding = finding.at(file, line);
    } else if let Some(file) = attribute("file") {
        finding = finding.at(file, own_line);
    }
    let test = [attribute("classname"), attribute("name")];
    finding.test = Some(test.into_iter().flatten().collect::<Vec<_>>().join("::"))
        .filter(|test| !test.is_empty());
    finding
}

/// Returns the place in the text of a failure: pytest's last place, else the deepest frame of a stack.
fn body_place(body: &str) -> Option<(&str, u32)> {
    let python = body
        .lines()
        .rev()
        .filter_map(|line| {
            let (place_of, rest) = line.rsplit_once(": ").unwrap_or((line, ""));
            let is_class = rest.is_empty() || bare_class(rest).is_some();
            place(place_of)
                .filter(|(file, _)| is_class && ends_any(file, &[".py"]) && !file.contains(' '))
        })
        .find(|(file, _)| !mentions_any(file, &["site-packages/", "/lib/python"]));
    if python.is_some() {
        return python;
    }
    for line in body.lines() {
        let trimmed = line.trim();
        // `at com.acme.CartTest.total(CartTest.java:6)`, `at Object.toBe (/w/a.test.js:4:25)`, `/w/ATest.php:7`.
        let inner = trimmed
            .strip_suffix(')')
            .and_then(|line| line.rsplit_once('('))
            .map_or_else(
                || trimmed.trim_start_matches("at ").trim_start_matches("# "),
                |(_, inner)| inner,
            );
        let inner = inner.split(":in ").next().unwrap_or(inner);
        // ` ❯ Module.boom src/vlib.ts:1:35` of Vitest.
        let inner = match trimmed.strip_prefix("❯ ") {
            Some(frame) => frame.rsplit(' ').next().unwrap_or(frame),
            None => inner,
        };
        let is_library = mentions_any(
            trimmed,
            &[
                "node_modules/",
                "node:",
                "/vendor/",
                "/gems/",
                "org.junit.",
                "java.base/",
                "org.assertj.",
                "org.opentest4j.",
                "jdk.internal",
                "java.lang.",
            ],
        );
        if !is_library
            && let Some((file, line)) = place(inner)
            && !file.contains(' ')
            && file.contains('.')
        {
            return Some((file, line));
        }
    }
    None
}

fn checkstyle(node: Node<'_, '_>, first: usize, last: usize) -> Option<Finding> {
    let file = node
        .parent()
        .filter(|parent| parent.has_tag_name("file"))?
        .attribute("name")?;
    let severity = match node.attribute("severity") {
        Some("error") | None => Severity::Medium,
        _ => Severity::Low,
    };
    let line: Option<u32> = node.attribute("line").and_then(|line| line.parse().ok());
    let mut finding = Finding::new(
        first,
        last,
        "LintError",
        severity,
        on_one_line(node.attribute("message")?),
    )
    .at(file, line);
    finding.code = node.attribute("source").map(str::to_owned);
    Some(finding)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool::scan::tests::{event, findings, first};

    /// CAKE-WATCH-1: reports of JUnit, Jest and Checkstyle have their places; passing ones are quiet.
    #[test]
    fn reports_of_other_tools_are_read() {
        let text = "<?xml version=\"1.0\"?>\n<testsuite name=\"CartTest\" tests=\"1\" errors=\"1\">\n<testcase name=\"a\" classname=\"CartTest\"><error message=\"no\" type=\"java.lang.IllegalStateException\">java.lang.IllegalStateException: no\n\tat java.base/java.lang.Thread.run(Thread.java:1)\n\tat CartTest.a(CartTest.java:6)\n</error></testcase></testsuite>\n";
        assert_eq!(
            first(read, text),
            event("IllegalStateException", "CartTest.java", 6)
        );
        let text = "<checkstyle version=\"4.3\"><file name=\"/w/a.js\"><error line=\"4\" severity=\"error\" message=\"m\" source=\"eslint.rules.x\" /></file></checkstyle>\n";
        assert_eq!(first(read, text), event("LintError", "/w/a.js", 4));
        let text = "<testsuites><testsuite errors=\"0\"><testcase name=\"error\"/></testsuite></testsuites>\n";
        assert!(findings(read, text).is_empty());
    }
}
