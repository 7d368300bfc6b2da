// Resolves `include`: files of the same repository at the commit of the pipeline, of other projects, of URLs, and templates.
import { fileMatcher } from '../../lib/glob.js'
import type { CiRule } from '../config-types.js'
import { printable, type Report } from '../config-values.js'
import { TEXT_LIMIT, type YamlMapping } from '../load-yaml.js'
import { expandValues, type Values } from '../rules/evaluate.js'
import {
  hasVariables,
  type IncludeEntry,
  type IncludePlace,
  includesFiles,
  LATEST,
  readIncludeEntries
} from './include-entries.js'
import { loadFile } from './inputs.js'
import { type MergeBudget, mergeMappings } from './merge.js'

export { includesFiles } from './include-entries.js'

/** A text, or the problem that continues the sentence about its name. */
type FoundText = { readonly text: string } | { readonly problem: string }

/** The files of a repository at one commit, and the other sources that can be reached from there. */
export interface CiFiles {
  /** The text of a file; null when it does not exist or is larger than a CI file may be. */
  readonly read: (path: string) => Promise<string | null>
  /** The paths of all files. */
  readonly list: () => Promise<readonly string[]>
  /** The prefix of paths in messages; absent for the repository of the pipeline. */
  readonly name?: string
  /** The files of another project, or the problem with it. When this or a function below is absent, such files are ignored. */
  readonly project?: (path: string, ref: string | null) => Promise<CiFiles | { readonly problem: string }>
  /** The same at the tag with the highest semantic version. */
  readonly latest?: (path: string) => Promise<CiFiles | { readonly problem: string }>
  readonly remote?: (url: string) => Promise<FoundText>
  readonly template?: (name: string) => string | null
  /** The hosts in the names of components of this service, one of them with the port. */
  readonly hosts?: readonly string[]
  /** The values of the variables that names of files may contain. */
  readonly values?: () => Promise<Values>
  /** Whether rules allow a file; when absent, they do. */
  readonly allows?: (rules: readonly CiRule[]) => Promise<boolean>
}

const MOST_FILES = 150
/** The most URLs; each may take seconds to fetch. */
const MOST_REMOTE = 10
const MOST_RULED = 50
const LEVELS = 20

interface Pass {
  readonly report: Report
  readonly warn: Report
  readonly budget: MergeBudget
  /** How many files, and how many bytes of them, may still be read. */
  count: number
  bytes: number
  remote: number
  ruled: number
}

/** A file to load: its text, its name for messages, and the files that it can include itself. */
interface Loaded {
  readonly name: string
  readonly text: string
  readonly files: CiFiles | null
}

/** Returns the root with all included files merged: the value of the including file wins, and of two included files the later. */
export async function resolveIncludes(
  root: YamlMapping,
  {
    files,
    ...options
  }: {
    /** Null: there is no repository to read from. */
    readonly files: CiFiles | null
    readonly report: Report
    readonly warn: Report
    readonly budget: MergeBudget
  }
): Promise<YamlMapping> {
  const pass = { ...options, count: MOST_FILES, bytes: TEXT_LIMIT, remote: MOST_REMOTE, ruled: MOST_RULED }
  return withIncluded(pass, root, { files, chain: [] })
}

interface From {
  readonly files: CiFiles | null
  /** The names of the files that include each other, down to this one. */
  readonly chain: readonly string[]
}

async function withIncluded(pass: Pass, root: YamlMapping, from: From): Promise<YamlMapping> {
  if (!includesFiles(root)) return root
  let under: YamlMapping = new Map()
  const value = root.get('include') ?? null
  const values = hasVariables(value) ? await from.files?.values?.() : undefined
  const fill = (text: string) => (values ? expandValues(text, values) : text)
  for (const { place, rules, ...how } of readIncludeEntries(value, pass.report, pass.warn, fill)) {
    if (rules && !(await isLetIn(pass, rules, from))) continue
    for (const each of await expanded(pass, place, from)) {
      const included = await load(pass, { ...how, place: each }, from)
      if (included) under = mergeMappings(under, included, pass.budget)
    }
  }
  const own: YamlMapping = new Map(root)
  own.delete('include')
  return mergeMappings(under, own, pass.budget)
}

async function isLetIn(pass: Pass, rules: readonly CiRule[], { files }: From): Promise<boolean> {
  if (!files?.allows) return true
  if (pass.ruled-- > 0) return files.allows(rules)
  if (pass.ruled === -1) fault(pass, `has rules at more than ${MOST_RULED} entries`)
  return false
}

/** The places of one entry: a pattern stands for all files that match. */
async function expanded(pass: Pass, place: IncludePlace, { files }: From): Promise<IncludePlace[]> {
  if (place.kind !== 'local' || !place.path.includes('*')) return [place]
  if (files) {
    const matches = fileMatcher([place.path])
    return (await files.list()).filter(matches).map(path => ({ kind: 'local', path }))
  }
  fault(pass, `\`${printable(place.path)}\` can be read only together with its repository`)
  return []
}

type Wanted = Pick<IncludeEntry, 'place' | 'written' | 'inputs'>

async function load(pass: Pass, { place, written, inputs }: Wanted, { files, chain }: From) {
  const name = nameOf(place, files)
  const shown = `\`${printable(written ?? name)}\``
  if (!files) return fault(pass, `${shown} can be read only together with its repository`)
  if (chain.includes(name))
    return fault(pass, `${shown} includes itself${written ? '' : `: ${[...chain, name].map(printable).join(' → ')}`}`)
  if (chain.length >= LEVELS) return fault(pass, `goes over more than ${LEVELS} levels`)
  if (pass.count-- === 0) return fault(pass, `names more than ${MOST_FILES} files`)
  if (pass.count < 0) return undefined
  const found = !files.values && name.includes('$') ? undefined : await find(pass, place, files)
  if (!found) {
    pass.warn('include', `${shown} is not looked at here`)
    return undefined
  }
  // The answer of a remote server may repeat the value of a variable.
  if ('problem' in found) return fault(pass, `${shown} ${written ? 'could not be read' : found.problem}`)
  pass.bytes -= Buffer.byteLength(found.text)
  if (pass.bytes < 0) return fault(pass, `takes more than ${TEXT_LIMIT} bytes of files`)
  const { value, errors } = loadFile(found.text, inputs)
  for (const error of errors) pass.report(`include:${printable(written ?? name)}`, error)
  if (errors.length > 0 || value === null) return undefined
  if (!(value instanceof Map)) return fault(pass, `${shown} should be a mapping of keys to values`)
  return withIncluded(pass, value, { files: found.files, chain: [...chain, name] })
}

function nameOf(place: IncludePlace, files: CiFiles | null): string {
  if (place.kind === 'local') return `${files?.name ?? ''}${place.path}`
  if (place.kind === 'project') return `${place.project}:${place.path}`
  if (place.kind === 'component') return `${place.host}/${place.project}/${place.name}@${place.ref}`
  return place.kind === 'remote' ? place.url : place.name
}

type Found = Omit<Loaded, 'name'> | { readonly problem: string }

/** Returns undefined for a file that is ignored here. */
async function find(pass: Pass, place: IncludePlace, files: CiFiles): Promise<Found | undefined> {
  if (place.kind === 'local') return readFrom(files, place.path)
  if (place.kind === 'project' && files.project) {
    const other = await files.project(place.project, place.ref)
    return 'problem' in other ? other : readFrom(other, place.path)
  }
  if (place.kind === 'component' && files.project) {
    const { project, latest } = files
    return findComponent(place, files, place.ref === LATEST ? latest : path => project(path, place.ref))
  }
  // Not specified: a file without a repository includes no local files.
  const apart = { ...files, name: '', read: async () => null, list: async () => [] }
  if (place.kind === 'remote' && files.remote) {
    if (pass.remote-- <= 0) return { problem: `is one of more than ${MOST_REMOTE} URLs` }
    const found = await files.remote(place.url)
    return 'problem' in found ? found : { ...found, files: apart }
  }
  if (place.kind === 'template' && files.template) {
    const text = files.template(place.name)
    return text === null ? { problem: 'is not a template' } : { text, files: apart }
  }
  return undefined
}

type Component = Extract<IncludePlace, { readonly kind: 'component' }>

async function findComponent(
  { host, project, name }: Component,
  { hosts = [] }: CiFiles,
  open: CiFiles['latest']
): Promise<Found | undefined> {
  if (!hosts.includes(host)) return { problem: `is not of this service (${hosts.map(printable).join(', ')})` }
  if (!open) return undefined
  const other = await open(project)
  if ('problem' in other) return other
  for (const path of [`templates/${name}.yml`, `templates/${name}/template.yml`]) {
    const text = await other.read(path)
    if (text !== null) return { text, files: other }
  }
  return { problem: `is neither templates/${name}.yml nor templates/${name}/template.yml of its project` }
}

async function readFrom(files: CiFiles, path: string): Promise<Found> {
  const text = await files.read(path)
  return text === null ? { problem: `is not a file of the repository of at most ${TEXT_LIMIT} bytes` } : { text, files }
}

function fault(pass: Pass, problem: string): undefined {
  pass.report('include', problem)
  return undefined
}
