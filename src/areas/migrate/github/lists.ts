// The lists of a repository, item by item.
import type { Static, TSchema } from '../../../lib/type.js'
import { SourceRefusal } from '../../projects/imports/source-failures.js'
import type { Client } from '../sources/client.js'
import { checked, firstMoment, fitting } from '../sources/shapes.js'
import type { Skipped } from '../sources/source.js'

/** GitHub answers at most 300 pages of some lists. */
const MOST_PAGES = 250
const PER_PAGE = 100
const MISSING = 'the source does not have this list, or the token may not read it'

export interface Reading {
  readonly client: Client
  readonly skipped: Skipped
  /** The URL of the repository in the API, such as https://api.github.com/repos/octocat/hello. */
  readonly repo: string
}

interface ListOptions {
  /** What the items are, for the report. */
  readonly what: string
  /** A list that is missing or hidden is reported, and not an error. */
  readonly optional?: boolean
  /** More parameters for `inOrder`. */
  readonly more?: string
}

/** Yields the items of a list. An item that is not as the API describes it is reported. */
export async function* items<S extends TSchema>(
  { client, skipped }: Pick<Reading, 'client' | 'skipped'>,
  path: string,
  schema: S,
  { what, optional = false }: ListOptions
): AsyncGenerator<Static<S>> {
  const check = checked(schema)
  let pages = 0
  for await (const page of client.list(paged(path), { optional })) {
    pages++
    yield* fitting(page, check, { what, skipped })
  }
  if (pages === 0) skipped(what, MISSING)
}

const paged = (path: string) => `${path}${path.includes('?') ? '&' : '?'}per_page=${PER_PAGE}`

/** Where a list starts again: after an item of this moment. The items of the moment that were read have these ids. */
interface After {
  readonly at: string
  readonly ids: ReadonlySet<number>
}

/**
 * Yields the items of a list in the order in which they were made. After many pages, the list starts again with what has changed since
 * the last item was made, because GitHub refuses pages far from the first. Such a list has all later items, and some that were read before.
 */
export async function* inOrder<S extends TSchema>(
  reading: Reading,
  path: string,
  schema: S,
  options: ListOptions
): AsyncGenerator<Static<S>> {
  for (let after: After | null = null; ; ) {
    const next: After | null = yield* itemsAfter(reading, path, schema, { ...options, after })
    if (next === null) return
    if (next.at === after?.at)
      throw new SourceRefusal(new URL(path), `has more than ${MOST_PAGES * PER_PAGE} items of the same second`)
    after = next
  }
}

/** Yields some pages of items. Returns where the list continues; null at its end. */
async function* itemsAfter<S extends TSchema>(
  { client, skipped }: Reading,
  path: string,
  schema: S,
  { what, optional = false, more, after }: ListOptions & { readonly after: After | null }
): AsyncGenerator<Static<S>, After | null> {
  const since = after && `since=${encodeURIComponent(after.at)}`
  const query = [more, 'sort=created', 'direction=asc', since].filter(Boolean).join('&')
  const check = checked(schema)
  let last = after?.at ?? ''
  let ids = new Set(after?.ids)
  let pages = 0
  for await (const page of client.list(paged(`${path}?${query}`), { optional })) {
    for (const item of fitting(page, check, { what, skipped })) {
      const { id, created_at } = item as { readonly id: number; readonly created_at: string }
      const at = firstMoment(created_at)
      if (after && (at < after.at || after.ids.has(id))) continue
      if (at > last) [last, ids] = [at, new Set()]
      if (at === last) ids.add(id)
      yield item
    }
    if (++pages === MOST_PAGES) return { at: last, ids }
  }
  if (pages === 0) skipped(what, MISSING)
  return null
}
