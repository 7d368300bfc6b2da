// What a ref change that has happened brings about: hooks, a pipeline, upkeep. Runs in a job, and twice is harmless.
import { publicUrl } from '../../config.js'
import { execute } from '../../db/sql.js'
import { transact } from '../../db/transact.js'
import { readTag } from '../../git/objects.js'
import { objectInfo } from '../../git/reader.js'
import { ZERO } from '../../git/refs.js'
import { setHead } from '../../git/repository.js'
import { enqueue } from '../../queue/enqueue.js'
import type { PayloadProject, PayloadUser } from '../../webhooks/payloads.js'
import { pushEvent, systemPushPayload } from '../../webhooks/push-payloads.js'
import { tellSystemHooks } from '../hooks/deliveries.js'
import { repositoryPath } from '../projects/repositories.js'
import { type ChangeRow, findSettledChange } from './ref-changes.queries.js'

/** After these seconds of quiet a pushed repository gets its commit graph. */
const OPTIMISE_AFTER = 10

/** Brings about what the change is to have. A change whose project is gone has nothing left to do. */
export async function applyRefChange(id: number): Promise<void> {
  const change = await findSettledChange(id)
  if (!change) return
  const repository = repositoryPath({ id: change.project_id, storage: change.storage })
  if (change.default_branch !== null && change.ref === `refs/heads/${change.default_branch}`) {
    await setHead(repository, change.default_branch)
  }
  await Promise.all([tellHooks(change, repository), noteActivity(change.project_id)])
}

async function tellHooks(change: ChangeRow, repository: string): Promise<void> {
  const { commit, message } = await pointsAt(change, repository)
  const payload = systemPushPayload({
    ref: change.ref,
    before: change.old_id,
    after: change.new_id,
    checkoutSha: commit,
    message,
    user: payloadUser(change),
    project: payloadProject(change)
  })
  // "What emits what": the deletion of a tag is not told to system hooks.
  if (change.new_id === ZERO && pushEvent(change.ref) === 'tag_push') return
  await tellSystemHooks(`ref_change:${change.id}`, pushEvent(change.ref), payload)
}

/** The commit behind the new value, and the text of an annotated tag. */
async function pointsAt({ new_id }: ChangeRow, repository: string) {
  if (new_id === ZERO) return { commit: null, message: null }
  const found = await objectInfo(repository, new_id)
  if (found?.type !== 'tag') return { commit: new_id, message: null }
  const [tag, commit] = await Promise.all([readTag(repository, new_id), objectInfo(repository, `${new_id}^{commit}`)])
  return { commit: commit?.id ?? null, message: tag?.message ?? null }
}

const payloadUser = (change: ChangeRow): PayloadUser => ({
  id: change.user_id ?? 0,
  name: change.user_name ?? '',
  username: change.user_username ?? '',
  email: change.user_email ?? '',
  avatarUrl: null
})

function payloadProject(change: ChangeRow): PayloadProject {
  const path = `${change.namespace_path}/${change.project_path}`
  const web = `${publicUrl()}/${path}`
  return {
    id: change.project_id,
    name: change.project_name,
    pathWithNamespace: path,
    namespace: change.namespace_name,
    description: change.description,
    webUrl: web,
    avatarUrl: null,
    gitSshUrl: `git@${new URL(web).hostname}:${path}.git`,
    gitHttpUrl: `${web}.git`,
    visibilityLevel: change.visibility_level,
    defaultBranch: change.default_branch
  }
}

/** Activity is written down once an hour at the most; upkeep is scheduled unless it waits already. */
async function noteActivity(projectId: number): Promise<void> {
  const now = new Date()
  const hourAgo = new Date(now.getTime() - 3_600_000)
  await execute('update projects set last_activity_at = ? where id = ? and last_activity_at < ?', [
    now,
    projectId,
    hourAgo
  ])
  await transact(async () => {
    const runAt = new Date(now.getTime() + OPTIMISE_AFTER * 1000)
    const { affectedRows } = await execute(
      'update projects set optimise_at = ? where id = ? and (optimise_at is null or optimise_at < ?)',
      [runAt, projectId, hourAgo]
    )
    if (affectedRows === 1) await enqueue('repository.optimise', { projectId }, { runAt })
  })
}
