// Texts of licenses, from the package choosealicense-list: read when the first one asks for them, and kept.
import { createRequire } from 'node:module'
import type { Actor } from '../../access/actor.js'
import { NotFound } from '../../errors.js'

/** A license as the package writes it down. */
export interface License {
  readonly id: string
  readonly title: string
  readonly nickname: string | null
  readonly featured: boolean
  readonly description: string
  readonly conditions: readonly string[]
  readonly permissions: readonly string[]
  readonly limitations: readonly string[]
  readonly urls: { readonly opensource: string }
  readonly body: string
}

export interface Placeholders {
  readonly project?: string
  readonly fullname?: string
}

let known: ReadonlyMap<string, License> | undefined

/** By key, in the order of keys. Keys are in small letters, as clients know them. */
function licenses(): ReadonlyMap<string, License> {
  known ??= load()
  return known
}

function load(): ReadonlyMap<string, License> {
  const listed = createRequire(import.meta.url)('choosealicense-list/licenses.json') as Record<string, License>
  const byKey = Object.values(listed).map(license => [keyOf(license), license] as const)
  return new Map(byKey.sort(([a], [b]) => (a < b ? -1 : 1)))
}

export const keyOf = (license: License) => license.id.toLowerCase()

/** All licenses, or the popular ones alone. */
export function listLicenses(popular = false): License[] {
  return [...licenses().values()].filter(({ featured }) => featured || !popular)
}

/** A license by its key, in whatever case, with the placeholders in its text filled in. Throws NotFound. */
export function findLicense(key: string, placeholders: Placeholders, actor: Actor): License {
  const license = licenses().get(key.toLowerCase())
  if (!license) throw new NotFound('License')
  const fullname = placeholders.fullname || actor.user?.name
  return { ...license, body: fill(license.body, { ...placeholders, fullname }) }
}

/** All that the texts of the package leave open, but for an e-mail address, a project's URL and a signature. */
const PLACEHOLDER =
  /[[<](?:(year|yyyy)|(fullname|name of author|name of copyright owner)|(?:project|program|one line to give the (?:program|library)'s name and a brief idea of what it does\.))[\]>]/g

/** One pass, so that what is filled in is never taken for a placeholder. What is not known stays as it is. */
function fill(text: string, { project, fullname }: Placeholders): string {
  const year = String(new Date().getUTCFullYear())
  return text.replace(PLACEHOLDER, (placeholder: string, isYear?: string, isName?: string) => {
    if (isYear !== undefined) return year
    return (isName === undefined ? project : fullname) || placeholder
  })
}
