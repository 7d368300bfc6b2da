import type { Listener } from '../../../ground/activity/listeners.js'
import { mailBuild, mailPipeline } from './ci.js'
import { mailPush } from './pushes.js'

/** Project services that send mail. */
export const mailingServices: Listener = {
  name: 'mail of services',
  on: { 'ref.changed': mailPush, 'pipeline.changed': mailPipeline, 'build.changed': mailBuild }
}
