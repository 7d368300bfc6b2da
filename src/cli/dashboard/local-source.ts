// Reads and changes the appliance of this machine, with the same rules as the API.
import { cancelBuilds, retryBuilds } from '../../areas/ci/builds/administer.js'
import { watchedBuilds } from '../../areas/ci/builds/dashboard-builds.queries.js'
import { watchBuild } from '../../areas/ci/builds/live-build.js'
import { viewWatchedBuild, viewWatchedBuildDetails } from '../../areas/upkeep/jobs/dashboard-builds.view.js'
import { discardJobs, pauseQueue, resumeQueue, retryJobs } from '../../areas/upkeep/jobs/jobs.js'
import { viewFoundJobs, viewJob } from '../../areas/upkeep/jobs/jobs.view.js'
import { config } from '../../config.js'
import { embeddedState } from '../../db/embedded/embedded.js'
import { NotFound, Unavailable } from '../../errors.js'
import { findJob } from '../../queue/administer.js'
import { searchJobs } from '../../queue/search.js'
import { commandOrigin } from '../framework/origin.js'
import { localOverview } from './local-overview.js'
import { oneByOne } from './one-by-one.js'
import type { JobSource } from './source.js'

export const localSource = (): JobSource => ({
  ...localOverview(),
  jobs: async ({ text, queue, oldest, past }) =>
    viewFoundJobs(await searchJobs({ text, queue: queue ?? undefined, oldest, past: past ?? undefined })),
  job: async id => viewJob(await findJob(id)),
  builds: async () => (await watchedBuilds()).map(viewWatchedBuild),
  build: async id => viewWatchedBuildDetails(await watchBuild(id)),
  retry: ids => changed(retryJobs(ids, commandOrigin())),
  discard: ids => changed(discardJobs(ids, commandOrigin())),
  cancelBuilds: ids =>
    oneByOne(ids, async id => {
      if ((await cancelBuilds([id], commandOrigin())).length === 0) throw new NotFound('Build')
    }),
  retryBuilds: ids => oneByOne(ids, id => retryBuilds([id], commandOrigin())),
  pause: queue => pauseQueue(queue, commandOrigin()),
  resume: queue => resumeQueue(queue, commandOrigin())
})

/** Returns 0 instead of NotFound, which the rules throw when they could not change any of the jobs. */
async function changed(work: Promise<number>): Promise<number> {
  try {
    return await work
  } catch (error) {
    if (error instanceof NotFound) return 0
    throw error
  }
}

/**
 * Throws Unavailable when the appliance of this home is down. A dashboard may stay open for hours, and if it ran the
 * database itself, the appliance could not start.
 */
export async function requireAppliance(): Promise<void> {
  if (config().database.url !== null) return
  const { up, transient } = await embeddedState()
  if (!up || transient) {
    throw new Unavailable('the appliance is down: start it with gitstead up, or add --once for one plain frame')
  }
}
