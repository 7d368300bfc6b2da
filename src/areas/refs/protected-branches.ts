// Protects branches, and ends their protection. push-policy.ts says what that means.
import type { Origin } from '../../access/actor.js'
import { execute, row } from '../../db/sql.js'
import { transact } from '../../db/transact.js'
import { BadRequest, NotFound } from '../../errors.js'
import { audit, changesBetween } from '../audit/audit.js'
import type { ProjectRow } from '../projects/projects.queries.js'
import type { ProtectionBody } from './branches.schema.js'
import { MOST_RULES } from './protected-branches.queries.js'

interface Flags {
  readonly developers_can_push: boolean
  readonly developers_can_merge: boolean
}

/** Protects a branch that exists. A flag that is not given stays as it is, or is false when the branch is not protected yet. */
export async function protectBranch(
  project: ProjectRow,
  name: string,
  input: ProtectionBody,
  origin: Origin
): Promise<void> {
  await transact(async () => {
    const before = await lockedRule(project.id, name)
    const after = {
      developers_can_push: input.developers_can_push ?? before?.developers_can_push ?? false,
      developers_can_merge: input.developers_can_merge ?? before?.developers_can_merge ?? false
    }
    const changes = changesBetween(before, after)
    if (before && Object.keys(changes).length === 0) return
    if (!before) await requireRoom(project.id)
    const now = new Date()
    await execute(
      `insert into protected_branches (project_id, name, developers_can_push, developers_can_merge, created_at, updated_at)
       values (?, ?, ?, ?, ?, ?) on duplicate key update developers_can_push = values(developers_can_push),
         developers_can_merge = values(developers_can_merge), updated_at = values(updated_at)`,
      [project.id, name, after.developers_can_push, after.developers_can_merge, now, now]
    )
    await audit(origin, { action: 'branch.protect', target: targetOf(project, name), changes })
  })
}

/** Removes the rule with exactly this name. Does nothing when there is none. */
export async function unprotectBranch(project: ProjectRow, name: string, origin: Origin): Promise<void> {
  await transact(async () => {
    const before = await lockedRule(project.id, name)
    if (!before) return
    await execute('delete from protected_branches where project_id = ? and name = ?', [project.id, name])
    const changes = changesBetween(before, null)
    await audit(origin, { action: 'branch.unprotect', target: targetOf(project, name), changes })
  })
}

/** The row of the project is locked, so that two requests that protect branches come one after the other. */
async function lockedRule(projectId: number, name: string): Promise<Flags | null> {
  if (!(await row('select id from projects where id = ? for update', [projectId]))) throw new NotFound('Project')
  const found = await row<{ [Name in keyof Flags]: number }>(
    `select developers_can_push, developers_can_merge from protected_branches where project_id = ? and name = ?`,
    [projectId, name]
  )
  return found
    ? {
        developers_can_push: Boolean(found.developers_can_push),
        developers_can_merge: Boolean(found.developers_can_merge)
      }
    : null
}

async function requireRoom(projectId: number): Promise<void> {
  const found = await row<{ total: number }>('select count(*) as total from protected_branches where project_id = ?', [
    projectId
  ])
  if ((found?.total ?? 0) < MOST_RULES) return
  throw new BadRequest(`A project has at most ${MOST_RULES} protected branches: unprotect one first`)
}

const targetOf = ({ id, namespace_path: namespace, path }: ProjectRow, branch: string) => ({
  type: 'branch',
  id,
  name: `${namespace}/${path}:${branch}`
})
