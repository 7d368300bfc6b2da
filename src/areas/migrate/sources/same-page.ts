// Whether a page says the same as in an earlier run.
import { hasMoreValues } from '../../../lib/json.js'
import type { StoredPage } from './page-store.js'

/** Values of a page that is compared by its content. Others are compared as texts. */
const MOST_VALUES = 300_000

/**
 * Ignores fields with these names, and the order of the page's items and of lists of words: Gitea lists the comments of a review, the units
 * of a team and the events of a hook in any order, and counts the downloads of files, which a migration itself downloads.
 */
export function isSamePage(one: StoredPage, other: StoredPage, ignored: readonly string[]): boolean {
  const hasSameNext = NEXT.every(name => one.headers[name] === other.headers[name])
  if (one.status !== other.status || !hasSameNext) return false
  return one.body === other.body || comparable(one.body, ignored) === comparable(other.body, ignored)
}

const NEXT = ['link', 'x-next-page'] as const

function comparable(body: string, ignored: readonly string[]): string {
  if (hasMoreValues(body, MOST_VALUES)) return body
  try {
    const page: unknown = JSON.parse(body, (name, value: unknown) => {
      if (ignored.includes(name)) return null
      return Array.isArray(value) && value.every(each => typeof each === 'string') ? value.toSorted() : value
    })
    // Only the outer list: with each level of lists in lists, the texts of the items would grow twofold.
    return JSON.stringify(Array.isArray(page) ? page.map(item => JSON.stringify(item)).sort() : page)
  } catch {
    return body
  }
}
