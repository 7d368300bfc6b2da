// Checks command lines in texts: the command exists, and it has the given flags.
import { Config } from '../../src/cli/oclif.js'
import { root } from '../../src/config.js'

interface Entry {
  readonly type?: string
  readonly char?: string
  readonly description?: string
  readonly summary?: string
  readonly options?: readonly string[]
  readonly hidden?: boolean
  readonly required?: boolean
  readonly allowNo?: boolean
}
export interface Described {
  readonly words: readonly string[]
  readonly summary?: string
  readonly examples: readonly string[]
  readonly flags: { readonly [name: string]: Entry }
  readonly args: { readonly [name: string]: Entry }
}
const program = await Config.load({ root })

/** All commands that are not hidden, as oclif knows them. */
export const commands = program.commands
  .filter(({ hidden, pluginName }) => !hidden && pluginName === 'gitstead')
  .map(command => ({ examples: [], ...command, words: command.id.split(':') }) as Described)

/** Returns why the program would not understand a command line (without `gitstead`), or undefined when it would. */
export function misunderstood(line: string): string | undefined {
  const words = wordsOf(line)
  if (words[0] === 'help' || ['--version', '--help'].includes(words[0] ?? '')) return undefined
  const command = [3, 2, 1]
    .map(length => commands.find(known => known.words.join(' ') === words.slice(0, length).join(' ')))
    .find(found => found?.words.every((word, at) => word === words[at]))
  if (!command) return `no such command: ${line}`
  return wrongWord(command, words.slice(command.words.length))
}

/** Returns which flag does not exist, or which required argument or flag is missing. */
function wrongWord({ words: path, flags, args }: Described, words: readonly string[]): string | undefined {
  const given = new Set<string>()
  let values = 0
  for (let at = 0; at < words.length; at++) {
    const [, name, value] = /^--([a-z][\w-]*)(=.*)?$/.exec(words[at] ?? '') ?? []
    const short = /^-([a-zA-Z])$/.exec(words[at] ?? '')?.[1]
    const known = name ?? Object.keys(flags).find(flag => flags[flag]?.char === short && short !== undefined)
    if (known === undefined || known === 'help') {
      if (known === undefined) values++
      else return undefined
      continue
    }
    const positive = known.replace(/^no-/, '')
    const flag = flags[known] ?? (flags[positive]?.allowNo ? flags[positive] : undefined)
    if (!flag) return `${path.join(' ')}: no flag --${known}`
    given.add(known)
    if (flag.type === 'option' && value === undefined) at++
  }
  const missing = Object.entries(flags).filter(([name, { required }]) => required && !given.has(name))
  if (missing.length > 0) return `${path.join(' ')}: no ${missing.map(([name]) => `--${name}`).join(', ')}`
  const needed = Object.values(args).filter(({ required }) => required).length
  return values < needed ? `${path.join(' ')}: ${values} of ${needed} arguments` : undefined
}

/** Returns the words up to the end of the command. A quoted text counts as one word. */
function wordsOf(line: string): string[] {
  const words = line.match(/(?:"[^"]*"|'[^']*'|[^\s"'])+/g) ?? []
  const end = words.findIndex(word => /^(\||&&?|\|\||;|\d?>.*|<.*|#.*|\))$/.test(word))
  return words.slice(0, end === -1 ? undefined : end).map(word => word.replace(/[);]+$/, ''))
}

/** Returns the calls of gitstead in a line of shell, each without the program's name. */
export function callsIn(line: string): string[] {
  const calls = line.split(/(?:^(?:\$ )?|[|;&(]|\benv )\s*(?:[A-Z_]+=\S+\s+)*(?:bin\/)?gitstead (?=[a-z-])/).slice(1)
  return calls.map(call => call.trim())
}
