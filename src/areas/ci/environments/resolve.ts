// Sets the environment of a build when it starts: only then all variables are known that its name and URL may contain.
import type { CiEnvironment, CiVariable } from '../../../ci/config-types.js'
import { expand, type VariablesInput } from '../../../ci/variables.js'
import { execute } from '../../../db/connect/sql.js'
import { Invalid } from '../../../errors.js'
import { log } from '../../../log.js'
import { environmentForBuild } from './environments.js'

const LONGEST_URL = 255

/**
 * Returns the environment of a build, and stores it in the row of the build. `variables` returns those for
 * an environment, without the variables that describe it; null: without an environment. Returns null when no environment can have the name: the build then runs without one.
 */
export async function enterEnvironment(
  build: { readonly id: number; readonly project_id: number },
  { name, url, action }: CiEnvironment,
  variables: (environment: string | null) => readonly CiVariable[]
): Promise<VariablesInput['build']['environment']> {
  const environment = await find(build, expand(name, variables(null)))
  if (!environment) return null
  const named = [
    ...variables(environment.name),
    { key: 'CI_ENVIRONMENT_NAME', value: environment.name },
    { key: 'CI_ENVIRONMENT_SLUG', value: environment.slug }
  ]
  const address = url === null ? null : expand(url, named)
  await execute('update builds set environment_id = ?, environment_url = ? where id = ?', [
    environment.id,
    storable(address),
    build.id
  ])
  return { name: environment.name, slug: environment.slug, url: address ?? environment.external_url, action }
}

/** Stores the URL of a build's environment again, when more of its variables are known. */
export async function renewAddress(buildId: number, url: string, variables: readonly CiVariable[]): Promise<void> {
  await execute('update builds set environment_url = ? where id = ?', [storable(expand(url, variables)), buildId])
}

const storable = (address: string | null) => (address !== null && address.length <= LONGEST_URL ? address : null)

/** A project with too many environments must not fail its builds. */
async function find({ id, project_id: projectId }: { id: number; project_id: number }, name: string) {
  try {
    const found = await environmentForBuild(projectId, name)
    if (!found) log().warn({ build: id, name }, 'no environment can have the name of the environment of this build')
    return found
  } catch (error) {
    if (!(error instanceof Invalid)) throw error
    log().warn({ build: id, name, error }, 'a build has no environment')
    return null
  }
}
