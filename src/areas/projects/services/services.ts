// The settings of a project's services ("Services (integrations)"). The properties are encrypted, because the URLs of
// other trackers and wikis may contain secrets.
import type { Origin } from '../../../access/actor.js'
import { execute } from '../../../db/connect/sql.js'
import { transact } from '../../../db/connect/transact.js'
import { BadParameters, Invalid, NotFound, Undecryptable } from '../../../errors.js'
import { isWebUrl } from '../../../lib/link.js'
import { encrypt } from '../../../secrets.js'
import { shownUrl } from '../../../webhooks/url.js'
import { audit, changesBetween } from '../../ground/audit/audit.js'
import { isAddress } from '../../people/users/emails.js'
import { holdProject, type ProjectRow } from '../projects/projects.queries.js'
import { type FieldType, fieldsOf, isSlug, type Slug } from './kinds.js'
import { findService, lockService, type Properties, propertiesOf, type Service } from './services.queries.js'
import type { ServiceBody } from './services.schema.js'

/** Not specified: the limits of the fields. Each address is a mail for each push. */
const MOST_RECIPIENTS = 100
const LONGEST = { text: 2000, url: 2000, addresses: 10_000 } as const

/** Returns a service of a project, also one that was never saved. Throws BadParameters for an unknown one. */
export const readService = (project: Pick<ProjectRow, 'id'>, slug: string): Promise<Service> =>
  findService(project.id, knownSlug(slug))

/** Saves a service and activates it. Throws BadParameters for missing values, Invalid for wrong values. */
export async function saveService(project: ProjectRow, name: string, body: ServiceBody, origin: Origin): Promise<true> {
  const slug = knownSlug(name)
  const present = checkFields(slug, body)
  await transact(async () => {
    if (!(await holdProject(project.id))) throw new NotFound('Project')
    const service = await lockService(project.id, slug)
    const before = replaceable(service)
    const after = withoutEmpty({ ...before, ...present })
    await write(project.id, service, after)
    const changes = changesBetween(shown(slug, service, before), { active: true, ...shownProperties(slug, after) })
    await audit(origin, { action: 'service.update', target: targetOf(project, slug), changes })
  })
  return true
}

/** Empties a service and deactivates it. Throws BadParameters for an unknown one. */
export async function clearService(project: ProjectRow, name: string, origin: Origin): Promise<true> {
  const slug = knownSlug(name)
  await transact(async () => {
    const service = await lockService(project.id, slug)
    // Not specified: a service that was never saved stays unsaved.
    if (!service.row) return
    await execute('update services set active = false, properties_encrypted = null, updated_at = ? where id = ?', [
      new Date(),
      service.row.id
    ])
    const changes = changesBetween(shown(slug, service, replaceable(service)), { active: false })
    await audit(origin, { action: 'service.delete', target: targetOf(project, slug), changes })
  })
  return true
}

/** Returns the properties before a change. Those that cannot be decrypted count as absent: the change repairs the service. */
function replaceable(service: Service): Properties {
  try {
    return propertiesOf(service)
  } catch (error) {
    if (error instanceof Undecryptable) return {}
    throw error
  }
}

function knownSlug(slug: string): Slug {
  if (!isSlug(slug)) throw new BadParameters('service_slug does not have a valid value')
  return slug
}

/** Two concurrent first saves write one row. The later one wins. */
async function write(projectId: number, { slug, row }: Service, properties: Properties): Promise<void> {
  const now = new Date()
  const box = encrypt(JSON.stringify(properties))
  if (row) {
    await execute('update services set active = true, properties_encrypted = ?, updated_at = ? where id = ?', [
      box,
      now,
      row.id
    ])
    return
  }
  await execute(
    `insert into services (project_id, slug, active, properties_encrypted, created_at, updated_at)
     values (?, ?, true, ?, ?, ?)
     on duplicate key update active = true, properties_encrypted = values(properties_encrypted),
       updated_at = values(updated_at)`,
    [projectId, slug, box, now, now]
  )
}

/** Returns the given values that are fields of the service. */
function checkFields(slug: Slug, body: ServiceBody): Properties {
  const values = body as { readonly [name: string]: string | boolean | undefined }
  const missing = fieldsOf(slug).filter(([name, { required }]) => required && values[name] === undefined)
  if (missing.length > 0) throw new BadParameters(missing.map(([name]) => `${name} is missing`).join(', '))
  const present = fieldsOf(slug).flatMap(([name, field]) => {
    const value = values[name]
    return value === undefined ? [] : [{ name, value, ...field }]
  })
  const problems = present.flatMap(({ name, value, type, required }) => {
    const problem = typeof value === 'string' && problemOf(type, value, required === true)
    return problem ? [[name, [problem]] as const] : []
  })
  if (problems.length > 0) throw new Invalid(Object.fromEntries(problems.map(([name, texts]) => [name, [...texts]])))
  return Object.fromEntries(present.map(({ name, value }) => [name, value])) as Properties
}

function problemOf(type: FieldType, text: string, required: boolean): string | null {
  if (type === 'flag') return null
  if (required && text.trim() === '') return "can't be blank"
  if (text.length > LONGEST[type]) return `is too long (maximum is ${LONGEST[type]} characters)`
  if (type === 'url') return isWebUrl(text) ? null : 'must be a valid URL'
  return type === 'addresses' ? problemOfAddresses(text) : null
}

function problemOfAddresses(text: string): string | null {
  const addresses = addressesIn(text)
  if (addresses.length === 0) return "can't be blank"
  if (addresses.length > MOST_RECIPIENTS) return `has too many addresses (maximum is ${MOST_RECIPIENTS})`
  const wrong = addresses.find(address => !isAddress(address))
  return wrong === undefined ? null : `is invalid: ${wrong.slice(0, 100)}`
}

/** Decided: recipients are split at white space and commas. */
export const addressesIn = (text: string): string[] => text.split(/[\s,]+/).filter(part => part !== '')

const withoutEmpty = (properties: Properties): Properties =>
  Object.fromEntries(Object.entries(properties).filter(([, value]) => value !== '')) as Properties

/** The attributes that the audit compares. */
const shown = (slug: Slug, { row }: Service, properties: Properties) =>
  row ? { active: row.active === 1, ...shownProperties(slug, properties) } : null

/** URL parameters may contain secrets. */
const shownProperties = (slug: Slug, properties: Properties) =>
  Object.fromEntries(
    fieldsOf(slug).flatMap(([name, { type }]) => {
      const value = properties[name as keyof Properties]
      if (value === undefined) return []
      return [[name, type === 'url' && typeof value === 'string' ? shownUrl(value) : value]]
    })
  )

const targetOf = ({ id, path, namespace_path: namespace }: ProjectRow, slug: Slug) => ({
  type: 'project',
  id,
  name: `${namespace}/${path} ${slug}`
})
