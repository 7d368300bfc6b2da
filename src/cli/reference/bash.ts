// Writes the completion script for bash. It contains every command, so a key press starts a process only to look up names.
import type { CommandReference } from './commands.js'
import { allBranches, type Branch } from './tree.js'

/** Returns the script for the program `bin`; its shell functions have that name as a prefix. */
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

/** Returns the words that may follow. The first word may also be `help`, followed by the words of a command. */
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
    .filter(({ options, names }) => options.length > 0 || names !== undefined)
    .flatMap(({ name, char, ...value }) =>
      [`--${name}`, ...(char ? [`-${char}`] : [])].map((flag): [string, string] => [
        `${pathOf(command)} ${flag}`,
        proposed(value)
      ])
    )
}

function argumentsOf(command: CommandReference): [string, string][] {
  const last = command.arguments.length - 1
  return command.arguments.flatMap((value, at): [string, string][] =>
    proposed(value) === '' ? [] : [[`${pathOf(command)} ${at === last && command.repeats ? '*' : at}`, proposed(value)]]
  )
}

/** Returns the values, or `@KIND` where the script looks up names. */
const proposed = ({ options, names }: { options: readonly string[]; names?: string }): string =>
  names === undefined ? options.join(' ') : `@${names}`

/** Returns the lines of a `case`. A `*` at the end of a pattern stays unquoted, so that it matches anything. */
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

# The names of records of one kind that begin with a text. It takes at most _@BIN@_seconds (1), and prints nothing on errors.
_@BIN@_names() {
  local seconds=\${_@BIN@_seconds:-1}
  REPLY=$(timeout "$seconds" @BIN@ __names "$1" "$2" --seconds "$seconds" --home "$home" --to "$folder" 2>/dev/null | cut -f 1)
}

_@BIN@() {
  local REPLY current=\${COMP_WORDS[COMP_CWORD]} path='' flag='' word position=0 at home='' folder='' asked=''
  COMPREPLY=()
  for ((at = 1; at < COMP_CWORD; at++)); do
    word=\${COMP_WORDS[at]}
    if [[ -n $flag ]]; then
      # bash splits --flag=value into three words.
      [[ $word != = ]] || continue
      [[ $flag != --home ]] || home=$word
      [[ $flag != --to ]] || folder=$word
      flag=
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
  if [[ $REPLY == @* ]]; then asked=yes; _@BIN@_names "\${REPLY#@}" "$current"; fi
  COMPREPLY=($(compgen -W "$REPLY" -- "$current"))
  # When any value is possible, complete file names.
  [[ -n $REPLY || -n $asked ]] || compopt -o default
}

complete -F _@BIN@ @BIN@
`
