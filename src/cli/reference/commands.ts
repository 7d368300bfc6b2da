// Describes every command as static data for the completions and the man page. The data comes from the manifest, so no
// command has to be loaded.
import type { Config } from '@oclif/core'
import type { LiveNames } from './live-names.js'

export interface FlagReference {
  readonly name: string
  readonly char?: string
  readonly description: string
  readonly takesValue: boolean
  readonly options: readonly string[]
  /** The kind of names that the shell gets from the appliance. */
  readonly names?: LiveNames
  readonly required: boolean
  readonly default?: string
  readonly environment?: string
  /** True when every command has this flag. */
  readonly global: boolean
}

interface ArgumentReference {
  readonly name: string
  readonly description: string
  readonly options: readonly string[]
  readonly names?: LiveNames
  readonly required: boolean
}

export interface CommandReference {
  readonly words: readonly string[]
  readonly summary: string
  readonly description: string
  readonly examples: readonly string[]
  readonly arguments: readonly ArgumentReference[]
  /** Whether the last argument may be repeated. */
  readonly repeats: boolean
  readonly flags: readonly FlagReference[]
}

export interface TopicReference {
  readonly words: readonly string[]
  readonly summary: string
}

type Loadable = Config['commands'][number]
type Flag = Loadable['flags'][string]

const HELP: FlagReference = {
  name: 'help',
  description: 'show help for the command',
  takesValue: false,
  options: [],
  required: false,
  global: true
}

const inOrder = <T extends { words: readonly string[] }>(entries: T[]) =>
  entries.sort((a, b) => (a.words.join(' ') < b.words.join(' ') ? -1 : 1))

/** Returns all commands except hidden ones, in the order of their words. */
export function commandReferences({ commands, bin }: Config): CommandReference[] {
  return inOrder(commands.filter(({ hidden }) => !hidden).map(command => describe(command, bin)))
}

/** Returns the topics (first words that several commands share), in the order of their words. */
export function topicReferences({ topics, commandIDs }: Config): TopicReference[] {
  // oclif also lists commands as topics.
  const leads = (name: string) => commandIDs.some(id => id.startsWith(`${name}:`))
  const shown = topics.filter(({ name, hidden }) => !hidden && leads(name))
  return inOrder(shown.map(({ name, description = '' }) => ({ words: name.split(':'), summary: description })))
}

function describe(command: Loadable, bin: string): CommandReference {
  const fill = (text: string) => text.replaceAll('<%= config.bin %>', bin)
  const examples = command.examples?.map(example => (typeof example === 'string' ? example : example.command)) ?? []
  return {
    words: command.id.split(':'),
    summary: fill(command.summary ?? ''),
    description: fill(command.description ?? ''),
    examples: examples.map(fill),
    arguments: Object.entries(command.args ?? {}).map(([name, argument]) => ({
      name,
      description: fill(argument.description ?? ''),
      options: argument.options ?? [],
      required: argument.required === true
    })),
    repeats: command.strict === false,
    flags: [...Object.entries(command.flags).flatMap(([name, flag]) => flagsOf(name, flag, fill)), HELP]
  }
}

/** Returns a flag, and its opposite `--no-...` if it has one. */
function flagsOf(name: string, flag: Flag, fill: (text: string) => string): FlagReference[] {
  if (flag.hidden) return []
  const takesValue = flag.type === 'option'
  const value = takesValue && typeof flag.default !== 'function' ? flag.default : undefined
  const described: FlagReference = {
    name,
    char: flag.char,
    description: fill(flag.summary ?? flag.description ?? ''),
    takesValue,
    options: (takesValue && flag.options) || [],
    required: flag.required === true,
    default: value === undefined || value === null ? undefined : String(value),
    environment: flag.env,
    global: flag.helpGroup === 'GLOBAL'
  }
  const opposite = flag.type === 'boolean' && flag.allowNo
  return opposite ? [described, { ...described, name: `no-${name}`, char: undefined }] : [described]
}
