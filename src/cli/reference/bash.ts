// Writes the completion script for bash. It contains every command, so that no key press has to start a process.
import type { CommandReference } from './commands.js'
import { allBranches, type Branch } from './tree.js'

/** The script for the program `bin`; its shell functions have that name as a prefix. */
export function bashCompletion(bin: string, tree: Branch): string {
  const branches = allBranches(tree)
  const commands = branches.flatMap(({ command }) => command ?? [])
  const words = branches.filter(branch => branch.branches.length > 0)
  return SCRIPT.replaceAll('@BIN@', bin)
    .replace('@WORDS@', () => cases(words.map(branch => [branch.words.join(' '), namesOf(branch)])))
    .replace('@FLAGS@', () => cases(commands.map(command => [pathOf(command), flagNames(command).join(' ')])))
    .replace('@TAKING@', () => cases(commands.map(command => [pathOf(command), flagNames(command, true).join(' ')])))
    .replace('@VALUES@', () => cases(commands.flatMap(valuesOf)))
    .replace('@ARGUMENTS@', () => cases(commands.flatMap(argumentsOf)))
}

const pathOf = ({ words }: CommandReference) => words.join(' ')

/** The words that may follow. The first word may also be `help`, followed by the words of a command. */
function namesOf({ words, branches }: Branch): string {
  const names = branches.map(({ word }) => word)
  return [...names, ...(words.length === 0 ? ['help'] : [])].join(' ')
}

function flagNames({ flags }: CommandReference, takingValues = false): string[] {
  return flags
    .filter(({ takesValue }) => takesValue || !takingValues)
    .flatMap(({ name, char }) => [`--${name}`, ...(char ? [`-${char}`] : [])])
}

function valuesOf(command: CommandReference): [string, string][] {
  return command.flags
    .filter(({ options }) => options.length > 0)
    .flatMap(({ name, char, options }) =>
      [`--${name}`, ...(char ? [`-${char}`] : [])].map((flag): [string, string] => [
        `${pathOf(command)} ${flag}`,
        options.join(' ')
      ])
    )
}

function argumentsOf(command: CommandReference): [string, string][] {
  const last = command.arguments.length - 1
  return command.arguments.flatMap(({ options }, at): [string, string][] =>
    options.length === 0 ? [] : [[`${pathOf(command)} ${at === last && command.repeats ? '*' : at}`, options.join(' ')]]
  )
}

/** The lines of a `case`. A `*` at the end of a pattern stays unquoted, so that it matches anything. */
function cases(entries: readonly (readonly [pattern: string, words: string])[]): string {
  return entries
    .filter(([, words]) => words !== '')
    .map(([pattern, words]) => {
      const open = pattern.endsWith('*')
      return `    ${quote(open ? pattern.slice(0, -1) : pattern)}${open ? '*' : ''}) REPLY=${quote(words)} ;;`
    })
    .join('\n')
}

const quote = (text: string) => `'${text.replaceAll("'", "'\\''")}'`

const SCRIPT = `# bash completion for @BIN@: load it with  source <(@BIN@ completion bash)

_@BIN@_words() {
  REPLY=
  case $1 in
@WORDS@
  esac
}

_@BIN@_flags() {
  REPLY=
  case $1 in
@FLAGS@
  esac
}

# The flags of a command that take a value.
_@BIN@_taking() {
  REPLY=
  case $1 in
@TAKING@
  esac
}

# The possible values of a flag; nothing when it takes any value.
_@BIN@_values() {
  REPLY=
  case $1 in
@VALUES@
  esac
}

# The possible values of an argument, by its position.
_@BIN@_arguments() {
  REPLY=
  case $1 in
@ARGUMENTS@
  esac
}

_@BIN@() {
  local REPLY current=\${COMP_WORDS[COMP_CWORD]} path='' flag='' word position=0 at
  COMPREPLY=()
  for ((at = 1; at < COMP_CWORD; at++)); do
    word=\${COMP_WORDS[at]}
    if [[ -n $flag ]]; then
      # bash splits --flag=value into three words.
      [[ $word == = ]] || flag=
      continue
    fi
    if [[ $word == -* ]]; then
      _@BIN@_taking "$path"
      [[ " $REPLY " != *" $word "* ]] || flag=$word
      continue
    fi
    [[ $at -eq 1 && $word == help ]] && continue
    _@BIN@_words "$path"
    if [[ $position -eq 0 && " $REPLY " == *" $word "* ]]; then path=\${path:+$path }$word
    else ((position++)); fi
  done
  [[ $current != = ]] || current=
  if [[ -n $flag ]]; then _@BIN@_values "$path $flag"
  elif [[ $current == -* ]]; then _@BIN@_flags "$path"
  else
    _@BIN@_words "$path"
    [[ $position -eq 0 && -n $REPLY ]] || _@BIN@_arguments "$path $position"
  fi
  COMPREPLY=($(compgen -W "$REPLY" -- "$current"))
  # When any value is possible, complete the names of files.
  [[ -n $REPLY ]] || compopt -o default
}

complete -F _@BIN@ @BIN@
`
