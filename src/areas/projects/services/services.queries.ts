import { row, rows } from '../../../db/connect/sql.js'
import { decryptNamed } from '../../../secrets.js'
import { SLUGS, type Slug } from './kinds.js'
import type { ServiceBody } from './services.schema.js'

interface ServiceRow {
  readonly id: number
  readonly active: number
  readonly properties_encrypted: Buffer | null
  readonly created_at: Date
  readonly updated_at: Date
}

/** A service of a project. `row` is null until it is saved. */
export interface Service {
  readonly slug: Slug
  readonly row: ServiceRow | null
}

export type Properties = ServiceBody

const SELECT = `select id, active, properties_encrypted, created_at, updated_at from services
  where project_id = ? and slug = ?`

export async function findService(projectId: number, slug: Slug): Promise<Service> {
  return { slug, row: (await row<ServiceRow>(SELECT, [projectId, slug])) ?? null }
}

/** Returns all services of a project, also those that were never saved. */
export async function listServices(projectId: number): Promise<Service[]> {
  const saved = await rows<ServiceRow & { slug: Slug }>(
    `select slug, id, active, properties_encrypted, created_at, updated_at from services where project_id = ?`,
    [projectId]
  )
  const bySlug = new Map(saved.map(row => [row.slug, row]))
  return SLUGS.map(slug => ({ slug, row: bySlug.get(slug) ?? null }))
}

/** Locks the row of a service, if it has one, until the transaction ends. */
export async function lockService(projectId: number, slug: Slug): Promise<Service> {
  return { slug, row: (await row<ServiceRow>(`${SELECT} for update`, [projectId, slug])) ?? null }
}

/** Returns the stored properties. Throws Undecryptable. */
export function propertiesOf({ row, slug }: Service): Properties {
  if (!row?.properties_encrypted) return {}
  return JSON.parse(decryptNamed(`service ${slug}`, row.properties_encrypted)) as Properties
}
