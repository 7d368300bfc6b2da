// The Docker executor of the built-in runner: scripts run in a container of the job's image at an existing engine.
// 1. The sandbox (sandbox.ts) makes the checkout and unpacks archives, as always. A tar archive, packed in the sandbox, carries
//    the project into the container, and back for artifacts. So nothing of this machine is mounted, users need no mapping, and
//    the engine may be on another machine. The same code packs the artifacts.
// 2. One container runs the script and after_script, with no log, no mounts and never privileges. `services` are more
//    containers on a network of this build only, which has access to other networks only with `runner.network`.
// 3. Values are in the environment of the containers: no label, name or log has them. The trace reads the attached stream.
// 4. The engine enforces the limits of memory and processes; watch.ts checks the disk and whether the engine still answers.
// 5. At the end, everything with the label of the build is removed; a worker removes leftovers later (leftovers.ts).
import { setTimeout as delay } from 'node:timers/promises'
import { config } from '../../config.js'
import { StageFailure } from '../stages.js'
import { canExport } from '../variables.js'
import { ask, connect, EngineRefused } from './engine.js'
import { contentOf } from './frames.js'
import type { Image } from './images.js'
import type { RoomKey } from './leftovers.js'
import { type Entry, type Owner, tarOf } from './tar.js'

/** The paths in the container; the same as in the sandbox. */
export const BUILDS = '/build'
export const PROJECT = '/build/project'
const STEP = '/build/step'
const OUT_OF_MEMORY = '/build/out-of-memory'

/** Capabilities that Docker grants and a build does not need: raw packets, device files, and writing to the audit log of the kernel. */
const DROPPED = ['NET_RAW', 'MKNOD', 'AUDIT_WRITE']
const BLOCK = 512
/** Milliseconds that the rest of the output may take after the container was killed. */
const REST_MS = 5000

/**
 * Runs the script in the best shell that the image has. The limits are set here, because an engine sets only limits that it
 * has itself. Both streams become one, because the engine does not keep the order of two. The first process stays, so that it
 * can report that the kernel ended another one for lack of memory: not every engine reports this.
 */
const startShell = (fileLimit: number) =>
  `exec 2>&1; ulimit -c 0; ulimit -f ${Math.floor(fileLimit / BLOCK)}; shell=sh
for found in /bin/bash /usr/bin/bash /usr/local/bin/bash; do if [ -x "$found" ]; then shell=$found; break; fi; done
"$shell" ${STEP}; code=$?
for file in /sys/fs/cgroup/memory.events /sys/fs/cgroup/memory/memory.oom_control; do
  if [ -r "$file" ]; then while read -r name count; do
    if [ "$name" = oom_kill ] && [ "$count" != 0 ]; then : >${OUT_OF_MEMORY}; fi
  done <"$file"; fi
done 2>/dev/null
exit $code`

export interface Wanted {
  readonly image: Image
  readonly entrypoint: readonly string[] | null
  readonly values: Map<string, string>
  /** The name of the network; null without one. */
  readonly network: string | null
}

/** Makes the container of the build, which does not run yet. */
export async function makeContainer(room: RoomKey, wanted: Wanted, hosts: readonly string[], signal: AbortSignal) {
  const { memory_limit: memory, file_limit } = config().runner
  const shell = ['sh', '-c', startShell(file_limit)]
  const { entrypoint } = wanted
  // An entrypoint of empty words means no entrypoint, and then nothing passes on the command.
  const start = entrypoint?.some(word => word !== '') === false ? { Entrypoint: shell, Cmd: [] } : { Cmd: shell }
  return createContainer(room, room.name, wanted, signal, {
    ...(entrypoint && { Entrypoint: entrypoint }),
    ...start,
    WorkingDir: PROJECT,
    HostConfig: { ...hostConfig(wanted.network, memory), ExtraHosts: hosts, LogConfig: { Type: 'none' } }
  })
}

/** Makes a container with the settings that all containers share. Throws EngineAway and EngineRefused. */
export async function createContainer(
  { labels }: RoomKey,
  name: string,
  { image, values, network }: Wanted,
  signal: AbortSignal,
  own: { readonly [key: string]: unknown },
  aliases: readonly string[] = []
): Promise<string> {
  const variables = [...values].filter(([key]) => canExport(key)).map(([key, value]) => `${key}=${value}`)
  const { Id } = await ask<{ Id: string }>({
    method: 'POST',
    path: '/containers/create',
    query: { name },
    signal,
    json: {
      Image: image.id,
      Env: variables.map(text => text.replaceAll('\0', '')),
      Labels: labels,
      Tty: false,
      OpenStdin: false,
      ...own,
      ...(network !== null && { NetworkingConfig: { EndpointsConfig: { [network]: { Aliases: aliases } } } })
    }
  })
  return Id
}

/** The settings for the engine; nothing that a user wrote gets in here. */
export function hostConfig(network: string | null, memory: number) {
  const { process_limit, docker } = config().runner
  return {
    NetworkMode: network ?? 'none',
    Privileged: false,
    CapDrop: DROPPED,
    IpcMode: 'private',
    Memory: memory,
    MemorySwap: memory,
    PidsLimit: process_limit,
    OomScoreAdj: 1000,
    ...(docker.cpus > 0 && { NanoCpus: Math.round(docker.cpus * 1e9) }),
    ...(docker.disk_quota && { StorageOpt: { size: String(config().runner.disk_limit) } })
  }
}

/** Writes small files and folders into a container, which need not be running. */
export async function writeInto(id: string, entries: readonly Entry[], owner: Owner, signal: AbortSignal) {
  await ask({
    method: 'PUT',
    path: `/containers/${id}/archive`,
    query: { path: '/' },
    tar: tarOf(entries, owner),
    signal
  })
}

export interface Step {
  readonly script: string
  readonly owner: Owner
  readonly output: (chunk: Buffer) => Promise<void>
  readonly signal: AbortSignal
}

/**
 * Runs a script in the container of the build and returns its exit code; undefined when `signal` ended it. No process of the
 * container is running any more when the promise settles.
 */
export async function runStep(id: string, { script, owner, output, signal }: Step): Promise<number | undefined> {
  await writeInto(id, [{ path: STEP.slice(1), content: script }], owner, signal)
  const query = { stream: 'true', stdout: 'true', stderr: 'true' }
  const stream = await connect({ method: 'POST', path: `/containers/${id}/attach`, query, signal })
  stream.on('error', () => undefined)
  let ended = false
  const end = async () => {
    const kill = ask({ method: 'POST', path: `/containers/${id}/kill`, query: { signal: 'SIGKILL' } })
    await kill.catch(() => undefined)
    await delay(REST_MS, undefined, { ref: false })
    if (!ended) stream.destroy()
  }
  signal.addEventListener('abort', end, { once: true })
  try {
    await startContainer(id, 'the container', signal)
    for await (const chunk of contentOf(stream)) await output(chunk)
    if (signal.aborted) return undefined
    // The stream may end before the script, if the script has closed its output.
    const query = { method: 'POST', path: `/containers/${id}/wait`, patient: true, signal } as const
    return (await ask<{ StatusCode: number }>(query)).StatusCode
  } catch (error) {
    if (signal.aborted) return undefined
    throw error
  } finally {
    ended = true
    signal.removeEventListener('abort', end)
    stream.destroy()
  }
}

/** Starts a container, which the trace calls `what`. Throws StageFailure when the engine refuses that. */
export async function startContainer(id: string, what: string, signal: AbortSignal): Promise<void> {
  try {
    await ask({ method: 'POST', path: `/containers/${id}/start`, signal })
  } catch (error) {
    if (!(error instanceof EngineRefused)) throw error
    // Usually the image lacks a shell, or the entrypoint does not exist.
    throw new StageFailure('script_failure', `${what} does not start: ${error.message}`)
  }
}

export interface ContainerRecord {
  readonly State: {
    readonly Running: boolean
    readonly OOMKilled?: boolean
    readonly Health?: { readonly Status?: string } | null
  }
  readonly SizeRw?: number
  readonly Mounts?: readonly { readonly Type: string; readonly Name?: string }[] | null
  readonly NetworkSettings: { readonly Networks?: Readonly<Record<string, { readonly IPAddress?: string }>> | null }
}

/** Returns true when the kernel ended processes of the container because they needed more memory than it may have. */
export async function ranOut(id: string): Promise<boolean> {
  if ((await lookAt(id)).State.OOMKilled) return true
  try {
    await ask({ method: 'HEAD', path: `/containers/${id}/archive`, query: { path: OUT_OF_MEMORY } })
    return true
  } catch (error) {
    if (error instanceof EngineRefused && error.status === 404) return false
    throw error
  }
}

export const lookAt = (id: string, signal?: AbortSignal, query: Record<string, string> = {}) =>
  ask<ContainerRecord>({ method: 'GET', path: `/containers/${id}/json`, query, signal })
