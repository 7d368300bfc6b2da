// Texts of licenses from the package choosealicense-list. The first request loads them, and they stay in memory.
import { createRequire } from 'node:module'
import type { Actor } from '../../../access/actor.js'
import { NotFound } from '../../../errors.js'

/** A license as in the package. */
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

/** Returns the licenses by key, in the order of the keys. Keys are in lower case, as clients expect. */
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

/** Returns all licenses, or only the popular ones. */
export function listLicenses(popular = false): License[] {
  return [...licenses().values()].filter(({ featured }) => featured || !popular)
}

/** Returns a license by its key, in upper or lower case, with the placeholders of its text filled in. Throws NotFound. */
export function findLicense(key: string, placeholders: Placeholders, actor: Actor): License {
  const license = licenses().get(key.toLowerCase())
  if (!license) throw new NotFound('License')
  const fullname = placeholders.fullname || actor.user?.name
  return { ...license, body: fill(license.body, { ...placeholders, fullname }) }
}

/** Every placeholder in the texts of the package, except an e-mail address, the URL of a project and a signature. */
const PLACEHOLDER =
  /[[<](?:(year|yyyy)|(fullname|name of author|name of copyright owner)|(?:project|program|one line to give the (?:program|library)'s name and a brief idea of what it does\.))[\]>]/g

/** Fills in all placeholders in one pass, so that no filled-in text counts as a placeholder. Unknown ones stay. */
function fill(text: string, { project, fullname }: Placeholders): string {
  const year = String(new Date().getUTCFullYear())
  return text.replace(PLACEHOLDER, (placeholder: string, isYear?: string, isName?: string) => {
    if (isYear !== undefined) return year
    return (isName === undefined ? project : fullname) || placeholder
  })
}
