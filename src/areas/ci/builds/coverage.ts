// The test coverage of a build, from its trace. A pipeline shows the mean of its builds.
import { findCoverage } from '../../../ci/coverage.js'
import { execute, row } from '../../../db/connect/sql.js'
import type { Measured } from '../../../storage/measure.js'
import { readTrace } from '../../../storage/traces.js'

/** Bytes. Coverage is at the end of a trace. Not specified: how much of the end is searched. */
const SEARCHED = 1_048_576

/** Returns the coverage in the trace of a build; null when the CI file requests none or the trace contains none. */
export async function coverageIn(key: { build: number; attempt: number }, { size }: Measured): Promise<number | null> {
  if (size === 0) return null
  const found = await row<{ coverage: string | null }>(
    `select if(json_valid(plan), json_unquote(json_extract(plan, '$.coverage')), null) as coverage from builds
     where id = ?`,
    [key.build]
  )
  if (!found || found.coverage === null || found.coverage === 'null') return null
  const bytes = await readTrace(key, Math.max(0, size - SEARCHED), SEARCHED)
  return findCoverage(bytes.toString('utf8'), found.coverage)
}

/** Stores the coverage of a build, and that of its pipeline: the mean of the latest builds that have one. */
export async function noteCoverage(buildId: number, pipelineId: number, coverage: number): Promise<void> {
  await execute('update builds set coverage = ? where id = ?', [coverage, buildId])
  await execute(
    `update pipelines set coverage = (select avg(b.coverage) from builds b
       join (select max(id) as id from builds where pipeline_id = ? group by name) latest on latest.id = b.id)
     where id = ?`,
    [pipelineId, pipelineId]
  )
}
