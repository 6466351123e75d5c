//! The built program, run as a user runs it. One binary; this is its table of contents.
//!
//! Each test has a machine of its own (`TestEnv`): home, project, cleared environment, a clock
//! that stands still. Executors that misbehave are real programs.

#![expect(
    clippy::disallowed_methods,
    reason = "tests lay out the files around the program with what the standard library has"
)]
#![expect(clippy::unwrap_used, reason = "what a test cannot unwrap has failed")]

/// Calls of tools, as clients report them to hooks.
mod agent_calls;
/// Coding agents, played by scripts that write what the real ones wrote.
mod agents;
/// Ledgers that were archived.
mod archives;
/// Commands that need no prompt of a client's.
mod auto_allow;
/// Tasks that wait for each other, and are told to `bd`.
mod beads;
/// How full a context is, and checkpoints, from what clients write.
mod budget;
/// Answers are checked before they are believed, and again when they are asked for.
mod checking;
/// What blocks a clear, and how to go on.
mod checkpoints;
/// What coding agents tell of their sessions, and are told.
mod client_sessions;
/// The guard in the settings of coding agents.
mod clients;
/// Groups of commands in help, short forms, suggestions for mistyped commands.
mod command_line;
/// Completions that know the project.
mod completions;
/// Models of the user's configuration.
mod configured_models;
/// Executors that try to get further than they were let.
mod confinement;
/// What executors may not write, nor hold, and what the record has of it.
mod confinement_denied;
/// Executors that ought to be over: grandchildren, orphans, and whom a container holds already.
mod confinement_ends;
/// The way out of their network.
mod confinement_network;
/// Files that one agent edits while another works on them.
mod contested_files;
/// What git brings into a tree while another works on it.
mod contested_trees;
/// Sessions of one project that hand over to another.
mod crossing;
/// The main job: a prompt in, a committed summary out.
mod delegate;
/// Why a delegation has no answer, and answers in the wrong wrapping.
mod delegation_reasons;
/// Delegations that go on by themselves.
#[cfg(target_os = "linux")]
mod detached;
/// More of a digest than its summary, one section of it, and what it does not read.
mod digest_options;
/// Finding executors that are installed here, or listen here.
mod discovering;
/// The examples of README and `docs/`.
mod doc_examples;
/// What `doctor` and `status` say is wrong, and how to mend it.
mod doctor;
/// `doctor` in eight lines.
mod doctor_summary;
mod dropped_contexts;
/// What is told of an executor's entry as it changes, and what of it is not granted.
mod executor_entries;
/// Registering, checking and preferring executors.
mod executors;
/// Executors that crash, hang, lie or flood, and disks that fail.
mod faults;
/// Files that file tools write over.
mod file_tool_snapshots;
/// Passages found by words and names.
mod find;
mod find_names;
/// Tools of other servers, decided by what they do.
mod foreign_tools;
/// A goal whose process is killed again and again.
mod goal_kills;
mod goal_proposals;
/// From a goal in words to a plan that ran.
mod goals;
/// What plans may do, and what they can call.
mod governing;
/// What executors may read and write while the repository changes below them.
mod grants;
/// The share of a session's claims that have evidence.
mod grounding;
/// What the guard says to commands, and how well it does on a file of them.
mod guard;
/// What `cake_config.yaml` changes, and who may say what in it.
mod guard_config;
mod guard_looks;
/// What is lost or broken of a session comes back, or is named.
mod healing;
/// When hooks were last asked, and sessions that did not ask.
mod heartbeat;
/// What coding agents are answered before their tools run.
mod hook;
/// Where the calls of coding agents happen, and what is the project's there.
mod hook_places;
/// What the journals are told of each decision.
mod hook_records;
/// What hooks cost.
mod hook_tokens;
/// Repositories that mean harm.
mod hostile;
/// Programs that repositories bring, and call by names that are ours.
mod hostile_programs;
/// `init`: what is created, and what is left alone.
mod init;
mod instructing;
mod intent_links;
mod intent_views;
mod intents;
/// What people and later sessions learn about errors: notifications, start lines, metrics.
mod intervention_reports;
/// Errors of agents' commands: recorded, answered, fixed.
mod interventions;
/// What the hook keeps of the tree before something runs that may lose work.
mod keeping;
/// Looking at the ledger and the journal, and finding out what was done to them.
mod ledger;
/// The log file of long-running commands.
mod logging;
/// The tools of the program, for coding agents.
/// Capabilities over time: versions, revocation of what is under way.
mod marketplace;
mod mcp;
/// The program as a server of tools, spoken to by a test.
mod mcp_server;
/// Files of sessions that two branches changed.
mod merging;
/// What agents tell one another, by verbs.
mod mesh;
/// What `doctor` and `status` say of a mesh.
mod mesh_doctor;
/// A mesh that is busy or broken, as sessions and verdicts meet it.
mod mesh_faults;
/// What owners held who are gone.
mod mesh_owners;
/// The same by tools, for agents that reach no verb.
mod mesh_tools;
/// Models that are asked over HTTP, played by a server that follows a script.
mod models;
/// Citations of files that were moved.
mod moved_citations;
/// What clients' hooks hand over from one agent to another.
mod neighbours;
mod newcomer;
/// Projects of more than one user, and clocks that were wrong.
mod owners;
/// Packages of a release, and the program of one in an empty root.
mod packages;
/// The memory of past sessions.
mod past_sessions;
/// Coding agents that speak the Agent Client Protocol, run as executors.
mod peers;
/// What a person has permitted, and what the guard has decided.
mod permits;
/// Ways round the door that each effect of a plan passes, and what a person sees of a call there.
mod plan_check;
mod plan_door;
/// Plans that are carried out, killed and gone on with.
mod plan_kills;
/// Where a run is gone on with, and by whom.
mod plan_places;
mod plan_runs;
/// Records that others add to those of a run.
#[cfg(target_os = "linux")]
mod plan_seals;
/// Programs in the language of plans, checked and evaluated.
mod plans;
/// Colors, width, links and the pager at a terminal; `--color`, `--quiet` and `--no-pager`.
mod printing;
/// Small projects to work on.
mod projects;
/// Checkpoints, proofs, and what a stranger can check without us.
mod proofs;
/// Words of others on their way to agents and terminals.
mod quoting;
/// Bringing a ledger back.
mod recovering;
/// Hooks that a client runs twice for one call, and hooks that may write no file.
mod repeated_hooks;
/// Guards that gave nothing away, and take one order after another.
mod reuse_of_guards;
/// One model, self-consistency and a federation on planted bugs.
mod review_comparison;
/// A careful form of a refused command in its place.
mod rewriting;
/// What a confined executor may not do to the machine, layer by layer.
mod sandbox_layers;
/// What `--json` prints, held against its published schemas.
mod schemas;
/// Executors that are a few lines of Python.
mod scripts;
/// Files that agents do not read.
mod secret_reads;
/// Whether an installation is complete, and the one that everything uses.
mod self_check;
/// Tools of other servers, called by plans.
mod server_tools;
/// Our server of tools in the settings of coding agents.
mod servers;
/// The daemon: what it serves, to whom, and how it ends.
mod serving;
/// Decisions outlive an agent's context.
mod session;
/// Where the files of a session disagree.
mod session_forks;
/// What one project takes of another's sessions.
mod session_sync;
/// The tree is kept, shown, brought back and let go.
mod snapshot;
/// What the loader does before the program starts.
mod startup;
/// `status` in eight lines.
mod status_summary;
/// Tasks that build on one another, and what is refused before anything runs.
mod submitting;
/// Help, examples, completions, manuals, colours.
mod terminal;
/// Tools of servers of the Model Context Protocol, called as executors.
mod threads;

mod tools;
/// The dashboard, and the overview behind it.
mod top;
/// What is kept of a call: without secrets, bounded, and whatever is in the way.
mod trail;
/// Twenty goals on a real repository.
mod twenty_goals;
/// A small project in two languages.
mod two_languages;
/// Bringing back what agents changed.
mod undo;
/// Decisions of a session that its trajectory does not have.
mod uninitialized;
mod uninstalling;
mod unrecorded;
/// Commands that reach a shell by another way than a shell tool.
mod unreported_commands;
/// Sessions in linked git worktrees.
mod worktrees;
/// The three zones that `init` lays, and the seed's scripts in them.
mod zones;
