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

const shortened = (text: string) => text.replace(/\p{Cc}+/gu, ' ').slice(0, LONGEST)
