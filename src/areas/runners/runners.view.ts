// "Runner".
import { Flag, IdOf, Moment, Nullable, Text } from '../../lib/schema.js'
import { Type } from '../../lib/type.js'
import { decrypt } from '../../secrets.js'
import { RunnerSummary } from '../builds/builds.view.js'
import type { ProjectOfRunner, RunnerRecord } from './runner-records.queries.js'

export { RunnerSummary } from '../builds/builds.view.js'

const RunnerProject = Type.Object(
  {
    id: IdOf('the project'),
    name: Text('its name'),
    name_with_namespace: Text('its name, after that of its namespace'),
    path: Text('the last part of its path'),
    path_with_namespace: Text('its whole path')
  },
  { title: 'RunnerProject', description: 'A project that a runner serves.' }
)

export const Runner = Type.Object(
  {
    ...(RunnerSummary as unknown as { properties: (typeof RunnerSummary)['properties'] }).properties,
    architecture: Nullable(Text('the architecture of its machine')),
    platform: Nullable(Text('the operating system of its machine')),
    revision: Nullable(Text('the revision of its program')),
    version: Nullable(Text('the version of its program')),
    contacted_at: Nullable(Moment('when it was last there, up to 20 minutes late; null before the first time')),
    token: Type.Optional(Text('its authentication token; that of a shared runner is for administrators')),
    tag_list: Type.Array(Type.String(), { description: 'it takes builds that have no other tags than these' }),
    run_untagged: Flag('whether it takes builds without tags'),
    locked: Flag('whether it may serve no further projects'),
    projects: Type.Array(RunnerProject, { description: 'those of its projects that are yours; for administrators all' })
  },
  { title: 'Runner', description: 'A runner, with what it has told about itself.' }
)

export const RegistrationToken = Type.Object(
  { token: Text('the token with which shared runners register') },
  { title: 'RegistrationToken', description: 'The registration token of the instance.' }
)

export const viewRunnerSummary = (runner: RunnerRecord) => ({
  id: runner.id,
  description: runner.description,
  active: runner.active === 1,
  is_shared: runner.is_shared === 1,
  name: runner.name
})

export interface RunnerReading {
  readonly runner: RunnerRecord
  readonly projects: readonly ProjectOfRunner[]
  readonly admin: boolean
}

export const viewRunner = ({ runner, projects, admin }: RunnerReading) => ({
  ...viewRunnerSummary(runner),
  architecture: runner.architecture,
  platform: runner.platform,
  revision: runner.revision,
  version: runner.version,
  contacted_at: runner.contacted_at,
  token: admin || !runner.is_shared ? tokenOf(runner.token_encrypted) : undefined,
  tag_list: JSON.parse(runner.tag_list) as string[],
  run_untagged: runner.run_untagged === 1,
  locked: runner.locked === 1,
  projects: projects.map(project => ({
    id: project.id,
    name: project.name,
    name_with_namespace: `${project.namespace_name} / ${project.name}`,
    path: project.path,
    path_with_namespace: `${project.namespace_path}/${project.path}`
  }))
})

/** The built-in runner has none, and one that was encrypted with another key cannot be shown. */
function tokenOf(box: Buffer | null): string | undefined {
  try {
    return box ? decrypt(box) : undefined
  } catch {
    return undefined
  }
}
