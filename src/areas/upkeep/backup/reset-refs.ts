// Resets the refs of the copy to the snapshot. The backup copies repositories after the snapshot, while users continue to push.
// This undoes the changes of these pushes in the copy, by the rows of the changes. So every restored ref has the row, the hooks
// and the pipeline that it has in the appliance. All objects exist, because nothing is pruned while a backup runs.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { row, rows } from '../../../db/connect/sql.js'
import type { Snapshot } from '../../../db/snapshot/snapshot.js'
import { fileRefName, formatPackedRefs, parsePackedRefs, type RefFiles } from '../../../git/refs/files.js'
import { ZERO } from '../../../git/refs/refs.js'
import { withOriginal } from '../../projects/projects/elsewhere/originals.js'
import { PACKED_REFS } from './copy-repository.js'

/** What the snapshot knows about the newest ref changes. */
export interface KnownChanges {
  /** Changes with this id or a higher one may be newer than the snapshot. */
  readonly floor: number
  /** The changes among them that were done in the snapshot. */
  readonly settled: ReadonlySet<number>
  /** Older changes that were still open in the snapshot. */
  readonly open: readonly number[]
}

interface Change {
  readonly id: number
  readonly project_id: number
  readonly ref: string
  readonly old_id: string
  readonly new_id: string
  readonly state: 'open' | 'done'
}

/** The changes of one ref since the snapshot: its value before the first done change, and the changes that are still open. */
interface News {
  before?: string
  readonly open: Change[]
}

/** A transaction commits its row within this time after the row got its id: the database assigns ids before the commit. */
const HOUR = 3_600_000
/** The nodes of a cluster assign ids in turns, so ids do not follow the order of time exactly. */
const SLACK = 1000

/** Reads from a snapshot what `readNews` needs to distinguish later changes from earlier ones. */
export async function readKnownChanges(snapshot: Snapshot): Promise<KnownChanges> {
  const since = new Date(snapshot.takenAt.getTime() - HOUR)
  const [recent] = await snapshot.rows<{ least: number | null }>(
    'select min(id) as least from ref_changes where state in (?, ?) and created_at >= ?',
    ['open', 'done', since]
  )
  const [all] = await snapshot.rows<{ highest: number | null }>('select max(id) as highest from ref_changes')
  const floor = Math.max(0, (recent?.least ?? (all?.highest ?? 0) + 1) - SLACK)
  const done = await snapshot.rows<{ id: number }>('select id from ref_changes where state = ? and id >= ?', [
    'done',
    floor
  ])
  const open = await snapshot.rows<{ id: number }>('select id from ref_changes where state = ? and id < ?', [
    'open',
    floor
  ])
  return { floor, settled: new Set(done.map(({ id }) => id)), open: open.map(({ id }) => id) }
}

/** Project -> ref -> its changes since the snapshot. */
export type NewsByProject = Map<number, Map<string, News>>

/** Reads the changes since the snapshot. Call it after the refs were copied. */
export async function readNews({ floor, settled, open }: KnownChanges): Promise<NewsByProject> {
  const news: NewsByProject = new Map()
  for (const id of open) {
    const change = await row<Change>(`select ${COLUMNS} from ref_changes where id = ?`, [id])
    if (change) note(news, change)
  }
  for (let last = floor - 1; ; ) {
    const found = await rows<Change>(`select ${COLUMNS} from ref_changes where id > ? order by id limit 5000`, [last])
    for (const change of found) if (!settled.has(change.id)) note(news, change)
    const end = found.at(-1)
    if (!end) return news
    last = end.id
  }
}

const COLUMNS = 'id, project_id, ref, old_id, new_id, state'

function note(news: NewsByProject, change: Change): void {
  const refs = news.get(change.project_id) ?? new Map<string, News>()
  news.set(change.project_id, refs)
  const known = refs.get(change.ref) ?? { open: [] }
  refs.set(change.ref, known)
  if (change.state === 'open') known.open.push(change)
  // git moves a ref only from exactly this value, so it is the value in the snapshot.
  else known.before ??= change.old_id
}

/** Undoes the changes since the snapshot in a copied repository. Returns the new `packed-refs` and how many refs moved. */
export async function rewindRefs(
  copy: string,
  project: { id: number; storage: string },
  news: ReadonlyMap<string, News>
): Promise<{ text: string; moved: number }> {
  const refs = parsePackedRefs(readFileSync(join(copy, PACKED_REFS), 'latin1'))
  let moved = 0
  for (const [ref, known] of news) {
    const name = fileRefName(ref)
    const value = known.before ?? (await beforeOpen(project.id, ref, known.open, refs.get(name) ?? ZERO))
    if (value === (refs.get(name) ?? ZERO) || !(await isThere(project, value))) continue
    setRef(refs, name, value)
    moved += 1
  }
  return { text: formatPackedRefs(refs), moved }
}

/** If git has already made one of the open changes, returns the last done value before it; otherwise the copied value. */
async function beforeOpen(projectId: number, ref: string, open: readonly Change[], copied: string): Promise<string> {
  const made = open.find(change => change.new_id === copied)
  if (!made) return copied
  const settled = await row<{ new_id: string }>(
    `select new_id from ref_changes where project_id = ? and ref = ? and state = 'done' and id < ?
     order by id desc limit 1`,
    [projectId, ref, Math.min(...open.map(({ id }) => id))]
  )
  return settled?.new_id ?? made.old_id
}

async function isThere(project: { id: number; storage: string }, value: string): Promise<boolean> {
  if (value === ZERO) return true
  return withOriginal(project, original => original.hasObject(value))
}

function setRef(refs: RefFiles, name: string, value: string): void {
  if (value === ZERO) refs.delete(name)
  else refs.set(name, value)
}
