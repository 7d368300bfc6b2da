// What projects have in LFS, and whether it is still stored.
import { row, rows } from '../../../db/connect/sql.js'
import { mapBounded } from '../../../lib/bounded.js'
import { sizeOfLfsObject } from '../../../storage/lfs.js'

export interface LfsUsage {
  readonly project_id: number
  readonly project: string
  readonly objects: number
  /** Bytes that count for `lfs.max_project_size`. */
  readonly bytes: number
  /** Bytes that only merge requests from forks hold. */
  readonly held_bytes: number
}

/** Returns projects with objects, those with the most bytes first, and how many there are. */
export async function listLfsUsage(projectId: number | undefined, limit: number) {
  const [where, values] = projectId === undefined ? ['', []] : ['where l.project_id = ?', [projectId]]
  const items = await rows<LfsUsage>(
    `select l.project_id, concat(n.path, '/', p.path) as project, l.objects, l.bytes, l.held_bytes
     from (select l.project_id, count(*) as objects, coalesce(sum(if(l.held, 0, l.size)), 0) as bytes,
         coalesce(sum(if(l.held, l.size, 0)), 0) as held_bytes from lfs_links l ${where} group by l.project_id) l
       join projects p on p.id = l.project_id join namespaces n on n.id = p.namespace_id
     order by l.bytes desc, l.project_id limit ${Math.trunc(limit)}`,
    values
  )
  const total = await row<{ total: number }>(
    `select count(distinct l.project_id) as total from lfs_links l join projects p on p.id = l.project_id ${where}`,
    values
  )
  const numbers = ({ objects, bytes, held_bytes }: LfsUsage) => ({
    objects: Number(objects),
    bytes: Number(bytes),
    held_bytes: Number(held_bytes)
  })
  return { items: items.map(item => ({ ...item, ...numbers(item) })), total: Number(total?.total ?? 0) }
}

/** Returns the number of objects that projects have. */
export async function countLinkedObjects(): Promise<number> {
  const found = await row<{ total: number }>('select count(distinct oid) as total from lfs_links')
  return Number(found?.total ?? 0)
}

interface DamagedObject {
  readonly oid: string
  /** Bytes. */
  readonly size: number
  /** The stored bytes; undefined when the file is missing. */
  readonly stored: number | undefined
}

interface Look {
  /** The name at which to begin; objects before it follow at the end. */
  readonly from?: string
  readonly most?: number
  readonly progress?: (done: number) => void
}

const AT_ONCE = 5000
/** Questions to the disk or the bucket at the same time. */
const TOGETHER = 8
/** How many damaged objects are named. */
const NAMED = 1000

/** Compares the sizes of stored objects of projects with their rows. */
export async function lookAtObjects({ from = '', most = Number.POSITIVE_INFINITY, progress }: Look) {
  const damaged: DamagedObject[] = []
  let [looked, lost] = [0, 0]
  for (const [first, end] of from === ''
    ? [['', 'g']]
    : [
        [from, 'g'],
        ['', from]
      ]) {
    for (let last = first ?? ''; looked < most; ) {
      const found = await rows<{ oid: string; size: number | string }>(
        `select o.oid, o.size from lfs_objects o where o.oid > ? and o.oid <= ? and o.removing_at is null
           and exists (select 1 from lfs_links l where l.oid = o.oid) order by o.oid limit ${Math.min(AT_ONCE, most - looked)}`,
        [last, end ?? 'g']
      )
      await mapBounded(found, TOGETHER, async ({ oid, size }) => {
        const stored = await sizeOfLfsObject(oid)
        if (stored === Number(size)) return
        lost++
        if (damaged.length < NAMED) damaged.push({ oid, size: Number(size), stored })
      })
      looked += found.length
      progress?.(looked)
      last = found.at(-1)?.oid ?? ''
      if (last === '') break
    }
  }
  return { looked, lost, damaged }
}
