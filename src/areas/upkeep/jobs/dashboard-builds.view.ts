// Not specified: builds of all projects as the dashboard shows them.
import { described, IdOf, Integer, Moment, Nullable, Text } from '../../../lib/schema.js'
import { type Static, Type } from '../../../lib/type.js'
import type { WatchedBuild as Row } from '../../ci/builds/dashboard-builds.queries.js'
import type { watchBuild } from '../../ci/builds/live-build.js'

const record = {
  id: IdOf('the build'),
  project_id: IdOf('its project'),
  project: Text('the path of its project'),
  name: Text('its name in the CI file'),
  stage: Text('the stage of the pipeline'),
  ref: Text('the branch or tag'),
  status: Text('such as `pending`, `running` or `failed`'),
  created_at: Moment('when it was created'),
  started_at: Nullable(Moment('when it started')),
  finished_at: Nullable(Moment('when it ended')),
  hostname: Nullable(Text('the machine that runs it')),
  pid: Nullable(Integer('the process id on that machine')),
  runner: Nullable(Text('the description of the runner that has it; null for the built-in runner'))
}

export const WatchedBuild = Type.Object(record, { title: 'WatchedBuild', description: 'A build of any project.' })
export type WatchedBuild = Static<typeof WatchedBuild>

const Trace = Type.Object(
  { size: Integer('bytes of the whole trace'), tail: Text('its last 64 KiB, from the start of a line') },
  { title: 'TraceTail', description: 'The end of a trace.' }
)

export const WatchedBuildDetails = Type.Object(
  {
    ...record,
    failure_reason: Nullable(Text('why it failed')),
    exit_code: Nullable(Integer('the exit code of its script')),
    trace: described(Trace, 'the end of the output of its scripts')
  },
  { title: 'WatchedBuildDetails', description: 'A build and the end of its trace.' }
)
export type WatchedBuildDetails = Static<typeof WatchedBuildDetails>

export const CanceledBuild = Type.Object(
  { id: IdOf('the build') },
  { title: 'CanceledBuild', description: 'A build that was canceled.' }
)

export const RetriedBuild = Type.Object(
  { id: IdOf('the build'), retried_as: IdOf('the new build') },
  { title: 'RetriedBuild', description: 'A build that was retried.' }
)

export const viewWatchedBuild = (build: Row): WatchedBuild => ({
  id: build.id,
  project_id: build.project_id,
  project: build.project ?? '',
  name: build.name,
  stage: build.stage,
  ref: build.ref,
  status: build.status,
  created_at: build.created_at,
  started_at: build.started_at,
  finished_at: build.finished_at,
  hostname: build.hostname,
  pid: build.pid,
  runner: build.runner
})

export const viewWatchedBuildDetails = ({
  build,
  trace
}: Awaited<ReturnType<typeof watchBuild>>): WatchedBuildDetails => ({
  ...viewWatchedBuild(build),
  failure_reason: build.failure_reason,
  exit_code: build.exit_code,
  trace: { size: trace.size, tail: trace.tail }
})
