// Rewrites the references of a text: numbers, mentions, and the source's own URLs and files. Code stays as it is. The expression is
// bounded, so that the time grows only with the length of the text.
import { proseOf } from '../../../text/prose.js'
import type { Rewriting, SourceFile, SourceProject } from './source.js'

/** A page of the source. */
export interface SourcePlace {
  /** The whole path of the project at the source. */
  readonly project: string
  readonly page: 'issues' | 'merge_requests' | 'commit' | 'blob' | 'tree' | 'raw' | 'project'
  /** The number, the commit, or the branch and path of a file, as in the URL; empty for the project. */
  readonly id: string
}

/** How a forge writes its references. */
export interface Dialect {
  /** What a URL leads to: an absolute one, or the path of a link that begins with a slash. Null: it stays. */
  url(url: string): SourcePlace | SourceFile | null
  /** Returns the sign here for `#5` or `!5`. `project` is its path at the source; null for the project of the text. */
  sign(sign: '#' | '!', number: number, project: string | null): '#' | '!'
}

const URL_SIGNS = '[^\\s<>"\'`()\\[\\]\\ufffc]'
const SEGMENT = '[A-Za-z0-9_.][\\w.-]{0,254}'
const PATH = `${SEGMENT}(?:\\/${SEGMENT}){1,20}`
const REFERENCES = new RegExp(
  [
    `(?<url><https?:\\/\\/${URL_SIGNS}{1,2000}>|(?<![\\p{L}\\p{N}_])https?:\\/\\/${URL_SIGNS}{1,2000})`,
    `(?<=\\]\\(<?|=["']|\\]: ?)(?<link>\\/(?!\\/)${URL_SIGNS}{1,2000})`,
    '(?<![\\p{L}\\p{N}_./@\\\\-])@(?<name>[A-Za-z0-9_](?:[\\w.-]{0,253}\\w)?)(?![\\p{L}\\p{N}_/]|[.-][\\p{L}\\p{N}_])',
    `(?<![\\p{L}\\p{N}_./&#!\\\\-])(?:(?<of>${PATH})@(?<commit>[0-9a-f]{7,40})|(?<path>${PATH})?(?<sign>[#!])(?<number>\\d{1,10}))(?![\\p{L}\\p{N}_])`
  ].join('|'),
  'gu'
)

/** The characters that are read. No record has as many. */
const LONGEST = 1_000_000

/** Returns the text with the references of this appliance. */
export function rewritten(
  dialect: Dialect,
  project: Pick<SourceProject, 'path'>,
  text: string,
  into: Rewriting
): string {
  if (text.length > LONGEST) return rewritten(dialect, project, text.slice(0, LONGEST), into) + text.slice(LONGEST)
  if (!/[#!@/]/.test(text)) return text
  const turn = { dialect, own: project.path, into }
  let made = ''
  let done = 0
  for (const [from, to] of proseOf(text)) {
    const expression = new RegExp(REFERENCES)
    expression.lastIndex = from
    // The characters before a part stay visible to the expression.
    for (const { index, 0: all, groups = {} } of text.slice(0, to).matchAll(expression)) {
      const instead = insteadOf(groups, { before: text.slice(Math.max(0, index - 4), index), all }, turn)
      made += text.slice(done, index) + instead
      done = index + all.length
    }
  }
  return made + text.slice(done)
}

/** Returns a text of this appliance in which a user has another name. */
export const renamed = (text: string, from: string, to: string): string =>
  rewritten({ url: () => null, sign: sign => sign }, { path: '' }, text, {
    mention: name => (name.toLowerCase() === from.toLowerCase() ? to : name),
    file: ({ url }) => url,
    project: () => null
  })

interface Turn {
  readonly dialect: Dialect
  /** The path of the project of the text. */
  readonly own: string
  readonly into: Rewriting
}

type Groups = { readonly [name: string]: string | undefined }

function insteadOf(groups: Groups, { before, all }: { before: string; all: string }, turn: Turn): string {
  const { url, link, name, commit, of, path, sign, number } = groups
  const { own, into, dialect } = turn
  if (url !== undefined || link !== undefined) return urlInstead(all, before, turn)
  if (name !== undefined) return `@${into.mention(name)}`
  if (commit !== undefined && of !== undefined) return `${pathHere(of, turn) ?? of}@${commit}`
  const project = path === undefined || path === own ? null : path
  const here = path === undefined ? '' : (pathHere(path, turn) ?? path)
  // The numbers of a project that stays at the source are those of the source.
  if (project !== null && into.project(project) === null) return all
  return `${here}${dialect.sign(sign === '!' ? '!' : '#', Number(number), project)}${number}`
}

const pathHere = (path: string, { into }: Turn) => into.project(path)

function urlInstead(all: string, before: string, { dialect, own, into }: Turn): string {
  // A sentence may end after the URL.
  const url = all.replace(/^<|>$/g, '').replace(/[.,;:!?*_]{1,10}$/, '')
  const rest = all.startsWith('<') ? '' : all.slice(url.length)
  const found = dialect.url(url)
  if (found === null || ('url' in found && !isPlain(url))) return all
  const isTarget = /(?:\]\(<?|=["']|\]: ?)$/.test(before)
  if ('url' in found) return (isTarget ? into.file(found) : linkTo(found.name, into.file(found))) + rest
  const here = into.project(found.project)
  if (here === null) return all
  const target = found.page === 'project' ? `/${here}` : `/${here}/${found.page}/${found.id}`
  if (isTarget) return target + rest
  return (shortOf(found, found.project === own ? '' : here) ?? linkTo(target.slice(1), target)) + rest
}

/**
 * Returns whether the path of a URL is what it looks like. A backslash counts as a slash, and `..` leads out of a folder: with these, the
 * author of a text could have files read that only the token may read.
 */
const isPlain = (url: string): boolean => !/\\|(?:\/|%2f|%5c)(?:\.|%2e){1,2}(?=[/?#]|%2f|%5c|$)/i.test(url)

const linkTo = (words: string, target: string) => `[${words.replace(/[[\]\\\n]/g, ' ')}](${target})`

function shortOf({ page, id }: SourcePlace, project: string): string | null {
  if (page === 'issues') return `${project}#${id}`
  if (page === 'merge_requests') return `${project}!${id}`
  if (page === 'commit') return project === '' ? id : `${project}@${id}`
  return null
}
