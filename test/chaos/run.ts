// npm run chaos -- --rounds N --seed S [--victims workers] [--cluster]: the main job under kill -9. Prints one line per round. On a
// fault it exits with 1 and keeps the home. A cluster on this machine has more victims (cluster.ts); it needs root.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { installPrograms } from '../galera/programs.js'
import { processesOf } from '../scenarios/appliance.js'
import { seeded } from './random.js'
import { playRound, type Stage, setStage } from './rounds.js'
import { makeWorld, type Victims, type World } from './world.js'

/** Number of rounds with one home: the pauses of its supervisor grow with every death. */
const ROUNDS_PER_HOME = 4

const VICTIMS: readonly Victims[] = ['all', 'workers', 'writer']

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '10' },
    seed: { type: 'string', default: String(Date.now() % 1e6) },
    victims: { type: 'string', default: 'all' },
    cluster: { type: 'boolean', default: false }
  }
})
const rounds = Number(values.rounds)
const seed = Number(values.seed)
const isCluster = values.cluster
const victims = VICTIMS.find(name => name === values.victims)
if (!Number.isInteger(rounds) || rounds < 1 || !Number.isInteger(seed) || !victims) {
  process.stderr.write(
    'usage: npm run chaos -- --rounds N --seed S --victims all|workers [--cluster [--victims writer]]\n'
  )
  process.exit(2)
}
// The end of the process takes its parts and its rules of the network with it.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))
if (isCluster) installPrograms()
process.exit(await run())

async function run(): Promise<number> {
  const random = seeded(seed)
  const started = Date.now()
  const deaths = new Map<string, number>()
  let gaps: number[] = []
  for (let number = 1; number <= rounds; ) {
    const folder = mkdtempSync(join(tmpdir(), 'gitstead-chaos-'))
    const world = await makeWorld({ folder, random, victims, isCluster })
    const stage = await setStage(world)
    const last = isCluster ? rounds : Math.min(number + ROUNDS_PER_HOME - 1, rounds)
    for (; number <= last; number++) if (!(await publish(world, stage, number, deaths))) return 1
    if (!(await leave(world))) return 1
    gaps = gaps.concat(world.gaps)
  }
  const told = [...deaths].map(([name, count]) => `${name} ${count}`).join(', ')
  const seconds = Math.round((Date.now() - started) / 1000)
  process.stdout.write(`${rounds} rounds of seed ${seed} are clean in ${seconds} s; killed: ${told}\n`)
  if (isCluster) process.stdout.write(`the next write came after ${(Math.max(...gaps) / 1000).toFixed(1)} s at most\n`)
  return 0
}

async function publish(world: World, stage: Stage, number: number, deaths: Map<string, number>): Promise<boolean> {
  const { kills, milliseconds, faults } = await playRound(world, stage, number)
  for (const name of kills) deaths.set(name, (deaths.get(name) ?? 0) + 1)
  const counts = `${world.refs.length} refs, ${world.files.length} files, ${world.receiver.hooks.length} hooks`
  const seconds = (milliseconds / 1000).toFixed(1)
  const verdict = faults.length === 0 ? 'clean' : `${faults.length} FAULTS`
  process.stdout.write(`round ${number}: ${verdict} in ${seconds} s, killed ${kills.join(' ')}; so far ${counts}\n`)
  if (faults.length === 0) return true
  writeFileSync(join(world.folder, 'up.log'), world.appliance.log())
  for (const fault of faults.slice(0, 50)) process.stdout.write(`  ${fault}\n`)
  process.stdout.write(`  the home stays in ${world.folder}, with the log in up.log; seed ${seed}\n`)
  await world.appliance.stop()
  await world.receiver.close()
  return false
}

/** Stops the appliance. Returns true when it exits with 0 and leaves no process. */
async function leave(world: World): Promise<boolean> {
  const code = await world.appliance.stop()
  await world.receiver.close()
  const left = processesOf(world.home)
  if (code === 0 && left.length === 0) {
    rmSync(world.folder, { recursive: true, force: true })
    return true
  }
  process.stdout.write(`the appliance ended with ${code} and left processes ${left.join(' ')}: ${world.folder}\n`)
  return false
}
