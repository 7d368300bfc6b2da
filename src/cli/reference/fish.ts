// Writes the completion script for fish: one line for each word, flag and argument, with a condition on the words before it.
import type { CommandReference } from './commands.js'
import { allBranches, type Branch } from './tree.js'

export function fishCompletion(bin: string, tree: Branch): string {
  const lines = allBranches(tree).flatMap(branch => [
    ...branch.branches.map(
      ({ word, summary }) => `${under(bin, branch.words, 'exactly')} -f -a ${quote(word)} -d ${quote(summary)}`
    ),
    ...(branch.command ? commandLines(bin, branch.command) : [])
  ])
  const help = `${under(bin, [], 'exactly')} -f -a help -d ${quote('show help for a command')}`
  return `${SCRIPT.replaceAll('@BIN@', bin)}${[...lines, help].join('\n')}\n`
}

function commandLines(bin: string, command: CommandReference): string[] {
  const here = under(bin, command.words, 'below')
  const flags = command.flags.map(({ name, char, description, takesValue, ...value }) =>
    [
      here,
      `-l ${name}`,
      ...(char ? [`-s ${char}`] : []),
      ...(takesValue ? ['-r'] : []),
      ...proposal(bin, value),
      `-d ${quote(description)}`
    ].join(' ')
  )
  const values = command.arguments.flatMap(({ description, ...value }) =>
    proposal(bin, value).map(text => `${here} ${text} -d ${quote(description)}`)
  )
  return [...flags, ...values]
}

/** Returns the values to choose from, or the function that looks up names. Without both, fish proposes files. */
function proposal(bin: string, { options, names }: { options: readonly string[]; names?: string }): string[] {
  if (names !== undefined) return [`-f -a '(__${bin}_names ${names})'`]
  return options.length > 0 ? [`-f -a ${quote(options.join(' '))}`] : []
}

function under(bin: string, words: readonly string[], how: 'exactly' | 'below'): string {
  return `complete -c ${bin} -n ${quote([`__${bin}_${how}`, ...words].join(' '))}`
}

const quote = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`

const SCRIPT = `# fish completion for @BIN@: @BIN@ completion fish > ~/.config/fish/completions/@BIN@.fish

# The words before the cursor, without flags and a leading help.
function __@BIN@_words
    set -l given (commandline -opc)
    set -l words (string match -v -- '-*' $given[2..-1])
    test "$words[1]" = help; and set -e words[1]
    echo "$words"
end

# The value of a flag before the cursor; an empty line without the flag.
function __@BIN@_value
    set -l given (commandline -opc)
    if set -l at (contains -i -- $argv[1] $given)
        echo $given[(math $at + 1)]
    else
        echo
    end
end

# The names of records of one kind. It takes at most _@BIN@_seconds (1), and prints nothing on errors.
function __@BIN@_names
    set -l seconds 1
    set -q _@BIN@_seconds; and set seconds $_@BIN@_seconds
    timeout $seconds @BIN@ __names $argv[1] (commandline -ct) --seconds $seconds --home (__@BIN@_value --home) --to (__@BIN@_value --to) 2>/dev/null
end

# Whether those words are exactly the given ones.
function __@BIN@_exactly
    test (__@BIN@_words) = "$argv"
end

# Whether those words begin with the given ones.
function __@BIN@_below
    string match -q -- "$argv *" (__@BIN@_words)" "
end

`
