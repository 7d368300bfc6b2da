// Lists of Gitea. Many have no link to their next page, and only say how many items there are; Gogs says neither.

import { SourceRefusal } from '../../projects/imports/source-failures.js'
import type { Client } from '../sources/client.js'
import { fitting } from '../sources/shapes.js'
import type { Skipped } from '../sources/source.js'

/** Gitea gives 50 items at most, unless it is configured otherwise. */
const PER_PAGE = 50
const MOST_PAGES = 20_000

export interface Forge {
  readonly client: Client
  /** The base of the API. */
  readonly base: URL
}

/** Yields the pages of a list. A list that the source does not have, or that the token may not read, is empty. */
async function* pagesOf(forge: Forge, path: string): AsyncGenerator<readonly unknown[]> {
  let seen = 0
  let before: string | null = null
  for (let number = 1; number <= MOST_PAGES; number++) {
    const page = await readPage(forge, path, number)
    if (page === null || page.items.length === 0) return
    const { items, total, hasNext } = page
    // A list that is not divided into pages has the same items with each number; Gitea gives the comments of a review in any order.
    const names = items.map(nameOf).sort().join('\n')
    if (names === before) return
    before = names
    seen += items.length
    yield items
    if (total === null ? hasNext === false : seen >= total) return
  }
  throw refusal(forge, path, `is a list of more than ${MOST_PAGES} pages`)
}

/** Identifies an item. Some of its fields may come in another order with each answer. */
const nameOf = (item: unknown): string => JSON.stringify((item as { id?: unknown } | null)?.id ?? item)

/** Yields the pages of a list, the last page first, and the last item of each page first: for lists that start with the newest item. */
export async function* reversedPagesOf(forge: Forge, path: string): AsyncGenerator<readonly unknown[]> {
  let pages = 0
  // All pages are fetched first, because an item that is added later moves the others. Afterwards they are on the disk.
  for await (const _ of pagesOf(forge, path)) pages++
  for (let number = pages; number > 0; number--) yield ((await readPage(forge, path, number))?.items ?? []).toReversed()
}

async function readPage(forge: Forge, path: string, number: number) {
  const found = await forge.client.find(`${path}${path.includes('?') ? '&' : '?'}limit=${PER_PAGE}&page=${number}`)
  if (found === null) return null
  // Gogs has null instead of an empty list. A search has its list in a field.
  const items =
    found.body === null ? [] : Array.isArray(found.body) ? found.body : (found.body as { data?: unknown }).data
  if (!Array.isArray(items)) throw refusal(forge, path, 'is not a list')
  const total = found.headers.get('x-total-count') ?? ''
  const link = found.headers.get('link')
  return {
    items: items as readonly unknown[],
    total: /^\d{1,12}$/.test(total) ? Number(total) : null,
    /** Null: the source does not say. */
    hasNext: link === undefined ? null : /\brel="?next"?/i.test(link)
  }
}

const refusal = ({ base }: Forge, path: string, problem: string) => new SourceRefusal(new URL(path, base), problem)

/** Yields the items of a list that are as documented. The others are reported. */
export async function* itemsOf<T>(
  forge: Forge,
  path: string,
  check: (value: unknown) => T | null,
  report: { readonly what: string; readonly skipped: Skipped } = { what: '', skipped: () => {} }
): AsyncGenerator<T> {
  for await (const page of pagesOf(forge, path)) yield* fitting(page, check, report)
}
