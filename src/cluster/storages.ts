// Which machine owns each storage of repositories. Only the owner touches the files of a storage; other machines pass requests and
// jobs on to it. So caches that look at the times of files, locks of git and readers with open packs are right on any file system.
//
// The owner renews a lease in the time of the database. It stops before the lease ends; another machine that can reach the folder
// takes the storage over afterwards. Until a server with `cluster.address` has started, no storage has a row, and any process may
// touch all of them.
import { join } from 'node:path'
import { config } from '../config.js'
import { forgetWithPool } from '../db/connect/connection.js'
import { execute, row } from '../db/connect/sql.js'
import { NotHere, Unavailable } from '../errors.js'
import { log } from '../log.js'
import { hasEnded, isClockSteady, lives, rowsWithClock, SeenLeases } from './clock.js'
import { isDrained, machineUid } from './machines.js'
import { freeBytes, inFolder, makeMarker, readMarker } from './marker.js'
import { machine } from './this-machine.js'

/** Seconds. A storage is away for at most this long, and the time in which others notice, when its owner dies. */
const LEASE_S = 8
const RENEWED = `lease_seconds = ${LEASE_S}, lease_until = now(3) + interval ${LEASE_S} second`
const REFRESH_MS = 1000
/** The owner stops this long before its lease ends, so that no two machines ever use a storage at once. */
const MARGIN_MS = 2000
/** An owner that has not renewed its lease since the clock of the database has jumped stops within this time. */
const JUMP_MS = LEASE_S * 1000 - MARGIN_MS
/** A request waits this long for a storage that has no owner at the moment. */
const PATIENCE_MS = 20_000
const LOOK_AGAIN_MS = 100
/** Every process of this machine has read by then that the storage is about to move. */
const HAND_OVER_MS = 2 * REFRESH_MS
/** Changes of refs that take longer end without a result when their storage moves. */
const CHANGES_MS = 30_000

interface StorageRow {
  readonly id: number
  readonly name: string
  readonly path: string | null
  readonly marker: string
  readonly owner: string | null
  readonly wanted: string | null
  readonly epoch: number
  readonly free_bytes: number | null
  /** The time of the database. */
  readonly now: Date
  readonly lease_until: Date | null
  /** Milliseconds until the lease ends. */
  readonly left: number
  /** Whether the lease has not ended. */
  readonly lives: number
  readonly boot: string | null
  readonly address: string | null
  readonly machine: string | null
  readonly is_leaving: number
  /** Whether a worker has found out that the owner is gone. */
  readonly is_gone: number
  readonly is_given: number
}

export interface Storage {
  readonly id: number
  readonly name: string
  /** The folder of its repositories. */
  readonly path: string
  /** The text of the file that shows that the folder is the storage. */
  readonly marker: string
  readonly epoch: number
  readonly freeBytes: number | null
  /** The name of the machine that owns it; null when none does at the moment. */
  readonly machine: string | null
  /** Where the server of the owner answers other machines. */
  readonly address: string | null
  readonly isOurs: boolean
  /** In terms of `performance.now()`: until then, the processes of the owner may use the storage. */
  readonly usableUntil: number
}

/** What a process does when its machine begins or ends to own a storage. */
export interface StorageListener {
  taken(storage: Storage): void
  /** `isGiven`: another machine asked for the storage. Otherwise this one could not renew its lease. */
  lost(storage: Storage, isGiven: boolean): void
}

let view: ReadonlyMap<string, Storage> = new Map()
let others = new SeenLeases()
let reading: Promise<void> | undefined
let timer: NodeJS.Timeout | undefined
let listener: StorageListener | undefined
/** Whether other machines can reach the server in this process. */
let serves = false
/** The storages that this machine owns, as far as the listener knows. */
const held = new Map<string, { readonly storage: Storage; timer: NodeJS.Timeout }>()
/** When this server first read that a storage is wanted elsewhere. */
const leaving = new Map<string, number>()

forgetWithPool(() => {
  clearInterval(timer)
  for (const { timer } of held.values()) clearTimeout(timer)
  view = new Map()
  others = new SeenLeases()
  reading = undefined
  timer = undefined
  listener = undefined
  serves = false
  held.clear()
  leaving.clear()
})

/** The folder in which the repositories of a storage are, unless its row names another one. */
const usualPath = (name: string): string => join(config().home, 'repositories', name)

/** Returns the folder of a row. */
export const folderOf = ({ name, path }: { readonly name: string; readonly path: string | null }): string =>
  path ?? usualPath(name)

/** Returns all storages with rows, by name. */
export const knownStorages = (): readonly Storage[] => [...view.values()]

/** Returns the names of all storages: those of the configuration, and those with rows. */
export const storageNames = (): string[] => [...new Set([...config().repositories.storages, ...view.keys()])]

/** Whether this appliance has storages with owners. */
export const isCluster = (): boolean => view.size > 0

/** Whether this process may use the files of a storage now. */
export function holds(name: string): boolean {
  const storage = view.get(name)
  return storage === undefined || (storage.isOurs && performance.now() < storage.usableUntil)
}

/** Returns the storages of other machines, each with its machine for a person, such as `git2 (machine beta)`. */
export const storagesElsewhere = (): string[] =>
  [...view.values()].flatMap(({ name, machine }) =>
    holds(name) ? [] : [`${name} (${machine === null ? 'no machine at the moment' : `machine ${machine}`})`]
  )

/** Returns the folder of a storage. Throws NotHere when another machine owns the storage, or this one no longer does. */
export function storagePath(name: string): string {
  const storage = view.get(name)
  if (storage === undefined) return usualPath(name)
  if (!holds(name)) throw new NotHere(name, storage.isOurs ? null : storage.machine)
  return storage.path
}

/** Returns where the server of the owner answers; null when this machine is the owner, and undefined when none is at the moment. */
export function ownerNow(name: string): string | null | undefined {
  const storage = view.get(name)
  if (holds(name)) return null
  const isThere = storage && !storage.isOurs && performance.now() < storage.usableUntil
  return (isThere && storage.address) || undefined
}

/**
 * Returns where the server of the owner answers; null when this machine is the owner. Waits for a storage that has no owner at the
 * moment. Throws Unavailable after twenty seconds.
 */
export async function addressOfOwner(name: string): Promise<string | null> {
  for (const end = performance.now() + PATIENCE_MS; ; ) {
    const address = ownerNow(name)
    if (address !== undefined) return address
    if (performance.now() > end) throw new Unavailable(`no machine serves the storage ${name} at the moment`)
    await new Promise(resolve => setTimeout(resolve, LOOK_AGAIN_MS))
  }
}

/**
 * Fences a former owner: throws NotHere when a storage has got another owner since this process read it. `epoch` is that of its row, of
 * which the caller holds a lock until the end of its transaction, so that no machine takes the storage in between.
 */
export function requireEpoch(name: string, epoch: number | null): void {
  if (epoch !== null && (view.get(name)?.epoch !== epoch || !holds(name))) throw new NotHere(name)
}

/** The lanes of jobs that need a storage begin with its number times this; jobs without a known storage are below. */
export const LANES_OF_A_STORAGE = 2 ** 32

/** Whether a worker of this machine may take the jobs of a lane. */
export function mayTakeLane(lane: number): boolean {
  const id = Math.floor(lane / LANES_OF_A_STORAGE)
  return id === 0 || [...view.values()].every(storage => storage.id !== id || holds(storage.name))
}

/** Returns the lane of a job that turned out to need a storage. */
export function laneWith(name: string, lane: number): number {
  return (view.get(name)?.id ?? 0) * LANES_OF_A_STORAGE + (lane % LANES_OF_A_STORAGE)
}

/** Returns the first lanes of the storages that this machine owns, and 0 for jobs of no storage. */
export const ownLanes = (): readonly number[] => [
  0,
  ...[...view.values()].filter(({ name }) => holds(name)).map(({ id }) => id * LANES_OF_A_STORAGE)
]

/** Keeps the owners known until the pool closes: the processes of a machine use the storages that its server owns. */
export async function joinStorages(hears?: StorageListener): Promise<void> {
  listener = hears
  await refresh()
  clearInterval(timer)
  if (!isCluster() && config().cluster.address === null) return
  timer = setInterval(() => {
    // One at a time: the database or a folder may be slow.
    reading ??= refresh()
      .catch(error => log().warn({ error: String(error) }, 'the owners of storages could not be read'))
      .finally(() => {
        reading = undefined
      })
  }, REFRESH_MS)
  timer.unref()
}

/** Lets this server own storages, when it has a `cluster.address`. Call it as soon as it listens. */
export async function ownStorages(): Promise<void> {
  if (config().cluster.address === null) return
  serves = true
  await reading
  await refresh()
}

async function readRows(): Promise<StorageRow[]> {
  const found = await rowsWithClock<StorageRow>(
    `select s.id, s.name, s.path, s.marker, s.owner, s.wanted, s.epoch, s.free_bytes, now(3) as now,
       s.lease_until, timestampdiff(microsecond, now(3), s.lease_until) div 1000 as \`left\`,
       coalesce(${lives('s.lease_until')}, 0) as lives, m.boot, m.address, m.name as machine,
       m.drained_at is not null as is_leaving, coalesce(m.swept, 1) = 1 as is_gone,
       s.wanted is not null and s.wanted <> coalesce(s.owner, '') and exists (select 1 from machines w
         where w.uid = s.wanted and ${lives('w.server_until')} and w.drained_at is null) as is_given
     from storages s left join machines m on m.uid = s.owner order by s.id limit 1000`
  )
  others.note(
    found.flatMap(({ name, owner, boot, lease_until: end, lives, is_gone: isGone }) =>
      owner === null || end === null || boot === machine()
        ? []
        : [{ key: `${name}#${owner}`, end, ended: lives === 0, isOld: isGone === 1 }]
    )
  )
  return found
}

async function refresh(): Promise<void> {
  const began = performance.now()
  if (serves) await renew()
  let found = await readRows()
  if (serves && (await claim(found))) found = await readRows()
  show(found, began)
  if (serves) await handOver(found)
}

/** Renews the leases of the storages whose folders this machine still reaches. */
async function renew(): Promise<void> {
  for (const storage of view.values()) {
    const { name, id, path, marker, isOurs } = storage
    if (!isOurs) continue
    const free = await freeBytes(path, marker)
    if (free === undefined) {
      log().error(
        { storage: name, path },
        'the folder of a storage does not answer: is it mounted? Another machine may take it over'
      )
      continue
    }
    await execute(`update storages set ${RENEWED}, free_bytes = ? where id = ? and owner = ?`, [free, id, machineUid()])
  }
}

/** Takes storages that no machine owns and whose folder is here, and adds the rows of new ones. Returns whether there were any. */
async function claim(found: readonly StorageRow[]): Promise<boolean> {
  if (isDrained()) return false
  let changed = false
  for (const name of config().repositories.storages.filter(name => !found.some(one => one.name === name)))
    changed = (await addStorage(name, null)) || changed
  for (const storage of found) {
    const hasOwner = storage.owner !== null && (storage.lives === 1 || !isClockSteady(JUMP_MS))
    const isFree = !hasOwner || storage.owner === machineUid()
    // A machine that leaves gives its storages to the first other one that reaches them.
    const isOffered = storage.is_leaving === 1 && storage.wanted === null
    if (storage.wanted === machineUid() && storage.owner !== machineUid()) await refuseUnreachable(storage)
    if (storage.is_given === 1 && storage.lives === 1) continue
    if (storage.owner === machineUid() && storage.lives === 1) continue
    if (!(isFree || isOffered) || (await readMarker(folderOf(storage))) !== storage.marker) continue
    changed = (await (isFree ? take(storage) : want(storage))) || changed
  }
  return changed
}

async function take({ id, name, epoch, now }: StorageRow): Promise<boolean> {
  // The last condition holds unless another node of the database, with another clock, got this statement.
  const { affectedRows } = await execute(
    `update storages set owner = ?, wanted = null, epoch = epoch + 1, ${RENEWED}
     where id = ? and epoch = ? and (owner is null or owner = ? or ${hasEnded('lease_until')})
       and now(3) between ? and ? + interval ${LEASE_S} second`,
    [machineUid(), id, epoch, machineUid(), now, now]
  )
  if (affectedRows === 1) log().info({ storage: name, epoch: epoch + 1 }, 'this machine owns the storage now')
  return affectedRows === 1
}

/** A machine that was asked to take a storage whose folder it does not reach leaves it where it is. */
async function refuseUnreachable(storage: StorageRow): Promise<void> {
  const { id, name, marker } = storage
  const path = folderOf(storage)
  if ((await readMarker(path)) === marker) return
  log().warn({ storage: name, path }, 'this machine does not reach the storage that it should take')
  await execute('update storages set wanted = null where id = ? and wanted = ?', [id, machineUid()])
}

async function want({ id, epoch }: StorageRow): Promise<boolean> {
  const { affectedRows } = await execute(
    'update storages set wanted = ? where id = ? and epoch = ? and wanted is null',
    [machineUid(), id, epoch]
  )
  return affectedRows === 1
}

/**
 * Adds the row of a storage, owned by this machine, and makes its folder. Returns false when there is one with that name.
 * A folder keeps the marker that it has.
 */
export async function addStorage(name: string, path: string | null): Promise<boolean> {
  const folder = folderOf({ name, path })
  const marker = await inFolder(name, folder, () => makeMarker(folder))
  const { affectedRows } = await execute(
    `insert ignore into storages (name, path, marker, owner, lease_seconds, lease_until, created_at)
     values (?, ?, ?, ?, ?, now(3) + interval ? second, now(3))`,
    [name, path, marker, config().cluster.address === null ? null : machineUid(), LEASE_S, LEASE_S]
  )
  return affectedRows === 1
}

function show(found: readonly StorageRow[], began: number): void {
  const before = view
  view = new Map(
    found.map(one => {
      const isOurs = one.boot === machine() && one.is_given === 0
      const known = before.get(one.name)
      // After a jump of the clock, what was known before counts until the owner renews its lease.
      const isKnown = !isClockSteady(JUMP_MS) && known?.epoch === one.epoch
      const usableBefore = isKnown ? known.usableUntil : Number.NEGATIVE_INFINITY
      // The clock of this process may stand still for a while, so the time before the statement counts.
      const usableUntil = one.lives === 1 ? began + one.left - MARGIN_MS : usableBefore
      const path = folderOf(one)
      const { id, name, marker, epoch, free_bytes: freeBytes, machine: owner } = one
      // While a storage moves, requests wait for the new owner.
      const address = one.is_given === 1 ? null : one.address
      return [name, { id, name, path, marker, epoch, freeBytes, address, machine: owner, isOurs, usableUntil }]
    })
  )
  for (const storage of view.values()) if (holds(storage.name)) hold(storage)
  for (const [name, { storage }] of held) if (!holds(name)) lose(storage, view.get(name)?.isOurs === false)
}

function hold(storage: Storage): void {
  const known = held.get(storage.name)
  clearTimeout(known?.timer)
  // At the end of the lease nothing of this machine may still change the storage, even while the database does not answer.
  const end = setTimeout(() => lose(storage, false), Math.max(0, storage.usableUntil - performance.now()))
  end.unref()
  held.set(storage.name, { storage, timer: end })
  if (known?.storage.epoch !== storage.epoch) listener?.taken(storage)
}

function lose(storage: Storage, isGiven: boolean): void {
  clearTimeout(held.get(storage.name)?.timer)
  held.delete(storage.name)
  // A command only looks on.
  if (!listener) return
  const reason = isGiven
    ? 'another machine owns the storage now'
    : 'the lease of the storage was not renewed, so this machine must not use it'
  log().warn({ storage: storage.name }, reason)
  listener.lost(storage, isGiven)
}

/** Gives storages to the machines that want them, as soon as the changes of refs that this machine has begun are settled. */
async function handOver(found: readonly StorageRow[]): Promise<void> {
  for (const { id, name, owner, is_given: isGiven } of found) {
    if (isGiven === 0 || owner !== machineUid()) {
      leaving.delete(name)
      continue
    }
    const since = leaving.get(name) ?? performance.now()
    leaving.set(name, since)
    const waited = performance.now() - since
    if (waited < HAND_OVER_MS || (waited < CHANGES_MS && (await hasOpenChanges(name)))) continue
    await execute(
      `update storages set owner = wanted, wanted = null, epoch = epoch + 1, ${RENEWED}
       where id = ? and owner = ? and wanted is not null`,
      [id, machineUid()]
    )
  }
}

const hasOpenChanges = async (storage: string): Promise<boolean> =>
  (await row(
    `select 1 from ref_changes c join projects p on p.id = c.project_id
     where c.state = 'open' and c.process like concat(?, '#%') and p.storage = ? limit 1`,
    [machine(), storage]
  )) !== undefined
