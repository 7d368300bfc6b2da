// Most pushes move a branch to a few plain commits, in a project without hooks, CI file and merge requests of that branch. All that
// is left of their effects is a line of the activity. It is prepared before the transaction of the change, because git is read for
// it, and written in that transaction.
import type { Fragment } from '../../../db/connect/sql.js'
import { hasReadablePaths, readCommit } from '../../../git/history/commits.js'
import { nearRange } from '../../../git/history/near-range.js'
import { ZERO } from '../../../git/refs/refs.js'
import { log } from '../../../log.js'
import { isPlain } from '../../../text/mentions.js'
import { nameOfCiFile } from '../../ci/pipelines/pipelines.js'
import { hasPushMirrors } from '../../code/mirrors/mirrors.queries.js'
import { readableMessages } from '../../code/refs/pushed-commits.js'
import { feedEntryOf } from '../../code/refs/pushes.js'
import type { OpenChange } from '../../code/refs/ref-changes.js'
import { type ChangeRow, findOpenChange } from '../../code/refs/ref-changes.queries.js'
import { followDefaultBranch, scheduleUpkeep } from '../../code/refs/ref-effects.js'
import type { Published } from '../../ground/activity/events.js'
import type { FeedEntry } from '../../ground/activity/feed-entry.js'
import { hooksFor } from '../../ground/hooks/deliveries.js'
import { concerned } from '../../planning/merge-requests/branch-moves.js'
import { repositoryPath } from '../../projects/projects/repositories.js'
import { recordAtOnce } from '../events/activity-feed.js'

const HEADS = 'refs/heads/'
/** A push with more commits has a job, which may take longer. */
const MOST_COMMITS = 20
/** Seconds. The job of the repository has little to do for a few commits: one is enough for all pushes of a minute. */
const UPKEEP_AFTER = 60

/** The entries of the prepared changes by the ids of these. Each stays until its transaction has ended. */
const prepared = new Map<number, FeedEntry>()

/**
 * Prepares the effects of a change that git has made, if nobody waits for it. Returns a function that forgets them, for the end of
 * the transaction; undefined when a job has to handle the change. Never throws.
 */
export async function prepareQuietPush(projectId: number, change: OpenChange): Promise<(() => void) | undefined> {
  if (!change.ref.startsWith(HEADS) || change.old === ZERO || change.new === ZERO) return undefined
  try {
    const found = await findOpenChange(change.id, hearers(projectId, change))
    if (!found || found.holds === 1 || found.user_id === null || !(await isQuiet(found))) return undefined
    await followDefaultBranch(found)
    const entry = await feedEntryOf(found)
    // Not in the transaction of the change, where other pushes share the row of the project: each would wait for the others.
    await scheduleUpkeep(found, UPKEEP_AFTER)
    prepared.set(change.id, entry)
    return () => prepared.delete(change.id)
  } catch (error) {
    // The job tries again.
    log().debug({ error }, 'the effects of a push could not be prepared')
    return undefined
  }
}

/** A condition that holds when anybody waits for a change of a branch. */
function hearers(projectId: number, { ref, new: commit }: OpenChange): Fragment {
  const hooks = hooksFor({ system: { event: 'push' }, project: { event: 'push', id: projectId } })
  const requests = concerned(projectId, ref.slice(HEADS.length), commit)
  const mirrors = hasPushMirrors(projectId)
  return {
    sql: `exists (${hooks.sql}) or exists (select 1 from services where project_id = ? and slug = 'emails-on-push' and active = 1)
      or ${mirrors.sql} or ${requests.sql}`,
    values: [...hooks.values, projectId, ...mirrors.values, ...requests.values]
  }
}

/** Whether a change brings few commits, which refer to nothing, and starts no pipeline. It starts no process: the client is waiting. */
async function isQuiet(change: ChangeRow): Promise<boolean> {
  const { project_id: id, storage, builds_enabled: hasBuilds, skip_ci: skips, old_id: before, new_id: commit } = change
  const repository = repositoryPath({ id, storage })
  const ids = await nearRange(repository, before, commit)
  if (!ids || ids.length > MOST_COMMITS) return false
  if (hasBuilds === 1 && skips !== 1 && (await nameOfCiFile(repository, commit)) !== null) return false
  if (!(await Promise.all(ids.map(each => hasReadablePaths(repository, each)))).every(Boolean)) return false
  const messages = readableMessages(await Promise.all(ids.map(commitId => readCommit(repository, commitId))))
  return isPlain(...messages.map(({ message }) => message))
}

/** Writes the effects of prepared changes in their transaction. Returns the ids of the events that it has handled. */
export async function handleQuietPushes(all: readonly Published<'ref.changed'>[]): Promise<readonly string[]> {
  const [published, ...others] = all
  const entry = published && prepared.get(published.event.refChangeId)
  return entry && others.length === 0 ? await recordAtOnce([{ published, entry }]) : []
}
