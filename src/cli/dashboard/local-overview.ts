// The part of the local source that a single plain frame needs. It is separate because loading the rules for all changes takes
// long.
import { hostname } from 'node:os'
import { jobOverview } from '../../areas/upkeep/jobs/job-overview.js'
import { config } from '../../config.js'
import type { JobSource } from './source.js'

export const localOverview = (): Pick<JobSource, 'name' | 'overview'> => ({
  name: `${hostname()}:${config().home}`,
  overview: jobOverview
})
