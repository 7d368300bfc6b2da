import { execute } from '../../../../src/db/connect/sql.js'

/** Adds a label to a project or a group, and returns its id. */
export async function makeLabel(owner: { project?: number; group?: number }, title: string): Promise<number> {
  const { insertId } = await execute(
    "insert into labels (project_id, group_id, title, color, created_at, updated_at) values (?, ?, ?, '#fff', now(), now())",
    [owner.project ?? null, owner.group ?? null, title]
  )
  return insertId
}
