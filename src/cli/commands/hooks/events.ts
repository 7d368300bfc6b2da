import { SYSTEM_HOOK_EVENTS as systemHookEvents, systemHookFlag } from '../../../webhooks/events.js'
import { operationsOf } from '../../../webhooks/operations.js'
import { BaseCommand } from '../../framework/base.js'
import { table } from '../../output/table.js'

export default class HooksEvents extends BaseCommand {
  static override summary = 'List the events of system hooks, and the operations that emit them'
  static override description =
    'No appliance is needed. An event without an operation is valid, but this version never emits it. With --json: {events: [{event, flag, operations}]}; flag is the flag that a hook needs for the event, or null when every hook gets it.'
  static override examples = [
    '<%= config.bin %> hooks events',
    "<%= config.bin %> hooks events --json | jq -r '.events[] | select(.flag) | .event'"
  ]

  async run() {
    await this.parse(HooksEvents)
    const events = systemHookEvents.map(event => ({
      event,
      flag: systemHookFlag(event),
      operations: operationsOf(event)
    }))
    this.log(
      table(events, [
        ['EVENT', ({ event }) => event],
        ['FLAG', ({ flag }) => flag],
        ['OPERATIONS', ({ operations }) => operations.join(', ') || null]
      ])
    )
    return { events }
  }
}
