import { BaseCommand } from '../../base.js'
import { recordNumbers, requireNumbers } from '../../record-number.js'

export default class JobsShow extends BaseCommand {
  static override summary = 'Show a background job: its payload, tries and error, and what sysadmins did to it'
  static override description =
    'A job is deleted when it is done: then its number is not found. With --json: the job with `history`, the changes that sysadmins made to it, newest first.'
  static override examples = ['<%= config.bin %> jobs show 4711', '<%= config.bin %> jobs show 4711 --json']
  static override strict = false
  static override args = { id: recordNumbers('number of the job, as `jobs list` shows it') }

  async run() {
    const { flags, argv } = await this.parse(JobsShow)
    this.configure(flags)
    const [
      { asked },
      { doEach },
      { withDatabase },
      { findJob },
      { viewJob },
      { eventsOf },
      { viewAuditEvent },
      { fields }
    ] = await Promise.all([
      import('../../asked.js'),
      import('../../each.js'),
      import('../../with-database.js'),
      import('../../../queue/administer.js'),
      import('../../../areas/jobs/jobs.view.js'),
      import('../../../areas/audit/audit.queries.js'),
      import('../../../areas/audit/audit.view.js'),
      import('../../table.js')
    ])
    const show = async (id: number) => {
      const job = await asked('job', id, () => findJob(id))
      const events = await eventsOf('job', id)
      const { payload: _payload, error: _error, ...rest } = job
      this.log(fields({ ...rest, payload: job.payload }))
      for (const event of events)
        this.log(fields({ [event.action]: `${event.created_at.toISOString()} by ${event.actor_name}` }))
      // A stack has several lines, and some may quote a text of a user. `fields` makes each line safe to print.
      for (const line of job.error?.split('\n') ?? []) this.log(fields({ error: line }))
      return { ...viewJob(job), history: events.map(viewAuditEvent) }
    }
    return withDatabase(() => doEach(requireNumbers(argv), this.jsonEnabled(), show))
  }
}
