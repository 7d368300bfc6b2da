import type { AuditRow as Row } from '../../../areas/ground/audit/audit.queries.js'
import { auditEventsBefore, newestAuditEvents } from '../../../areas/ground/audit/audit.queries.js'
import { parseStored } from '../../../lib/stored-json.js'
import { BaseCommand } from '../../framework/base.js'
import { allFlag, printList } from '../../framework/list-all.js'
import { withDatabase } from '../../framework/with-database.js'
import { readMoment } from '../../input/moment.js'
import { Flags } from '../../oclif.js'
import type { Column } from '../../output/table.js'

/** The changed attributes. Of a sign-in, their values: the provider and the second factor. */
function changed({ action, changes }: Row): string | null {
  const entries = Object.entries(parseStored<Record<string, { readonly after?: unknown }>>(changes, {}))
  const texts = entries.map(([name, { after }]) => (action === 'session.create' ? `${name} ${String(after)}` : name))
  return texts.join(', ') || null
}

const COLUMNS: readonly Column<Row>[] = [
  ['TIME', event => event.created_at],
  ['ACTOR', event => (event.acting_as === null ? event.actor_name : `${event.actor_name} as ${event.acting_as}`)],
  ['VIA', event => event.via],
  ['FROM', event => event.address],
  ['ACTION', event => event.action],
  ['TARGET', event => `${event.target_type} ${event.target_id} (${event.target_name})`],
  ['CHANGED', changed]
]

export default class AuditList extends BaseCommand {
  static override summary = 'List changes made by administrators, commands and the schedule, newest first'
  static override description =
    'Of a secret, the audit only records that it changed. With --json: {audit_events, total}; total also counts the events beyond --limit.'
  static override examples = [
    '<%= config.bin %> audit list --since 2d',
    '<%= config.bin %> audit list --actor ada --action user.block --json',
    '<%= config.bin %> audit list --provider password --since 1d',
    '<%= config.bin %> audit list --target-type hook --target-id 3 --since 2026-01-01 --until 2026-02-01'
  ]
  static override flags = {
    actor: Flags.string({
      description: 'only changes by this user, or by this operating system account (for commands)'
    }),
    action: Flags.string({ description: 'only this action, such as user.block' }),
    'target-type': Flags.string({ description: 'only changes of this kind of record, such as user' }),
    'target-id': Flags.string({ description: 'only changes of the record with this number' }),
    provider: Flags.string({ description: 'only sign-ins with this provider, such as password' }),
    factor: Flags.string({ description: 'only sign-ins with this second factor' }),
    since: Flags.string({
      description:
        'only since this time: a date, a date and time (in UTC unless it has a time zone), or how long ago, such as 2d'
    }),
    until: Flags.string({ description: 'only before this time; same format as --since' }),
    limit: Flags.integer({ default: 50, min: 1, max: 10_000, description: 'show at most this many events' }),
    ...allFlag()
  }

  async run() {
    const { flags } = await this.parse(AuditList)
    this.configure(flags)
    const filter = {
      actor: flags.actor,
      action: flags.action,
      target_type: flags['target-type'],
      target_id: flags['target-id'],
      provider: flags.provider,
      factor: flags.factor,
      since: flags.since === undefined ? undefined : readMoment('--since', flags.since),
      until: flags.until === undefined ? undefined : readMoment('--until', flags.until)
    }
    return withDatabase(() =>
      printList({
        name: 'audit_events',
        all: flags.all,
        json: this.jsonEnabled(),
        columns: COLUMNS,
        view: async () => (await import('../../../areas/ground/audit/audit.view.js')).viewAuditEvent,
        first: () => newestAuditEvents(filter, flags.limit),
        part: (last = Number.MAX_SAFE_INTEGER) => auditEventsBefore(filter, last),
        idOf: ({ id }) => id
      })
    )
  }
}
