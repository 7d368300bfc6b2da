// Environments: the places that builds deploy to. The API creates them, or the first build that names them.
import type { Origin } from '../../../access/actor.js'
import { duplicateKey } from '../../../db/connect/failure.js'
import { execute, row } from '../../../db/connect/sql.js'
import { transact } from '../../../db/connect/transact.js'
import { BadParameters, Invalid, NotFound, Taken } from '../../../errors.js'
import { audit } from '../../ground/audit/audit.js'
import { holdProject, type ProjectRow } from '../../projects/projects/projects.queries.js'
import { type EnvironmentRow, findEnvironment, requireEnvironment } from './environments.queries.js'
import type { EnvironmentBody, EnvironmentChange } from './environments.schema.js'
import { slugOf } from './slug.js'

const LONGEST = 255
const NAME = /^[A-Za-z0-9_\-/${}. ]+$/
/** Not specified: the maximum number for a project. Names with variables, such as one for each branch, create many. */
const MOST_ENVIRONMENTS = 5000

/** Creates an environment. Throws Invalid, Taken or BadParameters. */
export async function createEnvironment(
  project: ProjectRow,
  body: EnvironmentBody,
  origin: Origin
): Promise<EnvironmentRow> {
  refuseSlug(body)
  check(body)
  const made = await insertEnvironment(project.id, body.name, urlOf(body.external_url), async () => {
    await audit(origin, { action: 'environment.create', target: targetOf(project, body.name) })
  })
  if (!made) throw new Taken('name')
  return made
}

/** Changes the name or the URL of an environment. Throws NotFound, Invalid, Taken or BadParameters. */
export async function updateEnvironment(
  project: ProjectRow,
  id: number,
  body: EnvironmentChange,
  origin: Origin
): Promise<EnvironmentRow> {
  const old = await requireEnvironment(project.id, id)
  refuseSlug(body)
  check(body)
  const name = body.name ?? old.name
  const url = body.external_url === undefined ? old.external_url : urlOf(body.external_url)
  try {
    await transact(async () => {
      await execute('update environments set name = ?, external_url = ?, updated_at = ? where id = ?', [
        name,
        url,
        new Date(),
        id
      ])
      await audit(origin, {
        action: 'environment.update',
        target: targetOf(project, old.name),
        changes: {
          ...(name !== old.name && { name: { before: old.name, after: name } }),
          ...(url !== old.external_url && { external_url: { before: old.external_url, after: url } })
        }
      })
    })
  } catch (error) {
    throw duplicateKey(error) === 'environments_name' ? new Taken('name') : error
  }
  return requireEnvironment(project.id, id)
}

/** Removes an environment with its deployments, and returns it. Throws NotFound. */
export async function deleteEnvironment(project: ProjectRow, id: number, origin: Origin): Promise<EnvironmentRow> {
  const environment = await requireEnvironment(project.id, id)
  await transact(async () => {
    await execute('delete from deployments where environment_id = ?', [id])
    const { affectedRows } = await execute('delete from environments where id = ?', [id])
    if (affectedRows === 0) throw new NotFound()
    await audit(origin, { action: 'environment.delete', target: targetOf(project, environment.name) })
  })
  return environment
}

/**
 * Returns the environment that a build deploys to, and creates a missing one. Returns null for a name that no
 * environment can have: its variables may have any value.
 */
export async function environmentForBuild(projectId: number, name: string): Promise<EnvironmentRow | null> {
  if (problemOf(name)) return null
  const known = await findEnvironment(projectId, name)
  if (known) return known
  // Another build may create it at the same moment.
  return (await insertEnvironment(projectId, name, null)) ?? (await findEnvironment(projectId, name)) ?? null
}

/** Attempts to find a free slug. */
const TRIES = 5

/** Returns undefined when the name is taken. Throws Invalid when the project has too many environments. */
async function insertEnvironment(
  projectId: number,
  name: string,
  url: string | null,
  also: () => Promise<void> = async () => undefined
): Promise<EnvironmentRow | undefined> {
  for (let tries = 1; ; tries++) {
    try {
      return await transact(async () => {
        if (!(await holdProject(projectId))) throw new NotFound('Project')
        const found = await row<{ known: number }>('select count(*) as known from environments where project_id = ?', [
          projectId
        ])
        if ((found?.known ?? 0) >= MOST_ENVIRONMENTS) {
          throw new Invalid('base', `The project already has ${MOST_ENVIRONMENTS} environments: remove one first`)
        }
        const now = new Date()
        const slug = slugOf(name)
        const { insertId: id } = await execute(
          'insert into environments (project_id, name, slug, external_url, created_at, updated_at) values (?, ?, ?, ?, ?, ?)',
          [projectId, name, slug, url, now, now]
        )
        await also()
        return { id, name, slug, external_url: url }
      })
    } catch (error) {
      const taken = duplicateKey(error)
      if (taken === 'environments_name') return undefined
      if (taken !== 'environments_slug' || tries === TRIES) throw error
    }
  }
}

function refuseSlug({ slug }: { slug?: string }): void {
  const text = 'slug is automatically generated and cannot be changed'
  if (slug !== undefined) throw new BadParameters(text, text)
}

function check({ name, external_url: url }: EnvironmentChange): void {
  const errors: Record<string, string[]> = {}
  const problem = name === undefined ? undefined : problemOf(name)
  if (problem) errors.name = [problem]
  if (url && !isWebAddress(url)) errors.external_url = ['is not an http or https URL of at most 255 characters']
  if (Object.keys(errors).length > 0) throw new Invalid(errors)
}

function problemOf(name: string): string | undefined {
  if (name.trim() === '') return "can't be blank"
  if (name.length > LONGEST) return `is too long (maximum is ${LONGEST} characters)`
  return NAME.test(name) ? undefined : "can contain only letters, digits, spaces, '-', '_', '/', '$', '{', '}' and '.'"
}

/** Returns whether a text is an address to which a browser may be redirected. */
export const isWebAddress = (url: string): boolean =>
  url.length <= LONGEST && /^https?:\/\/[\x21-\x7e]+$/i.test(url) && URL.canParse(url)

const urlOf = (url: string | undefined): string | null => url || null

const targetOf = ({ id, path, namespace_path: namespace }: ProjectRow, name: string) => ({
  type: 'project',
  id,
  name: `${namespace}/${path} ${name}`
})
