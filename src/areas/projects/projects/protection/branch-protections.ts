// The protected branches of a project. When a project gets its default branch, the setting default_branch_protection says how
// that is protected.
import { execute } from '../../../../db/connect/sql.js'
import { applicationSettings } from '../../../ground/settings/settings.queries.js'

/** What developers may do with a protected branch. */
export interface Protection {
  readonly developers_can_push: boolean
  readonly developers_can_merge: boolean
}

/** Protects a branch, or changes its protection. */
export async function storeProtection(projectId: number, branch: string, protection: Protection): Promise<void> {
  const now = new Date()
  await execute(
    `insert into protected_branches (project_id, name, developers_can_push, developers_can_merge, created_at, updated_at)
     values (?, ?, ?, ?, ?, ?) on duplicate key update developers_can_push = values(developers_can_push),
       developers_can_merge = values(developers_can_merge), updated_at = values(updated_at)`,
    [projectId, branch, protection.developers_can_push, protection.developers_can_merge, now, now]
  )
}

export async function deleteProtection(projectId: number, branch: string): Promise<void> {
  await execute('delete from protected_branches where project_id = ? and name = ?', [projectId, branch])
}

const LEVELS: { readonly [setting: number]: { readonly push: boolean; readonly merge: boolean } } = {
  1: { push: true, merge: false },
  2: { push: false, merge: false },
  3: { push: false, merge: true }
}

/**
 * Call it in the transaction that sets the default branch. An existing protection stays as it is. `replaced` was the
 * default branch until now, by mistake: of two concurrent first pushes, the later one was settled first. Its protection
 * is removed, unless somebody has changed it since.
 */
export async function protectDefaultBranch(
  projectId: number,
  branch: string,
  replaced: string | null = null
): Promise<void> {
  const { default_branch_protection: setting } = await applicationSettings()
  const level = LEVELS[setting]
  if (!level) return
  if (replaced !== null) {
    await execute(
      `delete from protected_branches where project_id = ? and name = ? and developers_can_push = ?
         and developers_can_merge = ? and created_at = updated_at`,
      [projectId, replaced, level.push, level.merge]
    )
  }
  const now = new Date()
  await execute(
    `insert ignore into protected_branches (project_id, name, developers_can_push, developers_can_merge, created_at, updated_at)
     values (?, ?, ?, ?, ?, ?)`,
    [projectId, branch, level.push, level.merge, now, now]
  )
}
