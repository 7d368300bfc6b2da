// Finds the references of a text: issues, merge requests, labels, milestones, snippets, commits and people. It does not know
// which of them exist. The expressions are bounded, so that the time grows only with the length of the text.
import { type Passage, passagesOf } from './markdown.js'

type ReferenceKind = 'issue' | 'merge_request' | 'snippet' | 'commit' | 'label' | 'milestone'

export interface Reference {
  readonly kind: ReferenceKind
  /** NAMESPACE/PROJECT; null for the project of the text. */
  readonly project: string | null
  /** The number within the project, the id of a snippet, the id of a commit or its beginning, or a name. */
  readonly name: string
}

export interface ParsedText {
  readonly references: readonly Reference[]
  /** Names of users and groups, without the `@`, in the order of the text. */
  readonly mentions: readonly string[]
}

/** How many different references and mentions of one text are read. */
export const MOST_REFERENCES = 1000
export const MOST_MENTIONS = 10_000

const URLS = /(?<![\p{L}\p{N}_])https?:\/\/[^\s<>"'`\ufffc]{1,2000}/gu
const PATH = '[A-Za-z0-9_.][\\w.-]{0,254}\\/[A-Za-z0-9_.][\\w.-]{0,254}'
const BEFORE = '(?<![\\p{L}\\p{N}_./-])'
const SIGILS: { readonly [sigil: string]: ReferenceKind } = { '#': 'issue', '!': 'merge_request', $: 'snippet' }
const NUMBERED = new RegExp(`${BEFORE}(${PATH})?([#!$])(\\d{1,10})(?![\\p{L}\\p{N}_])`, 'gu')
const NAMED = new RegExp(
  `${BEFORE}(${PATH})?([~%])(?:"([^"\\n\\ufffc]{1,255})"|([\\p{L}\\p{N}_][\\p{L}\\p{N}_?.&:-]{0,254}))`,
  'gu'
)
const COMMITS = new RegExp(`(?<![\\p{L}\\p{N}_./#!$~%@-])(?:(${PATH})@)?([0-9a-f]{7,40})(?![\\p{L}\\p{N}_@/-])`, 'gu')
const MENTIONS = /(?<![\p{L}\p{N}_/])@([A-Za-z0-9_](?:[\w.-]{0,253}\w)?)(?![\p{L}\p{N}_])/gu

/** Whether a text can contain references: most notes do not, and are not parsed. */
export const mayRefer = (text: string): boolean => /[#!$~%@]|https?:\/\/|[0-9a-f]{7}/.test(text)

/** Returns the references and mentions of a text. `base` is the URL of the appliance, for references by URL. */
export function parseText(text: string, base: string): ParsedText {
  if (!mayRefer(text)) return { references: [], mentions: [] }
  const references = new Map<string, Reference>()
  const mentions = new Map<string, string>()
  for (const passage of passagesOf(text)) {
    for (const found of referencesIn(passage, base)) {
      if (references.size < MOST_REFERENCES) references.set(keyOf(found), found)
    }
    for (const { reference: name } of placedMentions(passage.text)) {
      if (mentions.size < MOST_MENTIONS && !mentions.has(name.toLowerCase())) mentions.set(name.toLowerCase(), name)
    }
  }
  return { references: [...references.values()], mentions: [...mentions.values()] }
}

export const keyOf = ({ kind, project, name }: Reference): string => `${kind} ${project?.toLowerCase() ?? ''} ${name}`

/** Replaces URLs by spaces, so that positions stay correct. */
const withoutUrls = (text: string) => text.replace(URLS, url => ' '.repeat(url.length))

function* referencesIn({ text }: Passage, base: string): Generator<Reference> {
  for (const [url] of text.matchAll(URLS)) {
    const found = referenceOfUrl(url, base)
    if (found) yield found
  }
  for (const { reference } of placedReferences(text)) yield reference
}

export interface Placed<T> {
  readonly at: number
  readonly length: number
  readonly reference: T
}

/** Yields the references in the text of a passage with their positions, except URLs. */
export function* placedReferences(text: string): Generator<Placed<Reference>> {
  const rest = withoutUrls(text)
  for (const { index: at, 0: all, 1: project = null, 2: sigil = '', 3: number = '' } of rest.matchAll(NUMBERED)) {
    const kind = SIGILS[sigil]
    if (kind) yield { at, length: all.length, reference: { kind, project, name: String(Number(number)) } }
  }
  for (const { index: at, 0: all, 1: project = null, 2: sigil, 3: quoted, 4: plain = '' } of rest.matchAll(NAMED)) {
    const name = quoted ?? plain.replace(/[?.&:-]{1,255}$/, '')
    const length = all.length - (quoted === undefined ? plain.length - name.length : 0)
    if (name !== '') yield { at, length, reference: { kind: sigil === '~' ? 'label' : 'milestone', project, name } }
  }
  for (const { index: at, 0: all, 1: project = null, 2: name = '' } of rest.matchAll(COMMITS)) {
    yield { at, length: all.length, reference: { kind: 'commit', project, name } }
  }
}

/** Yields the mentions in the text of a passage with their positions. */
export function* placedMentions(text: string): Generator<Placed<string>> {
  for (const { index: at, 0: all, 1: name = '' } of withoutUrls(text).matchAll(MENTIONS)) {
    yield { at, length: all.length, reference: name }
  }
}

/** Returns the positions in the text of a passage where references to the text's own project begin. Commits are not included. */
export const localReferences = (text: string): number[] =>
  [...placedReferences(text)]
    .filter(({ reference: { kind, project } }) => kind !== 'commit' && project === null)
    .map(({ at }) => at)

const PAGES: { readonly [page: string]: ReferenceKind } = {
  issues: 'issue',
  merge_requests: 'merge_request',
  snippets: 'snippet',
  commit: 'commit',
  milestones: 'milestone'
}

/** Returns the reference that a URL of this appliance stands for; undefined for other URLs. */
export function referenceOfUrl(url: string, base: string): Reference | undefined {
  if (!url.startsWith(`${base}/`)) return undefined
  const [namespace, project, page = '', id = '', ...more] = url.slice(base.length + 1).split(/[/?#]/, 6)
  const kind = Object.hasOwn(PAGES, page) ? PAGES[page] : undefined
  // A comment or a view of the record: `#note_1`, `/diffs`, `?tab=x`. Anything may follow the id.
  if (!namespace || !project || !kind || more.length > 2) return undefined
  const name = /^(?:\d{1,10}|[0-9a-f]{7,40})(?=[).,;:!?*_]{0,10}$)/.exec(id)?.[0]
  if (!name || (kind !== 'commit' && !/^\d+$/.test(name))) return undefined
  return { kind, project: `${namespace}/${project}`, name: kind === 'commit' ? name : String(Number(name)) }
}
