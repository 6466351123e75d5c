//! [`folder`]: the folder that a client says it works in.
//!
//! A server is started in its client's folder, as a rule. A client with roots may name another one;
//! the first that is a folder of this machine counts.

use std::{
    ffi::OsString,
    os::unix::ffi::OsStringExt as _,
    path::{Path, PathBuf},
};

use percent_encoding::percent_decode_str;

/// Scheme of a root's address.
const SCHEME: &str = "file://";

/// The folder among these roots, each an address as the protocol has it.
pub(super) fn folder<'r>(roots: impl IntoIterator<Item = &'r str>) -> Option<PathBuf> {
    roots.into_iter().find_map(path)
}

/// The path of an address; `None` where it is none of this machine.
fn path(address: &str) -> Option<PathBuf> {
    let rest = address.strip_prefix(SCHEME)?;
    let rest = rest.strip_prefix("localhost").unwrap_or(rest);
    let path = PathBuf::from(OsString::from_vec(decoded(rest)?));
    let is_plain = path.is_absolute() && !path.as_os_str().as_encoded_bytes().contains(&0);
    is_plain.then(|| without_end(&path))
}

/// Without the slash that some clients put at the end.
fn without_end(path: &Path) -> PathBuf {
    path.components().collect()
}

/// Decodes a percent-encoded text, unless a `%` begins no escape.
fn decoded(text: &str) -> Option<Vec<u8>> {
    // The library leaves such a `%` as it is.
    let is_escape = |rest: &str| {
        let digits = rest.as_bytes().first_chunk::<2>();
        digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
    };
    let is_valid = text.split('%').skip(1).all(is_escape);
    is_valid.then(|| percent_decode_str(text).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_root_that_is_a_folder_of_this_machine_counts() {
        for (roots, expected) in [
            (&["file:///a/b"][..], Some("/a/b")),
            (&["file:///a%20b/%C3%A9/"], Some("/a b/é")),
            (&["file://localhost/a"], Some("/a")),
            (&["https://a/b", "file:///second"], Some("/second")),
            (&["file://elsewhere/a"], None),
            (&["file:///a%2"], None),
            (&["file:///a%%41"], None),
            (&["file:///a%00b"], None),
            (&["/plain"], None),
            (&[], None),
        ] {
            let found = folder(roots.iter().copied());
            assert_eq!(found.as_deref(), expected.map(Path::new), "{roots:?}");
        }
    }
}
