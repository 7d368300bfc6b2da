// Protects and unprotects branches. push-policy.ts applies the protection.
import type { Origin } from '../../../access/actor.js'
import { lockRow } from '../../../db/connect/lock-row.js'
import { row } from '../../../db/connect/sql.js'
import { transact } from '../../../db/connect/transact.js'
import { BadRequest, NotFound } from '../../../errors.js'
import { audit, changesBetween } from '../../ground/audit/audit.js'
import type { ProjectRow } from '../../projects/projects/projects.queries.js'
import {
  deleteProtection,
  type Protection,
  storeProtection
} from '../../projects/projects/protection/branch-protections.js'
import type { ProtectionBody } from './branches.schema.js'
import { MOST_RULES } from './protected-branches.queries.js'

/** Protects an existing branch. An absent flag keeps its value, or is false when the branch is not protected yet. */
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
    await storeProtection(project.id, name, after)
    await audit(origin, { action: 'branch.protect', target: targetOf(project, name), changes })
  })
}

/** Removes the rule with exactly this name, if it exists. */
export async function unprotectBranch(project: ProjectRow, name: string, origin: Origin): Promise<void> {
  await transact(async () => {
    const before = await lockedRule(project.id, name)
    if (!before) return
    await deleteProtection(project.id, name)
    const changes = changesBetween(before, null)
    await audit(origin, { action: 'branch.unprotect', target: targetOf(project, name), changes })
  })
}

/** Locks the row of the project, so that concurrent requests that protect branches take turns. */
async function lockedRule(projectId: number, name: string): Promise<Protection | null> {
  if (!(await lockRow('projects', projectId))) throw new NotFound('Project')
  const found = await row<{ [Name in keyof Protection]: number }>(
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
