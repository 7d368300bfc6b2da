import { variablesFlag } from '../input/variables-flag.js'
import { Flags } from '../oclif.js'

/** The flags of a schedule, for creating and updating it. */
export const scheduleFlags = {
  ref: Flags.string({ description: 'the branch or tag to run the pipeline for' }),
  description: Flags.string({ description: 'what the schedule is for' }),
  owner: Flags.string({ description: 'the user who runs the pipelines; must be at least a developer' }),
  active: Flags.boolean({ allowNo: true, description: 'run on schedule; --no-active stops it' }),
  variables: variablesFlag
}

export const CRON = 'MINUTE HOUR DAY MONTH WEEKDAY in UTC, such as "0 4 * * 1-5"; all five must match'
