//! Reproducible tar files, and the archive of a release.

use std::{collections::BTreeSet, io::Write as _};

use flate2::{GzBuilder, write::GzEncoder};

use super::{Package, content::Content, content::Files, target::Target};

/// Compression level of gzip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Compression {
    /// For packages that a test unpacks at once.
    Fast,
    /// For packages that are published.
    Small,
}

/// Returns the archive: one folder with the name of the version and the target.
pub(super) fn package(
    content: &Content,
    target: &Target,
    compression: Compression,
) -> Result<Package, String> {
    let folder = format!("callosum-{}-{}", content.version, target.triple);
    let files = content.with_manifest(content.files.clone(), "archive")?;
    let tar = tar(&files, &format!("{folder}/"), content.time)?;
    Ok(Package {
        name: format!("{folder}.tar.gz"),
        bytes: gzip(&tar, compression)?,
    })
}

/// Returns a tar file of the files, each below `prefix`, and of their folders. Names are sorted, owners are root.
pub(super) fn tar(files: &Files, prefix: &str, time: u64) -> Result<Vec<u8>, String> {
    let mut builder = tar::Builder::new(Vec::new());
    let mut folders = BTreeSet::new();
    for (path, file) in files {
        let path = format!("{prefix}{path}");
        for (at, _) in path.match_indices('/') {
            let folder = &path[..=at];
            if folders.insert(folder.to_owned()) {
                let mut header = header(time, 0o755, 0);
                header.set_entry_type(tar::EntryType::Directory);
                append(&mut builder, &mut header, folder, &[])?;
            }
        }
        let mode = if file.is_program { 0o755 } else { 0o644 };
        let mut header = header(time, mode, file.bytes.len());
        append(&mut builder, &mut header, &path, &file.bytes)?;
    }
    builder.into_inner().map_err(|error| error.to_string())
}

fn header(time: u64, mode: u32, size: usize) -> tar::Header {
    let mut header = tar::Header::new_gnu();
    header.set_size(size as u64);
    header.set_mode(mode);
    header.set_mtime(time);
    header.set_uid(0);
    header.set_gid(0);
    header
}

fn append(
    builder: &mut tar::Builder<Vec<u8>>,
    header: &mut tar::Header,
    path: &str,
    bytes: &[u8],
) -> Result<(), String> {
    builder
        .append_data(header, path, bytes)
        .map_err(|error| format!("{path}: {error}"))
}

/// Compresses bytes. The result has neither a time nor a name.
pub(super) fn gzip(bytes: &[u8], compression: Compression) -> Result<Vec<u8>, String> {
    let level = match compression {
        Compression::Fast => flate2::Compression::fast(),
        Compression::Small => flate2::Compression::best(),
    };
    let mut encoder: GzEncoder<Vec<u8>> = GzBuilder::new().mtime(0).write(Vec::new(), level);
    encoder
        .write_all(bytes)
        .and_then(|()| encoder.finish())
        .map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use super::{super::content::File, *};

    fn files() -> Files {
        let mut files = Files::new();
        let is_program = true;
        let bytes = b"run".as_slice().into();
        files.insert("bin/callosum".to_owned(), File { bytes, is_program });
        let page = File::plain(b"page".as_slice());
        files.insert(format!("share/{}/page.1", "long".repeat(40)), page);
        files
    }

    #[test]
    fn a_tar_file_lists_folders_before_their_files_and_keeps_modes() {
        let bytes = tar(&files(), "top/", 1_796_000_000).unwrap();
        let mut found = Vec::new();
        for entry in tar::Archive::new(&bytes[..]).entries().unwrap() {
            let mut entry = entry.unwrap();
            let mut text = String::new();
            entry.read_to_string(&mut text).unwrap();
            let path = entry.path().unwrap().display().to_string();
            let header = entry.header();
            assert_eq!(header.mtime().unwrap(), 1_796_000_000);
            assert_eq!((header.uid().unwrap(), header.gid().unwrap()), (0, 0));
            found.push((path, header.mode().unwrap(), text));
        }
        let long = format!("top/share/{}/", "long".repeat(40));
        let folder = |path: &str| (path.to_owned(), 0o755, String::new());
        let expected = [
            folder("top/"),
            folder("top/bin/"),
            ("top/bin/callosum".to_owned(), 0o755, "run".to_owned()),
            folder("top/share/"),
            folder(&long),
            (format!("{long}page.1"), 0o644, "page".to_owned()),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn the_same_files_give_the_same_bytes() {
        let pack = || {
            let tar = tar(&files(), "", 7).unwrap();
            gzip(&tar, Compression::Small).unwrap()
        };
        let first = pack();
        assert_eq!(first, pack());
        // The time and the flags of a gzip header.
        assert_eq!(first[3..8], [0, 0, 0, 0, 0]);
    }
}
