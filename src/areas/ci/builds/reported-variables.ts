// The variables that a build reports for later builds (`artifacts: reports: dotenv`).
import type { CiVariable } from '../../../ci/config-types.js'
import { parseDotenv } from '../../../ci/dotenv.js'
import { execute, row, rows } from '../../../db/connect/sql.js'
import { transact } from '../../../db/connect/transact.js'
import { Invalid } from '../../../errors.js'
import { decrypt, encrypt, tokenHash } from '../../../secrets.js'
import type { BuildHold } from './claim.js'

/** The maximum number of reported variables in one pipeline: a later build may get all of them. */
const MOST_OF_PIPELINE = 1000

/**
 * Stores the variables that a running build reports, and replaces its earlier report. `text` is the content of all its
 * files, one after another. Returns false when the claim no longer holds the build. Throws Invalid for a text that is
 * not a report, or when the pipeline has too many variables.
 */
export async function storeReportedVariables(claim: BuildHold, text: Uint8Array): Promise<boolean> {
  const { variables, problem } = parseDotenv(text)
  if (problem !== null) throw new Invalid('dotenv', problem)
  const { buildId, pipelineId, attempt } = claim
  return transact(async () => {
    const build = await row(
      "select id from builds where id = ? and attempt = ? and token_hash = ? and status = 'running' for update",
      [buildId, attempt, typeof claim.token === 'string' ? tokenHash(claim.token) : claim.token]
    )
    if (!build) return false
    const others = await row<{ total: number | null }>(
      'select cast(sum(amount) as unsigned) as total from reported_variables where pipeline_id = ? and build_id <> ?',
      [pipelineId, buildId]
    )
    if ((others?.total ?? 0) + variables.length > MOST_OF_PIPELINE) {
      throw new Invalid('dotenv', `would give the pipeline more than ${MOST_OF_PIPELINE} reported variables`)
    }
    await execute(
      `replace into reported_variables (build_id, pipeline_id, attempt, amount, variables_encrypted, created_at)
       values (?, ?, ?, ?, ?, ?)`,
      [buildId, pipelineId, attempt, variables.length, encrypt(JSON.stringify(variables)), new Date()]
    )
    return true
  })
}

interface Consumer {
  readonly pipeline_id: number
  readonly stage_index: number
}

/**
 * Returns the variables that the latest builds of earlier stages reported, or only those of `names`. If several builds
 * report a name, the one in the later stage wins.
 */
export async function reportedVariables(
  { pipeline_id: pipelineId, stage_index: stage }: Consumer,
  names: readonly string[] | null
): Promise<CiVariable[]> {
  if (names?.length === 0) return []
  // Sorted here: the database would write the values to a file to sort them, which fails on a full disk.
  const found = await rows<{ id: number; stage: number; name: string; box: Buffer }>(
    `select b.id, b.stage_index as stage, b.name, v.variables_encrypted as box from reported_variables v
       join builds b on b.id = v.build_id and b.attempt = v.attempt
     where v.pipeline_id = ? and b.stage_index <= ?
       and b.id = (select max(c.id) from builds c where c.pipeline_id = b.pipeline_id and c.name = b.name)`,
    [pipelineId, names === null ? stage - 1 : stage]
  )
  return found
    .filter(({ name }) => names === null || names.includes(name))
    .sort((a, b) => a.stage - b.stage || a.id - b.id)
    .flatMap(({ box }) => JSON.parse(decrypt(box)) as CiVariable[])
}

/** Returns the variables that a running build itself reported. */
export async function reportOf({ buildId, attempt }: Pick<BuildHold, 'buildId' | 'attempt'>): Promise<CiVariable[]> {
  const found = await row<{ box: Buffer }>(
    'select variables_encrypted as box from reported_variables where build_id = ? and attempt = ?',
    [buildId, attempt]
  )
  return found ? (JSON.parse(decrypt(found.box)) as CiVariable[]) : []
}

/** Removes the reported variables of a build. */
export async function dropReportedVariables(buildId: number): Promise<void> {
  await execute('delete from reported_variables where build_id = ?', [buildId])
}
