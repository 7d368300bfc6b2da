import { eventsOf } from '../../../areas/ground/audit/audit.queries.js'
import { viewAuditEvent } from '../../../areas/ground/audit/audit.view.js'
import { viewJob } from '../../../areas/upkeep/jobs/jobs.view.js'
import { findJob } from '../../../queue/administer.js'
import { BaseCommand } from '../../framework/base.js'
import { doEach } from '../../framework/each.js'
import { withDatabase } from '../../framework/with-database.js'
import { orNotFound } from '../../input/or-not-found.js'
import { recordNumbers, requireNumbers } from '../../input/record-number.js'
import { fields } from '../../output/table.js'

export default class JobsShow extends BaseCommand {
  static override summary = 'Show a background job: its payload, attempts and error, and changes by sysadmins'
  static override description =
    'A finished job is deleted and cannot be found. With --json: the job with `history`, the changes by sysadmins, newest first.'
  static override examples = ['<%= config.bin %> jobs show 4711', '<%= config.bin %> jobs show 4711 --json']
  static override strict = false
  static override args = { id: recordNumbers('number of the job, as `jobs list` shows it') }

  async run() {
    const { flags, argv } = await this.parse(JobsShow)
    this.configure(flags)
    const show = async (id: number) => {
      const job = await orNotFound('job', id, () => findJob(id))
      const events = await eventsOf('job', id)
      const { payload: _payload, error: _error, ...rest } = job
      this.log(fields({ ...rest, payload: job.payload }))
      for (const event of events)
        this.log(fields({ [event.action]: `${event.created_at.toISOString()} by ${event.actor_name}` }))
      // A stack has several lines, and some may quote text from a user. `fields` makes each line safe to print.
      for (const line of job.error?.split('\n') ?? []) this.log(fields({ error: line }))
      return { ...viewJob(job), history: events.map(viewAuditEvent) }
    }
    return withDatabase(() => doEach(requireNumbers(argv), this.jsonEnabled(), show))
  }
}
