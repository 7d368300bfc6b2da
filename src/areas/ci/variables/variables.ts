// Variables of projects ("Build variable"): encrypted at rest, and passed to builds of the project. The builds of
// a fork belong to the fork, which has its own variables, so they never see those of the source.
import type { Origin } from '../../../access/actor.js'
import { EVERY_ENVIRONMENT, type ProjectVariable } from '../../../ci/variable-scopes.js'
import { duplicateKey } from '../../../db/connect/failure.js'
import { lockRow } from '../../../db/connect/lock-row.js'
import { execute, row } from '../../../db/connect/sql.js'
import { transact } from '../../../db/connect/transact.js'
import { Invalid, NotFound, Taken } from '../../../errors.js'
import { decryptNamed, encrypt } from '../../../secrets.js'
import { audit } from '../../ground/audit/audit.js'
import type { ProjectRow } from '../../projects/projects/projects.queries.js'
import { hiddenValues, isMasked, MASKED_AS_BEFORE } from './hidden-values.js'
import { allVariables, findVariable, requireVariable, type VariableRow } from './variables.queries.js'
import { LONGEST_VALUE, type VariableBody, type VariableChange } from './variables.schema.js'

/** Not specified: the maximum number for a project. The environment of each build contains all of them. */
const MOST_VARIABLES = 500

/** A key, and a scope if several variables may have it. */
interface NamedVariable {
  readonly key: string
  readonly scope?: string | undefined
}

/** Creates a variable. Throws Invalid or Taken. */
export async function createVariable(project: ProjectRow, body: VariableBody, origin: Origin): Promise<VariableRow> {
  const { key, value, environment_scope: scope = EVERY_ENVIRONMENT } = body
  checkKey(key)
  checkScope(scope)
  checkValue(value, body.masked)
  const now = new Date()
  await unlessTaken(async () => {
    if (!(await lockRow('projects', project.id))) throw new NotFound('Project')
    const found = await row<{ known: number }>('select count(*) as known from variables where project_id = ?', [
      project.id
    ])
    if ((found?.known ?? 0) >= MOST_VARIABLES) {
      throw new Invalid('base', `The project already has ${MOST_VARIABLES} variables: remove one first`)
    }
    await execute(
      `insert into variables (project_id, name, value_encrypted, masked, protected, environment_scope, created_at, updated_at)
       values (?, ?, ?, ?, ?, ?, ?, ?)`,
      [project.id, key, encrypt(value), body.masked ?? null, body.protected ?? false, scope, now, now]
    )
    await audit(origin, { action: 'variable.create', target: targetOf(project, key) })
  })
  return requireVariable(project.id, key, scope)
}

/**
 * Changes the value of a variable, and the settings that are given. Throws NotFound, Invalid or Taken, and Conflict when
 * several variables have the key.
 */
export async function updateVariable(
  project: ProjectRow,
  { key, scope: known }: NamedVariable,
  { value, ...change }: VariableChange,
  origin: Origin
): Promise<VariableRow> {
  const found = await requireVariable(project.id, key, known)
  const chosen = found.masked === null || found.masked === MASKED_AS_BEFORE ? null : found.masked === 1
  const masked = change.masked ?? chosen
  const scope = change.environment_scope ?? found.environment_scope
  checkScope(scope)
  checkValue(value, masked)
  await unlessTaken(async () => {
    await execute(
      'update variables set value_encrypted = ?, masked = ?, protected = ?, environment_scope = ?, updated_at = ? where id = ?',
      [encrypt(value), masked, change.protected ?? found.protected, scope, new Date(), found.id]
    )
    await audit(origin, { action: 'variable.update', target: targetOf(project, key) })
  })
  return requireVariable(project.id, key, scope)
}

async function unlessTaken(write: () => Promise<void>): Promise<void> {
  try {
    await transact(write)
  } catch (error) {
    throw duplicateKey(error) === 'variables_name' ? new Taken('key') : error
  }
}

/** Creates the variable with this key and scope, or changes it. Returns whether it is new. Throws Invalid. */
export async function setVariable(project: ProjectRow, body: VariableBody, origin: Origin): Promise<boolean> {
  const named = { key: body.key, scope: body.environment_scope ?? EVERY_ENVIRONMENT }
  if (await findVariable(project.id, named.key, named.scope)) {
    await updateVariable(project, named, body, origin)
    return false
  }
  await createVariable(project, body, origin)
  return true
}

/** Removes a variable and returns it. Throws NotFound, and Conflict when several variables have the key. */
export async function deleteVariable(
  project: ProjectRow,
  { key, scope }: NamedVariable,
  origin: Origin
): Promise<VariableRow> {
  const variable = await requireVariable(project.id, key, scope)
  await transact(async () => {
    const { affectedRows } = await execute('delete from variables where id = ?', [variable.id])
    if (affectedRows === 0) throw new NotFound('Variable')
    await audit(origin, { action: 'variable.delete', target: targetOf(project, key) })
  })
  return variable
}

/** Returns all variables of a project. Throws Undecryptable: a build must not run without one of them. */
export async function projectVariables(projectId: number): Promise<ProjectVariable[]> {
  const found = await allVariables(projectId)
  return found.map(({ name, value_encrypted: box, masked, environment_scope: scope, ...row }) => {
    const value = decryptNamed(`variable ${name}`, box)
    return { key: name, value, masked: isMasked(masked, value), protected: row.protected === 1, scope }
  })
}

function checkKey(key: string): void {
  if (key === '') throw new Invalid('key', "can't be blank")
  if (key.length > 255) throw new Invalid('key', 'is too long (maximum is 255 characters)')
  if (!/^\w+$/.test(key)) throw new Invalid('key', "can contain only letters, digits and '_'.")
}

/** Not specified: the names of environments, with `*`. */
function checkScope(scope: string): void {
  if (scope === '') throw new Invalid('environment_scope', "can't be blank")
  if (scope.length > 255) throw new Invalid('environment_scope', 'is too long (maximum is 255 characters)')
  if (!/^[\w\-./${} *]+$/.test(scope)) {
    throw new Invalid(
      'environment_scope',
      "can contain only letters, digits, spaces and '-', '_', '/', '.', '$', '{', '}', '*'."
    )
  }
}

/** Not specified: a value that cannot be masked is refused when somebody asks for it. */
function checkValue(value: string, masked: boolean | null | undefined): void {
  if (Buffer.byteLength(value) > LONGEST_VALUE)
    throw new Invalid('value', `is too long (maximum is ${LONGEST_VALUE} bytes)`)
  // The environment of a process cannot contain it.
  if (value.includes('\0')) throw new Invalid('value', 'cannot contain a null character')
  if (masked && hiddenValues([{ value }]).length === 0) {
    throw new Invalid('value', 'is too short to be masked (minimum is 8 characters in a line)')
  }
}

const targetOf = ({ id, path, namespace_path: namespace }: ProjectRow, key: string) => ({
  type: 'project',
  id,
  name: `${namespace}/${path} ${key}`
})
