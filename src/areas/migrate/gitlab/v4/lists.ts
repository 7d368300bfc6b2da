// Lists of GitLab that the token may not be able to read.
import { fitting } from '../../sources/shapes.js'
import type { Reading } from './reading.js'

/** Yields the items of a list of the project. What is missing or odd is reported. */
export async function* itemsOf<T>(
  { client, path, skipped }: Reading,
  list: string,
  check: (value: unknown) => T | null,
  what: string
): AsyncGenerator<T> {
  let pages = 0
  const query = list.includes('?') ? '&' : '?'
  for await (const page of client.list(`${path}/${list}${query}per_page=100`, { optional: true })) {
    pages++
    yield* fitting(page, check, { what, skipped })
  }
  if (pages === 0) skipped(what, 'the token may not read this list, or the source does not have it')
}
