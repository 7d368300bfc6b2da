// A control group (cgroup v2) for each build, where the service manager has delegated a group to the appliance. Then the
// kernel itself limits the memory of the whole build, and a build that grows fast cannot pass its limit between two checks.
// The watch (watch.ts) still runs as well, because most machines have no delegated group.
//
// Not specified: groups of cgroup v1 are not used. A service manager cannot delegate them safely, so the group in which this
// process runs belongs to the program that started it.
import { mkdir, readFile, rmdir, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'

/** The group of the appliance's own processes, in the delegated group: `DelegateSubgroup=appliance` of systemd. */
const OWN = 'appliance'
const NEEDED = ['memory', 'pids']

export interface Group {
  /** Returns true when the kernel has ended processes of the group because they needed more memory. */
  ranOut(): Promise<boolean>
  remove(): Promise<void>
}

export interface GroupLimits {
  readonly memory: number
  readonly processes: number
}

/**
 * Returns the folder of the delegated group, or undefined. A group may have either processes or groups with limits, so the
 * processes of the appliance must be in a subgroup. Its name shows that the delegation is meant for builds: root may write to
 * any group. `proc` is /proc/self.
 */
export async function delegatedGroup(proc = '/proc/self'): Promise<string | undefined> {
  const read = (name: string) => readFile(name, 'utf8').catch(() => '')
  const own = /^0::(\/.*)$/m.exec(await read(join(proc, 'cgroup')))?.[1]
  const mounts = (await read(join(proc, 'mountinfo'))).split('\n')
  const mount = mounts.find(line => line.includes(' - cgroup2 '))?.split(' ')[4]
  if (own === undefined || mount === undefined || basename(own) !== OWN) return undefined
  const folder = join(mount, dirname(own))
  const controllers = (await read(join(folder, 'cgroup.controllers'))).trim().split(' ')
  if (!NEEDED.every(name => controllers.includes(name))) return undefined
  const control = join(folder, 'cgroup.subtree_control')
  const on = NEEDED.map(name => `+${name}`).join(' ')
  return writeFile(control, on, { flag: 'r+' }).then(
    () => folder,
    () => undefined
  )
}

/**
 * Makes a group with these limits for one process and everything that it starts. Returns undefined when the kernel refuses;
 * then only the watch enforces the limits.
 */
export async function enterGroup(parent: string, pid: number, limits: GroupLimits): Promise<Group | undefined> {
  const folder = join(parent, `build-${pid}`)
  const set = (name: string, value: number) => writeFile(join(folder, name), String(value))
  const group: Group = {
    ranOut: async () => {
      const events = await readFile(join(folder, 'memory.events'), 'utf8').catch(() => '')
      return /^oom_kill [1-9]/m.test(events)
    },
    remove: () => rmdir(folder).catch(() => undefined)
  }
  try {
    await mkdir(folder)
    await set('memory.max', limits.memory)
    await set('memory.oom.group', 1)
    await set('pids.max', limits.processes)
    // A kernel without swap does not have this file.
    await set('memory.swap.max', 0).catch(() => undefined)
    await set('cgroup.procs', pid)
    return group
  } catch {
    await group.remove()
    return undefined
  }
}
