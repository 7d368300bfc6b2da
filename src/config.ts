// Only this file reads config/ and the environment. Priority: defaults < HOME/config.yaml < environment < flags.
import { accessSync, constants, readFileSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { contradictionsIn } from './config/contradictions.js'
import { SETTINGS } from './config/shape.js'
import { Misconfigured } from './errors.js'
import { nearest } from './lib/nearest.js'
import { type Problem, pathsIn, problemsIn, type ValuesOf, withEntryDefaults } from './lib/rules.js'

export interface Config extends ValuesOf<typeof SETTINGS> {
  /** The folder of all files that the appliance stores. */
  readonly home: string
  /** The root folder of the program's own files, with config/ and docs. */
  readonly root: string
}

type Tree = { readonly [key: string]: unknown }
const isTree = (value: unknown): value is Tree => typeof value === 'object' && value !== null && !Array.isArray(value)

/** The folder of the program: the one above dist/. */
export const root = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '')

let current: Config | undefined

/** Returns the frozen configuration of this process. When no command has loaded it, this loads it without flags. */
export function config(): Config {
  current ??= loadConfig({})
  return current
}

/**
 * Reads, checks and freezes the configuration. `flags` are the flags of the command, with the keys of the file (`port`)
 * and `home`. Throws Misconfigured with the path of the first wrong key.
 */
export function loadConfig(flags: Tree): Config {
  const { home, layers } = layersOf(flags)
  const merged = mergeAll(layers)
  const [problem] = problemsOf(merged)
  if (problem) throw new Misconfigured(`configuration: ${problem.text}`)
  current = freeze({ ...(merged as ValuesOf<typeof SETTINGS>), home, root })
  return current
}

/** Replaces the configured address with the one at which the server of this home answers: URLs need the real address. */
export function takeAddress({ host, port }: { readonly host: string; readonly port: number }): void {
  current = freeze({ ...config(), host, port })
}

/** The source of a value. */
export type ConfigSource = 'default' | 'file' | 'environment' | 'flag'

export interface ConfigReport {
  readonly home: string
  /** The file that overrides the defaults. It may be missing. */
  readonly file: string
  readonly settings: readonly { readonly key: string; readonly value: unknown; readonly origin: ConfigSource }[]
  readonly problems: readonly (Problem & { readonly origin: ConfigSource })[]
}

/**
 * Returns what `loadConfig` would load, with the source of each value and all problems. With `file`, only this file
 * overrides the defaults. Throws Misconfigured when a file cannot be read as keys and values.
 */
export function reportConfig(flags: Tree, file?: string): ConfigReport {
  const { home, layers } = layersOf(flags)
  const used = file === undefined ? layers : [...layers.slice(0, 1), { source: 'file' as const, tree: read(file) }]
  const merged = mergeAll(used)
  const originOf = (path: string) => [...used].reverse().find(({ tree }) => holds(tree, path))?.source ?? 'default'
  return {
    home,
    file: file ?? join(home, 'config.yaml'),
    settings: pathsIn(SETTINGS).map(key => ({ key, value: valueAt(merged, key), origin: originOf(key) })),
    problems: problemsOf(merged).map(problem => ({ ...problem, origin: originOf(problem.path) }))
  }
}

interface Layer {
  readonly source: ConfigSource
  readonly tree: Tree
}

/** Returns the layers, lowest priority first. */
function layersOf(flags: Tree): { home: string; layers: Layer[] } {
  const { home: flag, ...rest } = flags
  const home = resolve(typeof flag === 'string' ? flag : process.env.GITSTEAD_HOME || defaultHome())
  const defaults = readDefaults()
  return {
    home,
    layers: [
      { source: 'default', tree: defaults },
      { source: 'file', tree: readOfHome(home) },
      { source: 'environment', tree: fromEnvironment(defaults, process.env) },
      { source: 'flag', tree: defined(rest) }
    ]
  }
}

/**
 * Reads the configuration file of a home, which may be missing. Throws Misconfigured when this user may not look: a command
 * must not mistake an unreadable home for an empty one.
 */
function readOfHome(home: string): Tree {
  const file = join(home, 'config.yaml')
  try {
    accessSync(file, constants.R_OK)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return {}
    if (code === 'ENOTDIR') throw new Misconfigured(`${home} is not a folder: choose another home with --home`)
    throw new Misconfigured(
      `${file} cannot be read (${code}): run gitstead as ${ownerOf(home)}, or name another --home`
    )
  }
  return read(file)
}

function ownerOf(home: string): string {
  try {
    const { uid } = statSync(home)
    return `the owner of the home, user ${accountOf(uid) ?? uid}`
  } catch {
    return 'the owner of the home'
  }
}

/** Returns the name of a user; undefined for an unknown user. Node.js cannot look up the name of another user. */
export function accountOf(uid: number): string | undefined {
  try {
    const accounts = readFileSync('/etc/passwd', 'utf8').split('\n')
    return accounts.map(line => line.split(':')).find(fields => fields[2] === String(uid))?.[0]
  } catch {
    return undefined
  }
}

function problemsOf(tree: Tree): Problem[] {
  const problems = problemsIn(tree, SETTINGS)
  return problems.length > 0 ? problems : contradictionsIn(tree as ValuesOf<typeof SETTINGS>)
}

const mergeAll = (layers: readonly Layer[]): Tree =>
  withEntryDefaults(layers.map(({ tree }) => tree).reduce(merge, {}), SETTINGS)

const holds = (tree: Tree, path: string) => valueAt(tree, path) !== undefined

function valueAt(tree: unknown, path: string): unknown {
  return path.split('.').reduce((node, key) => (isTree(node) && Object.hasOwn(node, key) ? node[key] : undefined), tree)
}

/** Returns the URL under which users reach the service, without a slash at its end. */
export function publicUrl(): string {
  const known = config()
  if (address.of === known) return address.text
  const { url, host } = known
  const port = known.port === 0 && url === null ? takenPort(known.home) : known.port
  const text = (url ?? `http://${host.includes(':') ? `[${host}]` : host}:${port}`).replace(/\/+$/, '')
  // The server may use another port when it starts again, so a worker looks each time.
  if (known.port !== 0 || url !== null || servedPort !== undefined) address = { of: known, text }
  return text
}

/** The port of SSH when the configuration has no port and this one is free. */
export const USUAL_SSH_PORT = 2222

/**
 * Returns the host, without brackets, and the port at which users reach git over SSH. Without the built-in server, this
 * assumes an OpenSSH server at the usual port.
 */
export function publicSshAddress(): { readonly host: string; readonly port: number } {
  const { ssh, home } = config()
  return { host: sshHost(ssh.public_host, publicUrl()), port: ssh.public_port ?? sshPort(ssh, home) }
}

function sshHost(host: string | null, url: string): string {
  if (hostOf.url !== url || hostOf.given !== host) {
    hostOf = { url, given: host, text: (host ?? new URL(url).hostname).replace(/^\[|\]$/g, '') }
  }
  return hostOf.text
}

// The record of every project has an address of SSH, and parsing a URL takes longer than all its other texts.
let hostOf: { url?: string; given?: string | null; text: string } = { text: '' }

function sshPort({ enabled, port }: Config['ssh'], home: string): number {
  if (!enabled) return 22
  // With null or 0 the server chooses a port when it starts.
  return port || (servedSshPort ?? notedSshPort(home) ?? port ?? USUAL_SSH_PORT)
}

let servedPort: number | undefined
let servedSshPort: number | undefined

/** The SSH port that the last server of a home has chosen, unless that server was stopped. */
export const notedSshPort = (home: string): number | undefined => noted(home).ssh_port

/** Notes the port at which this process serves git over SSH. */
export function servesSshAt(port: number | undefined): void {
  servedSshPort = port
}

/** Notes the port that this process listens at: the configuration may ask for any free port, and URLs need the real one. */
export function servesAt(port: number): void {
  servedPort = port
  address = { of: undefined, text: '' }
}

/** Workers and commands find the port in the file that the server writes; it is 0 while no server runs. */
function takenPort(home: string): number {
  return servedPort ?? noted(home).port ?? 0
}

/** The ports in the file that the server writes; none while no server runs. */
function noted(home: string): { readonly port?: number; readonly ssh_port?: number } {
  try {
    const { port, ssh_port } = JSON.parse(readFileSync(join(home, 'run/server.json'), 'utf8'))
    return { ...(typeof port === 'number' && { port }), ...(typeof ssh_port === 'number' && { ssh_port }) }
  } catch {
    return {}
  }
}

// Every view writes some URLs, so this URL is built only once.
let address: { of: Config | undefined; text: string } = { of: undefined, text: '' }

function defaultHome(): string {
  return process.getuid?.() === 0 ? '/var/lib/gitstead' : join(homedir(), '.local/share/gitstead')
}

/** The build writes the defaults as JSON as well: yaml takes 50 ms to load, and most homes have no config.yaml. */
function readDefaults(): Tree {
  try {
    return JSON.parse(readFileSync(join(root, 'dist/src/default.json'), 'utf8')) as Tree
  } catch {
    return read(join(root, 'config/default.yaml'))
  }
}

function read(path: string): Tree {
  let tree: unknown
  try {
    const { parse } = createRequire(import.meta.url)('yaml') as typeof import('yaml')
    tree = parse(readFileSync(path, 'utf8')) ?? {}
  } catch (error) {
    throw new Misconfigured(`configuration: ${path} cannot be read: ${firstLine(error)}`)
  }
  if (!isTree(tree)) throw new Misconfigured(`configuration: ${path} must be a mapping of keys to values`)
  return tree
}

const firstLine = (error: unknown) => String(error instanceof Error ? error.message : error).split('\n')[0]

function defined(tree: Tree): Tree {
  return Object.fromEntries(Object.entries(tree).filter(([, value]) => value !== undefined))
}

function merge(under: Tree, over: Tree): Tree {
  const merged: Record<string, unknown> = { ...under }
  for (const [key, value] of Object.entries(over)) {
    const below = merged[key]
    merged[key] = isTree(below) && isTree(value) ? merge(below, value) : value
  }
  return merged
}

/** Returns the settings from environment variables, with the types of their defaults. */
function fromEnvironment(defaults: Tree, environment: NodeJS.ProcessEnv, prefix = 'GITSTEAD'): Tree {
  const tree: Record<string, unknown> = {}
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

/** Variables that are not settings. */
const OTHER_VARIABLES = ['GITSTEAD_HOME', 'GITSTEAD_TOKEN', 'GITSTEAD_CI', 'GITSTEAD_BUILD_MARK']

/** Returns the variables of the environment that begin with our prefix and that nothing reads: most likely typing errors. */
export function unknownVariables(): { readonly name: string; readonly meant: string | undefined }[] {
  const known = [
    ...pathsIn(SETTINGS).map(path => `GITSTEAD_${path.replaceAll('.', '_').toUpperCase()}`),
    ...OTHER_VARIABLES
  ]
  const found = Object.keys(process.env).filter(name => name.startsWith('GITSTEAD_') && !known.includes(name))
  return found.map(name => ({ name, meant: nearest(name, known) }))
}

function scalar(pattern: unknown, text: string): unknown {
  // The default of some numbers is null.
  if ((typeof pattern === 'number' || pattern === null) && Number.isFinite(Number(text))) return Number(text)
  if (typeof pattern === 'boolean' && ['true', 'false'].includes(text)) return text === 'true'
  return text
}

function freeze<T extends object>(value: T): T {
  for (const inner of Object.values(value)) if (typeof inner === 'object' && inner !== null) freeze(inner)
  return Object.freeze(value)
}
