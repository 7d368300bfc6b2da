// Resolves `include` of files of the same repository. They are read at the commit of the pipeline.

import { fileMatcher } from '../../lib/glob.js'
import { kindOf, printable, type Report } from '../config-values.js'
import { isReference, keyText, loadYaml, TEXT_LIMIT, type Yaml, type YamlMapping } from '../load-yaml.js'
import { type MergeBudget, mergeMappings } from './merge.js'

/** The files of the repository at one commit. */
export interface CiFiles {
  /** The text of a file; null when there is none, or when it is larger than a CI file may be. */
  readonly read: (path: string) => Promise<string | null>
  /** The paths of all files. */
  readonly list: () => Promise<readonly string[]>
}

const MOST_FILES = 150
const LEVELS = 20

interface Pass {
  /** Null: there is no repository to read from. */
  readonly files: CiFiles | null
  readonly report: Report
  readonly budget: MergeBudget
  /** How many files, and how many bytes of them, may still come. */
  count: number
  bytes: number
}

/** The root with all that it includes below it: of two values the including file's wins, and of two files the later. */
export async function resolveIncludes(
  root: YamlMapping,
  options: { readonly files: CiFiles | null; readonly report: Report; readonly budget: MergeBudget }
): Promise<YamlMapping> {
  const pass: Pass = { ...options, count: MOST_FILES, bytes: TEXT_LIMIT }
  return withIncluded(pass, root, [])
}

/** Whether the file includes others. A job may have the name `include`. */
export function includesFiles(root: YamlMapping): boolean {
  const value = root.get('include') ?? null
  return value !== null && !(value instanceof Map && value.has('script'))
}

async function withIncluded(pass: Pass, root: YamlMapping, chain: readonly string[]): Promise<YamlMapping> {
  if (!includesFiles(root)) return root
  let under: YamlMapping = new Map()
  for (const path of await pathsOf(pass, root.get('include') ?? null)) {
    const included = await load(pass, path, chain)
    if (included) under = mergeMappings(under, included, pass.budget)
  }
  const own: YamlMapping = new Map(root)
  own.delete('include')
  return mergeMappings(under, own, pass.budget)
}

async function load(pass: Pass, path: string, chain: readonly string[]): Promise<YamlMapping | undefined> {
  const shown = `\`${printable(path)}\``
  if (!pass.files) return fault(pass, `${shown} can be read only together with its repository`)
  if (chain.includes(path))
    return fault(pass, `${shown} includes itself: ${[...chain, path].map(printable).join(' → ')}`)
  if (chain.length >= LEVELS) return fault(pass, `goes over more than ${LEVELS} levels`)
  if (pass.count-- === 0) return fault(pass, `names more than ${MOST_FILES} files`)
  if (pass.count < 0) return undefined
  const text = await pass.files.read(path)
  if (text === null) return fault(pass, `${shown} is not a file of the repository of at most ${TEXT_LIMIT} bytes`)
  pass.bytes -= Buffer.byteLength(text)
  if (pass.bytes < 0) return fault(pass, `takes more than ${TEXT_LIMIT} bytes of files`)
  const { value, errors } = loadYaml(text)
  for (const error of errors) pass.report(`include:${printable(path)}`, error)
  if (errors.length > 0 || value === null) return undefined
  if (!(value instanceof Map)) return fault(pass, `${shown} should be a mapping of keys to values`)
  return withIncluded(pass, value, [...chain, path])
}

async function pathsOf(pass: Pass, value: Yaml): Promise<string[]> {
  const paths: string[] = []
  for (const entry of Array.isArray(value) ? value : [value]) {
    const path = localPath(pass, entry)
    if (path === undefined) continue
    if (!path.includes('*')) paths.push(path)
    else if (pass.files) paths.push(...(await pass.files.list()).filter(fileMatcher([path])))
    else fault(pass, `\`${printable(path)}\` can be read only together with its repository`)
  }
  return paths
}

/** The path of an entry; undefined after a report. */
function localPath(pass: Pass, entry: Yaml): string | undefined {
  const path =
    typeof entry === 'string' ? entry : entry instanceof Map ? mappedPath(pass, entry) : kindFault(pass, entry)
  if (path === undefined) return undefined
  const shown = `\`${printable(path)}\``
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(path))
    return fault(pass, `${shown} is a URL: only files of the repository are supported`)
  const relative = path.replace(/^\/+/, '')
  if (relative.split('/').includes('..')) return fault(pass, `${shown} should not contain \`..\``)
  if (!/\.ya?ml$/.test(relative)) return fault(pass, `${shown} should be the path of a .yml or .yaml file`)
  return relative
}

function mappedPath(pass: Pass, entry: YamlMapping): string | undefined {
  const other = [...entry.keys()].map(keyText).find(key => key !== 'local')
  if (other !== undefined) return fault(pass, `key \`${printable(other)}\` is not supported by this service`)
  const local = entry.get('local') ?? null
  return typeof local === 'string' ? local : fault(pass, 'should have the path of a file in `local`')
}

const kindFault = (pass: Pass, entry: Yaml) =>
  fault(pass, `should be a path or a list of paths, not ${isReference(entry) ? 'a reference' : kindOf(entry)}`)

function fault(pass: Pass, problem: string): undefined {
  pass.report('include', problem)
  return undefined
}
