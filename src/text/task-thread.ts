// A thread for calculations that take so long that this process could serve nobody else. It has one task at a time, and clients take
// turns. It starts with the first task, and ends when it has been idle.
import { Worker } from 'node:worker_threads'
import { Unavailable } from '../errors.js'
import { Limiter } from '../lib/limiter.js'
import { currentClient } from '../lib/request-scope.js'

/** Milliseconds without a task after which the thread ends. */
const IDLE = 30_000
/** In MiB. No task needs more than 100. */
const MEMORY = { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 16 }
/** Seconds for which a task waits for its turn. */
const PATIENCE_S = 20

export interface Work {
  readonly program: URL
  /** The thread ends when a task takes longer than this many seconds. */
  readonly longest: number
  /** The text of the error then. */
  readonly tooLong: string
  /** The error of a task that finds no place, or has waited too long for its turn. */
  readonly busy: () => Unavailable
}

export class TaskThread<Task, Result> {
  readonly #turns: Limiter
  #thread: Worker | undefined
  #idle: NodeJS.Timeout | undefined

  constructor(private readonly work: Work) {
    this.#turns = new Limiter({
      capacity: 1,
      queue: { capacity: 200, perClient: free => free / 2, full: work.busy },
      patience: { milliseconds: PATIENCE_S * 1000, over: work.busy }
    })
  }

  /** Throws the error of a busy thread, and Unavailable when the task takes too long. */
  run(task: Task): Promise<Result> {
    return this.#turns.run({ client: currentClient() }, () => this.#perform(task))
  }

  #perform(task: Task): Promise<Result> {
    clearTimeout(this.#idle)
    this.#thread ??= new Worker(this.work.program, { resourceLimits: MEMORY })
    const worker = this.#thread
    worker.ref()
    return new Promise<Result>((resolve, reject) => {
      const fail = (error: Error) => {
        clearTimeout(clock)
        this.#thread = undefined
        worker.terminate()
        reject(error)
      }
      const clock = setTimeout(() => fail(new Unavailable(this.work.tooLong)), this.work.longest * 1000)
      worker.once('message', result => {
        clearTimeout(clock)
        worker.removeListener('error', fail)
        this.#rest(worker)
        resolve(result)
      })
      worker.once('error', fail)
      worker.postMessage(task)
    })
  }

  #rest(worker: Worker): void {
    worker.unref()
    this.#idle = setTimeout(() => {
      this.#thread = undefined
      worker.terminate()
    }, IDLE).unref()
  }
}
