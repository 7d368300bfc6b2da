// Where two histories have parted.
import { remember } from './cache.js'
import { isObjectId } from './reader.js'
import { GitFailure, runGit } from './run.js'

/** Seconds for the search. */
const TIME = 60

/** Returns the best common ancestor of two commits that exist, or null when they have none. */
export async function mergeBase(repository: string, one: string, other: string): Promise<string | null> {
  if (!isObjectId(one) || !isObjectId(other)) throw new TypeError('not commits')
  const found = await remember(repository, `base ${one} ${other}`, async () => {
    const value = await askGit(repository, one, other)
    return { value, size: 40 }
  })
  return found || null
}

async function askGit(repository: string, one: string, other: string): Promise<string> {
  try {
    // Git gives the best one first, if there are several.
    const bases = (await runGit(['merge-base', one, other], { repository, timeout: TIME })).toString()
    return bases.split('\n', 1)[0] ?? ''
  } catch (error) {
    if (error instanceof GitFailure && error.code === 1) return ''
    throw error
  }
}
