// Passes pushes on to the push mirrors of their project.
import type { Listener } from '../../ground/activity/listeners.js'
import { findSettledChange } from '../refs/ref-changes.queries.js'
import { requestPushes } from './mirror-runs.js'

export const mirrorPushes: Listener = {
  name: 'mirrors',
  on: {
    'ref.changed': async ({ event }) => {
      const change = await findSettledChange(event.refChangeId)
      if (change) await requestPushes(change.project_id)
    }
  }
}
