// The languages of the files of a commit. Not specified: their measure. It is the number of files, because their sizes are not in
// the trees.
import { remember } from '../../../git/objects/cache.js'
import { findEntry, walkTree } from '../../../git/objects/tree.js'
import { languageOfFile, titleOfLanguage } from '../../../text/languages.js'
import type { RefPath } from './ref-paths.js'

export interface LanguageShare {
  readonly name: string
  /** Percent of the files in all languages. */
  readonly share: number
}

/** Files and folders that are counted. */
const MOST_ENTRIES = 20_000
/** Languages that are named. */
const MOST_NAMED = 6

/** Bytes of a list, about. */
const SIZE = 500

/** Returns the languages of the first files of a commit, the most frequent one first. */
export async function languagesOf({ repository, commitId }: RefPath): Promise<readonly LanguageShare[]> {
  const tree = await findEntry(repository, commitId, '')
  if (!tree) return []
  const found = await remember(repository, `languages ${tree.id}`, async () => ({
    value: await count(repository, tree.id),
    size: SIZE
  }))
  return found ?? []
}

async function count(repository: string, id: string): Promise<readonly LanguageShare[]> {
  const files = new Map<string, number>()
  let seen = 0
  await walkTree(repository, { id, folder: '', recursive: true }, ({ type, name }) => {
    const title = type === 'blob' ? titleOfLanguage(languageOfFile(name)) : undefined
    if (title !== undefined) files.set(title, (files.get(title) ?? 0) + 1)
    return ++seen < MOST_ENTRIES
  })
  const total = [...files.values()].reduce((sum, number) => sum + number, 0)
  const all = [...files]
    .sort(([, a], [, b]) => b - a)
    .map(([name, number]) => ({ name, share: (100 * number) / total }))
  const others = all.slice(MOST_NAMED).reduce((sum, { share }) => sum + share, 0)
  return [...all.slice(0, MOST_NAMED), ...(others > 0 ? [{ name: 'Other', share: others }] : [])]
}
