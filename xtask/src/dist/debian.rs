//! The Debian package, written without Debian's tools: an `ar` file of two compressed tar files.

use super::{
    Package,
    archive::{Compression, gzip, tar},
    content::{Content, DOCUMENTS, File, Files, MANUALS, ZSH},
    target::Target,
};

/// Sent with the package's own reports; Debian requires an address.
const MAINTAINER: &str = "The Callosum contributors <maintainers@callosum.invalid>";

/// The folder in which Debian's zsh looks for completions of packages.
const DEBIAN_ZSH: &str = "share/zsh/vendor-completions/_callosum";

/// Purpose of the program, in lines that `dpkg --info` shows.
const DESCRIPTION: &str = "\
make coding agents work as a team
 Callosum delegates analyses of a repository to coding agents and checks the
 answers, guards the commands that agents run, and keeps decisions and tasks
 across sessions. It needs no daemon, network, model or API key.
";

/// The license page that Debian requires.
const COPYRIGHT: &str = "\
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: callosum

Files: *
Copyright: the Callosum contributors
License: MIT or AGPL-3.0-only
Comment: The texts are in LICENSE-MIT and LICENSE-AGPL in this folder. NOTICE
 names the work that Callosum extends. THIRD-PARTY-LICENSES.txt has the
 licenses of the libraries in the program.
";

pub(super) fn package(
    content: &Content,
    target: &Target,
    compression: Compression,
) -> Result<Package, String> {
    let architecture = target.debian_architecture();
    let files = content.with_manifest(installed(content, compression)?, "deb")?;
    let size: usize = files.values().map(|file| file.bytes.len()).sum();
    let mut control = Files::new();
    let text = control_text(content, architecture, size);
    control.insert("control".to_owned(), File::plain(text.into_bytes()));
    let parts = [
        ("debian-binary", b"2.0\n".to_vec()),
        (
            "control.tar.gz",
            gzip(&tar(&control, "", content.time)?, compression)?,
        ),
        (
            "data.tar.gz",
            gzip(&tar(&files, "usr/", content.time)?, compression)?,
        ),
    ];
    Ok(Package {
        name: format!("callosum_{}_{architecture}.deb", content.version),
        bytes: ar(&parts, content.time),
    })
}

/// Returns the files below `/usr`, in the places and forms that Debian's policy has for them.
fn installed(content: &Content, compression: Compression) -> Result<Files, String> {
    let mut files = Files::new();
    for (path, file) in &content.files {
        let (path, file) = if path == ZSH {
            (DEBIAN_ZSH.to_owned(), file.clone())
        } else if path.starts_with(MANUALS) {
            (
                format!("{path}.gz"),
                File::plain(gzip(&file.bytes, compression)?),
            )
        } else if path.strip_prefix(DOCUMENTS) == Some("CHANGELOG.md") {
            let changelog = gzip(&file.bytes, compression)?;
            (format!("{DOCUMENTS}changelog.gz"), File::plain(changelog))
        } else {
            (path.clone(), file.clone())
        };
        files.insert(path, file);
    }
    let copyright = File::plain(COPYRIGHT.as_bytes());
    files.insert(format!("{DOCUMENTS}copyright"), copyright);
    Ok(files)
}

/// Returns the description of the package that dpkg reads. `size` is that of its files, in bytes.
fn control_text(content: &Content, architecture: &str, size: usize) -> String {
    let mut depends = Vec::new();
    if let Some(glibc) = content.needs.glibc {
        depends.push(format!("libc6 (>= {glibc})"));
    }
    if content
        .needs
        .libraries
        .iter()
        .any(|name| name == "libgcc_s.so.1")
    {
        depends.push("libgcc-s1 | libgcc1".to_owned());
    }
    format!(
        "Package: callosum\n\
         Version: {version}\n\
         Architecture: {architecture}\n\
         Maintainer: {MAINTAINER}\n\
         Installed-Size: {kibibytes}\n\
         Depends: {depends}\n\
         Recommends: git\n\
         Section: devel\n\
         Priority: optional\n\
         Description: {DESCRIPTION}",
        // A version with a hyphen sorts before the release only if it has a tilde there.
        version = content.version.replacen('-', "~", 1),
        kibibytes = size.div_ceil(1024),
        depends = depends.join(", "),
    )
}

/// Returns an `ar` file. Each member has a header of 60 bytes and begins at an even position.
fn ar(members: &[(&str, Vec<u8>)], time: u64) -> Vec<u8> {
    let mut bytes = b"!<arch>\n".to_vec();
    for (name, content) in members {
        let header = format!(
            "{name:<16}{time:<12}{owner:<6}{group:<6}{mode:<8}{size:<10}`\n",
            owner = 0,
            group = 0,
            mode = "100644",
            size = content.len()
        );
        bytes.extend(header.as_bytes());
        bytes.extend(content);
        if content.len() % 2 == 1 {
            bytes.push(b'\n');
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_of_an_ar_file_begin_at_even_positions() {
        let bytes = ar(&[("odd", b"abc".to_vec()), ("even", b"de".to_vec())], 7);
        let text = String::from_utf8(bytes).unwrap();
        let header = |name: &str, size: u32| {
            format!("{name:<16}7           0     0     100644  {size:<10}`\n")
        };
        let expected = format!("!<arch>\n{}abc\n{}de", header("odd", 3), header("even", 2));
        assert_eq!(text, expected);
    }
}
