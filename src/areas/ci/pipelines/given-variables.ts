// Variables for the builds of one pipeline from the caller of a trigger, a schedule or a command. They override those
// of the project.
import type { CiVariable } from '../../../ci/config-types.js'
import { execute, row } from '../../../db/connect/sql.js'
import { BadRequest } from '../../../errors.js'
import { decrypt, encrypt } from '../../../secrets.js'

/** Not specified: the limits of such variables. */
const MOST_VARIABLES = 100
/** Bytes of all names and values together. */
const MOST_BYTES = 65_536

export interface GivenVariables {
  readonly [key: string]: string
}

/** Throws BadRequest unless the variables are a map of texts within the limits. */
export function checkVariables(values: object | undefined): GivenVariables | null {
  if (values === undefined) return null
  const entries = Object.entries(values) as [string, unknown][]
  const texts = entries.flatMap(([key, value]) => (typeof value === 'string' ? [[key, value] as const] : []))
  // Names and values become part of the environment of a process.
  const wrong =
    Array.isArray(values) ||
    texts.length < entries.length ||
    texts.some(([key, value]) => !/^\w{1,255}$/.test(key) || value.includes('\0'))
  if (wrong) throw new BadRequest('variables needs to be a map of key-valued strings')
  const bytes = texts.reduce((sum, [key, value]) => sum + Buffer.byteLength(key) + Buffer.byteLength(value), 0)
  if (texts.length > MOST_VARIABLES || bytes > MOST_BYTES) {
    throw new BadRequest(`variables can have at most ${MOST_VARIABLES} names and ${MOST_BYTES} bytes`)
  }
  return Object.fromEntries(texts)
}

/** Encrypts the variables; null without any. */
export const seal = (variables: GivenVariables | null): Buffer | null =>
  variables && Object.keys(variables).length > 0 ? encrypt(JSON.stringify(variables)) : null

/** Reverses `seal`. */
export const unseal = (box: Buffer | null): GivenVariables | null => box && (JSON.parse(decrypt(box)) as GivenVariables)

/** Returns the variables in the form of CI files. */
export const listed = (variables: GivenVariables | null): CiVariable[] =>
  Object.entries(variables ?? {}).map(([key, value]) => ({ key, value }))

/** The origin of a requested pipeline, in addition to its user. */
export interface PipelineRequest {
  readonly schedule?: { readonly id: number; readonly dueAt: Date }
  readonly variablesBox: Buffer | null
}

/** Stores the request of a pipeline. Fails with a duplicate key when the schedule already has a pipeline for this time. */
export async function insertRequest(pipelineId: number, { schedule, variablesBox }: PipelineRequest): Promise<void> {
  await execute(
    'insert into pipeline_requests (pipeline_id, schedule_id, due_at, variables_encrypted, created_at) values (?, ?, ?, ?, ?)',
    [pipelineId, schedule?.id ?? null, schedule?.dueAt ?? null, variablesBox, new Date()]
  )
}

/** Returns the variables that were given to the builds of a pipeline. */
export async function givenVariables(pipelineId: number): Promise<CiVariable[]> {
  const found = await row<{ box: Buffer | null }>(
    `select coalesce((select variables_encrypted from trigger_requests where pipeline_id = ?),
       (select variables_encrypted from pipeline_requests where pipeline_id = ?)) as box`,
    [pipelineId, pipelineId]
  )
  if (!found?.box) return []
  return listed(unseal(found.box))
}
