//! Names and endings of files that speak for a [`Concept`](super::concept::Concept).

use super::concept::Concept as C;

/// Strength of a file that only its field has.
const FULL: f64 = 1.0;
/// Strength of a file that many projects have.
const HALF: f64 = 0.5;

/// Strength of a file that lists dependencies, and that ordinary coding also edits.
const MANIFEST: f64 = 0.7;

/// Names and endings of files, and what they speak for. An ending begins with a period.
pub(super) const FILES: &[(C, f64, &str)] = &[
    (
        C::IosBuild,
        FULL,
        ".xctestplan .xcodeproj .xcworkspace .xcarchive .xcconfig .xcscheme .xcframework .ipa .mobileprovision .dsym .pbxproj \
         .entitlements .storekit podfile podfile.lock fastfile appfile matchfile info.plist exportoptions.plist",
    ),
    (
        C::Ios,
        HALF,
        ".swift .storyboard .xib .xcassets package.swift",
    ),
    (
        C::Infrastructure,
        FULL,
        "dockerfile containerfile docker-compose.yml docker-compose.yaml compose.yml compose.yaml .tf .tfvars \
         .tfstate .hcl vagrantfile .service .timer nginx.conf haproxy.cfg caddyfile chart.yaml values.yaml \
         kustomization.yaml jenkinsfile .gitlab-ci.yml .dockerignore .nomad .qcow2 .vmdk .ova .iso playbook.yml \
         prometheus.yml sshd_config fstab crontab .nix",
    ),
    (
        C::Data,
        FULL,
        ".csv .tsv .parquet .xlsx .xls .jsonl .ndjson .ipynb .avro .feather .arrow .sqlite .db .sav .rds .orc .hdf5",
    ),
    (C::Data, HALF, ".json .log .xml .yaml .yml"),
    (
        C::Dependency,
        MANIFEST,
        "package.json package-lock.json yarn.lock pnpm-lock.yaml cargo.toml cargo.lock go.mod go.sum \
         requirements.txt poetry.lock pyproject.toml pom.xml gemfile gemfile.lock build.gradle composer.json \
         composer.lock deno.lock uv.lock .csproj",
    ),
    (
        C::Code,
        HALF,
        ".rs .py .ts .tsx .js .jsx .go .java .c .cpp .h .rb .php .kt .cs .css .scss .html .vue .sh .ex .hs .lua .sql",
    ),
    (C::Mathematics, HALF, ".tex .lean .sage"),
];
