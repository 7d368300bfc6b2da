// Kills parts of a cluster at random times, and starts them again, as a service manager or a sysadmin would. Splits the network between
// them, and heals it again.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Cluster } from './cluster.js'
import type { PartName } from './network.js'
import { tryAsk, type World } from './world.js'

interface Victim {
  readonly name: string
  /** The longest time until it starts again, in milliseconds. */
  readonly away?: number
  kill(): Promise<void>
  start(): Promise<void>
}

/** Milliseconds within which a part is killed, and those until it starts again. */
const WITHIN = 2000
const AWAY = 3000
/** The share of victims that are connections, and the longest time without one: longer than each lease. */
const SPLITS = 0.4
const SPLIT_AWAY = 15_000

/** Kills one or two parts, one after another: at most one node of the database is away at a time. */
export async function killInCluster(world: World, cluster: Cluster, kills: string[]): Promise<void> {
  for (let count = world.victims === 'writer' ? 1 : 1 + Math.floor(world.random() * 2); count > 0; count--) {
    await sleep(world.random() * WITHIN)
    const victim = world.victims === 'writer' ? await writerOf(cluster) : await pick(world, cluster)
    await victim.kill()
    const killed = performance.now()
    kills.push(victim.name)
    await Promise.all([
      sleep(world.random() * (victim.away ?? AWAY)).then(() => victim.start()),
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
  if (world.random() < SPLITS) return pickSplit(world, cluster)
  return (victims[Math.floor(world.random() * victims.length)] ?? (() => node))()
}

/** Cuts a part off from others, lets it lose a third of what it sends, or delays that. All processes continue. */
async function pickSplit({ random }: World, { rows, machines, network }: Cluster): Promise<Victim> {
  const writer = (await rows.writer()) as PartName
  const nodes = rows.nodes.map(({ name }) => name as PartName)
  const spare = nodes.find(name => name !== writer) ?? writer
  const [one, two] = random() < 0.5 ? machines : ([machines[1], machines[0]] as const)
  const others = (name: PartName) => nodes.filter(each => each !== name)
  const splits: readonly (readonly [PartName, readonly PartName[]])[] = [
    [writer, [...others(writer), 'haproxy']],
    [writer, others(writer)],
    [spare, [...others(spare), 'haproxy']],
    [one.name, ['haproxy']],
    [one.name, [two.name]],
    [one.name, ['haproxy', 'bucket', two.name]],
    [one.name, ['bucket']]
  ]
  const start = async () => {
    network.heal()
    await Promise.all(rows.nodes.map(node => node.inStep()))
  }
  const chance = random()
  if (chance < 0.5) {
    const troubled = ([writer, spare, one.name, 'bucket', 'haproxy'] as const)[Math.floor(random() * 5)] ?? writer
    if (chance < 0.25) {
      return { name: `slow-${troubled}`, away: SPLIT_AWAY, kill: () => network.delay(troubled), start }
    }
    return { name: `lossy-${troubled}`, away: SPLIT_AWAY, kill: async () => network.disturb(troubled, 0.3), start }
  }
  const [name, from] = splits[Math.floor(random() * splits.length)] ?? [spare, others(spare)]
  return { name: `${name}|${from.join('+')}`, away: SPLIT_AWAY, kill: async () => network.split(name, from), start }
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
  world.gaps.push(milliseconds)
  if (milliseconds > LONGEST_MS) world.wrongAnswers.push(`after the death of ${name} no write for ${milliseconds} ms`)
}
