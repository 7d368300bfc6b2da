// The way to read texts for everybody else: short texts immediately, long ones on a thread of their own. A text of 200,000
// characters takes up to half a second, during which this process could serve nobody else.
import { createHash } from 'node:crypto'
import { Worker } from 'node:worker_threads'
import { publicUrl } from '../config.js'
import { Unavailable } from '../errors.js'
import { Limiter } from '../lib/limiter.js'
import { lruOf } from '../lib/lru.js'
import { currentClient } from '../lib/request-scope.js'
import type { LinkBase } from './html.js'
import { SHORT_TEXT } from './markdown.js'
import { type ParsedText, parseText, type Reference } from './references.js'
import { lengthOf, type Result, type Task, type TaskName, workOn } from './work.js'

/** Seconds. Ten times as long as the thread needs for the longest text; it ends when a task takes longer. */
const LONGEST_S = 20
/** Milliseconds without a task after which the thread ends. It needs about 10 MiB. */
const IDLE = 30_000
const PROGRAM = new URL('thread.js', import.meta.url)
/** In MiB. No text needs more than 100. */
const MEMORY = { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 16 }

/** A text finds no place, or has waited too long for the thread. */
class Busy extends Unavailable {
  constructor() {
    super('Too many long texts are being read', 5)
  }
}

const busy = () => new Busy()
const turns = new Limiter({
  capacity: 1,
  queue: { capacity: 200, perClient: free => free / 2, full: busy },
  patience: { milliseconds: LONGEST_S * 1000, over: busy }
})

/** A change reads a text before its transaction, in the transaction, and in its jobs. */
const parseOnce = readerOf<ParsedText>()
/** A mail has the same text for all its recipients. */
const renderOnce = readerOf<string>()

let thread: Worker | undefined
let idle: NodeJS.Timeout | undefined

/** Returns the references and mentions of a text. Throws Unavailable when too many long texts wait. */
export async function readText(text: string, base = publicUrl()): Promise<ParsedText> {
  if (!isLong(text)) return parseText(text, base)
  return parseOnce(base, text, async () => {
    const [parsed] = await perform('parseText', [text], base)
    return parsed ?? { references: [], mentions: [] }
  })
}

/** Whether a text is read on the thread. */
export const isLong = (text: string): boolean => text.length > SHORT_TEXT

/** Does the same for many texts, which together may be long. */
export const readTexts = (texts: readonly string[]): Promise<ParsedText[]> => perform('parseText', texts, publicUrl())

/** Returns the issues that texts close, without repetitions within a text. Throws Unavailable. */
export const readClosedIssues = async (texts: readonly string[]): Promise<Reference[]> =>
  (await perform('closedIssues', texts, publicUrl())).flat()

/** Returns the texts with the path of their project before each reference without a path. Throws Unavailable. */
export const readWithProject = (texts: readonly string[], project: string): Promise<string[]> =>
  perform('withProject', texts, project)

/** Returns a Markdown text as HTML for a mail. Throws Unavailable. */
export function readHtml(text: string, base: LinkBase): Promise<string> {
  const context = JSON.stringify(base)
  return renderOnce(context, text, async () => {
    const [html = ''] = await perform('toHtml', [text], context)
    return html
  })
}

/** Returns a function that keeps the last results. While a text is being read, it reads it only once more for each other client. */
function readerOf<Value extends object | string>() {
  const done = lruOf<string, Value>(20)
  const begun = new Map<string, Promise<Value>>()
  return async (context: string, text: string, read: () => Promise<Value>): Promise<Value> => {
    const key = createHash('sha1').update(context).update('\0').update(text).digest('base64')
    // A reading waits in the share of its client, so other clients must not depend on it.
    const own = `${currentClient()} ${key}`
    const begin = () => {
      const reading = read().finally(() => begun.delete(own))
      begun.set(own, reading)
      return reading
    }
    for (const isAgain of [false, true]) {
      const found = done.get(key) ?? begun.get(own)
      if (found === undefined) break
      try {
        return await found
      } catch (error) {
        // It may have waited for longer than this call.
        if (isAgain || !(error instanceof Busy)) throw error
      }
    }
    const value = await begin()
    done.set(key, value)
    return value
  }
}

async function perform<Name extends TaskName>(
  name: Name,
  texts: readonly string[],
  context: string
): Promise<Result<Name>> {
  const task: Task<Name> = { name, texts, context }
  if (lengthOf(task) <= SHORT_TEXT) return workOn(task)
  return turns.run({ client: currentClient() }, () => onThread(task))
}

function onThread<Name extends TaskName>(task: Task<Name>): Promise<Result<Name>> {
  clearTimeout(idle)
  thread ??= new Worker(PROGRAM, { resourceLimits: MEMORY })
  const worker = thread
  worker.ref()
  return new Promise<Result<Name>>((resolve, reject) => {
    const fail = (error: Error) => {
      clearTimeout(clock)
      thread = undefined
      worker.terminate()
      reject(error)
    }
    const clock = setTimeout(() => fail(new Unavailable('a text takes too long to read')), LONGEST_S * 1000)
    worker.once('message', result => {
      clearTimeout(clock)
      worker.removeListener('error', fail)
      rest(worker)
      resolve(result)
    })
    worker.once('error', fail)
    worker.postMessage(task)
  })
}

function rest(worker: Worker): void {
  worker.unref()
  idle = setTimeout(() => {
    thread = undefined
    worker.terminate()
  }, IDLE).unref()
}
