import type { MachineView } from '../../areas/upkeep/machines/machine-states.js'
import { type Column, table } from './table.js'

/** Enough of an id to name the machine in commands. */
const SHOWN = 8

const shortId = ({ id }: { readonly id: string }): string => id.slice(0, SHOWN)

const COLUMNS: readonly Column<MachineView>[] = [
  ['ID', shortId],
  ['NAME', machine => machine.name],
  ['STATE', machine => machine.state],
  ['SERVER', machine => machine.server],
  ['WORKER', machine => machine.worker],
  ['JOBS', machine => machine.running_jobs],
  ['LOAD', ({ load_average: load, processors }) => (load === null ? null : `${load.toFixed(2)} of ${processors}`)],
  ['VERSION', machine => machine.version],
  ['ADDRESS', machine => machine.address],
  ['LEASE UNTIL', machine => machine.lease_until]
]

export const machineTable = (machines: readonly MachineView[]): string => table(machines, COLUMNS)

export const machineName = (machine: { readonly id: string; readonly name: string }): string =>
  `machine ${machine.name} (${shortId(machine)})`
