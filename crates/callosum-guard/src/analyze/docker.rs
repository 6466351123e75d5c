//! The command line of `docker` and its like: the place of the image, and the folders of this machine that are mounted.
//!
//! Words behind the image belong to the program in the container. `docker run app ls -v` mounts nothing. Start with
//! [`image_at`] and [`Mounts::read`].

use super::{
    call::{Call, Write},
    value::{self, Arg},
};
use crate::{path, program_names::DELETERS};

/// The programs that read their words like this.
pub(crate) const NAMES: [&str; 5] = [
    "docker",
    "podman",
    "nerdctl",
    "docker-compose",
    "podman-compose",
];

/// Options before the verb that take the next word.
const TAKES: [&str; 19] = [
    "-H",
    "--host",
    "-c",
    "--context",
    "--config",
    "-l",
    "--log-level",
    "--tlscacert",
    "--tlscert",
    "--tlskey",
    "-f",
    "--file",
    "-p",
    "--project-name",
    "--profile",
    "--env-file",
    "--project-directory",
    "--ansi",
    "--progress",
];

/// Options of `run`, `create` and `exec` that take no word. All others do, so that what is mounted is never missed.
const FLAGS: [&str; 37] = [
    "--detach",
    "--interactive",
    "--tty",
    "--publish-all",
    "--quiet",
    "--rm",
    "--init",
    "--privileged",
    "--read-only",
    "--no-healthcheck",
    "--oom-kill-disable",
    "--sig-proxy",
    "--disable-content-trust",
    "--use-api-socket",
    "--replace",
    "--rmi",
    "--tls-verify",
    "--no-hosts",
    "--no-hostname",
    "--env-host",
    "--http-proxy",
    "--read-only-tmpfs",
    "--latest",
    "--passwd",
    "--build",
    "--no-deps",
    "--no-TTY",
    "--no-tty",
    "--service-ports",
    "--use-aliases",
    "--quiet-pull",
    "--quiet-build",
    "--remove-orphans",
    "--all",
    "--help",
    "--all-tags",
    "--no-trunc",
];

/// The same as letters.
const FLAG_LETTERS: &str = "ditPTq";

/// The place of all paths in a container that are no files of this machine: a temporary one, so that they are free.
const NOWHERE: &str = "/tmp/callosum-container";

/// Returns the position of `run`, `create` or `exec`, and whether it is one of `compose`.
pub(crate) fn verb_at(words: &[Arg]) -> Option<(usize, bool)> {
    let text = |at: usize| words.get(at).map(|word| word.text.as_str());
    let name = path::name(text(0)?);
    if !NAMES.contains(&name) {
        return None;
    }
    let mut is_of_compose = name.ends_with("-compose");
    let mut at = 1;
    loop {
        match text(at)? {
            option if option.starts_with('-') => at += 1 + usize::from(TAKES.contains(&option)),
            "container" => at += 1,
            "compose" => {
                is_of_compose = true;
                at += 1;
            }
            "run" | "create" | "exec" => return Some((at, is_of_compose)),
            _ => return None,
        }
    }
}

/// Returns the position of the image or the container that `run`, `create` or `exec` is about.
pub(crate) fn image_at(words: &[Arg]) -> Option<usize> {
    let (verb, _) = verb_at(words)?;
    // `docker compose create` starts services, and runs nothing in them.
    let mut at = verb + 1;
    loop {
        let text = words.get(at)?.text.as_str();
        if text == "--" {
            return words.get(at + 1).map(|_| at + 1);
        }
        if !text.starts_with('-') || text == "-" {
            return Some(at);
        }
        at += 1 + usize::from(takes_next(text));
    }
}

/// Returns whether an option of `run`, `create` or `exec` takes the next word.
fn takes_next(option: &str) -> bool {
    if option.starts_with("--") {
        return !option.contains('=') && !FLAGS.contains(&option);
    }
    let letters = &option[1..];
    let taking = letters.find(|letter| !FLAG_LETTERS.contains(letter));
    taking.is_some_and(|at| letters[at..].chars().count() == 1)
}

/// A folder of this machine in a container.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Mount {
    inside: String,
    /// `None` if it is a volume or can only be read.
    host: Option<String>,
    is_volume: bool,
}

/// The folders that a container is given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Mounts {
    all: Vec<Mount>,
    /// Whether the container has no others.
    is_whole: bool,
}

impl Mounts {
    /// Reads the options between the verb and the image. `absolute` resolves a path on this machine.
    pub(crate) fn read(options: &[Arg], is_new: bool, absolute: impl Fn(&str) -> String) -> Mounts {
        let mut mounts = Mounts {
            all: Vec::new(),
            is_whole: is_new,
        };
        let mut words = options.iter().map(|word| word.text.as_str());
        while let Some(word) = words.next() {
            let (name, joined) = match word.split_once('=') {
                Some((name, value)) => (name, Some(value)),
                None => (word, None),
            };
            match name {
                "--volume" | "--mount" => {
                    let Some(value) = joined.or_else(|| words.next()) else {
                        break;
                    };
                    mounts.add(value, name == "--mount", &absolute);
                }
                "--volumes-from" | "--privileged" | "--device" => mounts.is_whole = false,
                _ if name.starts_with("--") || !name.starts_with('-') => {}
                // `-v A:B`, `-vA:B`, `-itv A:B`
                _ => {
                    let letters = &word[1..];
                    let taking = letters.find(|letter| !FLAG_LETTERS.contains(letter));
                    let Some(at) = taking else { continue };
                    let value = &letters[at..];
                    let is_volume = value.starts_with('v');
                    let rest = value.get(1..).unwrap_or("");
                    let value = match rest.strip_prefix('=').unwrap_or(rest) {
                        "" => words.next(),
                        rest => Some(rest),
                    };
                    if let Some(value) = value.filter(|_| is_volume) {
                        mounts.add(value, false, &absolute);
                    }
                }
            }
        }
        mounts
    }

    fn add(&mut self, value: &str, by_fields: bool, absolute: &impl Fn(&str) -> String) {
        let (source, inside, can_only_read) = if by_fields {
            let field = |names: &[&str]| {
                value.split(',').find_map(|field| {
                    let (name, value) = field.split_once('=')?;
                    names.contains(&name).then_some(value)
                })
            };
            let reads = value
                .split(',')
                .any(|field| matches!(field, "readonly" | "ro" | "readonly=true" | "ro=true"));
            let inside = field(&["target", "dst", "destination"]);
            (field(&["source", "src"]), inside, reads)
        } else {
            let mut parts = value.split(':');
            let (first, second) = (parts.next(), parts.next());
            let reads = parts.any(|options| options.split(',').any(|one| one == "ro"));
            match second {
                Some(second) => (first, Some(second), reads),
                None => (None, first, reads),
            }
        };
        let Some(inside) = inside else { return };
        let is_path = |source: &&str| {
            source.contains('/') || source.starts_with(['.', '~']) || { !value::is_known(source) }
        };
        let host = source.filter(is_path);
        self.all.push(Mount {
            inside: path::absolute(inside, Some("/")),
            is_volume: host.is_none(),
            host: host.filter(|_| !can_only_read).map(absolute),
        });
    }

    /// Returns whether nothing is known of what the container is given.
    pub(crate) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Rewrites the paths of a command in the container to those on this machine. If it reaches a
    /// folder of this machine, it counts as a command that runs here.
    pub(crate) fn lead_out(&self, mut call: Call) -> Call {
        let takes_all = DELETERS.contains(&call.name.as_str());
        let mut reaches = false;
        let mut mapped = |text: &str, takes_all: bool| {
            let (text, is_ours) = self.mapped(text, takes_all)?;
            reaches |= is_ours;
            Some(text)
        };
        if let Some(cwd) = call.cwd.take() {
            call.cwd = Some(mapped(&cwd, false).unwrap_or(cwd));
        }
        for word in call.words.iter_mut().skip(1) {
            let start = match word.text.find('=') {
                Some(at) if !word.text.starts_with('/') => at + 1,
                _ => 0,
            };
            if let Some(path) = mapped(&word.text[start..], takes_all) {
                word.text.replace_range(start.., &path);
            }
        }
        for Write { path, .. } in &mut call.writes {
            if let Some(mapped) = mapped(path, false) {
                *path = mapped;
            }
        }
        call.elsewhere &= !reaches;
        call
    }

    /// Returns the path on this machine for an absolute path of the container, and whether that is
    /// a mounted folder. `None` if the path stays as it is.
    fn mapped(&self, text: &str, takes_all: bool) -> Option<(String, bool)> {
        if !text.starts_with('/') {
            return None;
        }
        let absolute = path::absolute(text, Some("/"));
        let slash = if text.len() > 1 && text.ends_with('/') {
            "/"
        } else {
            ""
        };
        // The innermost mount counts.
        let holding = self
            .all
            .iter()
            .filter(|mount| path::is_within(&absolute, &mount.inside));
        if let Some(mount) = holding.max_by_key(|mount| mount.inside.len()) {
            if mount.is_volume {
                return None;
            }
            if let Some(host) = &mount.host {
                let rest =
                    absolute[mount.inside.trim_end_matches('/').len()..].trim_end_matches('/');
                return Some((format!("{host}{rest}{slash}"), true));
            }
        } else {
            // `rm -rf /` takes what is mounted below it along.
            let folder = absolute.trim_end_matches(['*', '/']);
            let folder = if folder.is_empty() { "/" } else { folder };
            let mut below = self
                .all
                .iter()
                .filter(|mount| path::is_within(&mount.inside, folder));
            if takes_all && let Some(host) = below.find_map(|mount| mount.host.clone()) {
                return Some((host, true));
            }
        }
        self.is_whole
            .then(|| (format!("{NOWHERE}{absolute}{slash}"), false))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<Arg> {
        line.split(' ').map(Arg::plain).collect()
    }

    /// CAKE-SHIM-1: the image is found behind options of any kind.
    #[test]
    fn the_image_is_found() {
        for (line, image) in [
            ("docker run --rm -it -v /a:/b alpine rm -v", Some("alpine")),
            ("docker run --shm-size 1g --gpus all app", Some("app")),
            ("docker run -itv /a:/b app -v x", Some("app")),
            ("docker --context far container run -d app", Some("app")),
            (
                "podman run --userns=keep-id --replace --name x app",
                Some("app"),
            ),
            (
                "docker compose -f a.yml run --rm -e A=1 web sh",
                Some("web"),
            ),
            ("docker exec -u root web ls", Some("web")),
            ("docker rm -v web", None),
            ("docker volume create run", None),
            ("ls run", None),
        ] {
            let words = words(line);
            let found = image_at(&words).map(|at| words[at].text.as_str());
            assert_eq!(found, image, "{line}");
        }
    }

    /// CAKE-SHIM-1: a path in a container is one on this machine if it is in a mount.
    #[test]
    fn paths_lead_out_by_what_is_mounted() {
        let options = words("-v /p:/w -v /q:/w/q:ro --mount type=bind,src=/r,dst=/s -vdata:/d -it");
        let mounts = Mounts::read(&options, true, str::to_owned);
        for (path, leads) in [
            ("/w", Some("/p")),
            ("/w/a/*", Some("/p/a/*")),
            ("/w/", Some("/p/")),
            ("/s/a", Some("/r/a")),
            ("/w/q/a", Some("/tmp/callosum-container/w/q/a")),
            ("/etc", Some("/tmp/callosum-container/etc")),
            ("/d/a", None),
            ("a", None),
        ] {
            let found = mounts.mapped(path, false).map(|(path, _)| path);
            assert_eq!(found.as_deref(), leads, "{path}");
        }
        assert_eq!(mounts.mapped("/*", true), Some(("/p".to_owned(), true)));
        let of_service = Mounts::read(&options[..2], false, str::to_owned);
        assert_eq!(of_service.mapped("/etc", false), None);
    }
}
