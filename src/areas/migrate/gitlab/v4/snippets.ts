// Snippets of a project of GitLab. A snippet there may have several files; each becomes a snippet here.
import { held } from '../../sources/held.js'
import { checked, firstMoment, fitting } from '../../sources/shapes.js'
import type { Draft } from '../../sources/source.js'
import { noteRecords, readAwards } from './notes.js'
import { personOf } from './people.js'
import type { Reading } from './reading.js'
import { Snippet } from './shapes.js'

const checkSnippet = checked(Snippet)
const VISIBILITIES = { private: 0, internal: 10, public: 20 }
/** GitLab has the same limit. */
const MOST_FILES = 10
/** Bytes that become no more characters than a record may have. */
const LARGEST = 2_000_000

export async function* snippetRecords(reading: Reading): AsyncGenerator<Draft> {
  const { client, path, skipped } = reading
  const report = { what: 'snippet', skipped }
  async function* listed() {
    const pages = client.list(`${path}/snippets?per_page=100`, { optional: true })
    for await (const page of pages) yield* fitting(page, checkSnippet, report)
  }
  const found = await held(listed(), report)
  let last = 0
  // The newest comes first in the list.
  for (const snippet of found.sort((one, other) => one.id - other.id)) {
    const at = `${path}/snippets/${snippet.id}`
    const first = last + 1
    for (const { name, url } of filesOf(snippet, at)) {
      const content = await readContent(reading, url)
      if (content === null) {
        skipped('file of a snippet', `it is missing or larger than ${LARGEST} bytes`)
        continue
      }
      last++
      yield await snippetRecord(reading, snippet, { at, number: last, isFirst: last === first, name, content })
    }
    if (last >= first)
      yield* noteRecords(reading, { path: `${at}/notes`, on: { type: 'Snippet', number: first, commit: null } })
  }
}

function filesOf({ file_name, title, files }: Snippet, at: string) {
  const name = file_name || title
  const others = (files ?? []).slice(1, MOST_FILES).flatMap(file => {
    const ref = /\/raw\/([^/]{1,255})\//.exec(file.raw_url ?? '')?.[1]
    return ref === undefined
      ? []
      : [{ name: file.path, url: `${at}/files/${ref}/${encodeURIComponent(file.path)}/raw` }]
  })
  return [{ name, url: `${at}/raw` }, ...others]
}

interface File {
  readonly at: string
  readonly number: number
  readonly isFirst: boolean
  readonly name: string
  readonly content: string
}

async function snippetRecord(reading: Reading, snippet: Snippet, file: File): Promise<Draft> {
  const created_at = firstMoment(snippet.created_at, reading.created)
  return {
    kind: 'snippet',
    number: file.number,
    author: personOf(snippet.author),
    title: snippet.title,
    file_name: file.name.slice(0, 255),
    content: file.content,
    visibility_level: VISIBILITIES[snippet.visibility],
    created_at,
    updated_at: firstMoment(snippet.updated_at, created_at),
    award_emoji: file.isFirst ? await readAwards(reading, file.at) : []
  }
}

/** Returns the text of a file; null when it is missing or too large. */
async function readContent({ client, base }: Reading, path: string): Promise<string | null> {
  return client.file({ url: new URL(path, base).href }, async stream => {
    const chunks: Buffer[] = []
    let size = 0
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      size += chunk.length
      if (size > LARGEST) return null
      chunks.push(chunk)
    }
    return Buffer.concat(chunks).toString('utf8')
  })
}
