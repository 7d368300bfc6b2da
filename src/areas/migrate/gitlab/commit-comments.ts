// Comments on commits. The API of GitLab lists them for one commit at a time only, so they come when the sysadmin asks for them.
import { type Static, Type } from '../../../lib/type.js'
import { ahead } from '../sources/ahead.js'
import type { Client } from '../sources/client.js'
import { held } from '../sources/held.js'
import { checked, count, firstMoment, fitting, maybe, moment, prose, shaOf, text } from '../sources/shapes.js'
import type { Draft, Skipped } from '../sources/source.js'

const AT_ONCE = 8
/** Characters of all comments, which are sorted by time in memory. */
const LARGEST_LIST = 64_000_000

const checkCommit = checked(Type.Object({ id: text(64) }))
const Comment = Type.Object({
  note: prose,
  path: maybe(text(65_535)),
  line: maybe(count),
  line_type: maybe(text(100)),
  author: maybe(Type.Object({ username: text(255) })),
  created_at: maybe(moment)
})
type Comment = Static<typeof Comment>
const checkComment = checked(Comment)

interface Commenting {
  readonly client: Client
  /** The path of the project in the API, with a slash at its end. */
  readonly root: string
  readonly commits: AsyncIterable<readonly unknown[]>
  /** Dates what the source does not date. */
  readonly created: string
  readonly skipped: Skipped
}

/** Yields the comments on commits, oldest first. */
export async function* commitCommentRecords(reading: Commenting): AsyncGenerator<Draft> {
  async function* listed() {
    for await (const notes of ahead(idsIn(reading), AT_ONCE, id => notesOn(reading, id))) yield* notes
  }
  const found = await held(listed(), { what: 'comments on commits', skipped: reading.skipped, most: LARGEST_LIST })
  const time = ({ created_at }: Draft) => Date.parse(String(created_at))
  yield* found.sort((one, other) => time(one) - time(other))
}

async function* idsIn({ commits, skipped }: Commenting): AsyncGenerator<string> {
  const seen = new Set<string>()
  for await (const page of commits) {
    for (const { id } of fitting(page, checkCommit, { what: 'commits', skipped })) {
      const sha = shaOf(id)
      if (sha === null || seen.has(sha)) continue
      seen.add(sha)
      yield sha
    }
  }
}

async function notesOn({ client, root, created, skipped }: Commenting, id: string): Promise<Draft[]> {
  const report = { what: 'comments on commits', skipped }
  async function* listed(): AsyncGenerator<Draft> {
    const path = `${root}repository/commits/${id}/comments?per_page=100`
    for await (const page of client.list(path, { optional: true })) {
      for (const comment of fitting(page, checkComment, report)) yield draftOf(comment)
    }
  }
  return held(listed(), report)

  function draftOf(comment: Comment): Draft {
    const at = firstMoment(comment.created_at, created)
    const { author } = comment
    return {
      kind: 'note',
      on: { type: 'Commit', number: null, commit: id },
      author: author && author.username !== 'ghost' ? author.username : null,
      note: comment.note ?? '',
      is_system: false,
      ...placeOf(comment),
      updated_by: null,
      refers: null,
      created_at: at,
      updated_at: at,
      award_emoji: []
    }
  }
}

function placeOf({ path, line, line_type: type }: Comment) {
  const isPlace = path && line && (type === 'new' || type === 'old')
  return isPlace ? { path, line, line_type: type } : { path: null, line: null, line_type: null }
}

/** Pages of commits count from 0 in API v3, and have no headers. */
export async function* pagesFromZero(client: Client, path: string): AsyncGenerator<readonly unknown[]> {
  for (let page = 0; page < MOST_PAGES; page++) {
    const found = await client.find(`${path}?per_page=${PER_PAGE}&page=${page}`)
    if (!Array.isArray(found?.body)) return
    yield found.body
    if (found.body.length < PER_PAGE) return
  }
}

const PER_PAGE = 100
const MOST_PAGES = 20_000
/** Why they do not come. */
export const UNASKED = 'they need a request for each commit, which migrate add --commit-comments allows'
