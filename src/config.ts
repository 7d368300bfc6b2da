// The only reader of config/ and of the environment: defaults < HOME/config.yaml < environment < flags.
import { existsSync, readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Static, type TSchema, Type } from 'typebox'
import { Value } from 'typebox/value'
import { parse } from 'yaml'
import { Misconfigured } from './errors.js'

const closed = { additionalProperties: false }
const count = (minimum = 1) => Type.Integer({ minimum })
const name = Type.String({ pattern: '^[a-z0-9][a-z0-9_-]{0,63}$' })

const Settings = Type.Object(
  {
    host: Type.String({ minLength: 1 }),
    port: Type.Integer({ minimum: 0, maximum: 65535 }),
    url: Type.Union([Type.Null(), Type.String({ pattern: '^https?://[^/?#]+(/[^?#]*)?$' })]),
    log: Type.Object({ level: Type.Enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']) }, closed),
    database: Type.Object(
      { url: Type.Union([Type.Null(), Type.String({ pattern: '^mysql://' })]), pool: count() },
      closed
    ),
    repositories: Type.Object({ storages: Type.Array(name, { minItems: 1 }) }, closed),
    git: Type.Object(
      {
        max_processes: count(),
        max_processes_per_repository: count(),
        max_waiting: count(0),
        timeout: count(),
        max_readers: count(),
        object_cache: count(1048576),
        max_push_size: count(),
        max_file_size: count()
      },
      closed
    ),
    queue: Type.Object(
      {
        concurrency: Type.Object(
          { default: count(0), hooks: count(0), builds: count(0), mail: count(0), maintenance: count(0) },
          closed
        ),
        poll_interval: Type.Number({ minimum: 0.05 }),
        lease: count(3)
      },
      closed
    ),
    runner: Type.Object(
      {
        sandbox: Type.Enum(['bubblewrap', 'none']),
        user: Type.String({ pattern: '^[a-z_][a-z0-9_-]*$' }),
        network: Type.Boolean(),
        timeout: count(),
        output_limit: count(1024),
        memory_limit: count(16777216),
        process_limit: count(8),
        file_limit: count(1048576),
        depth: count(0)
      },
      closed
    ),
    artifacts: Type.Object({ max_size: count() }, closed),
    hooks: Type.Object({ allow: Type.Array(Type.String()), timeout: count(), response_limit: count(0) }, closed),
    session: Type.Object({ expire: count(60) }, closed)
  },
  closed
)

export type Config = Static<typeof Settings> & {
  /** The folder that holds everything the appliance keeps. */
  readonly home: string
  /** The root of the program's own files, where config/ and docs lie. */
  readonly root: string
}

type Tree = { [key: string]: unknown }
const isTree = (value: unknown): value is Tree => typeof value === 'object' && value !== null && !Array.isArray(value)

/** The program's own folder: the one above dist/. */
export const root = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '')

let current: Config | undefined

/** The frozen configuration of this process; read from the environment alone when no command has loaded it. */
export function config(): Config {
  current ??= loadConfig({})
  return current
}

/**
 * Reads, checks and freezes the configuration. `flags` are those of the command, keyed as in the file (`port`), with
 * `home` beside them. Throws Misconfigured with the path of the first wrong key.
 */
export function loadConfig(flags: Tree): Config {
  const { home: flag, ...rest } = flags
  const home = resolve(typeof flag === 'string' ? flag : (process.env.GITSTEAD_HOME ?? defaultHome()))
  const defaults = read(join(root, 'config/default.yaml'))
  const file = join(home, 'config.yaml')
  const merged = [existsSync(file) ? read(file) : {}, fromEnvironment(defaults, process.env), defined(rest)].reduce(
    (settings, over) => merge(settings, over),
    defaults
  )
  const problem = firstProblem(merged)
  if (problem) throw new Misconfigured(`configuration: ${problem}`)
  current = freeze({ ...(merged as Static<typeof Settings>), home, root })
  return current
}

/** The URL that users reach the service by, without a slash at its end. */
export function publicUrl(): string {
  const known = config()
  if (address.of !== known) {
    const { url, host, port } = known
    const text = url ?? `http://${host.includes(':') ? `[${host}]` : host}:${port}`
    address = { of: known, text: text.replace(/\/+$/, '') }
  }
  return address.text
}

// Every view writes some URLs, so it is put together once.
let address: { of: Config | undefined; text: string } = { of: undefined, text: '' }

function defaultHome(): string {
  return process.getuid?.() === 0 ? '/var/lib/gitstead' : join(homedir(), '.local/share/gitstead')
}

function read(path: string): Tree {
  let tree: unknown
  try {
    tree = parse(readFileSync(path, 'utf8')) ?? {}
  } catch (error) {
    throw new Misconfigured(`configuration: ${path} cannot be read: ${firstLine(error)}`)
  }
  if (!isTree(tree)) throw new Misconfigured(`configuration: ${path} must hold a mapping of keys to values`)
  return tree
}

const firstLine = (error: unknown) => String(error instanceof Error ? error.message : error).split('\n')[0]

function defined(tree: Tree): Tree {
  return Object.fromEntries(Object.entries(tree).filter(([, value]) => value !== undefined))
}

function merge(under: Tree, over: Tree): Tree {
  const merged: Tree = { ...under }
  for (const [key, value] of Object.entries(over)) {
    const below = merged[key]
    merged[key] = isTree(below) && isTree(value) ? merge(below, value) : value
  }
  return merged
}

/** The settings that environment variables name, in the types of their defaults. */
function fromEnvironment(defaults: Tree, environment: NodeJS.ProcessEnv, prefix = 'GITSTEAD'): Tree {
  const tree: Tree = {}
  for (const [key, value] of Object.entries(defaults)) {
    const variable = `${prefix}_${key.toUpperCase()}`
    if (isTree(value)) {
      const inner = fromEnvironment(value, environment, variable)
      if (Object.keys(inner).length > 0) tree[key] = inner
      continue
    }
    const text = environment[variable]
    if (text === undefined || text === '') continue
    tree[key] = Array.isArray(value) ? text.split(',').map(item => item.trim()) : scalar(value, text)
  }
  return tree
}

function scalar(pattern: unknown, text: string): unknown {
  if (typeof pattern === 'number' && Number.isFinite(Number(text))) return Number(text)
  if (typeof pattern === 'boolean' && ['true', 'false'].includes(text)) return text === 'true'
  return text
}

function firstProblem(tree: Tree): string | undefined {
  const unknown = firstUnknown(tree, Settings)
  if (unknown) return `unknown key ${unknown}`
  const error = Value.Errors(Settings, tree)[0]
  if (!error) return undefined
  const path = error.instancePath.slice(1).replaceAll('/', '.')
  return `${path} ${error.message} (it is ${JSON.stringify(Value.Pointer.Get(tree, error.instancePath))})`
}

function firstUnknown(tree: Tree, schema: TSchema, path = ''): string | undefined {
  const properties = (schema as { properties?: Record<string, TSchema> }).properties
  if (!properties) return undefined
  for (const [key, value] of Object.entries(tree)) {
    const inner = properties[key]
    if (!inner) return path + key
    const deeper = isTree(value) ? firstUnknown(value, inner, `${path}${key}.`) : undefined
    if (deeper) return deeper
  }
  return undefined
}

function freeze<T extends object>(value: T): T {
  for (const inner of Object.values(value)) if (typeof inner === 'object' && inner !== null) freeze(inner)
  return Object.freeze(value)
}
