// Variables, schedules, environments and deployments of a project of GitLab.

import { isWebAddress } from '../../../ci/environments/environments.js'
import { checkVariables } from '../../../ci/pipelines/given-variables.js'
import { checked, firstMoment, shaOf } from '../../sources/shapes.js'
import type { Draft } from '../../sources/source.js'
import { itemsOf } from './lists.js'
import { personOf } from './people.js'
import type { Deployed, Reading } from './reading.js'
import { Deployment, Environment, Schedule, Variable } from './shapes.js'

/** Deployments are in memory while the pipelines are read, whose jobs they name. */
const MOST_DEPLOYMENTS = 200_000

const checkVariable = checked(Variable)
const checkSchedule = checked(Schedule)
const checkEnvironment = checked(Environment)
const checkDeployment = checked(Deployment)

type GivenVariable = NonNullable<ReturnType<typeof checkVariable>>

/** Returns the value; null for one that cannot come along, which is reported. */
function shownValue({ skipped }: Reading, { value, variable_type, hidden }: GivenVariable): string | null {
  if (variable_type === 'file') skipped('variable', 'its value is a file')
  else if (typeof value !== 'string' || hidden === true) skipped('variable', 'the source does not show its value')
  else return value
  return null
}

export async function* variableRecords(reading: Reading): AsyncGenerator<Draft> {
  for await (const found of itemsOf(reading, 'variables', checkVariable, 'variable')) {
    const value = shownValue(reading, found)
    if (value === null) continue
    yield {
      kind: 'variable',
      key: found.key,
      value,
      masked: found.masked === true,
      protected: found.protected === true,
      environment_scope: found.environment_scope ?? '*',
      created_at: reading.created,
      updated_at: reading.created
    }
  }
}

/** They come inactive. Not specified: they run in UTC here, so the hour of others may differ. */
export async function* scheduleRecords(reading: Reading): AsyncGenerator<Draft> {
  const { client, path, skipped } = reading
  for await (const found of itemsOf(reading, 'pipeline_schedules', checkSchedule, 'pipeline schedule')) {
    // Only the record itself has its variables.
    const whole = checkSchedule((await client.find(`${path}/pipeline_schedules/${found.id}`))?.body) ?? found
    if ((found.cron_timezone ?? 'UTC') !== 'UTC')
      skipped('time zone of a pipeline schedule', 'schedules here run in UTC')
    const created_at = firstMoment(found.created_at, reading.created)
    yield {
      kind: 'pipeline_schedule',
      description: found.description ?? '',
      ref: found.ref.replace(/^refs\/(?:heads|tags)\//, ''),
      cron: found.cron,
      owner: personOf(found.owner),
      variables: scheduleVariables(reading, whole.variables ?? []),
      created_at,
      updated_at: firstMoment(found.updated_at, created_at)
    }
  }
}

function scheduleVariables(reading: Reading, given: readonly GivenVariable[]) {
  const variables = given.flatMap(each => {
    const value = shownValue(reading, each)
    return value === null ? [] : [{ key: each.key, value }]
  })
  try {
    checkVariables(Object.fromEntries(variables.map(({ key, value }) => [key, value])))
    return variables
  } catch {
    reading.skipped('variables of a pipeline schedule', 'they are too many or too long')
    return []
  }
}

export async function* environmentRecords(reading: Reading): AsyncGenerator<Draft> {
  for await (const found of itemsOf(reading, 'environments', checkEnvironment, 'environment')) {
    if (reading.environments.has(found.name)) continue
    if (!/^[A-Za-z0-9_\-/{}$. ]{1,255}$/.test(found.name) || !/^[a-z0-9-]{1,24}$/.test(found.slug)) {
      reading.skipped('environment', 'its name is not one that an environment may have here')
      continue
    }
    reading.environments.add(found.name)
    const created_at = firstMoment(found.created_at, reading.created)
    yield {
      kind: 'environment',
      name: found.name,
      slug: found.slug,
      external_url: found.external_url && isWebAddress(found.external_url) ? found.external_url : null,
      state: found.state === 'stopped' ? 'stopped' : 'available',
      tier: /^[a-z]{1,16}$/.test(found.tier ?? '') ? found.tier : null,
      created_at,
      updated_at: firstMoment(found.updated_at, created_at)
    }
  }
}

/** Returns the finished deployments by the id of their job. */
export async function readDeployments(reading: Reading): Promise<Map<number, Deployed>> {
  const { environments, skipped } = reading
  const deployments = new Map<number, Deployed>()
  if (environments.size === 0) return deployments
  const list = 'deployments?order_by=id&sort=asc&status=success'
  for await (const found of itemsOf(reading, list, checkDeployment, 'deployment')) {
    const sha = shaOf(found.sha)
    const job = found.deployable?.id
    if (job === undefined || sha === null || !environments.has(found.environment.name))
      skipped('deployment', 'it has no job, or its environment is not among those of the project')
    else if (deployments.size === MOST_DEPLOYMENTS) skipped('deployment', `there are more than ${MOST_DEPLOYMENTS}`)
    else
      deployments.set(job, {
        iid: found.iid,
        environment: found.environment.name,
        ref: found.ref,
        tag: found.deployable?.tag === true,
        sha,
        user: personOf(found.user),
        created_at: firstMoment(found.created_at)
      })
  }
  return deployments
}
