// Cancels and retries builds: the rules behind the commands.
import type { Origin } from '../../../access/actor.js'
import { marks, row, rows } from '../../../db/connect/sql.js'
import { transact } from '../../../db/connect/transact.js'
import { BadParameters, Forbidden, NotFound } from '../../../errors.js'
import type { Jobs } from '../../../queue/jobs.js'
import { audit } from '../../ground/audit/audit.js'
import { changePipeline } from '../pipelines/build-changes.js'
import { recount } from '../pipelines/locked-pipeline.js'
import { wakeRunners } from '../pipelines/wake-runners.js'
import { cancelBuild } from './claim.js'
import { copyBuild, rearm } from './retries.js'

/** The maximum number of builds in one call, because each gets its own row in the audit. */
const MOST_BUILDS = 1000
const UNFINISHED = ['created', 'pending', 'running']

interface NamedBuild {
  readonly id: number
  readonly name: string
  readonly status: string
  readonly stage_index: number
  readonly pipeline_id: number
  /** 1 when the project has builds and is not archived, otherwise 0. */
  readonly open: number
}

/**
 * Cancels builds that have not ended, and leaves the others unchanged. Returns the ids of the canceled builds. Throws
 * NotFound, before it changes anything, when a build does not exist.
 */
export async function cancelBuilds(ids: readonly number[], origin: Origin): Promise<number[]> {
  const canceled: number[] = []
  for (const build of await mustFind(ids)) {
    const changed = await transact(async () => {
      if (!(await cancelBuild(build.id))) return false
      await audit(origin, { action: 'build.cancel', target: targetOf(build), changes: statusOf(build, 'canceled') })
      return true
    })
    if (changed) canceled.push(build.id)
  }
  return canceled
}

/** Returns the builds that a cancel would change. Throws NotFound when a build does not exist. */
export async function cancelableBuilds(ids: readonly number[]): Promise<number[]> {
  return (await mustFind(ids)).filter(({ status }) => UNFINISHED.includes(status)).map(({ id }) => id)
}

/** Cancels the builds that wait for a runner, and audits it. Deleted and running builds do not count. */
export async function cancelWaiting(ids: readonly number[], origin: Origin): Promise<void> {
  for (const build of await find(ids)) {
    if (!(await cancelBuild(build.id, { waiting: true }))) continue
    await audit(origin, { action: 'build.cancel', target: targetOf(build), changes: statusOf(build, 'canceled') })
  }
}

/**
 * Cancels the builds that nothing will finish, and audits it: waiting builds without a job that wakes the built-in
 * runner for them, and builds whose worker died. Call it before the dead jobs that name them are removed.
 */
export async function cancelAbandoned(ids: readonly number[], origin: Origin): Promise<void> {
  for (let at = 0; at < ids.length; at += MOST_BUILDS) {
    for (const build of await findAbandoned([...new Set(ids.slice(at, at + MOST_BUILDS))])) {
      await transact(async () => {
        if (!(await cancelBuild(build.id))) return
        await audit(origin, { action: 'build.cancel', target: targetOf(build), changes: statusOf(build, 'canceled') })
      })
    }
  }
}

async function findAbandoned(ids: readonly number[]): Promise<NamedBuild[]> {
  const woken = await buildsWithJob(ids)
  const left = ids.filter(id => !woken.has(id))
  if (left.length === 0) return []
  return rows<NamedBuild>(
    `${SELECT} b.id in (${marks(left)}) and (b.status in ('created', 'pending')
       or (b.status = 'running' and b.runner_id = (select r.id from runners r where r.built_in = 1)
         and (b.lease_until < now(3) or not exists (select 1 from job_processes w where w.id = b.process_id))))
     order by b.id`,
    left
  )
}

/** Returns the builds for which a job that is not dead wakes the built-in runner. */
async function buildsWithJob(ids: readonly number[]): Promise<Set<number>> {
  const payloads = ids.map(buildId => JSON.stringify({ buildId }))
  const found = await rows<{ payload: string }>(
    `select payload from jobs where name = 'build.run' and state <> 'dead' and payload in (${marks(payloads)})`,
    payloads
  )
  return new Set(found.flatMap(({ payload }) => (JSON.parse(payload) as Jobs['build.run']).buildId ?? []))
}

/**
 * Retries builds that have ended and are the latest of their name: each becomes a new, pending build in the same pipeline, and the old one stays.
 * Skipped builds of later stages get another chance. Returns the id of each new build by that of the old one. Throws
 * NotFound or Forbidden before it changes anything.
 */
export async function retryBuilds(ids: readonly number[], origin: Origin): Promise<Map<number, number>> {
  return transact(async () => {
    const repeated = new Map<number, number>()
    for (const build of await mustFind(ids)) {
      const again = await retryBuild(build, origin)
      await audit(origin, { action: 'build.retry', target: targetOf(build), changes: { build: { after: again } } })
      repeated.set(build.id, again)
    }
    return repeated
  })
}

async function retryBuild({ id, pipeline_id, stage_index }: NamedBuild, origin: Origin): Promise<number> {
  const again = await changePipeline(pipeline_id, async pipeline => {
    const build = await row<NamedBuild>(`${SELECT} b.id = ?`, [id])
    const newer = await row(
      `select c.id from builds b join builds c on c.pipeline_id = b.pipeline_id and c.name = b.name and c.id > b.id
       where b.id = ? limit 1`,
      [id]
    )
    // Another request may have retried it before this one had the lock.
    if (newer || !build?.open || !['success', 'failed', 'canceled'].includes(build.status)) {
      throw new Forbidden('Build is not retryable')
    }
    pipeline.ended.repeated = true
    const userId = origin.user?.id ?? null
    const created = await copyBuild(pipeline, id, { userId })
    await rearm(pipeline, { names: [build.name], stage: stage_index, userId })
    await recount(pipeline)
    await wakeRunners([created])
    return created
  })
  if (again === undefined) throw new NotFound('Build')
  return again
}

const SELECT = `select b.id, b.name, b.status, b.stage_index, b.pipeline_id, (p.builds_enabled and not p.archived) as open
  from builds b join projects p on p.id = b.project_id where`

const find = async (ids: readonly number[]) =>
  ids.length === 0 ? [] : rows<NamedBuild>(`${SELECT} b.id in (${marks(ids)}) order by b.id`, [...ids])

async function mustFind(ids: readonly number[]): Promise<NamedBuild[]> {
  const text = `at most ${MOST_BUILDS} builds can be named in one call`
  if (ids.length > MOST_BUILDS) throw new BadParameters(text, text)
  const found = await find(ids)
  const missing = ids.find(id => !found.some(build => build.id === id))
  if (missing !== undefined) throw new NotFound(`Build ${missing}`)
  return found
}

const targetOf = ({ id, name }: NamedBuild) => ({ type: 'build', id, name })
const statusOf = ({ status }: NamedBuild, after: string) => ({ status: { before: status, after } })
