import { rows } from '../../../db/connect/sql.js'
import { type ProtectionRule, type Protections, protectionBy } from './protection.js'

/** The maximum number of rules of a project: each push reads all of them. */
export const MOST_RULES = 1000

/** Reads the protected branches of a project. */
export async function findProtections(projectId: number): Promise<Protections> {
  return protectionBy(
    await rows<ProtectionRule>(
      `select name, developers_can_push, developers_can_merge from protected_branches where project_id = ?
       order by name limit ${MOST_RULES}`,
      [projectId]
    )
  )
}
