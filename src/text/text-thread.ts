// A thread for long texts: a text of 200,000 characters takes up to half a second, during which this process could serve nobody
// else. The thread has one task at a time, and clients take turns.
import { Worker } from 'node:worker_threads'
import { Unavailable } from '../errors.js'
import { Limiter } from '../lib/limiter.js'
import { currentClient } from '../lib/request-scope.js'
import type { Result, Task, TaskName } from './work.js'

/** Milliseconds without a task after which the thread ends. It needs about 10 MiB. */
const IDLE = 30_000
const PROGRAM = new URL('thread.js', import.meta.url)
/** In MiB. No text needs more than 100. */
const MEMORY = { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 16 }
/** Seconds for which a task waits for its turn. */
const PATIENCE_S = 20

/** A text finds no place, or has waited too long for the thread. */
export class Busy extends Unavailable {
  constructor() {
    super('Too many long texts are being read', 5)
  }
}

const busy = () => new Busy()

export class TextThread {
  readonly #turns = new Limiter({
    capacity: 1,
    queue: { capacity: 200, perClient: free => free / 2, full: busy },
    patience: { milliseconds: PATIENCE_S * 1000, over: busy }
  })
  #thread: Worker | undefined
  #idle: NodeJS.Timeout | undefined

  /** The thread ends when a task takes longer than this many seconds. */
  constructor(private readonly longest: number) {}

  /** Throws Busy, and Unavailable when the task takes too long. */
  run<Name extends TaskName>(task: Task<Name>): Promise<Result<Name>> {
    return this.#turns.run({ client: currentClient() }, () => this.#perform(task))
  }

  #perform<Name extends TaskName>(task: Task<Name>): Promise<Result<Name>> {
    clearTimeout(this.#idle)
    this.#thread ??= new Worker(PROGRAM, { resourceLimits: MEMORY })
    const worker = this.#thread
    worker.ref()
    return new Promise<Result<Name>>((resolve, reject) => {
      const fail = (error: Error) => {
        clearTimeout(clock)
        this.#thread = undefined
        worker.terminate()
        reject(error)
      }
      const clock = setTimeout(() => fail(new Unavailable('a text takes too long to read')), this.longest * 1000)
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
