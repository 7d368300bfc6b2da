// The containers and networks of builds at the engine, and their removal. All of them have labels that name their owner, so
// that what a killed worker or an unavailable engine left behind is found later. No label contains anything that a user wrote.
import { randomBytes } from 'node:crypto'
import { ask, askIfThere, EngineRefused, type Question } from './engine.js'

/** The owner of a build. */
export interface Owner {
  /** The appliance: several may share an engine. */
  readonly instance: string
  /** The worker, as the appliance counts them. */
  readonly worker: number
}

/** The key of one build's room. A repeated build gets another key. */
export interface RoomKey {
  readonly key: string
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
}

const INSTANCE = 'gitstead.instance'
const WORKER = 'gitstead.worker'
const ROOM = 'gitstead.room'

/** The open rooms of this process. */
const open = new Set<string>()

export function openRoom(build: number, { instance, worker }: Owner): RoomKey {
  const key = randomBytes(8).toString('hex')
  open.add(key)
  return {
    key,
    name: `gitstead-build-${build}-${key}`,
    labels: { [INSTANCE]: instance, [WORKER]: String(worker), [ROOM]: key, 'gitstead.build': String(build) }
  }
}

/** Removes everything that a room has at the engine. Throws when the engine fails; `removeLeftovers` then does it later. */
export async function closeRoom({ key }: RoomKey): Promise<void> {
  open.delete(key)
  await remove(await found(ROOM, key))
}

/**
 * Removes leftovers of rooms of this appliance from the engine: those of workers that are gone, and those of closed rooms of
 * this worker. Returns the number of containers and networks.
 */
export async function removeLeftovers(
  { instance, worker }: Owner,
  isGone: (worker: number) => boolean
): Promise<number> {
  const isLeft = ({ Labels }: Item) => {
    const owner = Number(Labels?.[WORKER])
    return owner === worker ? !open.has(Labels?.[ROOM] ?? '') : isGone(owner)
  }
  const { containers, networks } = await found(INSTANCE, instance)
  const left = { containers: containers.filter(isLeft), networks: networks.filter(isLeft) }
  await remove(left)
  return left.containers.length + left.networks.length
}

interface Item {
  readonly Id: string
  readonly Labels?: Readonly<Record<string, string>> | null
}

interface Found {
  readonly containers: readonly Item[]
  readonly networks: readonly Item[]
}

async function found(label: string, value: string): Promise<Found> {
  const filters = JSON.stringify({ label: [`${label}=${value}`] })
  const list = (path: string, query: Question['query']) =>
    ask<readonly Item[]>({ method: 'GET', path, query: query ?? {} })
  return {
    containers: await list('/containers/json', { all: 'true', filters }),
    networks: await list('/networks', { filters })
  }
}

/** Containers are removed first: the engine does not remove a network in use. */
async function remove({ containers, networks }: Found): Promise<void> {
  const outcomes = await Promise.allSettled(containers.map(({ Id }) => removeContainer(Id)))
  for (const { Id } of networks) await askOnce({ method: 'DELETE', path: `/networks/${Id}` })
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason
}

async function removeContainer(id: string): Promise<void> {
  // Some engines ask a container to stop before they remove it, and wait. A stopped container cannot be killed.
  await ask({ method: 'POST', path: `/containers/${id}/kill`, query: { signal: 'SIGKILL' } }).catch(() => undefined)
  await askOnce({ method: 'DELETE', path: `/containers/${id}`, query: { force: 'true', v: 'true' } })
}

/** Another process may remove it at the same time. */
async function askOnce(question: Question): Promise<void> {
  try {
    await askIfThere(question)
  } catch (error) {
    if (!(error instanceof EngineRefused && error.status === 409)) throw error
  }
}
