// What a thread can do with texts (thread.ts).
import { closedIssues, mayClose } from './closing-references.js'
import { highlightLines } from './highlight.js'
import { type LinkBase, markdownHtml } from './html.js'
import { pageHtml, type TextPieces } from './page-html.js'
import type { TextContext } from './page-links.js'
import { mayRefer, parseText } from './references.js'
import { withProject } from './rewrite-references.js'

/** `context` is a LinkBase as JSON. */
const toHtml = (text: string, context: string): string => markdownHtml(text, JSON.parse(context) as LinkBase)
/** `context` is a TextContext as JSON. */
const toPage = (text: string, context: string): TextPieces => pageHtml(text, JSON.parse(context) as TextContext)

const WORK = { parseText, closedIssues, withProject, toHtml, toPage, highlightLines } as const
const always = () => true
/** Returns false for a text that a task need not parse. */
const PARSES = {
  parseText: mayRefer,
  closedIssues: mayClose,
  withProject: always,
  toHtml: always,
  toPage: always,
  highlightLines: always
} as const

export type TaskName = keyof typeof WORK
export interface Task<Name extends TaskName = TaskName> {
  readonly name: Name
  readonly texts: readonly string[]
  /** The second argument, which is the same for all texts. */
  readonly context: string
}
/** The result for each text. */
export type Result<Name extends TaskName> = ReturnType<(typeof WORK)[Name]>[]

/** The number of characters that a task parses. */
export const lengthOf = ({ name, texts }: Task): number =>
  texts.reduce((sum, text) => sum + (PARSES[name](text) ? text.length : 0), 0)

export const workOn = <Name extends TaskName>({ name, texts, context }: Task<Name>): Result<Name> =>
  texts.map(text => WORK[name](text, context)) as Result<Name>
