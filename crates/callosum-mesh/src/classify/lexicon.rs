//! The words of each [`Concept`], written from what the default categories mean.
//!
//! Words are stemmed like prompts, so one form of each is enough. A phrase wins over the words in it.

use super::concept::Concept as C;

/// Strength of a word that names its concept.
const FULL: f64 = 1.0;
/// Strength of a word that also has other meanings.
const HALF: f64 = 0.5;

/// Concepts, the strength of each word, and the words, separated by commas.
pub(super) const WORDS: &[(C, f64, &str)] = &[
    (
        C::IosBuild,
        FULL,
        "xcode, xcodebuild, xcarchive, xcframework, testflight, app store connect, provisioning profile, \
         code signing, codesign, signing certificate, signing identity, distribution certificate, ipa, dsym, \
         cocoapods, pod install, podfile, derived data, deriveddata, fastlane, bundle identifier, bundle id, \
         bitcode, notarize, notarization, notarytool, entitlement, app thinning, swift package manager, \
         ad hoc build, build phase, build setting, export options, app extension, simulator build, \
         apple developer, appstore build, app clip, widget extension, deployment target, fat binary, \
         carthage, swiftpm, enterprise distribution, storekit, lipo, universal binary, test device, \
         apple id, expired profile, team id, app store, beta tester, beta group, provisioning",
    ),
    (
        C::IosBuild,
        HALF,
        "simulator, signing, scheme, plist, privacy manifest, build number, store build, mobile build, \
         app bundle, arm64, pods, on device, launch screen, app icon, xctest, keychain, archive, \
         export archive",
    ),
    (
        C::Ios,
        FULL,
        "ios, iphone, ipad, ipados, watchos, tvos, visionos, swiftui, uikit, objective c, apple watch, \
         catalyst, mobile app",
    ),
    (
        C::Ios,
        HALF,
        "swift, apple, macos, expo, react native, flutter, phone, beta, tester",
    ),
    (
        C::Build,
        FULL,
        "build, compile, archive, sign, upload, ship, export, notarize, bundle, package, release build, link",
    ),
    (
        C::Architecture,
        FULL,
        "architecture, architectural, monolith, microservice, service boundary, module boundary, \
         bounded context, tenant isolation, isolation model, domain model, domain driven, event sourcing, \
         event driven, cqrs, hexagonal, clean architecture, layering, separation of concerns, coupling, \
         multi tenant, multitenant, tenancy, sharding, partitioning scheme, consistency model, \
         eventual consistency, design doc, design document, adr, rfc, system design, high level design, \
         tech stack, source of truth, single source of truth, schema design, api design, extension point, \
         plugin system, plugin api, backward compatibility, blast radius, failure mode, control plane, \
         data plane, saga, outbox, build vs buy, strangler, decouple, aggregate root, read model, \
         write model, ports and adapters, should live, belongs in, ordering guarantee, exactly once, \
         at least once, cap theorem, transaction boundary, migration path, versioning strategy, \
         api versioning, extensibility, greenfield, rewrite from scratch, big rewrite, dependency direction, \
         event based, public interface, who should own, concept for, decision record, should own, strangle, \
         facade, seams, public api, interfaces between",
    ),
    (
        C::Architecture,
        HALF,
        "boundary, abstraction, layer, monorepo vs, scalability, scale, extensible, maintainable, ownership, \
         long term, future proof, replication, state machine, contract, responsibility, \
         single point of failure, evolve, isolation, invariant, plugins, idempotency, pluggable, swap, \
         swappable",
    ),
    (
        C::System,
        FULL,
        "system, data model, module structure, service, component, backend, platform, protocol, \
         storage engine, storage layer, caching strategy, cache layer, message bus, job queue, \
         permission model, auth model, offline sync, sync engine, plugin, interface, domain, subsystem, \
         crate layout, package structure, persistence, api, gateway, schema, codebase structure, tenant, \
         workflow engine, scheduler, logic, database, worker, client, store, provider, module, frontend",
    ),
    (
        C::Design,
        FULL,
        "design, architect, redesign, restructure, split, split up, carve out, carve, break up, decompose, \
         lay out, model, structure, organize, organise, modularize, define, rearchitect, re architect, \
         envision",
    ),
    (
        C::Choice,
        FULL,
        "should we, should i, decide, choose, decision, trade off, tradeoff, pros and cons, versus, vs, \
         weigh, pick between, which is better, better fit, recommend, recommendation, evaluate, is it worth, \
         worth it, makes more sense, make sense, best way to structure, alternatives, go with, stick with, \
         move away from, right call, argue for, justify, where should, who should, good idea, bad idea, \
         a mistake, commit to one, better off with, settle",
    ),
    (
        C::Choice,
        HALF,
        "pick, option, or, propose, long run, approach, how would you, how should, is it ok to, one day, \
         over the next, does it make",
    ),
    (
        C::Technology,
        FULL,
        "postgres, postgresql, mysql, sqlite, mongodb, mongo, dynamodb, cassandra, redis, kafka, rabbitmq, \
         nats, sqs, pubsub, grpc, graphql, rest, websocket, sse, server sent events, protobuf, webhook, \
         polling, queue, message queue, event bus, orm, sql, nosql, elasticsearch, s3, serverless, lambda, \
         actor, actor model, async, synchronous, thread pool, rust, go, golang, typescript, java, electron, \
         tauri, wasm, crdt, in process, library, stored procedure, feature flag, oauth, jwt, session cookie, \
         cache, rocksdb, embedded, in memory, key value store",
    ),
    (
        C::Review,
        FULL,
        "review, audit, critique, code review, security review, vet, proofread, proof the, inspect, second pair of eyes, \
         find problems, find issues, look for bugs, look for problems, assess, second opinion, sanity check",
    ),
    (
        C::Read,
        FULL,
        "read, read through, go through, look through, work through, comb through, walk through, skim, scan, \
         sift, trace, study, examine, digest, check, search through, go over, sweep, look over, pore over, \
         flag, spot, understand, explain, map out, find every, find all, list every, hunt, wade through, \
         plow through, look at, look, see if, is there, are there, say anything, mention, note, tell me, \
         go thru, pass over, one by one, one after the other, each of them, mark",
    ),
    (
        C::Large,
        FULL,
        "whole repo, whole repository, whole codebase, whole code base, whole project, whole tree, \
         whole thing, whole history, whole directory, whole folder, whole book, whole manual, whole spec, \
         whole crate, entire repo, entire repository, entire codebase, entire code base, entire project, \
         entire tree, entire history, entire thing, entire directory, entire folder, entire book, \
         entire manual, entire spec, entire crate, full repo, full repository, full codebase, full history, \
         full source, complete codebase, complete source, every file, all files, all the files, every module, \
         all modules, every single file, huge pr, huge diff, huge pull request, giant pr, giant diff, \
         giant file, massive pr, massive diff, massive pull request, enormous diff, monster pr, \
         cover to cover, top to bottom, front to back, end to end read, all of src, context window, \
         million tokens, fits in context, in one go, start to finish, git history, commit history, \
         full transcript, vendored source, thousands of lines, thousands of files, hundreds of files, \
         hundreds of pages, thousands of pages, long diff, big diff, huge file, line by line, every commit, \
         all commits, every page, legacy codebase, full test suite, entire test suite, \
         since the last release, vendor directory, large review, all of it, full pass, read all",
    ),
    (
        C::Large,
        HALF,
        "codebase, code base, monorepo, huge, giant, massive, enormous, entire, whole, everything",
    ),
    (
        C::Merge,
        FULL,
        "merge, combine, consolidate, reconcile, unify, synthesize, synthesise, synthesis, integrate, weave, \
         weave together, distill, distil, boil down, fold, fold together, pull together, bring together, \
         put together, blend, fuse, roll up, condense, stitch together, stitch, tie together, harmonize, \
         converge, draw together, cross reference, join up, together, boil",
    ),
    (
        C::Merge,
        HALF,
        "summarize, summarise, sum up, turn into, collapse, take the best, best parts, best of",
    ),
    (
        C::Compare,
        FULL,
        "compare, contrast, contradict, contradiction, disagree, agree, overlap, weigh, weigh up, \
         common thread, common theme, common ground, differ, conflict, conflicting, diverge, triangulate, \
         side by side, tension, consensus",
    ),
    (
        C::Texts,
        FULL,
        "the two, the three, the four, the five, all three, all four, all five, each wrote, each proposed",
    ),
    (
        C::OneResult,
        FULL,
        "into one, into a single, one document, single document, one coherent, single coherent, \
         coherent picture, big picture, overall picture, one plan, single plan, one recommendation, \
         single recommendation, one narrative, single narrative, unified, joint recommendation, one view, \
         synthesis, coherent whole, one answer, single answer, overarching, at once, simultaneously, \
         hold all, common thread, common theme, one position, one story, one page, a single, single, \
         final version, master document, in common, holistic, joint, integrated, literature review, \
         meta analysis, in light of each other, out of both, out of all, make one, they add up to, \
         common line, underlying, all together, taken together, common denominator, in one, compromise",
    ),
    (
        C::Data,
        FULL,
        "csv, tsv, parquet, dataset, data set, dataframe, pandas, polars, duckdb, spreadsheet, excel, xlsx, \
         jsonl, ndjson, raw data, log data, telemetry, time series, survey result, survey response, \
         benchmark result, query result, access log, usage data, sales data, a b test, ab test, \
         experiment result, sensor reading, raw result, jupyter, notebook, data dump, csv export, \
         clickstream, data quality, missing value, data point, kpi, etl, null value, most common, \
         feature importance",
    ),
    (
        C::Data,
        HALF,
        "data, row, column, table, record, field, metric, measurement, log, json, yaml, xml, export, entry, \
         log line, sample, request log, timing, number, event, event log, experiment, result, duplicate, \
         bigquery, snowflake, clickhouse, warehouse, dump, query, duration, sql query, sql, free text answer",
    ),
    (
        C::Statistic,
        FULL,
        "median, percentile, p50, p90, p95, p99, quantile, average, mean, standard deviation, outlier, \
         correlation, correlate, histogram, distribution, regression line, trend, anomaly, seasonality, \
         cohort, retention, significance, statistically significant, confidence interval, frequency, \
         breakdown, per day, per week, per month, per region, per user, by region, by month, by week, by day, \
         week over week, month over month, top 10, top ten, null rate, bucket, busiest, error rate, \
         descriptive statistics, slowest, how often, per country, by country, by type, per type, quartile, \
         skew, sum by, groupby, top 5, top 20, over time, seasonal, holdout, extrapolate, variance, \
         total time",
    ),
    (
        C::Chart,
        FULL,
        "chart, plot, pivot table, pivot, bar chart, scatter, heatmap, line chart, crosstab, dashboard of",
    ),
    (
        C::Analyze,
        FULL,
        "analyze, analyse, analysis, aggregate, group by, group, tabulate, bin, bucket, break down, \
         count how many, count, rank, summary statistics, profile the data, cluster, crunch, find pattern, \
         pattern in, detect, clean, deduplicate, dedupe, explore, insight, slice, how many, fit",
    ),
    (
        C::Structured,
        FULL,
        "structured output, structured data, as json, to json, valid json, json object, json array, \
         json schema, in json, return json, output json, json only, as csv, to csv, as a table, into a table, \
         in a table, machine readable, matching this schema, match the schema, key value, markdown table, \
         as yaml, to yaml, strict schema, typed records, with columns, with these fields, following fields, \
         into json, json with",
    ),
    (
        C::Extract,
        FULL,
        "extract, parse, convert, normalize, normalise, pull out, transform, classify, label, tag, \
         categorize, categorise, reshape, flatten, tabulate, scrape, annotate, map each, bucket",
    ),
    (
        C::Crm,
        FULL,
        "crm, hubspot, salesforce, pipedrive, zoho, lead score, lead scoring, sales pipeline, deal pipeline, \
         sales team, sales rep, account executive, prospect, deal, deal stage, closed won, closed lost, \
         win rate, close rate, sales forecast, quota, opportunity, funnel, conversion funnel, churn, renewal, \
         upsell, cross sell, arr, mrr, recurring revenue, customer success, contact record, \
         follow up sequence, pipeline stage, pipeline coverage, pipeline value, account owner, territory, \
         sales cycle, inbound lead, qualified lead, mql, sql to opportunity, customer list, nurture, \
         at risk account, lead source, customer segment, segment customers, outreach, dunning, \
         book of business, follow up with, close date, salesperson, contacts, customer base",
    ),
    (
        C::Crm,
        HALF,
        "lead, customer, sales, account, contact, stage, pipeline, client, forecast, rep, subscriber",
    ),
    (
        C::Finance,
        FULL,
        "revenue, profit, margin, gross margin, commission, discount, interest, interest rate, \
         compound interest, amortization, amortize, loan, mortgage, payback, payback period, break even, \
         breakeven, roi, npv, irr, ltv, lifetime value, cac, acquisition cost, burn rate, runway, invoice, \
         vat, tax, price, pricing tier, cash flow, budget, cost per, growth rate, cagr, per seat, \
         depreciation, dilution, cap table, payout",
    ),
    (
        C::Finance,
        HALF,
        "cost, spend, plan price, monthly, yearly, annual, total, rate, fee, bonus",
    ),
    (
        C::Mathematics,
        FULL,
        "math, maths, mathematics, mathematical, probability, expected value, expectation, bayes, bayesian, \
         equation, integral, derivative, differentiate, eigenvalue, eigenvector, determinant, linear algebra, \
         linear program, simplex, combinatorics, permutation, binomial, poisson, markov, monte carlo, \
         theorem, proof, prove, lemma, induction, closed form, recurrence, asymptotic, geometric series, \
         polynomial, modulo, modular arithmetic, prime number, sample size, standard error, variance, \
         covariance, confidence bound, optimal solution, objective function, queueing theory, littles law, \
         formula, upper bound, lower bound, gradient, convex, likelihood, statistical power, least squares, \
         logarithm, square root, dice, odds, birthday problem, collision probability, inequality, factorial, \
         matrix inverse, hash collision, trigonometry, fibonacci, integer program, knapsack, geometry, \
         mathematically, quadratic, random walk, exponent, exponential, big o, statistically, compounded, \
         proportion, proportional, expected number, expected cost, ratio, percent, arithmetic, integrate, \
         infinity, how many samples",
    ),
    (
        C::Compute,
        FULL,
        "calculate, compute, solve, work out, derive, estimate, prove, how much, what are the odds, \
         extrapolate, maximize, minimize, optimize, add up, what percentage, solve for, simulate, \
         do the math, expected, figure out how much, figure out how many, score, forecast, convert to percent",
    ),
    (
        C::Infrastructure,
        FULL,
        "docker, dockerfile, docker compose, container, container image, kubernetes, k8s, k3s, helm, \
         helm chart, kubectl, ingress, daemonset, terraform, pulumi, ansible, cloudformation, nginx, caddy, \
         haproxy, traefik, reverse proxy, load balancer, systemd, systemd unit, vm, virtual machine, qemu, \
         kvm, proxmox, vagrant, hypervisor, vpc, subnet, firewall, iptables, nftables, wireguard, tailscale, \
         vpn, ssh, bastion, dns, dns record, tls, cert, tls certificate, ssl certificate, lets encrypt, \
         certbot, certificate renewal, ec2, eks, gke, ecs, fargate, cloud run, aws, gcp, azure, hetzner, \
         digitalocean, iam role, s3 bucket, ci runner, github runner, self hosted runner, build agent, \
         ci pipeline, cd pipeline, prometheus, grafana, loki, alertmanager, backup job, nightly backup, \
         restore from backup, disk space, disk full, swap, raid, zfs, nfs, cron job, cronjob, autoscaling, \
         autoscale, node pool, staging environment, production server, on prem, bare metal, rack, failover, \
         replica set, blue green, canary deploy, zero downtime, rollback, github actions, gitlab ci, jenkins, \
         buildkite, registry mirror, image registry, healthcheck, health check, liveness probe, \
         readiness probe, oom killed, oomkilled, secrets manager, vault, port forwarding, open port, \
         cloud init, infrastructure, infra, devops, sre, apt, kernel module, colima, podman, lxc, minio, \
         rsync, logrotate, journald, vps, droplet, hostname, cidr, systemctl, journalctl, ulimit, sysctl, \
         grub, packer, ami, nat gateway, security group, route53, cloudflare, cdn, replication lag, \
         pgbouncer, ipv6, mtls, rbac, service account, namespace, image size, multi stage build, layer cache, \
         infrastructure as code, iac, state file, data volume, kernel upgrade, wildcard certificate, \
         load balancing, base image, security update, unattended upgrade, compose file",
    ),
    (
        C::Server,
        FULL,
        "server, pod, cluster, host, staging, production, prod, cloud, instance, proxy, node, fleet, \
         datacenter, data center, deployment, cron, runner, uptime, on call, disk, \
         cpu, bandwidth, backup, certificate, gpu, provisioning, downtime, database, capacity, \
         alerting, gateway, volume, mount, mirror, machine",
    ),
    (
        C::Server,
        HALF,
        "box, region, environment, network, port, socket, monitoring",
    ),
    (
        C::Deploy,
        FULL,
        "deploy, provision, set up, setup, configure, roll out, spin up, stand up, bring up, migrate, host, \
         harden, containerize, dockerize, scale up, scale out, scale down, monitor, restart, reboot, back up, \
         restore, patch the server, rotate, mount, autoscale, expose, tear down, bootstrap, install, resize, \
         renew, move, wire up, self host, move to, upgrade the",
    ),
    (
        C::Creative,
        FULL,
        "tagline, slogan, headline, copy, copywriting, landing page, blog post, blog article, blog, \
         newsletter, tweet, social post, linkedin post, social media, announcement, press release, \
         elevator pitch, pitch, story, short story, poem, haiku, limerick, sonnet, verse, rhyme, lyrics, \
         song, jingle, screenplay, video script, voiceover, voice over, caption, bio, about page, \
         mission statement, product description, app description, store description, testimonial, ad, \
         ad copy, advert, campaign, brand name, brand voice, branding, name ideas, product name, persona, \
         joke, pun, toast, speech, dialogue, metaphor, analogy, subject line, call to action, microcopy, \
         ux copy, empty state, onboarding email, welcome email, launch email, marketing email, cold email, \
         launch post, show hn, product hunt, invitation, greeting card, farewell card, birthday card, \
         fairy tale, novel, fiction, narrative hook, opening line, keynote, talk title, talk abstract, \
         teaser, trailer, mascot, backstory, lore, flavor text, faq copy, hero text, hero section, creative, \
         brainstorm names, motto, wording, comic, podcast, horoscope, obituary, job ad, job posting, \
         recruiting post, ode, fable, monologue, scene, thank you note, love letter, value proposition, \
         one liner, closing line, alt text, instagram, tiktok, youtube, storyboard, readme intro, \
         release announcement, eulogy, apology email, greeting, personality, opening paragraph, catchphrase, \
         app store description, store listing, satire, satirical, name for, name idea, names that, \
         explainer video, video, character",
    ),
    (
        C::Creative,
        HALF,
        "title, intro, paragraph, email, post, article, marketing, brand, launch, sentence, opening, greet, \
         thank the, thank our, announce",
    ),
    (
        C::Tone,
        FULL,
        "playful, witty, punchy, catchy, funny, humorous, humor, humour, friendly, warm, engaging, upbeat, \
         tone, voice, tone of voice, snappy, inspiring, whimsical, sarcastic, cheeky, quirky, memorable, \
         heartfelt, in the style of, conversational, emotional, less corporate, not salesy, salesy, \
         evocative, persuasive, lighthearted, poetic, cheesy, hype, buzzword, boring, human, tongue in cheek, \
         dramatic, exciting, excited, delightful, sincere, empathetic, fun, dull, bland, stiff, dry, \
         appealing, short and sweet",
    ),
    (
        C::Write,
        FULL,
        "write, draft, compose, come up with, brainstorm, rewrite, polish, pitch, phrase, rephrase, reword, \
         invent, imagine, tell a, name, name our, name the, give me a, punch up, spice up, ghostwrite, craft",
    ),
    (
        C::Dependency,
        FULL,
        "dependency, transitive dependency, lockfile, lock file, npm audit, cargo audit, pip audit, \
         outdated package, third party library, third party, sbom, software bill of materials, license, \
         licence, gpl, agpl, copyleft, npm package, node modules, transitive, direct dependency, \
         peer dependency, deprecated package, unmaintained, abandoned package, pinned, version drift, \
         dependabot, renovate, supply chain, vendored copy, shared library, common library, \
         diamond dependency, dependency graph, dependency tree, left pad, log4j, openssl version, lodash, \
         import graph, version skew, version mismatch, end of life, deps, breaking change, \
         reverse dependency, dependent, yanked, upgrade path, internal library, circular import, \
         import cycle, duplicate version, duplicate library, unused dependency",
    ),
    (
        C::Dependency,
        HALF,
        "package, library, crate, sdk, gem, module version, outdated, deprecated, upgrade, bump, import, \
         depend, npm, pip, cargo, maven, gradle, yarn, pnpm, pypi, wheel, framework version, lib, pull in",
    ),
    (
        C::Flaw,
        FULL,
        "cve, vulnerability, vulnerable, advisory, security advisory, exploit, malicious, typosquat, \
         supply chain, backdoor, affected by, ghsa, patched version, affected version",
    ),
    (
        C::Projects,
        FULL,
        "across projects, across repos, across repositories, across the org, across services, across teams, \
         across our, across all, cross project, cross repo, org wide, company wide, all our repos, \
         every repo, every repository, each repo, each repository, each service, every service, all services, \
         all projects, every project, each project, all repos, all repositories, which repos, \
         which repositories, which services, which projects, which of our, which teams, repos that, \
         repositories that, services that, our repos, our services, our projects, our repositories, \
         github org, whole org, entire org, multi repo, polyrepo, sibling repo, sibling project, \
         downstream consumer, downstream repo, consumers of, workspace member, all the repos, \
         all the services, all the projects, both repos, other repos, frontend and backend, all frontends, \
         all backends, all the frontends",
    ),
    (
        C::Projects,
        HALF,
        "repos, repositories, workspaces, monorepo, everywhere, downstream, across, who else, anyone else, \
         is anyone, shared package, shared client, \
         any team",
    ),
    (
        C::Version,
        FULL,
        "version, same version, older version, newer version, latest version, major version, semver, \
         still on, stuck on, pinned to, out of date, up to date, upgrade, bump",
    ),
    (
        C::Find,
        FULL,
        "find, list, which, inventory, catalog, check, scan, look up, search, report, still use, who uses, \
         uses, using, use, depends on, depend on, pull in, import, locate, identify, map, audit, trace, \
         break, would break, breaks, who, where, call, where is, still in use",
    ),
    (
        C::Code,
        FULL,
        "function, method, unit test, failing test, flaky test, test case, bug, off by one, null pointer, \
         exception, stack trace, traceback, regex, for loop, loop, variable, closure, borrow checker, \
         lifetime, linter, clippy, eslint, type error, compile error, compiler error, syntax error, typo, \
         docstring, doc comment, unwrap, panic, race condition, memory leak, button, css, modal, dropdown, \
         tooltip, react component, hook, endpoint, handler, middleware, parser, cli flag, flag, \
         command line option, enum, struct, trait, generic, class, constructor, getter, iterator, callback, \
         await, mutex, deadlock, segfault, date format, pagination, validation, form, snapshot test, \
         integration test, e2e test, test, fixture, mock, git rebase, rebase, merge conflict, cherry pick, \
         code style, warning, helper, error message, argument, parameter, return type, null check, edge case, \
         sort order, infinite loop, timeout, retry, script, bash script, shell script, python script, \
         stylesheet, sidebar, component, dark mode, print statement, log statement, timezone, utf 8, \
         encoding, leak, null, undefined, array, recursion, navbar, layout, query param, hash map, lru cache, \
         binary search, commit, argparse, unit, sorting, string, checkbox, input field, keyboard shortcut, \
         merge the branch, merge branch, merge main, merge master, copy paste, license header, nan, icon, \
         label, page crash, misaligned",
    ),
    (
        C::Fix,
        FULL,
        "fix, debug, refactor, rename, patch, correct, repair, resolve, simplify, speed up, remove, delete, \
         inline, extract a function, extract into, replace, handle, silence, update, tweak, change, make it, \
         move the function, move the method, move the file, move the code",
    ),
    (
        C::Implement,
        FULL,
        "add, implement, create a function, write a test, write tests, write a function, write a script, \
         write a program, code, support, extend, wire, hook up, make a function, introduce, port, \
         generate a test",
    ),
];
