// Triggers start pipelines for programs without an account: anyone who knows the token may call it.
import { randomBytes } from 'node:crypto'
import { nobody, type Origin } from '../../../access/actor.js'
import { lockRow } from '../../../db/connect/lock-row.js'
import { execute, row } from '../../../db/connect/sql.js'
import { transact } from '../../../db/connect/transact.js'
import { BadRequest, Forbidden, Invalid, NotFound, Unauthorized } from '../../../errors.js'
import { currentClient } from '../../../lib/request-scope.js'
import { encrypt, tokenHash } from '../../../secrets.js'
import { audit } from '../../ground/audit/audit.js'
import { countWrongToken } from '../../people/credentials/login-throttle.js'
import { findProject, type ProjectRow } from '../../projects/projects/projects.queries.js'
import { checkVariables, seal } from './given-variables.js'
import { insertBroken, insertPlanned } from './insert-pipeline.js'
import { planRequest } from './requested-pipelines.js'
import { findTrigger, requireTrigger, type TriggerRow } from './triggers.queries.js'
import type { TriggerCall } from './triggers.schema.js'

/** Not specified: the maximum number of triggers of a project. */
const MOST_TRIGGERS = 100

/** Creates a trigger. Throws Invalid when the project has too many. */
export async function createTrigger(project: ProjectRow, origin: Origin): Promise<TriggerRow> {
  const token = randomBytes(15).toString('hex')
  await transact(async () => {
    if (!(await lockRow('projects', project.id))) throw new NotFound('Project')
    const found = await row<{ known: number }>('select count(*) as known from triggers where project_id = ?', [
      project.id
    ])
    if ((found?.known ?? 0) >= MOST_TRIGGERS) {
      throw new Invalid('base', `The project already has ${MOST_TRIGGERS} triggers: remove one first`)
    }
    const now = new Date()
    await execute(
      'insert into triggers (project_id, token_hash, token_encrypted, created_at, updated_at) values (?, ?, ?, ?, ?)',
      [project.id, tokenHash(token), encrypt(token), now, now]
    )
    await audit(origin, { action: 'trigger.create', target: targetOf(project) })
  })
  return requireTrigger(project.id, token)
}

/** Removes a trigger and returns it. Its running pipelines continue. Throws NotFound. */
export async function deleteTrigger(project: ProjectRow, token: string, origin: Origin): Promise<TriggerRow> {
  const trigger = await requireTrigger(project.id, token)
  await transact(async () => {
    const { affectedRows } = await execute('delete from triggers where id = ?', [trigger.id])
    if (affectedRows === 0) throw new NotFound('Trigger')
    await audit(origin, { action: 'trigger.delete', target: targetOf(project) })
  })
  return trigger
}

export interface TriggerRequest {
  readonly id: number
  readonly variables: { readonly [key: string]: string } | null
}

/**
 * Starts a pipeline of a branch or tag for a caller who knows the token of a trigger. Throws NotFound for an unknown
 * project or token, Unauthorized for the token of another project, and BadRequest when no pipeline can be created.
 * Decided: a broken CI file leaves a failed pipeline.
 */
export async function callTrigger(id: string, ref: string, call: TriggerCall): Promise<TriggerRequest> {
  const [project, trigger] = await Promise.all([findProject(id, nobody), findTrigger(call.token)])
  if (!trigger) countWrongToken(currentClient())
  if (!project || !trigger) throw new NotFound()
  if (trigger.project_id !== project.id) throw new Unauthorized()
  if (!project.builds_enabled || project.archived) throw new Forbidden('The project accepts no builds')
  const variables = checkVariables(call.variables)
  const { pipeline, plan, errors } = await planned(project, ref, variables)
  if (!plan) {
    await insertBroken(pipeline, errors)
    throw new BadRequest(`400 (Bad request) ${errors.join('\n')}`)
  }
  return transact(async () => {
    const pipelineId = await insertPlanned(pipeline, plan)
    if (pipelineId === null) throw new BadRequest('No builds created')
    const now = new Date()
    await execute('update triggers set last_used_at = ? where id = ?', [now, trigger.id])
    const { insertId } = await execute(
      'insert into trigger_requests (trigger_id, pipeline_id, variables_encrypted, created_at) values (?, ?, ?, ?)',
      [trigger.id, pipelineId, seal(variables), now]
    )
    return { id: insertId, variables }
  })
}

/** Regardless of the reason, a caller without an account learns only that nothing was created. */
async function planned(project: ProjectRow, ref: string, variables: TriggerRequest['variables']) {
  try {
    return await planRequest(project, ref, { source: 'trigger', userId: null, variables })
  } catch (error) {
    throw error instanceof Invalid ? new BadRequest('No builds created') : error
  }
}

const targetOf = ({ id, path, namespace_path: namespace }: ProjectRow) => ({
  type: 'project',
  id,
  name: `${namespace}/${path}`
})
