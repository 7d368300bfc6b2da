import { Args, Flags } from '@oclif/core'
import { BaseCommand } from '../../base.js'

export default class JobsDiscard extends BaseCommand {
  static override summary = 'Remove jobs that are not running'
  static override strict = false
  static override examples = ['<%= config.bin %> jobs discard 4711', '<%= config.bin %> jobs discard --dead']
  static override args = { id: Args.integer({ description: 'number of a job; several may be named', min: 1 }) }
  static override flags = { dead: Flags.boolean({ description: 'all dead jobs' }) }

  async run(): Promise<{ discarded: number }> {
    const { flags, argv } = await this.parse(JobsDiscard)
    this.configure(flags)
    const ids = argv.map(Number)
    if (Boolean(flags.dead) === ids.length > 0 || ids.some(id => !Number.isInteger(id) || id < 1)) {
      this.error('name jobs by their numbers, or all dead ones by --dead', { exit: 2 })
    }
    const [{ withDatabase }, { discardJobs }] = await Promise.all([
      import('../../with-database.js'),
      import('../../../queue/administer.js')
    ])
    const discarded = await withDatabase(() => discardJobs(flags.dead ? 'dead' : ids))
    this.log(`discarded ${discarded}`)
    return { discarded }
  }
}
