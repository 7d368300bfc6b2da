// Lists the commits of a history, newest first, in the order of `git log`. For most questions this process reads the
// commit-graph: 20 commits of 80,000 take some microseconds, and a git process takes milliseconds.
import { LRUCache } from 'lru-cache'
import { remember } from '../objects/cache.js'
import { isObjectId } from '../objects/reader.js'
import { askGit } from '../process/questions.js'
import { type CommitGraph, commitGraphOf } from './commit-graph.js'
import { lastCommitOfPath } from './commits.js'
import { HistoryWalk, MOST_READ } from './walk.js'

export interface LogQuestion {
  /** The id of the commit to begin with. */
  readonly tip: string
  readonly skip: number
  readonly count: number
  /** Seconds since 1970: only commits at this time or later. */
  readonly since?: number
  readonly until?: number
  /** Only commits that changed this file or folder. */
  readonly path?: string
}

/** The maximum number of commits to skip. */
const MOST_SKIPPED = 10_000_000
/** The bytes of walks that are kept, so that the next page continues where the last one ended. */
const WALKS = 16 * 1024 * 1024
const walks = new LRUCache<string, HistoryWalk>({ maxSize: WALKS, sizeCalculation: walk => walk.bytes, max: 500 })

/** Returns the ids of commits. The commit `tip` must exist. */
export async function listCommits(repository: string, question: LogQuestion): Promise<readonly string[]> {
  const { tip, skip, count, since = '', until = '', path = '' } = question
  if (!isObjectId(tip)) throw new TypeError('not a commit')
  if (skip > MOST_SKIPPED || count === 0) return []
  const key = `log ${tip} ${skip} ${count} ${since} ${until} ${path}`
  const found = await remember(repository, key, async () => {
    const value = await find(repository, question)
    return { value, size: value.length * 60 }
  })
  return found ?? []
}

async function find(repository: string, question: LogQuestion): Promise<readonly string[]> {
  const { tip, skip, count, since, until, path = '' } = question
  if (path === '' && since === undefined) {
    const walked = await walk(repository, question)
    if (walked) return walked
  }
  if (path !== '' && skip === 0 && count === 1 && since === undefined && until === undefined) {
    const last = await lastCommitOfPath(repository, tip, path)
    return last === null ? [] : [last]
  }
  return await listByGit(repository, question)
}

/** Returns undefined when the caller must ask git: for distant commits when there is no commit-graph, or when the graph is damaged. */
async function walk(repository: string, { tip, skip, count, until }: LogQuestion) {
  const graph = await commitGraphOf(repository)
  if (graph === null && skip + count > MOST_READ) return undefined
  try {
    return await walkOf(repository, graph, tip).list(skip, count, until)
  } catch (error) {
    walks.delete(walkKey(repository, tip))
    // A damaged graph points beyond its own end.
    if (error instanceof RangeError) return undefined
    throw error
  }
}

const walkKey = (repository: string, tip: string) => `${repository}\0${tip}`

function walkOf(repository: string, graph: CommitGraph | null, tip: string): HistoryWalk {
  const key = walkKey(repository, tip)
  const known = walks.get(key)
  // A walk without a graph may reach its limit, and a graph may have been written since.
  if (known && (known.graph !== null || graph === null)) return known
  const started = new HistoryWalk(repository, graph, tip)
  walks.set(key, started)
  return started
}

async function listByGit(repository: string, { tip, skip, count, since, until, path = '' }: LogQuestion) {
  const args = [
    'rev-list',
    `--max-count=${count}`,
    `--skip=${skip}`,
    ...(since === undefined ? [] : [`--max-age=${since}`]),
    ...(until === undefined ? [] : [`--min-age=${until}`]),
    '--end-of-options',
    tip,
    '--',
    ...(path === '' ? [] : [path])
  ]
  return (await askGit(repository, args)).toString().split('\n').filter(Boolean)
}
