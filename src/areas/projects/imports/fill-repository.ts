// Fills the repository of a fork or an import. It is built in a temporary place and moved when it is complete, so a
// killed job leaves nothing half done: the next attempt begins again.
import { existsSync } from 'node:fs'
import { config } from '../../../config.js'
import { row } from '../../../db/connect/sql.js'
import { Failure } from '../../../errors.js'
import { GitFailure } from '../../../git/process/run.js'
import { refValue } from '../../../git/refs/refs.js'
import { copyRefs, fetchRemote } from '../../../git/repository/fetch.js'
import { measureObjects, removeRepository, setHead } from '../../../git/repository/repository.js'
import { isDiskFull } from '../../../lib/disk-full.js'
import { decrypt } from '../../../secrets.js'
import { syncFileSystem } from '../../../storage/sync.js'
import { RefusedTarget } from '../../../webhooks/target.js'
import { finishFilling } from '../projects/pending-imports.js'
import { prepareProject, repositoryPath, type StoredProject } from '../projects/repositories.js'
import { ImportTooLarge, openGateway } from './egress-proxy.js'

interface ImportRow extends StoredProject {
  readonly from_project_id: number | null
  readonly url_encrypted: Buffer | null
}

/** The repository cannot be filled, and another attempt would not help. The text is for the users of the project. */
class CannotFill extends Failure {}

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
  if (project.url_encrypted !== null) return importUrl(decrypt(project.url_encrypted), path, signal)
  return copySource(project.from_project_id ?? 0, path, signal)
}

async function copySource(id: number, path: string, signal: AbortSignal): Promise<string | null> {
  const source = await row<StoredProject & { default_branch: string | null }>(
    'select id, storage, default_branch from projects where id = ?',
    [id]
  )
  if (!source) throw new CannotFill('the source of the fork was deleted before its repository was copied')
  const { default_branch: branch } = source
  const from = repositoryPath(source)
  if (!existsSync(from)) {
    if (branch !== null) throw new CannotFill('the repository of the fork source is lost')
    return null
  }
  await copyRefs(from, path, signal)
  const value = branch === null ? null : await refValue(path, `refs/heads/${branch}`)
  return value === null ? null : branch
}

async function importUrl(text: string, path: string, signal: AbortSignal): Promise<string | null> {
  const { max_size: maxBytes, timeout } = config().imports
  const ending = AbortSignal.any([signal, AbortSignal.timeout(timeout * 1000)])
  const gateway = await openGateway({ maxBytes, signal: ending })
  const url = new URL(text)
  const { host, hostname, port } = url
  const [username, password] = [decodeURIComponent(url.username), decodeURIComponent(url.password)]
  url.username = url.password = ''
  try {
    if (url.protocol === 'git:') url.host = `127.0.0.1:${await gateway.forward(hostname, Number(port || 9418))}`
    const remote = { url: url.href, username, password, proxy: gateway.proxy, host, timeout, signal: ending }
    const branch = await fetchRemote(remote, path)
    await requireFewObjects(path)
    return branch
  } catch (error) {
    if (signal.aborted || isDiskFull(error) || error instanceof CannotFill) throw error
    if (ending.aborted) throw new CannotFill(`it took longer than ${timeout} s (imports.timeout)`)
    const problem = gateway.problem()
    if (problem) throw new CannotFill(textOf(problem))
    if (error instanceof GitFailure) throw new CannotFill(textOfGit(error, [password, gateway.proxy, username]))
    throw error
  } finally {
    await gateway.close()
  }
}

/** A few bytes can unpack to millions of objects, which every later walk through the history would have to visit. */
async function requireFewObjects(path: string): Promise<void> {
  const { max_objects: most } = config().imports
  const { objects } = await measureObjects(path)
  if (objects > most) throw new CannotFill(`the repository has more than ${most} objects (imports.max_objects)`)
}

function textOf(problem: Error): string {
  if (problem instanceof RefusedTarget) {
    return `imports may not reach the address ${problem.address}: an administrator can list it in hooks.allow`
  }
  if (problem instanceof ImportTooLarge) return problem.message
  return `the server cannot be reached: ${problem.message.slice(0, 300)}`
}

/** The output of git, without the secrets that it received. */
function textOfGit({ stderr, message }: GitFailure, secrets: readonly string[]): string {
  const lines = stderr.split('\n').filter(line => /^(fatal|error|remote): /.test(line))
  let text = (lines.length > 0 ? lines.join('; ') : message).replace(/\p{Cc}+/gu, ' ')
  for (const secret of secrets) if (secret !== '') text = text.replaceAll(secret, '[hidden]')
  return `git could not fetch it: ${text.slice(0, 500)}`
}
