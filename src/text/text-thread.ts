// A thread for long texts: a text of 200,000 characters takes up to half a second.
import { Unavailable } from '../errors.js'
import { TaskThread } from './task-thread.js'
import type { Result, Task, TaskName } from './work.js'

/** A text finds no place, or has waited too long for the thread. */
export class Busy extends Unavailable {
  constructor() {
    super('Too many long texts are being read', 5)
  }
}

export class TextThread {
  readonly #thread: TaskThread<Task, Result<TaskName>>

  /** The thread ends when a task takes longer than this many seconds. */
  constructor(longest: number) {
    this.#thread = new TaskThread({
      program: new URL('thread.js', import.meta.url),
      longest,
      tooLong: 'a text takes too long to read',
      busy: () => new Busy()
    })
  }

  /** Throws Busy, and Unavailable when the task takes too long. */
  run<Name extends TaskName>(task: Task<Name>): Promise<Result<Name>> {
    return this.#thread.run(task) as Promise<Result<Name>>
  }
}
