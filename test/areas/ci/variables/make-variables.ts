import { execute } from '../../../../src/db/connect/sql.js'
import { encrypt } from '../../../../src/secrets.js'

/** Adds a variable to a project, and returns its key. */
export async function makeVariable(
  project: { id: number },
  name: string,
  value = 'value',
  masked: boolean | null = null
): Promise<string> {
  const key = name.replace(/\W/g, '_')
  const now = new Date()
  await execute(
    'insert into variables (project_id, name, value_encrypted, masked, created_at, updated_at) values (?, ?, ?, ?, ?, ?)',
    [project.id, key, encrypt(value), masked, now, now]
  )
  return key
}
