// "Time stats", and the body of requests with a duration for issues and merge requests.
import { Integer, Nullable, Text } from '../../../lib/schema.js'
import { type Static, Type } from '../../../lib/type.js'
import { writeWork } from '../../../lib/work-time.js'
import type { TimeStatsRow } from './time-tracking.js'

export const TimeStats = Type.Object(
  {
    time_estimate: Integer('the estimate in seconds; 0 without one'),
    total_time_spent: Integer('the time that was logged, in seconds'),
    human_time_estimate: Nullable(Text('the estimate, such as `3h 30m`; null without one')),
    human_total_time_spent: Nullable(Text('the time that was logged, such as `1d 2h`; null if there is none'))
  },
  { title: 'TimeStats', description: 'The estimated time and the time spent.' }
)

export const viewTimeStats = ({ time_estimate: estimate, total_time_spent: spent }: TimeStatsRow) => ({
  time_estimate: estimate,
  total_time_spent: spent,
  human_time_estimate: writeWork(estimate),
  human_total_time_spent: writeWork(spent)
})

export const DurationBody = Type.Object(
  {
    duration: Text('such as `3h30m`, in the units mo, w, d, h and m; a bare number means hours', {
      minLength: 1,
      maxLength: 255
    })
  },
  { title: 'DurationBody', description: 'A duration.' }
)
export type DurationBody = Static<typeof DurationBody>
