// Protects the default branch when a project gets one, as the setting default_branch_protection says.
import { execute } from '../../db/sql.js'
import { applicationSettings } from '../settings/settings.queries.js'

const LEVELS: { readonly [setting: number]: { readonly push: boolean; readonly merge: boolean } } = {
  1: { push: true, merge: false },
  2: { push: false, merge: false },
  3: { push: false, merge: true }
}

/**
 * Call it in the transaction that names the default branch. A protection that is there already stays as it is. `replaced` was
 * the default branch until now, by mistake: of two first pushes at once, the later one was settled first. Its protection goes,
 * unless somebody has changed it since.
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
