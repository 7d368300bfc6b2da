// npm run attack -- [--short] [NAME...]: attacks a private appliance, one attack after the other, and prints a line for each
// attack with its limits and its use. Every file of this folder that exports `attack` is an attack (support/attack.ts).
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { inspect, parseArgs } from 'node:util'
import { processesOf } from '../scenarios/appliance.js'
import type { Attack, Ground } from './support/attack.js'
import { watchMemory } from './support/memory.js'
import { slowness } from './support/slowness.js'
import { makeStand } from './support/stand.js'

/** An attack that takes this many times its limit counts as failed, even if it never ends. */
const GIVE_UP = 2
/** The fewest seconds that an attack gets before that. */
const LEAST = 120

const { values, positionals: names } = parseArgs({
  options: { short: { type: 'boolean', default: false } },
  allowPositionals: true
})
process.exit(await run())

async function run(): Promise<number> {
  const attacks = await findAttacks()
  const unknown = names.filter(name => attacks.every(attack => attack.name !== name))
  if (unknown.length > 0) {
    const known = attacks.map(({ name }) => name).join(', ')
    process.stderr.write(`no attack is called ${unknown.join(' or ')}; there are: ${known}\n`)
    return 2
  }
  const chosen = attacks.filter(({ name }) => names.length === 0 || names.includes(name))
  const folder = mkdtempSync(join(tmpdir(), 'gitstead-attack-'))
  const stand = await makeStand(folder, values.short)
  let failed = 0
  for (const attack of chosen) if (!(await passes(attack, stand))) failed++
  const log = stand.appliance.log()
  const code = await stand.appliance.stop()
  const left = processesOf(stand.home)
  if (code !== 0 || left.length > 0) {
    process.stdout.write(`the appliance ended with ${code} and left processes ${left.join(' ') || 'none'}\n`)
    failed++
  }
  if (failed === 0) rmSync(folder, { recursive: true, force: true })
  else {
    writeFileSync(join(folder, 'up.log'), log)
    process.stdout.write(`the home stays in ${folder}, with the log in up.log\n`)
  }
  process.stdout.write(`${chosen.length - Math.min(failed, chosen.length)} passed, ${failed} failed\n`)
  return failed === 0 ? 0 : 1
}

async function findAttacks(): Promise<Attack[]> {
  const folder = fileURLToPath(new URL('.', import.meta.url))
  const files = readdirSync(folder).filter(name => /^[^.]+\.js$/.test(name) && name !== 'run.js')
  const modules = await Promise.all(
    files.sort().map(name => import(join(folder, name)) as Promise<{ attack?: Attack }>)
  )
  return modules.flatMap(({ attack }) => attack ?? [])
}

/** Runs one attack, prints its line, and returns true when the appliance stayed within all limits. */
async function passes({ name, about, limit, run }: Attack, stand: Ground): Promise<boolean> {
  const before = stand.appliance.processes()
  const slow = await slowness()
  const watch = watchMemory(stand.appliance.pid, limit.memory)
  const started = performance.now()
  const { statuses, faults } = await outcome(
    run({ ...stand, patience: milliseconds => Math.ceil(milliseconds * slow) }),
    Math.max(LEAST, GIVE_UP * slow * limit.seconds)
  )
  const seconds = (performance.now() - started) / 1000
  const memory = watch.stop()
  const most = limit.seconds * Math.max(slow, stand.short ? 1 : await slowness())
  const wrong = statuses.filter(status => !limit.statuses.includes(status))
  if (wrong.length > 0) faults.push(`answered ${[...new Set(wrong)].join(', ')}`)
  if (memory > limit.memory) faults.push('used too much memory')
  if (seconds > most && !stand.short) faults.push('took too long')
  faults.push(...(await ailments(stand, before)))
  const took = `${seconds.toFixed(1)} s of ${Math.round(most)}, ${memory} MiB more of ${limit.memory}`
  const answers = `answered ${[...new Set(statuses)].join(', ') || 'nothing'} of ${limit.statuses.join(', ')}`
  process.stdout.write(`${faults.length === 0 ? 'ok' : 'FAILED'} ${name}: ${took}, ${answers} (${about})\n`)
  for (const fault of faults) process.stdout.write(`  ${fault}\n`)
  return faults.length === 0
}

/** Never rejects: an error of the attack is a fault. */
async function outcome(attack: Promise<readonly number[]>, seconds: number) {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`it did not end within ${seconds} s`)), seconds * 1000)
  })
  try {
    return { statuses: await Promise.race([attack, late]), faults: [] as string[] }
  } catch (error) {
    return { statuses: [], faults: [inspect(error)] }
  } finally {
    clearTimeout(timer)
  }
}

/** After an attack, the same processes must run, and the appliance must serve others. */
async function ailments(stand: Ground, before: object): Promise<string[]> {
  const found: string[] = []
  const now = stand.appliance.processes()
  if (JSON.stringify(now) !== JSON.stringify(before)) {
    found.push(`the processes were ${JSON.stringify(before)} and are ${JSON.stringify(now)}`)
  }
  try {
    const { status } = await fetch(`${stand.url}/-/readiness`, { signal: AbortSignal.timeout(10_000) })
    if (status !== 200) found.push(`/-/readiness answers ${status} afterwards`)
  } catch (error) {
    found.push(`/-/readiness does not answer afterwards: ${error}`)
  }
  return found
}
