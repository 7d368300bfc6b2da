// To-dos about builds and pushes. The author of an open merge request gets a to-do when a build or an external status of its
// newest commit fails. A push to the source branch finishes the to-dos of the user who pushed. Importing this file fills a plug,
// also for commands, which load little.
import { execute, marks, row, rows } from '../../../db/connect/sql.js'
import { batches } from '../../../lib/batches.js'
import type { BuiltCommit, Heard, TransactionListener } from '../../ground/activity/events.js'
import { addTodos } from './todos.js'

/** The limit of merge requests of one branch that are looked at. */
const MOST = 2000
const HEADS = 'refs/heads/'

interface Concerned {
  readonly id: number
  readonly author_id: number
  readonly target_project_id: number
}

const FROM = "from merge_requests where phase = 'opened' and source_project_id = ?"

/** The open merge requests with this newest commit. */
const mergeRequestsOf = ({ projectId, branch, sha }: BuiltCommit) =>
  rows<Concerned>(
    `select id, author_id, target_project_id ${FROM} and source_branch = ? and head_sha = ? order by id desc limit ${MOST}`,
    [projectId, branch, sha]
  )

/** Adds the to-dos for a failed build. */
async function noteFailure(commit: BuiltCommit): Promise<void> {
  for (const found of await mergeRequestsOf(commit)) await addFailure(found)
}

const addFailure = ({ id, author_id: authorId, target_project_id: projectId }: Concerned) =>
  addTodos({
    userIds: [authorId],
    authorId,
    target: { type: 'MergeRequest', id, projectId },
    action: 'build_failed'
  })

/** A build may fail before the merge request knows about the push that it runs for. */
export async function noteFailuresOf(
  found: Concerned & {
    readonly source_project_id: number
    readonly source_branch: string
    readonly head_sha: string | null
  }
): Promise<void> {
  if (found.head_sha === null) return
  const commit = [found.source_project_id, found.head_sha, found.source_branch]
  const failed = await row(
    `(select b.id from builds b where b.project_id = ? and b.sha = ? and b.ref = ? and not b.tag and b.status = 'failed'
       and not b.allow_failure and not exists (select 1 from builds c
         where c.pipeline_id = b.pipeline_id and c.name = b.name and c.id > b.id) limit 1)
     union all
     (select s.id from commit_statuses s join pipelines l on l.id = s.pipeline_id
      where s.project_id = ? and s.sha = ? and s.ref = ? and not l.tag and s.status = 'failed'
        and not exists (select 1 from commit_statuses c
          where c.pipeline_id = s.pipeline_id and c.name = s.name and c.id > s.id) limit 1)`,
    [...commit, ...commit]
  )
  if (failed) await addFailure(found)
}

/** Marks the to-dos about failed builds of a commit as done, because a build is retried. */
async function noteRepeat(commit: BuiltCommit): Promise<void> {
  for (const { id, author_id: authorId } of await mergeRequestsOf(commit)) {
    await execute(
      `update todos set state = 'done', updated_at = ? where user_id = ? and target_type = 'MergeRequest' and target_id = ?
         and is_pending = true and action = 'build_failed'`,
      [new Date(), authorId, id]
    )
  }
}

interface Pushed {
  readonly project_id: number
  readonly ref: string
  readonly user_id: number
}

/** Marks the to-dos of users who pushed as done, for the merge requests from their branches. */
async function followPush(heard: readonly Pick<Heard<'ref.changed'>, 'event'>[]): Promise<void> {
  const reviewed = heard.filter(({ event }) => !event.quiet)
  for (const some of batches(reviewed, 500)) {
    // Most branches have no merge request: then this is the only statement.
    const pushed = await rows<Pushed>(
      `select c.project_id, c.ref, c.user_id from ref_changes c where c.id in (${marks(some)}) and c.user_id is not null
         and c.ref like '${HEADS}%' and c.new_id <> repeat('0', 40)
         and exists (select 1 from merge_requests m where m.source_project_id = c.project_id
           and m.source_branch = substring(c.ref, ${HEADS.length + 1}) and m.phase = 'opened')`,
      some.map(({ event }) => event.refChangeId)
    )
    // Usually this is one push. Recovery publishes several together.
    const pushes = new Map<string, Pushed[]>()
    for (const push of pushed) {
      const key = `${push.project_id} ${push.user_id}`
      pushes.set(key, [...(pushes.get(key) ?? []), push])
    }
    for (const each of pushes.values()) await finishOf(each)
  }
}

async function finishOf(pushed: readonly Pushed[]): Promise<void> {
  const [first] = pushed
  if (!first) return
  const { project_id: projectId, user_id: userId } = first
  const branches = pushed.map(({ ref }) => ref.slice(HEADS.length))
  const found = await rows<{ id: number }>(
    `select id ${FROM} and source_branch in (${marks(branches)}) order by id desc limit ${MOST}`,
    [projectId, ...branches]
  )
  if (found.length === 0) return
  await execute(
    `update todos set state = 'done', updated_at = ? where user_id = ? and target_type = 'MergeRequest'
       and target_id in (${marks(found)}) and is_pending = true`,
    [new Date(), userId, ...found.map(({ id }) => id)]
  )
}

export const failedBuildTodos: TransactionListener = {
  'ref.changed': followPush,
  'build.failed': async heard => {
    for (const { event } of heard) await noteFailure(event)
  },
  'build.retried': async heard => {
    for (const { event } of heard) await noteRepeat(event)
  }
}
