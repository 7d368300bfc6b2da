// Variables of projects ("Build variable"): encrypted at rest, and passed to every build of the project. The builds of
// a fork belong to the fork, which has its own variables, so they never see those of the source.
import type { Origin } from '../../../access/actor.js'
import type { CiVariable } from '../../../ci/config-types.js'
import { duplicateKey } from '../../../db/connect/failure.js'
import { lockRow } from '../../../db/connect/lock-row.js'
import { execute, row } from '../../../db/connect/sql.js'
import { transact } from '../../../db/connect/transact.js'
import { Invalid, NotFound, Taken } from '../../../errors.js'
import { decryptNamed, encrypt } from '../../../secrets.js'
import { audit } from '../../ground/audit/audit.js'
import type { ProjectRow } from '../../projects/projects/projects.queries.js'
import { allVariables, findVariable, requireVariable, type VariableRow } from './variables.queries.js'
import { LONGEST_VALUE, type VariableBody, type VariableChange } from './variables.schema.js'

/** Not specified: the maximum number for a project. The environment of each build contains all of them. */
const MOST_VARIABLES = 500

/** Creates a variable. Throws Invalid or Taken. */
export async function createVariable(
  project: ProjectRow,
  { key, value }: VariableBody,
  origin: Origin
): Promise<VariableRow> {
  checkKey(key)
  checkValue(value)
  const now = new Date()
  try {
    await transact(async () => {
      if (!(await lockRow('projects', project.id))) throw new NotFound('Project')
      const found = await row<{ known: number }>('select count(*) as known from variables where project_id = ?', [
        project.id
      ])
      if ((found?.known ?? 0) >= MOST_VARIABLES) {
        throw new Invalid('base', `The project already has ${MOST_VARIABLES} variables: remove one first`)
      }
      await execute(
        'insert into variables (project_id, name, value_encrypted, created_at, updated_at) values (?, ?, ?, ?, ?)',
        [project.id, key, encrypt(value), now, now]
      )
      await audit(origin, { action: 'variable.create', target: targetOf(project, key) })
    })
  } catch (error) {
    throw duplicateKey(error) === 'variables_name' ? new Taken('key') : error
  }
  return requireVariable(project.id, key)
}

/** Changes the value of a variable. Throws NotFound or Invalid. */
export async function updateVariable(
  project: ProjectRow,
  key: string,
  { value }: VariableChange,
  origin: Origin
): Promise<VariableRow> {
  checkValue(value)
  const { id } = await requireVariable(project.id, key)
  await transact(async () => {
    await execute('update variables set value_encrypted = ?, updated_at = ? where id = ?', [
      encrypt(value),
      new Date(),
      id
    ])
    await audit(origin, { action: 'variable.update', target: targetOf(project, key) })
  })
  return requireVariable(project.id, key)
}

/** Creates a variable, or changes its value. Returns whether it is new. Throws Invalid. */
export async function setVariable(project: ProjectRow, body: VariableBody, origin: Origin): Promise<boolean> {
  if (await findVariable(project.id, body.key)) {
    await updateVariable(project, body.key, body, origin)
    return false
  }
  await createVariable(project, body, origin)
  return true
}

/** Removes a variable and returns it. Throws NotFound. */
export async function deleteVariable(project: ProjectRow, key: string, origin: Origin): Promise<VariableRow> {
  const variable = await requireVariable(project.id, key)
  await transact(async () => {
    const { affectedRows } = await execute('delete from variables where id = ?', [variable.id])
    if (affectedRows === 0) throw new NotFound('Variable')
    await audit(origin, { action: 'variable.delete', target: targetOf(project, key) })
  })
  return variable
}

/** Returns the variables of a project for one of its builds. Throws Undecryptable: a build must not run without one of them. */
export async function variablesForBuild(projectId: number): Promise<CiVariable[]> {
  const found = await allVariables(projectId)
  return found.map(({ name, value_encrypted: box }) => ({ key: name, value: decryptNamed(`variable ${name}`, box) }))
}

function checkKey(key: string): void {
  if (key === '') throw new Invalid('key', "can't be blank")
  if (key.length > 255) throw new Invalid('key', 'is too long (maximum is 255 characters)')
  if (!/^\w+$/.test(key)) throw new Invalid('key', "can contain only letters, digits and '_'.")
}

function checkValue(value: string): void {
  if (Buffer.byteLength(value) > LONGEST_VALUE)
    throw new Invalid('value', `is too long (maximum is ${LONGEST_VALUE} bytes)`)
  // The environment of a process cannot contain it.
  if (value.includes('\0')) throw new Invalid('value', 'cannot contain a null character')
}

const targetOf = ({ id, path, namespace_path: namespace }: ProjectRow, key: string) => ({
  type: 'project',
  id,
  name: `${namespace}/${path} ${key}`
})
