// Writes the completion script for fish: one line for each word, flag and argument, chosen by the words before it.
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
  const flags = command.flags.map(({ name, char, description, takesValue, options }) =>
    [
      here,
      `-l ${name}`,
      ...(char ? [`-s ${char}`] : []),
      ...(takesValue ? ['-r'] : []),
      ...(options.length > 0 ? [`-f -a ${quote(options.join(' '))}`] : []),
      `-d ${quote(description)}`
    ].join(' ')
  )
  const values = command.arguments.filter(({ options }) => options.length > 0)
  return [
    ...flags,
    ...values.map(({ options, description }) => `${here} -f -a ${quote(options.join(' '))} -d ${quote(description)}`)
  ]
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

# Whether those words are exactly the given ones.
function __@BIN@_exactly
    test (__@BIN@_words) = "$argv"
end

# Whether those words begin with the given ones.
function __@BIN@_below
    string match -q -- "$argv *" (__@BIN@_words)" "
end

`
