// Turns drafts into records of an archive: people and texts become those of this appliance, and what a record cannot have is cut. A
// draft that still is no record is left out, with everything that belongs to it.
import { nameProblem, pathProblem } from '../../../lib/path.js'
import { LONGEST_DESCRIPTION } from '../../planning/participation/targets.js'
import { BadProjectArchive } from '../../upkeep/project-archives/format.js'
import { SINGLE } from '../../upkeep/project-archives/people.js'
import { checkRecord, type ProjectRecord } from '../../upkeep/project-archives/records.js'
import type { Draft, Person, Skipped } from '../sources/source.js'
import { keyOf, type PeopleHere } from './people.js'
import { LISTS, labelTitle, type Survey } from './survey.js'

export interface Conversion {
  readonly survey: Survey
  readonly people: PeopleHere
  /** The username of the user who has the records of deleted accounts. */
  readonly ghost: string
  /** The path of the project here, without its namespace. */
  readonly path: string
  /** SECRET/NAME of the upload with the picture of the project. */
  readonly avatar: string | null
  /** Turns a text of the source into one for this appliance. */
  readonly text: (text: string) => string
  readonly skipped: Skipped
}

/** The texts in Markdown, and the characters that each may have. */
const TEXTS: { readonly [kind: string]: readonly (readonly [field: string, most: number])[] } = {
  issue: [['description', LONGEST_DESCRIPTION]],
  merge_request: [['description', LONGEST_DESCRIPTION]],
  milestone: [['description', LONGEST_DESCRIPTION]],
  release: [['description', LONGEST_DESCRIPTION]],
  note: [['note', LONGEST_DESCRIPTION]]
}
/** One line each. */
const LINES: readonly (readonly [field: string, most: number])[] = [
  ['title', 255],
  ['name', 255],
  ['file_name', 255],
  ['merge_error', 255]
]
/** An archive numbers the forks that merge requests come from. */
const MOST_FORKS = 1_000_000
const NOT_LISTED = 'the source does not list them, or they did not come'
/** Readers bring no files of builds. */
const OF_BUILD = { environment: null, environment_url: null, trace: false, artifacts: null }

type Values = { [name: string]: unknown }

/** Returns a function that converts one draft after another. It returns null for a draft that is left out. */
export function converter(conversion: Conversion): (draft: Draft) => ProjectRecord | null {
  const { skipped, survey } = conversion
  const done: Done = {
    out: new Set(),
    keys: new Set(),
    titles: newTexts(),
    slugs: newTexts(),
    branches: new Set(),
    forks: new Map()
  }
  let builds = 0
  return draft => {
    const values: Values = { ...draft }
    const kind = draft.kind.replaceAll('_', ' ')
    const leaveOut = (why: string) => {
      skipped(kind, why)
      if (draft.kind === 'issue' || draft.kind === 'merge_request') done.out.add(`${draft.kind} ${draft.iid}`)
      if (draft.kind === 'snippet') done.out.add(`snippet ${draft.number}`)
      return null
    }
    people(values, conversion)
    if (draft.kind === 'member' && values.username === null) return leaveOut('the account was deleted')
    texts(values, conversion, kind)
    moments(values)
    if (draft.kind === 'project') projectValues(values, conversion)
    if (draft.kind === 'build') Object.assign(values, { ...OF_BUILD, ...values, number: ++builds })
    if (draft.kind === 'merge_request') sources(values, done, skipped)
    if (!links(values, conversion, { kind, done })) return leaveOut('what it belongs to is missing')
    if (isOrphan(values, done.out)) return leaveOut('what it belongs to was left out')
    const keys = keysOf(values)
    const same = keys.find(({ key }) => done.keys.has(key))
    if (same) {
      skipped(kind, `another one has the same ${same.names}`)
      return null
    }
    if (draft.kind === 'milestone') values.title = done.titles(String(values.title), 240, number => ` (${number})`)
    if (draft.kind === 'environment') values.slug = done.slugs(String(values.slug), 20, number => `-${number}`)
    try {
      const record = checkRecord(values, kind)
      for (const { key } of keys) done.keys.add(key)
      return record
    } catch (error) {
      if (!(error instanceof BadProjectArchive)) throw error
      if (draft.kind === 'project') throw error
      return leaveOut(error.message)
    }
  }

  function projectValues(values: Values, { path, avatar }: Conversion): void {
    const last = (numbers: ReadonlySet<number>) => [...numbers].reduce((most, each) => Math.max(most, each), 0)
    const given = (values.counters ?? {}) as { readonly [kind: string]: number }
    values.path = path
    values.avatar = avatar
    values.name = nameHere(String(values.name), path)
    values.counters = {
      issue: Math.max(given.issue ?? 0, last(survey.issues)),
      milestone: Math.max(given.milestone ?? 0, last(survey.milestones)),
      merge_request: Math.max(given.merge_request ?? 0, last(survey.mergeRequests))
    }
    if (typeof values.description === 'string') values.description = cut(values.description, 2000)
    if (Array.isArray(values.tag_list))
      values.tag_list = values.tag_list.slice(0, 1000).map(tag => cut(String(tag), 255))
  }
}

function people(values: Values, { people, ghost }: Conversion): void {
  const here = (person: unknown): string | null =>
    typeof person === 'string' ? (people.get(keyOf(person)) ?? ghost) : null
  for (const name of SINGLE) {
    if (!(name in values)) continue
    const person = values[name] as Person
    values[name] = person === null && name === 'author' ? ghost : here(person)
  }
  for (const name of LISTS) {
    if (!Array.isArray(values[name])) continue
    const list = (values[name] as readonly Values[]).map(
      (each): Values => ({ ...each, user: here(each.user) ?? ghost })
    )
    // Two people there may be one here.
    const seen = new Set<string>()
    values[name] = list.filter(each => {
      const key = name === 'timelogs' ? `${seen.size}` : `${each.user} ${each.name ?? ''}`
      return !seen.has(key) && seen.add(key)
    })
  }
  if (Array.isArray(values.participants))
    values.participants = [...new Set(values.participants.flatMap(each => here(each) ?? []))]
}

function texts(values: Values, { text, skipped }: Conversion, kind: string): void {
  for (const [field, most] of TEXTS[String(values.kind)] ?? []) {
    if (typeof values[field] !== 'string') continue
    const whole = text(values[field])
    values[field] = cut(whole, most)
    if (values[field] !== whole) skipped(`the end of texts (${kind})`, `longer than ${most} characters`)
  }
  for (const [field, most] of LINES) {
    if (typeof values[field] !== 'string') continue
    values[field] = cut(field === 'title' && values.kind === 'label' ? labelTitle(values[field]) : values[field], most)
  }
  if (Array.isArray(values.labels)) values.labels = [...new Set(values.labels.map(title => labelTitle(String(title))))]
}

/** Cuts a text to so many characters, as the schemas count them. */
function cut(text: string, most: number): string {
  if (text.length <= most) return text
  const characters = [...text.slice(0, most * 2 + 2)]
  if (characters.length <= most && text.length <= most * 2) return text
  return `${characters.slice(0, most - 4).join('')} ...`
}

const MOMENT = /_at$/

/** Readers may write moments in any form that JavaScript reads. Days stay. */
function moments(values: Values): void {
  for (const [name, value] of Object.entries(values)) {
    if (Array.isArray(value))
      for (const each of value) if (typeof each === 'object' && each !== null) moments(each as Values)
    if (!MOMENT.test(name) || typeof value !== 'string' || /^\d{4}-\d\d-\d\d$/.test(value)) continue
    const at = new Date(value)
    if (!Number.isNaN(at.getTime())) values[name] = at.toISOString()
  }
}

interface Done {
  /** The records that were left out, to which others may belong. */
  readonly out: Set<string>
  readonly keys: Set<string>
  readonly titles: Texts
  readonly slugs: Texts
  /** The branches of open merge requests. */
  readonly branches: Set<string>
  readonly forks: Map<string, number>
}

/** In what the records of a kind differ from each other here. */
const KEYS: { readonly [kind: string]: readonly (readonly string[])[] } = {
  member: [['username']],
  label: [['title']],
  milestone: [['iid']],
  protected_branch: [['name']],
  release: [['tag']],
  variable: [['key', 'environment_scope']],
  environment: [['name']],
  issue: [['iid']],
  merge_request: [['iid']],
  deployment: [['iid'], ['build']]
}

const keyFor = (kind: string, names: readonly string[], values: Values) =>
  `${kind} ${JSON.stringify(names.map(name => [name, values[name]]))}`

const keysOf = (values: Values) =>
  (KEYS[String(values.kind)] ?? []).map(names => ({
    key: keyFor(String(values.kind), names, values),
    names: names.join(' and ')
  }))

/**
 * Numbers the project that a merge request comes from. Two open ones may have the same branches when the source does not say which
 * deleted fork each comes from. Here, they then come from different ones.
 */
function sources(values: Values, { forks, branches }: Done, skipped: Skipped): void {
  const isOpen = values.state !== 'merged' && values.state !== 'closed'
  if (typeof values.fork === 'string') values.fork = numberOf(values.fork, forks)
  const key = JSON.stringify([values.fork, values.source_branch, values.target_branch])
  if (isOpen && branches.has(key)) {
    values.fork = numberOf(`of ${values.iid}`, forks)
    skipped('source of a merge request', 'another open one has the same branches')
  }
  if (isOpen) branches.add(key)
  // Here, nobody can merge it before the fork has come.
  if (isOpen && values.fork !== null) values.merge_status = 'cannot_be_merged'
}

function numberOf(fork: string, forks: Map<string, number>): number {
  if (!forks.has(fork) && forks.size < MOST_FORKS) forks.set(fork, forks.size + 1)
  return forks.get(fork) ?? MOST_FORKS
}

/** Returns the text, or its first `most` characters with a number when there was an equal one. */
type Texts = (text: string, most: number, numbered: (number: number) => string) => string

function newTexts(): Texts {
  const seen = new Set<string>()
  const last = new Map<string, number>()
  return (text, most, numbered) => {
    let fresh = text
    for (const start = [...text].slice(0, most).join(''); seen.has(fresh); ) {
      const number = (last.get(start) ?? 1) + 1
      last.set(start, number)
      fresh = `${start}${numbered(number)}`
    }
    seen.add(fresh)
    return fresh
  }
}

/** Drops references to records that have not come. Returns false when the draft has nothing to belong to. */
function links(
  values: Values,
  { survey, skipped }: Conversion,
  { kind, done: { keys } }: { readonly kind: string; readonly done: Done }
): boolean {
  const hasLabel = (title: unknown) => keys.has(keyFor('label', ['title'], { title }))
  if (Array.isArray(values.labels)) {
    const known = values.labels.filter(hasLabel)
    if (known.length < values.labels.length) skipped(`labels (${kind})`, NOT_LISTED)
    values.labels = known
  }
  if (values.kind === 'board' && Array.isArray(values.lists)) {
    const known = values.lists
      .map((each): Values => ({ ...each, label: labelTitle(String(each.label)) }))
      .filter(({ label }) => hasLabel(label))
    if (known.length < values.lists.length) skipped('list of a board', NOT_LISTED)
    values.lists = known
  }
  if (typeof values.milestone === 'number' && !keys.has(keyFor('milestone', ['iid'], { iid: values.milestone }))) {
    values.milestone = null
    skipped(`milestones (${kind})`, NOT_LISTED)
  }
  if (values.refers !== undefined && values.refers !== null && !exists(values.refers, survey)) values.refers = null
  return values.on === undefined || exists(values.on, survey)
}

function exists(about: unknown, { issues, mergeRequests, snippets }: Survey): boolean {
  const { type, number } = about as { readonly type?: unknown; readonly number?: unknown }
  if (type === 'Commit') return true
  const numbers = type === 'Issue' ? issues : type === 'MergeRequest' ? mergeRequests : snippets
  return typeof number === 'number' && numbers.has(number)
}

function isOrphan({ on }: Values, out: ReadonlySet<string>): boolean {
  if (on === undefined) return false
  const { type, number } = on as { readonly type?: unknown; readonly number?: unknown }
  const kind = type === 'MergeRequest' ? 'merge_request' : String(type).toLowerCase()
  return out.has(`${kind} ${number}`)
}

/** Returns the name that a project has here: that of the source, or else its path, which may begin with a dot, unlike a name. */
const nameHere = (name: string, path: string): string =>
  [name, path, path.replace(/^[-.]+/, '')].find(each => nameProblem(each) === null) ?? 'project'

/** Returns the path that a project has here: that of the source, without what a path cannot have. */
export function pathHere(path: string): string {
  if (pathProblem(path, 'project') === null) return path
  const plain = path
    .replace(/[^A-Za-z0-9_.-]+/g, '-')
    .replace(/^[-.]+|\.(git|atom)$/gi, '')
    .slice(0, 255)
  return pathProblem(plain, 'project') === null ? plain : 'project'
}
