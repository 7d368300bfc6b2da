// Lets oclif know only the command that runs. It would otherwise read the descriptions of all commands and look through their names
// several times, which takes 25 ms of processor.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { Command, Interfaces } from './oclif.js'

/** As in config.ts, which is in the file that joins the modules of commands. */
export const root = fileURLToPath(new URL('../../..', import.meta.url))

/** The files that join the modules of commands (scripts/bundle.mjs). A build for named tests has none. */
const JOINED = join(root, 'dist/bundle/commands')
const MODULES = join(root, 'dist/src/cli/commands')

/** They describe all commands. */
const NEED_ALL = ['completion', 'man']
const WORD = /^[a-z][a-z-]*$/
/** Words in the longest name of a command. */
const LONGEST = 3

/** Returns the options for oclif. It needs all commands for help, and to report that there is no such command. */
export async function optionsFor(words: readonly string[]): Promise<Interfaces.Options> {
  const found = words.includes('--help') ? undefined : fileOf(words)
  if (found === undefined || NEED_ALL.includes(found.id)) return { root }
  const { default: command } = (await import(pathToFileURL(found.path).href)) as { readonly default: Command.Class }
  const plugin = pluginOf(found.id, command)
  return { root, plugins: new Map([[plugin.name, plugin]]) }
}

/** A command is at the place that its words name. No command has the name of a topic. */
function fileOf(words: readonly string[]): { readonly id: string; readonly path: string } | undefined {
  const end = words.findIndex(word => !WORD.test(word))
  const names = words.slice(0, end === -1 ? LONGEST : Math.min(end, LONGEST))
  const isJoined = existsSync(JOINED)
  for (const [at] of names.entries()) {
    const parts = names.slice(0, at + 1)
    const path = isJoined ? join(JOINED, `${parts.join('.')}.js`) : join(MODULES, `${parts.join('/')}.js`)
    if (existsSync(path)) return { id: parts.join(':'), path }
  }
  return undefined
}

/** What oclif reads of a plugin that is loaded. */
function pluginOf(id: string, command: Command.Class): Interfaces.Plugin {
  const pjson = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Interfaces.PJSON
  const { name, version } = pjson
  const { aliases, hiddenAliases, args, flags, strict } = command
  const loadable = { id, aliases, hiddenAliases, args, flags, strict, load: async () => command }
  const plugin = { name, version, root, pjson, type: 'core', valid: true, hooks: {}, topics: [], commands: [loadable] }
  command.id = id
  return plugin as unknown as Interfaces.Plugin
}
