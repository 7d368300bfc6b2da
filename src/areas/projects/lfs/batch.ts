// Answers which objects a client of git LFS must send, or can get.
import { row } from '../../../db/connect/sql.js'
import { isOid } from '../../../storage/lfs.js'
import { type DirectUpload, directLfsUpload } from '../../../storage/lfs-uploads.js'
import { excessOfObject, excessOfProject, findLinks, touchLinks } from './objects.js'
import { lfsSizeOf } from './sizes.js'

/** An object as the client names it: any text and any number. */
interface AskedObject {
  readonly oid: string
  readonly size: number
}

export type Outcome<Object extends AskedObject> =
  | { readonly object: Object; readonly is: 'there' }
  /** `direct`: the client sends it to the bucket. */
  | { readonly object: Object; readonly is: 'missing'; readonly direct: DirectUpload | undefined }
  | { readonly object: Object; readonly is: 'refused'; readonly code: number; readonly why: string }

/** Whether the group of a project lets its projects use LFS. The switch of the project is in its row. */
export async function groupAllowsLfs(namespaceId: number): Promise<boolean> {
  const found = await row<{ lfs_enabled: number }>('select lfs_enabled from namespaces where id = ?', [namespaceId])
  return found?.lfs_enabled === 1
}

interface LfsProject {
  readonly lfs_enabled: number
  readonly namespace_id: number
  readonly namespace_kind: string
}

/** Whether a project may have objects. */
export const usesLfs = async ({ lfs_enabled, namespace_id, namespace_kind }: LfsProject): Promise<boolean> =>
  lfs_enabled === 1 && (namespace_kind !== 'group' || (await groupAllowsLfs(namespace_id)))

/** Says for each object whether the project has it. */
export async function planDownload<Object extends AskedObject>(
  projectId: number,
  objects: readonly Object[]
): Promise<Outcome<Object>[]> {
  const links = await findLinks(projectId, validOids(objects))
  return objects.map(object => {
    const wrong = problemOf(object)
    if (wrong) return { object, is: 'refused', code: 422, why: wrong }
    const size = links.get(object.oid)
    if (size === undefined) return { object, is: 'refused', code: 404, why: 'the project has no such object' }
    if (size !== object.size) return { object, is: 'refused', code: 422, why: `the object has ${size} bytes` }
    return { object, is: 'there' }
  })
}

/** Says for each object whether the client must send it, and whether it may. Objects that are there stay until its push has arrived. */
export async function planUpload<Object extends AskedObject>(
  projectId: number,
  objects: readonly Object[]
): Promise<Outcome<Object>[]> {
  // In this order: a link that is found afterwards is not removed any more (unused.ts).
  const oids = validOids(objects)
  await touchLinks(projectId, oids)
  const links = await findLinks(projectId, oids)
  let total: number | undefined
  const wanted = new Set<string>()
  const found: Outcome<Object>[] = []
  for (const object of objects) {
    const { oid, size } = object
    const known = links.get(oid)
    const wrong = problemOf(object) ?? (known !== undefined && known !== size ? `the object has ${known} bytes` : null)
    if (wrong !== null) found.push({ object, is: 'refused', code: 422, why: wrong })
    else if (known !== undefined) found.push({ object, is: 'there' })
    else {
      total ??= await lfsSizeOf(projectId)
      const sum: number = total + (wanted.has(oid) ? 0 : size)
      const excess = excessOfObject(size) ?? excessOfProject(sum)
      if (excess !== null) {
        found.push({ object, is: 'refused', code: 413, why: excess })
        continue
      }
      total = sum
      wanted.add(oid)
      found.push({ object, is: 'missing', direct: await directLfsUpload(projectId, object) })
    }
  }
  return found
}

const validOids = (objects: readonly AskedObject[]) => [...new Set(objects.map(({ oid }) => oid).filter(isOid))]

function problemOf({ oid, size }: AskedObject): string | null {
  if (!isOid(oid)) return 'oid must be 64 lower-case hex digits of a SHA-256'
  return Number.isSafeInteger(size) && size >= 0 ? null : 'size must be a number of bytes'
}

/** How many objects one question may name; clients ask for 100 at a time. */
export const MOST_OBJECTS = 1000
