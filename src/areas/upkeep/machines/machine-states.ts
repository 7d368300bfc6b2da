import type { MachineRow } from '../../../cluster/machine-rows.js'

/**
 * `late`: its lease has ended, so others do not wait for it; `lost`: others have taken over what it did; `draining`: it begins
 * nothing, but still holds something.
 */
export type MachineState = 'live' | 'draining' | 'drained' | 'late' | 'lost'

/** Whether a drained machine holds nothing that another one could take. A lost one holds nothing either. */
export const isDone = (machine: MachineRow): boolean =>
  machine.drained_at !== null &&
  (machine.is_over === 1 || (machine.knows === 1 && machine.jobs === 0 && machine.leaving_storages === null))

export function stateOf(machine: MachineRow): MachineState {
  if (machine.is_over === 1) return 'lost'
  if (machine.lives === 0) return 'late'
  if (machine.drained_at === null) return 'live'
  return isDone(machine) ? 'drained' : 'draining'
}

/** Returns what a machine holds that is not drained yet, for a person. */
export function holdingsOf({ jobs, knows, leaving_storages: leaving }: MachineRow): string {
  if (jobs > 0) return jobs === 1 ? '1 job' : `${jobs} jobs`
  if (leaving !== null) return `storages that other machines may take: ${leaving}`
  return knows === 1 ? 'nothing' : 'the right to begin work, until it renews its lease'
}

/** The machine as `machines list --json` shows it. */
export const viewMachine = (machine: MachineRow) => ({
  id: machine.uid,
  name: machine.name,
  state: stateOf(machine),
  server: machine.has_server === 1,
  worker: machine.has_worker === 1,
  address: machine.address,
  version: machine.version,
  processors: machine.processors,
  memory: machine.memory,
  load_average: machine.load_average,
  running_jobs: machine.jobs,
  storages: machine.storages?.split(', ') ?? [],
  clock_offset_ms: machine.clock_offset,
  started_at: machine.started_at,
  drained_at: machine.drained_at,
  lease_until: machine.lease_until
})

export type MachineView = ReturnType<typeof viewMachine>
