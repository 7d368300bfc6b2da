// Runs as a separate process. It claims builds for a runner until none is left, and sends their ids to the parent.

import { claimNext } from '../../../../src/areas/ci/runners/claim-next.js'
import type { RunnerRow } from '../../../../src/areas/ci/runners/runners.queries.js'
import { loadConfig } from '../../../../src/config.js'
import { closeDatabase } from '../../../../src/db/connect/connection.js'
import { row } from '../../../../src/db/connect/sql.js'
import { compose } from '../../../../src/product.js'

loadConfig({})
compose()
const runner = await row<RunnerRow>('select * from runners where id = ?', [Number(process.argv[2])])
if (!runner) throw new Error('no runner')
const taken: number[] = []
for (;;) {
  const claim = await claimNext(runner)
  if (!claim) break
  taken.push(claim.buildId)
}
await closeDatabase()
process.send?.(taken)
process.disconnect?.()
