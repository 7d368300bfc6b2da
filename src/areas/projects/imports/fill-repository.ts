// Fills the repository of a fork or an import. It is built in a temporary place and moved when it is complete, so a
// killed job leaves nothing half done: the next attempt begins again.
import { config } from '../../../config.js'
import { row } from '../../../db/connect/sql.js'
import { TooLarge } from '../../../errors.js'
import { refValue } from '../../../git/refs/refs.js'
import { copyRefs } from '../../../git/repository/fetch.js'
import { copyBranches } from '../../../git/repository/move.js'
import { portableRefs } from '../../../git/repository/packs.js'
import { removeRepository, setHead } from '../../../git/repository/repository.js'
import { decrypt } from '../../../secrets.js'
import { syncFileSystem } from '../../../storage/sync.js'
import { copyLinks } from '../lfs/shared-links.js'
import { withOriginal } from '../projects/elsewhere/originals.js'
import { finishFilling } from '../projects/pending-imports.js'
import { prepareProject, repositoryPath, type StoredProject } from '../projects/repositories.js'
import { CannotFill, fetchFrom } from './fetch-from.js'
import { type LfsServer, lfsServerOf } from './lfs/client.js'
import { importObjects } from './lfs/import-objects.js'
import { TooManyObjects } from './lfs/pointers.js'
import { SourceFailure } from './source-failures.js'

interface ImportRow extends StoredProject {
  readonly from_project_id: number | null
  readonly url_encrypted: Buffer | null
}

/** How the worker shares its slots for imports: imports from URLs leave one slot to forks. */
export const importLanes = (slots: number) => ({
  share: Math.max(1, slots - 1),
  slowAfter: null,
  mostSlow: 0,
  isFailing: () => false
})

/** Fills the repository of a project, and opens the project. It does nothing when that was already done. */
export async function fillRepository(projectId: number, signal: AbortSignal): Promise<void> {
  const project = await row<ImportRow>(
    `select p.id, p.storage, i.from_project_id, i.url_encrypted from project_imports i
     join projects p on p.id = i.project_id where i.project_id = ? and p.import_state = 'waiting'`,
    [projectId]
  )
  if (!project) return
  try {
    const branch = await fill(project, signal)
    if (await finishFilling(projectId, { branch })) return
    // The project was removed in the meantime.
    const known = await row('select 1 from projects where id = ?', [projectId])
    if (!known) await removeRepository(repositoryPath(project))
  } catch (error) {
    if (!(error instanceof CannotFill)) throw error
    await finishFilling(projectId, { error: error.message })
  }
}

async function fill(project: ImportRow, signal: AbortSignal): Promise<string | null> {
  const draft = await prepareProject(project.storage)
  try {
    const branch = await fetchInto(draft.path, project, signal)
    if (branch !== null) await setHead(draft.path, branch)
    await syncFileSystem(draft.path)
    // A push may have begun while a failed import was open.
    if (await row('select 1 from ref_changes where project_id = ? limit 1', [project.id]))
      throw new CannotFill('somebody has pushed to the project in the meantime')
    // Removes what an earlier attempt left: nobody has used it yet.
    await removeRepository(repositoryPath(project))
    await draft.place(repositoryPath(project))
    return branch
  } catch (error) {
    await draft.drop()
    throw error
  }
}

function fetchInto(path: string, project: ImportRow, signal: AbortSignal): Promise<string | null> {
  if (project.url_encrypted !== null) return importUrl(decrypt(project.url_encrypted), { path, to: project.id }, signal)
  return copySource(project.from_project_id ?? 0, { path, to: project.id }, signal)
}

async function copySource(
  id: number,
  { path, to }: { readonly path: string; readonly to: number },
  signal: AbortSignal
): Promise<string | null> {
  const source = await row<StoredProject & { default_branch: string | null }>(
    'select id, storage, default_branch from projects where id = ?',
    [id]
  )
  if (!source) throw new CannotFill('the source of the fork was deleted before its repository was copied')
  const { default_branch: branch } = source
  const isThere = await withOriginal(
    source,
    async original => {
      if (!(await original.isThere())) return false
      if (original.folder === undefined) await copyBranches(original, path, signal)
      else await copyRefs(original.folder, path, signal)
      return true
    },
    signal
  )
  if (!isThere) {
    if (branch !== null) throw new CannotFill('the repository of the fork source is lost')
    return null
  }
  // After the refs, so that no pointer lacks its object.
  await copyLinks(id, to)
  const value = branch === null ? null : await refValue(path, `refs/heads/${branch}`)
  return value === null ? null : branch
}

async function importUrl(
  text: string,
  { path, to }: { readonly path: string; readonly to: number },
  signal: AbortSignal
): Promise<string | null> {
  const url = new URL(text)
  const [username, password] = [decodeURIComponent(url.username), decodeURIComponent(url.password)]
  url.username = url.password = ''
  const { branch } = await fetchFrom({ url, username, password, more: [] }, path, signal)
  const own = url.protocol === 'git:' ? null : lfsServerOf({ url, username, password })
  await importLfs(own, { path, to, branch }, signal)
  return branch
}

/** The files take their own time: those of LFS are often larger than the repository. */
async function importLfs(
  own: LfsServer | null,
  { path, to, branch }: { readonly path: string; readonly to: number; readonly branch: string | null },
  signal: AbortSignal
): Promise<void> {
  const { timeout } = config().lfs
  const late = AbortSignal.timeout(timeout * 1000)
  const part = { tips: portableRefs(path).map(({ id }) => id) }
  const head = branch === null ? null : await refValue(path, `refs/heads/${branch}`)
  try {
    await importObjects({ projectId: to, repository: path, part, own, head, signal: AbortSignal.any([signal, late]) })
  } catch (error) {
    signal.throwIfAborted()
    if (late.aborted) throw new CannotFill(`the files in LFS took longer than ${timeout} s (lfs.timeout)`)
    if (error instanceof SourceFailure || error instanceof TooLarge || error instanceof TooManyObjects)
      throw new CannotFill(`the files in LFS cannot be fetched: ${error.message}`)
    throw error
  }
}
