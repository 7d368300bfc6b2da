// Runs the checks of `gitstead doctor`. Checks without a database come first, because the database may need what they repair.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { audit } from '../../areas/ground/audit/audit.js'
import { joinStorages } from '../../cluster/storages.js'
import { config } from '../../config.js'
import { embeddedState } from '../../db/embedded/embedded.js'
import { closeGitProcesses } from '../../git/repository/processes.js'
import { problemOfOwner } from '../../home.js'
import { findServer } from '../appliance/read-status.js'
import { commandOrigin } from '../framework/origin.js'
import { withDatabase } from '../framework/with-database.js'
import { Ailment, type Check, type CheckContext, type CheckResult, NotExamined } from './check.js'
import { checks } from './checks.js'
import type { CheckName } from './names.js'

export interface ExamineOptions {
  readonly fix: boolean
  readonly all: boolean
  /** The only checks to run, with those that they need: of these, only faults are reported. All checks by default. */
  readonly only?: readonly CheckName[]
  /** The checks to leave out. */
  readonly skip?: readonly CheckName[]
  /** Called with each result as soon as it is known. */
  readonly onResult?: (result: CheckResult) => void
  readonly progress?: (what: string, done: number, total: number) => void
}

/**
 * Runs all checks and returns their results; it never throws because a check fails. Without `fix` it changes nothing, but
 * it may start a database that is down until the checks are done.
 */
export async function examine({ fix, all, only, skip, onResult, progress }: ExamineOptions): Promise<CheckResult[]> {
  // Root examines the home of another user as that user. The check of the home reports what is wrong with it.
  problemOfOwner()
  const { up, url } = await findServer()
  const context = { all, serverUp: up, serverUrl: url, now: new Date(), ...(progress && { progress }) }
  const results: CheckResult[] = []
  const chosen = choose(only, skip)
  const isReported = ({ name, ok }: CheckResult) => !ok || only === undefined || only.includes(name)
  const run = async (some: readonly Check[]) => {
    for (const check of some) {
      const obstacle = results.find(({ name, ok }) => !ok && OBSTACLES[name]?.includes(check.needs ?? ''))
      const result = obstacle ? skipped(check, obstacle.found) : await examineOne(check, context, fix)
      results.push(result)
      if (isReported(result)) onResult?.(result)
    }
  }
  await run(chosen.filter(({ needs }) => needs === undefined))
  const asking = chosen.filter(({ needs }) => needs !== undefined)
  if (asking.length === 0) return results.filter(isReported)
  const obstacle = await obstacleToDatabase(results)
  if (obstacle !== null) {
    await run(asking.map(check => ({ ...check, examine: () => notExamined(obstacle) })))
    return results.filter(isReported)
  }
  try {
    // Doctor does not migrate the schema: the sysadmin or the next start does that.
    await withDatabase(
      async () => {
        // With an older schema there may be no table of storages; the check of the schema reports that.
        await joinStorages().catch(() => undefined)
        await run(asking)
        if (fix) await tellAudit(results)
      },
      { anySchema: true }
    )
  } catch (error) {
    // The database did not start. The check of the database reports that, and the other checks are skipped.
    const missing = asking.filter(({ name }) => results.every(result => result.name !== name))
    await run(missing.map(check => ({ ...check, examine: () => Promise.reject(error) })))
  } finally {
    await closeGitProcesses()
  }
  return results.filter(isReported)
}

/** What the private database needs to start. */
const BEFORE_DATABASE: readonly CheckName[] = ['mariadb', 'home', 'folders', 'secrets']

/** Returns the checks to run, in order: with --only, those and the checks that they need. */
function choose(only: readonly CheckName[] | undefined, skip: readonly CheckName[] = []): readonly Check[] {
  const wanted = new Set<CheckName>(only ?? checks.map(({ name }) => name))
  const needs = new Set(checks.filter(({ name }) => wanted.has(name) && !skip.includes(name)).map(each => each.needs))
  if (needs.has('rows')) wanted.add('schema')
  if (needs.has('rows') || needs.has('database'))
    for (const name of [...BEFORE_DATABASE, 'database'] as const) wanted.add(name)
  return checks.filter(({ name }) => wanted.has(name) && !skip.includes(name))
}

/** When the check of this name fails, checks with these needs are skipped. */
const OBSTACLES: { readonly [check: string]: readonly string[] } = { database: ['database', 'rows'], schema: ['rows'] }

const notExamined = (why: string) => Promise.reject(new NotExamined(why))

const skipped = ({ name }: Check, why: string): CheckResult => ({ ...well(name, why), skipped: true })

const well = (name: CheckName, found: string): CheckResult => ({
  name,
  ok: true,
  skipped: false,
  found,
  details: [],
  remedy: null,
  next: null,
  mended: null
})

async function examineOne(check: Check, context: CheckContext, fix: boolean): Promise<CheckResult> {
  const first = await look(check, context)
  if (first.ok || !fix || !check.mend) return first
  try {
    const mended = await check.mend(context)
    return { ...(await look(check, context)), mended }
  } catch (error) {
    return { ...first, details: [...first.details, `the repair failed: ${firstLine(error)}`] }
  }
}

async function look(check: Check, context: CheckContext): Promise<CheckResult> {
  const { name } = check
  try {
    const result = await check.examine(context)
    return typeof result === 'string' ? well(name, result) : { ...well(name, result.found), next: result.next }
  } catch (error) {
    if (error instanceof NotExamined) return skipped(check, error.message)
    const { remedy, details } = error instanceof Ailment ? error : { remedy: 'follow the message above', details: [] }
    return { ...well(name, firstLine(error)), ok: false, details: [...details], remedy }
  }
}

const firstLine = (error: unknown) => (error instanceof Error ? error.message : String(error)).split('\n', 1)[0] ?? ''

/** Returns why the checks cannot use the database; null when they can. */
async function obstacleToDatabase(results: readonly CheckResult[]): Promise<string | null> {
  if (config().database.url !== null || (await embeddedState()).up) return null
  if (!existsSync(join(config().home, 'mysql'))) return 'there is no database yet: the first start creates it'
  // Starting the database needs the folders and creates missing ones. Only --fix may change anything.
  const ill = results.filter(({ name, ok }) => !ok && BEFORE_DATABASE.includes(name))
  if (ill.length === 0) return null
  return `the database is down: first repair what it needs to start: ${ill.map(({ name }) => name).join(', ')}`
}

async function tellAudit(results: readonly CheckResult[]): Promise<void> {
  const mended = results.filter(result => result.mended !== null)
  if (mended.length === 0 || results.some(({ name, ok }) => name === 'schema' && !ok)) return
  await audit(commandOrigin(), {
    action: 'doctor.mend',
    target: { type: 'home', id: 0, name: config().home },
    changes: Object.fromEntries(mended.map(({ name, mended: what }) => [name, { after: what }]))
  })
}
