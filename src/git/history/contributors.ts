// Lists who wrote the commits of a history, with the number of lines that they changed. Git compares the files of each
// commit, which takes a second for some thousands of commits. Therefore a count continues from an earlier one.
import type { Readable } from 'node:stream'
import { PERSON_LIMIT } from '../objects/parse.js'
import { isObjectId } from '../objects/reader.js'
import { failure, startGit } from '../process/run.js'

export interface Contributor {
  readonly email: string
  /** The name in the newest commit. */
  readonly name: string
  readonly commits: number
  readonly additions: number
  readonly deletions: number
}

/** The maximum number of people in a response, and of people who are counted to find them. */
export const MOST_CONTRIBUTORS = 10_000
const MOST_COUNTED = 100_000
/** Marks the line of a commit: no other line of the output begins with it. */
const MARK = '\x01'

/** The result of counting all commits up to `tip`. */
export interface Count {
  readonly tip: string
  readonly people: readonly Contributor[]
}

/**
 * Counts the commits up to `tip`, except merges, by the email address of the author. The order of the people is not
 * defined. `earlier` must be the count of an ancestor. Throws GitLimit when counting takes too long.
 */
export async function countContributors(
  repository: string,
  tip: string,
  earlier: Count | null,
  signal?: AbortSignal
): Promise<Count> {
  if (!isObjectId(tip)) throw new TypeError('not a commit')
  const args = [
    'log',
    '--no-merges',
    '--no-renames',
    '--no-ext-diff',
    '--no-textconv',
    '--shortstat',
    '--encoding=UTF-8',
    `--format=${MARK}%ae%x00%an`,
    '--end-of-options',
    tip,
    ...(earlier ? [`^${earlier.tip}`] : []),
    '--'
  ]
  const git = await startGit(args, { repository, long: true, signal })
  git.stdin.end()
  const people = new Map<string, Mutable>()
  let current: Mutable | undefined
  for await (const line of linesOf(git.stdout)) {
    if (line.startsWith(MARK)) current = countCommit(people, line)
    else if (current) countLines(current, line)
  }
  const exit = await git.done
  if (exit.code !== 0 || exit.ended) throw failure(args, exit, git.stderr())
  for (const person of earlier?.people ?? []) addEarlier(people, person)
  return { tip, people: [...people.values()] }
}

/** Splits only at line feeds: names may contain other characters that some readers take for a line end. */
async function* linesOf(stdout: Readable): AsyncGenerator<string> {
  let rest: Buffer = Buffer.alloc(0)
  for await (const chunk of stdout as AsyncIterable<Buffer>) {
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
    const end = bytes.lastIndexOf(0x0a) + 1
    yield* bytes.toString('utf8', 0, end).split('\n')
    rest = bytes.subarray(end)
  }
  yield rest.toString()
}

type Mutable = { -readonly [Key in keyof Contributor]: Contributor[Key] }

function countCommit(people: Map<string, Mutable>, line: string): Mutable | undefined {
  const [email = '', name = ''] = line.slice(MARK.length).split('\0').map(short)
  const known = people.get(email)
  if (known) {
    known.commits += 1
    return known
  }
  if (people.size >= MOST_COUNTED) return undefined
  const found = { email, name, commits: 1, additions: 0, deletions: 0 }
  people.set(email, found)
  return found
}

function countLines(person: Mutable, line: string): void {
  const figure = (what: RegExp) => Number(what.exec(line)?.[1] ?? 0)
  person.additions += figure(/(\d+) insertion/)
  person.deletions += figure(/(\d+) deletion/)
}

/** The newer commits were counted first, so their names stay. */
function addEarlier(people: Map<string, Mutable>, earlier: Contributor): void {
  const known = people.get(earlier.email)
  if (known) {
    known.commits += earlier.commits
    known.additions += earlier.additions
    known.deletions += earlier.deletions
  } else if (people.size < MOST_COUNTED) people.set(earlier.email, { ...earlier })
}

/** The cut must not leave half of a surrogate pair. */
const short = (text: string) => text.slice(0, PERSON_LIMIT).replace(/[\ud800-\udbff]$/, '')
