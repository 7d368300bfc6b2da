// Creates projects from a list of git URLs. Jobs of the worker fetch the repositories; this waits for them, so that only a few are
// under way at once. A second run continues where the first one ended: it waits for projects that are still being filled, tries failed ones
// again, and leaves all others as they are.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Origin } from '../../../access/actor.js'
import { row, rows } from '../../../db/connect/sql.js'
import { transact } from '../../../db/connect/transact.js'
import { DiskFull, Failure, Invalid, Unavailable } from '../../../errors.js'
import { INTERNAL, PRIVATE, PUBLIC } from '../../../lib/levels.js'
import { pathProblem } from '../../../lib/path.js'
import type { ImportLine } from '../../people/users/import/user-import.js'
import { placeOfNewProject } from '../projects/new-project-target.js'
import { checkedImportUrl, refillProject } from '../projects/pending-imports.js'
import { createProjectFor } from '../projects/projects.js'

export const LIST_COLUMNS = ['path', 'url', 'visibility'] as const
export const REQUIRED_LIST_COLUMNS = ['path', 'url'] as const

export interface ListedRefusal {
  readonly line: number
  /** NAMESPACE/PROJECT; null when the line cannot be read. */
  readonly path: string | null
  readonly error: string
}

/** `existing`: the project was there before, and nothing changes. */
type ListedOutcome = 'imported' | 'existing'

export interface ListOptions {
  /** Check all lines and create nothing. */
  readonly dryRun: boolean
  /** The creator of projects in groups. */
  readonly creator?: string
  readonly signal: AbortSignal
  /** Called for each line that is refused, and for each import that fails. */
  readonly refuse: (refusal: ListedRefusal) => void
  readonly done: (outcome: ListedOutcome, path: string) => void
}

/** How many projects of the list wait or are being filled at once. `queue.concurrency.imports` says how many jobs run. */
const AT_ONCE = 10
/** Milliseconds between two looks. */
const LOOK_AGAIN = 500
const LEVELS: { readonly [word: string]: 0 | 10 | 20 } = { private: PRIVATE, internal: INTERNAL, public: PUBLIC }

interface Listed {
  readonly line: number
  readonly path: string
  readonly url: string
  readonly visibility: 0 | 10 | 20 | undefined
}

/** Imports all lines. Projects that were created stay, also when a later step fails or the signal aborts. */
export async function importList(
  lines: AsyncIterable<ImportLine>,
  options: ListOptions,
  origin: Origin
): Promise<void> {
  const waiting = new Map<number, Listed>()
  for await (const line of lines) {
    options.signal.throwIfAborted()
    const path = ('values' in line && line.values.path?.trim()) || null
    try {
      const listed = read(line)
      const id = await begin(listed, options, origin)
      if (id === null) options.done(options.dryRun && !(await find(listed.path)) ? 'imported' : 'existing', listed.path)
      else waiting.set(id, listed)
    } catch (error) {
      if (!(error instanceof Failure) || error instanceof Unavailable || error instanceof DiskFull) throw error
      options.refuse({ line: line.line, path, error: error.message })
    }
    while (waiting.size >= AT_ONCE) await settle(waiting, options)
  }
  while (waiting.size > 0) await settle(waiting, options)
}

/** Throws Invalid. */
function read(line: ImportLine): Listed {
  if ('error' in line) throw new Invalid('line', line.error)
  const { path = '', url = '', visibility = '' } = line.values
  const [name, word] = [path.trim(), visibility.trim()]
  const problem = pathProblem(name.slice(name.indexOf('/') + 1), 'project')
  if (problem !== null) throw new Invalid('path', problem)
  const level = LEVELS[word]
  if (word !== '' && level === undefined) throw new Invalid('visibility', 'must be private, internal or public')
  return { line: line.line, path: name, url: checkedImportUrl(url.trim()), visibility: level }
}

interface Found {
  readonly id: number
  readonly import_state: 'waiting' | 'failed' | null
}

function find(path: string): Promise<Found | undefined> {
  const [namespace = '', project = ''] = path.split('/')
  return row<Found>(
    `select p.id, p.import_state from projects p join namespaces n on n.id = p.namespace_id
     where n.path_key = lower(?) and p.path_key = lower(?)`,
    [namespace, project]
  )
}

/** Returns the id of a project to wait for; null when there is nothing to wait for. Throws the errors of a new project. */
async function begin(
  { path, url, visibility }: Listed,
  { dryRun, creator }: ListOptions,
  origin: Origin
): Promise<number | null> {
  const found = await find(path)
  if (found?.import_state === 'waiting') return dryRun ? null : found.id
  if (found) {
    const again = found.import_state === 'failed' && !dryRun && (await transact(() => refillProject(found.id, { url })))
    return again ? found.id : null
  }
  const place = await placeOfNewProject(path, creator)
  if (dryRun) return null
  const body = {
    name: place.path,
    path: place.path,
    namespace_id: place.namespaceId,
    import_url: url,
    ...(visibility === undefined ? {} : { visibility_level: visibility })
  }
  return createProjectFor(place.creator, body, origin)
}

/** Reports the projects that are filled. Waits a moment when none is. */
async function settle(waiting: Map<number, Listed>, { signal, refuse, done }: ListOptions): Promise<void> {
  const ids = [...waiting.keys()]
  const found = await rows<{ id: number; import_state: string | null; import_error: string | null }>(
    `select id, import_state, import_error from projects where id in (${ids.map(() => '?').join(', ')})`,
    ids
  )
  const before = waiting.size
  for (const [id, { line, path }] of [...waiting]) {
    const project = found.find(each => each.id === id)
    if (project?.import_state === 'waiting') continue
    waiting.delete(id)
    if (project?.import_state === null) done('imported', path)
    else refuse({ line, path, error: project?.import_error ?? 'the project was removed' })
  }
  if (waiting.size === before) await sleep(LOOK_AGAIN, undefined, { signal })
}
