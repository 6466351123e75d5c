//! [`proposals`]: parses the output of `ck --jsonl`.

use std::path::Path;

use callosum_search::Proposal;
use callosum_source::walk::RelativePath;
use serde::Deserialize;

/// A line of its output. Other fields are ignored.
#[derive(Deserialize)]
struct Hit {
    path: String,
    span: Span,
}

#[derive(Deserialize)]
struct Span {
    line_start: u32,
    line_end: u32,
}

/// The hits within a tree, in their order; what leads out of it is left out.
///
/// Fails with the number of the first line that is none. Half of an answer is none: its order would say
/// something else.
pub fn proposals(printed: &[u8], tree: &Path) -> Result<Vec<Proposal>, usize> {
    let mut all = Vec::new();
    for (number, line) in (1_usize..).zip(printed.split(|byte| *byte == b'\n')) {
        if line.trim_ascii().is_empty() {
            continue;
        }
        let hit: Hit = serde_json::from_slice(line).map_err(|_| number)?;
        let written = Path::new(&hit.path);
        let within = written.strip_prefix(tree).unwrap_or(written).to_str();
        let Some(path) = within.and_then(|path| RelativePath::parse(path).ok()) else {
            continue;
        };
        let first = hit.span.line_start.max(1);
        all.push(Proposal {
            path: path.to_string(),
            first,
            last: hit.span.line_end.max(first),
        });
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(printed: &str) -> Result<Vec<String>, usize> {
        let read = proposals(printed.as_bytes(), Path::new("/projects/tree"))?;
        let place = |it: Proposal| format!("{}:{}-{}", it.path, it.first, it.last);
        Ok(read.into_iter().map(place).collect())
    }

    #[test]
    fn paths_are_relative_to_the_tree() {
        let line = |path: &str, first: u32, last: u32| {
            format!(
                "{{\"path\":\"{path}\",\"span\":{{\"byte_start\":0,\"byte_end\":9,\
                 \"line_start\":{first},\"line_end\":{last}}},\"language\":\"rust\",\"score\":0.03}}\n"
            )
        };
        let printed = [
            line("./src/a.rs", 3, 7),
            line("/projects/tree/b.md", 0, 0),
            line("../c.md", 1, 1),
            line("/etc/passwd", 1, 1),
            line("d.md", 9, 2),
        ];
        assert_eq!(
            places(&printed.concat()).unwrap(),
            ["src/a.rs:3-7", "b.md:1-1", "d.md:9-9"]
        );
        assert_eq!(places("\n"), Ok(Vec::new()));
    }

    #[test]
    fn a_line_that_is_no_hit_is_named_by_its_number() {
        let good = "{\"path\":\"a\",\"span\":{\"line_start\":1,\"line_end\":1}}\n";
        for wrong in ["no", "{}", "[]", "{\"path\":\"a\"}", "{\"path\":", "\u{0}"] {
            assert_eq!(places(&format!("{good}{wrong}")), Err(2), "{wrong}");
        }
        let negative = good.replace("\"line_end\":1", "\"line_end\":-1");
        assert_eq!(places(&negative), Err(1));
    }
}
