// Checks the machines that share the database.
import { listMachines, type MachineRow } from '../../cluster/machine-rows.js'
import { knownUids } from '../../cluster/machines.js'
import { listStorages } from '../../cluster/storage-rows.js'
import { storagesElsewhere } from '../../cluster/storages.js'
import { counted } from '../../lib/counted.js'
import { fullVersion } from '../../version.js'
import { Ailment, type Check } from './check.js'

/** Milliseconds. The row has the time when it was sent, so a slow statement makes a clock look slow. */
const LARGEST_OFFSET = 2000

export const machinesCheck: Check = {
  name: 'machines',
  about: 'every machine of the list renews its lease, runs this version, and has the right time',
  needs: 'rows',
  examine: async () => {
    const machines = await listMachines()
    // Other checks say whether the processes of this home run.
    const here = knownUids()
    const faults = machines.flatMap(machine => faultsOf(machine, here.includes(machine.uid)))
    if (faults.length === 0) return summary(machines)
    throw new Ailment(
      `${counted(faults.length, 'machine')} of ${machines.length} ${faults.length === 1 ? 'has' : 'have'} a fault`,
      'start a machine that is late, or remove it with gitstead machines forget; upgrade an old one; set a wrong clock with NTP',
      faults.slice(0, 20)
    )
  }
}

function summary(machines: readonly MachineRow[]): string {
  const living = machines.filter(({ lives }) => lives === 1)
  const drained = living.filter(({ drained_at }) => drained_at !== null)
  const named = drained.length === 0 ? '' : `; drained: ${drained.map(({ name }) => name).join(', ')}`
  return `${counted(living.length, 'machine')} running${named}`
}

/** Returns one line for a machine with faults, otherwise none. */
function faultsOf(machine: MachineRow, isHere: boolean): string[] {
  const said: string[] = []
  if (machine.lives === 0 && !isHere) said.push(`its lease ended at ${machine.lease_until.toISOString()}`)
  if (machine.lives === 1 && machine.version !== fullVersion)
    said.push(`it runs version ${machine.version}, and this is ${fullVersion}`)
  const offset = machine.clock_offset ?? 0
  if (machine.lives === 1 && Math.abs(offset) > LARGEST_OFFSET)
    said.push(
      `its clock is ${(Math.abs(offset) / 1000).toFixed(1)} s ${offset > 0 ? 'ahead of' : 'behind'} that of the database`
    )
  return said.length === 0 ? [] : [`${machine.name} (${machine.uid.slice(0, 8)}): ${said.join('; ')}`]
}

export const storagesCheck: Check = {
  name: 'storages',
  about: 'a machine owns every storage of repositories; the checks of repositories leave out those of other machines',
  needs: 'rows',
  examine: async () => {
    const storages = await listStorages()
    const without = storages.filter(({ machine }) => machine === null)
    if (without.length > 0)
      throw new Ailment(
        `no machine owns ${counted(without.length, 'storage')} of ${storages.length}: their projects answer 503`,
        'is the folder mounted? Start a machine that reaches it (gitstead storages list)',
        without.map(({ name, path }) => `${name}: ${path}`)
      )
    const others = storagesElsewhere()
    if (others.length > 0) return `not examined here: ${others.join(', ')}; run gitstead doctor on these machines, too`
    return storages.length === 0 ? 'not needed: cluster.address is not set' : `this machine owns all ${storages.length}`
  }
}
