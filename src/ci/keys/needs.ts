// Reads `needs`: a job starts as soon as the jobs that it names have ended, whatever their stages are.
import type { CiNeed, CiOuterNeed } from '../config-types.js'
import {
  checkKeys,
  given,
  kindOf,
  pathOf,
  printable,
  readFlag,
  readText,
  reportAt,
  type Section
} from '../config-values.js'
import type { Yaml } from '../load-yaml.js'
import { isMirror, needEntries } from './mirror.js'
import { pickedNames } from './parallel.js'

const MOST_NEEDS = 50
/** Keys of an entry that refer to another pipeline or project. */
const LATER = ['pipeline', 'project', 'ref']

/**
 * Returns the needs of a job; null when the key is absent, or has only a need of a whole pipeline. An empty list is different: the
 * job starts at once. Needs of other pipelines are left out, and with `refuseOuter` reported.
 */
export function readNeeds(section: Section, { refuseOuter = false } = {}): CiNeed[] | null {
  const value = needEntries(section)
  if (value === undefined) return null
  if (!Array.isArray(value)) {
    reportAt(section, 'needs', `should be a list of jobs, not ${kindOf(value)}`)
    return null
  }
  const all = value.flat(1) as Yaml[]
  const entries = refuseOuter ? all : all.filter(entry => !isMirror(section, entry))
  if (entries.length === 0 && all.length > 0) return null
  if (entries.length > MOST_NEEDS) reportAt(section, 'needs', `are more than ${MOST_NEEDS}`)
  const needs = entries
    .slice(0, MOST_NEEDS)
    .flatMap((entry, at) => (isOuter(entry) && !refuseOuter ? [] : readNeed(section, entry, at)))
  if (needs.length > MOST_NEEDS) reportAt(section, 'needs', `are more than ${MOST_NEEDS}, with those of \`parallel\``)
  const twice = needs.find((need, at) => needs.findIndex(({ job }) => job === need.job) < at)
  if (twice) reportAt(section, 'needs', `name \`${printable(twice.job)}\` twice`)
  return needs
}

const MOST_OUTER = 5

const isOuter = (entry: Yaml) => entry instanceof Map && (entry.has('project') || entry.has('pipeline'))

/** The needs of a job in other pipelines. */
export function readOuterNeeds(section: Section): CiOuterNeed[] {
  const value = needEntries(section)
  const entries = Array.isArray(value)
    ? [...(value.flat(1) as Yaml[]).entries()].filter(([, entry]) => isOuter(entry) && !isMirror(section, entry))
    : []
  if (entries.length > MOST_OUTER) reportAt(section, 'needs', `of other pipelines are more than ${MOST_OUTER}`)
  return entries.slice(0, MOST_OUTER).flatMap(([at, entry]): CiOuterNeed[] => {
    if (!(entry instanceof Map)) return []
    const need = { ...section, path: pathOf(section, `needs:${at + 1}`), entries: entry }
    checkKeys(need, ['job', 'project', 'ref', 'pipeline', 'artifacts', 'optional'], ['parallel'])
    const text = (key: string) => readText(need, key, 255)
    const read = { job: text('job'), project: text('project'), ref: text('ref'), pipeline: text('pipeline') }
    const { job, project, ref, pipeline } = read
    if (job === null) {
      const hint = pipeline === null ? '' : ': only a job without script and trigger follows a whole pipeline'
      reportAt(need, 'job', `is missing${hint}`)
      return []
    }
    if ((project === null) === (pipeline === null)) need.report(need.path, 'should have either `project` or `pipeline`')
    if ((project === null) !== (ref === null)) need.report(need.path, 'should have `project` and `ref` together')
    const wanted = given(need, 'artifacts') === undefined || readFlag(need, 'artifacts')
    const optional = readFlag(need, 'optional')
    return wanted ? [{ ...read, job, optional }] : []
  })
}

function readNeed(section: Section, entry: Yaml, at: number): CiNeed[] {
  if (typeof entry === 'string' && entry !== '') return [{ job: entry, artifacts: true, optional: false }]
  const path = pathOf(section, `needs:${at + 1}`)
  if (!(entry instanceof Map)) {
    section.report(path, `should be the name of a job or a mapping with \`job\`, not ${kindOf(entry)}`)
    return []
  }
  const need = { ...section, path, entries: entry }
  checkKeys(need, ['job', 'artifacts', 'optional', 'parallel'], LATER)
  const job = readText(need, 'job')
  if (job === null && given(need, 'job') === undefined) reportAt(need, 'job', 'is missing')
  if (job === null) return []
  const artifacts = given(need, 'artifacts') === undefined || readFlag(need, 'artifacts')
  const optional = readFlag(need, 'optional')
  const jobs = given(need, 'parallel') === undefined ? [job] : pickedNames(job, need)
  return jobs.map(job => ({ job, artifacts, optional }))
}

/** Returns the names of a circle, with its first name also at the end; undefined without a circle. `edges` maps a name to its needs. */
export function findCircle(edges: ReadonlyMap<string, readonly string[]>): string[] | undefined {
  const done = new Set<string>()
  for (const start of edges.keys()) {
    const open = new Map<string, number>()
    const path: { name: string; next: number }[] = []
    const enter = (name: string) => {
      open.set(name, path.length)
      path.push({ name, next: 0 })
    }
    if (!done.has(start)) enter(start)
    for (let last = path.at(-1); last; last = path.at(-1)) {
      const name = edges.get(last.name)?.[last.next++]
      if (name === undefined) {
        done.add(last.name)
        open.delete(last.name)
        path.pop()
        continue
      }
      const at = open.get(name)
      if (at !== undefined) return [...path.slice(at).map(step => step.name), name]
      if (!done.has(name)) enter(name)
    }
  }
  return undefined
}
