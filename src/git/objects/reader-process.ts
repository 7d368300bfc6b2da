// One `git cat-file --batch-command` process. It gets questions one after the other and answers them in order.

import { limitReached } from '../process/limits.js'
import { keepAlive } from '../process/pool.js'
import { GitFailure, GitLimit, spawnGit } from '../process/run.js'
import { type Answer, readAnswers } from './batch-answers.js'

export interface Asked {
  readonly command: 'info' | 'contents'
  readonly name: string
  readonly settle: (outcome: Outcome) => void
}

/**
 * `lost`: the process died; `first` was the question that it was working on, `later` was a question behind it.
 * `failed`: git cannot answer this question at all.
 */
type Outcome =
  | { readonly answer: Answer | null }
  | { readonly lost: 'first' | 'later' }
  | { readonly failed: GitFailure }

export interface Reader {
  readonly repository: string
  readonly isOpen: () => boolean
  readonly pending: () => number
  readonly ask: (command: Asked['command'], name: string) => Promise<Outcome>
  /** Ends the process after it has answered all pending questions. Settles when the process is gone. */
  readonly close: () => Promise<void>
}

/** Larger objects, in bytes, get their own process, because they would block the questions behind them. */
export const LARGE_OBJECT = 1024 * 1024

/**
 * The content of a large object is read and dropped up to this size. For a larger object, the process is ended. Not
 * measured: the size at which a new process is cheaper.
 */
const MOST_DROPPED = 16 * 1024 * 1024

// Milliseconds. An idle process ends after this time. A process that needs longer for one answer hangs and is killed.
const PATIENCE = 30_000

export interface ReaderEvents {
  /** Called each time after the process has answered the last waiting question. */
  readonly idle: () => void
  /** Called once, when the process has ended. */
  readonly gone: () => void
}

/** Starts a reader. Throws GitFailure when git cannot be started. */
export async function openReader(repository: string, events: ReaderEvents): Promise<Reader> {
  const child = await spawnGit(['cat-file', '--batch-command', '--buffer'], { repository, kind: 'helper' })
  const { stdin, stdout } = child
  const line: Asked[] = []
  let unsent: string[] = []
  let open = true
  /** Set when this code ended the process while git wrote a large object: no question is the cause. */
  let abandoned = false

  const timer = setTimeout(() => {
    if (line.length === 0) return void close()
    // The question is not repeated, because some damaged objects keep git busy forever.
    line.shift()?.settle({ failed: new GitFailure('git cat-file: no answer') })
    child.kill('SIGKILL')
  }, PATIENCE).unref()
  let complaint = ''
  child.stderr.on('data', chunk => {
    complaint = (complaint + String(chunk)).slice(0, 4096)
  })

  /**
   * Sends all questions of one turn of the event loop in one write, and git answers them together: twice the rate of
   * one flush for each question.
   */
  function send(): void {
    if (unsent.length === 0) return
    stdin.write(`${unsent.join('')}flush\n`)
    unsent = []
  }

  function ask(command: Asked['command'], name: string): Promise<Outcome> {
    return new Promise(settle => {
      if (!open) return settle({ lost: 'later' })
      if (line.length === 0) {
        timer.refresh()
        keepAlive(child, true)
      }
      line.push({ command, name, settle })
      if (unsent.length === 0) setImmediate(send)
      unsent.push(`${command} ${name}\n`)
    })
  }

  const answers = readAnswers(
    () => line[0]?.command === 'contents',
    answer => {
      const asked = line.shift()
      timer.refresh()
      asked?.settle({ answer })
      if (line.length > 0) return
      if (open) keepAlive(child, false)
      events.idle()
    },
    {
      content: LARGE_OBJECT,
      tooLarge: ({ size }) => {
        if (size <= MOST_DROPPED) return
        open = false
        abandoned = true
        child.kill('SIGKILL')
      }
    }
  )

  function close(): Promise<void> {
    if (open) {
      open = false
      keepAlive(child, true)
      setImmediate(() => stdin.end())
    }
    return ended
  }

  function lose(): void {
    open = false
    clearTimeout(timer)
    // The same question would reach the same limit again.
    const limit = limitReached(null, complaint, 'helper')
    if (limit !== undefined) line.shift()?.settle({ failed: new GitLimit(limit, complaint) })
    const innocent = abandoned || limit !== undefined
    const hopeless = complaint.includes('not a git repository')
    line.splice(0).forEach(({ settle }, index) => {
      if (hopeless) settle({ failed: new GitFailure(`git cat-file: ${complaint.trim()}`) })
      else settle({ lost: index === 0 && !innocent ? 'first' : 'later' })
    })
    events.gone()
  }

  stdout.on('data', (chunk: Buffer) => {
    try {
      answers.take(chunk)
    } catch {
      open = false
      child.kill('SIGKILL') // its answers no longer match the questions
    }
  })
  // Node emits `close` after this code has read the last answer of the process.
  const ended = new Promise<void>(resolve => {
    child.once('close', () => {
      lose()
      resolve()
    })
  })
  child.once('error', () => child.kill('SIGKILL'))
  keepAlive(child, false)
  return { repository, isOpen: () => open, pending: () => line.length, ask, close }
}
