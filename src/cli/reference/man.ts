// Writes the man page from the help of all commands and from the facts that apply to all of them.
import type { Config } from '@oclif/core'
import { type CommandReference, commandReferences, type FlagReference, topicReferences } from './commands.js'
import { ENVIRONMENT, EXIT_CODES, FILES } from './facts.js'
import { block, bold, entry, italic, literal, paragraph, prose, section, subsection } from './roff.js'

/** Returns the page `BIN(1)` in the format of man(7). */
export function manPage(config: Config): string {
  const commands = commandReferences(config)
  const pages = [
    `.TH ${config.bin.toUpperCase()} 1 "" "${config.bin} ${config.version}" "User Commands"`,
    ...opening(config),
    section('commands'),
    ...commands.flatMap(command => commandPage(config.bin, command)),
    section('flags of every command'),
    ...globalFlags(commands).map(flagEntry),
    section('exit status'),
    ...EXIT_CODES.map(([code, meaning]) => entry(bold(String(code)), prose(meaning))),
    section('files'),
    ...FILES.map(([path, meaning]) => entry(italic(path), prose(meaning))),
    section('environment'),
    ...ENVIRONMENT.map(([name, meaning]) => entry(bold(name), prose(meaning))),
    section('see also'),
    `${bold('git')}(1), ${bold('systemd.service')}(5), ${bold('bwrap')}(1)`
  ]
  return `${pages.join('\n')}\n`
}

function opening(config: Config): string[] {
  const { bin, pjson } = config
  return [
    section('name'),
    `${literal(bin)} \\- ${prose(firstSmall(pjson.description ?? ''))}`,
    section('synopsis'),
    `${bold(bin)} ${italic('COMMAND')} [${italic('ARGUMENT')} ...] [${italic('FLAG')} ...]`,
    '.br',
    `${bold(bin)} ${bold('help')} [${italic('COMMAND')}]`,
    '.br',
    `${bold(bin)} ${bold('--version')}`,
    section('description'),
    prose(DESCRIPTION),
    paragraph(prose(SCRIPTS)),
    ...topicReferences(config).map(({ words, summary }) => entry(bold(`${bin} ${words.join(' ')}`), prose(summary)))
  ]
}

const DESCRIPTION =
  'Runs the appliance and administers it. Commands work on the home and its database, whether or not the appliance ' +
  'runs. While it is down, a command starts the private database itself and stops it again.'

const SCRIPTS =
  'Every command can be used in scripts: `--json` prints one document of a fixed shape, the exit status reports success ' +
  'or the kind of failure, no command asks questions without a terminal, and passwords and tokens are read from standard ' +
  'input or a file. Every command that destroys something has `--dry-run`. The commands have these groups:'

const firstSmall = (text: string) => text.charAt(0).toLowerCase() + text.slice(1)

function commandPage(bin: string, command: CommandReference): string[] {
  const { words, summary, description, examples } = command
  const own = command.flags.filter(flag => !flag.global)
  return [
    subsection(`${bin} ${words.join(' ')}`),
    prose(summary.endsWith('.') ? summary : `${summary}.`),
    ...(description ? [paragraph(prose(description))] : []),
    paragraph(`Usage: ${usage(bin, command)}`),
    ...command.arguments.map(({ name, description: text, options }) =>
      entry(italic(name.toUpperCase()), prose(sentences(text, options)))
    ),
    ...own.map(flagEntry),
    ...(examples.length > 0 ? [paragraph(examples.length === 1 ? 'Example:' : 'Examples:'), block(examples)] : [])
  ]
}

function usage(bin: string, { words, flags, arguments: known, repeats }: CommandReference): string {
  const values = known.map(({ name, required }, at) => {
    const shown = `${italic(name.toUpperCase())}${repeats && at === known.length - 1 ? ' ...' : ''}`
    return required ? shown : `[${shown}]`
  })
  const needed = flags.filter(({ required }) => required).map(({ name }) => `${bold(`--${name}`)} ${italic('VALUE')}`)
  return [bold(`${bin} ${words.join(' ')}`), ...values, ...needed, `[${italic('FLAG')} ...]`].join(' ')
}

function globalFlags(commands: readonly CommandReference[]): FlagReference[] {
  const all = commands.flatMap(({ flags }) => flags.filter(flag => flag.global))
  return [...new Map(all.map(flag => [flag.name, flag])).values()]
}

function flagEntry({ name, char, takesValue, required, description, options, ...rest }: FlagReference): string {
  const names = [...(char ? [`-${char}`] : []), `--${name}`].map(bold).join(', ')
  const notes = [
    ...(required ? ['required'] : []),
    ...(rest.default === undefined ? [] : [`default: ${rest.default}`]),
    ...(rest.environment ? [`environment: ${rest.environment}`] : [])
  ]
  const text = sentences(description, options)
  return entry(
    `${names}${takesValue ? ` ${italic('VALUE')}` : ''}`,
    prose(`${text}${notes.length > 0 ? ` (${notes.join('; ')})` : ''}`)
  )
}

const sentences = (text: string, options: readonly string[]) =>
  [text, ...(options.length > 0 ? [`one of ${options.join(', ')}`] : [])].filter(Boolean).join('; ')
