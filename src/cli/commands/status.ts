import { requireFolder } from '../../home.js'
import { readStatus } from '../appliance/read-status.js'
import { BaseCommand } from '../framework/base.js'

export default class Status extends BaseCommand {
  static override summary = 'Show whether the appliance runs and what it is doing'
  static override description =
    'Starts nothing. The exit code is 5 if the server does not answer, the database does not answer, or no worker is running.'
  static override examples = ['<%= config.bin %> status', '<%= config.bin %> status --json']

  async run() {
    const { flags } = await this.parse(Status)
    this.configure(flags)
    requireFolder()
    const status = await readStatus()
    const word = (up: boolean) => (up ? 'up' : 'down')
    this.log(`gitstead ${status.version}  ${status.home}`)
    const server = status.server.up && status.degraded !== null ? 'degraded' : word(status.server.up)
    this.log(`server    ${server}  ${status.server.url}`)
    if (status.degraded !== null) this.log(`disk      ${status.degraded}`)
    if (status.ssh !== null && status.server.up) this.log(`ssh       ${status.ssh}`)
    this.log(
      `database  ${word(status.database.up)}${status.database.schema ? `  schema ${status.database.schema}` : ''}`
    )
    this.log(`workers   ${status.workers.length}`)
    if (status.jobs) {
      const { processed, failed, enqueued } = status.jobs
      this.log(`jobs      processed ${processed}  failed ${failed}  enqueued ${enqueued}`)
    }
    if (status.maintenance)
      this.log(`maintenance since ${status.maintenance.since.toISOString()}: ${status.maintenance.message}`)
    if (!status.ok) process.exitCode = 5
    return status
  }
}
