import { Args, Flags } from '@oclif/core'
import { BaseCommand } from '../../base.js'

export default class JobsRetry extends BaseCommand {
  static override summary = 'Make dead or delayed jobs ready again, with all their tries'
  static override strict = false
  static override examples = ['<%= config.bin %> jobs retry 4711', '<%= config.bin %> jobs retry --dead']
  static override args = { id: Args.integer({ description: 'number of a job; several may be named', min: 1 }) }
  static override flags = { dead: Flags.boolean({ description: 'all dead jobs' }) }

  async run(): Promise<{ retried: number }> {
    const { flags, argv } = await this.parse(JobsRetry)
    this.configure(flags)
    const ids = argv.map(Number)
    if (Boolean(flags.dead) === ids.length > 0 || ids.some(id => !Number.isInteger(id) || id < 1)) {
      this.error('name jobs by their numbers, or all dead ones by --dead', { exit: 2 })
    }
    const [{ withDatabase }, { retryJobs }] = await Promise.all([
      import('../../with-database.js'),
      import('../../../queue/administer.js')
    ])
    const retried = await withDatabase(() => retryJobs(flags.dead ? 'dead' : ids))
    this.log(`retried ${retried}`)
    return { retried }
  }
}
