// Reads the entries of `include`: where the files are, and when they are included.

import type { CiRule } from '../config-types.js'
import {
  checkKeys,
  given,
  kindOf,
  printable,
  type Report,
  readList,
  readSection,
  readText,
  type Section
} from '../config-values.js'
import { isReference, type Yaml, type YamlMapping } from '../load-yaml.js'
import { readIncludeRules } from '../rules/read-rules.js'

/** A file, or with a pattern several of the same repository. */
export type IncludePlace =
  | { readonly kind: 'local'; readonly path: string }
  | { readonly kind: 'project'; readonly project: string; readonly ref: string | null; readonly path: string }
  | { readonly kind: 'remote'; readonly url: string }
  | { readonly kind: 'template'; readonly name: string }
  | {
      readonly kind: 'component'
      readonly host: string
      readonly project: string
      readonly name: string
      readonly ref: string
    }

export interface IncludeEntry {
  readonly place: IncludePlace
  /** The path as written, when it contains variables: their values may be secrets, which messages do not show. */
  readonly written: string | null
  readonly inputs: YamlMapping | null
  /** Null: it is always included. */
  readonly rules: readonly CiRule[] | null
}

const KINDS = ['local', 'project', 'remote', 'template', 'component'] as const
const LONGEST = 2000
/** The version of a component that means the newest version of its project. */
export const LATEST = '~latest'

/** Reads the entries of the value of `include`. Reports wrong ones and leaves them out. */
export function readIncludeEntries(value: Yaml, report: Report, warn: Report, fill: Fill): IncludeEntry[] {
  const reportInclude = (problem: string) => report('include', problem)
  const entries = Array.isArray(value) ? value : [value]
  return entries.flatMap((entry, at) => {
    if (typeof entry === 'string') {
      const text = written(entry, fill)
      return placed(text.value.includes('://') ? remote(text, reportInclude) : local(text, reportInclude), text)
    }
    if (entry instanceof Map)
      return mapped({ path: `include:${at + 1}`, entries: entry, report, warn }, reportInclude, fill)
    reportInclude(`should be a path or a list of paths, not ${isReference(entry) ? 'a reference' : kindOf(entry)}`)
    return []
  })
}

/** Whether texts of the value contain variables. Only the texts in which variables are replaced count. */
export const hasVariables = (value: Yaml): boolean =>
  typeof value === 'string'
    ? value.includes('$')
    : Array.isArray(value)
      ? value.some(hasVariables)
      : value instanceof Map && [...KINDS, 'file', 'ref'].some(key => hasVariables(value.get(key) ?? null))

type Tell = (problem: string) => void
/** Replaces variables. */
type Fill = (text: string) => string

interface Written {
  readonly value: string
  /** For messages. */
  readonly shown: string
  readonly isFilled: boolean
}

function written(text: string, fill: Fill): Written {
  const value = text.includes('$') ? fill(text) : text
  return { value, shown: `\`${printable(text)}\``, isFilled: value !== text }
}

const placed = (
  place: IncludePlace | null,
  { shown, isFilled }: Written,
  { rules = null, inputs = null }: Partial<Pick<IncludeEntry, 'rules' | 'inputs'>> = {}
): IncludeEntry[] => (place ? [{ place, rules, inputs, written: isFilled ? shown.slice(1, -1) : null }] : [])

function mapped(section: Section, reportInclude: Tell, fill: Fill): IncludeEntry[] {
  checkKeys(section, [...KINDS, 'file', 'ref', 'rules', 'inputs'], ['integrity', 'cache', 'artifact', 'job'])
  const kinds = KINDS.filter(kind => given(section, kind) !== undefined)
  const [kind, another] = kinds
  const how = { rules: readIncludeRules(section), inputs: readSection(section, 'inputs')?.entries ?? null }
  if (kind === undefined || another !== undefined) {
    reportInclude(
      `should have the path of a file in ${another === undefined ? '`local`' : `one of ${kinds.join(', ')}`}`
    )
    return []
  }
  if (kind !== 'project') {
    for (const key of ['file', 'ref'])
      if (given(section, key) !== undefined) reportInclude(`key \`${key}\` needs \`project\``)
  }
  const plain = readText(section, kind, LONGEST)
  if (plain === null) return []
  const text = written(plain, fill)
  if (kind === 'local') return placed(local(text, reportInclude), text, how)
  if (kind === 'remote') return placed(remote(text, reportInclude), text, how)
  if (kind === 'template') return placed({ kind, name: text.value }, text, how)
  if (kind === 'component') return placed(component(text, reportInclude), text, how)
  return ofProject(section, text, reportInclude, fill).flatMap(([place, file]) => placed(place, file, how))
}

function ofProject(section: Section, project: Written, reportInclude: Tell, fill: Fill): [IncludePlace, Written][] {
  const files = readList(section, 'file', { single: true })
  if (!files?.length) reportInclude(`of project ${project.shown} should name a file`)
  const ref = readText(section, 'ref', 255)
  const tip = ref === null ? null : written(ref, fill)
  return (files ?? []).flatMap((name): [IncludePlace, Written][] => {
    const file = written(name, fill)
    const path = pathOf(file, reportInclude)
    if (path?.includes('*')) reportInclude(`${file.shown} of another project should be the path of one file`)
    const place = { kind: 'project', project: project.value.replace(/^\/+/, ''), ref: tip?.value ?? null } as const
    const whole = { ...file, shown: `\`${project.shown.slice(1, -1)}:${file.shown.slice(1, -1)}\`` }
    const isFilled = project.isFilled || file.isFilled || tip?.isFilled === true
    return path === null
      ? []
      : [
          [
            { ...place, path },
            { ...whole, isFilled }
          ]
        ]
  })
}

function local(text: Written, reportInclude: Tell): IncludePlace | null {
  const path = pathOf(text, reportInclude)
  return path === null ? null : { kind: 'local', path }
}

function remote({ value: url, shown }: Written, reportInclude: Tell): IncludePlace | null {
  if (/^https?:\/\/[^/]/i.test(url)) return { kind: 'remote', url }
  reportInclude(`${shown} should be an http or https URL`)
  return null
}

/** Reads HOST/PROJECT/NAME@VERSION: a file in the folder `templates` of a project of this service. */
function component({ value, shown }: Written, reportInclude: Tell): IncludePlace | null {
  const [, host = '', project = '', name = '', ref = ''] = /^([^/\s]+)\/(.+)\/([\w.-]+)@([^@\s]+)$/.exec(value) ?? []
  if (host === '') reportInclude(`${shown} should be HOST/PROJECT/NAME@VERSION`)
  else if (ref.startsWith('~') && ref !== LATEST)
    reportInclude(`${shown} should name a branch, a tag, a commit or ${LATEST} after @`)
  else return { kind: 'component', host, project, name, ref }
  return null
}

/** The path of a file of a repository; null after a report. */
function pathOf({ value, shown }: Written, reportInclude: Tell): string | null {
  const path = value.replace(/^\/+/, '')
  if (path.split('/').includes('..')) reportInclude(`${shown} should not contain \`..\``)
  else if (!/\.ya?ml$/.test(path)) reportInclude(`${shown} should be the path of a .yml or .yaml file`)
  else return path
  return null
}

/** Whether the file includes others. A job may have the name `include`. */
export function includesFiles(root: YamlMapping): boolean {
  const value = root.get('include') ?? null
  return value !== null && !(value instanceof Map && (value.has('script') || value.has('trigger')))
}
