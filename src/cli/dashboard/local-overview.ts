// The part of the local source that one plain frame needs. It is apart from the rest because the rules of all changes take
// long to load.
import { hostname } from 'node:os'
import { jobOverview } from '../../areas/upkeep/jobs/job-overview.js'
import { config } from '../../config.js'
import type { JobSource } from './source.js'

export const localOverview = (): Pick<JobSource, 'name' | 'overview'> => ({
  name: `${hostname()}:${config().home}`,
  overview: jobOverview
})
