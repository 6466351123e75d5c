//! Completion scripts: clap's own, and a few lines that ask `callosum complete` for values of the project.

use clap_complete::Shell;

/// Returns the completion script of a shell.
pub(super) fn script(shell: Shell) -> String {
    let mut bytes = Vec::new();
    clap_complete::generate(shell, &mut super::tree(), "callosum", &mut bytes);
    let script = String::from_utf8_lossy(&bytes).into_owned();
    match shell {
        Shell::Bash => script + BASH,
        Shell::Zsh => zsh(&script),
        Shell::Fish => script + FISH,
        _ => script,
    }
}

/// `callosum` is looked up in PATH, not taken from the line: the line may name a program of a cloned repository. No
/// `compgen -W`, which expands what is in its words.
const BASH: &str = r#"
# Values that only the project knows: executors, tasks, runs, beads, snapshots.
_callosum_values() {
    local value
    COMPREPLY=()
    while IFS= read -r value; do
        COMPREPLY+=("$value")
    done < <(command callosum complete -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
    [[ ${#COMPREPLY[@]} -gt 0 ]] || _callosum "$@"
}
complete -F _callosum_values -o bashdefault -o default callosum
"#;

/// The lines that clap's script for zsh ends with: they call the function, or register it.
const ZSH_END: &str = "if [ \"$funcstack[1]\" = \"_callosum\" ]; then";

const ZSH: &str = r#"# Values that only the project knows: executors, tasks, runs, beads, snapshots.
functions -c _callosum _callosum_static
_callosum() {
    local -a values
    values=(${(f)"$(command callosum complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)"})
    if (( ${#values} )); then
        compadd -a values
    else
        _callosum_static "$@"
    fi
}

"#;

/// Fish asks only the completions of an option for its value.
const FISH: &str = r"
# Values that only the project knows: executors, tasks, runs, beads, snapshots.
function __fish_callosum_values
    set -l words (commandline -opc)
    command callosum complete -- $words[2..] (commandline -ct) 2>/dev/null
end
complete -c callosum -a '(__fish_callosum_values)'
complete -c callosum -n '__fish_seen_subcommand_from delegate scan deps tests api query export' -l executor -rfa '(__fish_callosum_values)'
complete -c callosum -n '__fish_seen_subcommand_from delegate' -l link -rfa '(__fish_callosum_values)'
complete -c callosum -n '__fish_seen_subcommand_from audit' -l task -rfa '(__fish_callosum_values)'
complete -c callosum -n '__fish_seen_subcommand_from bead' -l needs -rfa '(__fish_callosum_values)'
complete -c callosum -n '__fish_seen_subcommand_from bead' -l remove-dependency -rfa '(__fish_callosum_values)'
complete -c callosum -n '__fish_seen_subcommand_from decide' -l bead -rfa '(__fish_callosum_values)'
";

/// Puts the function that asks first between clap's functions and the lines that register one.
fn zsh(script: &str) -> String {
    script.replacen(ZSH_END, &format!("{ZSH}{ZSH_END}"), 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_ask_for_values_of_the_project() {
        for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
            let script = script(shell);
            assert!(script.contains("command callosum complete -- "), "{shell}");
        }
    }
}
