//! Files that pages load: styles, scripts and the icon, all part of the program.

use sha2::{Digest as _, Sha256};
use std::sync::LazyLock;

use crate::form_token::hexadecimal;

/// A file that pages load.
#[derive(Debug)]
pub(crate) struct Asset {
    /// Name in the path.
    pub(crate) name: &'static str,
    /// Media type.
    pub(crate) kind: &'static str,
    pub(crate) content: &'static str,
}

macro_rules! asset {
    ($name:literal, $kind:literal) => {
        Asset {
            name: $name,
            kind: $kind,
            content: include_str!(concat!("../assets/", $name)),
        }
    };
}

/// All files.
pub(crate) const ASSETS: &[Asset] = &[
    asset!("page.css", "text/css; charset=utf-8"),
    asset!("page.js", "text/javascript; charset=utf-8"),
    asset!("board.js", "text/javascript; charset=utf-8"),
    asset!("forms.js", "text/javascript; charset=utf-8"),
    asset!("keys.js", "text/javascript; charset=utf-8"),
    asset!("live.js", "text/javascript; charset=utf-8"),
    asset!("morph.js", "text/javascript; charset=utf-8"),
    asset!("times.js", "text/javascript; charset=utf-8"),
    asset!("icon.svg", "image/svg+xml"),
];

/// Returns a hash of all files, which changes with each of them. It is their ETag.
pub(crate) fn version() -> &'static str {
    static VERSION: LazyLock<String> = LazyLock::new(|| {
        let mut digest = Sha256::new();
        for asset in ASSETS {
            digest.update(asset.content);
        }
        let digest = digest.finalize();
        hexadecimal(&digest[..8])
    });
    &VERSION
}
