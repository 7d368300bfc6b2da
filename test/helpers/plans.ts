// Finds out which statements were sent to the database, and which plans the database makes for them. It reads the
// database's own log, so that no copy of a statement can differ from the product's.

import { sequelize } from '../../src/db/connect/sequelize.js'
import { rows } from '../../src/db/connect/sql.js'

interface Step {
  readonly table: string | null
  readonly key: string | null
  readonly rows: number | null
  readonly Extra: string | null
}

export interface Plan {
  readonly statement: string
  readonly steps: readonly Step[]
}

/**
 * Returns the plans of all SELECTs that `ask` sends. The log belongs to the whole server; statements of other tests are
 * ignored.
 */
export async function plansOf(ask: () => Promise<unknown>): Promise<Plan[]> {
  await text("set global log_output = 'TABLE'")
  await text('set global general_log = on')
  let since: Date | undefined
  try {
    since = (await rows<{ now: Date }>('select now(6) as now'))[0]?.now
    await ask()
  } finally {
    await text('set global general_log = off')
  }
  const sent = await rows<{ argument: Buffer | string }>(
    `select argument from mysql.general_log where command_type = 'Execute' and event_time >= ?
       and thread_id in (select id from information_schema.processlist where db = database())`,
    [since ?? new Date(0)]
  )
  const statements = sent.map(({ argument }) => argument.toString()).filter(sql => /^\s*select\b.*\bfrom\b/is.test(sql))
  const plans: Plan[] = []
  for (const statement of new Set(statements)) {
    if (/general_log|select now/.test(statement)) continue
    plans.push({ statement, steps: await text(`explain ${asSent(statement)}`) })
  }
  return plans
}

/** The driver sends every number with a fraction, which the log does not show, and which changes the plan. */
const asSent = (statement: string) => statement.replace(/([=<>] )(\d+)(?![\d.e])/g, '$1$2e0')

/** Returns the step of a plan that reads the table with this name or alias. */
export const stepOf = (plan: Plan | undefined, table: string) => plan?.steps.find(step => step.table === table)

async function text(sql: string): Promise<Step[]> {
  const [found] = await sequelize().query(sql)
  return found as Step[]
}
