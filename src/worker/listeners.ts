// Who hears of happenings, and in which words: the one place that knows both sides.
import { activityFeed } from '../areas/activity/feed.js'
import type { Listener, Told } from '../areas/activity/happenings.js'
import { recordEntries } from '../areas/activity/record-entries.js'
import { hookDeliveries } from '../areas/hooks/deliveries.js'
import { recordEvents } from '../areas/hooks/record-events.js'
import { pushPipelines } from '../areas/pipelines/pipelines.js'
import { feedEntryOfPush, hookEventOfPush } from '../areas/refs/pushes.js'
import { refEffects } from '../areas/refs/ref-effects.js'

const listeners: readonly Listener[] = [
  pushPipelines,
  hookDeliveries({ ...recordEvents, 'ref.changed': hookEventOfPush }),
  refEffects,
  activityFeed({ ...recordEntries, 'ref.changed': feedEntryOfPush })
]

/**
 * Lets all listeners hear of a happening at once: one that fails holds up no other. Throws when any failed, so that the job
 * is tried again; those that have done their part do nothing then.
 */
export async function tellListeners(told: Told, all: readonly Listener[] = listeners): Promise<void> {
  const results = await Promise.allSettled(all.map(async listener => listener.hear(told)))
  const failures = results.flatMap((result, at) =>
    result.status === 'rejected' ? [`${all[at]?.name}: ${describe(result.reason)}`] : []
  )
  if (failures.length > 0) throw new Error(failures.join('\n'))
}

const describe = (error: unknown) => (error instanceof Error ? (error.stack ?? error.message) : String(error))
