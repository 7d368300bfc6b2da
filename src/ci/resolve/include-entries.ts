// Reads the entries of `include`: where the files are, and when they count.

import type { CiRule } from '../config-types.js'
import { checkKeys, given, kindOf, printable, type Report, readList, readText, type Section } from '../config-values.js'
import { isReference, type Yaml, type YamlMapping } from '../load-yaml.js'
import { readIncludeRules } from '../rules/read-rules.js'

/** A file, or with a pattern several of the same repository. */
export type IncludePlace =
  | { readonly kind: 'local'; readonly path: string }
  | { readonly kind: 'project'; readonly project: string; readonly ref: string | null; readonly path: string }
  | { readonly kind: 'remote'; readonly url: string }
  | { readonly kind: 'template'; readonly name: string }

export interface IncludeEntry {
  readonly place: IncludePlace
  /** Null: it always counts. */
  readonly rules: readonly CiRule[] | null
}

const KINDS = ['local', 'project', 'remote', 'template'] as const
const LONGEST = 2000

/** The entries of the value of `include`. Reports wrong ones and leaves them out. */
export function readIncludeEntries(value: Yaml, report: Report, warn: Report): IncludeEntry[] {
  const tell = (problem: string) => report('include', problem)
  const entries = Array.isArray(value) ? value : [value]
  return entries.flatMap((entry, at) => {
    if (typeof entry === 'string') return placed(entry.includes('://') ? remote(entry, tell) : local(entry, tell), null)
    if (entry instanceof Map) return mapped({ path: `include:${at + 1}`, entries: entry, report, warn }, tell)
    tell(`should be a path or a list of paths, not ${isReference(entry) ? 'a reference' : kindOf(entry)}`)
    return []
  })
}

type Tell = (problem: string) => void

const placed = (place: IncludePlace | null, rules: readonly CiRule[] | null): IncludeEntry[] =>
  place ? [{ place, rules }] : []

function mapped(section: Section, tell: Tell): IncludeEntry[] {
  checkKeys(
    section,
    [...KINDS, 'file', 'ref', 'rules'],
    ['component', 'inputs', 'integrity', 'cache', 'artifact', 'job']
  )
  const kinds = KINDS.filter(kind => given(section, kind) !== undefined)
  const [kind, another] = kinds
  const rules = readIncludeRules(section)
  if (kind === undefined || another !== undefined) {
    tell(`should have the path of a file in ${another === undefined ? '`local`' : `one of ${kinds.join(', ')}`}`)
    return []
  }
  if (kind !== 'project') {
    for (const key of ['file', 'ref']) if (given(section, key) !== undefined) tell(`key \`${key}\` needs \`project\``)
  }
  const text = readText(section, kind, LONGEST)
  if (text === null) return []
  if (kind === 'local') return placed(local(text, tell), rules)
  if (kind === 'remote') return placed(remote(text, tell), rules)
  if (kind === 'template') return placed({ kind, name: text }, rules)
  return ofProject(section, text, tell).flatMap(place => placed(place, rules))
}

function ofProject(section: Section, project: string, tell: Tell): IncludePlace[] {
  const files = readList(section, 'file', { single: true })
  if (!files?.length) tell(`of project \`${printable(project)}\` should name a file`)
  const ref = readText(section, 'ref', 255)
  return (files ?? []).flatMap((file): IncludePlace[] => {
    const path = pathOf(file, tell)
    if (path?.includes('*')) tell(`\`${printable(path)}\` of another project should be the path of one file`)
    return path === null ? [] : [{ kind: 'project', project: project.replace(/^\/+/, ''), ref, path }]
  })
}

function local(text: string, tell: Tell): IncludePlace | null {
  const path = pathOf(text, tell)
  return path === null ? null : { kind: 'local', path }
}

function remote(url: string, tell: Tell): IncludePlace | null {
  if (/^https?:\/\/[^/]/i.test(url)) return { kind: 'remote', url }
  tell(`\`${printable(url)}\` should be an http or https URL`)
  return null
}

/** The path of a file of a repository; null after a report. */
function pathOf(text: string, tell: Tell): string | null {
  const shown = `\`${printable(text)}\``
  const path = text.replace(/^\/+/, '')
  if (path.split('/').includes('..')) tell(`${shown} should not contain \`..\``)
  else if (!/\.ya?ml$/.test(path)) tell(`${shown} should be the path of a .yml or .yaml file`)
  else return path
  return null
}

/** Whether the file includes others. A job may have the name `include`. */
export function includesFiles(root: YamlMapping): boolean {
  const value = root.get('include') ?? null
  return value !== null && !(value instanceof Map && (value.has('script') || value.has('trigger')))
}
