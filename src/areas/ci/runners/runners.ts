// What people may do with runners. Administrators may do everything; others may manage the runners of projects in which
// they are at least masters. Only administrators manage shared runners.
import type { Actor, ActorUser, Origin } from '../../../access/actor.js'
import { askerOf } from '../../../access/actor.js'
import { duplicateKey } from '../../../db/connect/failure.js'
import { lockRow } from '../../../db/connect/lock-row.js'
import { execute, row, type Value } from '../../../db/connect/sql.js'
import { transact } from '../../../db/connect/transact.js'
import { Conflict, Forbidden, Invalid, NotFound } from '../../../errors.js'
import { audit, changesBetween } from '../../ground/audit/audit.js'
import type { ProjectRow } from '../../projects/projects/projects.queries.js'
import { noteRunnerChange } from './changes.js'
import { countProjects, hasAccess, type RunnerRecord, requireRunnerById } from './runner-records.queries.js'
import { cleanTags, requireWork } from './runner-tags.js'
import type { RunnerChange } from './runners.schema.js'

/** Not specified: the maximum number of runners of the instance and of one project. */
const MOST_SHARED = 10_000
const MOST_OF_PROJECT = 1000

/** Returns a runner that the user may see. Throws NotFound or Forbidden. */
export async function readRunner(id: number, actor: Actor): Promise<RunnerRecord> {
  const runner = await requireRunnerById(id)
  if (!runner.is_shared) await requireAccess(askerOf(actor), runner)
  return runner
}

/** Changes a runner. Throws NotFound, Forbidden or Invalid. */
export async function updateRunner(
  id: number,
  { tag_list, ...given }: RunnerChange,
  { actor, origin }: { readonly actor: Actor; readonly origin: Origin }
): Promise<RunnerRecord> {
  const runner = await requireRunnerById(id)
  await requireOwn(askerOf(actor), runner)
  await changeRunner(
    runner,
    tag_list === undefined ? given : { ...given, tag_list: cleanTags(tag_list.flatMap(tag => tag.split(','))) },
    origin
  )
  return requireRunnerById(id)
}

interface Change {
  readonly description?: string
  readonly active?: boolean
  readonly run_untagged?: boolean
  readonly locked?: boolean
  readonly tag_list?: readonly string[]
}

/** Changes a runner. Returns whether anything changed. Throws Invalid. */
export async function changeRunner(runner: RunnerRecord, change: Change, origin: Origin): Promise<boolean> {
  const before = {
    description: runner.description,
    active: runner.active === 1,
    run_untagged: runner.run_untagged === 1,
    locked: runner.locked === 1,
    tag_list: JSON.parse(runner.tag_list) as readonly string[]
  }
  const after = { ...before, ...change }
  requireWork(after.tag_list, after.run_untagged)
  const changes = changesBetween(before, after)
  if (Object.keys(changes).length === 0) return false
  await transact(async () => {
    await execute(
      `update runners set description = ?, active = ?, run_untagged = ?, locked = ?, tag_list = ?, updated_at = ?
       where id = ?`,
      [
        after.description,
        after.active,
        after.run_untagged,
        after.locked,
        JSON.stringify(after.tag_list),
        new Date(),
        runner.id
      ] as Value[]
    )
    await audit(origin, { action: 'runner.update', target: targetOf(runner), changes })
    noteRunnerChange()
  })
  return true
}

/** Removes a runner and returns it. Throws NotFound or Forbidden. */
export async function deleteRunner(
  id: number,
  { actor, origin }: { readonly actor: Actor; readonly origin: Origin }
): Promise<RunnerRecord> {
  const runner = await requireRunnerById(id)
  const user = askerOf(actor)
  if (!user.admin) {
    if (runner.is_shared) throw new Forbidden('Runner is shared')
    if ((await countProjects(id)) > 1) throw new Forbidden('Runner associated with more than one project')
    await requireAccess(user, runner)
  }
  await removeRunner(runner, origin)
  return runner
}

/** Removes a runner. Its running builds can finish. Throws Forbidden for the built-in one. */
export async function removeRunner(
  runner: { readonly id: number; readonly description: string; readonly built_in: number | null },
  origin: Origin
): Promise<void> {
  // The workers would create it again.
  if (runner.built_in) throw new Forbidden('The built-in runner cannot be removed: pause it instead')
  await transact(async () => {
    await execute('delete from runner_projects where runner_id = ?', [runner.id])
    const { affectedRows } = await execute('delete from runners where id = ?', [runner.id])
    if (affectedRows > 0) await audit(origin, { action: 'runner.remove', target: targetOf(runner) })
    noteRunnerChange()
  })
}

/** Lets a runner of other projects serve this one too. Throws NotFound, Forbidden, Conflict or Invalid. */
export async function enableRunner(
  project: ProjectRow,
  id: number,
  { actor, origin }: { readonly actor: Actor; readonly origin: Origin }
): Promise<RunnerRecord> {
  const runner = await requireRunnerById(id)
  if (runner.is_shared) throw new Forbidden('Runner is shared')
  if (runner.locked) throw new Forbidden('Runner is locked')
  await requireAccess(askerOf(actor), runner)
  try {
    await transact(async () => {
      if (!(await lockRow('projects', project.id))) throw new NotFound('Project')
      // The lock keeps the runner until the row that refers to it exists.
      if (!(await lockRow('runners', id))) throw new NotFound('Runner')
      await requireRoom(project.id)
      await execute('insert into runner_projects (runner_id, project_id) values (?, ?)', [id, project.id])
      await audit(origin, { action: 'runner.enable', target: targetOf(runner), changes: ofProject(project, 'after') })
      noteRunnerChange()
    })
  } catch (error) {
    throw duplicateKey(error) === undefined ? error : new Conflict('Runner was already enabled for this project')
  }
  return runner
}

/** Removes a runner from a project. Throws NotFound or Forbidden. */
export async function disableRunner(project: ProjectRow, id: number, origin: Origin): Promise<RunnerRecord> {
  const runner = await requireRunnerById(id)
  await transact(async () => {
    await lockRow('runners', id)
    const own = await row('select 1 from runner_projects where runner_id = ? and project_id = ?', [id, project.id])
    if (!own) throw new NotFound('Runner')
    if ((await countProjects(id)) === 1) {
      throw new Forbidden('Only one project associated with the runner. Please remove the runner instead')
    }
    await execute('delete from runner_projects where runner_id = ? and project_id = ?', [id, project.id])
    await audit(origin, { action: 'runner.disable', target: targetOf(runner), changes: ofProject(project, 'before') })
    noteRunnerChange()
  })
  return runner
}

/** Throws Invalid when the project, or with null the instance, has the maximum number of runners. */
export async function requireRoom(projectId: number | null): Promise<void> {
  const most = projectId === null ? MOST_SHARED : MOST_OF_PROJECT
  const found =
    projectId === null
      ? await row<{ known: number }>('select count(*) as known from runners where is_shared')
      : await row<{ known: number }>('select count(*) as known from runner_projects where project_id = ?', [projectId])
  if ((found?.known ?? 0) >= most) throw new Invalid('base', `There are already ${most} runners: remove one first`)
}

async function requireOwn(user: ActorUser, runner: RunnerRecord): Promise<void> {
  if (user.admin) return
  if (runner.is_shared) throw new Forbidden('Runner is shared')
  await requireAccess(user, runner)
}

async function requireAccess(user: ActorUser, runner: RunnerRecord): Promise<void> {
  if (!user.admin && !(await hasAccess(user.id, runner.id))) throw new Forbidden('No access granted')
}

const targetOf = ({ id, description }: { readonly id: number; readonly description: string }) => ({
  type: 'runner',
  id,
  name: description
})

const ofProject = ({ namespace_path, path }: ProjectRow, when: 'before' | 'after') => ({
  project: { [when]: `${namespace_path}/${path}` }
})
