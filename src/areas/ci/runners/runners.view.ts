// "Runner".
import { Flag, IdOf, Moment, Nullable, Text } from '../../../lib/schema.js'
import { Type } from '../../../lib/type.js'
import { decrypt } from '../../../secrets.js'
import { RunnerSummary } from '../builds/builds.view.js'
import type { ProjectOfRunner, RunnerRecord } from './runner-records.queries.js'

export { RunnerSummary } from '../builds/builds.view.js'

const RunnerProject = Type.Object(
  {
    id: IdOf('the project'),
    name: Text('the display name'),
    name_with_namespace: Text('the display name after that of the namespace'),
    path: Text('the last part of the path'),
    path_with_namespace: Text('the whole path')
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
    contacted_at: Nullable(
      Moment('the time of the last contact, up to 20 minutes late; null before the first contact')
    ),
    token: Type.Optional(Text('its authentication token; only administrators see the token of a shared runner')),
    tag_list: Type.Array(Type.String(), { description: 'its tags: it takes builds that have no other tags' }),
    run_untagged: Flag('whether it takes builds without tags'),
    locked: Flag('true: no further projects can use it'),
    projects: Type.Array(RunnerProject, { description: 'its projects that are yours; administrators see all' })
  },
  { title: 'Runner', description: 'A runner with its description of itself.' }
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

/** The built-in runner has no token, and a token that was encrypted with a different key cannot be shown. */
function tokenOf(box: Buffer | null): string | undefined {
  try {
    return box ? decrypt(box) : undefined
  } catch {
    return undefined
  }
}
