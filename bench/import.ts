// Measures `users import` while an appliance is running, compared in turns with only hashing as many passwords on all cores.
// The start of the command counts too.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { root } from '../src/config.js'
import { mapBounded } from '../src/lib/bounded.js'
import { hashPassword } from '../src/lib/password-hash.js'
import { type Prepared, withAppliance } from './lib/appliance.js'
import { countCost } from './lib/cost.js'
import { median, report } from './lib/figure.js'
import { reapedCpuOf } from './lib/processes.js'

const USERS = 1000
const ROUNDS = 3

async function perSecond(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now()
  await work()
  return USERS / ((performance.now() - started) / 1000)
}

const passwords = Array.from({ length: USERS }, (_, number) => `password of user ${number}`)
const hashAll = () => mapBounded(passwords, availableParallelism(), hashPassword)

function writeUsers(home: string, round: number): string {
  const file = join(home, 'tmp', `users-${round}.csv`)
  const lines = passwords.map((password, number) => {
    const name = `import-${round}-${number}`
    return `${name},${name}@example.org,Import ${number},${password}`
  })
  writeFileSync(file, `username,email,name,password\n${lines.join('\n')}\n`)
  return file
}

async function importFile(home: string, file: string): Promise<void> {
  const child = spawn(process.execPath, [join(root, 'bin/gitstead'), 'users', 'import', file, '--home', home], {
    stdio: ['ignore', 'ignore', 'inherit']
  })
  const [code] = await once(child, 'exit')
  if (code !== 0) throw new Error(`users import ended with ${code}`)
}

/** The cost of the commands that this process ran. The appliance, which is still running, does not count. */
const childrenCpu = () => reapedCpuOf(process.pid)

async function measure({ home, parts }: Prepared): Promise<void> {
  const [imported, hashed]: [number[], number[]] = [[], []]
  const costs: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const file = writeUsers(home, round)
    hashed.push(await perSecond(hashAll))
    const cost = countCost(parts)
    const before = childrenCpu()
    imported.push(await perSecond(() => importFile(home, file)))
    costs.push(cost(USERS).processor_ms + ((childrenCpu() - before) / USERS) * 1000)
  }
  report({
    name: 'import of users',
    value: median(imported) / median(hashed),
    unit: 'of only hashing',
    limit: 0.8,
    better: 'higher',
    comparison: `${Math.round(median(imported))}/s against ${Math.round(median(hashed))}/s`,
    detail: { users: USERS, processor_ms: median(costs) }
  })
}

await withAppliance({}, measure)
