// Finds where two histories diverged.
import { remember } from '../objects/cache.js'
import { isObjectId } from '../objects/reader.js'
import { askGit } from '../process/questions.js'
import { GitFailure } from '../process/run.js'

/** Returns the best common ancestor of two commits that exist, or null when they have no common ancestor. */
export async function mergeBase(repository: string, one: string, other: string): Promise<string | null> {
  if (!isObjectId(one) || !isObjectId(other)) throw new TypeError('not commits')
  const found = await remember(repository, `base ${one} ${other}`, async () => {
    const value = await search(repository, one, other)
    return { value, size: 40 }
  })
  return found || null
}

async function search(repository: string, one: string, other: string): Promise<string> {
  try {
    // Git prints the best one first, if there are several.
    const bases = (await askGit(repository, ['merge-base', one, other])).toString()
    return bases.split('\n', 1)[0] ?? ''
  } catch (error) {
    if (error instanceof GitFailure && error.code === 1) return ''
    throw error
  }
}
