// A job fills the repository of a fork or of an imported project. Until then the project exists, but nobody can read or
// push: the `import_state` of its row is `waiting`. Then it is null, or `failed` with the reason in `import_error`.
import { isIPv6 } from 'node:net'
import { execute } from '../../../db/connect/sql.js'
import { transact } from '../../../db/connect/transact.js'
import { Invalid, NotFound } from '../../../errors.js'
import { enqueue } from '../../../queue/enqueue.js'
import { encrypt } from '../../../secrets.js'
import { allowedRanges, checkLiteral, RefusedTarget } from '../../../webhooks/target.js'
import { insertForkLink } from './fork-links.js'
import { holdProject } from './projects.queries.js'
import { protectDefaultBranch } from './protection/branch-protections.js'

/** The source of a repository: branches and tags of another project, or of a URL. */
export type Filling = { readonly fromProjectId: number } | { readonly url: string }

/** The lane of imports from URLs in their queue: slow servers must not delay forks. */
const URL_LANE = 1

/** Stores the source of a new project's repository, and enqueues the job. Call it inside `transact`. */
export async function scheduleFilling(projectId: number, filling: Filling): Promise<void> {
  const [from, url] = 'url' in filling ? [null, encrypt(filling.url)] : [filling.fromProjectId, null]
  await execute("update projects set import_state = 'waiting' where id = ?", [projectId])
  await execute(
    'insert into project_imports (project_id, from_project_id, url_encrypted, created_at) values (?, ?, ?, ?)',
    [projectId, from, url, new Date()]
  )
  if (from !== null) {
    if (!(await holdProject(from))) throw new NotFound('Project')
    await insertForkLink(projectId, from)
  }
  await enqueue('project.fill', { projectId }, { lane: url === null ? 0 : URL_LANE })
}

/**
 * Fetches the repository of a project again whose import has failed. Returns false when nothing changes, because it has not failed or has
 * commits. Call it inside `transact`.
 */
export async function refillProject(projectId: number, filling: Filling): Promise<boolean> {
  const { affectedRows } = await execute(
    `update projects set import_state = 'waiting', import_error = null where id = ? and import_state = 'failed'
       and default_branch is null and not exists (select 1 from ref_changes c where c.project_id = projects.id)`,
    [projectId]
  )
  if (affectedRows === 0) return false
  await scheduleFilling(projectId, filling)
  return true
}

/** The result: the default branch, null for an empty repository, or the reason for a failure. */
export type Filled = { readonly branch: string | null } | { readonly error: string }

const LONGEST_ERROR = 1000

/** Opens the project for reads and pushes. Returns false when the project no longer exists or was already opened. */
export async function finishFilling(projectId: number, filled: Filled): Promise<boolean> {
  const error = 'error' in filled ? filled.error.slice(0, LONGEST_ERROR) : null
  return transact(async () => {
    const { affectedRows } = await execute(
      `update projects set import_state = ?, import_error = ?, default_branch = coalesce(?, default_branch),
         last_activity_at = ? where id = ? and import_state = 'waiting'`,
      [error === null ? null : 'failed', error, 'branch' in filled ? filled.branch : null, new Date(), projectId]
    )
    // The URL may contain a password, so it is deleted.
    await execute('delete from project_imports where project_id = ?', [projectId])
    // Not specified: the default branch of a fork or an import is protected like that of a first push.
    if (affectedRows === 1 && 'branch' in filled && filled.branch !== null) {
      await protectDefaultBranch(projectId, filled.branch)
    }
    if (affectedRows === 1 && error === null) await enqueue('repository.optimise', { projectId })
    return affectedRows === 1
  })
}

/**
 * Returns the URL of an import. Throws Invalid for one that git could not use or may not reach. Names are resolved when
 * the connection is made.
 */
export function checkedImportUrl(text: string): string {
  const problem = urlProblem(text)
  if (problem !== null) throw new Invalid('import_url', problem)
  return new URL(text).href
}

/** Returns why git may not use a URL, or null when it may. */
export function urlProblem(text: string): string | null {
  if (!/^(https?|git):\/\/[^/?#]/i.test(text) || !URL.canParse(text)) return 'must be an http, https or git URL'
  // Git interprets these characters; the URL parser would drop or encode them silently.
  if (/[\p{Cc}\s\\]/u.test(text)) return 'has spaces, backslashes or control characters'
  const { protocol, username, password, hostname, search, hash } = new URL(text)
  if (protocol === 'git:' && (username !== '' || password !== '')) return 'has a password, which git:// cannot send'
  if (search !== '' || hash !== '') return 'must not have a query or a fragment'
  if (/%0a|%0d|%00/i.test(username + password)) return 'has a line end in its password'
  const host = hostname.replace(/^\[(.*)\]$/, '$1')
  if (host === '' || host.startsWith('-')) return 'has no valid host'
  try {
    checkLiteral(isIPv6(host) ? host : hostname, allowedRanges())
  } catch (error) {
    if (error instanceof RefusedTarget)
      return `leads to the private address ${error.address} (hooks.allow can allow it)`
    throw error
  }
  return null
}
