//! Other machines and containers: commands there do not run on files of this machine.

use std::rc::Rc;

use super::{environments::entry_of, joined};
use crate::analyze::{
    docker::{self, Mounts},
    evaluator::Evaluator,
    value::{Arg, Value},
    wrapper_table::{self, first_operand},
};

/// Command lines of services that run a text on another machine: the program, the words that must
/// be there, and the options behind which the text comes.
const REMOTE: &[(&[&str], &[&str], &[&str])] = &[
    (&["gcloud"], &["ssh"], &["--command"]),
    (&["aws"], &["execute-command"], &["--command"]),
    (&["aws"], &["send-command"], &["--parameters"]),
    (&["aws"], &["start-session"], &["--parameters"]),
    (&["az"], &["run-command"], &["--scripts"]),
    (&["az"], &["exec"], &["--exec-command", "--command"]),
    (&["vagrant"], &["ssh"], &["-c", "--command"]),
    (
        &["fly", "flyctl"],
        &["ssh", "console"],
        &["-C", "--command"],
    ),
    (&["eb"], &["ssh"], &["-c", "--command"]),
    (&["doctl"], &["ssh"], &["--ssh-command"]),
    (&["cf"], &["ssh"], &["-c", "--command"]),
    (&["cf"], &["run-task"], &["-c", "--command"]),
];

/// Those that take it as words, behind what must be there and so many more.
const REMOTE_WORDS: &[(&[&str], &[&str], usize)] = &[
    (&["kamal"], &["app", "exec"], 0),
    (&["dokku"], &["run"], 1),
    (&["fly", "flyctl"], &["machine", "exec"], 1),
    (&["minikube", "colima", "docker-machine"], &["ssh"], 0),
    (&["oc"], &["rsh"], 1),
    (&["knife"], &["ssh"], 1),
];

impl Evaluator<'_> {
    /// Follows the command that a service's command line runs on a machine of its own; `None` if it
    /// runs nothing.
    pub(super) fn remote(&mut self, name: &str, words: &[Arg]) -> Option<Value> {
        let has = |wanted: &[&str]| {
            wanted
                .iter()
                .all(|one| words.iter().skip(1).any(|word| word.text == *one))
        };
        let mut texts: Vec<String> = Vec::new();
        for (programs, verbs, options) in REMOTE {
            if !programs.contains(&name) || !has(verbs) {
                continue;
            }
            for (at, word) in words.iter().enumerate() {
                let same = options.iter().find_map(|option| {
                    word.text
                        .strip_prefix(option)?
                        .strip_prefix('=')
                        .map(str::to_owned)
                });
                let next = options.contains(&word.text.as_str());
                let next = words
                    .get(at + 1)
                    .filter(|_| next)
                    .map(|word| word.text.clone());
                texts.extend(same.or(next).iter().flat_map(|text| listed(text)));
            }
        }
        for (programs, verbs, skipped) in REMOTE_WORDS {
            if !programs.contains(&name) || !has(verbs) {
                continue;
            }
            let last = verbs.last().copied().unwrap_or("");
            let at = words.iter().position(|word| word.text == last)? + 1;
            let at = first_operand(
                words,
                at,
                "-H --host --roles -p --profile -a --app --container",
            );
            let rest = words.get(at + skipped..).unwrap_or_default();
            let rest = rest.strip_prefix(&[Arg::plain("--")]).unwrap_or(rest);
            if !rest.is_empty() {
                texts.push(joined(rest).text);
            }
        }
        if texts.is_empty() {
            return None;
        }
        for text in texts {
            self.elsewhere(|walker| walker.under(name, |walker| walker.text(&text, None)));
        }
        Some(Value::unknown())
    }

    pub(super) fn ssh(&mut self, name: &str, words: &[Arg], input: Option<&Value>) -> Value {
        if name == "sshpass" {
            let at = first_operand(words, 1, "-p -f -d -P");
            return self.inner(name, words.get(at..).unwrap_or_default(), input);
        }
        const TAKES: &str = "-B -b -c -D -E -e -F -I -i -J -L -l -m -O -o -P -p -Q -R -S -W -w";
        self.proxied(words);
        let host = first_operand(words, 1, TAKES);
        let at = first_operand(words, host + 1, TAKES).min(words.len());
        // A tunnel runs nothing there, and a background connection reads nothing.
        let mut own = words[1..host.min(words.len())].iter();
        let reads_nothing = own.any(|word| {
            let letters = word.text.strip_prefix('-').unwrap_or("").chars();
            // Text behind the letter of an option with a value is no option: `-ladmin`.
            let takes = |letter: &char| TAKES.contains(&format!("-{letter}"));
            let mut letters = letters.take_while(|letter| !takes(letter));
            letters.any(|letter| matches!(letter, 'N' | 'n' | 'f'))
        });
        let input = input.filter(|_| !reads_nothing);
        let text = match (at < words.len(), input) {
            (true, _) => joined(&words[at..]).text,
            (false, Some(input)) => input.text.clone(),
            (false, None) => return Value::unknown(),
        };
        self.elsewhere(|walker| walker.under(name, |walker| walker.text(&text, input)))
    }

    /// Follows the command by which `ssh`, or a program that builds on it, reaches the other
    /// machine.
    pub(super) fn proxied(&mut self, words: &[Arg]) {
        for (at, word) in words.iter().enumerate() {
            let option = match word.text.strip_prefix("-o") {
                Some("") => words.get(at + 1).map_or("", |word| word.text.as_str()),
                Some(option) => option,
                None => continue,
            };
            let (name, command) = option.trim().split_once(['=', ' ']).unwrap_or(("", ""));
            if matches!(
                name.to_ascii_lowercase().as_str(),
                "proxycommand" | "localcommand" | "knownhostscommand"
            ) {
                let text = command.trim_start_matches(['=', ' ']).to_owned();
                self.nested("ssh -o", &text, None);
            }
        }
    }

    pub(super) fn container(&mut self, words: &[Arg], input: Option<&Value>) -> Value {
        const TAKES: &str = "-e -u -w -n -c -v -p -h -f -l -m --env --user --workdir --namespace --container --volume --name --network --mount --entrypoint --context --env-file --publish --hostname --file --project-name --cpus --memory --pid --cap-add --cap-drop --device --platform --label --add-host --security-opt --tmpfs --ulimit --restart --runtime --gpus --image --kubeconfig --as --cluster --server --link --dns --ipc --userns --log-driver --shm-size --pull --service -H --host --config --log-level --profile --index --detach-keys --restart-policy";
        let verb = words
            .iter()
            .position(|word| matches!(word.text.as_str(), "exec" | "run" | "create" | "debug"));
        let Some(verb) = verb else {
            return self.output_of("", words, input);
        };
        // In a cluster, options behind a target's name may select it; words behind an image are the
        // program's.
        let is_of_cluster = matches!(crate::path::name(&words[0].text), "kubectl" | "oc");
        let explicit = words.iter().position(|word| word.text == "--");
        let image_at = docker::image_at(words);
        let verb = docker::verb_at(words).map_or(verb, |(verb, _)| verb);
        let target = image_at.unwrap_or_else(|| first_operand(words, verb + 1, TAKES));
        let at = match explicit {
            Some(at) if at > verb && image_at.is_none() => at + 1,
            _ => {
                let mut at = target + 1;
                // `kubectl exec POD -c NAME CMD`
                while is_of_cluster && words.get(at).is_some_and(|word| word.text.starts_with('-'))
                {
                    at += 1 + usize::from(wrapper_table::takes_next(&words[at].text, TAKES));
                }
                at
            }
        };
        let inner = words.get(at..).unwrap_or_default().to_vec();
        // What a service is made of, and what a cluster has, is reached from a new one of it as well.
        let is_within = words[..verb].iter().any(|word| word.text == "compose")
            || words[0].text.ends_with("-compose")
            || is_of_cluster;
        let fresh = !is_within && matches!(words[verb].text.as_str(), "run" | "create");
        let own = words.get(..=target).unwrap_or(words);
        let entry = own
            .iter()
            .position(|word| word.text == "--entrypoint")
            .and_then(|at| words.get(at + 1).cloned())
            .or_else(|| {
                own.iter()
                    .find_map(|word| word.text.strip_prefix("--entrypoint=").map(Arg::plain))
            });
        let options = words.get(verb + 1..target).unwrap_or_default();
        let is_run = image_at.is_some() && matches!(words[verb].text.as_str(), "run" | "create");
        let mounts = is_run.then(|| Mounts::read(options, fresh, |path| self.state.absolute(path)));
        let mounts = mounts.filter(|mounts| !mounts.is_empty());
        // Changes of a new container to itself end with it, unless it is given a folder of this
        // machine.
        let shares = mounts.is_some()
            || own
                .iter()
                .any(|word| word.text == "--privileged" || word.text.starts_with("--volumes-from"));
        let image = words.get(target).map_or("", |word| word.text.as_str());
        let entry_of_image = entry_of(image).filter(|_| fresh && entry.is_none());
        if fresh && !shares && !entry_of_image.is_some_and(|(_, reaches_out)| reaches_out) {
            return Value::unknown();
        }
        let mut whole: Vec<Arg> = entry.into_iter().collect();
        whole.extend(entry_of_image.map(|(program, _)| Arg::plain(program)));
        whole.extend(inner);
        let given = given_variables(words.get(..at).unwrap_or(words));
        let is_container = !shares && !is_of_cluster;
        let before = std::mem::replace(&mut self.contained, is_container);
        let folder = folder_in(options).filter(|_| mounts.is_some());
        let output = self.elsewhere(|walker| {
            for (name, value) in given {
                walker.state.give(name, Value::known(value));
            }
            walker.mounts = mounts.map(Rc::new);
            walker.state.cwd = folder;
            walker.inner("exec", &whole, input)
        });
        self.contained = before;
        output
    }
}

/// Returns the folder that a container's program runs in, if an option names it.
fn folder_in(options: &[Arg]) -> Option<String> {
    let mut options = options.iter().map(|word| word.text.as_str()).enumerate();
    let folder = options.find_map(|(at, option)| match option.split_once('=') {
        Some(("-w" | "--workdir", folder)) => Some((at, Some(folder))),
        None if matches!(option, "-w" | "--workdir") => Some((at, None)),
        None => option.strip_prefix("-w/").map(|_| (at, Some(&option[2..]))),
        Some(_) => None,
    });
    let folder = match folder? {
        (_, Some(folder)) => folder,
        (_, None) => options.next()?.1,
    };
    folder
        .starts_with('/')
        .then(|| crate::path::absolute(folder, Some("/")))
}

/// The variables that a command in a container is given: `-e NAME=VALUE`, `--env=NAME=VALUE`.
fn given_variables(words: &[Arg]) -> Vec<(&str, &str)> {
    let texts = words.windows(2).filter_map(|two| {
        let (option, next) = (two[0].text.as_str(), two[1].text.as_str());
        let joined = option.strip_prefix("--env=");
        let apart = matches!(option, "-e" | "--env").then_some(next);
        joined.or(apart)?.split_once('=')
    });
    texts.collect()
}

/// The texts of a parameter: `commands=["a","b"]`, `{"commands":["a"]}`, or the text as it is.
fn listed(parameter: &str) -> Vec<String> {
    let list = parameter.find('[').and_then(|at| {
        let is_named = ["commands", "command"]
            .iter()
            .any(|name| parameter[..at].contains(name));
        let end = parameter.rfind(']').filter(|end| *end > at && is_named)?;
        parameter.get(at..=end)
    });
    if let Some(list) = list {
        return serde_json::from_str(list).unwrap_or_else(|_| {
            let inner = list.trim_matches(['[', ']', '"', '\'']);
            vec![inner.to_owned()]
        });
    }
    let text = ["commands=", "command="]
        .iter()
        .find_map(|name| parameter.strip_prefix(name))
        .unwrap_or(parameter);
    vec![text.to_owned()]
}

#[cfg(test)]
mod tests {
    use crate::{Decision, Facts, Policy, decide};

    /// CAKE-SHIM-1: the value of an `ssh` option is no option, with any letters in it.
    #[test]
    fn the_input_of_ssh_is_judged_with_any_option_value() {
        let facts = Facts::of_a_project();
        for command in [
            "ssh -ladmin host <<'E'\nrm -rf /\nE",
            "ssh -Fconf -Jbastion host <<'E'\nrm -rf /\nE",
            "ssh -M host rm -rf /",
        ] {
            let decision = decide(command, &facts, &Policy::default()).decision;
            assert_eq!(decision, Decision::Block, "{command}");
        }
    }

    /// CAKE-SHIM-1: a container's deletions in a folder of this machine are judged as if they were
    /// made here.
    #[test]
    fn what_is_deleted_in_a_container_is_judged_by_what_is_mounted() {
        let facts = Facts::of_a_project();
        let decided = |command: &str| decide(command, &facts, &Policy::default()).decision;
        for command in [
            "docker run --rm -v $PWD:/w alpine rm -rf /w",
            "docker run --rm -v \"$(pwd)\":/src alpine rm -rf /src/.git",
            "podman run --rm -v .:/w:Z -w /w alpine rm -rf .git",
            "docker run --mount type=bind,source=/home/u,target=/h alpine sh -c 'rm -rf /h'",
            "docker run --rm -itv /home/u/p:/w alpine rm -rf /w/",
            "docker run -v ~/p:/w --shm-size 1g alpine rm -rf /",
            "docker compose run --rm -v $PWD:/w web rm -rf /w",
            "docker run -v $PWD:/w -w /w node git reset --hard",
        ] {
            assert_eq!(decided(command), Decision::Block, "{command}");
        }
        for command in [
            "docker run --rm -v $PWD:/w alpine sh -c 'rm -rf /w/*'",
            "docker run -v ~/notes:/n alpine rm -rf /n/a",
        ] {
            assert_eq!(decided(command), Decision::Ask, "{command}");
        }
        for command in [
            "docker run --rm alpine rm -rf /w",
            "docker run --rm -v $PWD:/w alpine rm -rf /w/target",
            "docker run --rm -v $PWD:/w alpine rm -rf /etc /var/cache/apk",
            "docker run --rm -v $PWD:/w:ro alpine rm -rf /w",
            "docker run --rm -v $PWD:/w alpine rm -v /w/target/a",
            "docker run --rm app serve --privileged -v /:/host --pid host",
            "docker run --rm -v /tmp/x:/w alpine rm -rf /w",
            "docker run --rm -v $PWD:/w alpine npm test -- rm -rf /w",
        ] {
            assert_eq!(decided(command), Decision::Allow, "{command}");
        }
    }
}
