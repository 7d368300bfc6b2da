import { variablesFlag } from '../input/variables-flag.js'
import { Flags } from '../oclif.js'

/** What a schedule can be given, when it is made and later. */
export const scheduleFlags = {
  ref: Flags.string({ description: 'the branch or tag' }),
  description: Flags.string({ description: 'what the schedule is for' }),
  owner: Flags.string({ description: 'the user in whose name the pipelines are made: at least a developer' }),
  active: Flags.boolean({ allowNo: true, description: 'run by the clock; --no-active: wait' }),
  variables: variablesFlag
}

export const CRON = 'MINUTE HOUR DAY MONTH WEEKDAY in UTC, such as "0 4 * * 1-5"; all five must fit'
