// Kills parts of a cluster at random times, and starts them again, as a service manager or a sysadmin would.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Cluster } from './cluster.js'
import { tryAsk, type World } from './world.js'

interface Victim {
  readonly name: string
  kill(): Promise<void>
  start(): Promise<void>
}

/** Milliseconds within which a part is killed, and those until it starts again. */
const WITHIN = 2000
const AWAY = 3000

/** Kills one or two parts, one after another: at most one node of the database is away at a time. */
export async function killInCluster(world: World, cluster: Cluster, kills: string[]): Promise<void> {
  for (let count = world.victims === 'writer' ? 1 : 1 + Math.floor(world.random() * 2); count > 0; count--) {
    await sleep(world.random() * WITHIN)
    const victim = world.victims === 'writer' ? await writerOf(cluster) : await pick(world, cluster)
    await victim.kill()
    const killed = performance.now()
    kills.push(victim.name)
    await Promise.all([
      sleep(world.random() * AWAY).then(() => victim.start()),
      untilWritten(world).then(() => noteGap(world, victim.name, performance.now() - killed))
    ])
  }
}

async function writerOf({ rows }: Cluster): Promise<Victim> {
  const name = await rows.writer()
  const node = rows.nodes.find(each => each.name === name)
  if (!node) throw new Error(`haproxy leads to ${name}`)
  return { name: 'writer', kill: node.kill, start: node.start }
}

async function pick(world: World, cluster: Cluster): Promise<Victim> {
  const { rows, bucket, machines } = cluster
  const machine = machines[world.random() < 0.5 ? 0 : 1]
  const node = rows.nodes[Math.floor(world.random() * 3)] ?? rows.nodes[0]
  const victims: readonly (() => Victim | Promise<Victim>)[] = [
    () => writerOf(cluster),
    () => node,
    () => machine.server,
    () => machine.worker,
    () => machine,
    () => bucket,
    () => rows.proxy
  ]
  return (victims[Math.floor(world.random() * victims.length)] ?? (() => node))()
}

/** Waits until the appliance takes a write, which changes nothing that the checks look at. */
async function untilWritten(world: World): Promise<void> {
  const path = `/projects/${world.projects[0]?.id}/labels`
  while (world.wrongAnswers.length === 0) {
    const label = { name: `l${world.random()}`, color: '#112233' }
    if ((await tryAsk(world, 'POST', path, label))?.status === 201) return
    await sleep(50)
  }
}

/** Only a fault takes this long; the docs promise ten seconds on a machine that has other work as well. */
const LONGEST_MS = 30_000

function noteGap(world: World, name: string, milliseconds: number): void {
  process.stdout.write(`  ${name} killed: the next write after ${(milliseconds / 1000).toFixed(1)} s\n`)
  if (milliseconds > LONGEST_MS) world.wrongAnswers.push(`after the death of ${name} no write for ${milliseconds} ms`)
}
