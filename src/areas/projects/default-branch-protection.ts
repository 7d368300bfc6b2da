// Protects the default branch when a project gets one, as the setting default_branch_protection says.
import { execute } from '../../db/sql.js'
import { applicationSettings } from '../settings/settings.queries.js'

const LEVELS: { readonly [setting: number]: { readonly push: boolean; readonly merge: boolean } } = {
  1: { push: true, merge: false },
  2: { push: false, merge: false }
}

/** Call it in the transaction that names the default branch. A protection that is there already stays as it is. */
export async function protectDefaultBranch(projectId: number, branch: string): Promise<void> {
  const { default_branch_protection: setting } = await applicationSettings()
  const level = LEVELS[setting]
  if (!level) return
  const now = new Date()
  await execute(
    `insert ignore into protected_branches (project_id, name, developers_can_push, developers_can_merge, created_at, updated_at)
     values (?, ?, ?, ?, ?, ?)`,
    [projectId, branch, level.push, level.merge, now, now]
  )
}
