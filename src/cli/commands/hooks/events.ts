import { BaseCommand } from '../../base.js'

export default class HooksEvents extends BaseCommand {
  static override summary = 'List the events that system hooks are told of, and which operation emits each'
  static override description =
    'Needs no appliance. An event without an operation is named, and nothing of this version brings it about. With --json: {events: [{event, flag, operations}]}; flag is what a hook needs for it, null for every hook.'
  static override examples = [
    '<%= config.bin %> hooks events',
    "<%= config.bin %> hooks events --json | jq -r '.events[] | select(.flag) | .event'"
  ]

  async run() {
    await this.parse(HooksEvents)
    const [{ systemHookEvents, systemHookFlag }, { operationsOf }, { table }] = await Promise.all([
      import('../../../webhooks/events.js'),
      import('../../../webhooks/operations.js'),
      import('../../table.js')
    ])
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
