// Writes the completion script for zsh: one function for each branch of the tree, which calls zsh's _arguments.
import type { CommandReference, FlagReference } from './commands.js'
import { allBranches, type Branch } from './tree.js'

export function zshCompletion(bin: string, tree: Branch): string {
  const functions = allBranches(tree).map(branch => (branch.command ? leaf(bin, branch.command) : inner(bin, branch)))
  const load = `# zsh completion for ${bin}: ${bin} completion zsh > a folder of $fpath/_${bin}`
  // A file in $fpath is the body of a function; otherwise the file is sourced as a script. Both must work.
  const end = `if [[ $funcstack[1] == _${bin} ]]; then _${bin} "$@"; else compdef _${bin} ${bin}; fi`
  return [`#compdef ${bin}`, load, NAMES.replaceAll('@BIN@', bin), ...functions, end].join('\n\n').concat('\n')
}

const nameOf = (bin: string, words: readonly string[]) => ['', bin, ...words].join('_')

function inner(bin: string, { words, branches }: Branch): string {
  const help = words.length === 0 ? [{ word: 'help', summary: 'show help for a command' }] : []
  const known = [...branches, ...help].map(({ word, summary }) => `    ${quote(`${word}:${summary}`)}`)
  return [
    `${nameOf(bin, words)}() {`,
    '  local curcontext=$curcontext state line',
    '  local -a known=(',
    ...known,
    '  )',
    "  _arguments -C '1: :->word' '*:: :->rest'",
    '  case $state in',
    '    word) _describe -t commands command known ;;',
    '    rest)',
    '      case $words[1] in',
    ...branches.map(({ word, words: path }) => `        ${word}) ${nameOf(bin, path)} ;;`),
    ...(help.length > 0 ? [`        help) ${nameOf(bin, words)} ;;`] : []),
    '      esac ;;',
    '  esac',
    '}'
  ].join('\n')
}

function leaf(bin: string, command: CommandReference): string {
  const last = command.arguments.length - 1
  const values = command.arguments.map(({ name, ...value }, at) => {
    const position = at === last && command.repeats ? '*' : String(at + 1)
    return quote(`${position}:${plain(name)}:${completer(bin, value)}`)
  })
  const lines = [...command.flags.flatMap(flag => flagLines(bin, flag)), ...values]
  return [
    `${nameOf(bin, command.words)}() {`,
    '  _arguments \\',
    `${lines.map(line => `    ${line}`).join(' \\\n')}`,
    '}'
  ].join('\n')
}

function flagLines(bin: string, { name, char, description, takesValue, ...value }: FlagReference): string[] {
  const text = `[${plain(description)}]${takesValue ? `:${plain(name)}:${completer(bin, value)}` : ''}`
  return [quote(`--${name}${takesValue ? '=' : ''}${text}`), ...(char ? [quote(`-${char}${text}`)] : [])]
}

/** A space before the name of a function makes zsh call it with only these words. */
function completer(bin: string, { options, names }: { options: readonly string[]; names?: string }): string {
  if (names !== undefined) return ` _${bin}_names ${names}`
  return options.length > 0 ? `(${options.join(' ')})` : '_files'
}

const NAMES = `# The names of records of one kind. It takes at most _@BIN@_seconds (1), and prints nothing on errors.
_@BIN@_names() {
  local -a found
  local seconds=\${_@BIN@_seconds:-1}
  found=(\${(f)"$(timeout $seconds @BIN@ __names $1 "$PREFIX" --seconds $seconds --home "\${(Q)opt_args[--home]}" --to "\${(Q)opt_args[--to]}" 2>/dev/null)"})
  found=(\${found//:/\\\\:})
  found=(\${found/$'\\t'/:})
  _describe -t $1 $1 found
}`

/** Escapes text for _arguments. */
const plain = (text: string) => text.replace(/[\\:[\]]/g, sign => `\\${sign}`)

const quote = (text: string) => `'${text.replaceAll("'", "'\\''")}'`
