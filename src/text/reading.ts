// The way to read texts for everybody else: short texts immediately, long ones on a thread of their own.
import { createHash } from 'node:crypto'
import { publicUrl } from '../config.js'
import { lruOf } from '../lib/lru.js'
import { currentClient } from '../lib/request-scope.js'
import type { LinkBase } from './html.js'
import { SHORT_TEXT } from './markdown.js'
import { type ParsedText, parseText, type Reference } from './references.js'
import { Busy, TextThread } from './text-thread.js'
import { lengthOf, type Result, type Task, type TaskName, workOn } from './work.js'

/** The limit in seconds is ten times as long as the thread needs for the longest text. */
const thread = new TextThread(20)

/** A change reads a text before its transaction, in the transaction, and in its jobs. */
const parseOnce = readerOf<ParsedText>()
/** A mail has the same text for all its recipients. */
const renderOnce = readerOf<string>()

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
  return lengthOf(task) <= SHORT_TEXT ? workOn(task) : thread.run(task)
}
