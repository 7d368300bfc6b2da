// Checks and small conversions of what a source sends.
import { parseMoment } from '../../../lib/moment.js'
import { Nullable } from '../../../lib/schema.js'
import { type Static, type TSchema, Type } from '../../../lib/type.js'
import { validator } from '../../../lib/validate.js'
import { emojiName } from '../../../text/emoji.js'
import type { Skipped } from './source.js'

/** A field that may be missing or null: forges differ in which of both they send. */
export const maybe = <T extends TSchema>(schema: T) => Type.Optional(Nullable(schema))
export const text = (maxLength: number) => Type.String({ maxLength })
/** The size of a page is limited, so its texts are, too. A record with a longer text is cut later. */
export const prose = maybe(Type.String())
/** Not specified: a record with a higher number is left out, because few numbers would be left for new records here. */
export const number = Type.Integer({ minimum: 1, maximum: 2_000_000_000 })
export const id = Type.Integer({ minimum: -10, maximum: Number.MAX_SAFE_INTEGER })
export const count = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })
export const flag = maybe(Type.Boolean())
export const moment = text(64)
export const sha = maybe(text(64))

/** Returns a function that gives a value of the schema, or null. */
export function checked<S extends TSchema>(schema: S): (value: unknown) => Static<S> | null {
  const validate = validator(schema, { exact: true })
  return value => {
    const found = validate(value)
    return found.wrong === undefined ? (found.value as Static<S>) : null
  }
}

/** Returns the values of a page that are as documented. The others are reported. */
export function* fitting<T>(
  page: readonly unknown[],
  check: (value: unknown) => T | null,
  report: { readonly what: string; readonly skipped: Skipped }
): Generator<T> {
  for (const value of page) {
    const fits = check(value)
    if (fits === null) report.skipped(report.what, 'the source sends it in another form than its API describes', value)
    else yield fits
  }
}

/** Returns a value that is as documented; null for another, which is reported, and for none. */
export function fittingOne<T>(
  value: unknown,
  check: (value: unknown) => T | null,
  report: { readonly what: string; readonly skipped: Skipped }
): T | null {
  const [found = null] = fitting(value === undefined ? [] : [value], check, report)
  return found
}

/** Leaves out a record that has the number of an earlier one: the notes of both would come twice. */
export async function* numbered<T>(
  found: AsyncIterable<T>,
  numberOf: (each: T) => number,
  report: { readonly what: string; readonly skipped: Skipped }
): AsyncGenerator<T> {
  const seen = new Set<number>()
  for await (const each of found) {
    const number = numberOf(each)
    if (seen.has(number)) report.skipped(report.what, 'another one has the same number')
    else yield each
    seen.add(number)
  }
}

/** Returns a time as records have it; null for a text that is no time, or for nothing. */
export function momentOf(written: string | null | undefined): string | null {
  return parseMoment(written ?? '')?.toISOString() ?? null
}

/** Returns the first of several times that is one. Not specified: a record without any is dated 1970. */
export const firstMoment = (...written: readonly (string | null | undefined)[]): string =>
  written.map(momentOf).find(at => at !== null) ?? '1970-01-01T00:00:00.000Z'

export const dayOf = (written: string | null | undefined): string | null => momentOf(written)?.slice(0, 10) ?? null

/** Returns the id of a commit; null for none, for zeros, and for the longer ids of SHA-256. */
export const shaOf = (written: string | null | undefined): string | null =>
  /^(?!0{40})[0-9a-f]{40}$/.test(written ?? '') ? (written ?? null) : null

/** Names of emoji on forges that have no other name here. */
const OTHER_EMOJI: { readonly [name: string]: string } = { laugh: 'laughing', hooray: 'tada' }

export interface Award {
  readonly name: string
  readonly user: string
  readonly created_at: string
  readonly updated_at: string
}

/** Returns the emoji that people awarded. Unknown emoji, those of deleted users and repeated ones are reported or omitted. */
export function awardsOf(
  given: readonly { readonly name: string; readonly user: string | null; readonly at: string }[],
  skipped: Skipped
): Award[] {
  const awards = new Map<string, Award>()
  for (const { name: written, user, at } of given) {
    const name = emojiName(OTHER_EMOJI[written] ?? written)
    if (name === undefined) skipped('award emoji', 'there is no such emoji here')
    else if (user === null) skipped('award emoji', 'the account was deleted')
    else awards.set(`${name} ${user}`, { name, user, created_at: at, updated_at: at })
  }
  return [...awards.values()]
}
