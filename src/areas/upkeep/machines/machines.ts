// What a sysadmin can do with the machines of the appliance. Each change writes to the audit log in the same transaction.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Origin } from '../../../access/actor.js'
import { deleteRow, drainRow, listMachines, type MachineRow } from '../../../cluster/machine-rows.js'
import { transact } from '../../../db/connect/transact.js'
import { Conflict, Failure, NoSuch } from '../../../errors.js'
import { audit } from '../../ground/audit/audit.js'
import { holdingsOf, isDone, stateOf } from './machine-states.js'

/** An id may be shortened to this many characters, if it stays unique. */
const SHORTEST = 4
const LOOK_MS = 1000

/** Returns the machine with this id, beginning of an id, or name. Throws NoSuch, and Conflict when there are several. */
export async function requireMachine(named: string): Promise<MachineRow> {
  const all = await listMachines()
  const exact = all.filter(({ uid }) => uid === named)
  const matching = exact.length > 0 ? exact : all.filter(({ uid, name }) => name === named || isShortFor(named, uid))
  // A boot within a lease leaves a second row of the same name for a while.
  const running = matching.filter(({ is_over: isOver }) => isOver === 0)
  const found = running.length > 0 ? running : matching
  const [first, second] = found
  if (!first) throw new NoSuch('machine', named)
  if (second) throw new Conflict(`${found.length} machines are called ${named}: name one by its id`)
  return first
}

const isShortFor = (text: string, uid: string) => text.length >= SHORTEST && uid.startsWith(text)

/**
 * Drains a machine: its worker finishes what it holds and begins nothing, its server answers 503 to checks of its readiness, and
 * its storages move to others. Throws NoSuch.
 */
export const drainMachine = (named: string, origin: Origin): Promise<MachineRow> => change(named, true, origin)

/** Ends the drain of a machine. Throws NoSuch. */
export const undrainMachine = (named: string, origin: Origin): Promise<MachineRow> => change(named, false, origin)

async function change(named: string, drained: boolean, origin: Origin): Promise<MachineRow> {
  const machine = await requireMachine(named)
  await transact(async () => {
    if (!(await drainRow(machine.uid, drained))) return
    await audit(origin, { action: drained ? 'machine.drain' : 'machine.undrain', target: targetOf(machine) })
  })
  return requireMachine(machine.uid)
}

/**
 * Waits until a drained machine holds nothing. `onWait` hears what it still holds, whenever that changes. Throws Failure after
 * `seconds`, and Conflict when somebody ends the drain.
 */
export async function whenDrained(
  { uid, name }: MachineRow,
  { seconds, onWait }: { seconds: number; onWait: (holds: string) => void }
): Promise<MachineRow> {
  let told = ''
  for (const end = performance.now() + seconds * 1000; ; ) {
    const machine = await requireMachine(uid)
    if (isDone(machine)) return machine
    if (machine.drained_at === null) throw new Conflict(`machine ${name} is not drained any more`)
    const holds = holdingsOf(machine)
    if (performance.now() > end) throw new Failure(`machine ${name} still holds ${holds} after ${seconds} s`)
    if (holds !== told) onWait(holds)
    told = holds
    await sleep(LOOK_MS)
  }
}

/** What no machine does any more, because all that could are drained or away, each as a sentence for a person. */
export async function partsWithoutMachine(): Promise<string[]> {
  const ready = (await listMachines()).filter(machine => stateOf(machine) === 'live')
  return [
    ...(ready.some(({ has_server: has }) => has === 1) ? [] : ['no server is left that a proxy sends new requests to']),
    ...(ready.some(({ has_worker: has }) => has === 1) ? [] : ['no worker is left that begins jobs'])
  ].map(text => `${text}: machines undrain lets a machine begin work again`)
}

/** Throws NoSuch, and Conflict when processes of the machine may still run. */
export async function requireForgettable(named: string): Promise<MachineRow> {
  const machine = await requireMachine(named)
  if (machine.is_over === 0) throw mayRun(machine)
  return machine
}

/** Removes the row of a machine that does not run any more. Throws NoSuch and Conflict. */
export async function forgetMachine(named: string, origin: Origin): Promise<MachineRow> {
  const machine = await requireForgettable(named)
  await transact(async () => {
    if (!(await deleteRow(machine.uid))) throw mayRun(machine)
    await audit(origin, { action: 'machine.forget', target: targetOf(machine) })
  })
  return machine
}

function mayRun(machine: MachineRow): Conflict {
  const { name, lease_until: end, has_server: server, has_worker: worker } = machine
  return new Conflict(
    stateOf(machine) === 'late' || server + worker === 0
      ? `machine ${name} may still run: try again a lease after ${end.toISOString()}, the end of its lease`
      : `machine ${name} runs: stop its server and its worker first`
  )
}

const targetOf = ({ uid, name }: MachineRow) => ({ type: 'machine', id: uid, name })
