//! Programs that run the words behind their own options.
//!
//! A table: the names, the options that take the next word, and how many words of their own stand
//! before the command. Programs that need more than that are in `wrappers`.

use super::value::Arg;

/// One program that runs another.
pub(super) struct Wrapper {
    /// Its words, as in `uv run`.
    pub(super) names: &'static str,
    /// Options that take the next word.
    pub(super) takes: &'static str,
    /// Words of its own before the command.
    pub(super) skip: usize,
}

const fn wrapper(names: &'static str, takes: &'static str, skip: usize) -> Wrapper {
    Wrapper { names, takes, skip }
}

/// The table. Names of several words stand before the shorter ones that they begin with.
pub(super) const WRAPPERS: &[Wrapper] = &[
    wrapper(
        "sudo",
        "-u -g -h -p -C -r -t -T -U -D -R --user --group --host --prompt --close-from --role --type --command-timeout --other-user --chdir --chroot",
        0,
    ),
    wrapper("doas", "-u -C -a", 0),
    wrapper("pkexec", "--user", 0),
    wrapper(
        "run0",
        "-u --user -g --group -D --chdir --setenv --unit --property --slice",
        0,
    ),
    wrapper("env", "-u --unset -C --chdir -a --argv0", 0),
    wrapper("nice", "-n --adjustment", 0),
    wrapper("ionice", "-c -n -p -P -u --class --classdata", 0),
    wrapper("nohup", "", 0),
    wrapper("setsid", "", 0),
    wrapper("stdbuf", "-i -o -e --input --output --error", 0),
    wrapper("time", "-f -o --format --output", 0),
    wrapper("gtime", "-f -o --format --output", 0),
    wrapper("timeout", "-s -k --signal --kill-after", 1),
    wrapper("gtimeout", "-s -k --signal --kill-after", 1),
    wrapper("command", "", 0),
    wrapper("builtin", "", 0),
    wrapper("exec", "-a", 0),
    wrapper("noglob", "", 0),
    wrapper("nocorrect", "", 0),
    wrapper("chroot", "--userspec --groups", 1),
    wrapper(
        "unshare",
        "-R -w -S -G --root --wd --setuid --setgid --propagation --setgroups --map-user --map-group --map-users --map-groups",
        0,
    ),
    wrapper("nsenter", "-t -S -G --target --setuid --setgid", 0),
    wrapper(
        "strace",
        "-e -o -p -s -u -E -a -P -b -I -O -S -X --trace --output --attach",
        0,
    ),
    wrapper("ltrace", "-e -o -p -s -u -a -n -l -x", 0),
    wrapper("flock", "-w -E --timeout --wait --conflict-exit-code", 1),
    wrapper("taskset", "", 1),
    wrapper("chrt", "-T -P -D", 1),
    wrapper("prlimit", "-p --pid", 0),
    wrapper(
        "numactl",
        "-C -N -m -i -p --cpunodebind --membind --physcpubind --interleave",
        0,
    ),
    wrapper("setarch", "", 0),
    wrapper("linux32", "", 0),
    wrapper("linux64", "", 0),
    wrapper("busybox", "", 0),
    wrapper("toybox", "", 0),
    wrapper(
        "xvfb-run",
        "-n -e -f -p -s -w --server-num --server-args --error-file",
        0,
    ),
    wrapper("dbus-run-session", "--config-file --dbus-daemon", 0),
    wrapper("dbus-launch", "", 0),
    wrapper("fakeroot", "-l -s -i -b --lib --faked", 0),
    wrapper("fakechroot", "", 0),
    wrapper("proot", "-r -b -w -q -k --rootfs --bind --cwd", 0),
    wrapper("unbuffer", "", 0),
    wrapper(
        "systemd-run",
        "-p -u -H -M -E -t --unit --property --slice --uid --gid --setenv --on-active --on-boot --on-calendar --working-directory --description",
        0,
    ),
    wrapper("systemd-inhibit", "", 0),
    wrapper("systemd-cat", "-t -p --identifier --priority", 0),
    wrapper("firejail", "", 0),
    wrapper("caffeinate", "-t -w", 0),
    wrapper("torsocks", "", 0),
    wrapper("torify", "", 0),
    wrapper("proxychains", "-f", 0),
    wrapper("proxychains4", "-f", 0),
    wrapper("gosu", "", 1),
    wrapper("su-exec", "", 1),
    wrapper(
        "setpriv",
        "--reuid --regid --groups --inh-caps --ambient-caps --bounding-set",
        0,
    ),
    wrapper("setuidgid", "", 1),
    wrapper("chpst", "-u -U -b -/ -C -n -l -m -d -o -p -f -c", 0),
    wrapper("envdir", "", 1),
    wrapper("softlimit", "-m -d -s -l -a -o -p -f -c -r -t", 0),
    wrapper("dumb-init", "", 0),
    wrapper("tini", "-p -e", 0),
    wrapper("catchsegv", "", 0),
    wrapper("valgrind", "", 0),
    wrapper("heaptrack", "", 0),
    wrapper("perf stat", "-e -o -r -C", 0),
    wrapper("perf record", "-e -o -F -C --call-graph", 0),
    wrapper("gdb", "-ex -x -iex -ix --command --eval-command", 0),
    wrapper("rtk", "", 0),
    wrapper("chronic", "", 0),
    wrapper("ts", "-L -N", 0),
    wrapper("retry", "-t -d -n --times --delay", 0),
    wrapper("entr", "", 0),
    wrapper("ip netns exec", "", 1),
    wrapper("ip vrf exec", "", 1),
    wrapper("eatmydata", "", 0),
    wrapper("rlwrap", "-a -b -C -f -g -H -l -q -s -t", 0),
    wrapper("annotate-output", "", 0),
    wrapper("logsave", "", 1),
    wrapper("lockf", "-t", 1),
    wrapper("setlock", "", 1),
    wrapper("timelimit", "-t -T -s -S", 0),
    wrapper("cpulimit", "-l -c -e -p --limit --cpu --exe --pid", 0),
    wrapper("cgexec", "-g", 0),
    wrapper("aa-exec", "-p -n --profile --namespace", 0),
    wrapper("runcon", "-t -u -r -l --type --user --role --range", 0),
    wrapper("dtach", "-n -N -A -c -r -e", 0),
    wrapper("abduco", "-n -c -A -e", 0),
    wrapper("dockerize", "-wait -timeout -template -stdout -stderr", 0),
    wrapper("wait-for-it", "-t -h -p", 1),
    wrapper("wait-for-it.sh", "-t -h -p", 1),
    wrapper("s6-setuidgid", "", 1),
    wrapper("rr record", "", 0),
    wrapper("samply record", "-o -r --rate --duration", 0),
    wrapper("flamegraph", "-o --output --freq", 0),
    wrapper("volta run", "--node --npm --yarn", 0),
    wrapper("fnm exec", "--using", 0),
    wrapper("rustup run", "", 1),
    wrapper("nodenv exec", "", 0),
    wrapper("goenv exec", "", 0),
    wrapper("jenv exec", "", 0),
    wrapper("zellij run", "-n -d --name --direction --cwd", 0),
    wrapper("env-cmd", "-f -e --file --environments", 0),
    wrapper("faketime", "", 1),
    wrapper("aws-vault exec", "-d --duration", 1),
    wrapper("op run", "--env-file", 0),
    wrapper("doppler run", "-p -c --project --config --command", 0),
    wrapper(
        "infisical run",
        "--env --path --projectId --tags --token --command",
        0,
    ),
    wrapper("teller run", "-c --config", 0),
    wrapper("varlock run", "-p --path", 0),
    wrapper("phase run", "--env --app --path --tags", 0),
    wrapper("envchain", "", 1),
    wrapper("xcrun", "--sdk --toolchain", 0),
    wrapper("wsl", "-d --distribution -u --user --cd", 0),
    wrapper(
        "railway run",
        "-s --service -e --environment -p --project",
        0,
    ),
    wrapper("heroku run", "-a --app -s --size -r --remote -e --env", 0),
    wrapper("limactl shell", "--workdir --shell", 1),
    wrapper("multipass exec", "-d --working-directory", 1),
    wrapper(
        "devcontainer exec",
        "--workspace-folder --docker-path --config --container-id",
        0,
    ),
    wrapper("chamber exec", "", 1),
    wrapper("direnv exec", "", 1),
    wrapper("dotenv", "-e -f -c", 0),
    wrapper("dotenvx run", "-f", 0),
    wrapper("cross-env", "", 0),
    wrapper("asdf exec", "", 0),
    wrapper(
        "uv run",
        "--with --python -p --extra --group --directory --project --env-file",
        0,
    ),
    wrapper("poetry run", "-C --directory -P --project", 0),
    wrapper("pipenv run", "", 0),
    wrapper("pdm run", "-p", 0),
    wrapper("rye run", "", 0),
    wrapper("hatch run", "", 0),
    wrapper("dagger run", "--progress", 0),
    wrapper(
        "dvc run",
        "-n -d -o -O -m -M -p -w --name --deps --outs --metrics --params --wdir",
        0,
    ),
    wrapper("pixi run", "-e --environment --manifest-path", 0),
    wrapper("conda run", "-n -p --name --prefix --cwd", 0),
    wrapper("mamba run", "-n -p --name --prefix --cwd", 0),
    wrapper("bundle exec", "--gemfile", 0),
    wrapper("rbenv exec", "", 0),
    wrapper("pyenv exec", "", 0),
    wrapper("npm exec", "-w --workspace -p --package", 0),
    wrapper("npm x", "-w --workspace -p --package", 0),
    wrapper("npx", "-p --package", 0),
    wrapper("pnpm exec", "-C --filter -F", 0),
    wrapper("pnpm dlx", "--package", 0),
    wrapper("yarn exec", "", 0),
    wrapper("yarn dlx", "-p", 0),
    wrapper("bunx", "-p --package", 0),
    wrapper("bun x", "", 0),
    wrapper("pipx run", "--spec --python", 0),
    wrapper("uvx", "--from --with --python", 0),
    wrapper(
        "bwrap",
        "--chdir --unsetenv --hostname --uid --gid --proc --dev --tmpfs --dir --perms --size --remount-ro",
        0,
    ),
    wrapper("runuser", "-u -g -G --user --group", 0),
    wrapper("git bisect run", "", 0),
    wrapper("coproc", "", 0),
    wrapper("then", "", 0),
    wrapper("do", "", 0),
    wrapper("else", "", 0),
    wrapper("and", "", 0),
    wrapper("or", "", 0),
    wrapper("not", "", 0),
    wrapper("&", "", 0),
];

/// The wrapper that these words are, and how many of them are its name.
pub(super) fn find(name: &str, words: &[Arg]) -> Option<(&'static Wrapper, usize)> {
    WRAPPERS.iter().find_map(|wrapper| {
        let mut names = wrapper.names.split(' ');
        if names.next() != Some(name) {
            return None;
        }
        let mut at = 1;
        for more in names {
            // Options may stand between a program and its verb.
            while words.get(at).is_some_and(|word| word.text.starts_with('-')) {
                at += 1;
            }
            if words.get(at).is_none_or(|word| word.text != more) {
                return None;
            }
            at += 1;
        }
        Some((wrapper, at))
    })
}

/// Returns the position of the first word that is neither an option nor an option's value.
pub(super) fn first_operand(words: &[Arg], from: usize, takes: &str) -> usize {
    let mut at = from;
    while let Some(word) = words.get(at) {
        let text = word.text.as_str();
        if text == "--" {
            return at + 1;
        }
        if !text.starts_with('-') || text == "-" {
            return at;
        }
        at += 1 + usize::from(takes_next(text, takes));
    }
    words.len()
}

/// The words of a program that are neither options nor what these take.
pub(super) fn operands<'w>(words: &'w [Arg], takes: &'w str) -> impl Iterator<Item = &'w Arg> {
    let is_option = |word: &Arg| word.text.starts_with('-') && word.text != "-";
    words.iter().enumerate().filter_map(move |(at, word)| {
        let before = at.checked_sub(1).and_then(|at| words.get(at));
        let is_value =
            before.is_some_and(|option| is_option(option) && takes_next(&option.text, takes));
        (!is_option(word) && !is_value).then_some(word)
    })
}

/// Whether an option takes the word behind it.
pub(crate) fn takes_next(option: &str, takes: &str) -> bool {
    let listed = |option: &str| takes.split(' ').any(|one| one == option);
    if listed(option) {
        return true;
    }
    if option.starts_with("--") || option.contains('=') {
        return false;
    }
    // `-xy`: the first letter that takes a value takes the rest, or the next word at the end.
    let letters: Vec<char> = option.chars().skip(1).collect();
    letters
        .iter()
        .position(|letter| listed(&format!("-{letter}")))
        .is_some_and(|at| at + 1 == letters.len())
}
