// Counts the authors of the commits of the default branch ("Contributor"). The first count of 80,000 commits takes ten
// seconds or more, so it is stored in HOME/cache, and the next one only counts newer commits.
import { mkdir, readFile, rename, rm, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { config } from '../../../config.js'
import { Unavailable } from '../../../errors.js'
import { isAncestor } from '../../../git/history/commits.js'
import {
  type Contributor,
  type Count,
  countContributors,
  MOST_CONTRIBUTORS
} from '../../../git/history/contributors.js'
import { remember } from '../../../git/objects/cache.js'
import { GitFailure } from '../../../git/process/run.js'
import type { ProjectRow } from '../../projects/projects/projects.queries.js'
import { repositoryPath, type StoredProject } from '../../projects/projects/repositories.js'
import { commitOf } from '../repository/contents.js'

export interface Contributors {
  /** Contributors with the most commits come first. */
  readonly people: readonly Contributor[]
  readonly isCut: boolean
}

/** Milliseconds that a request waits for a count. */
const PATIENCE = 20_000
/** Seconds after which a client may retry. */
const AGAIN = 10
/** Concurrent counts in this process: each keeps a processor busy. */
const AT_ONCE = 2

const underway = new Map<string, Promise<Count>>()

export const contributorsFolder = (): string => join(config().home, 'cache', 'contributors')
const fileOf = ({ id }: Pick<StoredProject, 'id'>) => join(contributorsFolder(), `${Math.trunc(id)}.json`)

/** Removes the stored count of a project. */
export const removeContributors = (projectId: number): Promise<void> => rm(fileOf({ id: projectId }), { force: true })

/** Returns the tip of the default branch; null for a project without commits. */
export async function findTip(project: ProjectRow): Promise<string | null> {
  if (project.default_branch === null) return null
  return (await commitOf(project, repositoryPath(project), project.default_branch))?.id ?? null
}

/** Returns the authors of the commits up to `tip`. Throws Unavailable while the commits are being counted. */
export async function readContributors(
  project: StoredProject,
  tip: string,
  patience = PATIENCE
): Promise<Contributors> {
  const found = await remember(repositoryPath(project), `contributors ${tip}`, async () => {
    const { people } = await withinPatience(countOnce(project, tip), patience)
    // Not specified: the order. Contributors are sorted by the number of commits, then by address.
    const all = people.toSorted((a, b) => b.commits - a.commits || (a.email < b.email ? -1 : 1))
    const value = { people: all.slice(0, MOST_CONTRIBUTORS), isCut: all.length > MOST_CONTRIBUTORS }
    return { value, size: value.people.length * 200 }
  })
  return found ?? { people: [], isCut: false }
}

async function withinPatience(counting: Promise<Count>, patience: number): Promise<Count> {
  const waited = new AbortController()
  const late = sleep(patience, null, { signal: waited.signal }).catch(() => null)
  const count = await Promise.race([counting, late])
  waited.abort()
  if (count) return count
  counting.catch(() => {})
  throw new Unavailable('the commits are still being counted: try again later', AGAIN)
}

function countOnce(project: StoredProject, tip: string): Promise<Count> {
  const key = `${project.id} ${tip}`
  const already = underway.get(key)
  if (already) return already
  if (underway.size >= AT_ONCE) throw new Unavailable('the commits of other projects are being counted', AGAIN)
  const counting = count(project, tip).finally(() => underway.delete(key))
  underway.set(key, counting)
  return counting
}

async function count(project: StoredProject, tip: string): Promise<Count> {
  const repository = repositoryPath(project)
  const stored = await storedCount(project)
  if (stored?.tip === tip) return stored
  const earlier = stored && (await isStillBefore(repository, stored.tip, tip)) ? stored : null
  const counted = await countContributors(repository, tip, earlier)
  await storeCount(project, counted)
  return counted
}

async function isStillBefore(repository: string, stored: string, tip: string): Promise<boolean> {
  try {
    return await isAncestor(repository, stored, tip)
  } catch (error) {
    // The commit was removed after a forced push.
    if (error instanceof GitFailure) return false
    throw error
  }
}

async function storedCount(project: StoredProject): Promise<Count | null> {
  try {
    const stored = JSON.parse(await readFile(fileOf(project), 'utf8')) as Count
    await utimes(fileOf(project), new Date(), new Date())
    return stored
  } catch {
    // The count is missing, or a power failure has damaged it: everything is counted again.
    return null
  }
}

async function storeCount(project: StoredProject, count: Count): Promise<void> {
  const path = fileOf(project)
  const draft = `${path}.${process.pid}.new`
  await mkdir(contributorsFolder(), { recursive: true, mode: 0o700 })
  await writeFile(draft, JSON.stringify(count), { mode: 0o600 })
  await rename(draft, path)
}
