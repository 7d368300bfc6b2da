// Files in git that stand for an object of LFS (docs/spec.md in github.com/git-lfs/git-lfs).
import { readBlob } from '../../../git/objects/blob.js'
import type { LfsKey } from '../../../storage/lfs.js'
import type { ProjectRow } from '../projects/projects.queries.js'
import { groupAllowsLfs } from './batch.js'
import { findLinks } from './objects.js'

/** Bytes. Clients read no longer files as pointers. */
const LONGEST_POINTER = 1024
const POINTER =
  /^version https:\/\/git-lfs\.github\.com\/spec\/v1\n(?:ext-\d-\S+ sha256:[0-9a-f]{64}\n)*oid sha256:([0-9a-f]{64})\nsize (\d{1,15})\n$/

/** Returns the object for which the text of a file stands; null for other files. */
function parsePointer(text: string): LfsKey | null {
  const [, oid, size] = (text.length <= LONGEST_POINTER && POINTER.exec(text)) || []
  return oid === undefined ? null : { oid, size: Number(size) }
}

/** Returns the object for which a blob of a project stands, if the project has it. `size` is that of the blob in bytes. */
export async function objectOfBlob(
  project: ProjectRow,
  { repository, id, size }: { readonly repository: string; readonly id: string; readonly size: number }
): Promise<LfsKey | null> {
  if (size > LONGEST_POINTER) return null
  const content = await readBlob(repository, id, LONGEST_POINTER)
  return content && objectOfPointer(project, content.toString('latin1'))
}

async function objectOfPointer(
  { id, lfs_enabled, namespace_id, namespace_kind }: ProjectRow,
  text: string
): Promise<LfsKey | null> {
  const found = lfs_enabled ? parsePointer(text) : null
  if (!found || (namespace_kind === 'group' && !(await groupAllowsLfs(namespace_id)))) return null
  return (await findLinks(id, [found.oid])).get(found.oid) === found.size ? found : null
}
