// One `git cat-file --batch-command` process. Questions are sent as they come and answered in order.
import { type Answer, readAnswers } from './answers.js'
import { keepAlive } from './process-pool.js'
import { spawnGit } from './run.js'

export type Asked = { command: 'info' | 'contents'; name: string; settle: (outcome: Outcome) => void }

/** Lost: the process died; `first` was the one it was busy with, `later` stood behind. Failed: it never could answer. */
export type Outcome = { answer: Answer | null } | { lost: 'first' | 'later' } | { failed: string }

export type Reader = {
  repository: string
  isOpen: () => boolean
  pending: () => number
  ask: (command: Asked['command'], name: string) => Promise<Outcome>
  /** Answers what was asked, then ends; settles when the process is gone. */
  close: () => Promise<void>
}

// Idle for so long: it ends. Busy with one answer for so long: it hangs, and is killed.
const patience = 30_000

export type ReaderEvents = {
  /** Called whenever the last question has been answered. */
  idle: () => void
  /** Called once, when the process has ended. */
  gone: () => void
}

/** Starts a reader. Throws GitFailure when it cannot be started. */
export async function openReader(repository: string, events: ReaderEvents): Promise<Reader> {
  const child = await spawnGit(['cat-file', '--batch-command', '--buffer'], { repository })
  const { stdin, stdout } = child
  const line: Asked[] = []
  let unsent: string[] = []
  let open = true

  const timer = setTimeout(() => {
    if (line.length === 0) return void close()
    line.shift()?.settle({ failed: 'no answer' }) // not asked again: some damaged objects keep git busy for ever
    child.kill('SIGKILL')
  }, patience).unref()
  let complaint = ''
  child.stderr.on('data', chunk => {
    complaint = String(chunk).slice(0, 500)
  })

  /** Everything asked in one turn goes out in one write, and git answers it in one: 2x the rate of a flush for each. */
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
      if (unsent.length === 0) queueMicrotask(send)
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
    }
  )

  function close(): Promise<void> {
    if (open) {
      open = false
      keepAlive(child, true)
      queueMicrotask(() => stdin.end())
    }
    return ended
  }

  function lose(): void {
    open = false
    clearTimeout(timer)
    const hopeless = complaint.includes('not a git repository')
    line.splice(0).forEach(({ settle }, index) => {
      settle(hopeless ? { failed: complaint.trim() } : { lost: index === 0 ? 'first' : 'later' })
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
  // `close` comes after the last answer that the process gave has been read.
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
