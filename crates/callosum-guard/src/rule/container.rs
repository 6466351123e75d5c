//! Containers: the ways out of one, and what is kept in them.

use super::{Rule, Severity, Subject, Tool, scratch_name::says_scratch};
use crate::{
    analyze::value::{Arg, SOME},
    path_class::PathClass,
};

pub(super) const TOOLS: &[Tool] = &[
    Tool {
        names: &["docker", "podman", "nerdctl"],
        takes: "-o --output -e -u -w -v -p -H --env --user --workdir --volume --name --network --net --mount --entrypoint --context --env-file --publish --hostname --pid --ipc --uts --userns --cap-add --cap-drop --device --security-opt --filter --label -l --host --config --project-name --memory -m --cpus --platform --format --tag --build-arg --target",
        one_dash: false,
        tests: &[
            ("mounts-vital", mounts_vital),
            ("out-of-it", |s| {
                [
                    "--pid",
                    "--ipc",
                    "--uts",
                    "--userns",
                    "--net",
                    "--network",
                    "--cgroupns",
                ]
                .iter()
                .any(|option| {
                    s.value(option) == Some("host") && *option != "--net" && *option != "--network"
                }) || s.options.iter().any(|given| {
                    given.name == "--cap-add"
                        && given.value.is_some_and(|v| {
                            matches!(
                                v.to_ascii_uppercase().trim_start_matches("CAP_"),
                                "ALL"
                                    | "SYS_ADMIN"
                                    | "SYS_MODULE"
                                    | "SYS_PTRACE"
                                    | "DAC_READ_SEARCH"
                                    | "SYS_RAWIO"
                            )
                        })
                }) || s.options.iter().any(|given| {
                    given.name == "--security-opt"
                        && given.value.is_some_and(|v| v.contains("unconfined"))
                }) || s.options.iter().any(|given| {
                    given.name == "--device"
                        && given.value.is_some_and(|v| {
                            v.starts_with("/dev/sd")
                                || v.starts_with("/dev/nvme")
                                || v.starts_with("/dev/mem")
                        })
                })
            }),
            ("for-tests", is_for_tests),
            ("scratch-volumes", |s| {
                let mut volumes = s.operands.iter().skip(2).map(|(word, _)| &word.text);
                // What is not known of a name is none of its parts.
                let says = |volume: &str| says_scratch(&volume.replace(SOME, "-"));
                volumes.len() > 0 && volumes.all(|volume| says(volume))
            }),
            ("all-listed", |s| {
                s.operands.iter().any(|(word, _)| word.source.listed)
            }),
            ("is-podman", |s| s.call.name == "podman"),
            ("passing", |s| {
                // Of `rm`, `-v` takes no value.
                let words = s.call.words.iter().skip(1);
                let mut named = words.filter(|word| !word.text.starts_with('-')).skip(1);
                let is_passing =
                    |word: &Arg| word.source.made || says_scratch(&word.text.replace(SOME, "-"));
                named.next().is_some_and(is_passing) && named.all(is_passing)
            }),
        ],
        rules: &[
            Rule {
                id: "docker.push",
                when: &[
                    "push !localhost*|127.0.0.1*",
                    "image push !localhost*|127.0.0.1*",
                    "buildx|builder build --push",
                    "build --push",
                    "buildx|builder build --output=*type=registry*|--output=*push=true*|-o=*type=registry*|-o=*push=true*",
                    "build --output=*type=registry*|--output=*push=true*|-o=*type=registry*|-o=*push=true*",
                    "manifest push",
                    "compose push !--dry-run",
                ],
                severity: Severity::Ask,
                reason: "publishing cannot be undone",
                alternatives: &["docker image ls"],
                #[cfg(test)]
                catches: &[
                    "docker push registry.io/app:latest",
                    "podman push app docker://quay.io/me/app",
                    "docker image push me/app",
                    "docker buildx build --push -t me/app .",
                    "docker buildx build --output type=registry -t me/app .",
                    "docker build -o type=image,name=me/app,push=true .",
                    "docker manifest push me/app",
                    "docker compose -f compose.yaml push",
                ],
                #[cfg(test)]
                spares: &[
                    "docker push localhost:5000/app",
                    "docker buildx build -t me/app .",
                    "docker buildx build -t me/app --output type=local,dest=out .",
                    "docker build -o out .",
                    "docker pull alpine",
                    "docker compose pull",
                    "docker compose --dry-run push",
                    "docker run --rm app git push",
                ],
            },
            Rule {
                id: "docker.privileged",
                when: &[
                    "run|create|exec --privileged",
                    "container run|create|exec --privileged",
                    "compose run|exec --privileged",
                    "buildx build --allow",
                    "build --privileged",
                ],
                severity: Severity::Block,
                reason: "a privileged container is equivalent to root on the host",
                alternatives: &[],
                #[cfg(test)]
                catches: &[
                    "docker run --privileged x",
                    "docker run -it --rm --privileged=true alpine",
                    "podman exec --privileged c sh",
                    "docker container run --privileged x",
                ],
                #[cfg(test)]
                spares: &[
                    "docker run --rm alpine",
                    "docker run --privileged=false x",
                    "docker ps",
                    "docker run alpine echo --privileged-mode",
                ],
            },
            Rule {
                id: "docker.host",
                when: &[
                    "run|create|exec &mounts-vital",
                    "run|create &out-of-it",
                    "container run|create &mounts-vital",
                    "container run|create &out-of-it",
                ],
                severity: Severity::Block,
                reason: "the container can change the host itself",
                alternatives: &[],
                #[cfg(test)]
                catches: &[
                    "docker run -v /:/host alpine",
                    "docker run --pid=host x",
                    "docker run -v /var/run/docker.sock:/var/run/docker.sock x",
                    "docker run --cap-add SYS_ADMIN x",
                    "docker run --mount type=bind,source=/,target=/host x",
                ],
                #[cfg(test)]
                spares: &[
                    "docker run -v $PWD:/app x",
                    "docker run -p 80:80 x",
                    "docker run --network host x",
                    "docker run -v data:/data x",
                ],
            },
            Rule {
                id: "docker.data",
                when: &[
                    "volume rm|remove !&scratch-volumes",
                    "volume prune",
                    "system prune --volumes",
                    "compose down -v|--volumes !&for-tests",
                    "compose rm -v !&for-tests",
                    "system reset",
                    "machine rm|reset",
                ],
                severity: Severity::Block,
                reason: "it permanently deletes the data in the volumes",
                alternatives: &["docker volume ls"],
                #[cfg(test)]
                catches: &[
                    "docker volume rm db",
                    "docker volume rm test_db prod_db",
                    "docker volume rm $(docker volume ls -q)",
                    "docker volume rm $(docker volume ls -qf name=shop)",
                    "docker compose down -v",
                    "docker system prune -a --volumes",
                    "docker volume prune -f",
                ],
                #[cfg(test)]
                spares: &[
                    "docker volume ls",
                    "docker compose down",
                    "docker compose up -d",
                    "docker compose -f docker-compose.test.yml down -v",
                    "docker compose -p ci down --volumes",
                    "docker volume rm shop_test_pgdata",
                    "docker volume ls -q --filter name=shop_test | xargs docker volume rm",
                ],
            },
            Rule {
                id: "docker.renew-volumes",
                when: &["compose up|create -V|--renew-anon-volumes !&for-tests !--dry-run"],
                severity: Severity::Ask,
                reason: "it replaces anonymous volumes and leaves their data behind",
                alternatives: &["docker compose up -d", "docker volume ls"],
                #[cfg(test)]
                catches: &[
                    "docker compose up -d --force-recreate -V",
                    "docker compose up -dV",
                    "docker compose up --renew-anon-volumes db",
                ],
                #[cfg(test)]
                spares: &[
                    "docker compose up -d --force-recreate",
                    "docker compose -f compose.test.yaml up -dV",
                    "docker compose version",
                ],
            },
            Rule {
                id: "docker.prune",
                when: &[
                    "system|image prune -a|--all",
                    "rm -f|--force &all-listed",
                    "kill &all-listed",
                    "rmi -f|--force &all-listed",
                    "image rm -f|--force &all-listed",
                    "rmi|rm &all-listed",
                    "image|container rm|remove &all-listed",
                    "rm|rmi -a|--all !--filter &is-podman",
                    "container rm -f &all-listed",
                    "rm -v !&passing",
                    "swarm leave --force|-f",
                    "stack rm",
                    "service rm",
                    "secret rm",
                ],
                severity: Severity::Ask,
                reason: "it removes containers or images that others may use",
                alternatives: &["docker ps -a"],
                #[cfg(test)]
                catches: &[
                    "docker system prune -af",
                    "docker image prune --all",
                    "docker rm -f $(docker ps -aq)",
                    "docker rm -f $(docker --context shop container ls -q --filter status=running)",
                    "docker rm -v web",
                    "docker ps -q | while read c; do docker rm -f $c; done",
                    "docker kill $(docker ps -q)",
                    "docker image rm $(docker images -q) -f",
                    "docker image rm $(docker images -q)",
                    "docker rmi $(docker images -aq)",
                    "docker image ls -q | xargs docker rmi",
                    "podman rmi --all",
                ],
                #[cfg(test)]
                spares: &[
                    "docker rm web",
                    "docker rm -f $(docker ps -aq --filter name=shop)",
                    "docker ps -aq -f label=com.shop | xargs -r docker rm -f",
                    "C=$(docker run -d redis); docker rm -fv $C",
                    "docker ps -a | grep shop- | awk '{print $1}' | xargs docker rm -f",
                    "docker rm -f \"$NAME\"",
                    "docker system prune -f",
                    "docker container prune -f",
                    "docker network prune -f",
                    "docker image prune -f",
                    "docker builder prune -af",
                    "docker image ls",
                    "docker rmi old:1",
                    "docker rmi $(docker images -f dangling=true -q)",
                    "docker rmi $(docker images -q shop)",
                    "docker images -q | xargs docker inspect",
                    "docker images | grep none | awk '{print $3}' | xargs docker rmi",
                    "docker image rm \"$IMAGE\"",
                    "docker image rm old:1 -f",
                    "docker stop web",
                ],
            },
        ],
    },
    Tool {
        names: &["buildah"],
        takes: "",
        one_dash: false,
        tests: &[],
        rules: &[Rule {
            id: "buildah.remove-all",
            when: &["rm|rmi|delete -a|--all", "prune -a|--all"],
            severity: Severity::Ask,
            reason: "it removes containers or images that others may use",
            alternatives: &["buildah containers"],
            #[cfg(test)]
            catches: &["buildah rm -a", "buildah rmi --all", "buildah rmi -af"],
            #[cfg(test)]
            spares: &[
                "buildah rm web",
                "buildah images -a",
                "buildah bud -t app .",
            ],
        }],
    },
    Tool {
        names: &["docker-compose", "podman-compose"],
        takes: "-p --project-name --profile --env-file --project-directory",
        one_dash: false,
        tests: &[("for-tests", is_for_tests)],
        rules: &[
            Rule {
                id: "docker-compose.push",
                when: &["push !--dry-run"],
                severity: Severity::Ask,
                reason: "publishing cannot be undone",
                alternatives: &["docker-compose images"],
                #[cfg(test)]
                catches: &[
                    "docker-compose push",
                    "docker-compose -f compose.yaml push web",
                    "podman-compose push",
                ],
                #[cfg(test)]
                spares: &[
                    "docker-compose pull",
                    "docker-compose --dry-run push",
                    "docker-compose build",
                ],
            },
            Rule {
                id: "docker-compose.renew-volumes",
                when: &["up|create -V|--renew-anon-volumes !&for-tests"],
                severity: Severity::Ask,
                reason: "it replaces anonymous volumes and leaves their data behind",
                alternatives: &["docker-compose up -d"],
                #[cfg(test)]
                catches: &[
                    "docker-compose up -dV",
                    "docker-compose up --renew-anon-volumes",
                    "docker-compose -f compose.yaml up -d -V db",
                ],
                #[cfg(test)]
                spares: &[
                    "docker-compose up -d --force-recreate",
                    "docker-compose -f docker-compose.ci.yml up -dV",
                    "docker-compose ps",
                ],
            },
            Rule {
                id: "docker-compose.data",
                when: &[
                    "down -v|--volumes !&for-tests",
                    "rm -v !&for-tests",
                    "run|exec --privileged",
                ],
                severity: Severity::Block,
                reason: "it permanently deletes the data in the volumes",
                alternatives: &["docker-compose down"],
                #[cfg(test)]
                catches: &[
                    "docker-compose down -v",
                    "docker-compose -f a.yml down --volumes",
                    "docker-compose rm -fv",
                    "docker-compose exec --privileged web sh",
                ],
                #[cfg(test)]
                spares: &[
                    "docker-compose down",
                    "docker-compose up -d",
                    "docker-compose -f docker-compose.ci.yml down -v",
                    "docker-compose logs -f",
                ],
            },
        ],
    },
];

/// Whether each file or project that `compose` is given is for tests by its name.
fn is_for_tests(subject: &Subject<'_>) -> bool {
    let words = &subject.call.words;
    let named: Vec<&str> = words
        .iter()
        .enumerate()
        .filter_map(|(at, word)| {
            let text = word.text.as_str();
            match text {
                "-f" | "--file" | "-p" | "--project-name" => {
                    words.get(at + 1).map(|word| word.text.as_str())
                }
                _ => text
                    .strip_prefix("--file=")
                    .or_else(|| text.strip_prefix("--project-name=")),
            }
        })
        .collect();
    named.iter().any(|name| says_scratch(name))
}

fn mounts_vital(subject: &Subject<'_>) -> bool {
    subject.options.iter().any(|given| {
        let Some(value) = given.value else {
            return false;
        };
        let source = match given.name {
            "--mount" => value.split(',').find_map(|field| {
                field
                    .strip_prefix("source=")
                    .or_else(|| field.strip_prefix("src="))
            }),
            "--volume" => value.split(':').next(),
            name if name.starts_with('-') && !name.starts_with("--") && name.ends_with('v') => {
                value.split(':').next()
            }
            _ => None,
        };
        let Some(source) = source.filter(|source| source.starts_with(['/', '~', '.'])) else {
            return false;
        };
        if source.ends_with("docker.sock")
            || source.ends_with("podman.sock")
            || source.ends_with("containerd.sock")
        {
            return true;
        }
        let read_only =
            value.ends_with(":ro") || value.contains(",readonly") || value.contains(",ro");
        match subject.place(source) {
            PathClass::Vital => !read_only || source == "/",
            PathClass::System | PathClass::Device => !read_only,
            _ => false,
        }
    })
}
