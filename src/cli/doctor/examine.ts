// Runs the checks of `gitstead doctor`, first those that need no database: what they mend, the database may need.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { audit } from '../../areas/audit/audit.js'
import { config } from '../../config.js'
import { embeddedState } from '../../db/embedded.js'
import { closeGitProcesses } from '../../git/processes.js'
import { commandOrigin } from '../origin.js'
import { serverAnswers } from '../read-status.js'
import { withDatabase } from '../with-database.js'
import { Ailment, type Check, type CheckContext, type CheckResult, NotExamined } from './check.js'
import { checks } from './checks.js'

export interface ExamineOptions {
  readonly fix: boolean
  readonly all: boolean
  /** Hears each result as it is known. */
  readonly onResult?: (result: CheckResult) => void
}

/** Runs all checks; none throws. Without `fix` nothing is changed, though a database that is down may be run for them. */
export async function examine({ fix, all, onResult }: ExamineOptions): Promise<CheckResult[]> {
  const context = { all, serverUp: await serverAnswers(), now: new Date() }
  const results: CheckResult[] = []
  const run = async (some: readonly Check[]) => {
    for (const check of some) {
      const obstacle = results.find(({ name, ok }) => !ok && OBSTACLES[name]?.includes(check.needs ?? ''))
      const result = obstacle ? skipped(check, obstacle.found) : await examineOne(check, context, fix)
      results.push(result)
      onResult?.(result)
    }
  }
  await run(checks.filter(({ needs }) => needs === undefined))
  const asking = checks.filter(({ needs }) => needs !== undefined)
  const obstacle = await obstacleToDatabase(results)
  if (obstacle !== null) {
    await run(asking.map(check => ({ ...check, examine: () => notExamined(obstacle) })))
    return results
  }
  try {
    // Not brought up to date: that is for the sysadmin, or the next start, to do.
    await withDatabase(
      async () => {
        await run(asking)
        if (fix) await tellAudit(results)
      },
      { anySchema: true }
    )
  } catch (error) {
    // It could not be started: that is what the check of the database finds, and the others cannot ask.
    const missing = asking.filter(({ name }) => results.every(result => result.name !== name))
    await run(missing.map(check => ({ ...check, examine: () => Promise.reject(error) })))
  } finally {
    await closeGitProcesses()
  }
  return results
}

/** A check that fails -> what others need that are not run then. */
const OBSTACLES: { readonly [check: string]: readonly string[] } = { database: ['database', 'rows'], schema: ['rows'] }

const notExamined = (why: string) => Promise.reject(new NotExamined(why))

const skipped = ({ name }: Check, why: string): CheckResult => ({ ...well(name, why), skipped: true })

const well = (name: string, found: string): CheckResult => ({
  name,
  ok: true,
  skipped: false,
  found,
  details: [],
  remedy: null,
  mended: null
})

async function examineOne(check: Check, context: CheckContext, fix: boolean): Promise<CheckResult> {
  const first = await look(check, context)
  if (first.ok || !fix || !check.mend) return first
  try {
    const mended = await check.mend(context)
    return { ...(await look(check, context)), mended }
  } catch (error) {
    return { ...first, details: [...first.details, `it could not be mended: ${firstLine(error)}`] }
  }
}

async function look(check: Check, context: CheckContext): Promise<CheckResult> {
  const { name } = check
  try {
    return well(name, await check.examine(context))
  } catch (error) {
    if (error instanceof NotExamined) return skipped(check, error.message)
    const { remedy, details } = error instanceof Ailment ? error : { remedy: 'as the line says', details: [] }
    return { ...well(name, firstLine(error)), ok: false, details: [...details], remedy }
  }
}

const firstLine = (error: unknown) => (error instanceof Error ? error.message : String(error)).split('\n', 1)[0] ?? ''

/** Why the database is not asked; null when it is. */
async function obstacleToDatabase(results: readonly CheckResult[]): Promise<string | null> {
  if (config().database.url !== null || (await embeddedState()).up) return null
  if (!existsSync(join(config().home, 'mysql'))) return 'there is no database yet: the first start makes it'
  // Its start makes folders that are missing, and needs them: that is for --fix to do.
  const ill = results.filter(({ name, ok }) => !ok && ['home', 'folders', 'secrets', 'mariadb'].includes(name))
  if (ill.length === 0) return null
  return `the database is down, and is not started before this is mended: ${ill.map(({ name }) => name).join(', ')}`
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
