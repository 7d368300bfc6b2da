// Reads and changes the appliance of this machine, by the same rules as the API.
import { hostname } from 'node:os'
import { jobOverview } from '../../areas/jobs/job-overview.js'
import { discardJobs, pauseQueue, resumeQueue, retryJobs } from '../../areas/jobs/jobs.js'
import { viewJob } from '../../areas/jobs/jobs.view.js'
import { config } from '../../config.js'
import { embeddedState } from '../../db/embedded.js'
import { Unavailable } from '../../errors.js'
import { findJob, listJobs } from '../../queue/administer.js'
import { commandOrigin } from '../origin.js'
import type { JobSource } from './source.js'

export const localSource = (): JobSource => ({
  name: `${hostname()}:${config().home}`,
  overview: jobOverview,
  jobs: async queue => (await listJobs({ queue: queue ?? undefined, limit: 100 })).map(viewJob),
  job: async id => viewJob(await findJob(id)),
  retry: async id => void (await retryJobs([id], commandOrigin())),
  discard: async id => void (await discardJobs([id], commandOrigin())),
  pause: queue => pauseQueue(queue, commandOrigin()),
  resume: queue => resumeQueue(queue, commandOrigin())
})

/**
 * Throws Unavailable when the appliance of this home is down. A dashboard stays open for hours. If it ran the database
 * for itself, the appliance could not start.
 */
export async function requireAppliance(): Promise<void> {
  if (config().database.url !== null) return
  const { up, transient } = await embeddedState()
  if (!up || transient) {
    throw new Unavailable('the appliance is down: start it with gitstead up, or add --once for one plain frame')
  }
}
