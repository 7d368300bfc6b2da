// One worker process: it runs loops over the queues, renews its lease, finds dead processes and runs the schedule.

import { lookAfterBuilds } from '../areas/ci/runners/built-in.js'
import { builtInRunner, showBuiltInRunner } from '../areas/ci/runners/built-in-runner.js'
import { checkEngine, removeStaleContainers } from '../areas/ci/runners/containers.js'
import { addMissingWakeUps } from '../areas/ci/runners/wake-ups.js'
import { settleOpenChanges } from '../areas/code/refs/recovery.js'
import { useGitStarter } from '../areas/code/repository/git-starter.js'
import { joinRepositories } from '../areas/code/repository/owned-storages.js'
import { clearStaleLocks } from '../areas/code/repository/stale-locks.js'
import { hookLanes, mirrorLanes } from '../areas/ground/hooks/targets.js'
import { requireKey } from '../areas/ground/settings/encryption-key.js'
import { importLanes } from '../areas/projects/imports/fill-repository.js'
import { joinMachines, leaveMachines, markLost, requireClock } from '../cluster/machines.js'
import { config } from '../config.js'
import { closeDatabase } from '../db/connect/connection.js'
import { requireSchema } from '../db/schema/migrate.js'
import { closeGitProcesses } from '../git/repository/processes.js'
import { prepareHome } from '../home.js'
import { log } from '../log.js'
import { closeMail } from '../mail/transport.js'
import { compose } from '../product.js'
import { Tally } from '../queue/history.js'
import { QUEUES, type Queue } from '../queue/jobs.js'
import { reapProcesses, registerProcess, renewProcess, unregisterProcess } from '../queue/processes.js'
import { closeWake, listenForWake } from '../queue/wake.js'
import { removeStaleFolders } from '../runner/folders.js'
import { checkSandbox } from '../runner/sandbox.js'
import { perform } from './handlers.js'
import { Lookout } from './lookout.js'
import { Loop } from './loop.js'
import { startSchedule } from './schedule.js'

const RECOVER_MS = 5000
const WAKE_UPS_MS = 20_000
/** An engine that was unavailable may still have containers of builds that have ended. */
const CONTAINERS_MS = 60_000
const LOST_MACHINES_MS = 60_000
/** How often the record of the runner shows that a worker is running: often enough for a reader that counts by the hour. */
const SHOW_RUNNER_MS = 600_000
/** The lookout finds jobs that nobody woke a loop for. A loop polls itself this many times less often. */
const QUIET_POLLS = 120
/**
 * Milliseconds between two looks of an idle worker of the private database: every process that can add a job there can also wake
 * this worker. Other machines, which cannot, share an outside database.
 */
const IDLE_LOOK_MS = 5000
/** Node.js ends a longer timer at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1
/** Milliseconds that jobs have to end by themselves when the worker stops. */
const GRACE_MS = 5000

export interface Worker {
  /** Resolves when the worker has lost its lease and must stop. */
  readonly lost: Promise<void>
  stop(): Promise<void>
}

/** Starts a worker. Throws Misconfigured when builds cannot run with this configuration. */
export async function startWorker(): Promise<Worker> {
  compose()
  prepareHome()
  useGitStarter()
  await requireSchema()
  await requireKey({ makes: true })
  await requireClock()
  await joinMachines('worker')
  await joinRepositories()
  await reapProcesses()
  const queues = QUEUES.filter(queue => config().queue.concurrency[queue] > 0)
  if (queues.includes('builds')) {
    await checkSandbox()
    checkEngine()
    await removeStaleFolders()
    await builtInRunner()
    await showBuiltInRunner()
  }
  const concurrency = queues.reduce((sum, queue) => sum + config().queue.concurrency[queue], 0)
  const processId = await registerProcess({ queues, concurrency })
  // The engine may be slow, and no job waits for it.
  const cleaned = queues.includes('builds')
    ? removeStaleContainers(processId).catch(error => log().warn({ error: String(error) }, 'old containers may remain'))
    : undefined
  const tally = new Tally(processId)
  const loops = new Map(
    queues.map(queue => [
      queue,
      new Loop({
        queue,
        processId,
        concurrency: config().queue.concurrency[queue],
        pollInterval: Math.min(config().queue.poll_interval * 1000 * QUIET_POLLS, LONGEST_TIMER_MS),
        ...(queue === 'hooks' && { lanes: hookLanes(config().queue.concurrency.hooks) }),
        ...(queue === 'mirrors' && { lanes: mirrorLanes(config().queue.concurrency.mirrors) }),
        ...(queue === 'imports' && { lanes: importLanes(config().queue.concurrency.imports) }),
        run: (job, signal) => perform(job, { signal, processId }),
        ended: (count, failed) => {
          tally.add(queue, count, failed)
          lookout.soon()
        }
      })
    ])
  )
  const least = config().queue.poll_interval * 1000
  const lookout = new Lookout({
    loops,
    least,
    most: config().database.url === null ? Math.max(least, IDLE_LOOK_MS) : least
  })
  const stopListening = await listenForWake(processId, queue => {
    lookout.soon()
    if (queue !== 'delayed') loops.get(queue)?.wake()
    if (queue === 'builds') lookAfterBuilds()
  })
  const leaving = new AbortController()
  const locks = new LockSearch(leaving.signal)
  const chores = startChores(processId, loops, tally, locks)
  const stopSchedule = startSchedule()
  locks.begin()
  for (const loop of loops.values()) loop.wake()
  log().info({ processId, queues }, 'worker ready')
  return {
    lost: chores.lost,
    stop: async () => {
      stopListening()
      await stopSchedule()
      await Promise.all([...loops.values()].map(loop => loop.stop(GRACE_MS)))
      await lookout.stop()
      await chores.stop()
      leaving.abort()
      await locks.ended()
      await cleaned
      const goodBye = tally.write().then(() => unregisterProcess(processId))
      await goodBye.catch(error => log().warn({ error: String(error) }, 'the worker could not remove its registration'))
      closeMail()
      closeWake()
      await closeGitProcesses()
      await leaveMachines().catch(() => undefined)
      await closeDatabase()
    }
  }
}

/** Searches for old locks take a while with many repositories. They run one after another, and no job waits for them. */
class LockSearch {
  private running = Promise.resolve()

  constructor(private readonly signal: AbortSignal) {}

  begin(): void {
    this.running = this.running
      .then(async () => void (await clearStaleLocks(undefined, this.signal)))
      .catch(error => log().warn({ error: String(error) }, 'looking for old locks failed'))
  }

  ended(): Promise<void> {
    return this.running
  }
}

/** Starts the repeated work of a worker besides its jobs. */
function startChores(
  processId: number,
  loops: Map<Queue, Loop>,
  tally: Tally,
  locks: LockSearch
): { lost: Promise<void>; stop(): Promise<void> } {
  let loseLease: () => void = () => undefined
  const lost = new Promise<void>(resolve => (loseLease = resolve))
  const all = [...loops.values()]
  const timers = [
    every((config().queue.lease * 1000) / 4, 'renewing the lease', async () => {
      if (await renewProcess(processId)) return tally.write()
      for (const loop of all) loop.abort('the lease of this worker was lost')
      loseLease()
    }),
    every(RECOVER_MS, 'recovering', async () => {
      if ((await reapProcesses(processId)).length > 0) for (const loop of all) loop.wake()
      await settleOpenChanges()
    }),
    every(LOST_MACHINES_MS, 'looking for lost machines', async () => {
      if (await markLost()) locks.begin()
    }),
    every(WAKE_UPS_MS, 'adding wake-ups for builds', async () => void (await addMissingWakeUps()))
  ]
  if (loops.has('builds')) {
    timers.push(every(SHOW_RUNNER_MS, 'showing the runner', showBuiltInRunner))
    timers.push(every(CONTAINERS_MS, 'removing old containers', () => removeStaleContainers(processId)))
  }
  return {
    lost,
    stop: async () => {
      await Promise.all(timers.map(stop => stop()))
    }
  }
}

/**
 * Runs `work` repeatedly with a pause in between, never twice at the same time. It logs a failure and tries again after
 * the pause. Returns a function that stops this and waits for the running work.
 */
function every(milliseconds: number, what: string, work: () => Promise<void>): () => Promise<void> {
  let timer: NodeJS.Timeout
  let running = Promise.resolve()
  let stopped = false
  const again = () => {
    if (!stopped) timer = setTimeout(run, milliseconds)
  }
  const run = () => {
    running = work()
      .catch(error => log().warn({ error: String(error) }, `${what} failed`))
      .then(again)
  }
  again()
  return () => {
    stopped = true
    clearTimeout(timer)
    return running
  }
}
