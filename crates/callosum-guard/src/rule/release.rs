//! Publishing and deploying by tools of one language or of one service, and what they name that is for trying it out.

use super::{Rule, Severity, Subject, Tool, app_deploy::is_stage, test_database::values};
use crate::{analyze::value, loopback::is_loopback};

pub(super) const TOOLS: &[Tool] = &[Tool {
    names: &[
        "twine",
        "poetry",
        "uv",
        "flit",
        "hatch",
        "pdm",
        "maturin",
        "gem",
        "mvn",
        "gradle",
        "gradlew",
        "dotnet",
        "nuget",
        "vsce",
        "ovsx",
        "lerna",
        "changeset",
        "semantic-release",
        "goreleaser",
        "helm",
        "conda",
        "anaconda",
        "hex",
        "mix",
        "pod",
        "luarocks",
        "composer",
        "clojars",
        "sbt",
        "jsr",
        "deno",
        "wrangler",
        "vercel",
        "netlify",
        "flyctl",
        "fly",
        "firebase",
        "serverless",
        "sls",
        "eas",
        "fastlane",
        "expo",
        "heroku",
        "railway",
        "render",
        "cap",
        "kamal",
        "dart",
        "flutter",
        "cabal",
        "swift",
        "pixi",
        "lein",
        "oras",
        "nx",
        "np",
        "release-it",
    ],
    takes: "-r --repository --repository-url --publish-url --index --registry --source -u -p --project --org --app -a --config -c",
    one_dash: false,
    tests: &[("releases", releases), ("for-trial", is_for_trial)],
    rules: &[Rule {
        id: "publish.release",
        when: &["&releases !&for-trial !--dry-run !--help"],
        severity: Severity::Ask,
        reason: "publishing or deploying cannot simply be undone",
        alternatives: &[],
        #[cfg(test)]
        catches: &[
            "twine upload dist/*",
            "poetry publish --build",
            "gem push x.gem",
            "gem yank x -v 1",
            "mvn deploy",
            "dotnet nuget push x.nupkg",
            "heroku apps:destroy x",
            "fly apps destroy x",
            "vercel --prod",
            "./gradlew publishToMavenCentral",
            "cap production deploy",
            "cap production deploy:check deploy",
            "./gradlew publish -Pm=1",
            "mvn release:perform -Dmaven.deploy.skip=true",
            "kamal deploy -r test",
            "serverless deploy --stage prod",
            "kamal deploy",
            "./gradlew :lib:publishToMavenCentral",
            "gradle publishMavenPublicationToSonatypeRepository",
            "helm push chart.tgz oci://ghcr.io/acme/charts",
            "oras push ghcr.io/acme/x:1 f",
            "dart pub publish",
            "flutter pub publish -f",
            "cabal upload --publish x.tar.gz",
            "swift package-registry publish acme.lib 1.0.0",
            "conda upload x.tar.bz2",
            "pixi upload https://prefix.dev/api/v1/upload/c x.conda",
            "lein deploy clojars",
            "nx release --yes",
            "npx np",
            "npx release-it --ci",
            "npx eas build --profile production --auto-submit",
        ],
        #[cfg(test)]
        spares: &[
            "twine check dist/*",
            "poetry build",
            "gem list",
            "mvn test",
            "poetry publish --dry-run",
            "uv sync",
            "vercel",
            "vercel deploy --yes",
            "deno test",
            "cap -T",
            "cap staging deploy",
            "serverless deploy --stage dev",
            "dotnet nuget push a.nupkg -s ./local-feed",
            "kamal details",
            "./gradlew publishToMavenLocal",
            "./gradlew :lib:publishToMavenLocal",
            "./gradlew -m publish",
            "mvn -Dmaven.deploy.skip=true deploy",
            "twine upload --repository testpypi dist/*",
            "twine upload --repository-url https://test.pypi.org/legacy/ dist/*",
            "uv publish --publish-url http://localhost:8080/simple",
            "helm push chart.tgz oci://localhost:5000/charts",
            "oras push localhost:5000/x:1 f",
            "oras pull ghcr.io/acme/x:1",
            "dart pub get",
            "dart pub publish -n",
            "cabal upload x.tar.gz",
            "conda remove numpy",
            "nx release --dry-run",
            "nx release changelog 1.0.0",
            "npx release-it --dry-run",
            "npx np --preview",
            "npx eas build --profile preview",
            "npx expo start",
        ],
    }],
}];

/// Whether a tool publishes or deploys.
fn releases(subject: &Subject<'_>) -> bool {
    let first = subject.operand(0);
    match subject.call.name.as_str() {
        "twine" | "luarocks" | "conda" | "pixi" => first == "upload",
        "poetry" | "uv" | "flit" | "hatch" | "pdm" | "maturin" | "vsce" | "ovsx" | "lerna"
        | "changeset" | "jsr" => matches!(first, "publish" | "unpublish"),
        "deno" | "expo" => first == "publish",
        "gem" => matches!(first, "push" | "yank" | "owner"),
        "mvn" | "gradle" | "gradlew" | "sbt" => builds_for_others(subject),
        "dotnet" => first == "nuget" && matches!(subject.operand(1), "push" | "delete"),
        "nuget" => matches!(first, "push" | "delete"),
        "semantic-release" => true,
        "goreleaser" => {
            first == "release" && !subject.has("--snapshot") && !subject.has("--skip=publish")
        }
        "pod" => first == "trunk" && matches!(subject.operand(1), "push" | "delete" | "deprecate"),
        "mix" => matches!(first, "hex.publish" | "hex.retire"),
        "anaconda" => matches!(first, "upload" | "remove"),
        "dart" | "flutter" => {
            first == "pub" && subject.operand(1) == "publish" && !subject.has("-n")
        }
        "cabal" => first == "upload" && subject.has("--publish"),
        "swift" => first == "package-registry" && subject.operand(1) == "publish",
        "lein" => first == "deploy",
        "helm" | "oras" => {
            let mut places = subject.operands.iter().map(|(word, _)| word.text.as_str());
            first == "push" && !places.any(is_loopback)
        }
        "nx" => {
            first == "release"
                && matches!(subject.operand(1), "" | "publish")
                && !subject.has("--skip-publish")
                && !subject.has("-d")
        }
        "np" => !["--preview", "--no-publish", "--version"]
            .iter()
            .any(|one| subject.has(one)),
        "release-it" => !["-d", "--release-version", "--changelog", "-v", "--version"]
            .iter()
            .any(|one| subject.has(one)),
        "wrangler" => {
            matches!(first, "deploy" | "publish" | "delete")
                || subject.text().contains("delete")
                || subject.operand(1) == "execute" && subject.has("--remote")
        }
        "vercel" => {
            // Without `--prod` it is for its author to look at.
            matches!(first, "rm" | "remove" | "promote" | "rollback")
                || matches!(subject.operand(1), "rm" | "remove")
                || subject.has("--prod")
                || subject.value("--target") == Some("production")
        }
        "netlify" => first == "deploy" && subject.has("--prod") || first.ends_with("delete"),
        "fly" | "flyctl" => {
            matches!(first, "deploy" | "destroy")
                || matches!(subject.operand(1), "destroy" | "delete")
        }
        "firebase" => {
            first == "deploy"
                || first.contains("delete")
                || first.contains("disable")
                || first.contains("remove")
        }
        "serverless" | "sls" => {
            first == "remove" || first == "deploy" && subject.operand(1) != "list"
        }
        "eas" => {
            matches!(first, "submit" | "update")
                || first == "build"
                    && ["--auto-submit", "--auto-submit-with-profile", "-s"]
                        .iter()
                        .any(|one| subject.has(one))
        }
        "heroku" => {
            first.contains("destroy")
                || first.contains("delete")
                || first == "pg:reset"
                || first == "pg:drop"
                || first == "ps:stop"
        }
        "cap" => {
            let looks = |task: &str| task == "deploy:check" || task.starts_with("deploy:check:");
            let mut words = subject.operands.iter().map(|(word, _)| word.text.as_str());
            words.any(|word| word.starts_with("deploy") && !looks(word))
        }
        "kamal" => matches!(first, "deploy" | "redeploy" | "rollback"),
        "railway" => matches!(first, "down" | "delete") || subject.operand(1) == "delete",
        _ => false,
    }
}

/// Whether a build tool publishes what it has built.
fn builds_for_others(subject: &Subject<'_>) -> bool {
    let is_of_gradle = subject.call.name.starts_with("gradle");
    // gradle's tasks stand behind their projects, maven's goals behind their plugins.
    let task_gives = |word: &str| {
        let task = word.rsplit(':').next().unwrap_or(word);
        let gives = task == "publish"
            || task.starts_with("publishTo")
            || task.starts_with("publishAll")
            || task.starts_with("publish") && task.contains("PublicationTo")
            || task.ends_with("publishSigned");
        gives && !task.ends_with("ToMavenLocal")
    };
    let goal_gives = |word: &str| {
        word == "deploy" || word.starts_with("deploy:") || word.starts_with("release:")
    };
    let is_written = |wanted: &str| subject.call.words.iter().any(|word| word.text == wanted);
    let only_tells = subject.has("--dry-run") || is_of_gradle && is_written("-m");
    // A release is made by another maven, which does not get that option.
    let skips = |word: &str| {
        let is_skipped =
            is_written("-Dmaven.deploy.skip") || is_written("-Dmaven.deploy.skip=true");
        subject.call.name == "mvn" && !word.starts_with("release:") && is_skipped
    };
    let mut words = subject.operands.iter().map(|(word, _)| word.text.as_str());
    !only_tells && words.any(|word| (task_gives(word) || goal_gives(word)) && !skips(word))
}

/// Whether it is published to where publishing is tried out or to this machine, or deployed to such a stage.
fn is_for_trial(subject: &Subject<'_>) -> bool {
    is_to_place_of_trial(subject) || is_to_stage_of_trial(subject)
}

fn is_to_place_of_trial(subject: &Subject<'_>) -> bool {
    let options: &[&str] = match subject.call.name.as_str() {
        "twine" | "poetry" | "pdm" | "hatch" | "flit" | "maturin" => {
            &["-r", "--repository", "--repository-url", "--repo"]
        }
        "uv" => &["--publish-url", "--index"],
        "gem" => &["--host"],
        "dotnet" | "nuget" => &["-s", "--source", "-Source"],
        "lerna" | "jsr" | "changeset" => &["--registry"],
        _ => return false,
    };
    let is_of_nuget = matches!(subject.call.name.as_str(), "dotnet" | "nuget");
    // A folder of packages.
    let is_folder = |place: &str| {
        let is_path = ["./", "../", "/", "~/"]
            .iter()
            .any(|start| place.starts_with(start));
        is_path && !place.starts_with("//") && value::is_known(place)
    };
    let is_of_trial = |place: &str| {
        matches!(place, "testpypi" | "test-pypi" | "test" | "local")
            || place.contains("//test.pypi.org")
            || place.contains("://") && is_loopback(place)
            || is_of_nuget && is_folder(place)
    };
    let words = subject.call.texts();
    let mut places = values(&words, options).peekable();
    places.peek().is_some() && places.all(is_of_trial)
}

fn is_to_stage_of_trial(subject: &Subject<'_>) -> bool {
    let options: &[&str] = match (subject.call.name.as_str(), subject.operand(0)) {
        ("cap", stage) => return is_stage(stage),
        ("serverless" | "sls", "deploy") => &["--stage", "-s"],
        ("wrangler", "deploy" | "publish") => &["--env", "-e"],
        ("firebase", "deploy") => &["--project", "-P"],
        ("kamal", _) => &["--destination", "-d"],
        _ => return false,
    };
    let words = subject.call.texts();
    let mut stages = values(&words, options).peekable();
    stages.peek().is_some() && stages.all(is_stage)
}
