// What does not come along, counted for the plan and the report. A source may invent any number of reasons, so their number is limited.
import type { Skipped } from '../sources/source.js'

const MOST = 1000
const LONGEST = 300

export interface Skips {
  readonly skipped: Skipped
  list(): readonly { readonly what: string; readonly why: string; readonly count: number }[]
}

export function newSkips(): Skips {
  const counts = new Map<string, { what: string; why: string; count: number }>()
  return {
    skipped: (what, why) => {
      const key = `${what}\0${why}`.slice(0, LONGEST * 2)
      const known = counts.get(key)
      if (known) known.count++
      else if (counts.size < MOST) counts.set(key, { what: shortened(what), why: shortened(why), count: 1 })
    },
    list: () => [...counts.values()]
  }
}

const shortened = (text: string, most = LONGEST) =>
  text
    .slice(0, most)
    .toWellFormed()
    .replace(/\p{Cc}+/gu, ' ')

/** What the source lists in another form than its API describes, such as a project or a member of a group. Each is named once. */
export interface Unreadable {
  readonly skipped: Skipped
  list(): readonly { readonly from: string; readonly error: string }[]
}

export function newUnreadable(): Unreadable {
  const found = new Map<string, string>()
  return {
    skipped: (what, why, item) => {
      // A list that is missing has no item.
      if (item !== undefined && found.size < MOST) found.set(nameOf(what, item), `${why}: repair it there`)
    },
    list: () => [...found].map(([from, error]) => ({ from, error }))
  }
}

const NAMES = ['path_with_namespace', 'full_path', 'username', 'login', 'full_name', 'path', 'title'] as const

function nameOf(what: string, item: unknown): string {
  const fields = (item ?? {}) as { readonly [name: string]: unknown }
  const name = NAMES.map(each => fields[each]).find(each => typeof each === 'string' && each !== '')
  const id = Number.isSafeInteger(fields.id) ? `the ${what} with the id ${fields.id}` : `a ${what} without a name`
  if (name === undefined) return shortened(id)
  return what === 'project' ? shortened(String(name)) : shortened(`${shortened(String(name), LONGEST / 2)} (${what})`)
}
